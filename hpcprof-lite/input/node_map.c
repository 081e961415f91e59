#include "hpcprof-lite/input/node_map.h"

#include "common/xalloc.h"

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
    [NODE_MAP_FAULT_ROOT] = {"tree that does not begin with its root", "read anyway"},
};

bool node_map_owns(const struct node_map *map, uint32_t thread)
{
  return thread >= map->first && thread < map->end;
}

void node_map_fault(struct node_map *map, enum node_map_fault which, struct node_place place)
{
  if (node_map_owns(map, place.thread) && !map->faults[which]++)
    map->fault_first[which] = place.node;
}

void node_map_report(struct node_map *map, uint32_t position)
{
  uint32_t thread = map->process->threads[position].index;
  for (int i = 0; i < NODE_MAP_FAULTS; i++) {
    if (map->faults[i] && (i == NODE_MAP_FAULT_CYCLE || !read_incomplete(map->file)))
      problems_add(map->problems, "%s: thread %u: %s, %llu time%s (first: node %u): %s", map->process->path, thread,
                   fault_text[i].what, (unsigned long long)map->faults[i], map->faults[i] == 1 ? "" : "s",
                   map->fault_first[i], fault_text[i].treatment);
    map->faults[i] = 0;
  }
}

uint32_t node_map_position(const struct node_map *map, uint32_t index)
{
  return profile_thread_position(map->process, index);
}

/* A thread that has a map needs no nodes any more: it was resolved. */
static int load_thread(struct node_map *map, uint32_t position)
{
  struct node_map_thread *thread = &map->threads[position];
  if (thread->merged)
    return 0;
  uint32_t index = map->process->threads[position].index;
  struct problems *problems = node_map_owns(map, position) ? map->problems : &map->ignored;
  thread->nodes = read_table(map->file, index, FORMAT_NODES, problems, &thread->count);
  if (!thread->nodes)
    return ERR_NOMEM;
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
    node_map_fault(map, NODE_MAP_FAULT_ROOT, (struct node_place){.thread = position});
  return 0;
}

static int push(struct node_map *map, uint32_t thread, uint32_t node)
{
  xarray_reserve(&map->stack, &map->stack_room, map->stack_count + 1, sizeof *map->stack);
  map->stack[map->stack_count++] = (struct node_place){.thread = thread, .node = node};
  return 0;
}

/* Fills in the node that a link names.  False if it does not exist, or with *status set. */
static bool link_target(struct node_map *map, uint32_t index, uint32_t node, struct node_place *target, int *status)
{
  target->thread = node_map_position(map, index);
  target->node = node;
  if (target->thread == MODEL_NONE)
    return false;
  *status = load_thread(map, target->thread);
  const struct node_map_thread *thread = &map->threads[target->thread];
  return !*status && node < thread->count && thread->merged[node] != MAP_ABSENT;
}

/* Fills in the node that must be resolved before this one: its parent, or the node that it links to.  False if it has
 * none or an invalid one, so that the node goes below PARTIAL, or with *status set. */
static bool find_dependency(struct node_map *map, struct node_place place, struct node_place *dependency, int *status)
{
  const struct node_map_thread *thread = &map->threads[place.thread];
  struct read_node node = thread->nodes[place.node];
  *dependency = (struct node_place){.thread = place.thread, .node = node.parent};
  if (node.kind == CONTEXT_LINK) {
    bool found = link_target(map, node.what, node.offset, dependency, status);
    if (!found)
      node_map_fault(map, NODE_MAP_FAULT_LINK, place);
    return found;
  }
  if (node.kind == CONTEXT_PLACEHOLDER) {
    if (node.offset >= read_count(map->file, FORMAT_REGIONS)) {
      node_map_fault(map, NODE_MAP_FAULT_REGION, place);
      return false;
    }
    const struct format_region *region =
        (const struct format_region *)read_records(map->file, FORMAT_REGIONS) + node.offset;
    if (!read_region_linked(region))
      return false;
    bool found = link_target(map, region->owner, region->link_node, dependency, status);
    if (!found)
      node_map_fault(map, NODE_MAP_FAULT_LINK, place);
    return found;
  }
  if (node.parent < thread->count && node.parent != place.node && thread->merged[node.parent] != MAP_ABSENT)
    return true;
  node_map_fault(map, NODE_MAP_FAULT_PARENT, place);
  return false;
}

/* Finds or adds a context.  Threads that run the same code meet its contexts in much the same order: the context that
 * was added after the last one is tried first, which saves most searches.  What is below a filtered context belongs to
 * it.  If contexts are only looked up, one that does not exist counts as the root. */
static uint32_t add_context(struct node_map *map, uint32_t parent, enum context_kind kind, uint32_t module,
                            uint32_t offset)
{
  if (map->contexts->nodes[parent].kind == CONTEXT_FILTERED) /* a path that links to one, for example */
    return parent;
  uint32_t found = map->last + 1;
  if (!contexts_is(map->contexts, found, parent, kind, module, offset))
    found = map->only_find ? contexts_find(map->contexts, parent, kind, module, offset)
                           : contexts_add(map->contexts, parent, kind, module, offset);
  if (found == MODEL_NONE)
    return map->only_find ? 0 : found;
  map->last = found;
  return found;
}

static uint32_t partial_node(struct node_map *map)
{
  return add_context(map, 0, CONTEXT_PARTIAL, 0, 0);
}

/* The catalog's module of an address, MODEL_NONE without memory. */
static uint32_t frame_module(struct node_map *map, const struct read_node *node, struct node_place place)
{
  if (node->what < read_count(map->file, FORMAT_MODULES))
    return map->modules[node->what];
  node_map_fault(map, NODE_MAP_FAULT_MODULE, place);
  if (map->unknown == MODEL_NONE)
    map->unknown = catalog_add_module(map->catalog, "[unknown]", (const uint8_t *)"", 0, MODULE_ANON);
  return map->unknown;
}

