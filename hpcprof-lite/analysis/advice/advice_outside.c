#include "hpcprof-lite/analysis/advice/advice_outside.h"

#include "common/order.h"
#include "common/words.h"
#include "common/xalloc.h"
#include "hpcprof-lite/analysis/advice/advice_cores.h"
#include "hpcprof-lite/model/names.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The idleness that code outside regions causes, with everything below each row; whether a region is below it.  What
 * other findings explain is left out. */
struct serial_rows {
  uint64_t *idle;
  bool *region;
};

/* most: idleness that a nanosecond of a row's own work can cause, at most; 0: not limited. */
static void sum_serial(const struct advice_run *run, double most, struct serial_rows *rows)
{
  const struct advice_input *input = run->input;
  assert(input->columns->idleness != MODEL_NONE);
  const struct tree *tree = input->tree;
  for (uint32_t i = tree->count; i-- > 0;) { /* a parent has a smaller number */
    const struct tree_row *row = &tree->rows[i];
    if (row->kind == ROW_PARALLEL || row->kind == ROW_PARTIAL || row->kind == ROW_RUNTIME) {
      rows->region[i] = row->kind != ROW_RUNTIME;
      rows->idle[i] = 0;
    } else {
      uint64_t idle = tree_excl(tree, i, input->columns->idleness);
      if (most > 0)
        idle = MIN(idle, model_rounded(most * (double)tree_excl(tree, i, input->columns->work)));
      model_add(&rows->idle[i], model_rounded((1 - run->taken[i]) * (double)idle));
    }
    if (i && row->parent != MODEL_NONE) {
      model_add(&rows->idle[row->parent], rows->idle[i]);
      rows->region[row->parent] = rows->region[row->parent] || rows->region[i];
    }
  }
}

/* The part of a column below the program's main function, outside regions, that other findings explain: of the time in
 * which threads were blocked, only that in MPI. */
static double taken_part(const struct advice_run *run, uint32_t column)
{
  const struct tree *tree = run->input->tree;
  bool *below = xcalloc(tree->count, sizeof *below);
  double taken = 0, all = 0;
  for (uint32_t i = 1; i < tree->count; i++) { /* a parent has a smaller number */
    const struct tree_row *row = &tree->rows[i];
    const char *name = row->kind == ROW_FUNCTION ? tree_unmarked_name(row) : "";
    below[i] = (row->parent != MODEL_NONE && below[row->parent] && row->kind != ROW_PARALLEL) ||
               !strcmp(name, "main") || !strcmp(name, "MAIN__");
    double amount = below[i] ? (double)tree_excl(tree, i, column) : 0;
    all += amount;
    taken += amount * (column == run->input->columns->blocked ? run->mpi[i] : run->taken[i]);
  }
  free(below);
  return all > 0 ? taken / all : 0;
}

/* Returns whether a row is code of a library that programs only call, such as libm: users do not change it. */
static bool in_library(const struct advice_input *input, const struct tree_row *row)
{
  static const char *const libraries[] = {"libm.",     "libm-",        "libmvec.",    "libstdc++.",
                                          "libgcc_s.", "libgfortran.", "libquadmath."};
  const struct catalog *catalog = &input->profile->catalog;
  if (row->module == MODEL_NONE || row->module >= catalog->modules_count)
    return false;
  const struct catalog_module *module = &catalog->modules[row->module];
  const char *name = names_base(module->path);
  bool found = module->flags & (MODULE_RUNTIME | MODULE_SYSTEM | MODULE_VDSO);
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    found = found || !strncmp(name, libraries[i], strlen(libraries[i]));
  return found;
}

/* Returns the function called there that causes most idleness outside regions or, after one of them, the next one; or
 * MODEL_NONE. */
static uint32_t next_callee(const struct tree *tree, const struct serial_rows *rows, uint32_t at, uint32_t after)
{
  assert(at < tree->count && (after == MODEL_NONE || after < tree->count));
  uint32_t best = MODEL_NONE;
  for (uint32_t child = tree->rows[at].first_child; child != MODEL_NONE; child = tree->rows[child].next) {
    uint64_t idle = rows->idle[child];
    bool later = after == MODEL_NONE || idle < rows->idle[after] || (idle == rows->idle[after] && child > after);
    if (idle && later && tree->rows[child].kind <= ROW_INLINED && (best == MODEL_NONE || idle > rows->idle[best]))
      best = child;
  }
  return best;
}

