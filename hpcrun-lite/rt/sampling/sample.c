#define _GNU_SOURCE
#include "hpcrun-lite/rt/sampling/sample.h"

#include <errno.h>
#include <ucontext.h>

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/devices.h"
#include "hpcrun-lite/rt/construct/trace_counts.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/call_sleep.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/core_limits.h"
#include "hpcrun-lite/rt/sampling/device_waits.h"
#include "hpcrun-lite/rt/sampling/kernel_usage.h"
#include "hpcrun-lite/rt/sampling/lock_table.h"
#include "hpcrun-lite/rt/sampling/mpi_calls.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/sample_trace.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/sampling/unwind.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "hpcrun-lite/rt/core/sys.h"

/* Columns of a value record: samples, those of the time event, then the other events in their
 * order. */
enum {
  METRIC_SAMPLES,
  METRIC_WORK,
  METRIC_OVERHEAD,
  METRIC_LOCKWAIT,
  METRIC_PER_BUSY,
  METRIC_IN_USE,
  METRIC_SHARES,
  METRIC_OTHERS
};

/* The column of an event other than the time event. */
static unsigned event_metric(unsigned event)
{
  unsigned column = sampling_process.time_event < 0 ? 1 : METRIC_OTHERS;
  for (unsigned i = 0; i < event; i++)
    column += (int)i != sampling_process.time_event;
  return column;
}

/* Samples of threads that are idle or wait for a lock charge nothing to their own context: the blame goes to the lock's
 * holder (that of POSIX locks without samples: lock_waiters.h), and idleness to the working threads.  Returns whether
 * the thread waits. */
static bool charge_waiting(struct thread_state *t, const struct blame *share)
{
  struct format_thread *record = t->record;
  if (t->activity.lockwait) {
    record->samples_lockwait++;
    record->lockwait_sampled_ns += share->time_ns;
    if (!waiting_for_posix(t) && !blame_wait(t->wait_id, waiting_lock_key(t), share))
      rt_lost(t, FORMAT_LOST_BLAME);
  } else if (t->activity.idle) {
    record->samples_idle++;
    record->idle_sampled_ns += share->time_ns;
    record->spun_ns += t->activity.openmp && !sampling_process.wall && blame_any_ready(t) ? share->time_ns : 0;
  }
  return t->activity.lockwait || t->activity.idle;
}

/* Adds what the devices did during a sample, each as the threads do: a device that is idle waits for what works, or
 * polls.  Where the host is the device, what works may be the device. */
static void charge_devices(struct thread_state *t, uint32_t node, const struct blame *blame)
{
  bool works = blame_works(t->activity);
  uint64_t share_ns = 0; /* the same for all devices */
  const struct table *devices = devices_table();
  uint32_t count = __atomic_load_n(&devices->count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    struct format_device *device = table_at(devices, i);
    bool busy = __atomic_load_n(&device->open, __ATOMIC_RELAXED) != 0;
    if (busy && works && !(device->flags & FORMAT_DEVICE_ON_HOST)) {
      share_ns = share_ns ? share_ns : blame_work_share(t, blame->time_ns);
      __atomic_fetch_add(&device->beside_ns, share_ns, __ATOMIC_RELAXED);
    } else if (!busy && __atomic_load_n(&device->first, __ATOMIC_RELAXED)) {
      waiting_share(t, node, waiting_device_key(device->number), blame->per_busy_ns);
    }
  }
}

/* Adds what other threads waited during a sample, or a sleep. */
static void charge_idleness(struct thread_state *t, uint32_t node, const struct blame *blame)
{
  cct_add(t, node, METRIC_PER_BUSY, blame->per_busy_ns);
  cct_add(t, node, METRIC_IN_USE, blame->in_use_ns);
  t->record->per_busy_ns += blame->per_busy_ns;
  t->record->in_use_ns += blame->in_use_ns;
  for (unsigned i = 0; i < BLAME_SITES && blame->waits[i].ns; i++)
    waiting_share(t, node, blame->waits[i].key, blame->waits[i].ns);
  charge_devices(t, node, blame);
}

/* Charges all columns of a sample in one place.  Returns false if there is no memory for the first one: the sample is
 * lost. */
static bool charge_time(struct thread_state *t, uint32_t node, unsigned column, const struct blame *blame)
{
  if (node == CCT_NONE || !cct_add(t, node, METRIC_SAMPLES, blame->samples))
    return false;
  cct_add(t, node, column, blame->time_ns);
  charge_idleness(t, node, blame);
  return true;
}

