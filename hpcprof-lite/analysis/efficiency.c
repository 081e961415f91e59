#include "hpcprof-lite/analysis/efficiency.h"

/* Sums in ns, as floating point: products of hostile numbers must not wrap, and errors of 1e-16 do not show. */
struct sums {
  double total, idle, serial, lock, overhead;
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
  double idle = 0, lock = 0, overhead = 0, lived = 0, regions = 0;
  bool openmp = false;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    if (!(thread->flags & THREAD_OPENMP))
      continue;
    openmp = true;
    idle += (double)thread->idle_ns;
    lock += (double)thread->lockwait_ns;
    overhead += (double)thread->overhead_ns;
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
  return true;
}

static double part(double ns, double total)
{
  return least(1, most(0, ns / total));
}

void efficiency_compute(const struct profile *profile, uint64_t elapsed_ns, struct efficiency *efficiency)
{
  struct sums sums = {0};
  *efficiency = (struct efficiency){0};
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (!add_process(process, &sums))
      continue;
    bool alike = !efficiency->processes || efficiency->threads == process->threads_max;
    efficiency->threads = alike ? process->threads_max : 0;
    efficiency->processes++;
  }
  if (!efficiency->processes)
    return;
  double loss[EFFICIENCY_COUNT] = {[EFFICIENCY_BALANCE] = part(sums.idle - sums.serial, sums.total),
                                   [EFFICIENCY_SERIAL] = part(sums.serial, sums.total),
                                   [EFFICIENCY_LOCK] = part(sums.lock, sums.total),
                                   [EFFICIENCY_RUNTIME] = part(sums.overhead, sums.total)};
  for (int i = EFFICIENCY_PARALLEL + 1; i < EFFICIENCY_COUNT; i++)
    loss[EFFICIENCY_PARALLEL] = least(1, loss[EFFICIENCY_PARALLEL] + loss[i]);
  efficiency->known = true;
  efficiency->thread_s = sums.total / 1e9;
  for (int i = 0; i < EFFICIENCY_COUNT; i++) {
    efficiency->value[i] = 1 - loss[i];
    efficiency->gain_s[i] = loss[i] * (double)elapsed_ns / 1e9;
  }
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