/* Finds the highest row that causes at least 80 % of the idleness outside regions and contains no region; otherwise the
 * lowest one that causes so much and does not belong to a library. */
static uint32_t serial_place(const struct advice_input *input, const struct serial_rows *rows)
{
  const struct tree *tree = input->tree;
  uint64_t all = rows->idle[0];
  uint32_t at = 0, row = 0;
  while (all && (!at || rows->region[row])) { /* also through a library that calls the program: std::thread */
    row = next_callee(tree, rows, row, MODEL_NONE);
    if (row == MODEL_NONE || rows->idle[row] < all - all / 5)
      break;
    at = in_library(input, &tree->rows[row]) ? at : row;
  }
  return at;
}

/* Adds to the evidence of serial code that takes serial_s: the place, and what it calls if the cost is spread over
 * that. */
static void place_serial(const struct advice_input *input, const struct serial_rows *rows, double serial_s,
                         struct advice_finding *found)
{
  assert(serial_s >= 0);
  enum { CALLEES = 3 };
  const struct tree *tree = input->tree;
  uint32_t at = serial_place(input, rows), callee = MODEL_NONE;
  if (!at)
    return;
  double per_idle = serial_s / (double)rows->idle[0];
  size_t length = strlen(found->evidence);
  double percent = 100 * (double)rows->idle[at] / (double)rows->idle[0];
  if (percent < 99.5)
    snprintf(found->evidence + length, sizeof found->evidence - length, "; %.0f %% of that in the place named",
             percent);
  for (int i = 0; i < CALLEES && rows->region[at]; i++) {
    callee = next_callee(tree, rows, at, callee);
    if (callee == MODEL_NONE || rows->idle[callee] < rows->idle[at] / 20)
      break;
    char symbol[WORDS_SYMBOL];
    length = strlen(found->evidence);
    snprintf(found->evidence + length, sizeof found->evidence - length, "%s %.3f s in %s", i ? "," : ", of which",
             per_idle * (double)rows->idle[callee], words_symbol(tree->rows[callee].name, symbol));
  }
  found->name = tree->rows[at].name;
  found->file = tree->rows[at].file;
  found->line = tree->rows[at].line;
  found->context = tree->rows[at].id;
}

/* Returns the thread of a process that runs what is outside its regions, or NULL if no other thread waits for it. */
static const struct profile_thread *initial_thread(const struct profile_process *process)
{
  return process->usable && process->threads_max > 1 ? profile_initial_thread(process) : NULL;
}

static void find_serial(struct advice_run *run, double gain_s)
{
  assert(run->input->threads > 1);
  const struct advice_input *input = run->input;
  double threads = input->threads, serial_s = gain_s / (1 - 1 / threads);
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_SERIAL, gain_s,
                 "One thread runs for %.3f s outside parallel regions, while the others have no work", serial_s);
  advice_more(run->advice, found, serial_s * (1 - 1.0 / fmax(run->advice->more_cores, 1)), false);
  found->same_parts = true;
  if (found == &run->advice->unlisted || input->columns->idleness == MODEL_NONE)
    return;
  struct serial_rows rows = {.idle = xcalloc(input->tree->count, sizeof *rows.idle),
                             .region = xcalloc(input->tree->count, sizeof *rows.region)};
  sum_serial(run, 0, &rows);
  place_serial(input, &rows, serial_s, found);
  free(rows.idle);
  free(rows.region);
}

/* For how long threads that OpenMP does not know ran while its threads had no work.  Then the initial thread, if it is
 * blocked, waits for them. */
static double outside_s(const struct profile_process *process)
{
  double idle_s = 0;
  for (uint32_t i = 0; i < process->threads_count; i++)
    if (!(process->threads[i].flags & THREAD_OPENMP))
      idle_s += advice_seconds(process->threads[i].caused_idle_ns);
  return process->threads_max > 1 ? idle_s / (process->threads_max - 1) : 0;
}