/* Charges blame that was taken from a lock to the context that releases the lock. */
static void charge_blame(struct thread_state *t, uint32_t node, const struct blame *blame)
{
  if (node != CCT_NONE)
    sample_trace_charge(t, node, blame);
  if (!charge_time(t, node, METRIC_LOCKWAIT, blame))
    rt_lost(t, FORMAT_LOST_MEMORY);
}

/* A sample of the event that drives the categories, or of the first one if none measures time. */
static void put_trace(struct thread_state *t, unsigned event, enum tracelog_sample_kind kind, uint32_t node,
                      uint64_t weight)
{
  if (!trace_of(t)->on)
    return;
  if (counts_of(t)->on)
    trace_counts_put(t, counts_of(t)->own_since, true);
  sample_trace_put(t, kind, node == CCT_NONE ? 0 : node, weight,
                   __atomic_load_n(&sampling_process.events[event].period, __ATOMIC_RELAXED));
}

/* Adds what the thread, with these totals now, has counted since the last sample. */
static void charge_counts(struct thread_state *t, uint32_t node, const uint64_t *totals)
{
  uint64_t counted[COUNTERS_MAX];
  counts_sampled(t, totals, counted);
  for (unsigned i = 0; i < counts_process.count; i++)
    if (counted[i] && !cct_add(t, node, sampling_process.count_metric + i, counted[i]))
      rt_lost(t, FORMAT_LOST_MEMORY);
}

void sample_charge_open_counts(struct thread_state *t, const uint64_t *totals)
{
  if (t != rt_self && __atomic_load_n(&t->inside, __ATOMIC_ACQUIRE))
    return;
  charge_counts(t, construct_open_node(t), totals);
  /* In parts of the run, the root has what follows the last sample. */
  cct_add(t, CCT_ROOT, sampling_process.count_metric, 0);
}

/* Charges a sample of an event other than the time event.  counted: there is no time event, so the sample itself is
 * counted, too. */
static bool charge_event(struct thread_state *t, uint32_t node, unsigned event, uint64_t weight, bool counted)
{
  return node != CCT_NONE && cct_add(t, node, event_metric(event), weight) &&
         (!counted || cct_add(t, node, METRIC_SAMPLES, 1));
}

/* Is it one of the runtime's hidden helpers, without a task of the program, or about to become one? */
static bool helper_waits(const struct thread_state *t)
{
  return !t->activity.openmp && (t->helper || t->maker == RT_MADE_BY_HELPERS);
}

/* What such a thread has cost meanwhile counts outside all contexts, as time of waiting threads does. */
static void charge_helper(struct thread_state *t)
{
  uint32_t node = construct_open_node(t);
  kernel_usage_charge(t, node);
  if (counts_of(t)->on)
    charge_counts(t, node, counts_of(t)->own_since);
}

/* A sample in a call of MPI, which is charged to the call, and is no work.  share: of the time event; NULL: of another
 * one.  counted: the sample itself is counted. */
static void charge_mpi(struct thread_state *t, unsigned event, uint64_t weight, const struct blame *share, bool counted)
{
  uint32_t node = mpi_calls_node(t);
  if (counted) {
    put_trace(t, event, TRACELOG_WORKS, node, weight);
    kernel_usage_charge(t, node);
    t->record->samples++;
    mpi_calls_sampled(t, share ? share->time_ns : 0);
  }
  if (counted && counts_of(t)->on)
    charge_counts(t, node, counts_of(t)->own_since);
  if (share) {
    call_sleep_sampled(t, node);
    charge_idleness(t, node, share);
  } else if (!charge_event(t, node, event, weight, false)) {
    rt_lost(t, FORMAT_LOST_MEMORY);
  }
  if (region_wanted(t))
    context_publish_open(t);
}

/* A sample while the thread waits for a device, which is no work.  share, counted: as above. */
static void charge_device_wait(struct thread_state *t, unsigned event, uint64_t weight, const struct blame *share,
                               bool counted, uint32_t node)
{
  uint32_t known = node == CCT_NONE ? construct_open_node(t) : node;
  if (counted) {
    put_trace(t, event, TRACELOG_IDLE, counts_of(t)->on ? known : CCT_NONE, weight);
    kernel_usage_charge(t, known);
    t->record->samples++;
    device_waits_sampled(t, share ? share->time_ns : 0);
  }
  if (counted && counts_of(t)->on)
    charge_counts(t, known, counts_of(t)->own_since);
  if (share) {
    call_sleep_sampled(t, known);
    charge_idleness(t, known, share);
  } else if (!charge_event(t, known, event, weight, false)) {
    rt_lost(t, FORMAT_LOST_MEMORY);
  }
}