/* The merged node of a node whose parent or link is merged into `above`; MODEL_NONE without memory. */
static uint32_t merged_node(struct node_map *map, const struct read_node *node, struct node_place place, uint32_t above)
{
  switch (node->kind) {
  case CONTEXT_ROOT:
    return 0;
  case CONTEXT_LINK:
  case CONTEXT_PLACEHOLDER:
    return above;
  case CONTEXT_TASK:
    if (!node->offset)
      return add_context(map, above, CONTEXT_TASK, 0, 0);
    /* fall through */
  case CONTEXT_FRAME: {
    uint32_t module = frame_module(map, node, place);
    return module == MODEL_NONE ? MODEL_NONE : add_context(map, above, node->kind, module, node->offset);
  }
  case CONTEXT_USER_REGION: {
    uint32_t name = catalog_add_module(map->catalog, read_string(map->file, node->offset), (const uint8_t *)"", 0,
                                       MODULE_USER_REGION);
    return name == MODEL_NONE ? MODEL_NONE : add_context(map, above, CONTEXT_USER_REGION, name, 0);
  }
  default:
    return add_context(map, above, node->kind, 0, 0);
  }
}

/* Takes the node on top of the stack off it, as a child of `above`. */
static int finish_top(struct node_map *map, uint32_t above)
{
  struct node_place place = map->stack[map->stack_count - 1];
  struct node_map_thread *thread = &map->threads[place.thread];
  uint32_t merged = above == MODEL_NONE ? above : merged_node(map, &thread->nodes[place.node], place, above);
  if (merged == MODEL_NONE)
    return ERR_NOMEM;
  thread->merged[place.node] = merged + MAPPED;
  map->stack_count--;
  return 0;
}

/* Puts each node of a circle below PARTIAL, wherever the circle was entered: `last` is the one to enter last. */
static int break_circle(struct node_map *map, struct node_place last)
{
  struct node_place place;
  int status;
  do {
    place = map->stack[map->stack_count - 1];
    node_map_fault(map, NODE_MAP_FAULT_CYCLE, place);
    status = finish_top(map, partial_node(map));
  } while (!status && (place.thread != last.thread || place.node != last.node));
  return status;
}

/* Resolves the node on top of the stack, or pushes the one that it depends on. */
static int resolve_top(struct node_map *map)
{
  struct node_place place = map->stack[map->stack_count - 1], dependency;
  struct node_map_thread *thread = &map->threads[place.thread];
  int status = 0;
  if (thread->nodes[place.node].kind == CONTEXT_ROOT)
    return finish_top(map, 0);
  thread->merged[place.node] = MAP_VISITING;
  bool sound = find_dependency(map, place, &dependency, &status);
  if (status)
    return status;
  if (!sound)
    return finish_top(map, partial_node(map));
  uint32_t state = map->threads[dependency.thread].merged[dependency.node];
  if (state == MAP_UNSEEN)
    return push(map, dependency.thread, dependency.node);
  return state == MAP_VISITING ? break_circle(map, dependency) : finish_top(map, state - MAPPED);
}

static int resolve(struct node_map *map, uint32_t thread, uint32_t node)
{
  if (map->threads[thread].merged[node] >= MAPPED)
    return 0;
  int status = push(map, thread, node);
  while (!status && map->stack_count)
    status = resolve_top(map);
  return status;
}

int node_map_resolve_thread(struct node_map *map, uint32_t position)
{
  int status = load_thread(map, position);
  const struct node_map_thread *thread = &map->threads[position];
  for (uint32_t i = 0; !status && i < thread->count; i++)
    if (thread->nodes[i].kind != CONTEXT_FREE)
      status = resolve(map, position, i);
  return status;
}

uint32_t node_map_context(const struct node_map *map, uint32_t position, uint32_t node)
{
  const struct node_map_thread *thread = &map->threads[position];
  return node < thread->count && thread->merged[node] >= MAPPED ? thread->merged[node] - MAPPED : MODEL_NONE;
}

int node_map_find(struct node_map *map, uint32_t position, uint32_t node, uint32_t *context)
{
  const struct node_map_thread *thread = &map->threads[position];
  int status = load_thread(map, position);
  if (!status && node < thread->count && thread->merged[node] != MAP_ABSENT)
    status = resolve(map, position, node);
  *context = status ? MODEL_NONE : node_map_context(map, position, node);
  return status;
}

/* ---- begin and end ---- */

int node_map_init(struct node_map *map)
{
  const struct format_module *records = read_records(map->file, FORMAT_MODULES);
  uint32_t modules = read_count(map->file, FORMAT_MODULES);
  map->unknown = MODEL_NONE;
  map->modules = xcalloc(modules + 1, sizeof *map->modules);
  for (uint32_t i = 0; i < modules; i++) {
    const char *path = read_string(map->file, records[i].path);
    uint32_t size = records[i].build_id_size, size_max = sizeof records[i].build_id;
    map->modules[i] = catalog_add_module(map->catalog, *path ? path : "[unknown]", records[i].build_id,
                                         size < size_max ? size : size_max, records[i].flags);
    if (map->modules[i] == MODEL_NONE)
      return ERR_NOMEM;
  }
  return 0;
}

int node_map_init_threads(struct node_map *map)
{
  map->threads = xcalloc((size_t)map->process->threads_count + 1, sizeof *map->threads);
  return map->threads ? 0 : ERR_NOMEM;
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
  free(map->modules);
}
