#include "hpcprof-lite/ranks/wire.h"

#include "hpcprof-lite/input/graph.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { BLOCK = 8, LEVEL = 1 };

/* Who adds a field looks here: numbers travel by themselves, what is a pointer, a bool or a module's number does not.
 */
_Static_assert(sizeof(struct profile_process) == 416 && sizeof(struct profile_thread) == 360, "see below");
_Static_assert(sizeof(struct profile_directive) == 72 && sizeof(struct profile_share) == 24, "see below");
_Static_assert(sizeof(struct context_node) == 16 && sizeof(struct profile_column) == 32, "see below");

/* What must be alike at both ends. */
struct mark {
  uint32_t version, process, thread, directive, node, share, module, column;
};

static const struct mark our_mark = {1,
                                     sizeof(struct profile_process),
                                     sizeof(struct profile_thread),
                                     sizeof(struct profile_directive),
                                     sizeof(struct context_node),
                                     sizeof(struct profile_share),
                                     sizeof(struct profile_module),
                                     sizeof(struct profile_column)};

void wire_release(struct wire *wire)
{
  free(wire->bytes);
  *wire = (struct wire){0};
}

static void fail(struct wire *wire, int status)
{
  if (!wire->status)
    wire->status = status;
}

static size_t padded(size_t size)
{
  return (size + BLOCK - 1) / BLOCK * BLOCK;
}

void wire_put(struct wire *wire, const void *block, size_t size)
{
  if (wire->status)
    return;
  size_t needed = wire->size + padded(size);
  if (needed > wire->room) {
    size_t room = needed > wire->room * 2 ? needed : wire->room * 2;
    uint8_t *bytes = realloc(wire->bytes, room);
    if (!bytes) {
      fail(wire, ERR_NOMEM);
      return;
    }
    wire->bytes = bytes;
    wire->room = room;
  }
  if (size)
    memcpy(wire->bytes + wire->size, block, size);
  memset(wire->bytes + wire->size + size, 0, padded(size) - size);
  wire->size = needed;
}

const void *wire_get(struct wire *wire, size_t size)
{
  if (wire->status || size > wire->size - wire->at || padded(size) > wire->size - wire->at) {
    fail(wire, ERR_INPUT);
    return NULL;
  }
  const void *block = wire->bytes + wire->at;
  wire->at += padded(size);
  return block;
}

void wire_put_number(struct wire *wire, uint64_t number)
{
  wire_put(wire, &number, sizeof number);
}

uint64_t wire_get_number(struct wire *wire)
{
  const uint64_t *number = wire_get(wire, sizeof *number);
  return number ? *number : 0;
}

void wire_put_array(struct wire *wire, const void *records, uint64_t count, size_t record_size)
{
  wire_put_number(wire, count);
  wire_put(wire, records, count * record_size);
}

const void *wire_get_array(struct wire *wire, uint32_t *count, size_t record_size)
{
  uint64_t number = wire_get_number(wire);
  const void *records = NULL;
  if (number > UINT32_MAX)
    fail(wire, ERR_INPUT);
  else
    records = wire_get(wire, number * record_size);
  *count = records ? (uint32_t)number : 0;
  return records;
}

static void put_string(struct wire *wire, const char *text)
{
  wire_put_array(wire, text, text ? strlen(text) + 1 : 0, 1);
}

/* NULL where there was none. */
static const char *get_string(struct wire *wire)
{
  uint32_t length;
  const char *text = wire_get_array(wire, &length, 1);
  if (length && text[length - 1])
    fail(wire, ERR_INPUT);
  return length && !wire->status ? text : NULL;
}

/* The same, as memory of its own. */
static char *own_string(struct wire *wire)
{
  const char *text = get_string(wire);
  char *copy = text ? strdup(text) : NULL;
  if (text && !copy)
    fail(wire, ERR_NOMEM);
  return copy;
}

void *wire_own_array(struct wire *wire, uint32_t *count, size_t record_size)
{
  const void *records = wire_get_array(wire, count, record_size);
  void *copy = records ? calloc((size_t)*count + 1, record_size) : NULL;
  if (records && !copy)
    fail(wire, ERR_NOMEM);
  if (copy)
    memcpy(copy, records, *count * record_size);
  else
    *count = 0;
  return copy;
}