/* Charges one sample to the interrupted context.  A sample of the time event is also added to the running fragment. */
static void charge(struct thread_state *t, unsigned event, uint64_t weight, const ucontext_t *context)
{
  struct counts_state *counts = counts_of(t);
  bool timed = (int)event == sampling_process.time_event, overhead;
  bool counted = timed || (sampling_process.time_event < 0 && event == 0);
  struct blame share = {.samples = 1};
  if (timed) {
    blame_check(t, machine_ip_of(machine_registers(context)));
    share = blame_share(t, weight);
  }
  if (timed && charge_waiting(t, &share)) {
    t->record->samples++;
    uint32_t node = construct_open_node(t); /* of what was counted */
    enum tracelog_sample_kind kind = t->activity.lockwait ? TRACELOG_LOCKWAIT : TRACELOG_IDLE;
    put_trace(t, event, kind, counts->on ? node : CCT_NONE, weight);
    kernel_usage_charge(t, node);
    call_sleep_sampled(t, node);
    if (counts->on)
      charge_counts(t, node, counts->own_since);
    if (region_wanted(t)) /* other threads wait for the creation contexts of our regions */
      context_publish_open(t);
    return;
  }
  region_resolve(t);
  mpi_calls_left(t, machine_sp_of(machine_registers(context)), true);
  if (mpi_calls_in(t)) {
    charge_mpi(t, event, weight, timed ? &share : NULL, counted);
    return;
  }
  uint32_t node = context_interrupted(t, machine_registers(context), &overhead);
  if (device_waits_in(t)) {
    charge_device_wait(t, event, weight, timed ? &share : NULL, counted, node);
    return;
  }
  if (counted)
    put_trace(t, event, overhead ? TRACELOG_OVERHEAD : TRACELOG_WORKS, node, weight);
  if (timed && span_process.online && node != CCT_NONE)
    span_sample(t, node, weight);
  uint32_t known = node == CCT_NONE ? construct_open_node(t) : node;
  if (counted)
    kernel_usage_charge(t, known);
  if (timed)
    call_sleep_sampled(t, known);
  if (counted && counts->on)
    charge_counts(t, known, counts->own_since);
  bool kept;
  if (timed)
    kept = charge_time(t, node, overhead ? METRIC_OVERHEAD : METRIC_WORK, &share);
  else
    kept = charge_event(t, node, event, weight, counted);
  if (kept)
    t->record->samples += counted;
  else
    rt_lost(t, FORMAT_LOST_MEMORY);
}

void sample_charge_device_sleep(struct thread_state *t)
{
  if (sampling_process.time_event < 0 || sampling_process.wall || t->inside)
    return;
  rt_inside_inc(t);
  uint64_t ns = rt_stopped() || rt_paused() ? 0 : call_sleep_part(t, device_waits_slept(t));
  if (ns) {
    uint32_t node = context_met(t);
    struct blame share = blame_slept(t, ns);
    charge_idleness(t, node == CCT_NONE ? CCT_ROOT : node, &share);
  }
  rt_inside_dec(t);
}

/* The sample fell into the tool's own code, or was throttled: counts it, and its time as tool time. */
static void count_in_tool(struct thread_state *t, const struct source *source, uint64_t weight)
{
  t->record->lost[FORMAT_LOST_IN_TOOL]++;
  if ((int)source->event == sampling_process.time_event)
    t->record->tool_ns += weight;
  if ((int)source->event == sampling_process.time_event && (t->activity.idle || t->activity.lockwait))
    waiting_in_tool(t, weight);
}

void sample_end(struct thread_state *t, uint64_t cpu_ns)
{
  for (unsigned i = 0; i < sampling_process.event_count; i++) {
    struct source *source = &sampling_of(t)->sources[i];
    uint64_t unsampled = source_throttled_ns(source, cpu_ns);
    if (unsampled > source->period && !rt_paused())
      count_in_tool(t, source, unsampled);
    source->throttled_until = 0; /* this function may be called again at the end of the process */
  }
  core_limits_thread(t);
  call_sleep_end(t);
}

static bool wants_publication(const siginfo_t *info)
{
  return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &source_request_publication;
}

/* Is it in the tool's own code, where that is not inside: at the entry of a callback, for example? */
static bool in_own_code(struct thread_state *t, const ucontext_t *context)
{
  uint32_t index;
  const struct format_module *module = modules_find(t, machine_ip_of(machine_registers(context)), &index);
  return module && module->flags & FORMAT_MODULE_TOOL;
}

/* Measuring is paused or goes on at this moment, whatever the thread does. */
static bool pass_window(struct thread_state *t)
{
  int saved_errno = errno;
  bool entered = t && rt_enter(t);
  if (entered && span_process.online && span_of(t)->end_slot && !rt_stopped() && !rt_graph_suspended())
    span_window(t);
  else
    time_filter_pass();
  if (entered)
    rt_leave(t);
  errno = saved_errno;
  return true;
}