/* The part of what initial threads slept whose place is known, outside parallel regions.  Samples of elapsed time show
 * all of it, but not apart from work: see slept_s(). */
static double placed_part(const struct advice_input *input)
{
  double all_s = 0;
  for (uint32_t i = 0; i < input->profile->processes_count && !input->by_wall; i++) {
    const struct profile_thread *initial = initial_thread(&input->profile->processes[i]);
    all_s += initial ? advice_seconds(initial->blocked_ns) : 0;
  }
  return all_s > 0 ? fmin(1, input->blocked.all_s / all_s) : 1;
}

/* For how long the initial thread slept; by samples of elapsed time, no longer than it was outside regions. */
static double slept_s(const struct advice_input *input, const struct profile_thread *initial)
{
  uint64_t outside_ns = model_difference(profile_measured_ns(initial->wall_ns, initial->paused_ns), initial->region_ns);
  return advice_seconds(input->by_wall ? MIN(initial->blocked_ns, outside_ns) : initial->blocked_ns);
}

/* For how long the initial thread can have slept because others worked for it: threads outside OpenMP, or those that
 * have begun regions themselves, one after the other, as long as they neither slept nor waited for a lock. */
static double awaited_s(const struct profile_process *process, const struct profile_thread *initial)
{
  uint64_t sum_ns = 0;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    uint64_t still_ns = model_sum(thread->blocked_ns, thread->lockwait_ns);
    if (thread != initial && thread->region_ns)
      model_add(&sum_ns, model_difference(profile_measured_ns(thread->wall_ns, thread->paused_ns), still_ns));
  }
  return fmax(outside_s(process), advice_seconds(sum_ns));
}

/* Sets the place at which the initial thread slept longest. */
static void set_blocking_place(const struct advice_input *input, struct advice_finding *found)
{
  const struct advice_blocked *blocked = &input->blocked;
  size_t length = strlen(found->evidence);
  if (blocked->s <= 0)
    return;
  snprintf(found->evidence + length, sizeof found->evidence - length,
           "; %.0f %% of the time with a known place is %s the one named", 100 * blocked->s / blocked->all_s,
           blocked->near ? "near" : "in");
  found->name = blocked->function;
  found->file = blocked->file;
  found->line = blocked->line;
}

/* Adds calls in which the initial thread slept outside parallel regions.  Even if they ran beside the rest of a
 * process, that would take at least as long as the longer of both.  Returns for how long such threads slept, with what
 * other findings have taken of it. */
static double find_blocking(struct advice_run *run)
{
  const struct profile *profile = run->input->profile;
  const char *without = "";
  double blocked_s, gain_s, all_s, taken = taken_part(run, run->input->columns->blocked);
  double part = placed_part(run->input);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_thread *initial = initial_thread(&profile->processes[i]);
    double own_s = initial ? part * slept_s(run->input, initial) - awaited_s(&profile->processes[i], initial) : 0;
    run->by_process[i] = fmax(0, own_s);
  }
  all_s = advice_chain(run);
  blocked_s = (1 - taken) * all_s;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    double own_s = (1 - taken) * run->by_process[i];
    double rest_s = fmax(0, advice_seconds(profile_measured_ns(process->wall_ns, process->paused_ns)) - own_s);
    run->by_process[i] = fmin(own_s, rest_s);
    const struct profile_thread *initial = initial_thread(process);
    if (outside_s(process) > 0)
      without = ", without the time in which threads outside OpenMP worked";
    else if (initial && awaited_s(process, initial) > 0 && !*without)
      without = ", without the time in which other threads that begin regions worked";
  }
  gain_s = fmin(advice_chain(run), fmax(0, run->advice->elapsed_s - run->claimed_s));
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_BLOCKING, gain_s,
                 "The initial thread was blocked in calls outside OpenMP for %.3f s%s", blocked_s, without);
  if (found != &run->advice->unlisted && taken < 0.5) /* otherwise its place is that of other findings */
    set_blocking_place(run->input, found);
  advice_more(run->advice, found, gain_s, false);
  found->explained_s = blocked_s; /* also where the rest is too short to run beside it */
  found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, blocked_s)); /* if nothing waits for it any more */
  return all_s;
}

