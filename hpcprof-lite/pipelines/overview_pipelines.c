/* The pipelines of the summary, advice and threads views.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason.  Summary and advice require tree_begin() with the tree.
 */
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/pipelines/pipelines.h"

#include "hpcprof-lite/analysis/advice/advice_nodes.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/pipelines/one_thread.h"
#include "hpcprof-lite/grains/grains.h"
#include "hpcprof-lite/grains/numa.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/trace_reader.h"
#include "hpcprof-lite/replay/list_schedule.h"
#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/pipelines/tree_pipeline.h"
#include "hpcprof-lite/views/atomic_places.h"
#include "hpcprof-lite/views/thread_order.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether the run was traced: all processes of a launch are, or none. */
static bool has_trace(const struct job *job)
{
  assert(job->profile.processes_count);
  const char *measurement = job->profile.processes[0].path; /* unusable ones come last */
  if (job->options.input.count > 1)
    return false;
  char *path = xasprintf("%.*s" TRACE_READER_SUFFIX, (int)read_stem(measurement), measurement);
  bool found = !access(path, F_OK);
  free(path);
  return found;
}

/* Whether there are phases: they are found in the states of constructs, which -p off and -tsamples leave out for all
 * processes of a launch. */
static bool has_states(const struct profile *profile)
{
  uint32_t i = 0;
  while (i < profile->processes_usable && !(profile->processes[i].flags & PROCESS_ONLINE))
    i++;
  return i < profile->processes_usable && trace_reader_has_states(profile->processes[i].path);
}

/* ---- advice ---- */

static const enum schedule_change changes[] = {[ADVICE_SPREAD] = SCHEDULE_SPREAD,
                                               [ADVICE_SPREAD_BLOCK] = SCHEDULE_SPREAD,
                                               [ADVICE_SPREAD_SERIAL] = SCHEDULE_SPREAD_SERIAL,
                                               [ADVICE_WITHOUT_BARRIERS] = SCHEDULE_WITHOUT_BARRIERS,
                                               [ADVICE_WITHOUT_DEPENDENCES] = SCHEDULE_WITHOUT_DEPENDENCES};

/* Whether threads slept in calls of the program for more than a twentieth of their time: the graph has processor time
 * only, and says nothing of what others waited for meanwhile. */
static bool has_slept(const struct job *job)
{
  uint64_t blocked_ns = 0;
  for (uint32_t i = 0; i < job->profile.processes_usable; i++)
    for (uint32_t j = 0; j < job->profile.processes[i].threads_count; j++) {
      const struct profile_thread *thread = &job->profile.processes[i].threads[j];
      blocked_ns = model_sum(blocked_ns, thread->flags & THREAD_OPENMP ? thread->blocked_ns : 0);
    }
  return blocked_ns > job->totals.openmp_wall_ns / 20;
}

/* Whether the run is one whose schedule on its own cores can be compared with its elapsed time. */
static bool can_schedule(const struct job *job)
{
  const struct advice *advice = &job->report.advice;
  const struct profile_workspan *workspan = &job->profile.workspan;
  bool any = false;
  for (uint32_t i = 0; i < advice->count; i++)
    any = any || advice->found[i].change != ADVICE_NO_CHANGE;
  return any && !has_slept(job) && workspan->known && workspan->is_time && job->profile.span_processes == 1 &&
         !job->profile.range.limited && advice->more_cores && advice->more_cores <= LIST_SCHEDULE_CORES_MAX;
}

/* Sets two schedules, on the run's cores and on more, of the run as recorded, and then of each finding with a change.
 * Returns how many they are.  selected: room for a set of directives for each finding, and one more. */
static uint32_t plan_schedules(const struct job *job, bool *selected, struct recorded_schedule *schedules)
{
  assert(job->names.directives);
  const struct advice *advice = &job->report.advice;
  uint32_t directives = job->profile.workspan.directives_count;
  bool *first = selected, *own = selected;
  uint32_t count = 2;
  for (uint32_t i = 0; i < advice->count; i++) {
    if (advice->found[i].change == ADVICE_NO_CHANGE)
      continue;
    own += directives;
    memset(first, 0, directives);
    advice_select(&job->constructs, &advice->found[i], first);
    for (uint32_t j = 1; j < directives; j++)
      own[j] = first[job->names.directives[j].first];
    schedules[count].change = changes[advice->found[i].change];
    schedules[count].directives = own;
    schedules[count + 1] = schedules[count];
    count += 2;
  }
  for (uint32_t i = 0; i < count; i += 2) {
    schedules[i].cores = advice->more_cores / ADVICE_MORE;
    schedules[i].own_chunks = true;
    schedules[i + 1].cores = advice->more_cores;
  }
  return count;
}

