#include "hpcprof-lite/views/lock_rows.h"

#include "common/order.h"
#include "common/symbols/symbols_names.h"
#include "common/symbols/variables.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A record of the contexts, and the row to which it belongs. */
struct record {
  const struct context_lock *lock;
  struct call_place place; /* of its context */
  struct call_place home;  /* of a lock that is in no module: see place_locks() */
  uint32_t module;         /* of the variable; MODEL_NONE: the lock is in none */
  uint64_t start;          /* of the variable */
  const char *name;        /* of it, "" if not known */
};

static const struct call_place nowhere = {.function = "", .file = ""};

/* ---- names of variables ---- */

/* "name" of the variable that compilers make for a critical section of that name. */
static char *plain_name(const char *raw)
{
  static const char critical[] = ".gomp_critical_user_";
  char readable[SYMBOLS_NAME_MAX];
  if (strncmp(raw, critical, sizeof critical - 1) != 0)
    return xstrdup(symbols_readable(raw, readable, sizeof readable) ? readable : raw);
  char *name = xstrdup(raw + sizeof critical - 1);
  char *end = strstr(name, ".var");
  if (end)
    *end = '\0';
  return name;
}

ORDER(by_module, struct record, COMPARE(x->lock->module, y->lock->module) ?: COMPARE(x->lock->offset, y->lock->offset))

/* Names the locks in the data of one module. */
static void name_module(const struct profile *profile, struct names *names, struct record *records, uint32_t count)
{
  uint32_t module = records[0].lock->module;
  assert(count && module < names->modules_count);
  const char *path = names->modules[module].file; /* NULL: there is no file that was measured */
  struct variable *variables = xcalloc(count, sizeof *variables);
  for (uint32_t i = 0; i < count; i++)
    variables[i].address = records[i].lock->offset;
  if (path)
    variables_find(path, variables, count);
  const char *last = "";
  for (uint32_t i = 0; i < count; i++) {
    records[i].module = module;
    records[i].start = variables[i].name ? variables[i].start : variables[i].address;
    if (i && records[i].start == records[i - 1].start)
      records[i].name = last;
    else if (variables[i].name)
      records[i].name = names_own(names, plain_name(variables[i].name));
    else
      records[i].name =
          names_own(names, xasprintf("%s+0x%" PRIx64, profile->catalog.modules[module].name, variables[i].address));
    last = records[i].name;
    free(variables[i].name);
  }
  free(variables);
}

static void name_locks(const struct profile *profile, struct names *names, struct record *records, uint32_t count)
{
  qsort(records, count, sizeof *records, by_module);
  for (uint32_t i = 0, end; i < count; i = end) {
    uint32_t module = records[i].lock->module;
    for (end = i + 1; end < count && records[end].lock->module == module;)
      end++;
    if (module != MODEL_NONE &&
        !(profile->catalog.modules[module].flags & MODULE_TOOL)) /* what is there, stands for others */
      name_module(profile, names, records + i, end - i);
  }
}

/* ---- rows ---- */

ORDER(by_lock, struct record,
      COMPARE(x->lock->kind, y->lock->kind) ?: COMPARE(x->lock->owner, y->lock->owner)
      ?: COMPARE(x->lock->id, y->lock->id) ?: COMPARE(y->lock->waits, x->lock->waits)
      ?: COMPARE(y->lock->acquired, x->lock->acquired) ?: COMPARE(x->lock->thread, y->lock->thread)
      ?: call_place_compare(&x->place, &y->place))

static bool is_used(const struct context_lock *lock)
{
  return lock->waits || lock->acquired;
}

/* Sets the home of locks that lie in no module: where the thread with the most waits, or without waits the most
 * acquisitions, first used them. */
static void place_locks(struct record *records, uint32_t count)
{
  qsort(records, count, sizeof *records, by_lock);
  for (uint32_t i = 0, first = 0; i < count; i++) {
    const struct context_lock *lock = records[i].lock, *before = records[first].lock;
    if (lock->kind != before->kind || lock->owner != before->owner || lock->id != before->id)
      first = i;
    if (records[i].module == MODEL_NONE)
      records[i].home = is_used(records[first].lock) ? records[first].place : nowhere;
  }
}

static int compare_groups(const struct record *x, const struct record *y)
{
  return COMPARE(x->lock->kind, y->lock->kind) ?: COMPARE(x->module, y->module) ?: COMPARE(x->start, y->start)
             ?: call_place_compare(&x->home, &y->home);
}

ORDER(by_group, struct record,
      compare_groups(x, y) ?: COMPARE(x->lock->owner, y->lock->owner) ?: COMPARE(x->lock->id, y->lock->id))
ORDER(by_thread, struct record,
      COMPARE(!x->lock->waits, !y->lock->waits) ?: COMPARE(x->lock->owner, y->lock->owner)
      ?: COMPARE(x->lock->thread, y->lock->thread))
