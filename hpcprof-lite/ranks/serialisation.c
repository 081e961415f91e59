#include "hpcprof-lite/ranks/serialisation.h"

#include "common/array.h"
#include "hpcprof-lite/input/span_merge.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { BLOCK_BYTES = 8, COMPRESSION_LEVEL = 1 };

/* These fail when a field is added to a record.  A plain number is sent with the record; a pointer, a bool or the
 * number of a module needs code below. */
_Static_assert(sizeof(struct profile_process) == 672 && sizeof(struct profile_thread) == 456, "see below");
_Static_assert(sizeof(struct profile_directive) == 72 && sizeof(struct context_share) == 24, "see below");
_Static_assert(sizeof(struct context_node) == 16 && sizeof(struct catalog_column) == 32, "see below");
_Static_assert(sizeof(struct construct_node) == 20 && sizeof(struct construct_row) == 120, "see below");
_Static_assert(sizeof(struct profile_mark) == 24 && sizeof(struct profile_user_count) == 40, "see below");
_Static_assert(sizeof(struct construct_tasks) == 3016 && sizeof(struct construct_times) == 80, "see below");
_Static_assert(sizeof(struct construct_counts) == 160, "see below");

/* What sender and receiver must have in common. */
struct layout {
  uint32_t version, process, thread, directive, node, share, mark, module, column, construct, row, counts, tasks;
};

static const struct layout own_layout = {3,
                                         sizeof(struct profile_process),
                                         sizeof(struct profile_thread),
                                         sizeof(struct profile_directive),
                                         sizeof(struct context_node),
                                         sizeof(struct context_share),
                                         sizeof(struct context_mark),
                                         sizeof(struct catalog_module),
                                         sizeof(struct catalog_column),
                                         sizeof(struct construct_node),
                                         sizeof(struct construct_row),
                                         sizeof(struct construct_counts),
                                         sizeof(struct construct_tasks)};

void serialisation_release(struct serialisation *message)
{
  free(message->bytes);
  *message = (struct serialisation){0};
}

static void fail(struct serialisation *message, int status)
{
  if (!message->status)
    message->status = status;
}