void wire_put_problems(struct wire *wire, const struct problems *problems)
{
  wire_put_number(wire, problems->count);
  for (size_t i = 0; i < PROBLEMS_MAX && i < problems->count; i++)
    put_string(wire, problems->lines[i]);
}

void wire_get_problems(struct wire *wire, struct problems *problems)
{
  uint64_t count = wire_get_number(wire);
  for (size_t i = 0; i < count && !wire->status; i++) {
    const char *line = i < PROBLEMS_MAX ? get_string(wire) : NULL;
    if (line)
      problems_add(problems, "%s", line);
    else if (i >= PROBLEMS_MAX) { /* the rest has no lines */
      problems->count += count - i;
      break;
    } else
      problems->count++;
  }
}

/* ---- processes ---- */

static void put_graph(struct wire *wire, const struct profile_graph *graph)
{
  put_string(wire, graph->unit);
  wire_put_array(wire, graph->directives, graph->directives ? graph->directives_count : 0, sizeof *graph->directives);
  for (uint32_t i = 0; graph->directives && i < graph->directives_count; i++)
    put_string(wire, graph->directives[i].name);
}

static void put_process(struct wire *wire, const struct profile_process *process, bool bare)
{
  wire_put(wire, process, sizeof *process);
  put_string(wire, process->path);
  put_string(wire, process->host);
  put_string(wire, process->command);
  put_string(wire, process->runtime);
  put_string(wire, process->notes);
  wire_put_array(wire, process->threads, process->threads_count, sizeof *process->threads);
  put_graph(wire, bare ? &(struct profile_graph){0} : &process->graph);
}

/* Numbers of the sender's catalog → ours. */
struct numbers {
  uint32_t *modules, modules_count;
  uint32_t columns[CATALOG_COLUMNS_MAX], columns_count;
};

static void get_graph(struct wire *wire, const struct numbers *numbers, struct profile_graph *graph)
{
  graph->directives = NULL;
  graph->unit = own_string(wire);
  graph->directives = wire_own_array(wire, &graph->directives_count, sizeof *graph->directives);
  for (uint32_t i = 0; i < graph->directives_count; i++) /* so that it can be released whatever comes */
    graph->directives[i].name = NULL;
  for (uint32_t i = 0; i < graph->directives_count && !wire->status; i++) {
    struct profile_directive *directive = &graph->directives[i];
    directive->name = own_string(wire);
    if (directive->module != PROFILE_NONE && directive->module < numbers->modules_count)
      directive->module = numbers->modules[directive->module];
    else if (directive->module != PROFILE_NONE)
      fail(wire, ERR_INPUT);
    if (!directive->name || directive->kind >= DIRECTIVE_KINDS)
      fail(wire, ERR_INPUT);
  }
  if (graph->known && !graph->unit)
    graph->known = false; /* a bare one */
}

/* Bytes that are no bool must not be read as one. */
static void get_flags(const void *record, struct profile_process *process)
{
  const uint8_t *bytes = record;
  process->usable = bytes[offsetof(struct profile_process, usable)] == 1;
  process->unfinished = bytes[offsetof(struct profile_process, unfinished)] == 1;
  process->running = bytes[offsetof(struct profile_process, running)] == 1;
  process->superseded = bytes[offsetof(struct profile_process, superseded)] == 1;
  process->graph.known = bytes[offsetof(struct profile_process, graph.known)] == 1;
  process->graph.is_time = bytes[offsetof(struct profile_process, graph.is_time)] == 1;
}

static void get_process(struct wire *wire, const struct numbers *numbers, struct profile_process *process)
{
  const struct profile_process *record = wire_get(wire, sizeof *record);
  if (!record)
    return;
  memcpy(process, record, sizeof *process);
  get_flags(record, process);
  process->host = process->command = process->runtime = process->notes = NULL;
  process->threads = NULL;
  process->graph.unit = NULL;
  process->path = own_string(wire);
  process->host = own_string(wire);
  process->command = own_string(wire);
  process->runtime = own_string(wire);
  process->notes = own_string(wire);
  process->threads = wire_own_array(wire, &process->threads_count, sizeof *process->threads);
  get_graph(wire, numbers, &process->graph);
}

