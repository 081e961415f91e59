#include "hpcprof-lite/ranks/profile_message.h"

#include "common/mpi_functions.h"
#include "common/xalloc.h"
#include "hpcprof-lite/merge/span_merge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { BLOCK_BYTES = 8, COMPRESSION_LEVEL = 1 };

/* What a record refers to.  The record itself is sent as it is in memory; what it refers to follows, in the order of
 * its table. */
struct part {
  enum { END, TEXT, LIST, FLAGS } kind;
  size_t at;                /* offset of the pointer, or of the first bool */
  size_t count;             /* LIST: offset of the number of elements; FLAGS: how many */
  size_t size;              /* of an element */
  const struct part *parts; /* of an element */
};

/* Parts of RECORD.  FLAGS: bools that follow each other. */
#define TEXT(pointer) TEXT, offsetof(struct RECORD, pointer), 0, 1, NULL
#define LIST(pointer, number, parts)                                                                                   \
  LIST, offsetof(struct RECORD, pointer), offsetof(struct RECORD, number), sizeof *((struct RECORD *)0)->pointer, parts
#define FLAGS(first, last)                                                                                             \
  FLAGS, offsetof(struct RECORD, first), offsetof(struct RECORD, last) - offsetof(struct RECORD, first) + 1, 0, NULL

#define RECORD profile_directive
static const struct part directive_parts[] = {{TEXT(name)}, {0}};
#undef RECORD
#define RECORD catalog_module
static const struct part module_parts[] = {
    {TEXT(path)}, {TEXT(generated)}, {LIST(identity.pages, identity.pages_count, NULL)}, {0}};
#undef RECORD
#define RECORD catalog_column
static const struct part column_parts[] = {{TEXT(name)}, {TEXT(unit)}, {0}};
#undef RECORD
#define RECORD profile_process
static const struct part process_parts[] = {{FLAGS(usable, counts_about)},
                                            {FLAGS(workspan.known, workspan.known)},
                                            {FLAGS(workspan.is_time, workspan.is_time)},
                                            {TEXT(path)},
                                            {TEXT(host)},
                                            {TEXT(command)},
                                            {TEXT(runtime)},
                                            {TEXT(notes)},
                                            {TEXT(limits)},
                                            {TEXT(mpi_library)},
                                            {LIST(threads, threads_count, NULL)},
                                            {TEXT(workspan.unit)},
                                            {LIST(workspan.directives, workspan.directives_count, directive_parts)},
                                            {LIST(constructs.nodes, constructs.nodes_count, NULL)},
                                            {LIST(constructs.rows, constructs.rows_count, NULL)},
                                            {LIST(constructs.tasks, constructs.tasks_count, NULL)},
                                            {LIST(marks.marks, marks.marks_count, NULL)},
                                            {LIST(marks.counts, marks.counts_count, NULL)},
                                            {LIST(marks.text, marks.text_size, NULL)},
                                            {LIST(devices, devices_count, NULL)},
                                            {0}};
#undef RECORD

/* These fail when a field is added to a record.  A number is sent with the record; a pointer or bool needs a line
 * above, the number of a module code below. */
_Static_assert(sizeof(struct profile_process) == 976 && sizeof(struct profile_directive) == 168, "see above");
_Static_assert(sizeof(struct catalog_module) == 96 && sizeof(struct catalog_column) == 32, "see above");
_Static_assert(sizeof(struct context_node) == 16 && sizeof(struct context_share) == 24, "see below");
_Static_assert(sizeof(struct context_lock) == 88 && sizeof(struct context_mpi) == 80, "see below");
_Static_assert(sizeof(struct context_device) == 24, "see below");
_Static_assert(sizeof(struct construct_node) == 20 && sizeof(struct construct_row) == 280, "see below");
_Static_assert(sizeof(struct construct_tasks) == 3024 && sizeof(struct construct_times) == 80, "see below");