/* Replaces forecasts by those from the graph log. */
static void forecast_by_log(struct job *job, const struct advice_input *input)
{
  struct advice *advice = &job->report.advice;
  size_t directives = job->profile.workspan.directives_count, count = 2 * (size_t)advice->count + 2;
  if (!can_schedule(job))
    return;
  recorded_graph_open(&job->profile, NULL, 0, job_log_problems(job), &job->spans.recorded);
  job->report.log_differs |= job->spans.recorded.differs;
  if (!job->spans.recorded.known || job->spans.recorded.differs)
    return;
  struct recorded_schedule *schedules = xcalloc(count, sizeof *schedules);
  bool *selected = xcalloc(directives * (advice->count + 1), sizeof *selected);
  double *makespans = xcalloc(count, sizeof *makespans);
  uint32_t planned = plan_schedules(job, selected, schedules);
  recorded_graph_schedule(&job->spans.recorded, schedules, planned, makespans);
  const double *without = makespans;
  for (uint32_t i = 0; i < advice->count; i++) {
    struct advice_finding *found = &advice->found[i];
    if (found->change == ADVICE_NO_CHANGE)
      continue;
    without += 2;
    advice_enter(advice, found, (makespans[0] - without[0]) * 1e-9);
    if (found->same_parts)
      advice_more(advice, found, (makespans[1] - without[1]) * 1e-9, false);
  }
  free(schedules);
  free(selected);
  free(makespans);
  advice_rank(input, advice);
}

/* Counts tasks by the node on which they began. */
struct node_count {
  const struct job *job;
  struct advice_node *nodes;
  double tick_s;
};

static int count_grain(void *context, const struct grain *grain)
{
  assert(grain->row < ((const struct node_count *)context)->job->profile.workspan.directives_count);
  const struct node_count *count = context;
  const struct job *job = count->job;
  if (grain->kind != GRAIN_TASK || grain->node >= ADVICE_NODES_MAX)
    return 0;
  uint32_t directive = job->names.directives[job->profile.span_rows[grain->row]].first;
  advice_node_add(&count->nodes[(size_t)directive * ADVICE_NODES_MAX + grain->node],
                  (double)grain->exec * count->tick_s);
  return 0;
}

/* Finds tasks that are slower on some NUMA nodes, in the graph log of a run on several. */
static void find_far_tasks(struct job *job, const struct advice_input *input)
{
  const struct profile *profile = &job->profile;
  struct numa numa;
  if (!profile->workspan.known || !profile->workspan.is_time || profile->range.limited)
    return;
  const struct profile_process *process = &profile->processes[profile->span_process];
  numa_parse(process->notes, &numa);
  if (numa.nodes < 2)
    return;
  struct problems again = {0}; /* other views of the log report them */
  struct grains *grains = NULL;
  size_t directives = (size_t)profile->workspan.directives_count + 1;
  struct node_count count = {.job = job,
                             .nodes = xcalloc(directives * ADVICE_NODES_MAX, sizeof *count.nodes),
                             .tick_s = process->workspan.tick_ns * 1e-9};
  struct grains_visitor visitor = {.grain = count_grain, .context = &count, .without_paths = true};
  if (!grains_open(process, &again, &grains) && grains && !grains_each(grains, &visitor)) {
    advice_nodes_find(input, count.nodes, &job->report.advice);
    advice_rank(input, &job->report.advice);
  }
  grains_close(grains);
  problems_release(&again);
  free(count.nodes);
}

/* The elapsed time that work takes longer than in the runs with one thread; 0 if there are none. */
static double inflation_s(const struct job *job, const struct one_thread *alone)
{
  const struct efficiency *efficiency = &job->report.efficiency;
  double whole_s = efficiency->split.part_s[EFFICIENCY_WHOLE];
  if (!job->options.input.references_count || !efficiency->known || !efficiency->split.known || whole_s <= 0)
    return 0;
  return (efficiency->split.part_s[EFFICIENCY_WORK] - alone->work_s) / whole_s * efficiency->elapsed_s;
}

/* The part of the waiting for locks in which the waiting threads were not ready without a core. */
static double waiting_with_cores(const struct job *job)
{
  const struct lock_rows *locks = &job->lists.locks;
  double wait_ns = 0, net_ns = (double)job->totals.lockwait_ns;
  for (uint32_t i = 0; i < locks->count; i++)
    wait_ns += (double)locks->rows[i].wait_ns;
  return net_ns > 0 && wait_ns > net_ns ? net_ns / wait_ns : 1;
}