/* For how long threads outside OpenMP were ready without a core: they would have run beside the others. */
static double ready_outside_s(const struct profile *profile)
{
  double ready_s = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    for (uint32_t k = 0; k < profile->processes[i].threads_count; k++) {
      const struct profile_thread *thread = &profile->processes[i].threads[k];
      ready_s += thread->flags & THREAD_OPENMP ? 0 : advice_seconds(thread->core_wait_ns);
    }
  return ready_s;
}

void advice_outside_find(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  double threads = input->threads;
  if (threads < 2)
    return;
  double blocked_s = find_blocking(run);
  double serial_s = fmax(0, input->serial_s - input->beside_s - ready_outside_s(input->profile));
  serial_s -= fmin(serial_s, blocked_s * (1 - 1 / threads));
  find_serial(run, serial_s * (1 - taken_part(run, input->columns->work)));
}

/* Adds to the evidence for how long threads held the lock, one after the other: the run cannot be shorter. */
static void add_hold(const struct advice_run *run, const struct advice_lock *lock, struct advice_finding *found)
{
  size_t length = strlen(found->evidence);
  double elapsed_s = run->advice->elapsed_s;
  if (lock->held_s > elapsed_s / 10)
    snprintf(found->evidence + length, sizeof found->evidence - length,
             "; it was held for at least %.2f of %.2f s, which more threads cannot shorten",
             fmin(lock->held_s, elapsed_s), elapsed_s);
}

void advice_mutexes_find(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  double threads = input->all_threads;
  for (uint32_t i = 0; i < input->locks_count && threads > 1; i++) {
    const struct advice_lock *lock = &input->locks[i];
    struct advice_finding *found = advice_add(
        run->advice, ADVICE_MUTEX, lock->lost_s / threads, "Threads waited %.3f s for the %s %.80s%s%" PRIu64 " time%s",
        lock->wait_s, lock->kind, lock->name, *lock->name ? ", " : "", lock->waits, lock->waits == 1 ? "" : "s");
    if (found == &run->advice->unlisted)
      continue;
    size_t length = strlen(found->evidence);
    if (lock->lost_s < lock->wait_s - lock->wait_s / ADVICE_MUCH)
      snprintf(found->evidence + length, sizeof found->evidence - length, ", about %.3f s of it without a core",
               lock->wait_s - lock->lost_s);
    add_hold(run, lock, found);
    if (!*lock->function)
      continue;
    length = strlen(found->evidence);
    snprintf(found->evidence + length, sizeof found->evidence - length,
             "; %.0f %% of the waiting with a known release ended in the place named", 100 * lock->held);
    found->name = lock->function;
    found->file = lock->file;
    found->line = lock->line;
  }
}

/* Whether no process had more threads at once than cores. */
static bool fits_cores(const struct profile *profile)
{
  bool fits = true;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    fits &= !process->usable || profile_most_at_once(process, NULL, NULL) <= process->cpus;
  }
  return fits;
}

/* Without the spinning, the threads that were ready would have had a core more, which they would have shared with those
 * that ran.  A thread that was woken and has not run yet is not seen to be ready, so that both can have been at one
 * time more often. */
void advice_spinning_find(struct advice_run *run)
{
  const struct profile *profile = run->input->profile;
  double spun_s = 0, most_s = 0, all_ready_s = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    double own_s = 0, idle_s = 0, ready_s = 0;
    for (uint32_t k = 0; k < process->threads_count; k++) {
      own_s += advice_seconds(process->threads[k].spun_ns);
      idle_s += advice_seconds(process->threads[k].idle_sampled_ns);
      ready_s += advice_seconds(process->threads[k].core_wait_ns);
    }
    run->by_process[i] = process->usable && process->cpus ? own_s / process->cpus : 0;
    most_s += process->usable && process->cpus ? fmin(idle_s, ready_s) / process->cpus : 0;
    spun_s += own_s;
    all_ready_s += ready_s;
  }
  struct advice_finding *found = advice_add(
      run->advice, ADVICE_SPINNING, advice_chain(run),
      "Threads without work spun for at least %.3f s while threads with work were ready to run without a core; all "
      "threads together were ready without one for %.3f s, apart from such time in waits",
      spun_s, all_ready_s);
  found->high_s = fmin(run->advice->elapsed_s, fmax(found->high_s, most_s));
  if (fits_cores(profile)) {
    found->confidence = "low";
    found->reason = "other programs used the cores";
  }
}

