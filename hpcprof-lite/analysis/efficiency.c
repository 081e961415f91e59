#include "hpcprof-lite/analysis/efficiency.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums in ns.  They are floating point, because products of hostile numbers would wrap; rounding does not show. */
struct sums {
  double total, idle, serial, lock, overhead, work;
  double core_wait; /* without a core, but in waits for a thread without one */
  double no_core;   /* waiting for such a thread */
  double mpi;       /* lost to MPI; `total` and `idle` are without it */
};

/* The processes of one directory. */
struct run {
  const char *path; /* of a process; its first `length` characters are the directory */
  size_t length;
  const struct profile_process *first;          /* the first with OpenMP, or NULL */
  uint32_t processes, threads_min, threads_max; /* of those with OpenMP */
  uint64_t begin_ns, end_ns;
  double wall, paused; /* sums over its processes, ns */
  bool is_reference;   /* gives the work at one thread for other runs */
  struct sums sums;
};

/* How long calls of MPI held up a process: all of its threads, while the initial one was in calls outside regions; or
 * each thread that made calls in regions. */
struct mpi_times {
  double outside, inside; /* inside: of all threads together */
};

static struct mpi_times mpi_times(const struct profile_process *process)
{
  struct mpi_times times = {0};
  const struct profile_thread *initial = profile_initial_thread(process);
  if (!initial && process->threads_count) /* without OpenMP, that is the first thread */
    initial = process->threads;
  for (uint32_t i = 0; i < process->threads_count; i++)
    times.inside += (double)(process->threads[i].mpi_ns - process->threads[i].mpi_outside_ns);
  times.outside = initial ? (double)initial->mpi_outside_ns : 0;
  return times;
}

/* Adds one process.  Returns false if it has no OpenMP threads, or the times of its regions are not known. */
static bool add_process(const struct profile_process *process, struct sums *sums)
{
  double elapsed = (double)profile_measured_ns(process->wall_ns, process->paused_ns);
  double total = (double)process->threads_max * elapsed;
  double idle = 0, lock = 0, overhead = 0, work = 0, lived = 0, regions = 0, tool = 0, core_wait = 0, no_core = 0,
         busy = 0;
  bool openmp = false;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    if (!(thread->flags & THREAD_OPENMP))
      continue;
    openmp = true;
    idle += (double)thread->idle_ns;
    lock += (double)thread->lockwait_ns;
    overhead += (double)thread->overhead_ns;
    work += (double)thread->work_ns;
    busy += (double)model_difference(thread->work_ns, profile_by_wall(process) ? thread->blocked_ns : 0);
    lived += (double)profile_measured_ns(thread->wall_ns, thread->paused_ns);
    tool += (double)thread->tool_ns;
    regions += (double)thread->region_ns;
    core_wait += (double)thread->core_wait_ns;
    no_core += (double)thread->no_core_ns;
  }
  bool timed = regions > 0 || !process->regions;
  if (!process->usable || !(process->flags & PROCESS_OMPT) || !openmp || !timed || total <= 0)
    return false;
  idle += MAX(0, total - lived);
  if (lived > total) /* the others lose no more than what is left of the time of as many as were in use */
    idle = MIN(idle, MAX(0, total - (busy + overhead + lock + tool + core_wait + no_core)));
  const struct mpi_times calls = mpi_times(process);
  double threads = process->threads_max, mpi = MIN(total, threads * calls.outside + calls.inside);
  idle -= MIN(idle, (threads - 1) * calls.outside);
  total = MAX(total - tool, 0.01 * total); /* the program's time */
  mpi = MIN(mpi, total);
  total = MAX(total - mpi, 0.01 * total);
  double serial = MAX(0, elapsed - MIN(elapsed, regions) - calls.outside);
  sums->total += total;
  sums->idle += idle;
  sums->serial += MIN(idle, serial * (double)(process->threads_max - 1));
  sums->lock += lock;
  sums->overhead += overhead;
  sums->work += work;
  sums->core_wait += core_wait;
  sums->no_core += no_core;
  sums->mpi += mpi;
  return true;
}

static double fraction(double ns, double total)
{
  assert(total > 0);
  return MIN(1, MAX(0, ns / total));
}

static size_t directory_length(const struct profile_process *process)
{
  const char *slash = process->path ? strrchr(process->path, '/') : NULL;
  return slash ? (size_t)(slash - process->path) : 0;
}

/* Finds or adds the run to which a process belongs. */
static struct run *run_of(struct run *runs, uint32_t *count, const struct profile_process *process)
{
  assert(process->usable);
  size_t length = directory_length(process);
  for (uint32_t i = 0; i < *count; i++)
    if (runs[i].length == length && (!length || !memcmp(runs[i].path, process->path, length)))
      return &runs[i];
  runs[*count] =
      (struct run){.path = process->path, .length = length, .threads_min = UINT32_MAX, .begin_ns = UINT64_MAX};
  return &runs[(*count)++];
}

