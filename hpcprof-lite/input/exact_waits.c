#include "hpcprof-lite/input/exact_waits.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/thread_trace.h"
#include "hpcprof-lite/input/wait_site.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The most wait sites of all threads of a process: far more than a run has.  Bounds the memory of a hostile file,
 * since all are kept at once. */
static const size_t waits_max = 16u << 20;

/* Records of switches cover a thread's life if no more of it is missing than this part and time: they are read at
 * samples and ends of waits, and the thread has started before. */
#define MISSING_PART 0.05
#define MISSING_NS 2e6

/* A site, summed over the threads. */
struct site {
  struct wait_site at;
  double idle_ns, shared_ns;
};

struct sites {
  struct site *all;
  uint32_t count;
  size_t waits; /* records of all threads */
  size_t room;
  struct hash_map map;
};

/* Finds or adds a site. */
static uint32_t site_of(struct sites *sites, const struct format_wait *wait)
{
  struct wait_site at = wait_site_of(wait);
  uint64_t key = wait_site_hash(&at);
  uint32_t found = HASH_MAP_FIND(&sites->map, key, i, wait_site_same(&sites->all[i - 1].at, &at));
  if (found)
    return found - 1;
  *XAPPEND(sites->all, sites->count, sites->room) = (struct site){.at = at};
  hash_map_add(&sites->map, key, sites->count);
  return sites->count - 1;
}

/* Saturates at what no run lasts, also where the amount is not a number. */
static uint64_t to_ns(double ns)
{
  return ns < 1e19 ? model_rounded(ns) : UINT64_MAX;
}

/* The interval that was open when the process was killed; at most one of a thread is. */
static double open_ticks(const struct profile_process *process, const struct format_wait *wait)
{
  double tick_ns = process->workspan.tick_ns;
  double end = tick_ns > 0 ? (double)process->start_ticks + (double)process->wall_ns / tick_ns : 0;
  return process->unfinished && wait->since && (double)wait->since < end ? end - (double)wait->since : 0;
}

/* Adds the open intervals. */
static void add_open_intervals(const struct read_file *file, const struct profile_process *process,
                               struct format_wait *waits, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    double ticks = open_ticks(process, &waits[i]);
    bool parked = ticks > 0 && open_state_parked(file, &waits[i]);
    uint64_t *idle = &waits[parked ? 0 : i].idle;
    model_add(idle, to_ns(ticks));
  }
}

struct exact_waits_tool exact_waits_tool(const struct profile_process *process, const struct format_wait *waits,
                                         uint32_t count)
{
  assert(waits || !count);
  double tick_ns = process->workspan.tick_ns;
  struct exact_waits_tool tool = {0};
  double waiting_ns[2] = {0}, runtime_ns[2] = {0};
  for (uint32_t i = 0; i < count; i++) {
    bool lock = waits[i].kind == FORMAT_WAIT_LOCK;
    double idle = ((double)waits[i].idle + open_ticks(process, &waits[i])) * tick_ns;
    double runtime = (double)waits[i].runtime * tick_ns;
    double in_runtime = fmin((double)waits[i].tool_ns, runtime);
    waiting_ns[lock] += idle;
    runtime_ns[lock] += runtime;
    tool.of_waiting[lock] += fmin((double)waits[i].tool_ns - in_runtime, idle);
    tool.of_runtime[lock] += in_runtime;
  }
  for (unsigned i = 0; i < 2; i++) {
    tool.ns += tool.of_waiting[i] + tool.of_runtime[i];
    tool.of_waiting[i] /= fmax(waiting_ns[i], 1);
    tool.of_runtime[i] /= fmax(runtime_ns[i], 1);
  }
  return tool;
}

double exact_waits_runtime_ns(const struct format_wait *waits, uint32_t count, double tick_ns)
{
  double runtime_ns = 0;
  for (uint32_t i = 0; i < count; i++)
    runtime_ns += MAX(0, (double)waits[i].runtime * tick_ns - (double)waits[i].tool_ns);
  return runtime_ns;
}

/* The part of the time between a barrier's last arrival and a thread's release, and of searches and the like, that can
 * be the runtime's work: no more than the thread ran during waits, according to its samples.  In the remaining time it
 * slept or had no processor. */
double exact_waits_runtime_part(const struct profile_thread *record, double runtime_ns)
{
  assert(runtime_ns >= 0);
  double waiting = (double)record->samples_idle + (double)record->samples_lockwait, all = (double)record->samples;
  double most = (double)record->cpu_ns * (waiting + 1 + sqrt(waiting)) / (all + 1);
  return runtime_ns > most ? most / runtime_ns : 1;
}