/* What sender and receiver must have in common: a version, and the sizes of records. */
#define SIZE(record) sizeof(struct record)
static const uint32_t own_layout[] = {8,
                                      SIZE(profile_process),
                                      SIZE(profile_thread),
                                      SIZE(profile_directive),
                                      SIZE(profile_mark),
                                      SIZE(profile_user_count),
                                      SIZE(context_node),
                                      SIZE(context_share),
                                      SIZE(context_construct),
                                      SIZE(context_lock),
                                      SIZE(context_mpi),
                                      SIZE(context_device),
                                      SIZE(profile_device),
                                      SIZE(catalog_module),
                                      SIZE(catalog_column),
                                      SIZE(construct_node),
                                      SIZE(construct_row),
                                      SIZE(construct_counts),
                                      SIZE(construct_tasks)};

void profile_message_release(struct profile_message *message)
{
  free(message->bytes);
  *message = (struct profile_message){0};
}

bool profile_message_check(struct profile_message *message, bool valid)
{
  if (!valid && !message->status)
    message->status = ERR_INPUT;
  return !message->status;
}

static size_t padded(size_t size)
{
  return (size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

void profile_message_put(struct profile_message *message, const void *block, size_t size)
{
  assert(!message->at && (block || !size));
  if (message->status)
    return;
  size_t needed = message->size + padded(size);
  xarray_reserve(&message->bytes, &message->room, needed, 1);
  if (size)
    memcpy(message->bytes + message->size, block, size);
  memset(message->bytes + message->size + size, 0, padded(size) - size);
  message->size = needed;
}

const void *profile_message_get(struct profile_message *message, size_t size)
{
  assert(message->at <= message->size);
  size_t left = message->size - message->at;
  if (!profile_message_check(message, size <= left && padded(size) <= left))
    return NULL;
  const void *block = message->bytes + message->at;
  message->at += padded(size);
  return block;
}

void profile_message_put_number(struct profile_message *message, uint64_t number)
{
  profile_message_put(message, &number, sizeof number);
}

uint64_t profile_message_get_number(struct profile_message *message)
{
  const uint64_t *number = profile_message_get(message, sizeof *number);
  return number ? *number : 0;
}

void profile_message_put_array(struct profile_message *message, const void *records, uint64_t count, size_t record_size)
{
  assert(record_size);
  profile_message_put_number(message, count);
  profile_message_put(message, records, count * record_size);
}

const void *profile_message_get_array(struct profile_message *message, uint32_t *count, size_t record_size)
{
  assert(count && record_size);
  uint64_t number = profile_message_get_number(message);
  bool valid = profile_message_check(message, number <= UINT32_MAX);
  const void *records = valid ? profile_message_get(message, number * record_size) : NULL;
  *count = records ? (uint32_t)number : 0;
  return records;
}

static void put_string(struct profile_message *message, const char *text)
{
  profile_message_put_array(message, text, text ? strlen(text) + 1 : 0, 1);
}

/* The next string, which belongs to the message; NULL if the sender had none, or on failure. */
static const char *get_string(struct profile_message *message)
{
  uint32_t length;
  const char *text = profile_message_get_array(message, &length, 1);
  return profile_message_check(message, !length || !text[length - 1]) && length ? text : NULL;
}

void *profile_message_own_array(struct profile_message *message, uint32_t *count, size_t record_size)
{
  const void *records = profile_message_get_array(message, count, record_size);
  return records ? memcpy(xcalloc((size_t)*count + 1, record_size), records, *count * record_size) : NULL;
}

void profile_message_put_problems(struct profile_message *message, const struct problems *problems)
{
  profile_message_put_number(message, problems->count);
  for (size_t i = 0; i < PROBLEMS_MAX && i < problems->count; i++)
    put_string(message, problems->lines[i]);
}

void profile_message_get_problems(struct profile_message *message, struct problems *problems)
{
  uint64_t count = profile_message_get_number(message);
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

void profile_message_put_column(struct profile_message *message, const void *records, uint64_t count,
                                size_t record_size, size_t at)
{
  assert(record_size >= at + sizeof(uint32_t));
  profile_message_put_number(message, count);
  for (uint64_t i = 0; i < count; i++)
    profile_message_put(message, (const uint8_t *)records + i * record_size + at, sizeof(uint32_t));
}

uint32_t profile_message_get_count(struct profile_message *message)
{
  uint64_t count = profile_message_get_number(message);
  return profile_message_check(message, count <= message->size && count < UINT32_MAX) ? (uint32_t)count : 0;
}

uint32_t profile_message_get_cell(struct profile_message *message, uint32_t limit, bool allow_none)
{
  assert(limit);
  const uint32_t *cell = profile_message_get(message, sizeof *cell);
  bool valid = cell && (*cell < limit || (allow_none && *cell == MODEL_NONE));
  return profile_message_check(message, valid) ? *cell : 0;
}

bool profile_message_get_numbers(struct profile_message *message, uint32_t count, uint32_t limit, uint32_t **numbers)
{
  uint32_t found;
  *numbers = profile_message_own_array(message, &found, sizeof **numbers);
  bool valid = found == count;
  for (uint32_t i = 0; i < found && valid; i++)
    valid = (*numbers)[i] < limit || (*numbers)[i] == MODEL_NONE;
  if (!found) {
    free(*numbers);
    *numbers = NULL;
  }
  return profile_message_check(message, valid);
}

void profile_message_put_tree(struct profile_message *message, const struct tree *tree)
{
  profile_message_put_column(message, tree->rows, tree->count, sizeof *tree->rows, offsetof(struct tree_row, parent));
}

void profile_message_get_tree(struct profile_message *message, struct tree *tree)
{
  assert(!tree->rows);
  uint32_t count = profile_message_get_count(message);
  tree->rows = xcalloc((size_t)count + 1, sizeof *tree->rows);
  for (uint32_t row = 0; row < count && !message->status; row++) {
    uint32_t above = profile_message_get_cell(message, row ? row : UINT32_MAX, !row);
    tree->rows[row].parent = row ? above : MODEL_NONE;
    tree->rows[row].depth = row ? tree->rows[above].depth + 1 : 0;
    tree->count = row + 1;
  }
}

/* ---- records with what they refer to ---- */

static void *pointer_at(const void *record, size_t at)
{
  void *pointer;
  memcpy(&pointer, (const uint8_t *)record + at, sizeof pointer); /* it may have any type */
  return pointer;
}

static uint32_t *count_at(void *record, const struct part *part)
{
  assert(part->kind == LIST);
  return (uint32_t *)(void *)((uint8_t *)record + part->count);
}

static void put_parts(struct profile_message *message, const void *record, const struct part *part)
{
  for (; part->kind; part++) {
    const uint8_t *array = part->kind == FLAGS ? NULL : pointer_at(record, part->at);
    uint32_t count = 0;
    if (part->kind == TEXT)
      put_string(message, (const char *)array);
    if (part->kind != LIST)
      continue;
    if (array)
      memcpy(&count, (const uint8_t *)record + part->count, sizeof count);
    profile_message_put_array(message, array, count, part->size);
    for (uint32_t i = 0; i < count && part->parts; i++)
      put_parts(message, array + i * part->size, part->parts);
  }
}

static void put_records(struct profile_message *message, const void *records, uint32_t count, size_t size,
                        const struct part *parts)
{
  profile_message_put_array(message, records, count, size);
  for (uint32_t i = 0; i < count; i++)
    put_parts(message, (const uint8_t *)records + i * size, parts);
}

/* Removes the sender's pointers from a record, so that a failure leaves none to release, and values of bools that no
 * bool has. */
static void clear_parts(void *record, const struct part *part)
{
  for (; part->kind; part++) {
    uint8_t *at = (uint8_t *)record + part->at;
    for (size_t i = 0; i < part->count && part->kind == FLAGS; i++)
      at[i] = at[i] == 1;
    if (part->kind != FLAGS)
      memset(at, 0, sizeof(void *));
    if (part->kind == LIST)
      *count_at(record, part) = 0;
  }
}

/* Reads what a record, whose parts are clear, refers to. */
static void get_parts(struct profile_message *message, void *record, const struct part *part)
{
  for (; part->kind && !message->status; part++) {
    void *found = NULL;
    uint32_t count = 0;
    if (part->kind == FLAGS)
      continue;
    if (part->kind == LIST) {
      found = profile_message_own_array(message, &count, part->size);
    } else {
      const char *text = get_string(message);
      found = text ? xstrdup(text) : NULL;
    }
    memcpy((uint8_t *)record + part->at, &found, sizeof found);
    if (part->kind == LIST)
      *count_at(record, part) = count;
    for (uint32_t i = 0; i < count && part->parts; i++)
      clear_parts((uint8_t *)found + i * part->size, part->parts);
    for (uint32_t i = 0; i < count && part->parts; i++)
      get_parts(message, (uint8_t *)found + i * part->size, part->parts);
  }
}

/* ---- processes ---- */

/* What was counted in the rows of a process, and the names of what was. */
static void put_counts(struct profile_message *message, const struct construct_times *times)
{
  profile_message_put_number(message, times->counts ? times->rows_count : 0);
  for (uint32_t i = 0; i < times->rows_count && times->counts; i++)
    profile_message_put(message, times->rows[i].figures.counts, sizeof *times->counts);
  profile_message_put_array(message, times->counters.names, times->counters.count, sizeof *times->counters.names);
}

static void put_process(struct profile_message *message, const struct profile_process *process, bool bare)
{
  struct profile_process sent = *process;
  if (bare) {
    sent.workspan.unit = NULL;
    sent.workspan.directives = NULL;
    sent.constructs = (struct construct_times){0};
    sent.marks = (struct profile_marks){0};
    sent.devices = NULL;
    sent.devices_count = 0;
  }
  profile_message_put(message, &sent, sizeof sent);
  put_parts(message, &sent, process_parts);
  put_counts(message, &sent.constructs);
}

/* Maps the sender's numbers of modules and columns to those of this rank's catalog. */
struct number_map {
  uint32_t *modules, modules_count;
  uint32_t columns[CATALOG_COLUMNS_MAX], columns_count;
};

static void get_directives(struct profile_message *message, const struct number_map *numbers,
                           struct profile_workspan *workspan)
{
  assert(numbers->modules || !numbers->modules_count);
  for (uint32_t i = 0; i < workspan->directives_count && !message->status; i++) {
    struct profile_directive *directive = &workspan->directives[i];
    bool placed = directive->module != MODEL_NONE;
    bool device = directive->device <= DEVICES_MOST || directive->device == DEVICE_NONE;
    bool valid = directive->name && construct_is_directive(directive->kind) && device &&
                 (!placed || directive->module < numbers->modules_count);
    if (profile_message_check(message, valid) && placed)
      directive->module = numbers->modules[directive->module];
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
static void get_counters(struct profile_message *message, struct counter_names *counters)
{
  uint32_t count;
  char(*names)[COUNTER_NAME_MAX] = profile_message_own_array(message, &count, sizeof *names);
  bool valid = profile_message_check(message, count <= COUNTERS_MAX);
  for (uint32_t i = 0; i < count && valid; i++) {
    names[i][COUNTER_NAME_MAX - 1] = '\0';
    valid = profile_message_check(message, counter_names_add(counters, names[i]) == i);
  }
  free(names);
}

/* Reads what was counted in the rows of a process, if anything was. */
static void get_counts(struct profile_message *message, struct construct_times *times)
{
  uint32_t count;
  times->counts = profile_message_own_array(message, &count, sizeof *times->counts);
  if (count != times->rows_count) {
    free(times->counts);
    times->counts = NULL;
  }
  profile_message_check(message, !count || count == times->rows_count);
  construct_times_set_counts(times);
}

static bool valid_devices(const struct profile_process *process)
{
  bool valid = true;
  for (uint32_t i = 0; i < process->devices_count && valid; i++)
    valid = process->devices[i].number <= DEVICES_MOST && !process->devices[i].type[DEVICE_TYPE_MAX - 1];
  return valid;
}

/* Whether all names of a process's marks and counters exist, and the marks are in order. */
static bool valid_marks(const struct profile_marks *marks)
{
  uint32_t size = marks->text_size;
  bool valid = size ? !marks->text[0] && !marks->text[size - 1] : !marks->marks_count && !marks->counts_count;
  for (uint32_t i = 0; i < marks->marks_count && valid; i++)
    valid = marks->marks[i].name < marks->text_size && marks->marks[i].user_phase <= 1 &&
            (!i || marks->marks[i].at_ns >= marks->marks[i - 1].at_ns);
  for (uint32_t i = 0; i < marks->counts_count && valid; i++)
    valid = marks->counts[i].name < marks->text_size;
  return valid;
}

static void get_process(struct profile_message *message, const struct number_map *numbers,
                        struct profile_process *process)
{
  const struct profile_process *record = profile_message_get(message, sizeof *record);
  if (!record)
    return;
  memcpy(process, record, sizeof *process);
  process->paused_ns = MIN(process->paused_ns, process->wall_ns);
  process->directive_map = NULL;
  process->constructs = (struct construct_times){0};
  process->marks = (struct profile_marks){0};
  clear_parts(process, process_parts);
  get_parts(message, process, process_parts);
  get_directives(message, numbers, &process->workspan);
  get_counts(message, &process->constructs);
  get_counters(message, &process->constructs.counters);
  if (message->status ||
      !profile_message_check(message, valid_constructs(&process->constructs, process) && valid_marks(&process->marks)))
    return;
  for (uint32_t i = 0; i < process->marks.marks_count; i++)
    process->marks.user_phases += process->marks.marks[i].user_phase;
}

/* Puts the processes that this rank has read, with their places among those of the run. */
static void put_processes(struct profile_message *message, const struct profile *profile, bool bare)
{
  uint32_t present = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    present += profile->processes[i].path != NULL;
  profile_message_put_number(message, profile->processes_count);
  profile_message_put_number(message, present);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    if (!profile->processes[i].path)
      continue;
    profile_message_put_number(message, i);
    put_process(message, &profile->processes[i], bare);
    profile_message_put_problems(message, bare ? &(struct problems){0} : &profile->problems[i]);
  }
}

/* Allocates the processes of the run, unless the profile has them. */
static void reserve_processes(struct profile_message *message, struct profile *profile, uint64_t count)
{
  assert(!profile->processes == !profile->problems);
  bool fits = count < UINT32_MAX && (!profile->processes || profile->processes_count == count);
  if (!profile_message_check(message, fits) || profile->processes)
    return;
  profile->processes = xcalloc(count + 1, sizeof *profile->processes);
  profile->problems = xcalloc(count + 1, sizeof *profile->problems);
  profile->processes_count = (uint32_t)count;
}

static void get_processes(struct profile_message *message, const struct number_map *numbers, struct profile *profile)
{
  uint64_t count = profile_message_get_number(message), present = profile_message_get_number(message);
  reserve_processes(message, profile, count);
  for (uint64_t i = 0; i < present && !message->status; i++) {
    uint64_t place = profile_message_get_number(message);
    if (!profile_message_check(message, place < profile->processes_count && !profile->processes[place].path))
      return;
    struct profile_process *process = &profile->processes[place];
    get_process(message, numbers, process);
    bool named = process->host && process->command && process->runtime && process->notes && process->limits &&
                 process->mpi_library;
    profile_message_check(message, process->path && process->number < profile->processes_count &&
                                       (named || !process->usable) && valid_devices(process));
    profile_message_get_problems(message, &profile->problems[place]);
  }
}

/* ---- modules and columns ---- */

static void put_catalog(struct profile_message *message, const struct catalog *catalog)
{
  put_records(message, catalog->modules, catalog->modules_count, sizeof *catalog->modules, module_parts);
  put_records(message, catalog->columns, catalog->columns_count, sizeof *catalog->columns, column_parts);
}

static void get_modules(struct profile_message *message, struct catalog *catalog, struct number_map *numbers)
{
  const struct catalog_module *modules = profile_message_get_array(message, &numbers->modules_count, sizeof *modules);
  numbers->modules = xcalloc(numbers->modules_count, sizeof *numbers->modules);
  for (uint32_t i = 0; i < numbers->modules_count && !message->status; i++) {
    struct catalog_module module = modules[i];
    module.path = (char *)get_string(message);
    module.generated = (char *)get_string(message);
    module.identity.pages =
        profile_message_own_array(message, &module.identity.pages_count, sizeof *module.identity.pages);
    if (profile_message_check(message, module.path && module.build_id_size <= sizeof module.build_id))
      numbers->modules[i] = catalog_add_same(catalog, &module);
    free(module.identity.pages);
  }
}

/* A column that exceeds the catalog's limit is left out, as it is when files are read. */
static void get_columns(struct profile_message *message, struct catalog *catalog, struct number_map *numbers)
{
  const struct catalog_column *columns = profile_message_get_array(message, &numbers->columns_count, sizeof *columns);
  profile_message_check(message, numbers->columns_count <= CATALOG_COLUMNS_MAX);
  for (uint32_t i = 0; i < numbers->columns_count && !message->status; i++) {
    const char *name = get_string(message), *unit = get_string(message);
    bool valid = name && unit && (columns[i].role & ~(uint32_t)COLUMN_OF_WHOLE) < COLUMN_ROLES;
    if (!profile_message_check(message, valid))
      return;
    struct catalog_column column = columns[i];
    column.name = (char *)name;
    column.unit = (char *)unit;
    catalog_add_column(catalog, &column, &numbers->columns[i]);
  }
}

/* ---- contexts ---- */

/* Puts the contexts, and the shares of processes that may have the run's span. */
static void put_contexts(struct profile_message *message, const struct profile *profile, bool bare)
{
  assert(profile->contexts.count);
  const struct contexts *contexts = &profile->contexts;
  bool *leads = xcalloc(profile->processes_count, sizeof *leads);
  uint32_t kept = 0;
  if (!bare)
    span_leaders(profile, leads);
  for (uint32_t i = 0; i < contexts->shares_count; i++)
    kept += leads[contexts->shares[i].owner];
  profile_message_put_array(message, contexts->nodes, contexts->count, sizeof *contexts->nodes);
  profile_message_put_number(message, contexts->stride);
  profile_message_put_array(message, contexts->values, bare ? 0 : (uint64_t)contexts->values_count * contexts->stride,
                            sizeof *contexts->values);
  profile_message_put_number(message, kept);
  for (uint32_t i = 0; i < contexts->shares_count; i++)
    if (leads[contexts->shares[i].owner])
      profile_message_put(message, &contexts->shares[i], sizeof contexts->shares[i]);
  profile_message_put_array(message, contexts->constructs, bare ? 0 : contexts->constructs_count,
                            sizeof *contexts->constructs);
  profile_message_put_array(message, contexts->locks, bare ? 0 : contexts->locks_count, sizeof *contexts->locks);
  profile_message_put_array(message, contexts->mpi, bare ? 0 : contexts->mpi_count, sizeof *contexts->mpi);
  profile_message_put_array(message, contexts->devices, bare ? 0 : contexts->devices_count, sizeof *contexts->devices);
  free(leads);
}

static bool valid_node(const struct context_node *nodes, uint32_t i, const struct number_map *numbers)
{
  const struct context_node *node = &nodes[i];
  bool module_valid = !contexts_has_module(node) || node->module < numbers->modules_count;
  return node->parent < i && node->kind > CONTEXT_ROOT && node->kind < CONTEXT_KINDS && module_valid;
}

/* Adds the nodes; map[] receives the number of each in `contexts`. */
static void get_nodes(struct profile_message *message, const struct context_node *nodes, uint32_t count,
                      const struct number_map *numbers, struct contexts *contexts, uint32_t *map)
{
  assert(contexts->count && map);
  for (uint32_t i = 1; i < count && profile_message_check(message, valid_node(nodes, i, numbers)); i++) {
    struct context_node identity = nodes[i];
    identity.parent = map[nodes[i].parent];
    identity.module = contexts_has_module(&nodes[i]) ? numbers->modules[nodes[i].module] : 0;
    map[i] = contexts_add(contexts, &identity);
  }
}

static void get_values(struct profile_message *message, const struct context_node *nodes, uint32_t count,
                       const struct number_map *numbers, struct contexts *contexts, const uint32_t *map)
{
  uint64_t stride = profile_message_get_number(message);
  uint32_t cells;
  const uint64_t *values = profile_message_get_array(message, &cells, sizeof *values);
  for (uint32_t i = 0; i < count && cells && !message->status; i++) {
    if (!nodes[i].value)
      continue;
    if (!profile_message_check(message, stride && nodes[i].value < cells / stride))
      return;
    for (uint32_t column = 0; column < numbers->columns_count && column < stride; column++)
      if (numbers->columns[column] != MODEL_NONE)
        contexts_value(contexts, map[i], numbers->columns[column], values[nodes[i].value * stride + column]);
  }
}

static void get_shares(struct profile_message *message, const struct profile *profile, uint32_t count,
                       struct contexts *contexts, const uint32_t *map)
{
  assert(map);
  uint64_t shares = profile_message_get_number(message);
  for (uint64_t i = 0; i < shares && !message->status; i++) {
    const struct context_share *record = profile_message_get(message, sizeof *record);
    if (!record)
      return;
    struct context_share share = *record;
    bool valid = share.owner < profile->processes_count &&
                 share.directive < profile->processes[share.owner].workspan.directives_count &&
                 (share.context == MODEL_NONE || share.context < count);
    if (!profile_message_check(message, valid))
      return;
    if (share.context != MODEL_NONE)
      share.context = map[share.context];
    contexts_add_share(contexts, &share);
  }
}

static void get_marks(struct profile_message *message, const struct profile *profile, uint32_t count,
                      struct contexts *contexts, const uint32_t *map)
{
  uint32_t marks;
  const struct context_construct *records = profile_message_get_array(message, &marks, sizeof *records);
  for (uint32_t i = 0; i < marks && !message->status; i++) {
    struct context_construct mark = records[i];
    bool valid = mark.owner < profile->processes_count && mark.context < count &&
                 mark.construct < profile->processes[mark.owner].constructs.nodes_count;
    if (!profile_message_check(message, valid))
      return;
    mark.context = map[mark.context];
    contexts_add_construct(contexts, &mark);
  }
}

static void get_locks(struct profile_message *message, const struct profile *profile, const struct number_map *numbers,
                      uint32_t count, struct contexts *contexts, const uint32_t *map)
{
  uint32_t locks;
  const struct context_lock *records = profile_message_get_array(message, &locks, sizeof *records);
  for (uint32_t i = 0; i < locks && !message->status; i++) {
    struct context_lock lock = records[i];
    bool placed = lock.module != MODEL_NONE, met = lock.context != MODEL_NONE;
    bool valid = lock.owner < profile->processes_count && lock.kind < LOCK_KINDS &&
                 (!placed || lock.module < numbers->modules_count) && (!met || lock.context < count);
    if (!profile_message_check(message, valid))
      return;
    lock.module = placed ? numbers->modules[lock.module] : MODEL_NONE;
    lock.context = met ? map[lock.context] : MODEL_NONE;
    contexts_add_lock(contexts, &lock);
  }
}

static void get_mpi(struct profile_message *message, const struct profile *profile, uint32_t count,
                    struct contexts *contexts, const uint32_t *map)
{
  uint32_t records_count;
  const struct context_mpi *records = profile_message_get_array(message, &records_count, sizeof *records);
  for (uint32_t i = 0; i < records_count && !message->status; i++) {
    struct context_mpi calls = records[i];
    bool met = calls.context != MODEL_NONE;
    bool valid =
        calls.owner < profile->processes_count && calls.function < MPI_FUNCTIONS && (!met || calls.context < count);
    if (!profile_message_check(message, valid))
      return;
    calls.context = met ? map[calls.context] : MODEL_NONE;
    contexts_add_mpi(contexts, &calls);
  }
}

static void get_devices(struct profile_message *message, const struct profile *profile, uint32_t count,
                        struct contexts *contexts, const uint32_t *map)
{
  uint32_t records_count;
  const struct context_device *records = profile_message_get_array(message, &records_count, sizeof *records);
  for (uint32_t i = 0; i < records_count && !message->status; i++) {
    struct context_device idle = records[i];
    if (!profile_message_check(message, idle.owner < profile->processes_count && idle.context < count))
      return;
    idle.context = map[idle.context];
    contexts_add_device(contexts, &idle);
  }
}

static void get_contexts(struct profile_message *message, const struct number_map *numbers, struct profile *profile)
{
  assert(!numbers->modules_count || numbers->modules);
  struct contexts *contexts = &profile->contexts;
  uint32_t count;
  const struct context_node *nodes = profile_message_get_array(message, &count, sizeof *nodes);
  if (message->status)
    return;
  if (!contexts->nodes)
    contexts_init(contexts);
  uint32_t *map = xcalloc(count, sizeof *map);
  get_nodes(message, nodes, count, numbers, contexts, map);
  get_values(message, nodes, count, numbers, contexts, map);
  get_shares(message, profile, count, contexts, map);
  get_marks(message, profile, count, contexts, map);
  get_locks(message, profile, numbers, count, contexts, map);
  get_mpi(message, profile, count, contexts, map);
  get_devices(message, profile, count, contexts, map);
  free(map);
}

/* ---- profiles and messages ---- */

void profile_message_put_profile(struct profile_message *message, const struct profile *profile, bool bare)
{
  put_catalog(message, &profile->catalog);
  put_processes(message, profile, bare);
  put_contexts(message, profile, bare);
}

void profile_message_get_profile(struct profile_message *message, struct profile *profile)
{
  struct number_map numbers = {0};
  get_modules(message, &profile->catalog, &numbers);
  get_columns(message, &profile->catalog, &numbers);
  get_processes(message, &numbers, profile);
  get_contexts(message, &numbers, profile);
  free(numbers.modules);
}

/* Precedes the compressed blocks. */
struct head {
  uint32_t layout[sizeof own_layout / sizeof *own_layout];
  uint64_t size; /* bytes of all blocks */
};

void *profile_message_pack(const struct profile_message *message, size_t *size)
{
  assert(message->bytes || !message->size);
  struct head head = {.size = message->size};
  size_t room = ZSTD_compressBound(message->size);
  if (message->status)
    return NULL;
  uint8_t *packed = xmalloc(sizeof head + room);
  size_t length = ZSTD_compress(packed + sizeof head, room, message->bytes, message->size, COMPRESSION_LEVEL);
  if (ZSTD_isError(length)) /* there is room for it: it lacked memory */
    xalloc_die();
  memcpy(head.layout, own_layout, sizeof own_layout);
  memcpy(packed, &head, sizeof head);
  *size = sizeof head + length;
  return packed;
}

void profile_message_unpack(struct profile_message *message, const void *bytes, size_t size)
{
  struct head head = {0};
  *message = (struct profile_message){0};
  if (size >= sizeof head)
    memcpy(&head, bytes, sizeof head);
  if (!profile_message_check(message, !memcmp(head.layout, own_layout, sizeof own_layout)))
    return;
  const uint8_t *packed = (const uint8_t *)bytes + sizeof head;
  size_t packed_size = size - sizeof head;
  bool valid = head.size < ZSTD_CONTENTSIZE_ERROR && ZSTD_getFrameContentSize(packed, packed_size) == head.size;
  if (!profile_message_check(message, valid))
    return;
  message->size = message->room = head.size;
  message->bytes = xmalloc(head.size);
  profile_message_check(message, ZSTD_decompress(message->bytes, head.size, packed, packed_size) == head.size);
}