/* Returns the locks of POSIX and C11, for free(). */
static struct advice_lock *list_mutexes(struct job *job, uint32_t *count)
{
  struct lock_rows *locks = &job->lists.locks;
  lock_rows_make(&job->profile, &job->names, false, locks);
  struct advice_lock *list = xcalloc(locks->count, sizeof *list);
  double with_cores = waiting_with_cores(job);
  *count = 0;
  for (uint32_t i = 0; i < locks->count; i++) {
    const struct lock_row *row = &locks->rows[i];
    const struct call_place *place = &row->holder[0];
    if (row->posix)
      list[(*count)++] = (struct advice_lock){.kind = row->kind,
                                              .name = row->name,
                                              .function = place->function,
                                              .file = place->file,
                                              .line = place->line,
                                              .wait_s = advice_seconds(row->wait_ns),
                                              .lost_s = with_cores * advice_seconds(row->wait_ns),
                                              .held = (double)row->holder_ns[0] / (double)MAX(row->released_ns, 1),
                                              .held_s = advice_seconds(row->held_ns),
                                              .waits = row->waits};
  }
  return list;
}

/* Returns the functions with atomic instructions, for free(). */
static struct advice_atomics *list_atomics(const struct job *job, uint32_t *count)
{
  const struct tree_columns *columns = &job->columns;
  *count = 0;
  if (columns->samples == MODEL_NONE || columns->work == MODEL_NONE)
    return NULL;
  struct atomic_place *places = atomic_places_find(&job->profile, &job->names, columns->source[columns->samples],
                                                   columns->source[columns->work], count);
  struct advice_atomics *list = xcalloc(*count, sizeof *list);
  for (uint32_t i = 0; i < *count; i++)
    list[i] = (struct advice_atomics){.name = places[i].function,
                                      .file = places[i].file,
                                      .line = places[i].line,
                                      .row = job->row_of[places[i].context],
                                      .samples = places[i].samples,
                                      .atomic = places[i].atomic,
                                      .atomic_s = advice_seconds(places[i].atomic_ns)};
  free(places);
  return list;
}

/* Returns the calls of MPI, for free(). */
static struct advice_call *list_calls(struct job *job, uint32_t *count)
{
  struct mpi_rows *rows = &job->lists.mpi;
  mpi_rows_make(&job->profile, &job->names, job->row_of, rows);
  struct advice_call *list = xcalloc(rows->count, sizeof *list);
  for (uint32_t i = 0; i < rows->count; i++) {
    const struct mpi_row *row = &rows->rows[i];
    list[i] = (struct advice_call){.function = profile_mpi_name(row->function),
                                   .caller = row->place.function,
                                   .file = row->place.file,
                                   .line = row->place.line,
                                   .row = row->row,
                                   .s = advice_seconds(row->ns),
                                   .calls = row->calls,
                                   .mean_bytes = mpi_row_mean_bytes(row),
                                   .bytes_known = row->decoded,
                                   .sends = profile_mpi_sends(row->function),
                                   .begins_or_ends = profile_mpi_begins_or_ends(row->function)};
  }
  *count = rows->count;
  return list;
}

/* The row of a call. */
static uint32_t row_of_call(const struct job *job, const struct context_mpi *calls)
{
  const struct mpi_rows *rows = &job->lists.mpi;
  struct call_place place = call_place_of(&job->profile, &job->names, calls->context);
  uint32_t row = 0;
  while (row < rows->count &&
         (rows->rows[row].function != calls->function || call_place_compare(&rows->rows[row].place, &place) != 0))
    row++;
  return row < rows->count ? row : MODEL_NONE;
}

/* The calls of MPI of a process outside regions that neither begin nor end MPI. */
struct communication {
  uint64_t ns, calls;
  const struct context_mpi *most; /* those with most time; NULL: there are none */
};