/* The same for a thread of this process: where no samples were taken, as much as the thread ran on average. */
static double runtime_part(const struct read_file *file, const struct profile_process *process,
                           const struct profile_thread *record, double runtime_ns)
{
  if (read_replaced(file))
    return 1;
  if (profile_unsampled(process))
    return record->cpu_ns < record->wall_ns ? (double)record->cpu_ns / (double)record->wall_ns : 1;
  return exact_waits_runtime_part(record, runtime_ns);
}

static bool is_covered(const struct profile_thread *record, double tick_ns)
{
  double wall_ns = (double)record->wall_ns, missing_ns = wall_ns - (double)record->switched_seen * tick_ns;
  return record->switched_seen && missing_ns <= MISSING_PART * wall_ns + MISSING_NS;
}

struct exact_waits_delay exact_waits_delay(const struct profile_thread *record, const struct format_wait *waits,
                                           uint32_t count, double tick_ns)
{
  double preempted_ns = (double)record->switched_preempted * tick_ns, woken_ns = 0, waited_ns = 0;
  double left_ns = (double)record->run_delay_ns - preempted_ns;
  if (left_ns <= 0)
    return (struct exact_waits_delay){0};
  for (uint32_t i = 0; i < count; i++) {
    woken_ns += (double)waits[i].woken * tick_ns;
    waited_ns += ((double)waits[i].idle + (double)waits[i].runtime - (double)waits[i].preempted -
                  (double)waits[i].preempted_in_runtime) *
                 tick_ns;
  }
  if (is_covered(record, tick_ns)) {
    double part = woken_ns > left_ns ? left_ns / woken_ns : 1;
    return (struct exact_waits_delay){part, (left_ns - part * woken_ns) / fmax((double)record->switched_wakes, 1), 0};
  }
  double ran_ns = (double)record->idle_sampled_ns + (double)record->lockwait_sampled_ns;
  double off_ns = (double)record->wall_ns - (double)record->cpu_ns - preempted_ns;
  if (!record->samples || waited_ns <= ran_ns || off_ns <= 0)
    return (struct exact_waits_delay){0};
  return (struct exact_waits_delay){.waiting_part = fmin(left_ns / off_ns, 1) * (waited_ns - ran_ns) / waited_ns};
}

struct exact_waits_ready exact_waits_leave_ready(struct format_wait *wait, const struct exact_waits_delay *delay,
                                                 double tick_ns, double *left)
{
  double idle_ns = (double)wait->idle * tick_ns, runtime_ns = (double)wait->runtime * tick_ns;
  double woken_ns = delay->woken_part * (double)wait->woken * tick_ns;
  double wakes_ns = delay->each_wake_ns * (double)wait->wakes + (left ? *left : 0);
  struct exact_waits_ready ready = {(double)wait->preempted * tick_ns, (double)wait->preempted_in_runtime * tick_ns,
                                    (double)wait->no_core * tick_ns};
  if (wait->kind == FORMAT_WAIT_PARKED)
    ready.of_waiting += woken_ns;
  else
    ready.of_runtime += woken_ns + fmax(0, ready.of_waiting - idle_ns);
  ready.of_waiting += delay->waiting_part * MAX(0, idle_ns - ready.of_waiting);
  ready.of_runtime += delay->waiting_part * MAX(0, runtime_ns - ready.of_runtime);
  ready.of_waiting = fmin(ready.of_waiting, idle_ns);
  ready.of_runtime = fmin(ready.of_runtime, runtime_ns);
  ready.no_core = fmin(ready.no_core, idle_ns - ready.of_waiting);
  double now_ns = fmin(wakes_ns, idle_ns - ready.of_waiting - ready.no_core); /* what is recorded comes first */
  ready.of_waiting += now_ns;
  if (left)
    *left = wakes_ns - now_ns;
  wait->idle -= MIN(wait->idle, to_ns((ready.of_waiting + ready.no_core) / tick_ns));
  wait->runtime -= MIN(wait->runtime, to_ns(ready.of_runtime / tick_ns));
  return ready;
}