static size_t padded(size_t size)
{
  return (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

void serialisation_put(struct serialisation *message, const void *block, size_t size)
{
  if (message->status)
    return;
  size_t needed = message->size + padded(size);
  if (!array_reserve(&message->bytes, &message->room, needed, 1)) {
    fail(message, ERR_NOMEM);
    return;
  }
  if (size)
    memcpy(message->bytes + message->size, block, size);
  memset(message->bytes + message->size + size, 0, padded(size) - size);
  message->size = needed;
}

const void *serialisation_get(struct serialisation *message, size_t size)
{
  if (message->status || size > message->size - message->at || padded(size) > message->size - message->at) {
    fail(message, ERR_INPUT);
    return NULL;
  }
  const void *block = message->bytes + message->at;
  message->at += padded(size);
  return block;
}

void serialisation_put_number(struct serialisation *message, uint64_t number)
{
  serialisation_put(message, &number, sizeof number);
}

uint64_t serialisation_get_number(struct serialisation *message)
{
  const uint64_t *number = serialisation_get(message, sizeof *number);
  return number ? *number : 0;
}

void serialisation_put_array(struct serialisation *message, const void *records, uint64_t count, size_t record_size)
{
  serialisation_put_number(message, count);
  serialisation_put(message, records, count * record_size);
}

const void *serialisation_get_array(struct serialisation *message, uint32_t *count, size_t record_size)
{
  uint64_t number = serialisation_get_number(message);
  const void *records = NULL;
  if (number > UINT32_MAX)
    fail(message, ERR_INPUT);
  else
    records = serialisation_get(message, number * record_size);
  *count = records ? (uint32_t)number : 0;
  return records;
}

static void put_string(struct serialisation *message, const char *text)
{
  serialisation_put_array(message, text, text ? strlen(text) + 1 : 0, 1);
}

/* The next string, which belongs to the message; NULL if the sender had none, or on failure. */
static const char *get_string(struct serialisation *message)
{
  uint32_t length;
  const char *text = serialisation_get_array(message, &length, 1);
  if (length && text[length - 1])
    fail(message, ERR_INPUT);
  return length && !message->status ? text : NULL;
}

/* Returns a copy of the next string, which the caller frees. */
static char *own_string(struct serialisation *message)
{
  const char *text = get_string(message);
  char *copy = text ? strdup(text) : NULL;
  if (text && !copy)
    fail(message, ERR_NOMEM);
  return copy;
}

void *serialisation_own_array(struct serialisation *message, uint32_t *count, size_t record_size)
{
  const void *records = serialisation_get_array(message, count, record_size);
  void *copy = records ? calloc((size_t)*count + 1, record_size) : NULL;
  if (records && !copy)
    fail(message, ERR_NOMEM);
  if (copy)
    memcpy(copy, records, *count * record_size);
  else
    *count = 0;
  return copy;
}

void serialisation_put_problems(struct serialisation *message, const struct problems *problems)
{
  serialisation_put_number(message, problems->count);
  for (size_t i = 0; i < PROBLEMS_MAX && i < problems->count; i++)
    put_string(message, problems->lines[i]);
}

void serialisation_get_problems(struct serialisation *message, struct problems *problems)
{
  uint64_t count = serialisation_get_number(message);
  for (size_t i = 0; i < count && !message->status; i++) {
    const char *line = i < PROBLEMS_MAX ? get_string(message) : NULL;
    if (line)
      problems_add(problems, "%s", line);
    else if (i >= PROBLEMS_MAX) { /* further problems have no lines */
      problems->count += count - i;
      break;
    } else
      problems->count++;
  }
}

/* ---- processes ---- */

static void put_workspan(struct serialisation *message, const struct profile_workspan *workspan)
{
  put_string(message, workspan->unit);
  serialisation_put_array(message, workspan->directives, workspan->directives ? workspan->directives_count : 0,
                          sizeof *workspan->directives);
  for (uint32_t i = 0; workspan->directives && i < workspan->directives_count; i++)
    put_string(message, workspan->directives[i].name);
}

static void put_constructs(struct serialisation *message, const struct construct_times *times)
{
  serialisation_put_array(message, times->nodes, times->nodes_count, sizeof *times->nodes);
  serialisation_put_array(message, times->rows, times->rows_count, sizeof *times->rows);
  serialisation_put_number(message, times->counts ? times->rows_count : 0);
  for (uint32_t i = 0; i < times->rows_count && times->counts; i++)
    serialisation_put(message, times->rows[i].figures.counts, sizeof *times->counts);
  serialisation_put_array(message, times->tasks, times->tasks_count, sizeof *times->tasks);
  serialisation_put_array(message, times->counters.names, times->counters.count, sizeof *times->counters.names);
}

static void put_user_marks(struct serialisation *message, const struct profile_marks *marks)
{
  serialisation_put_array(message, marks->marks, marks->marks_count, sizeof *marks->marks);
  serialisation_put_array(message, marks->counts, marks->counts_count, sizeof *marks->counts);
  serialisation_put_array(message, marks->text, marks->text_size, 1);
}

static void put_process(struct serialisation *message, const struct profile_process *process, bool bare)
{
  serialisation_put(message, process, sizeof *process);
  put_string(message, process->path);
  put_string(message, process->host);
  put_string(message, process->command);
  put_string(message, process->runtime);
  put_string(message, process->notes);
  serialisation_put_array(message, process->threads, process->threads_count, sizeof *process->threads);
  put_workspan(message, bare ? &(struct profile_workspan){0} : &process->workspan);
  put_constructs(message, bare ? &(struct construct_times){0} : &process->constructs);
  put_user_marks(message, bare ? &(struct profile_marks){0} : &process->marks);
}

/* Maps the sender's numbers of modules and columns to those of this rank's catalog. */
struct number_map {
  uint32_t *modules, modules_count;
  uint32_t columns[CATALOG_COLUMNS_MAX], columns_count;
};

static void get_workspan(struct serialisation *message, const struct number_map *numbers,
                         struct profile_workspan *workspan)
{
  workspan->directives = NULL;
  workspan->unit = own_string(message);
  workspan->directives = serialisation_own_array(message, &workspan->directives_count, sizeof *workspan->directives);
  for (uint32_t i = 0; i < workspan->directives_count; i++) /* so that a failure leaves no foreign pointer to release */
    workspan->directives[i].name = NULL;
  for (uint32_t i = 0; i < workspan->directives_count && !message->status; i++) {
    struct profile_directive *directive = &workspan->directives[i];
    directive->name = own_string(message);
    if (directive->module != MODEL_NONE && directive->module < numbers->modules_count)
      directive->module = numbers->modules[directive->module];
    else if (directive->module != MODEL_NONE)
      fail(message, ERR_INPUT);
    if (!directive->name || directive->kind >= DIRECTIVE_KINDS)
      fail(message, ERR_INPUT);
  }
  if (workspan->known && !workspan->unit)
    workspan->known = false; /* sent without, because the profile is bare */
}

/* Whether all numbers of a process's constructs exist. */
static bool valid_constructs(const struct construct_times *times, const struct profile_process *process)
{
  uint32_t directives = process->workspan.directives_count;
  bool valid = !times->nodes_count || times->nodes[0].kind == DIRECTIVE_PROGRAM;
  for (uint32_t i = 1; i < times->nodes_count && valid; i++) {
    const struct construct_node *node = &times->nodes[i];
    valid = node->parent < i && node->kind && node->kind < CONSTRUCT_KINDS && node->directive < directives &&
            node->in_wait <= 1;
  }
  for (uint32_t i = 0; i < times->rows_count && valid; i++)
    valid = times->rows[i].node < times->nodes_count && times->rows[i].thread < process->threads_count;
  for (uint32_t i = 0; i < times->tasks_count && valid; i++)
    valid = times->tasks[i].directive < directives && times->tasks[i].tick_ns > 0 && times->tasks[i].tick_ns < 1e12;
  return valid && (!times->nodes_count || directives);
}

/* Reads the names of the events that a process has counted. */
static void get_counters(struct serialisation *message, struct counter_names *counters)
{
  uint32_t count;
  char(*names)[COUNTER_NAME_MAX] = serialisation_own_array(message, &count, sizeof *names);
  if (!message->status && count > COUNTERS_MAX)
    fail(message, ERR_INPUT);
  for (uint32_t i = 0; i < count && !message->status; i++) {
    names[i][COUNTER_NAME_MAX - 1] = '\0';
    uint32_t number = counter_names_add(counters, names[i]);
    if (number != i)
      fail(message, number == MODEL_NONE ? ERR_NOMEM : ERR_INPUT);
  }
  free(names);
}

/* Reads what was counted in the rows of a process, if anything was. */
static void get_counts(struct serialisation *message, struct construct_times *times)
{
  uint32_t count;
  times->counts = serialisation_own_array(message, &count, sizeof *times->counts);
  if (count != times->rows_count) {
    free(times->counts);
    times->counts = NULL;
  }
  if (count && count != times->rows_count)
    fail(message, ERR_INPUT);
  construct_times_set_counts(times);
}

static void get_constructs(struct serialisation *message, struct profile_process *process)
{
  struct construct_times *times = &process->constructs;
  *times = (struct construct_times){0};
  times->nodes = serialisation_own_array(message, &times->nodes_count, sizeof *times->nodes);
  times->rows = serialisation_own_array(message, &times->rows_count, sizeof *times->rows);
  get_counts(message, times);
  times->tasks = serialisation_own_array(message, &times->tasks_count, sizeof *times->tasks);
  get_counters(message, &times->counters);
  if (!message->status && !valid_constructs(times, process))
    fail(message, ERR_INPUT);
}

/* Whether all names of a process's marks and counters exist, and the marks are in order. */
static bool valid_marks(const struct profile_marks *marks)
{
  bool valid = marks->text_size ? !marks->text[0] && !marks->text[marks->text_size - 1]
                                : !marks->marks_count && !marks->counts_count;
  for (uint32_t i = 0; i < marks->marks_count && valid; i++)
    valid = marks->marks[i].name < marks->text_size && marks->marks[i].phase <= 1 &&
            (!i || marks->marks[i].at_ns >= marks->marks[i - 1].at_ns);
  for (uint32_t i = 0; i < marks->counts_count && valid; i++)
    valid = marks->counts[i].name < marks->text_size;
  return valid;
}

static void get_user_marks(struct serialisation *message, struct profile_marks *marks)
{
  *marks = (struct profile_marks){0};
  marks->marks = serialisation_own_array(message, &marks->marks_count, sizeof *marks->marks);
  marks->counts = serialisation_own_array(message, &marks->counts_count, sizeof *marks->counts);
  marks->text = serialisation_own_array(message, &marks->text_size, 1);
  if (!message->status && !valid_marks(marks))
    fail(message, ERR_INPUT);
  for (uint32_t i = 0; i < marks->marks_count && !message->status; i++)
    marks->phases += marks->marks[i].phase;
}

/* Reads the bools of a record by their bytes: a damaged one may have a value that no bool has. */
static void get_bools(const void *record, struct profile_process *process)
{
  const uint8_t *bytes = record;
  process->usable = bytes[offsetof(struct profile_process, usable)] == 1;
  process->unfinished = bytes[offsetof(struct profile_process, unfinished)] == 1;
  process->running = bytes[offsetof(struct profile_process, running)] == 1;
  process->copied = bytes[offsetof(struct profile_process, copied)] == 1;
  process->superseded = bytes[offsetof(struct profile_process, superseded)] == 1;
  process->in_part = bytes[offsetof(struct profile_process, in_part)] == 1;
  process->of_whole = bytes[offsetof(struct profile_process, of_whole)] == 1;
  process->counts_about = bytes[offsetof(struct profile_process, counts_about)] == 1;
  process->workspan.known = bytes[offsetof(struct profile_process, workspan.known)] == 1;
  process->workspan.is_time = bytes[offsetof(struct profile_process, workspan.is_time)] == 1;
}

static void get_process(struct serialisation *message, const struct number_map *numbers,
                        struct profile_process *process)
{
  const struct profile_process *record = serialisation_get(message, sizeof *record);
  if (!record)
    return;
  memcpy(process, record, sizeof *process);
  process->paused_ns = process->paused_ns < process->wall_ns ? process->paused_ns : process->wall_ns;
  get_bools(record, process);
  process->host = process->command = process->runtime = process->notes = NULL;
  process->threads = NULL;
  process->directive_map = NULL;
  process->constructs = (struct construct_times){0};
  process->marks = (struct profile_marks){0};
  process->workspan.unit = NULL;
  process->path = own_string(message);
  process->host = own_string(message);
  process->command = own_string(message);
  process->runtime = own_string(message);
  process->notes = own_string(message);
  process->threads = serialisation_own_array(message, &process->threads_count, sizeof *process->threads);
  get_workspan(message, numbers, &process->workspan);
  get_constructs(message, process);
  get_user_marks(message, &process->marks);
}

/* Puts the processes that this rank has read, with their places among those of the run. */
static void put_processes(struct serialisation *message, const struct profile *profile, bool bare)
{
  uint32_t present = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    present += profile->processes[i].path != NULL;
  serialisation_put_number(message, profile->processes_count);
  serialisation_put_number(message, present);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    if (!profile->processes[i].path)
      continue;
    serialisation_put_number(message, i);
    put_process(message, &profile->processes[i], bare);
    serialisation_put_problems(message, bare ? &(struct problems){0} : &profile->problems[i]);
  }
}

/* Allocates the processes of the run, unless the profile has them. */
static void reserve_processes(struct serialisation *message, struct profile *profile, uint64_t count)
{
  if (count > UINT32_MAX - 1 || (profile->processes && profile->processes_count != count)) {
    fail(message, ERR_INPUT);
    return;
  }
  if (profile->processes)
    return;
  profile->processes = calloc(count + 1, sizeof *profile->processes);
  profile->problems = calloc(count + 1, sizeof *profile->problems);
  if (profile->processes && profile->problems)
    profile->processes_count = (uint32_t)count;
  else
    fail(message, ERR_NOMEM);
}

/* Checks what the rest of the program relies on. */
static void check_process(struct serialisation *message, const struct profile_process *process, uint32_t processes)
{
  bool named = process->host && process->command && process->runtime && process->notes;
  if (!message->status && (!process->path || process->number >= processes || (process->usable && !named)))
    fail(message, ERR_INPUT);
}

static void get_processes(struct serialisation *message, const struct number_map *numbers, struct profile *profile)
{
  uint64_t count = serialisation_get_number(message), present = serialisation_get_number(message);
  if (!message->status)
    reserve_processes(message, profile, count);
  for (uint64_t i = 0; i < present && !message->status; i++) {
    uint64_t place = serialisation_get_number(message);
    if (place >= profile->processes_count || profile->processes[place].path) {
      fail(message, ERR_INPUT);
      break;
    }
    get_process(message, numbers, &profile->processes[place]);
    check_process(message, &profile->processes[place], profile->processes_count);
    serialisation_get_problems(message, &profile->problems[place]);
  }
}

/* ---- modules and columns ---- */

static void put_catalog(struct serialisation *message, const struct catalog *catalog)
{
  serialisation_put_array(message, catalog->modules, catalog->modules_count, sizeof *catalog->modules);
  for (uint32_t i = 0; i < catalog->modules_count; i++)
    put_string(message, catalog->modules[i].path);
  serialisation_put_array(message, catalog->columns, catalog->columns_count, sizeof *catalog->columns);
  for (uint32_t i = 0; i < catalog->columns_count; i++) {
    put_string(message, catalog->columns[i].name);
    put_string(message, catalog->columns[i].unit);
  }
}

static void get_modules(struct serialisation *message, struct catalog *catalog, struct number_map *numbers)
{
  const struct catalog_module *modules = serialisation_get_array(message, &numbers->modules_count, sizeof *modules);
  numbers->modules = calloc((size_t)numbers->modules_count + 1, sizeof *numbers->modules);
  if (!numbers->modules)
    fail(message, ERR_NOMEM);
  for (uint32_t i = 0; i < numbers->modules_count && !message->status; i++) {
    const char *path = get_string(message);
    if (!path || modules[i].build_id_size > sizeof modules[i].build_id) {
      fail(message, ERR_INPUT);
      return;
    }
    numbers->modules[i] =
        catalog_add_module(catalog, path, modules[i].build_id, modules[i].build_id_size, modules[i].flags);
    if (numbers->modules[i] == MODEL_NONE)
      fail(message, ERR_NOMEM);
  }
}

/* A column that exceeds the catalog's limit is left out, as it is when files are read. */
static void get_columns(struct serialisation *message, struct catalog *catalog, struct number_map *numbers)
{
  const struct catalog_column *columns = serialisation_get_array(message, &numbers->columns_count, sizeof *columns);
  if (numbers->columns_count > CATALOG_COLUMNS_MAX)
    fail(message, ERR_INPUT);
  for (uint32_t i = 0; i < numbers->columns_count && !message->status; i++) {
    const char *name = get_string(message), *unit = get_string(message);
    if (!name || !unit || (columns[i].role & ~(uint32_t)COLUMN_OF_WHOLE) >= COLUMN_ROLES) {
      fail(message, ERR_INPUT);
      return;
    }
    struct catalog_column column = columns[i];
    column.name = (char *)name;
    column.unit = (char *)unit;
    if (catalog_add_column(catalog, &column, &numbers->columns[i]) == ERR_NOMEM)
      fail(message, ERR_NOMEM);
  }
}

/* ---- contexts ---- */

/* Puts the contexts, and the shares of processes that may have the run's span. */
static void put_contexts(struct serialisation *message, const struct profile *profile, bool bare)
{
  const struct contexts *contexts = &profile->contexts;
  bool *leads = calloc((size_t)profile->processes_count + 1, sizeof *leads);
  if (!leads) {
    fail(message, ERR_NOMEM);
    return;
  }
  uint32_t kept = 0;
  if (!bare)
    span_leaders(profile, leads);
  for (uint32_t i = 0; i < contexts->shares_count; i++)
    kept += leads[contexts->shares[i].owner];
  serialisation_put_array(message, contexts->nodes, contexts->count, sizeof *contexts->nodes);
  serialisation_put_number(message, contexts->stride);
  serialisation_put_array(message, contexts->values, bare ? 0 : (uint64_t)contexts->values_count * contexts->stride,
                          sizeof *contexts->values);
  serialisation_put_number(message, kept);
  for (uint32_t i = 0; i < contexts->shares_count; i++)
    if (leads[contexts->shares[i].owner])
      serialisation_put(message, &contexts->shares[i], sizeof contexts->shares[i]);
  serialisation_put_array(message, contexts->marks, bare ? 0 : contexts->marks_count, sizeof *contexts->marks);
  free(leads);
}

static bool has_module(const struct context_node *node)
{
  return contexts_has_address(node) || node->kind == CONTEXT_USER_REGION;
}

static bool valid_node(const struct context_node *nodes, uint32_t i, const struct number_map *numbers)
{
  const struct context_node *node = &nodes[i];
  bool module_valid = !has_module(node) || node->module < numbers->modules_count;
  return node->parent < i && node->kind < CONTEXT_KINDS && module_valid;
}

/* Adds the nodes; map[] receives the number of each in `contexts`. */
static void get_nodes(struct serialisation *message, const struct context_node *nodes, uint32_t count,
                      const struct number_map *numbers, struct contexts *contexts, uint32_t *map)
{
  for (uint32_t i = 1; i < count && !message->status; i++) {
    if (!valid_node(nodes, i, numbers)) {
      fail(message, ERR_INPUT);
      return;
    }
    uint32_t module = has_module(&nodes[i]) ? numbers->modules[nodes[i].module] : 0;
    map[i] = contexts_add(contexts, map[nodes[i].parent], nodes[i].kind, module, nodes[i].offset);
    if (map[i] == MODEL_NONE)
      fail(message, ERR_NOMEM);
  }
}

static void get_values(struct serialisation *message, const struct context_node *nodes, uint32_t count,
                       const struct number_map *numbers, struct contexts *contexts, const uint32_t *map)
{
  uint64_t stride = serialisation_get_number(message);
  uint32_t cells;
  const uint64_t *values = serialisation_get_array(message, &cells, sizeof *values);
  for (uint32_t i = 0; i < count && cells && !message->status; i++) {
    if (!nodes[i].value)
      continue;
    if (!stride || nodes[i].value >= cells / stride) {
      fail(message, ERR_INPUT);
      return;
    }
    for (uint32_t column = 0; column < numbers->columns_count && column < stride; column++)
      if (numbers->columns[column] != MODEL_NONE &&
          contexts_value(contexts, map[i], numbers->columns[column], values[nodes[i].value * stride + column]))
        fail(message, ERR_NOMEM);
  }
}

static void get_shares(struct serialisation *message, const struct profile *profile, uint32_t count,
                       struct contexts *contexts, const uint32_t *map)
{
  uint64_t shares = serialisation_get_number(message);
  for (uint64_t i = 0; i < shares && !message->status; i++) {
    const struct context_share *record = serialisation_get(message, sizeof *record);
    if (!record)
      return;
    struct context_share share = *record;
    bool valid = share.owner < profile->processes_count &&
                 share.directive < profile->processes[share.owner].workspan.directives_count &&
                 (share.context == MODEL_NONE || share.context < count);
    if (!valid) {
      fail(message, ERR_INPUT);
      return;
    }
    if (share.context != MODEL_NONE)
      share.context = map[share.context];
    if (contexts_add_share(contexts, &share))
      fail(message, ERR_NOMEM);
  }
}

static void get_marks(struct serialisation *message, const struct profile *profile, uint32_t count,
                      struct contexts *contexts, const uint32_t *map)
{
  uint32_t marks;
  const struct context_mark *records = serialisation_get_array(message, &marks, sizeof *records);
  for (uint32_t i = 0; i < marks && !message->status; i++) {
    struct context_mark mark = records[i];
    if (mark.owner >= profile->processes_count || mark.context >= count ||
        mark.construct >= profile->processes[mark.owner].constructs.nodes_count) {
      fail(message, ERR_INPUT);
      return;
    }
    mark.context = map[mark.context];
    if (contexts_add_mark(contexts, &mark))
      fail(message, ERR_NOMEM);
  }
}

static void get_contexts(struct serialisation *message, const struct number_map *numbers, struct profile *profile)
{
  struct contexts *contexts = &profile->contexts;
  uint32_t count;
  const struct context_node *nodes = serialisation_get_array(message, &count, sizeof *nodes);
  if (!message->status && !contexts->nodes && contexts_init(contexts))
    fail(message, ERR_NOMEM);
  uint32_t *map = calloc((size_t)count + 1, sizeof *map);
  if (!map)
    fail(message, ERR_NOMEM);
  if (!message->status)
    get_nodes(message, nodes, count, numbers, contexts, map);
  if (!message->status)
    get_values(message, nodes, count, numbers, contexts, map);
  if (!message->status)
    get_shares(message, profile, count, contexts, map);
  if (!message->status)
    get_marks(message, profile, count, contexts, map);
  free(map);
}

/* ---- profiles and messages ---- */

void serialisation_put_profile(struct serialisation *message, const struct profile *profile, bool bare)
{
  put_catalog(message, &profile->catalog);
  put_processes(message, profile, bare);
  put_contexts(message, profile, bare);
}

void serialisation_get_profile(struct serialisation *message, struct profile *profile)
{
  struct number_map numbers = {0};
  get_modules(message, &profile->catalog, &numbers);
  if (!message->status)
    get_columns(message, &profile->catalog, &numbers);
  if (!message->status)
    get_processes(message, &numbers, profile);
  if (!message->status)
    get_contexts(message, &numbers, profile);
  free(numbers.modules);
}

/* Precedes the compressed blocks. */
struct head {
  struct layout layout;
  uint64_t size; /* bytes of all blocks */
};

void *serialisation_pack(struct serialisation *message, size_t *size)
{
  struct head head = {own_layout, message->size};
  size_t room = ZSTD_compressBound(message->size);
  uint8_t *packed = message->status ? NULL : malloc(sizeof head + room);
  size_t length =
      packed ? ZSTD_compress(packed + sizeof head, room, message->bytes, message->size, COMPRESSION_LEVEL) : 0;
  if (!packed || ZSTD_isError(length)) {
    fail(message, ERR_NOMEM);
    free(packed);
    return NULL;
  }
  memcpy(packed, &head, sizeof head);
  *size = sizeof head + length;
  return packed;
}

void serialisation_unpack(struct serialisation *message, const void *bytes, size_t size)
{
  struct head head;
  *message = (struct serialisation){0};
  if (size < sizeof head) {
    fail(message, ERR_INPUT);
    return;
  }
  memcpy(&head, bytes, sizeof head);
  if (memcmp(&head.layout, &own_layout, sizeof own_layout)) {
    fail(message, ERR_INPUT);
    return;
  }
  const uint8_t *packed = (const uint8_t *)bytes + sizeof head;
  size_t claimed = ZSTD_getFrameContentSize(packed, size - sizeof head) == head.size ? head.size : SIZE_MAX;
  message->bytes = claimed == SIZE_MAX ? NULL : malloc(claimed + 1);
  if (!message->bytes) {
    fail(message, claimed == SIZE_MAX ? ERR_INPUT : ERR_NOMEM);
    return;
  }
  size_t length = ZSTD_decompress(message->bytes, claimed, packed, size - sizeof head);
  if (ZSTD_isError(length) || length != claimed)
    fail(message, ERR_INPUT);
  message->size = message->room = claimed;
}