static struct communication communication_of(const struct job *job, uint32_t process)
{
  const struct contexts *contexts = &job->profile.contexts;
  const struct profile_process *of = &job->profile.processes[process];
  const struct profile_thread *initial = profile_initial_thread(of);
  uint32_t thread = initial ? (uint32_t)(initial - of->threads) : 0;
  struct communication sum = {0};
  for (uint32_t i = 0; i < contexts->mpi_count; i++) {
    const struct context_mpi *calls = &contexts->mpi[i];
    if (calls->owner != of->number || calls->thread != thread || profile_mpi_begins_or_ends(calls->function) ||
        contexts_in_region(contexts, calls->context))
      continue;
    model_add(&sum.ns, calls->ns - MIN(calls->preempted_ns, calls->ns));
    sum.calls += calls->calls;
    const struct context_mpi *most = sum.most;
    if (!most || calls->ns > most->ns || (calls->ns == most->ns && calls->function < most->function))
      sum.most = calls;
  }
  return sum;
}

/* The time in which threads of a process were ready without a core, or waited for such a thread, as their mean. */
static double without_core_s(const struct profile_process *process)
{
  uint64_t ns = 0;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    model_add(&ns, process->threads[i].core_wait_ns);
    model_add(&ns, process->threads[i].no_core_ns);
  }
  return advice_seconds(ns) / MAX(process->threads_max, 1);
}

/* Compares the ranks of the job.  Requires the rows of calls. */
static struct advice_mpi compare_ranks(const struct job *job)
{
  const struct efficiency_job *of_job = &job->report.efficiency.job;
  struct advice_mpi mpi = {0};
  uint32_t shortest = 0;
  for (uint32_t i = 0; of_job->known && i < job->profile.processes_usable; i++) {
    const struct efficiency_rank *rank = &of_job->of_process[i];
    const struct profile_process *process = &job->profile.processes[i];
    if (!rank->known)
      continue;
    double own_s = MAX(0, rank->computing_s - without_core_s(process));
    if (!mpi.ranks || own_s > mpi.longest_s) {
      mpi.longest = (uint32_t)process->rank;
      mpi.longest_process = i;
      mpi.longest_s = own_s;
      mpi.longest_threads = process->threads_max;
    }
    if (!mpi.ranks || own_s < mpi.shortest_s) {
      mpi.shortest = (uint32_t)process->rank;
      mpi.shortest_s = own_s;
      shortest = i;
    }
    mpi.mean_s += (own_s - mpi.mean_s) / ++mpi.ranks;
  }
  if (!mpi.ranks)
    return mpi;
  struct communication longest = communication_of(job, mpi.longest_process);
  mpi.shortest_mpi_s = advice_seconds(communication_of(job, shortest).ns);
  mpi.longest_mpi_s = advice_seconds(longest.ns);
  mpi.longest_calls = longest.calls;
  mpi.longest_call = longest.most ? row_of_call(job, longest.most) : MODEL_NONE;
  return mpi;
}

/* Where threads of pools waited longest for work, and how long all of them did. */
static struct advice_pool find_pool(struct job *job)
{
  struct lock_rows *pools = &job->lists.pools;
  lock_rows_make(&job->profile, &job->names, true, pools);
  struct advice_pool pool = {.idle_s = advice_seconds(job->totals.pool_idle_ns),
                             .ran_s = advice_seconds(job->totals.outside_ns)};
  if (!pools->count)
    return pool;
  const struct lock_row *row = &pools->rows[0];
  pool.kind = row->kind;
  pool.name = row->name;
  pool.function = row->first.function;
  pool.file = row->first.file;
  pool.line = row->first.line;
  return pool;
}

/* Where threads slept longest outside OpenMP: all of them, or initial threads outside parallel regions. */
static void find_blocked(const struct job *job, bool initial, struct call_places *places)
{
  const struct tree_columns *columns = &job->columns;
  uint32_t column = columns->blocked == MODEL_NONE ? MODEL_NONE : columns->source[columns->blocked];
  uint32_t near = columns->blocked_near == MODEL_NONE ? MODEL_NONE : columns->source[columns->blocked_near];
  call_places_find(&job->profile, &job->names, column, near, initial, places);
}

static struct advice_blocked blocked_of(const struct call_places *places)
{
  return (struct advice_blocked){.function = places->most[0].function,
                                 .file = places->most[0].file,
                                 .line = places->most[0].line,
                                 .near = places->most[0].near,
                                 .s = advice_seconds(places->ns[0]),
                                 .all_s = advice_seconds(places->all_ns)};
}

/* The most threads that lived at once, of OpenMP or not. */
static uint32_t threads_at_once(const struct profile *profile)
{
  uint64_t sum = 0;
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    sum += profile_most_at_once(&profile->processes[i], NULL, NULL);
  return (uint32_t)MIN(sum, UINT32_MAX);
}