/* The code during which threads of pools were idle: below the outermost function with most of that, the innermost one
 * that has at least 80 % of it, is not inlined and does not belong to a library.  MODEL_NONE: not known. */
static uint32_t pool_place(const struct advice_input *input, const struct serial_rows *rows)
{
  const struct tree *tree = input->tree;
  uint32_t next = next_callee(tree, rows, 0, MODEL_NONE), at = next;
  uint64_t least = at == MODEL_NONE ? 0 : rows->idle[at] - rows->idle[at] / 5;
  while (next != MODEL_NONE && rows->idle[next] >= least) {
    bool own = tree->rows[next].kind != ROW_INLINED && !in_library(input, &tree->rows[next]);
    at = own ? next : at;
    next = next_callee(tree, rows, next, MODEL_NONE);
  }
  return at;
}

/* The place of the finding is that of the code which runs meanwhile. */
static void place_pool(const struct advice_run *run, struct advice_finding *found)
{
  const struct advice_input *input = run->input;
  struct serial_rows rows = {.idle = xcalloc(input->tree->count, sizeof *rows.idle),
                             .region = xcalloc(input->tree->count, sizeof *rows.region)};
  sum_serial(run, input->all_threads - 1, &rows); /* what no sample has seen is charged to the waits */
  uint32_t at = pool_place(input, &rows);
  size_t length = strlen(found->evidence);
  if (at != MODEL_NONE) {
    const struct tree_row *row = &input->tree->rows[at];
    snprintf(found->evidence + length, sizeof found->evidence - length, "; %.0f %% of that while the code named ran",
             fmin(100, 100 * advice_seconds(rows.idle[at]) / input->pool.idle_s));
    found->name = row->name;
    found->file = row->file;
    found->line = row->line;
    found->context = row->id;
  }
  free(rows.idle);
  free(rows.region);
}

void advice_pool_text(const struct advice_pool *pool, char *out, size_t size)
{
  assert(size);
  *out = '\0';
  if (!pool->kind || !*pool->function)
    return;
  char symbol[WORDS_SYMBOL];
  int length = snprintf(out, size, ", mostly at the %s %.60s%sin %s", pool->kind, pool->name, *pool->name ? " " : "",
                        words_symbol(pool->function, symbol));
  if (*pool->file && pool->line)
    snprintf(out + length, size - (size_t)length, " (%.60s:%" PRIu32 ")", names_base(pool->file), pool->line);
}

/* The most cores that a process has. */
static double most_cores(const struct profile *profile)
{
  uint32_t most = 1;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    most = profile->processes[i].usable ? MAX(most, profile->processes[i].cpus) : most;
  return most;
}

/* While nobody runs, a pool's threads wait for something outside; and the cores limit what they can take over. */
void advice_pools_find(struct advice_run *run)
{
  const struct advice_input *input = run->input;
  const struct advice_pool *pool = &input->pool;
  double threads = input->all_threads;
  double most_s = pool->ran_s - advice_seconds(input->ns[TIMELINE_WORK]) / most_cores(input->profile);
  char object[ADVICE_EVIDENCE_MAX / 2] = "";
  if (threads < 2)
    return;
  advice_pool_text(pool, object, sizeof object);
  struct advice_finding *found = advice_add(run->advice, ADVICE_POOL, fmax(0, fmin(pool->idle_s / threads, most_s)),
                                            "Threads of pools outside OpenMP waited %.3f s%s", pool->idle_s, object);
  found->explained_s = pool->idle_s / threads; /* also what other cores cannot take over */
  if (found != &run->advice->unlisted && input->columns->idleness != MODEL_NONE && input->columns->work != MODEL_NONE)
    place_pool(run, found);
}