static void put_processes(struct wire *wire, const struct profile *profile, bool bare)
{
  uint32_t here = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    here += profile->processes[i].path != NULL;
  wire_put_number(wire, profile->processes_count);
  wire_put_number(wire, here);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    if (!profile->processes[i].path)
      continue;
    wire_put_number(wire, i);
    put_process(wire, &profile->processes[i], bare);
    wire_put_problems(wire, bare ? &(struct problems){0} : &profile->problems[i]);
  }
}

/* Room for all processes of the run, if there is none yet. */
static void reserve_processes(struct wire *wire, struct profile *profile, uint64_t count)
{
  if (count > UINT32_MAX - 1 || (profile->processes && profile->processes_count != count)) {
    fail(wire, ERR_INPUT);
    return;
  }
  if (profile->processes)
    return;
  profile->processes = calloc(count + 1, sizeof *profile->processes);
  profile->problems = calloc(count + 1, sizeof *profile->problems);
  if (profile->processes && profile->problems)
    profile->processes_count = (uint32_t)count;
  else
    fail(wire, ERR_NOMEM);
}

/* What the rest of the program relies on. */
static void check_process(struct wire *wire, const struct profile_process *process, uint32_t processes)
{
  bool named = process->host && process->command && process->runtime && process->notes;
  if (!wire->status && (!process->path || process->number >= processes || (process->usable && !named)))
    fail(wire, ERR_INPUT);
}

static void get_processes(struct wire *wire, const struct numbers *numbers, struct profile *profile)
{
  uint64_t count = wire_get_number(wire), here = wire_get_number(wire);
  if (!wire->status)
    reserve_processes(wire, profile, count);
  for (uint64_t i = 0; i < here && !wire->status; i++) {
    uint64_t place = wire_get_number(wire);
    if (place >= profile->processes_count || profile->processes[place].path) {
      fail(wire, ERR_INPUT);
      break;
    }
    get_process(wire, numbers, &profile->processes[place]);
    check_process(wire, &profile->processes[place], profile->processes_count);
    wire_get_problems(wire, &profile->problems[place]);
  }
}

/* ---- modules and columns ---- */

static void put_catalog(struct wire *wire, const struct catalog *catalog)
{
  wire_put_array(wire, catalog->modules, catalog->modules_count, sizeof *catalog->modules);
  for (uint32_t i = 0; i < catalog->modules_count; i++)
    put_string(wire, catalog->modules[i].path);
  wire_put_array(wire, catalog->columns, catalog->columns_count, sizeof *catalog->columns);
  for (uint32_t i = 0; i < catalog->columns_count; i++) {
    put_string(wire, catalog->columns[i].name);
    put_string(wire, catalog->columns[i].unit);
  }
}

static void get_modules(struct wire *wire, struct catalog *catalog, struct numbers *numbers)
{
  const struct profile_module *modules = wire_get_array(wire, &numbers->modules_count, sizeof *modules);
  numbers->modules = calloc((size_t)numbers->modules_count + 1, sizeof *numbers->modules);
  if (!numbers->modules)
    fail(wire, ERR_NOMEM);
  for (uint32_t i = 0; i < numbers->modules_count && !wire->status; i++) {
    const char *path = get_string(wire);
    if (!path || modules[i].build_id_size > sizeof modules[i].build_id) {
      fail(wire, ERR_INPUT);
      return;
    }
    numbers->modules[i] =
        catalog_module(catalog, path, modules[i].build_id, modules[i].build_id_size, modules[i].flags);
    if (numbers->modules[i] == PROFILE_NONE)
      fail(wire, ERR_NOMEM);
  }
}