ORDER(by_place, struct record, call_place_compare(&x->place, &y->place))

/* Which processes have counted acquisitions, by their numbers.  The caller frees it. */
static bool *counting_processes(const struct profile *profile)
{
  bool *counted = xcalloc(profile->processes_count, sizeof *counted);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    assert(profile->processes[i].number < profile->processes_count);
    counted[profile->processes[i].number] = profile->processes[i].flags & PROCESS_LOCKS;
  }
  return counted;
}

/* The record of the thread that waited most often for a lock, or else acquired it most often. */
static const struct record *used_most(const struct record *x, const struct record *y)
{
  int order = COMPARE(x->lock->waits, y->lock->waits) ?: COMPARE(x->lock->acquired, y->lock->acquired);
  return order < 0 ? y : x;
}

/* Adds the records of a group up, which are in the order of their locks. */
static void add_up(const bool *counted, const struct record *records, uint32_t count, struct lock_row *row)
{
  const struct record *most = &records[0];
  uint64_t held_ns = 0; /* of the lock */
  row->counted = true;
  for (uint32_t i = 0; i < count; i++) {
    const struct context_lock *lock = records[i].lock, *before = i ? records[i - 1].lock : NULL;
    bool begins = !before || before->owner != lock->owner || before->id != lock->id;
    row->locks += begins;
    held_ns = begins ? 0 : held_ns;
    model_add(&held_ns, lock->held_ns);
    row->held_ns = MAX(row->held_ns, held_ns);
    model_add(&row->waits, lock->waits);
    model_add(&row->wait_ns, lock->wait_ns);
    model_add(&row->acquired, lock->acquired);
    model_add(&row->released_ns, lock->released_ns);
    row->longest_ns = MAX(row->longest_ns, lock->longest_ns);
    row->counted = row->counted && counted[lock->owner];
    most = used_most(most, &records[i]);
  }
  row->first = is_used(most->lock) ? most->place : nowhere;
}

/* Makes the row of the locks of a group; their records are reordered. */
static void make_row(const bool *counted, struct record *records, uint32_t count, struct lock_row *row)
{
  assert(count);
  *row = (struct lock_row){.holder = {nowhere, nowhere, nowhere},
                           .name = records[0].name,
                           .kind = profile_lock_name(records[0].lock->kind),
                           .posix = profile_lock_of_posix(records[0].lock->kind)};
  add_up(counted, records, count, row);
  qsort(records, count, sizeof *records, by_thread);
  for (uint32_t i = 0; i < count && records[i].lock->waits; i++)
    row->threads += !i || by_thread(&records[i - 1], &records[i]);
  qsort(records, count, sizeof *records, by_place);
  uint64_t ns = 0;
  for (uint32_t i = 0; i < count; i++) {
    model_add(&ns, records[i].lock->released_ns);
    if (i + 1 < count && !call_place_compare(&records[i + 1].place, &records[i].place))
      continue;
    call_places_enter(&records[i].place, ns, row->holder, row->holder_ns);
    ns = 0;
  }
}

ORDER(by_time, struct lock_row,
      COMPARE(y->wait_ns, x->wait_ns) ?: COMPARE(y->acquired, x->acquired) ?: strcmp(x->name, y->name)
      ?: strcmp(x->first.function, y->first.function) ?: COMPARE(x->first.line, y->first.line)
      ?: strcmp(x->kind, y->kind))

void lock_rows_make(const struct profile *profile, struct names *names, bool pools, struct lock_rows *rows)
{
  const struct contexts *contexts = &profile->contexts;
  struct record *records = xcalloc(contexts->locks_count, sizeof *records);
  bool *counted = counting_processes(profile);
  uint32_t count = 0;
  *rows = (struct lock_rows){.rows = xcalloc(contexts->locks_count, sizeof *rows->rows)};
  for (uint32_t i = 0; i < contexts->locks_count; i++) {
    if (profile_lock_of_pool(contexts->locks[i].kind) != pools)
      continue;
    records[count++] = (struct record){.lock = &contexts->locks[i],
                                       .place = call_place_of(profile, names, contexts->locks[i].context),
                                       .home = nowhere,
                                       .module = MODEL_NONE,
                                       .name = ""};
  }
  name_locks(profile, names, records, count);
  place_locks(records, count);
  qsort(records, count, sizeof *records, by_group);
  for (uint32_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && !compare_groups(&records[i], &records[end]);)
      end++;
    make_row(counted, records + i, end - i, &rows->rows[rows->count++]);
  }
  free(records);
  free(counted);
  qsort(rows->rows, rows->count, sizeof *rows->rows, by_time);
}

void lock_rows_release(struct lock_rows *rows)
{
  free(rows->rows);
  *rows = (struct lock_rows){0};
}
