#include "hpcprof-lite/analysis/efficiency.h"

#include <stdlib.h>
#include <string.h>

/* Sums in ns, as floating point: products of hostile numbers must not wrap, and errors of 1e-16 do not show. */
struct sums {
  double total, idle, serial, lock, overhead, work;
};

/* The processes of one directory. */
struct run {
  const char *path; /* of a process; the directory's name is its first part */
  size_t length;
  const struct profile_process *first; /* with OpenMP, NULL if none has it */
  uint32_t threads_max;
  uint64_t begin_ns, end_ns;
  bool alone; /* the run of one thread that others are compared with */
  struct sums sums;
};

static double least(double a, double b)
{
  return a < b ? a : b;
}

static double most(double a, double b)
{
  return a > b ? a : b;
}

/* Adds one process.  False if it has no OpenMP threads, or if the times of its regions are not known. */
static bool add_process(const struct profile_process *process, struct sums *sums)
{
  double total = (double)process->threads_max * (double)process->wall_ns;
  double idle = 0, lock = 0, overhead = 0, work = 0, lived = 0, regions = 0;
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
    lived += (double)thread->wall_ns;
    regions += (double)thread->region_ns;
  }
  bool timed = regions > 0 || !process->regions;
  if (!process->usable || !(process->flags & PROCESS_OMPT) || !openmp || !timed || total <= 0)
    return false;
  idle += most(0, total - lived);
  double serial = (double)process->wall_ns - least((double)process->wall_ns, regions);
  sums->total += total;
  sums->idle += idle;
  sums->serial += least(idle, serial * (double)(process->threads_max - 1));
  sums->lock += lock;
  sums->overhead += overhead;
  sums->work += work;
  return true;
}

static double part(double ns, double total)
{
  return least(1, most(0, ns / total));
}

static size_t directory_length(const struct profile_process *process)
{
  const char *slash = process->path ? strrchr(process->path, '/') : NULL;
  return slash ? (size_t)(slash - process->path) : 0;
}

/* The run that a process belongs to; a new one if its directory has not been met. */
static struct run *run_of(struct run *runs, uint32_t *count, const struct profile_process *process)
{
  size_t length = directory_length(process);
  for (uint32_t i = 0; i < *count; i++)
    if (runs[i].length == length && (!length || !memcmp(runs[i].path, process->path, length)))
      return &runs[i];
  runs[*count] = (struct run){.path = process->path, .length = length, .begin_ns = UINT64_MAX};
  return &runs[(*count)++];
}

/* Fills runs, of which there are at most as many as processes, and returns their number. */
static uint32_t find_runs(const struct profile *profile, struct run *runs)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!process->usable)
      continue;
    struct run *run = run_of(runs, &count, process);
    uint64_t end_ns = process->start_ns + process->wall_ns;
    run->begin_ns = process->start_ns < run->begin_ns ? process->start_ns : run->begin_ns;
    run->end_ns = end_ns > run->end_ns ? end_ns : run->end_ns;
    if (!add_process(process, &run->sums))
      continue;
    run->first = run->first ? run->first : process;
    run->threads_max = process->threads_max > run->threads_max ? process->threads_max : run->threads_max;
  }
  return count;
}

/* Whether a run is what others are compared with: of one thread, and of a command that another run gave more. */
static bool is_alone(const struct run *runs, uint32_t count, const struct run *run)
{
  bool others = false;
  for (uint32_t i = 0; i < count; i++)
    others =
        others || (runs[i].first && runs[i].threads_max > 1 && !strcmp(runs[i].first->command, run->first->command));
  return others && run->threads_max == 1;
}

/* The run that this one is compared with must be of the same command. */
static bool has_alone(const struct run *runs, uint32_t count, const struct run *run)
{
  for (uint32_t i = 0; i < count; i++)
    if (runs[i].alone && !strcmp(runs[i].first->command, run->first->command))
      return true;
  return false;
}

/* Work at one thread of all runs that count: of each, the mean of those that it is compared with. */
static double work_alone(const struct run *runs, uint32_t count)
{
  double work = 0;
  for (uint32_t i = 0; i < count; i++) {
    double sum = 0, found = 0;
    for (uint32_t j = 0; j < count && runs[i].first && !runs[i].alone; j++)
      if (runs[j].alone && !strcmp(runs[i].first->command, runs[j].first->command)) {
        sum += runs[j].sums.work;
        found++;
      }
    work += found > 0 ? sum / found : 0;
  }
  return work;
}