/* What a sample stands for, without the time in which measuring was paused.  One of CPU time or of a count counts as a
 * whole, or not at all if it is paused now: it stands for little time.  That of a thread that slept may stand for much,
 * and may come before the signal of a timer that was held back, too. */
static uint64_t measured_weight(const struct source *source, uint64_t weight) __attribute__((noinline));
static uint64_t measured_weight(const struct source *source, uint64_t weight)
{
  enum { SCALE = 1 << 20 };
  if (sampling_process.events[source->event].clock != EVENT_WALL_TIME)
    return rt_paused() ? 0 : weight;
  if (atomic_load_explicit(&rt.paused_by, memory_order_relaxed) & RT_PAUSED_TIME_FILTER)
    time_filter_pass();
  uint64_t now = rt_ticks(), ticks = rt_scale(weight, SCALE, rt_ticks_to_ns(SCALE));
  return ticks < now ? rt_scale(weight, rt_measured(now - ticks, now), ticks) : weight;
}

/* Records of a wait or call are read at its end, where they can be divided, unless there would be too many. */
static void read_switches(struct thread_state *t)
{
  uint64_t unread = switches_unread(t);
  bool outside = !t->activity.idle && !t->activity.lockwait && !t->activity.call;
  if (!unread)
    return;
  if (outside)
    call_sleep_read(t);
  else if (unread > SWITCHES_MANY && mpi_calls_in(t))
    mpi_calls_read_switches(t);
  else if (unread > SWITCHES_MANY)
    waiting_read_switches(t);
  switches_limit(t);
}

/* Weighs a sample and charges it.  entered: it has not interrupted the tool.  If it has, and the thread had no core
 * for a part of the time, all of that goes to the next sample. */
static void take(struct thread_state *t, struct source *source, bool entered, void *context)
{
  bool own = !entered || in_own_code(t, context);
  if (own && source_missed_core(source))
    return;
  uint64_t began = rt_ticks(), weight = source_weight(t, source, entered), weighed = rt_ticks();
  if (__builtin_expect(rt_ever_paused(), 0) && !(weight = measured_weight(source, weight)))
    return; /* weighed, so that the time until now does not count later; then dropped */
  if (!entered) {
    count_in_tool(t, source, weight);
    return;
  }
  counts_own_begin(t);
  kernel_usage_sample_begin(t);
  arena_create_live_file(); /* at the first sample: see core/arena.h */
  if (own) {
    count_in_tool(t, source, weight);
  } else {
    read_switches(t);
    if (helper_waits(t))
      charge_helper(t);
    else
      charge(t, source->event, weight, context);
  }
  times_refresh(t);
  core_limits_sample(t);
  uint64_t elapsed_ns = rt_ticks_to_ns(rt_ticks() - weighed);
  kernel_usage_sample_end(t, elapsed_ns);
  source_sample_taken(t, source, began, elapsed_ns);
  counts_own_end(t);
}

bool sample_signal(const siginfo_t *info, void *context)
{
  struct thread_state *t = rt_thread();
  if (__builtin_expect(time_filter_signal(info), 0))
    return pass_window(t);
  if (!t)
    return false;
  bool publish = wants_publication(info);
  struct source *source = publish ? NULL : source_of(t, info);
  if (!source && !publish)
    return false;
  int saved_errno = errno;
  bool entered = rt_enter(t); /* before `closed` is tested: CTL sets it, waits for threads that are inside, and then
                                 takes the source away */
  if (!publish && !rt_stopped() && !source_too_early(source)) {
    take(t, source, entered, context);
  } else if (publish && entered) {
    counts_own_begin(t);
    context_publish_open(t);
    counts_own_end(t);
  }
  if (entered)
    rt_leave(t);
  errno = saved_errno;
  return true;
}

void sample_take_blame(struct thread_state *t, uint64_t wait_id)
{
  rt_inside_inc(t);
  if (!rt_stopped() && !sampling_of(t)->released.samples)
    sampling_of(t)->released = blame_take(wait_id);
  rt_inside_dec(t);
}

void sample_charge_released(struct thread_state *t, uint64_t wait_id, enum format_lock_kind kind)
{
  rt_inside_inc(t);
  if (!rt_stopped()) {
    uint32_t node = context_met(t);
    charge_blame(t, node, &sampling_of(t)->released);
    lock_table_released(t, wait_id, kind, sampling_of(t)->released.time_ns, node == CCT_NONE ? 0 : node);
    sampling_of(t)->released.samples = 0;
  }
  rt_inside_dec(t);
}