int advice_pipeline(struct job *job)
{
  assert(job->row_of);
  const struct efficiency *efficiency = &job->report.efficiency;
  const struct totals *totals = &job->totals;
  struct one_thread alone;
  int status = one_thread_read(job, &alone);
  if (!status) {
    construct_gains(job);
    region_threads_compute(&job->profile, &job->names, &job->constructs, &alone.regions, &job->report.region_threads);
  }
  region_threads_release_alone(&alone.regions);
  if (status)
    return status;
  struct totals_missing_cores missing = totals_missing_cores(totals);
  struct advice_input input = {.profile = &job->profile,
                               .tree = &job->tree,
                               .columns = &job->columns,
                               .constructs = &job->constructs,
                               .elapsed_s = efficiency->elapsed_s,
                               .samples = totals->samples,
                               .without_core = missing.without_core,
                               .stolen = missing.stolen,
                               .unsampled = totals->unsampled,
                               .by_wall = totals->by_wall,
                               .threads = efficiency->known ? totals->threads_max : 0,
                               .serial_s = efficiency->gain_s[EFFICIENCY_SERIAL],
                               .beside_s = efficiency->gain_s[EFFICIENCY_SERIAL] *
                                           (double)MIN(totals->beside_ns, totals->outside_ns) /
                                           (double)MAX(totals->outside_ns, 1),
                               .inflation_s = inflation_s(job, &alone),
                               .region_threads = job->report.region_threads,
                               .efficiency = efficiency->known ? efficiency->value[EFFICIENCY_PARALLEL] : -1};
  input.all_ns = category_times(&job->report, input.ns);
  if (!job->report.filtered || !*job->report.filtered) /* what a filter leaves out is not lost */
    input.rest_ns = category_unexplained(&job->report);
  struct advice_lock *locks = list_mutexes(job, &input.locks_count);
  uint32_t calls_count;
  struct advice_call *calls = list_calls(job, &calls_count);
  input.mpi = compare_ranks(job);
  input.mpi.calls = calls;
  input.mpi.calls_count = calls_count;
  struct advice_atomics *atomics = list_atomics(job, &input.atomics_count);
  core_findings_find(&job->profile, &job->constructs, &job->report.summary.cores);
  kernel_findings_find(&job->profile, &job->tree, &job->columns, &job->report.summary.kernel);
  input.locks = locks;
  input.atomics = atomics;
  input.cores = &job->report.summary.cores;
  input.kernel = &job->report.summary.kernel;
  struct call_places initial;
  find_blocked(job, true, &initial);
  input.blocked = blocked_of(&initial);
  find_blocked(job, false, &job->report.summary.blocked);
  input.all_blocked = blocked_of(&job->report.summary.blocked);
  input.pool = job->report.summary.pool = find_pool(job);
  input.all_threads = threads_at_once(&job->profile);
  advice_compute(&input, &job->report.advice);
  free(locks);
  free(atomics);
  free(calls);
  forecast_by_log(job, &input);
  find_far_tasks(job, &input);
  return 0;
}

/* Sums up the waiting that is charged to calls of MPI. */
static void find_mpi_idle(const struct job *job, struct report_summary *summary)
{
  const struct tree *tree = &job->tree;
  uint64_t most_ns = 0;
  for (uint32_t i = 1; i < tree->count; i++) {
    uint64_t ns = tree->rows[i].kind == ROW_MPI ? tree_excl(tree, i, job->columns.idleness) : 0;
    model_add(&summary->mpi_idle_ns, ns);
    summary->mpi_idle = ns > most_ns ? i : summary->mpi_idle;
    most_ns = MAX(most_ns, ns);
  }
}

int summary_pipeline(struct job *job)
{
  struct report_summary *summary = &job->report.summary;
  const struct tree_columns *columns = &job->columns;
  struct tree_order order = tree_default_order(job, true);
  struct tree *flat = &job->trees.derived;
  order.by = SORT_SPENT_EXCL;
  derived_flat(&job->tree, columns, flat, NULL);
  tree_finish(flat, &order, false);
  assert(check_finished_tree(flat));
  unnamed_modules(&job->tree, columns, &job->names, summary->unnamed, &summary->unnamed_count);
  workspan_compute(&job->profile, &job->names, &job->tree, NULL, &job->report.spans.workspan);
  workspan_find_top(job->row_of, job->tree.count, &job->report.spans.workspan);
  int status = advice_pipeline(job);
  if (status)
    return status;
  job->report.tree = &job->tree;
  summary->flat = flat;
  summary->traced = has_trace(job);
  summary->phased = summary->traced && has_states(&job->profile);
  summary->critical_count = hotspots_critical(flat, columns, summary->critical);
  summary->hot_count = hotspots_find(&job->tree, flat, columns, summary->hot);
  find_mpi_idle(job, summary);
  summary->idle_count = causes_worst(&job->tree, flat, columns, columns->idleness, summary->idle);
  summary->locks_count = causes_worst(&job->tree, flat, columns, columns->lockwait, summary->locks);
  return 0;
}

