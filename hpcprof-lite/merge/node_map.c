#include "hpcprof-lite/merge/node_map.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

/* Entries of node_map_thread.merged: UNSEEN, VISITING while the node that this one depends on is resolved, ABSENT where
 * there is no node, or the merged number + MAPPED. */
enum { MAP_UNSEEN = 0, MAP_VISITING = 1, MAP_ABSENT = 2, MAPPED = 3 };

/* The most nodes of one map: far more than its threads can write.  Bounds the memory for a hostile file. */
static const size_t nodes_max = 128u << 20;

static const struct {
  const char *what, *treatment;
} fault_text[NODE_MAP_FAULTS] = {
    [NODE_MAP_FAULT_PARENT] = {"context without a valid parent", "kept as partial"},
    [NODE_MAP_FAULT_CYCLE] = {"context whose callers form a circle", "kept as partial"},
    [NODE_MAP_FAULT_LINK] = {"link to a context that does not exist", "kept as partial"},
    [NODE_MAP_FAULT_REGION] = {"context in a parallel region that does not exist", "kept as partial"},
    [NODE_MAP_FAULT_MODULE] = {"frame in a module that does not exist", "kept as unknown"},
    [NODE_MAP_FAULT_VALUE] = {"context whose values do not exist", "left out"},
    [NODE_MAP_FAULT_SHARE] = {"context with shares in waiting that do not exist", "these are left out"},
    [NODE_MAP_FAULT_WAIT] = {"wait in a context that does not exist", "kept without a context"},
    [NODE_MAP_FAULT_CONSTRUCT] = {"construct in a context that does not exist", "kept without a context"},
    [NODE_MAP_FAULT_COUNT] = {"counter value in a context that does not exist", "kept without a context"},
    [NODE_MAP_FAULT_LOCK] = {"lock in a context that does not exist", "kept without a context"},
    [NODE_MAP_FAULT_MPI] = {"call of MPI in a context that does not exist", "kept without a context"},
    [NODE_MAP_FAULT_ROOT] = {"tree that does not begin with its root", "read anyway"},
};

bool node_map_owns(const struct node_map *map, uint32_t thread)
{
  return thread >= map->first && thread < map->end;
}

void node_map_fault(struct node_map *map, enum node_map_fault which, struct node_id id)
{
  assert(which < NODE_MAP_FAULTS);
  if (node_map_owns(map, id.thread) && !map->faults[which]++)
    map->fault_first[which] = id.node;
}

void node_map_report(struct node_map *map, uint32_t position)
{
  assert(position < map->process->threads_count);
  uint32_t thread = map->process->threads[position].index;
  for (int i = 0; i < NODE_MAP_FAULTS; i++) {
    if (map->faults[i] && (i == NODE_MAP_FAULT_CYCLE || !read_incomplete(map->file)))
      problems_add(map->problems, "%s: thread %u: %s, %llu time%s (first: node %u): %s", map->process->path, thread,
                   fault_text[i].what, (unsigned long long)map->faults[i], map->faults[i] == 1 ? "" : "s",
                   map->fault_first[i], fault_text[i].treatment);
    map->faults[i] = 0;
  }
}

/* A thread that has a map needs no nodes any more: it was resolved. */
static void load_thread(struct node_map *map, uint32_t position)
{
  assert(position < map->process->threads_count && map->threads);
  struct node_map_thread *thread = &map->threads[position];
  if (thread->merged)
    return;
  uint32_t index = map->process->threads[position].index;
  struct problems *problems = node_map_owns(map, position) ? map->problems : &map->ignored;
  thread->nodes = read_table(map->file, index, FORMAT_NODES, problems, &thread->count);
  if (thread->count > nodes_max - map->nodes_total) {
    problems_add(problems, "%s: thread %u: more contexts than any run has: left out", map->process->path, index);
    thread->count = 0;
  }
  map->nodes_total += thread->count;
  thread->merged = xcalloc((size_t)thread->count + 1, sizeof *thread->merged);
  for (uint32_t i = 0; i < thread->count; i++)
    if (thread->nodes[i].kind == CONTEXT_FREE)
      thread->merged[i] = MAP_ABSENT;
  if (thread->count && thread->nodes[0].kind != CONTEXT_ROOT)
    node_map_fault(map, NODE_MAP_FAULT_ROOT, (struct node_id){.thread = position});
}