/* Fills runs[], which has room for one run per process, and returns their number. */
static uint32_t find_runs(const struct profile *profile, struct run *runs)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable)
      continue;
    struct run *run = run_of(runs, &count, process);
    uint64_t end_ns = profile_end_ns(process);
    run->begin_ns = MIN(run->begin_ns, process->start_ns);
    run->end_ns = MAX(run->end_ns, end_ns);
    run->wall += (double)process->wall_ns;
    run->paused += (double)process->paused_ns;
    if (!add_process(process, &run->sums))
      continue;
    if (!run->first)
      run->first = process;
    run->processes++;
    run->threads_min = MIN(run->threads_min, process->threads_max);
    run->threads_max = MAX(run->threads_max, process->threads_max);
  }
  return count;
}

/* Whether a run is a reference: it had one thread, and another run of its command had more. */
static bool is_reference(const struct run *runs, uint32_t count, const struct run *run)
{
  for (uint32_t i = 0; i < count && run->threads_max == 1; i++)
    if (runs[i].first && runs[i].threads_max > 1 && !strcmp(runs[i].first->command, run->first->command))
      return true;
  return false;
}

/* Returns the mean work of the runs that are references for another one, NAN if there is none. */
static double reference_work(const struct run *runs, uint32_t count, const struct run *run)
{
  assert(run->first);
  double sum = 0, found = 0;
  for (uint32_t i = 0; i < count; i++)
    if (runs[i].is_reference && !strcmp(runs[i].first->command, run->first->command)) {
      sum += runs[i].sums.work;
      found++;
    }
  return found > 0 ? sum / found : NAN;
}

static void split_time(const struct run *runs, uint32_t count, const struct sums *sums, double elapsed_ns,
                       struct efficiency_split *to)
{
  double whole = MAX(sums->total, sums->work + sums->overhead), one = 0;
  uint32_t most = 0;
  *to = (struct efficiency_split){.known = sums->work > 0, .note = ""};
  for (uint32_t i = 0; i < count; i++) {
    to->alone += runs[i].is_reference;
    to->added += !runs[i].is_reference;
    most = MAX(most, runs[i].threads_max);
    if (!runs[i].first || runs[i].is_reference)
      continue;
    to->runs++;
    one += reference_work(runs, count, &runs[i]);
  }
  to->compared = to->known && !isnan(one) && to->alone;
  if (!to->known) {
    to->note = "no work was sampled by time";
    return;
  }
  if (!to->compared && most == 1)
    to->note = "the run itself had one thread";
  else if (!to->compared)
    to->note = "not known: give also the directory of a run of the same command with OMP_NUM_THREADS=1";
  double idle = whole - sums->work - sums->overhead;
  const double parts[EFFICIENCY_PARTS] = {[EFFICIENCY_WHOLE] = whole,
                                          [EFFICIENCY_WORK] = sums->work,
                                          [EFFICIENCY_WORK_ONE] = to->compared ? one : 0,
                                          [EFFICIENCY_INFLATION] = to->compared ? sums->work - one : 0,
                                          [EFFICIENCY_OVERHEAD] = sums->overhead,
                                          [EFFICIENCY_IDLENESS] = idle,
                                          [EFFICIENCY_LOCKWAIT] = MIN(sums->lock, idle)};
  for (int i = 0; i < EFFICIENCY_PARTS; i++) {
    to->part_s[i] = parts[i] / 1e9;
    to->gain_s[i] = parts[i] / whole * elapsed_ns / 1e9;
  }
}

static void add_sums(struct sums *to, const struct sums *from)
{
  to->total += from->total;
  to->idle += from->idle;
  to->serial += from->serial;
  to->lock += from->lock;
  to->overhead += from->overhead;
  to->work += from->work;
  to->core_wait += from->core_wait;
  to->no_core += from->no_core;
  to->mpi += from->mpi;
}

static void compute_lost(const struct sums *sums, double elapsed_ns, struct efficiency *efficiency)
{
  assert(sums->total > 0);
  double lost[EFFICIENCY_COUNT] = {[EFFICIENCY_BALANCE] = fraction(sums->idle - sums->serial, sums->total),
                                   [EFFICIENCY_SERIAL] = fraction(sums->serial, sums->total),
                                   [EFFICIENCY_LOCK] = fraction(sums->lock, sums->total),
                                   [EFFICIENCY_RUNTIME] = fraction(sums->overhead, sums->total)};
  for (int i = EFFICIENCY_PARALLEL + 1; i < EFFICIENCY_COUNT; i++)
    lost[EFFICIENCY_PARALLEL] = MIN(1, lost[EFFICIENCY_PARALLEL] + lost[i]);
  efficiency->known = true;
  efficiency->thread_s = sums->total / 1e9;
  double had_cores = sums->total - sums->core_wait - sums->no_core;
  double used = had_cores - sums->total * lost[EFFICIENCY_PARALLEL];
  efficiency->with_cores = had_cores > 0 ? fraction(used, had_cores) : 0;
  for (int i = 0; i < EFFICIENCY_COUNT; i++) {
    efficiency->value[i] = 1 - lost[i];
    efficiency->gain_s[i] = lost[i] * elapsed_ns / 1e9;
  }
}

