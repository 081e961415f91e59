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
  double delay, core_wait; /* all waiting for a core; that outside other waits */
  double no_core;          /* waiting for a thread without a core */
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

/* Adds one process.  Returns false if it has no OpenMP threads, or the times of its regions are not known. */
static bool add_process(const struct profile_process *process, struct sums *sums)
{
  double elapsed = (double)profile_measured_ns(process->wall_ns, process->paused_ns);
  double total = (double)process->threads_max * elapsed;
  double idle = 0, lock = 0, overhead = 0, work = 0, lived = 0, regions = 0, tool = 0, delay = 0, core_wait = 0,
         no_core = 0;
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
    lived += (double)profile_measured_ns(thread->wall_ns, thread->paused_ns);
    tool += (double)thread->tool_ns;
    regions += (double)thread->region_ns;
    delay += (double)thread->run_delay_ns;
    core_wait += (double)thread->core_wait_ns;
    no_core += (double)thread->no_core_ns;
  }
  bool timed = regions > 0 || !process->regions;
  if (!process->usable || !(process->flags & PROCESS_OMPT) || !openmp || !timed || total <= 0)
    return false;
  idle += MAX(0, total - lived);
  total = MAX(total - tool, 0.01 * total); /* the program's time */
  double serial = elapsed - MIN(elapsed, regions);
  sums->total += total;
  sums->idle += idle;
  sums->serial += MIN(idle, serial * (double)(process->threads_max - 1));
  sums->lock += lock;
  sums->overhead += overhead;
  sums->work += work;
  sums->delay += delay;
  sums->core_wait += core_wait;
  sums->no_core += no_core;
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
    uint64_t end_ns = process->start_ns + process->wall_ns;
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
  to->delay += from->delay;
  to->core_wait += from->core_wait;
  to->no_core += from->no_core;
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
  double used = sums->total * (1 - lost[EFFICIENCY_PARALLEL]) - sums->core_wait - sums->no_core;
  double had_cores = sums->total - sums->delay - sums->no_core;
  efficiency->with_cores = had_cores > 0 ? fraction(used, had_cores) : 0;
  for (int i = 0; i < EFFICIENCY_COUNT; i++) {
    efficiency->value[i] = 1 - lost[i];
    efficiency->gain_s[i] = lost[i] * elapsed_ns / 1e9;
  }
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
    compute_lost(&sums, elapsed, efficiency);
    split_time(runs, count, &sums, elapsed, &efficiency->split);
  }
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