static void push(struct node_map *map, struct node_id id)
{
  *XAPPEND(map->stack, map->stack_count, map->stack_room) = id;
}

/* Fills in the node that a link names.  False, and a fault of `id`, if it does not exist. */
static bool link_target(struct node_map *map, struct node_id id, uint32_t index, uint32_t node, struct node_id *target)
{
  *target = (struct node_id){.thread = profile_thread_position(map->process, index), .node = node};
  if (target->thread != MODEL_NONE) {
    load_thread(map, target->thread);
    const struct node_map_thread *thread = &map->threads[target->thread];
    if (node < thread->count && thread->merged[node] != MAP_ABSENT)
      return true;
  }
  node_map_fault(map, NODE_MAP_FAULT_LINK, id);
  return false;
}

/* Fills in the node that must be resolved before this one: its parent, or the node that it links to.  False if it has
 * none or an invalid one, so that the node goes below PARTIAL. */
static bool find_dependency(struct node_map *map, struct node_id id, struct node_id *dependency)
{
  const struct node_map_thread *thread = &map->threads[id.thread];
  struct read_node node = thread->nodes[id.node];
  *dependency = (struct node_id){.thread = id.thread, .node = node.parent};
  if (node.kind == CONTEXT_LINK)
    return link_target(map, id, node.what, node.offset, dependency);
  if (node.kind == CONTEXT_PLACEHOLDER) {
    if (node.offset >= read_count(map->file, FORMAT_REGIONS)) {
      node_map_fault(map, NODE_MAP_FAULT_REGION, id);
      return false;
    }
    const struct format_region *region =
        (const struct format_region *)read_records(map->file, FORMAT_REGIONS) + node.offset;
    return read_region_linked(region) && link_target(map, id, region->owner, region->link_node, dependency);
  }
  if (node.parent < thread->count && node.parent != id.node && thread->merged[node.parent] != MAP_ABSENT)
    return true;
  node_map_fault(map, NODE_MAP_FAULT_PARENT, id);
  return false;
}

/* Finds or adds a context.  Threads that run the same code meet its contexts in much the same order: the context that
 * was added after the last one is tried first, which saves most searches.  What is below a filtered context belongs to
 * it.  If contexts are only looked up, one that does not exist counts as the root. */
static uint32_t add_context(struct node_map *map, const struct context_node *identity)
{
  assert(identity->parent < map->contexts->count);
  if (map->contexts->nodes[identity->parent].kind == CONTEXT_FILTERED) /* a path that links to one, for example */
    return identity->parent;
  uint32_t found = map->last + 1;
  bool next = contexts_is(map->contexts, found, identity);
  if (!next && map->only_find)
    found = contexts_find(map->contexts, identity);
  else if (!next)
    found = contexts_add(map->contexts, identity);
  if (found == MODEL_NONE)
    return 0;
  map->last = found;
  return found;
}

/* The number of the module of a node with an address. */
static uint32_t module_number(const struct read_node *node)
{
  return node->kind == CONTEXT_FRAME ? node->what & ~FORMAT_WHAT_GUESSED : node->what;
}

/* The catalog's module of an address. */
static uint32_t frame_module(struct node_map *map, const struct read_node *node, struct node_id id)
{
  assert(map->modules);
  uint32_t module = module_number(node);
  if (module < read_count(map->file, FORMAT_MODULES))
    return map->modules[module];
  node_map_fault(map, NODE_MAP_FAULT_MODULE, id);
  if (map->unknown == MODEL_NONE)
    map->unknown = catalog_add_module(map->catalog, "[unknown]", (const uint8_t *)"", 0, MODULE_ANON);
  return map->unknown;
}