/* ---- several ranks ---- */

/* What a job's efficiencies are made from; ns of all threads together, without this tool's time. */
struct job_sums {
  double threads, computing, useful;
  double openmp;                         /* of `computing`: of ranks with OpenMP */
  double longest_run, longest_computing; /* of a rank, of its threads' mean */
};

static void add_rank(const struct profile_process *process, struct job_sums *job, struct efficiency_rank *rank)
{
  struct sums own = {0};
  double threads = MAX(process->threads_max, 1), elapsed, useful;
  bool openmp = add_process(process, &own);
  if (openmp) {
    double lost = MIN(1, (own.idle + own.lock + own.overhead) / own.total);
    useful = own.total * (1 - lost);
  } else {
    struct mpi_times calls = mpi_times(process);
    threads = 1;
    elapsed = (double)profile_measured_ns(process->wall_ns, process->paused_ns);
    own.mpi = MIN(elapsed, calls.outside);
    useful = own.total = elapsed - own.mpi;
  }
  elapsed = (own.total + own.mpi) / threads;
  job->threads += threads;
  job->computing += own.total;
  job->useful += useful;
  job->openmp += openmp ? own.total : 0;
  job->longest_run = MAX(job->longest_run, elapsed);
  job->longest_computing = MAX(job->longest_computing, own.total / threads);
  *rank = (struct efficiency_rank){.known = true,
                                   .elapsed_s = elapsed / 1e9,
                                   .computing_s = own.total / threads / 1e9,
                                   .mpi_s = own.mpi / threads / 1e9,
                                   .openmp = openmp ? fraction(useful, own.total) : NAN,
                                   .global = useful / threads / 1e9}; /* a time, until the run's is known */
}

/* Sets the efficiencies of the job, each with the elapsed time that it costs. */
static void set_job(const struct job_sums *sums, struct efficiency_job *job)
{
  assert(sums->threads > 0 && sums->longest_run > 0);
  double run = sums->longest_run / 1e9, most = sums->longest_computing / 1e9;
  double mean = sums->computing / sums->threads / 1e9, useful = sums->useful / sums->threads / 1e9;
  double time[JOB_METRICS] = {[JOB_GLOBAL] = run,
                              [JOB_MPI] = run,
                              [JOB_MPI_COMMUNICATION] = run,
                              [JOB_MPI_BALANCE] = most,
                              [JOB_OPENMP] = mean};
  double kept[JOB_METRICS] = {[JOB_GLOBAL] = useful,
                              [JOB_MPI] = mean,
                              [JOB_MPI_COMMUNICATION] = most,
                              [JOB_MPI_BALANCE] = mean,
                              [JOB_OPENMP] = useful};
  for (int i = 0; i < JOB_METRICS; i++) {
    bool known = time[i] > 0 && (i != JOB_OPENMP || sums->openmp > 0);
    job->value[i] = known ? fraction(kept[i], time[i]) : NAN;
    job->gain_s[i] = known ? MAX(0, time[i] - kept[i]) : NAN;
  }
  job->elapsed_s = run;
}

void efficiency_divide_communication(struct efficiency_job *job, double ideal_s, double computed_s)
{
  static const double error = 0.02; /* both are of the same run, but not measured by the same clocks */
  double communication = job->value[JOB_MPI_COMMUNICATION];
  if (!job->known || !(ideal_s > 0) || !(communication > 0))
    return;
  double most_s = communication * job->elapsed_s, serialisation = fmin(1, computed_s / ideal_s);
  if (serialisation < communication * (1 - error)) /* threads had no core in calls of MPI */
    return;
  serialisation = fmax(serialisation, communication);
  job->value[JOB_MPI_SERIALISATION] = serialisation;
  job->value[JOB_MPI_TRANSFER] = communication / serialisation;
  job->gain_s[JOB_MPI_SERIALISATION] = most_s / serialisation - most_s;
  job->gain_s[JOB_MPI_TRANSFER] = job->elapsed_s - most_s / serialisation;
}