/* Takes the time without a processor out of the waits of a thread. */
static void leave_ready(const struct profile_thread *record, struct format_wait *waits, uint32_t count, double tick_ns,
                        struct exact_waits_thread *thread)
{
  struct exact_waits_delay delay = exact_waits_delay(record, waits, count, tick_ns);
  double estimated_ns = 0, no_core_ns = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct exact_waits_ready ready = exact_waits_leave_ready(&waits[i], &delay, tick_ns, NULL);
    estimated_ns += delay.waiting_part > 0 ? ready.of_waiting + ready.of_runtime : 0;
    no_core_ns += ready.no_core;
  }
  thread->no_core_ns = to_ns(no_core_ns);
  thread->held_up_ns = to_ns((double)model_difference(record->held_up, 1) * tick_ns);
  thread->recorded = record->held_up && is_covered(record, tick_ns);
  thread->estimated_ns = to_ns(estimated_ns);
  thread->preempted_ns = to_ns((double)record->switched_preempted * tick_ns);
  thread->call_ready_ns =
      to_ns((double)record->call_preempted * tick_ns + delay.each_wake_ns * (double)record->call_wakes);
  thread->mpi_ready_ns =
      to_ns((double)record->mpi_preempted * tick_ns + delay.each_wake_ns * (double)record->mpi_wakes);
}

static void open_thread(struct read_file *file, const struct profile_process *process, uint32_t position,
                        struct problems *problems, struct sites *sites, struct exact_waits_thread *thread)
{
  assert(position < process->threads_count);
  const struct profile_thread *record = &process->threads[position];
  uint32_t count;
  double tick_ns = process->workspan.tick_ns;
  struct format_wait *waits = read_table(file, record->index, FORMAT_WAITS, problems, &count);
  if (count > waits_max - sites->waits) {
    problems_add(problems, "%s: thread %u: more wait sites than any run has: left out", process->path, record->index);
    count = 0;
  }
  sites->waits += count;
  thread->waits = xcalloc(count, sizeof *thread->waits);
  thread->count = count;
  thread->timed = count && tick_ns > 0;
  thread->shares = record->flags & THREAD_OPENMP || process->flags & PROCESS_OUTSIDE;
  add_open_intervals(file, process, waits, count);
  if (tick_ns > 0 && !read_replaced(file)) /* a part of the run is without it already */
    leave_ready(record, waits, count, tick_ns, thread);
  double part = runtime_part(file, process, record, exact_waits_runtime_ns(waits, count, tick_ns));
  for (uint32_t i = 0; i < count; i++) {
    const struct format_wait *wait = &waits[i];
    struct exact_wait *to = &thread->waits[i];
    uint32_t site = site_of(sites, wait);
    double own_ns = (double)wait->runtime * tick_ns - (double)wait->tool_ns, tool_ns = MAX(0, -own_ns);
    own_ns = MAX(0, own_ns);
    *to = (struct exact_wait){.site = site,
                              .node = wait->node,
                              .lock = wait->kind == FORMAT_WAIT_LOCK,
                              .device = wait->kind == FORMAT_WAIT_DEVICE ? (uint32_t)wait->offset : 0,
                              .idle_ns = to_ns(MAX(0, (double)wait->idle * tick_ns - tool_ns) + (1 - part) * own_ns),
                              .runtime_ns = to_ns(part * own_ns)};
    sites->all[site].idle_ns += (double)to->idle_ns;
    bool counts = thread->shares || to->lock;
    sites->all[site].shared_ns += counts ? (double)wait->shared_ns : 0;
    uint64_t *sum = to->lock ? &thread->lock_ns : &thread->idle_ns;
    model_add(sum, to->idle_ns);
  }
  free(waits);
}

/* The baseline's idleness outside sites. */
struct outside {
  double missing_ns, spare_ns;
};

static struct outside find_outside(const struct profile_process *process, enum profile_baseline baseline)
{
  double wall = (double)profile_measured_ns(process->wall_ns, process->paused_ns), threads = process->threads_max,
         lived = 0;
  struct outside outside = {0};
  if (baseline == BASELINE_SHARED || (baseline == BASELINE_CORE && process->cpus < process->threads_max) ||
      !(process->flags & PROCESS_OMPT))
    return outside;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    lived += thread->flags & THREAD_OPENMP ? (double)profile_measured_ns(thread->wall_ns, thread->paused_ns) : 0;
  }
  outside.missing_ns = threads * wall > lived ? threads * wall - lived : 0;
  if (baseline == BASELINE_THREAD)
    return outside;
  outside.spare_ns = ((double)process->cpus - threads) * wall;
  return outside;
}

/* The time of threads that did not exist yet while the initial thread slept or had no processor.  Only that of threads
 * before which none had ended: it is not known what the initial thread has done since then. */