/* The catalog's module of generated code at a node, if it has a name, else MODEL_NONE. */
static uint32_t generated_module(struct node_map *map, const struct read_node *node)
{
  const struct format_module *records = read_records(map->file, FORMAT_MODULES);
  uint32_t module = module_number(node);
  if (!map->generated || module >= read_count(map->file, FORMAT_MODULES) ||
      !(records[module].flags & FORMAT_MODULE_ANON))
    return MODEL_NONE;
  const char *name = generated_code_name(map->generated, records[module].base + node->offset);
  return name ? catalog_add_generated(map->catalog, read_string(map->file, records[module].path), name) : MODEL_NONE;
}

/* The merged node of a node whose parent or link is merged into `above`. */
static uint32_t merged_node(struct node_map *map, const struct read_node *node, struct node_id id, uint32_t above)
{
  struct context_node identity = {.parent = above, .kind = node->kind};
  uint32_t generated;
  switch (node->kind) {
  case CONTEXT_ROOT:
    return 0;
  case CONTEXT_LINK:
  case CONTEXT_PLACEHOLDER:
    return above;
  case CONTEXT_TASK:
    if (!node->offset)
      break;
    /* fall through */
  case CONTEXT_FRAME:
    identity.guessed = node->kind == CONTEXT_FRAME && node->what & FORMAT_WHAT_GUESSED;
    generated = generated_module(map, node);
    if (generated != MODEL_NONE) {
      identity.module = generated;
      break;
    }
    identity.module = frame_module(map, node, id);
    identity.offset = node->offset;
    break;
  case CONTEXT_MPI:
    identity.offset = node->offset;
    break;
  case CONTEXT_USER_REGION:
    identity.module = catalog_add_module(map->catalog, read_string(map->file, node->offset), (const uint8_t *)"", 0,
                                         MODULE_USER_REGION);
    break;
  }
  return add_context(map, &identity);
}

/* Takes the node on top of the stack off it, as a child of `above`. */
static void finish_top(struct node_map *map, uint32_t above)
{
  assert(map->stack_count && above < map->contexts->count);
  struct node_id id = map->stack[--map->stack_count];
  struct node_map_thread *thread = &map->threads[id.thread];
  thread->merged[id.node] = merged_node(map, &thread->nodes[id.node], id, above) + MAPPED;
}

/* Puts each node of a circle below PARTIAL, wherever the circle was entered: `last` is the one to enter last. */
static void break_circle(struct node_map *map, struct node_id last)
{
  assert(map->stack_count);
  struct node_id id;
  do {
    id = map->stack[map->stack_count - 1];
    node_map_fault(map, NODE_MAP_FAULT_CYCLE, id);
    finish_top(map, add_context(map, &(struct context_node){.kind = CONTEXT_PARTIAL}));
  } while (id.thread != last.thread || id.node != last.node);
}

/* Resolves the node on top of the stack, or pushes the one that it depends on. */
static void resolve_top(struct node_map *map)
{
  assert(map->stack_count);
  struct node_id id = map->stack[map->stack_count - 1], dependency;
  struct node_map_thread *thread = &map->threads[id.thread];
  if (thread->nodes[id.node].kind == CONTEXT_ROOT) {
    finish_top(map, 0);
    return;
  }
  thread->merged[id.node] = MAP_VISITING;
  if (!find_dependency(map, id, &dependency)) {
    finish_top(map, add_context(map, &(struct context_node){.kind = CONTEXT_PARTIAL}));
    return;
  }
  uint32_t state = map->threads[dependency.thread].merged[dependency.node];
  if (state == MAP_UNSEEN)
    push(map, dependency);
  else if (state == MAP_VISITING)
    break_circle(map, dependency);
  else
    finish_top(map, state - MAPPED);
}

static void resolve(struct node_map *map, uint32_t thread, uint32_t node)
{
  assert(!map->stack_count && node < map->threads[thread].count);
  if (map->threads[thread].merged[node] >= MAPPED)
    return;
  push(map, (struct node_id){thread, node});
  while (map->stack_count)
    resolve_top(map);
}