/* A process with more threads than cores. */
struct crowd {
  const struct profile_process *process;
  double ready_s, delay_s; /* its threads were ready to run; of this, without a core */
  double serial_s;         /* of its elapsed time */
  double *work_s;          /* [thread] the largest first */
};

ORDER(largest_first, double, COMPARE(*y, *x))

/* Finds the process with most threads beyond its cores. */
static const struct profile_process *most_threads(const struct profile *profile)
{
  const struct profile_process *most = NULL;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (process->usable && process->cpus && process->threads_max > process->cpus &&
        (!most || process->threads_max > most->threads_max))
      most = process;
  }
  return most;
}

static void fill_crowd(const struct advice_run *run, struct crowd *crowd)
{
  assert(crowd->process && crowd->work_s);
  const struct profile_process *process = crowd->process;
  crowd->serial_s = run->input->serial_s / (1 - 1.0 / process->threads_max);
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    crowd->delay_s += advice_seconds(thread->run_delay_ns);
    crowd->ready_s += advice_seconds(thread->run_delay_ns) + advice_seconds(thread->cpu_ns);
    crowd->work_s[i] = advice_seconds(thread->work_ns);
    if (thread == initial_thread(process))
      crowd->work_s[i] = fmax(0, crowd->work_s[i] - crowd->serial_s);
  }
  qsort(crowd->work_s, process->threads_count, sizeof *crowd->work_s, largest_first);
}

/* Adds the finding.  With as many threads as cores, regions take at least as long as the work divided among the
 * cores, the longest thread's work, or the span; and at most as long as the threads with most work take if one core
 * runs them all.  Fewer threads get no more of cores that other programs use, too. */
static bool add_crowd(struct advice_run *run, const struct crowd *crowd)
{
  assert(crowd->process->cpus);
  const struct profile_workspan *workspan = &run->input->profile->workspan;
  double cores = crowd->process->cpus, threads = crowd->process->threads_max, sum_s = 0, together_s = 0;
  for (uint32_t i = 0; i < crowd->process->threads_count; i++) {
    sum_s += crowd->work_s[i];
    together_s += i < ceil(threads / cores) ? crowd->work_s[i] : 0;
  }
  double regions_s = fmax(0, run->advice->elapsed_s - crowd->serial_s - run->claimed_s);
  if (crowd->ready_s - crowd->serial_s < cores * regions_s)
    return false; /* cores sufficed for the threads that were ready at one time: other programs took them */
  double span_s = workspan->known && workspan->is_time ? advice_seconds(workspan->span) - crowd->serial_s : 0;
  double least_s = fmax(fmax(sum_s / cores, span_s), crowd->process->threads_count ? crowd->work_s[0] : 0);
  /* Each thread has at least its part of a core: waiting ones slow it down by no more than that. */
  double most_s = regions_s * (1 - cores / threads);
  double ran_s = crowd->ready_s - crowd->delay_s - crowd->serial_s;
  double others_s = fmax(0, regions_s - ran_s / cores); /* other programs had the cores, and would have them again */
  struct advice_finding *found =
      advice_add(run->advice, ADVICE_OVERSUBSCRIPTION, fmin(most_s, regions_s - least_s - others_s),
                 "%.0f threads share %.0f cores: they were ready to run without a core for %.3f s; with a thread for "
                 "each core, their work takes at least %.3f s",
                 threads, cores, crowd->delay_s, least_s);
  found->low_s = fmax(0, fmin(found->low_s, regions_s - together_s));
  advice_cores_place(run, (uint32_t)(crowd->process - run->input->profile->processes), found);
  return found != &run->advice->unlisted;
}

bool advice_oversubscription(struct advice_run *run)
{
  struct crowd crowd = {.process = most_threads(run->input->profile)};
  if (!crowd.process)
    return false;
  crowd.work_s = xcalloc(crowd.process->threads_count, sizeof *crowd.work_s);
  fill_crowd(run, &crowd);
  bool much = crowd.delay_s > 0 && crowd.delay_s > advice_seconds(run->input->all_ns) / 20;
  bool found = much && add_crowd(run, &crowd);
  free(crowd.work_s);
  return found;
}
