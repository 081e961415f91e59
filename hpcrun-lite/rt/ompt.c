#include "hpcrun-lite/rt/ompt.h"

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/core/arena.h"
#include "hpcrun-lite/rt/core/control_calls.h"
#include "hpcrun-lite/rt/marks/marks.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/span/span.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/span/worksharing.h"
#include "hpcrun-lite/rt/sampling/task_creation.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/span/work_clock.h"

/* What a thread does follows from the task that it runs: the task's data word says whether the task waits.  A task that
 * is scheduled during a wait makes the thread busy until the waiting task continues. */

/* The calling thread's state, if the OpenMP runtime has announced the thread. */
static struct thread_state *self(void)
{
  struct thread_state *t = rt_thread();
  return t && t->activity.openmp ? t : NULL;
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

void ompt_on_thread_begin(int type, ompt_data_t *thread_data)
{
  (void)thread_data;
  if (!rt_thread())
    threads_adopt();
  struct thread_state *t = rt_thread();
  if (!t)
    return;
  if (type != ompt_thread_worker)
    create_live_file(t);
  blame_openmp_begin(t, type == ompt_thread_worker);
  if (type == ompt_thread_worker)
    waiting_park(t); /* until it takes part in a region */
}

void ompt_on_thread_end(ompt_data_t *thread_data)
{
  (void)thread_data;
  struct thread_state *t = self();
  if (!t)
    return;
  waiting_unpark(t);
  waiting_lock_end(t);
  __atomic_store_n(&sampling_of(t)->base_region, 0, __ATOMIC_RELAXED);
  blame_openmp_end(t);
}

/* CTL reads the graph for a moment while the process goes on: the callback of a thread that leaves its last region just
 * then waits for that, for a bounded time; what it gives up is counted as a loss.  Ends like graph_enter(). */
static __attribute__((noinline)) bool enter_after_flush(struct thread_state *t)
{
  if (!atomic_load(&rt.flushing))
    return false;
  rt_await_flush();
  rt_inside_inc(t);
  if (!atomic_load(&rt.graph_suspended))
    return true;
  rt_inside_dec(t);
  if (atomic_load(&rt.flushing))
    rt_lost(t, FORMAT_LOST_GRAPH);
  return false;
}

/* Begins to use the graph.  Returns false if the graph is off or suspended: CTL reads the threads' tables once they are
 * not inside.  Otherwise the caller ends with rt_inside_dec(). */
static bool graph_enter(struct thread_state *t)
{
  if (!rt.online || !span_of(t)->end_slot)
    return false;
  rt_inside_inc(t);
  if (!atomic_load_explicit(&rt.graph_suspended, memory_order_relaxed))
    return true;
  rt_inside_dec(t);
  return enter_after_flush(t);
}

/* The index of the current task, from its data word; a new task is the one that the thread runs. */
static uint32_t task_of(const struct thread_state *t, const ompt_data_t *data)
{
  if (!rt.online || !data)
    return 0;
  return data->value & RT_TASK_NEW ? span_of(t)->task : rt_task_index(data->value);
}

/* The same for the task that creates a region or task.  A task that a forked child has inherited has no index; then it
 * is the task that the thread has begun. */
static uint32_t creator_of(const struct thread_state *t, const ompt_data_t *data)
{
  uint32_t task = task_of(t, data);
  return task ? task : span_of(t)->task;
}

/* Where the program creates a task.  A task of a taskloop gets the address of that (span/explicit_task.c). */
static const void *task_address(struct thread_state *t, const ompt_data_t *creator, const void *code)
{
  struct span_thread *span = span_of(t);
  code = code_past_wrapper(t, code);
  if (!code_in_runtime(code) || !graph_enter(t))
    return code_after_jump(code);
  bool of_taskloop =
      span->running && (creator_of(t, creator) != span->task || directive_taskloop(span->running->scope.row));
  if (!of_taskloop)
    code = code_of_caller(t, creator, code,
                          span->running && explicit_task_code(span->running) ? NULL : code_of_directive(t));
  rt_inside_dec(t);
  return code;
}

/* Has the worker's last region ended?  Some runtimes announce that it leaves the region only when it enters the next
 * one. */
static bool parked(const struct thread_state *worker)
{
  uint64_t base = __atomic_load_n(&sampling_of(worker)->base_region, __ATOMIC_ACQUIRE);
  bool left = !base || (worker->activity.idle && !region_open(base));
  return worker->worker && left && !__atomic_load_n(&span_of(worker)->open_region, __ATOMIC_ACQUIRE);
}

/* Is the thread the initial one, between its regions, and no other thread of the OpenMP runtime does anything? */
static bool alone(const struct thread_state *t)
{
  if (t->tid != rt.pid || sampling_of(t)->region_depth || sampling_of(t)->unrecorded_regions || t->inside)
    return false;
  for (uint32_t i = 0; i < blame_threads(); i++) {
    const struct thread_state *other = blame_thread(i);
    if (other && other != t && other->activity.openmp && !parked(other))
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

void ompt_on_parallel_begin(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *parallel_data,
                            unsigned requested, int flags, const void *codeptr)
{
  (void)requested;
  struct thread_state *t = self();
  if (!t)
    return;
  if (__builtin_expect(atomic_load_explicit(&rt.serial_wanted, memory_order_relaxed), 0))
    offer_serial_moment(t);
  rt_inside_inc(t);
  uint64_t moment = rt.online ? work_clock_moment(t) : 0, enter_frame = frame ? frame->enter_frame.value : 0;
  codeptr = code_of_region(t, codeptr, enter_frame);
  uint32_t place = CCT_NONE, filtered = 0;
  if (atomic_load_explicit(&rt.known_places, memory_order_relaxed) && !rt_stopped())
    place = task_creation_node(t, task_creation_known(task_data), enter_frame, (uint64_t)codeptr, &filtered);
  uint64_t handle = region_begin(t, enter_frame);
  if (handle)
    region_set_code(t, codeptr);
  if (handle && place != CCT_NONE)
    region_publish(t, region_innermost(t), place, filtered);
  sampling_of(t)->unrecorded_regions += handle == 0;
  uint64_t forked = rt_ticks();
  if (sampling_of(t)->region_depth++ == 0 && !sampling_of(t)->base_region)
    sampling_of(t)->region_since = forked;
  parallel_data->value = handle ? handle : REGION_NO_RECORD;
  measured_of(t)->forking = handle != 0;
  t->record->regions++;
  if (handle && graph_enter(t)) {
    explicit_task_publish(t);
    span_parallel_begin(t, creator_of(t, task_data), handle, flags, codeptr, moment, forked);
    construct_events_region_begin(t, handle, flags & ompt_parallel_league, forked);
    rt_inside_dec(t);
  }
  rt_inside_dec(t);
}

void ompt_on_parallel_end(ompt_data_t *parallel_data, ompt_data_t *task_data, int flags, const void *codeptr)
{
  (void)parallel_data, (void)task_data, (void)flags, (void)codeptr;
  struct thread_state *t = self();
  if (!t || !sampling_of(t)->region_depth)
    return;
  measured_of(t)->forking = false;
  uint64_t now = rt_ticks();
  if (--sampling_of(t)->region_depth == 0 && !sampling_of(t)->base_region)
    sampling_of(t)->region_ticks += rt_measured_between(sampling_of(t)->region_since, now);
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
    rt_inside_dec(t);
  }
  region_note_end(t, sampling_of(t)->barrier_left, now);
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
void ompt_on_implicit_task(int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, unsigned team_size,
                           unsigned index, int flags)
{
  struct thread_state *t = self();
  if (!t)
    return;
  if (endpoint == ompt_scope_end) {
    if (task_data && graph_enter(t)) {
      construct_events_implicit_end(t, span_of(t)->open_region);
      uint32_t outer = span_implicit_end(t, task_of(t, task_data));
      task_data->value = outer ? rt_task_word(outer) : 0;
      rt_inside_dec(t);
    }
    if (!span_of(t)->open_region) {
      __atomic_store_n(&sampling_of(t)->base_region, 0, __ATOMIC_RELAXED);
      if (t->worker)
        waiting_park(t); /* until its next region; in a region with pending tasks its wait has just ended */
    }
    return;
  }
  uint64_t handle = parallel_data && parallel_data->value ? parallel_data->value : REGION_NO_RECORD;
  uint32_t outer = 0;
  /* libomp names region and task around a serialised one in a league */
  if (measured_of(t)->forking && handle != region_current(t)) {
    handle = region_current(t);
    outer = task_of(t, task_data);
  }
  measured_of(t)->forking = false;
  if (task_data)
    task_data->value = 0;
  bool initial = flags & ompt_task_initial && handle == REGION_NO_RECORD; /* of the program, not of a league */
  bool own = initial || (index == 0 && (handle == REGION_NO_RECORD || span_of(t)->open_region == (uint32_t)handle));
  if (!own)
    __atomic_store_n(&sampling_of(t)->base_region, handle, __ATOMIC_RELAXED);
  else if (!initial && handle != REGION_NO_RECORD)
    set_team(t, flags & OMPT_ONE_THREAD ? 1 : team_size);
  uint64_t now = waiting_unpark(t);
  if (!task_data || !graph_enter(t))
    return;
  if (!initial && handle != REGION_NO_RECORD)
    span_team_size(handle, team_size); /* by the first thread */
  span_of(t)->log.number = initial ? 0 : index + 1;
  uint32_t task = span_implicit_begin(t, handle == REGION_NO_RECORD ? 0 : handle, outer, now);
  task_data->value = rt_task_word(task);
  construct_events_implicit_begin(t, initial || handle == REGION_NO_RECORD ? 0 : handle, own, task_data, now);
  rt_inside_dec(t);
}

/* The current task's data word.  At the end of a taskgroup libomp (14 to 19) passes a copy of it. */
static ompt_data_t *current_data(ompt_data_t *otherwise)
{
  enum { LOWEST_POINTER = 65536 };
  int flags;
  ompt_data_t *data = NULL;
  ompt_frame_t *frame = NULL;
  return rt_task_info(0, &flags, &data, &frame) && (uint64_t)data >= LOWEST_POINTER ? data : otherwise;
}

/* The open creation has ended: its time goes from the construct around it to that of its tasks. */
static void creation_end(struct thread_state *t)
{
  struct creation_time *creation = &span_of(t)->log.creation;
  uint64_t moment = rt_ticks();
  graph_log_creation_end(t, moment);
  construct_creation(t, creation->directive, creation->timed, creation->sum, moment);
  creation->timed = creation->sum = 0;
}

/* The same for an undeferred task, which begins. */
static __attribute__((noinline)) void creation_end_undeferred(struct thread_state *t)
{
  struct creation_time *creation = &span_of(t)->log.undeferred;
  construct_creation(t, creation->directive, creation->timed, creation->sum, rt_ticks());
  creation->timed = 0;
}

/* The data word of a new task: names its batch (span/explicit_task.h) or, without a graph, its creation context. */
static uint64_t new_task_word(struct thread_state *t, const ompt_data_t *creator, const ompt_frame_t *frame,
                              const ompt_data_t *made, int flags, bool dependent, const void *codeptr)
{
  uint32_t creation_context = 0;
  uint64_t word = 0;
  if (rt.task_creation && !rt_stopped()) {
    rt_inside_inc(t);
    creation_context =
        task_creation_context(t, task_creation_known(creator), frame ? frame->enter_frame.value : 0, (uint64_t)codeptr);
    rt_inside_dec(t);
  }
  if (!rt.online)
    return rt_task_word(creation_context);
  if (graph_enter(t)) {
    explicit_task_publish(t);
    bool serial = flags & ompt_task_undeferred && frame && frame->enter_frame_flags == ompt_frame_serial;
    uint32_t row;
    word = explicit_task_create(t, creator_of(t, creator), flags, serial, codeptr, creation_context, &row);
    if (!(flags & ompt_task_taskwait))
      construct_events_task_created(t, made, row, flags, dependent);
    if (span_of(t)->log.creation.caller)
      span_of(t)->log.creation.directive = row;
    rt_inside_dec(t);
  }
  return word;
}

/* A taskwait with dependences appears as a task that is created and completes.  The data word of that task belongs to
 * the thread and has to stay 0, since taskwaits may nest. */
static void dependent_wait(struct thread_state *t, ompt_data_t *task_data, uint64_t word, const void *codeptr)
{
  task_data->value |= RT_TASK_WAITING;
  uint64_t moment = waiting_begin(t, FORMAT_WAIT_TASKS, codeptr);
  if (!graph_enter(t))
    return;
  ompt_data_t own = {.value = word};
  if (span_of(t)->running)
    span_of(t)->running->dependent_wait = explicit_task_index(t, &own);
  span_wait_begin(t, task_of(t, task_data), ompt_sync_region_taskwait, moment, codeptr);
  construct_events_wait_begin(t, ompt_sync_region_taskwait, codeptr, moment);
  rt_inside_dec(t);
}

/* Apart, so that the callback costs nothing where nobody asks for it. */
static __attribute__((noinline)) void task_create(ompt_data_t *task_data, const ompt_frame_t *frame,
                                                  ompt_data_t *new_data, int flags, bool dependent, const void *codeptr)
{
  struct thread_state *t = self();
  if (!t)
    return;
  codeptr = task_address(t, task_data, codeptr);
  uint64_t word =
      rt.task_creation || rt.online ? new_task_word(t, task_data, frame, new_data, flags, dependent, codeptr) : 0;
  if (flags & ompt_task_taskwait) {
    if (task_data)
      dependent_wait(t, task_data, word, codeptr);
  } else if (word) {
    new_data->value = word;
  }
}

void ompt_on_task_create(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *new_data, int flags,
                         int has_dependences, const void *codeptr)
{
  if (rt.online || rt.task_creation || flags & ompt_task_taskwait)
    task_create(task_data, frame, new_data, flags, has_dependences, codeptr);
}

struct creation_time ompt_creation_begin(const void *caller, uint64_t ticks)
{
  struct thread_state *t = self();
  struct creation_time outer = {0};
  if (!t)
    return outer;
  if (!graph_enter(t))
    return graph_log_creation_begin(t, caller, 0, 0);
  outer = graph_log_creation_begin(t, caller, span_of(t)->running ? span_of(t)->running->name : 0, ticks);
  rt_inside_dec(t);
  return outer;
}

void ompt_creation_undeferred(const void *caller, uint64_t ticks)
{
  struct thread_state *t = self();
  if (!t || !graph_enter(t))
    return;
  graph_log_creation_undeferred(t, caller, span_of(t)->running ? span_of(t)->running->name : 0, ticks);
  rt_inside_dec(t);
}

void ompt_creation_end(const struct creation_time *outer)
{
  struct thread_state *t = self();
  if (!t)
    return;
  if (graph_log_on() && graph_enter(t)) {
    creation_end(t);
    rt_inside_dec(t);
  }
  span_of(t)->log.creation = *outer;
}

/* The index of a task that need not be the current one. */
static uint32_t any_task_of(struct thread_state *t, ompt_data_t *data)
{
  if (!data)
    return 0;
  uint64_t word = __atomic_load_n(&data->value, __ATOMIC_ACQUIRE);
  if (!word && span_of(t)->running)
    return span_of(t)->running->dependent_wait;
  return word & RT_TASK_NEW ? explicit_task_index(t, data) : rt_task_index(word);
}

/* Updates the task graph. */
static __attribute__((noinline)) void graph_schedule(struct thread_state *t, ompt_data_t *prior, int status,
                                                     ompt_data_t *next, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  if (!graph_enter(t))
    return;
  moment = graph_moment(t, moment);
  /* Most tasks begin and end on one thread before another thread refers to them: the short forms (explicit_task.h). */
  if (status == ompt_task_complete && prior && prior == span->running_data && prior->value & RT_TASK_NEW) {
    explicit_task_end_new(t, next, moment);
    construct_events_task_end(t, next, moment);
    rt_inside_dec(t);
    return;
  }
  explicit_task_publish(t);
  if (status == ompt_task_switch && next && next->value & RT_TASK_NEW) {
    explicit_task_start_new(t, next, moment);
    if (span->log.undeferred.timed)
      creation_end_undeferred(t);
    construct_events_task_begin(t, prior, next, moment);
  } else {
    uint32_t from = any_task_of(t, prior), to = next ? explicit_task_begin(t, next) : 0;
    bool first = to && !(graph_task(to)->flags & TASK_STARTED);
    bool begun = from && graph_task(from)->flags & TASK_STARTED;
    struct construct_prior left = {prior, from, begun ? explicit_task_directive(rt_task_word(from)) : 0,
                                   begun ? graph_task(from)->ran : 0};
    span_task_schedule(t, from, status, to, moment);
    if (span->log.undeferred.timed)
      creation_end_undeferred(t);
    construct_events_schedule(t, left, status, next, first, moment);
  }
  rt_inside_dec(t);
}

/* A switch by which the thread turns idle or busy. */
static __attribute__((noinline)) void schedule_wait(struct thread_state *t, ompt_data_t *prior, int status,
                                                    ompt_data_t *next)
{
  uint64_t moment;
  if (status == ompt_taskwait_complete) {
    if ((next = current_data(NULL)))
      next->value &= ~(uint64_t)RT_TASK_WAITING;
    moment = waiting_end(t);
  } else {
    moment = waiting_task(t, next->value & RT_TASK_WAITING);
  }
  if (rt.online)
    graph_schedule(t, prior, status, next, moment);
  if (status == ompt_taskwait_complete && graph_enter(t)) {
    construct_events_wait_end(t, moment);
    rt_inside_dec(t);
  }
}

void ompt_on_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
  struct thread_state *t = self();
  if (!t)
    return;
  if (status == ompt_taskwait_complete || (next && t->activity.idle != (next->value & RT_TASK_WAITING)))
    schedule_wait(t, prior, status, next);
  else if (rt.online)
    graph_schedule(t, prior, status, next, 0);
}

void ompt_on_dependences(ompt_data_t *task_data, const ompt_dependence_t *dependences, int count)
{
  struct thread_state *t = self();
  if (!t || !graph_enter(t))
    return;
  worksharing_dependences(t, any_task_of(t, task_data), dependences, count);
  rt_inside_dec(t);
}

static enum format_wait_kind wait_kind(int kind)
{
  bool tasks = kind == ompt_sync_region_taskwait || kind == ompt_sync_region_taskgroup;
  bool end = kind == ompt_sync_region_barrier_implicit_parallel; /* libomp 14 to 16: also by its address */
  return tasks ? FORMAT_WAIT_TASKS : end ? FORMAT_WAIT_REGION_END : FORMAT_WAIT_BARRIER;
}

/* A thread that ends a critical section clears the address that libomp keeps for the initial thread, which may be just
 * entering a barrier.  Returns NULL where libomp has none: at the end of a region. */
static const void *cleared_address(struct thread_state *t, const ompt_data_t *task_data, int kind)
{
  bool named = kind == ompt_sync_region_barrier_explicit || kind == ompt_sync_region_barrier_implicit_workshare ||
               kind == ompt_sync_region_taskwait;
  if (!named || !span_of(t)->open_region)
    return NULL;
  rt_inside_inc(t);
  const void *found = code_of_caller(t, task_data, NULL, NULL);
  rt_inside_dec(t);
  return found;
}

void ompt_on_sync_region_wait(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                              const void *codeptr)
{
  struct thread_state *t = self();
  if (!t)
    return;
  codeptr = code_past_wrapper(t, codeptr);
  bool waits = endpoint == ompt_scope_begin;
  if (waits && span_of(t)->running_data && graph_enter(t)) {
    explicit_task_publish(t);
    rt_inside_dec(t);
  }
  if (kind == ompt_sync_region_taskgroup)
    task_data = current_data(task_data);
  if (waits && !codeptr)
    codeptr = cleared_address(t, task_data, kind);
  uint64_t moment;
  if (waits) {
    if (task_data)
      task_data->value |= RT_TASK_WAITING;
    moment = waiting_begin(t, wait_kind(kind), codeptr);
  } else {
    if (task_data)
      task_data->value &= ~(uint64_t)RT_TASK_WAITING;
    moment = waiting_end(t);
  }
  if (!graph_enter(t))
    return;
  if (waits) {
    codeptr = codeptr ? code_of_construct(t, task_data, codeptr) : NULL;
    span_wait_begin(t, task_of(t, task_data), kind, moment, codeptr);
    construct_events_wait_begin(t, kind, codeptr, moment);
  } else {
    span_wait_end(t, task_of(t, task_data), kind, parallel_data && parallel_data->value, moment);
    construct_events_wait_end(t, moment);
  }
  times_refresh_at(t, moment);
  rt_inside_dec(t);
}

void ompt_on_sync_region(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                         const void *codeptr)
{
  (void)parallel_data;
  struct thread_state *t = self();
  if (!t || kind != ompt_sync_region_taskgroup || !graph_enter(t))
    return;
  uint32_t row = 0;
  if (endpoint == ompt_scope_begin)
    row = span_taskgroup_begin(t, task_of(t, task_data), code_of_construct(t, task_data, codeptr));
  else
    span_taskgroup_end(t, task_of(t, task_data));
  construct_events_group(t, row, endpoint == ompt_scope_begin);
  rt_inside_dec(t);
}

/* ---- loops and their chunks ---- */

static inline void chunk_begin(struct thread_state *t, uint32_t task, int kind, uint64_t start, uint64_t iterations)
{
  worksharing_chunk(t, task, kind, start, iterations);
  construct_section(t);
  if (graph_log_on() && trace_of(t)->states)
    construct_chunk(t, rt_ticks());
}

void ompt_chunks_unknown(void)
{
  if (!(__atomic_load_n(&rt.unseen, __ATOMIC_RELAXED) & OMPT_UNSEEN_CHUNKS))
    __atomic_fetch_or(&rt.unseen, OMPT_UNSEEN_CHUNKS, __ATOMIC_RELAXED);
}

void ompt_loop_call(const void *caller, const void *lower, const void *upper, int64_t step, enum loop_bounds bounds)
{
  struct thread_state *t = self();
  if (t && rt.no_chunks)
    measured_of(t)->loop_call = (struct loop_call){caller, lower, upper, step, bounds};
}

/* The chunk from `lower` to `upper`, as libomp announces it from version 15 on.  Clang's code counts up by 1. */
static void ranged_chunk(struct thread_state *t, uint32_t task, int kind, uint64_t lower, uint64_t upper, int64_t step,
                         enum loop_bounds bounds)
{
  bool up = step > 0, above = bounds == LOOP_BOUNDS_8U ? upper > lower : (int64_t)upper > (int64_t)lower;
  uint64_t distance = up ? upper - lower : lower - upper, size = up ? (uint64_t)step : -(uint64_t)step;
  bool any = size && (above == up || !distance);
  uint64_t steps = size <= 1 ? distance : distance / size;
  chunk_begin(t, task, kind, up ? lower : upper, any ? steps + 1 : 0);
}

static uint64_t bound(const void *at, enum loop_bounds bounds)
{
  const int32_t *narrow = at;
  const uint64_t *wide = at;
  if (bounds == LOOP_BOUNDS_8 || bounds == LOOP_BOUNDS_8U)
    return *wide;
  return bounds == LOOP_BOUNDS_4 ? (uint64_t)*narrow : (uint32_t)*narrow;
}

/* The thread's part of a static loop, or of sections. */
static void only_chunk(struct thread_state *t, uint32_t task, int kind, const struct loop_call *call)
{
  if (kind == ompt_work_sections)
    chunk_begin(t, task, ompt_dispatch_section, 0, 0);
  else if (kind == ompt_work_distribute)
    chunk_begin(t, task, ompt_dispatch_distribute_chunk, 0, 0);
  else
    ranged_chunk(t, task, ompt_dispatch_ws_loop_chunk, bound(call->lower, call->bounds),
                 bound(call->upper, call->bounds), call->step, call->bounds);
}

static bool has_chunks(int kind)
{
  return kind == ompt_work_loop || kind == ompt_work_sections || kind == ompt_work_distribute ||
         kind >= ompt_work_loop_static;
}

/* Takes the call by which the program has entered the loop that begins; its caller is NULL if it is not known. */
static struct loop_call take_loop_call(struct thread_state *t, int kind)
{
  struct loop_call call = measured_of(t)->loop_call;
  bool taskloop = kind == ompt_work_taskloop && graph_log_on() && !span_of(t)->log.creation.caller;
  measured_of(t)->loop_call.caller = NULL;
  if (taskloop || (has_chunks(kind) && !call.caller))
    ompt_chunks_unknown();
  return has_chunks(kind) ? call : (struct loop_call){0};
}

void ompt_loop_chunk(uint64_t lower, uint64_t upper, int64_t step, enum loop_bounds bounds)
{
  struct thread_state *t = self();
  if (!t || !rt.no_chunks || !graph_enter(t))
    return;
  ranged_chunk(t, span_of(t)->task, ompt_dispatch_ws_loop_chunk, lower, upper, step, bounds);
  rt_inside_dec(t);
}

void ompt_taskloop_chunk(uint64_t lower, uint64_t upper, int64_t step)
{
  struct thread_state *t = self();
  if (!t || !rt.no_chunks || !graph_enter(t))
    return;
  if (span_of(t)->running &&
      !(span_of(t)->running->flags & TASK_SERIAL)) /* newer ones do not announce those of undeferred tasks */
    ranged_chunk(t, span_of(t)->task, ompt_dispatch_taskloop_chunk, lower, upper, step, LOOP_BOUNDS_8U);
  rt_inside_dec(t);
}

void ompt_distributed_loop(const void *caller)
{
  struct thread_state *t = self();
  if (!t || !rt.no_chunks)
    return;
  measured_of(t)->loop_call = (struct loop_call){.caller = caller};
  ompt_on_work(ompt_work_distribute, ompt_scope_begin, NULL, current_data(NULL), 0, caller);
  if (!graph_enter(t))
    return;
  chunk_begin(t, span_of(t)->task, ompt_dispatch_distribute_chunk, 0, 0);
  rt_inside_dec(t);
}

void ompt_on_work(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, uint64_t count,
                  const void *codeptr)
{
  (void)parallel_data;
  struct thread_state *t = self();
  struct loop_call call = {0};
  if (t && __builtin_expect(rt.no_chunks, 0) && endpoint == ompt_scope_begin)
    call = take_loop_call(t, kind);
  if (!t || !graph_enter(t))
    return;
  bool none = !codeptr && (kind == ompt_work_single_other || kind == ompt_work_scope);
  if (call.caller)
    codeptr = call.caller;
  else if (endpoint == ompt_scope_begin && !none)
    codeptr = code_of_construct(t, task_data, codeptr);
  uint32_t row = 0;
  if (kind == ompt_work_taskloop && endpoint == ompt_scope_end && span_of(t)->log.creation.caller)
    creation_end(t);
  if (endpoint == ompt_scope_begin)
    row = worksharing_work_begin(t, task_of(t, task_data), kind, count, codeptr);
  else
    worksharing_work_end(t, task_of(t, task_data), kind);
  construct_events_work(t, kind, row, endpoint == ompt_scope_begin);
  if (call.lower && count)
    only_chunk(t, task_of(t, task_data), kind, &call);
  rt_inside_dec(t);
}

void ompt_on_dispatch(ompt_data_t *parallel_data, ompt_data_t *task_data, int kind, ompt_data_t instance)
{
  (void)parallel_data;
  struct thread_state *t = self();
  if (!t || !graph_enter(t))
    return;
  bool ranged = kind == ompt_dispatch_ws_loop_chunk || kind == ompt_dispatch_taskloop_chunk;
  const ompt_dispatch_chunk_t *chunk = ranged ? instance.ptr : NULL;
  chunk_begin(t, task_of(t, task_data), kind, chunk ? chunk->start : 0, chunk ? chunk->iterations : 0);
  rt_inside_dec(t);
}

static void on_masked(int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, const void *codeptr)
{
  (void)parallel_data;
  struct thread_state *t = self();
  if (!t || !graph_enter(t))
    return;
  uint32_t row = worksharing_masked(t, task_of(t, task_data), endpoint == ompt_scope_begin, codeptr);
  construct_events_scope(t, FORMAT_DIRECTIVE_MASKED, row, endpoint == ompt_scope_begin);
  rt_inside_dec(t);
}

void ompt_lock_test(void)
{
  struct thread_state *t = self();
  if (t)
    sampling_of(t)->tests_lock = true;
}

void ompt_on_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *codeptr)
{
  (void)hint, (void)impl;
  struct thread_state *t = self();
  if (!t)
    return;
  bool tests = sampling_of(t)->tests_lock || kind == ompt_mutex_test_lock || kind == ompt_mutex_test_nest_lock;
  sampling_of(t)->tests_lock = false;
  if (tests)
    return;
  t->wait_id = wait_id;
  uint64_t moment = waiting_lock_begin(t, codeptr);
  if (!rt.online || !moment)
    return;
  rt_inside_inc(t);
  work_clock_wait(t, moment);
  if (!atomic_load_explicit(&rt.graph_suspended, memory_order_relaxed))
    construct_acquire(t, moment);
  rt_inside_dec(t);
}

static __attribute__((noinline)) void graph_acquired(struct thread_state *t, int kind, uint64_t wait_id,
                                                     uint64_t moment, const void *codeptr)
{
  if (!graph_enter(t))
    return;
  /* A thread that ends a critical section can clear the address that libomp keeps for another thread. */
  if (code_in_runtime(codeptr))
    codeptr = code_of_caller(t, current_data(NULL), codeptr, NULL);
  uint32_t row = worksharing_mutex_acquired(t, kind, wait_id, moment, codeptr);
  construct_events_acquired(t, kind, row, wait_id, moment);
  rt_inside_dec(t);
}

void ompt_on_mutex_acquired(int kind, uint64_t wait_id, const void *codeptr)
{
  struct thread_state *t = self();
  if (!t)
    return;
  uint64_t moment = t->activity.lockwait ? waiting_lock_end(t) : 0;
  trace_lock_held(t, wait_id);
  if (rt.online)
    graph_acquired(t, kind, wait_id, moment, codeptr);
}

/* Acquiring a nested lock again that the thread already holds causes no ompt_on_mutex_acquired(). */
void ompt_on_nest_lock(int endpoint, uint64_t wait_id, const void *codeptr)
{
  (void)wait_id, (void)codeptr;
  struct thread_state *t = self();
  if (t && endpoint == ompt_scope_begin) {
    waiting_lock_end(t);
    construct_held_already(t);
  }
}

void ompt_on_lock_destroy(int kind, uint64_t wait_id, const void *codeptr)
{
  (void)kind, (void)codeptr;
  struct thread_state *t = self();
  if (!t || !graph_enter(t))
    return;
  worksharing_lock_ends(wait_id);
  rt_inside_dec(t);
}

void ompt_on_lock_init(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *codeptr)
{
  (void)hint, (void)impl;
  ompt_on_lock_destroy(kind, wait_id, codeptr);
}

/* Charges the lock's blame to this context. */
static __attribute__((noinline)) void take_blame(struct thread_state *t, uint64_t wait_id)
{
  rt_inside_inc(t);
  struct blame blame = {0};
  if (!rt_stopped())
    blame = blame_take(wait_id);
  if (blame.samples)
    sample_charge_blame(t, context_met(t), &blame);
  rt_inside_dec(t);
}

static __attribute__((noinline)) void graph_released(struct thread_state *t, int kind, uint64_t wait_id, bool blamed)
{
  uint64_t moment = rt.online ? work_clock_moment(t) : 0;
  if (blamed)
    take_blame(t, wait_id);
  if (!graph_enter(t))
    return;
  worksharing_mutex_released(t, kind, wait_id, moment, blamed);
  construct_events_released(t, kind, wait_id, work_clock_is_time() ? moment : 0);
  rt_inside_dec(t);
}

/* The blame is taken first: a thread that waited may already hold the lock and be about to release it. */
void ompt_on_mutex_released(int kind, uint64_t wait_id, const void *codeptr)
{
  (void)codeptr;
  struct thread_state *t = self();
  if (!t)
    return;
  bool blamed = blame_pending(wait_id);
  if (blamed || rt.online)
    graph_released(t, kind, wait_id, blamed);
}

void ompt_pause(bool pause)
{
  struct thread_state *t = rt_thread();
  if (!t || !graph_enter(t)) {
    rt_pause(pause);
    return;
  }
  construct_pause(t, rt_ticks());
  span_pause(t, pause);
  rt_inside_dec(t);
}

/* A mark or phase whose name is the argument of omp_control_tool().  Returns 0, or 1 where it is ignored. */
static int on_mark(enum format_mark_kind kind, const char *name)
{
  struct thread_state *t = rt_thread();
  if (!t || (kind == FORMAT_MARK && !name) || !rt_enter(t))
    return 1;
  marks_add(t, kind, name);
  rt_leave(t);
  return 0;
}

/* omp_control_tool(): a flush has nothing to do; after an end, measuring does not start again. */
static int on_control_tool(uint64_t command, uint64_t modifier, void *argument, const void *codeptr)
{
  (void)modifier, (void)codeptr;
  enum { START = 1, PAUSE = 2, END = 4, MARK = 64, PHASE = 65 };
  static atomic_bool ended;
  if (command == MARK || command == PHASE)
    return on_mark(command == MARK ? FORMAT_MARK : FORMAT_PHASE, argument);
  if (command == END)
    atomic_store(&ended, true);
  if (command == PAUSE || command == END || (command == START && !atomic_load(&ended)))
    ompt_pause(command != START);
  return 0;
}

struct registration {
  int event;
  ompt_callback_t callback;
};

int ompt_register(void)
{
  static const struct registration required[] = {
      {ompt_callback_thread_begin, (ompt_callback_t)ompt_on_thread_begin},
      {ompt_callback_control_tool, (ompt_callback_t)on_control_tool},
      {ompt_callback_thread_end, (ompt_callback_t)ompt_on_thread_end},
      {ompt_callback_parallel_begin, (ompt_callback_t)ompt_on_parallel_begin},
      {ompt_callback_parallel_end, (ompt_callback_t)ompt_on_parallel_end},
      {ompt_callback_implicit_task, (ompt_callback_t)ompt_on_implicit_task},
      {ompt_callback_task_schedule, (ompt_callback_t)ompt_on_task_schedule},
      {ompt_callback_sync_region_wait, (ompt_callback_t)ompt_on_sync_region_wait},
      {ompt_callback_task_create, (ompt_callback_t)ompt_on_task_create},
      {ompt_callback_mutex_released, (ompt_callback_t)ompt_on_mutex_released},
      {ompt_callback_mutex_acquire, (ompt_callback_t)ompt_on_mutex_acquire},
      {ompt_callback_mutex_acquired, (ompt_callback_t)ompt_on_mutex_acquired},
      {ompt_callback_nest_lock, (ompt_callback_t)ompt_on_nest_lock},
  };
  /* The order defines the bits of format_process.unseen: new callbacks belong at the end. */
  enum { DISPATCH = 2 };
  _Static_assert(OMPT_UNSEEN_CHUNKS == 1 << DISPATCH, "chunks are unseen where dispatch is not announced");
  static const struct registration graph[] = {
      {ompt_callback_sync_region, (ompt_callback_t)ompt_on_sync_region},
      {ompt_callback_work, (ompt_callback_t)ompt_on_work},
      [DISPATCH] = {ompt_callback_dispatch, (ompt_callback_t)ompt_on_dispatch},
      {ompt_callback_masked, (ompt_callback_t)on_masked},
      {ompt_callback_dependences, (ompt_callback_t)ompt_on_dependences},
      {ompt_callback_lock_init, (ompt_callback_t)ompt_on_lock_init},
      {ompt_callback_lock_destroy, (ompt_callback_t)ompt_on_lock_destroy},
  };
  int missing = 0;
  for (unsigned i = 0; i < sizeof required / sizeof *required; i++)
    missing += rt.set_callback(required[i].event, required[i].callback) != ompt_set_always;
  for (unsigned i = 0; rt.online && i < sizeof graph / sizeof *graph; i++) {
    bool announced = rt.set_callback(graph[i].event, graph[i].callback) == ompt_set_always;
    if (!announced && i == DISPATCH)
      rt.no_chunks = true;
    else if (!announced)
      __atomic_fetch_or(&rt.unseen, 1u << i, __ATOMIC_RELAXED);
  }
  return missing;
}