static void find_before(const struct profile_process *process, double while_ns[PROFILE_UNSEEN_CAUSES])
{
  uint32_t begun = 0;
  uint64_t first_end_ns = UINT64_MAX;
  for (uint32_t i = 0; i < process->threads_count && begun < process->threads_max; i++) {
    const struct profile_thread *thread = &process->threads[i];
    if (!(thread->flags & THREAD_OPENMP))
      continue;
    if (process->in_part || process->paused_ns || thread->start_ns >= first_end_ns)
      return;
    uint64_t off_ns = model_difference(thread->start_ns, thread->initial_cpu_ns);
    uint64_t delay_ns = MIN(thread->initial_delay_ns, off_ns);
    if (begun++ && thread->initial_cpu_ns) {
      while_ns[UNSEEN_NO_CORE_BEFORE] += (double)delay_ns;
      while_ns[UNSEEN_ASLEEP_BEFORE] += (double)(off_ns - delay_ns);
    }
    first_end_ns = MIN(first_end_ns, model_sum(thread->start_ns, thread->wall_ns));
  }
}

/* How long the initial thread slept since a thread had begun, but for its own waits in the runtime; 0 if that is not
 * known. */
static double slept_since(const struct profile_process *process, const struct exact_waits *waits, uint32_t position)
{
  const struct profile_thread *initial = process->threads, *thread = &process->threads[position];
  if (process->in_part || process->paused_ns || !thread->initial_cpu_ns)
    return 0;
  double off_ns = (double)initial->wall_ns - (double)initial->cpu_ns - (double)initial->run_delay_ns;
  double before_ns = (double)thread->start_ns - (double)thread->initial_cpu_ns - (double)thread->initial_delay_ns;
  double waited_ns = (double)waits->threads[0].idle_ns + (double)waits->threads[0].lock_ns;
  return MAX(0, off_ns - MAX(0, before_ns) - waited_ns);
}

/* Finds out why no sample saw waiting; missing_ns: of threads that did not exist.  While the initial thread runs, it is
 * sampled; where it had no processor between regions, that is no waiting. */
static void find_causes(const struct profile_process *process, const struct sites *sites, double missing_ns,
                        struct exact_waits *waits)
{
  double while_ns[PROFILE_UNSEEN_CAUSES] = {0}, between_ns = 0;
  find_before(process, while_ns);
  double before_ns = while_ns[UNSEEN_ASLEEP_BEFORE] + while_ns[UNSEEN_NO_CORE_BEFORE];
  double part = before_ns > missing_ns ? missing_ns / before_ns : 1;
  for (uint32_t i = 0; i < waits->threads_count; i++)
    for (uint32_t j = 0; j < waits->threads[i].count; j++) {
      const struct exact_wait *wait = &waits->threads[i].waits[j];
      if (sites->all[wait->site].at.kind == FORMAT_WAIT_PARKED && !wait->node)
        between_ns += fmin((double)wait->unseen_ns, slept_since(process, waits, i));
    }
  waits->unseen_while[UNSEEN_ASLEEP_BEFORE] = to_ns(part * while_ns[UNSEEN_ASLEEP_BEFORE]);
  waits->unseen_while[UNSEEN_NO_CORE_BEFORE] = to_ns(part * while_ns[UNSEEN_NO_CORE_BEFORE]);
  waits->unseen_while[UNSEEN_ASLEEP_BETWEEN] = to_ns(between_ns);
}

/* What a nanosecond of shares stands for: amount_ns / shared_ns.  Samples count too much where they make threads wait,
 * but too little only by chance, up to about a standard error: more waiting than that was seen by no sample, for
 * example because the thread that others waited for slept. */
static double factor_of(double amount_ns, double shared_ns, uint64_t period_ns)
{
  double samples = period_ns ? shared_ns / (double)period_ns : 1;
  double most = 1 + 1 / sqrt(MAX(samples, 1));
  double exact = shared_ns > 0 ? amount_ns / shared_ns : 0;
  return MIN(exact, most);
}