void node_map_resolve_thread(struct node_map *map, uint32_t position)
{
  load_thread(map, position);
  const struct node_map_thread *thread = &map->threads[position];
  for (uint32_t i = 0; i < thread->count; i++)
    if (thread->nodes[i].kind != CONTEXT_FREE)
      resolve(map, position, i);
}

uint32_t node_map_context(const struct node_map *map, uint32_t position, uint32_t node)
{
  assert(position < map->process->threads_count);
  const struct node_map_thread *thread = &map->threads[position];
  return node < thread->count && thread->merged[node] >= MAPPED ? thread->merged[node] - MAPPED : MODEL_NONE;
}

uint32_t node_map_find(struct node_map *map, uint32_t position, uint32_t node)
{
  assert(position < map->process->threads_count);
  load_thread(map, position);
  const struct node_map_thread *thread = &map->threads[position];
  if (node < thread->count && thread->merged[node] != MAP_ABSENT)
    resolve(map, position, node);
  return node_map_context(map, position, node);
}

/* ---- start and end ---- */

/* Adds what the process has recorded of the file of one of its modules.  at: its first record of code, which has the
 * number of the next one in next[]. */
static void add_identity(struct node_map *map, uint32_t module, const struct format_module *record, uint32_t at,
                         const uint32_t *next)
{
  assert(map->modules[module] != MODEL_NONE);
  const struct format_code *code = read_records(map->file, FORMAT_CODE);
  struct file_identity_page pages[FILE_IDENTITY_PAGES];
  struct file_identity identity = {
      .size = record->file_size, .time_ns = record->file_time_ns, .headers = record->headers, .pages = pages};
  for (; at != MODEL_NONE && identity.pages_count < FILE_IDENTITY_PAGES; at = next[at])
    if (code[at].bytes)
      pages[identity.pages_count++] = (struct file_identity_page){code[at].offset, code[at].checksum, code[at].bytes};
  catalog_add_identity(map->catalog, map->modules[module], &identity);
}

static void add_identities(struct node_map *map, const struct format_module *records, uint32_t modules)
{
  const struct format_code *code = read_records(map->file, FORMAT_CODE);
  uint32_t count = read_count(map->file, FORMAT_CODE);
  uint32_t *first = model_nones(modules), *next = model_nones(count);
  for (uint32_t i = count; i-- > 0;)
    if (code[i].module < modules) {
      next[i] = first[code[i].module];
      first[code[i].module] = i;
    }
  for (uint32_t i = 0; i < modules; i++)
    if (map->modules[i] != MODEL_NONE && records[i].file_time_ns)
      add_identity(map, i, &records[i], first[i], next);
  free(first);
  free(next);
}

void node_map_init(struct node_map *map)
{
  assert(!map->modules);
  const struct format_module *records = read_records(map->file, FORMAT_MODULES);
  uint32_t modules = read_count(map->file, FORMAT_MODULES);
  map->unknown = MODEL_NONE;
  map->generated = generated_code_read(map->process->path, map->problems);
  map->modules = xcalloc(modules, sizeof *map->modules);
  for (uint32_t i = 0; i < modules; i++) {
    const char *path = read_string(map->file, records[i].path);
    uint32_t size = MIN(records[i].build_id_size, sizeof records[i].build_id);
    map->modules[i] =
        catalog_add_module(map->catalog, *path ? path : "[unknown]", records[i].build_id, size, records[i].flags);
  }
  add_identities(map, records, modules);
}

void node_map_init_threads(struct node_map *map)
{
  assert(!map->threads);
  map->threads = xcalloc(map->process->threads_count, sizeof *map->threads);
}

void node_map_unload(struct node_map *map, uint32_t position)
{
  free(map->threads[position].nodes);
  map->threads[position].nodes = NULL;
}

void node_map_release_threads(struct node_map *map)
{
  for (uint32_t i = 0; map->threads && i < map->process->threads_count; i++) {
    node_map_unload(map, i);
    free(map->threads[i].merged);
  }
  free(map->threads);
  free(map->stack);
  problems_release(&map->ignored);
}

void node_map_release(struct node_map *map)
{
  node_map_release_threads(map);
  generated_code_free(map->generated);
  free(map->modules);
}
