#include "hpcrun-lite/rt/region_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/core/ctl_calls.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/task_creation.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/unloaded_code.h"

/* Has the worker's last region ended?  Some runtimes announce that it leaves the region only when it enters the next
 * one. */
static bool parked(const struct thread_state *worker)
{
  uint64_t base = __atomic_load_n(&sampling_of(worker)->base_region, __ATOMIC_RELAXED);
  bool left = !base || (__atomic_load_n(&worker->activity.idle, __ATOMIC_RELAXED) && !region_open(base));
  bool busy = worker->helper && !__atomic_load_n(&worker->activity.call, __ATOMIC_RELAXED);
  return (worker->worker || worker->helper) && !busy && left &&
         !__atomic_load_n(&span_of(worker)->open_region, __ATOMIC_RELAXED);
}

/* Is the thread the initial one, between its regions, and no other thread of the OpenMP runtime does anything? */
static bool alone(const struct thread_state *t)
{
  if (t->tid != rt.pid || sampling_of(t)->region_depth || sampling_of(t)->unrecorded_regions || t->inside)
    return false;
  for (uint32_t i = 0; i < live_threads(); i++) {
    const struct thread_state *other = live_thread(i);
    if (other && other != t && __atomic_load_n(&other->activity.openmp, __ATOMIC_ACQUIRE) && !parked(other))
      return false;
  }
  return true;
}

/* CTL wants to read the graph: it may, where a region begins while the process is single-threaded. */
static __attribute__((noinline, cold)) void offer_serial_moment(const struct thread_state *t)
{
  if (alone(t))
    serial_moment();
}

void region_events_begin(struct thread_state *t, const ompt_frame_t *frame, ompt_data_t *parallel_data,
                         const ompt_data_t *task_data, int flags, const void *codeptr)
{
  lock_events_before_other(t);
  if (__builtin_expect(atomic_load_explicit(&control_process.serial_wanted, memory_order_relaxed), 0))
    offer_serial_moment(t);
  unloaded_code_check(t);
  rt_inside_inc(t);
  uint64_t moment = span_process.online ? work_clock_value(t) : 0, enter_frame = frame ? frame->enter_frame.value : 0;
  uint64_t around = codeptr ? 0 : region_current(t);
  measured_of(t)->repeated = around; /* in a league */
  codeptr = code_of_region(t, codeptr, enter_frame);
  uint32_t node = CCT_NONE, filtered = 0;
  if (atomic_load_explicit(&sampling_process.known_contexts, memory_order_relaxed))
    node = task_creation_node(t, task_creation_known(task_data), enter_frame, (uint64_t)codeptr, &filtered);
  uint64_t delay = waiting_region_begin(t), handle = region_begin(t, enter_frame);
  if (handle)
    region_set_code(t, codeptr);
  if (handle && node != CCT_NONE)
    region_publish_final(region_innermost(t), node, filtered);
  sampling_of(t)->unrecorded_regions += handle == 0;
  uint64_t forked = rt_ticks();
  if (handle && (span_process.online || sampling_of(t)->switches.ring))
    region_note_begin(handle, (struct region_beginning){forked, delay});
  if (sampling_of(t)->region_depth++ == 0 && !sampling_of(t)->base_region)
    sampling_of(t)->region_since = forked;
  if (parallel_data)
    parallel_data->value = handle ? handle : REGION_NO_RECORD;
  measured_of(t)->forking = handle != 0;
  t->record->regions++;
  if (handle && graph_enter(t)) {
    explicit_task_publish(t);
    bool again = around && span_entry(around).kind == FORMAT_DIRECTIVE_TEAMS; /* what it does is the league's */
    flags |= again ? ompt_parallel_league : 0;
    span_parallel_begin(t, graph_creator_of(t, task_data), handle, flags, codeptr, moment, forked);
    construct_events_region_begin(t, handle, flags & ompt_parallel_league, again, forked);
    graph_leave(t);
  }
  rt_inside_dec(t);
}