static void split(const struct run *runs, uint32_t count, const struct sums *sums, double elapsed_ns,
                  struct efficiency_split *to)
{
  double whole = most(sums->total, sums->work + sums->overhead), one = work_alone(runs, count);
  bool all = true;
  *to = (struct efficiency_split){.known = sums->work > 0, .note = ""};
  for (uint32_t i = 0; i < count; i++) {
    to->alone += runs[i].alone;
    to->runs += runs[i].first && !runs[i].alone;
    all = all && (!runs[i].first || runs[i].alone || has_alone(runs, count, &runs[i]));
  }
  to->compared = to->known && all && to->alone;
  if (!to->known) {
    to->note = "no work was sampled by time";
    return;
  }
  if (!to->compared)
    to->note = "not known: give also the directory of a run of the same command with OMP_NUM_THREADS=1";
  double idle = whole - sums->work - sums->overhead;
  const double parts[EFFICIENCY_PARTS] = {[EFFICIENCY_WHOLE] = whole,
                                          [EFFICIENCY_WORK] = sums->work,
                                          [EFFICIENCY_WORK_ONE] = to->compared ? one : 0,
                                          [EFFICIENCY_INFLATION] = to->compared ? sums->work - one : 0,
                                          [EFFICIENCY_OVERHEAD] = sums->overhead,
                                          [EFFICIENCY_IDLENESS] = idle,
                                          [EFFICIENCY_LOCKWAIT] = least(sums->lock, idle)};
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
}

static void ratios(const struct sums *sums, double elapsed_ns, struct efficiency *efficiency)
{
  double loss[EFFICIENCY_COUNT] = {[EFFICIENCY_BALANCE] = part(sums->idle - sums->serial, sums->total),
                                   [EFFICIENCY_SERIAL] = part(sums->serial, sums->total),
                                   [EFFICIENCY_LOCK] = part(sums->lock, sums->total),
                                   [EFFICIENCY_RUNTIME] = part(sums->overhead, sums->total)};
  for (int i = EFFICIENCY_PARALLEL + 1; i < EFFICIENCY_COUNT; i++)
    loss[EFFICIENCY_PARALLEL] = least(1, loss[EFFICIENCY_PARALLEL] + loss[i]);
  efficiency->known = true;
  efficiency->thread_s = sums->total / 1e9;
  for (int i = 0; i < EFFICIENCY_COUNT; i++) {
    efficiency->value[i] = 1 - loss[i];
    efficiency->gain_s[i] = loss[i] * elapsed_ns / 1e9;
  }
}

/* Processes that count, and their threads. */
static void count_processes(const struct profile *profile, struct run *runs, uint32_t runs_count,
                            struct efficiency *efficiency)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    struct sums unused = {0};
    if (!process->usable || run_of(runs, &runs_count, process)->alone || !add_process(process, &unused))
      continue;
    bool alike = !efficiency->processes || efficiency->threads == process->threads_max;
    efficiency->threads = alike ? process->threads_max : 0;
    efficiency->processes++;
  }
}

int efficiency_compute(const struct profile *profile, uint64_t elapsed_ns, struct efficiency *efficiency)
{
  struct run *runs = calloc((size_t)profile->processes_count + 1, sizeof *runs);
  struct sums sums = {0};
  double elapsed = 0;
  *efficiency = (struct efficiency){.split.note = ""};
  if (!runs)
    return ERR_NOMEM;
  uint32_t count = find_runs(profile, runs);
  for (uint32_t i = 0; i < count; i++)
    runs[i].alone = runs[i].first && is_alone(runs, count, &runs[i]);
  for (uint32_t i = 0; i < count; i++) {
    if (runs[i].alone)
      continue;
    add_sums(&sums, &runs[i].sums);
    elapsed += runs[i].end_ns > runs[i].begin_ns ? (double)(runs[i].end_ns - runs[i].begin_ns) : 0;
  }
  elapsed = count > 1 ? elapsed : (double)elapsed_ns;
  count_processes(profile, runs, count, efficiency);
  if (efficiency->processes) {
    ratios(&sums, elapsed, efficiency);
    split(runs, count, &sums, elapsed, &efficiency->split);
  }
  free(runs);
  return 0;
}

const char *efficiency_name(enum efficiency_metric metric)
{
  static const char *const names[EFFICIENCY_COUNT] = {[EFFICIENCY_PARALLEL] = "parallel_efficiency",
                                                      [EFFICIENCY_BALANCE] = "load_balance",
                                                      [EFFICIENCY_SERIAL] = "serialisation",
                                                      [EFFICIENCY_LOCK] = "lock_waiting",
                                                      [EFFICIENCY_RUNTIME] = "runtime_overhead"};
  return names[metric];
}

const char *efficiency_part_name(enum efficiency_part part)
{
  static const char *const names[EFFICIENCY_PARTS] = {
      [EFFICIENCY_WHOLE] = "thread_time",         [EFFICIENCY_WORK] = "work",
      [EFFICIENCY_WORK_ONE] = "work_one_thread",  [EFFICIENCY_INFLATION] = "work_inflation",
      [EFFICIENCY_OVERHEAD] = "overhead_time",    [EFFICIENCY_IDLENESS] = "idleness_time",
      [EFFICIENCY_LOCKWAIT] = "lock_waiting_time"};
  return names[part];
}