/* What one profile has too many columns for is left out, as it is where files have too many. */
static void get_columns(struct wire *wire, struct catalog *catalog, struct numbers *numbers)
{
  const struct profile_column *columns = wire_get_array(wire, &numbers->columns_count, sizeof *columns);
  if (numbers->columns_count > CATALOG_COLUMNS_MAX)
    fail(wire, ERR_INPUT);
  for (uint32_t i = 0; i < numbers->columns_count && !wire->status; i++) {
    const char *name = get_string(wire), *unit = get_string(wire);
    if (!name || !unit || columns[i].role > COLUMN_CRITICAL) {
      fail(wire, ERR_INPUT);
      return;
    }
    struct profile_column column = columns[i];
    column.name = (char *)name;
    column.unit = (char *)unit;
    if (catalog_column(catalog, &column, &numbers->columns[i]) == ERR_NOMEM)
      fail(wire, ERR_NOMEM);
  }
}

/* ---- contexts ---- */

static void put_contexts(struct wire *wire, const struct profile *profile, bool bare)
{
  const struct contexts *contexts = &profile->contexts;
  bool *leads = calloc((size_t)profile->processes_count + 1, sizeof *leads);
  if (!leads) {
    fail(wire, ERR_NOMEM);
    return;
  }
  uint32_t kept = 0;
  if (!bare)
    graph_leaders(profile, leads);
  for (uint32_t i = 0; i < contexts->shares_count; i++)
    kept += leads[contexts->shares[i].owner];
  wire_put_array(wire, contexts->nodes, contexts->count, sizeof *contexts->nodes);
  wire_put_number(wire, contexts->stride);
  wire_put_array(wire, contexts->values, bare ? 0 : (uint64_t)contexts->values_count * contexts->stride,
                 sizeof *contexts->values);
  wire_put_number(wire, kept);
  for (uint32_t i = 0; i < contexts->shares_count; i++)
    if (leads[contexts->shares[i].owner])
      wire_put(wire, &contexts->shares[i], sizeof contexts->shares[i]);
  free(leads);
}

static bool has_module(const struct context_node *node)
{
  return node->kind == CONTEXT_FRAME || node->kind == CONTEXT_USER_REGION;
}

static bool sound_node(const struct context_node *nodes, uint32_t i, const struct numbers *numbers)
{
  const struct context_node *node = &nodes[i];
  bool placed = !has_module(node) || node->module < numbers->modules_count;
  return node->parent < i && node->kind < CONTEXT_KINDS && placed;
}

/* Adds the nodes; map[theirs] receives ours. */
static void get_nodes(struct wire *wire, const struct context_node *nodes, uint32_t count,
                      const struct numbers *numbers, struct contexts *contexts, uint32_t *map)
{
  for (uint32_t i = 1; i < count && !wire->status; i++) {
    if (!sound_node(nodes, i, numbers)) {
      fail(wire, ERR_INPUT);
      return;
    }
    uint32_t module = has_module(&nodes[i]) ? numbers->modules[nodes[i].module] : 0;
    map[i] = contexts_add(contexts, map[nodes[i].parent], nodes[i].kind, module, nodes[i].offset);
    if (map[i] == PROFILE_NONE)
      fail(wire, ERR_NOMEM);
  }
}

static void get_values(struct wire *wire, const struct context_node *nodes, uint32_t count,
                       const struct numbers *numbers, struct contexts *contexts, const uint32_t *map)
{
  uint64_t stride = wire_get_number(wire);
  uint32_t cells;
  const uint64_t *values = wire_get_array(wire, &cells, sizeof *values);
  for (uint32_t i = 0; i < count && cells && !wire->status; i++) {
    if (!nodes[i].value)
      continue;
    if (!stride || nodes[i].value >= cells / stride) {
      fail(wire, ERR_INPUT);
      return;
    }
    for (uint32_t column = 0; column < numbers->columns_count && column < stride; column++)
      if (numbers->columns[column] != PROFILE_NONE &&
          contexts_value(contexts, map[i], numbers->columns[column], values[nodes[i].value * stride + column]))
        fail(wire, ERR_NOMEM);
  }
}