/* Sets the factors, and what is charged without samples. */
static void distribute(const struct profile_process *process, enum profile_baseline baseline, const struct sites *sites,
                       uint64_t period_ns, struct exact_waits *waits)
{
  bool known = process->workspan.tick_ns > 0; /* else it was killed before it had stored the counter's rate */
  double per_busy = 0, in_use = 0;
  double *unseen = xcalloc(sites->count, sizeof *unseen); /* [site] the part charged without samples */
  waits->factors = xcalloc(sites->count, sizeof *waits->factors);
  struct outside outside = find_outside(process, baseline);
  for (uint32_t i = 0; i < sites->count; i++) {
    const struct site *site = &sites->all[i];
    double counts = site->at.kind == FORMAT_WAIT_LOCK || !waits->counted;
    if (site->at.kind == FORMAT_WAIT_DEVICE || (site->at.kind == FORMAT_WAIT_PARKED && baseline == BASELINE_SHARED))
      counts = 0;
    double factor = factor_of(site->idle_ns, site->shared_ns, period_ns);
    waits->factors[i] = counts * (known ? factor : 1);
    unseen[i] = site->idle_ns > 0 ? counts * (1 - factor * site->shared_ns / site->idle_ns) : 0;
  }
  for (uint32_t i = 0; i < process->threads_count; i++) {
    per_busy += waits->threads[i].shares ? (double)process->threads[i].per_busy_ns : 0;
    in_use += waits->threads[i].shares ? (double)process->threads[i].in_use_ns : 0;
    for (uint32_t j = 0; j < waits->threads[i].count; j++) {
      struct exact_wait *wait = &waits->threads[i].waits[j];
      wait->unseen_ns = to_ns(unseen[wait->site] * (double)wait->idle_ns);
    }
  }
  free(unseen);
  double weight = (double)waits->baseline * per_busy - in_use;
  waits->missing = factor_of(outside.missing_ns, weight, period_ns);
  waits->spare = per_busy > 0 ? outside.spare_ns / per_busy : 0;
  double missing_ns = weight > 0 ? outside.missing_ns - waits->missing * weight : outside.missing_ns;
  waits->unseen_ns = to_ns(missing_ns + (per_busy > 0 ? 0 : outside.spare_ns));
  find_causes(process, sites, missing_ns, waits);
}

void exact_waits_open(struct read_file *file, const struct profile_process *process, enum profile_baseline baseline,
                      struct problems *problems, struct exact_waits *waits)
{
  assert(!process->threads_count || process->threads);
  struct sites sites = {0};
  *waits = (struct exact_waits){.threads = xcalloc(process->threads_count, sizeof *waits->threads),
                                .threads_count = process->threads_count,
                                .counted = baseline == BASELINE_CORE && process->cpus < process->threads_max,
                                .baseline = process->threads_max};
  for (uint32_t i = 0; i < process->threads_count; i++)
    open_thread(file, process, i, problems, &sites, &waits->threads[i]);
  distribute(process, baseline, &sites, read_period(file, read_column_of(file, COLUMN_WORK)), waits);
  free(sites.all);
  hash_map_release(&sites.map);
}

void exact_waits_close(struct exact_waits *waits)
{
  for (uint32_t i = 0; i < waits->threads_count; i++)
    free(waits->threads[i].waits);
  free(waits->threads);
  free(waits->factors);
  *waits = (struct exact_waits){0};
}

struct exact_waits_amount exact_waits_of(const struct exact_waits *waits, uint32_t position,
                                         const struct format_share *shares, uint32_t shares_count, uint64_t first,
                                         uint32_t *unread)
{
  assert(position < waits->threads_count && unread);
  const struct exact_waits_thread *thread = &waits->threads[position];
  double idle = 0, lock = 0;
  uint32_t left = thread->count; /* a list has one record for each site, unless it is a circle */
  uint64_t i = first;
  bool damaged = false;
  for (; i && i < shares_count && left && *unread; i = shares[i].next, left--, --*unread) {
    if (shares[i].wait >= thread->count) {
      damaged = true;
      continue;
    }
    const struct exact_wait *wait = &thread->waits[shares[i].wait];
    double *sum = wait->lock ? &lock : &idle;
    if (thread->shares || wait->lock)
      *sum += (double)shares[i].ns * waits->factors[wait->site];
  }
  return (struct exact_waits_amount){to_ns(idle), to_ns(lock), damaged || i};
}

void exact_waits_devices(const struct exact_waits *waits, uint32_t position, const struct format_share *shares,
                         uint64_t first, exact_waits_take *take, void *to)
{
  assert(position < waits->threads_count);
  const struct exact_waits_thread *thread = &waits->threads[position];
  for (uint64_t i = first; i; i = shares[i].next)
    if (thread->waits[shares[i].wait].device)
      take(to, thread->waits[shares[i].wait].device, shares[i].ns);
}

uint64_t exact_waits_elsewhere(const struct exact_waits *waits, uint32_t position, uint64_t per_busy_ns,
                               uint64_t in_use_ns)
{
  assert(position < waits->threads_count);
  if (!waits->threads[position].shares)
    return 0;
  double weight = (double)waits->baseline * (double)per_busy_ns - (double)in_use_ns;
  return to_ns((weight > 0 ? weight * waits->missing : 0) + (double)per_busy_ns * waits->spare);
}