int threads_pipeline(struct job *job)
{
  thread_order(&job->profile, &job->lists.threads, &job->report.list.count);
  job_sort(job, job->lists.threads, job->report.list.count, sizeof *job->lists.threads);
  job->report.list.threads = job->lists.threads;
  uint32_t most = job->options.limits.rows;
  if (job->options.format == OPTIONS_TEXT && !most && job->report.list.count > DISTRIBUTION_FROM) {
    job->report.list.distribution = &job->lists.distribution;
    distribution_compute(&job->profile, job->lists.threads, job->report.list.count, tree_has_time(&job->columns),
                         &job->lists.distribution);
  } else if (most && most < job->report.list.count) {
    job->report.limits.left_out = job->report.list.count - most;
    job->report.list.count = most;
  }
  return 0;
}

/* Takes so many rows of a list as --max-rows allows. */
static void limit_list(struct job *job, uint32_t count)
{
  uint32_t most = job->options.limits.rows;
  job->report.list.count = most ? MIN(count, most) : count;
  job->report.limits.left_out = count - job->report.list.count;
}

int locks_pipeline(struct job *job)
{
  struct lock_rows *locks = &job->lists.locks;
  lock_rows_make(&job->profile, &job->names, false, locks);
  if (!locks->count) {
    job_print_error("no thread waited for a lock, as far as is known; to list all locks, measure with 'hpcrun-lite -c "
                    "locks' (locks "
                    "are not known for a part of a run, or of an older hpcrun-lite)");
    return EXIT_INPUT;
  }
  job->report.locks = locks;
  job->report.list.count = locks->count;
  job_sort(job, locks->rows, locks->count, sizeof *locks->rows);
  limit_list(job, locks->count);
  return 0;
}

int ranks_pipeline(struct job *job)
{
  struct rank_rows *ranks = &job->lists.ranks;
  rank_rows_make(&job->profile, ranks);
  if (!ranks->count) {
    job_print_error("no process has a rank: measure ranks of an MPI job with 'mpirun hpcrun-lite COMMAND'");
    return EXIT_INPUT;
  }
  efficiency_pipeline(job);
  job->report.ranks = ranks;
  job->report.list.count = ranks->count;
  job_sort(job, ranks->rows, ranks->count, sizeof *ranks->rows);
  limit_list(job, ranks->count);
  return 0;
}

int mpi_pipeline(struct job *job)
{
  struct mpi_rows *calls = &job->lists.mpi;
  mpi_rows_make(&job->profile, &job->names, job->row_of, calls);
  if (!calls->count) {
    job_print_error(
        "no call of MPI is known: the program made none, or it was measured without them (they are not known "
        "for a part of a run, or of an older hpcrun-lite)");
    return EXIT_INPUT;
  }
  job->report.mpi_calls = calls;
  job->report.tree = &job->tree;
  job->report.list.count = calls->count;
  job_sort(job, calls->rows, calls->count, sizeof *calls->rows);
  limit_list(job, calls->count);
  return 0;
}

int devices_pipeline(struct job *job)
{
  struct device_rows *devices = &job->lists.devices;
  device_rows_make(&job->profile, &job->names, job->row_of, devices);
  if (!devices->count) {
    job_print_error(
        "no target construct is known to have used a device: there was none, the runtime did not report it, "
        "or -p off was given (what libgomp ran on the host is in the view regions)");
    return EXIT_INPUT;
  }
  job->report.devices = devices;
  job->report.tree = &job->tree;
  job->report.list.count = devices->count;
  job_sort(job, devices->rows, devices->count, sizeof *devices->rows);
  limit_list(job, devices->count);
  return 0;
}

int processes_pipeline(struct job *job)
{
  uint32_t count = job->profile.processes_usable;
  job->lists.rows = xcalloc(count, sizeof *job->lists.rows);
  for (uint32_t i = 0; i < count; i++)
    job->lists.rows[i] = i;
  job_sort(job, job->lists.rows, count, sizeof *job->lists.rows);
  job->report.list.rows = job->lists.rows;
  limit_list(job, count);
  return 0;
}