static void get_shares(struct wire *wire, const struct profile *profile, uint32_t count, struct contexts *contexts,
                       const uint32_t *map)
{
  uint64_t shares = wire_get_number(wire);
  for (uint64_t i = 0; i < shares && !wire->status; i++) {
    const struct profile_share *record = wire_get(wire, sizeof *record);
    if (!record)
      return;
    struct profile_share share = *record;
    bool sound = share.owner < profile->processes_count &&
                 share.directive < profile->processes[share.owner].graph.directives_count &&
                 (share.context == PROFILE_NONE || share.context < count);
    if (!sound) {
      fail(wire, ERR_INPUT);
      return;
    }
    if (share.context != PROFILE_NONE)
      share.context = map[share.context];
    if (contexts_share(contexts, &share))
      fail(wire, ERR_NOMEM);
  }
}

static void get_contexts(struct wire *wire, const struct numbers *numbers, struct profile *profile)
{
  struct contexts *contexts = &profile->contexts;
  uint32_t count;
  const struct context_node *nodes = wire_get_array(wire, &count, sizeof *nodes);
  if (!wire->status && !contexts->nodes && contexts_init(contexts))
    fail(wire, ERR_NOMEM);
  uint32_t *map = calloc((size_t)count + 1, sizeof *map);
  if (!map)
    fail(wire, ERR_NOMEM);
  if (!wire->status)
    get_nodes(wire, nodes, count, numbers, contexts, map);
  if (!wire->status)
    get_values(wire, nodes, count, numbers, contexts, map);
  if (!wire->status)
    get_shares(wire, profile, count, contexts, map);
  free(map);
}

/* ---- all ---- */

void wire_put_profile(struct wire *wire, const struct profile *profile, bool bare)
{
  put_catalog(wire, &profile->catalog);
  put_processes(wire, profile, bare);
  put_contexts(wire, profile, bare);
}

void wire_get_profile(struct wire *wire, struct profile *profile)
{
  struct numbers numbers = {0};
  get_modules(wire, &profile->catalog, &numbers);
  if (!wire->status)
    get_columns(wire, &profile->catalog, &numbers);
  if (!wire->status)
    get_processes(wire, &numbers, profile);
  if (!wire->status)
    get_contexts(wire, &numbers, profile);
  free(numbers.modules);
}

/* What stands before the compressed blocks. */
struct head {
  struct mark mark;
  uint64_t size;
};

void *wire_pack(struct wire *wire, size_t *size)
{
  struct head head = {our_mark, wire->size};
  size_t room = ZSTD_compressBound(wire->size);
  uint8_t *packed = wire->status ? NULL : malloc(sizeof head + room);
  size_t length = packed ? ZSTD_compress(packed + sizeof head, room, wire->bytes, wire->size, LEVEL) : 0;
  if (!packed || ZSTD_isError(length)) {
    fail(wire, ERR_NOMEM);
    free(packed);
    return NULL;
  }
  memcpy(packed, &head, sizeof head);
  *size = sizeof head + length;
  return packed;
}

void wire_unpack(struct wire *wire, const void *bytes, size_t size)
{
  struct head head;
  *wire = (struct wire){0};
  if (size < sizeof head) {
    fail(wire, ERR_INPUT);
    return;
  }
  memcpy(&head, bytes, sizeof head);
  if (memcmp(&head.mark, &our_mark, sizeof our_mark)) {
    fail(wire, ERR_INPUT);
    return;
  }
  const uint8_t *packed = (const uint8_t *)bytes + sizeof head;
  size_t claimed = ZSTD_getFrameContentSize(packed, size - sizeof head) == head.size ? head.size : SIZE_MAX;
  wire->bytes = claimed == SIZE_MAX ? NULL : malloc(claimed + 1);
  if (!wire->bytes) {
    fail(wire, claimed == SIZE_MAX ? ERR_INPUT : ERR_NOMEM);
    return;
  }
  size_t length = ZSTD_decompress(wire->bytes, claimed, packed, size - sizeof head);
  if (ZSTD_isError(length) || length != claimed)
    fail(wire, ERR_INPUT);
  wire->size = wire->room = claimed;
}