static void compute_job(const struct profile *profile, struct efficiency_job *job)
{
  struct job_sums sums = {0};
  uint64_t calls = 0;
  job->of_process = xcalloc(profile->processes_count, sizeof *job->of_process);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable || process->rank < 0)
      continue;
    for (uint32_t j = 0; j < process->threads_count; j++)
      model_add(&calls, process->threads[j].mpi_calls);
    add_rank(process, &sums, &job->of_process[i]);
    job->ranks++;
    job->world = MAX(job->world, process->mpi_size);
  }
  bool several = job->world && job->ranks > job->world; /* jobs */
  job->known = job->ranks > 1 && calls && sums.longest_run > 0 && !several;
  if (!job->known) {
    free(job->of_process);
    job->of_process = NULL;
    return;
  }
  set_job(&sums, job);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    struct efficiency_rank *rank = &job->of_process[i];
    if (!rank->known)
      continue;
    rank->mpi = fraction(rank->computing_s, job->elapsed_s);
    rank->global = fraction(rank->global, job->elapsed_s);
  }
}

/* The elapsed time without what MPI takes of it. */
static double without_mpi(const struct sums *sums, double elapsed_ns)
{
  return sums->mpi > 0 ? elapsed_ns * sums->total / (sums->total + sums->mpi) : elapsed_ns;
}

void efficiency_compute(const struct profile *profile, uint64_t elapsed_ns, struct efficiency *efficiency)
{
  struct run *runs = xcalloc(profile->processes_count, sizeof *runs);
  struct sums sums = {0};
  double elapsed = 0, all = 0;
  uint32_t least = UINT32_MAX, most = 0;
  *efficiency = (struct efficiency){.split.note = ""};
  uint32_t count = find_runs(profile, runs);
  for (uint32_t i = 0; i < count; i++)
    runs[i].is_reference = runs[i].first && is_reference(runs, count, &runs[i]);
  for (uint32_t i = 0; i < count; i++) {
    double own = runs[i].end_ns > runs[i].begin_ns ? (double)(runs[i].end_ns - runs[i].begin_ns) : 0;
    own *= runs[i].wall > 0 ? 1 - runs[i].paused / runs[i].wall : 1; /* the measured part */
    all += own;
    if (runs[i].is_reference)
      continue;
    add_sums(&sums, &runs[i].sums);
    elapsed += own;
    efficiency->processes += runs[i].processes;
    least = MIN(least, runs[i].threads_min);
    most = MAX(most, runs[i].threads_max);
  }
  efficiency->threads = least == most ? most : 0;
  if (count <= 1)
    elapsed = all = (double)elapsed_ns;
  efficiency->elapsed_s = all / 1e9;
  if (efficiency->processes) {
    compute_lost(&sums, without_mpi(&sums, elapsed), efficiency);
    split_time(runs, count, &sums, without_mpi(&sums, elapsed), &efficiency->split);
  }
  if (count == 1)
    compute_job(profile, &efficiency->job);
  free(runs);
}

const char *efficiency_name(enum efficiency_metric metric)
{
  assert(metric < EFFICIENCY_COUNT);
  static const char *const names[EFFICIENCY_COUNT] = {[EFFICIENCY_PARALLEL] = "parallel_efficiency",
                                                      [EFFICIENCY_BALANCE] = "load_balance",
                                                      [EFFICIENCY_SERIAL] = "serialisation",
                                                      [EFFICIENCY_LOCK] = "lock_waiting",
                                                      [EFFICIENCY_RUNTIME] = "runtime_overhead"};
  return names[metric];
}

void efficiency_release(struct efficiency *efficiency)
{
  free(efficiency->job.of_process);
  *efficiency = (struct efficiency){0};
}

const char *efficiency_job_name(enum efficiency_job_metric metric)
{
  assert(metric < JOB_METRICS);
  static const char *const names[JOB_METRICS] = {[JOB_GLOBAL] = "global_efficiency",
                                                 [JOB_MPI] = "mpi_parallel_efficiency",
                                                 [JOB_MPI_BALANCE] = "mpi_load_balance",
                                                 [JOB_MPI_COMMUNICATION] = "mpi_communication",
                                                 [JOB_MPI_SERIALISATION] = "mpi_serialisation",
                                                 [JOB_MPI_TRANSFER] = "mpi_transfer",
                                                 [JOB_OPENMP] = "openmp_efficiency"};
  return names[metric];
}

const char *efficiency_part_name(enum efficiency_part part)
{
  assert(part < EFFICIENCY_PARTS);
  static const char *const names[EFFICIENCY_PARTS] = {
      [EFFICIENCY_WHOLE] = "thread_time",         [EFFICIENCY_WORK] = "work",
      [EFFICIENCY_WORK_ONE] = "work_one_thread",  [EFFICIENCY_INFLATION] = "work_inflation",
      [EFFICIENCY_OVERHEAD] = "overhead_time",    [EFFICIENCY_IDLENESS] = "idleness_time",
      [EFFICIENCY_LOCKWAIT] = "lock_waiting_time"};
  return names[part];
}