void region_events_end(struct thread_state *t)
{
  lock_events_before_other(t);
  if (!sampling_of(t)->region_depth)
    return;
  measured_of(t)->forking = false;
  uint64_t now = rt_ticks();
  if (--sampling_of(t)->region_depth == 0 && !sampling_of(t)->base_region)
    sampling_of(t)->region_ticks += rt_measured_between(sampling_of(t)->region_since, now);
  uint64_t late = waiting_region_end(t);
  if (sampling_of(t)->unrecorded_regions) {
    sampling_of(t)->unrecorded_regions--;
    return;
  }
  rt_inside_inc(t);
  if (span_of(t)->open_region)
    blame_in_use(1 - (int)region_innermost(t)->team);
  if (graph_enter(t)) {
    span_parallel_end(t, region_current(t), now);
    construct_events_region_end(t, now);
    graph_leave(t);
  }
  region_note_end(t, sampling_of(t)->barrier_left, now, late);
  struct format_region *unresolved = region_end(t);
  if (unresolved) {
    if (!rt_stopped())
      context_publish(t, unresolved);
    region_close(t);
  }
  rt_inside_dec(t);
}

/* The team of the master's innermost region has that many threads; they are in use. */
static void set_team(struct thread_state *t, uint32_t threads)
{
  struct format_region *region = region_innermost(t);
  if (!region || !threads)
    return;
  blame_in_use((int)threads - (int)region->team);
  region->team = threads;
}

/* A thread that enters a region of another master has its own stack there: its contexts begin in that region.  The
 * region's record is not read here, because its cache line belongs to the master. */
void region_events_implicit_begin(struct thread_state *t, const ompt_data_t *parallel_data, ompt_data_t *task_data,
                                  unsigned team_size, unsigned index, int flags)
{
  lock_events_before_other(t);
  unloaded_code_check(t);
  uint64_t handle = parallel_data && parallel_data->value ? parallel_data->value : REGION_NO_RECORD;
  uint32_t outer = 0;
  /* libomp names region and task around a serialised one in a league */
  if (measured_of(t)->forking && handle != region_current(t)) {
    handle = region_current(t);
    outer = graph_task_of(t, task_data);
  }
  measured_of(t)->forking = false;
  measured_of(t)->cancelled = 0;
  if (task_data)
    task_data->value = 0;
  bool initial = flags & ompt_task_initial && handle == REGION_NO_RECORD; /* of the program, not of a league */
  bool own = initial || (index == 0 && (handle == REGION_NO_RECORD || span_of(t)->open_region == (uint32_t)handle));
  if (!own)
    __atomic_store_n(&sampling_of(t)->base_region, handle, __ATOMIC_RELAXED);
  else if (!initial && handle != REGION_NO_RECORD)
    set_team(t, flags & OMPT_ONE_THREAD || measured_of(t)->repeated ? 1 : team_size);
  uint64_t now = waiting_unpark(t);
  if (!task_data || !graph_enter(t))
    return;
  if (!initial && handle != REGION_NO_RECORD)
    span_team_size(handle, team_size); /* by the first thread */
  span_of(t)->log.number = initial ? 0 : index + 1;
  uint32_t task = span_implicit_begin(t, handle == REGION_NO_RECORD ? 0 : handle, outer, now);
  task_data->value = rt_task_word(task);
  construct_events_implicit_begin(t, initial || handle == REGION_NO_RECORD ? 0 : handle, own, task_data, now);
  graph_leave(t);
}

void region_events_implicit_end(struct thread_state *t, ompt_data_t *task_data)
{
  lock_events_before_other(t);
  if (task_data && graph_enter(t)) {
    construct_events_implicit_end(t, span_of(t)->open_region);
    uint32_t outer = span_implicit_end(t, graph_task_of(t, task_data));
    task_data->value = outer ? rt_task_word(outer) : 0;
    graph_leave(t);
  }
  if (!span_of(t)->open_region) {
    __atomic_store_n(&sampling_of(t)->base_region, 0, __ATOMIC_RELAXED);
    if (t->worker)
      waiting_park(t); /* until its next region; in a region with pending tasks its wait has just ended */
  }
}

/* libomp of a plugin that was loaded with RTLD_DEEPBIND creates its threads by calls that the tool does not see. */
static void create_live_file(struct thread_state *t)
{
  if (!rt_enter(t))
    return;
  if (!rt_stopped())
    arena_create_live_file();
  rt_leave(t);
}

void region_events_thread_begin(struct thread_state *t, bool worker)
{
  if (!worker)
    create_live_file(t);
  blame_openmp_begin(t, worker);
  if (worker)
    waiting_park(t); /* until it takes part in a region */
}

void region_events_thread_end(struct thread_state *t)
{
  waiting_unpark(t);
  waiting_lock_end(t);
  __atomic_store_n(&sampling_of(t)->base_region, 0, __ATOMIC_RELAXED);
  blame_openmp_end(t);
}
