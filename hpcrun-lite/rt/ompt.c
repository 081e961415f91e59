#include "hpcrun-lite/rt/ompt.h"

#include "hpcrun-lite/rt/control_events.h"
#include "hpcrun-lite/rt/core/ctl_calls.h"
#include "hpcrun-lite/rt/device_trace.h"
#include "hpcrun-lite/rt/doacross_events.h"
#include "hpcrun-lite/rt/helper_events.h"
#include "hpcrun-lite/rt/lock_events.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/waiting.h"
#include "hpcrun-lite/rt/target_events.h"
#include "hpcrun-lite/rt/task_events.h"
#include "hpcrun-lite/rt/wait_events.h"

struct measured_process measured_process;

/* The calling thread, in callbacks other than those of acquisitions and releases.  Those of regions record an
 * acquisition in region_events.c, where the call needs no frame of its own. */
static inline struct thread_state *callback_thread(void)
{
  struct thread_state *t = rt_openmp_thread();
  if (t)
    lock_events_before_other(t);
  return t;
}

void ompt_on_thread_begin(int type, ompt_data_t *thread_data)
{
  (void)thread_data;
  if (!rt_thread())
    threads_adopt();
  struct thread_state *t = rt_thread();
  bool worker = type == ompt_thread_worker;
  if (t && !helper_events_thread_begin(t, worker))
    region_events_thread_begin(t, worker);
}

void ompt_on_thread_end(ompt_data_t *thread_data)
{
  (void)thread_data;
  struct thread_state *t = callback_thread();
  if (t)
    region_events_thread_end(t);
}

/* Of a thread that is not announced: the region is that of the runtime's own threads, or the announcement was
 * ignored. */
static __attribute__((noinline, cold)) bool of_program(const void *codeptr)
{
  struct thread_state *t = rt_thread();
  if (!t || helper_events_region(t, codeptr) || t->maker != RT_MADE_BY_RUNTIME)
    return false;
  region_events_thread_begin(t, false);
  return true;
}

void ompt_on_parallel_begin(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *parallel_data,
                            unsigned requested, int flags, const void *codeptr)
{
  (void)requested;
  struct thread_state *t = rt_openmp_thread();
  if (__builtin_expect(!t, 0)) {
    if (!of_program(codeptr))
      return;
    t = rt_thread();
  }
  region_events_begin(t, frame, parallel_data, task_data, flags, codeptr);
}

void ompt_on_parallel_end(ompt_data_t *parallel_data, ompt_data_t *task_data, int flags, const void *codeptr)
{
  (void)parallel_data, (void)task_data, (void)flags, (void)codeptr;
  struct thread_state *t = rt_openmp_thread();
  if (t)
    region_events_end(t);
}

static __attribute__((noinline, cold)) void helper_implicit_task(int endpoint, ompt_data_t *task_data)
{
  struct thread_state *t = rt_thread();
  if (t && endpoint == ompt_scope_begin)
    helper_events_implicit_begin(t, task_data);
}

void ompt_on_implicit_task(int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, unsigned team_size,
                           unsigned index, int flags)
{
  struct thread_state *t = rt_openmp_thread();
  if (__builtin_expect(!t, 0)) {
    helper_implicit_task(endpoint, task_data);
    return;
  }
  if (endpoint == ompt_scope_end)
    region_events_implicit_end(t, task_data);
  else
    region_events_implicit_begin(t, parallel_data, task_data, team_size, index, flags);
}

void ompt_on_task_create(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *new_data, int flags,
                         int has_dependences, const void *codeptr)
{
  if (task_events_follow(flags))
    task_events_create(task_data, frame, new_data, flags, has_dependences, codeptr);
}

static __attribute__((noinline, cold)) void schedule_after_record(ompt_data_t *prior, int status, ompt_data_t *next)
{
  struct thread_state *t = callback_thread();
  task_events_schedule(t, prior, status, next);
}

static __attribute__((noinline, cold)) void helper_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
  struct thread_state *t = rt_thread();
  if (t && helper_events_wakes(t, prior, status, next) && span_process.online)
    task_events_switch(t, prior, status, next);
}

/* Without a frame of its own where nothing is to be recorded: tasks are switched often. */
void ompt_on_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
  struct thread_state *t = rt_openmp_thread();
  if (__builtin_expect(!t, 0))
    helper_schedule(prior, status, next);
  else if (__builtin_expect(lock_events_unrecorded(t), 0))
    schedule_after_record(prior, status, next);
  else
    task_events_schedule(t, prior, status, next);
}

struct creation_time ompt_creation_begin(const void *caller, uint64_t ticks)
{
  struct thread_state *t = callback_thread();
  if (!t)
    return (struct creation_time){0};
  return task_events_creation_begin(t, caller, ticks);
}

void ompt_creation_undeferred(const void *caller, uint64_t ticks)
{
  struct thread_state *t = callback_thread();
  if (t)
    task_events_creation_undeferred(t, caller, ticks);
}

void ompt_creation_end(const struct creation_time *outer)
{
  struct thread_state *t = callback_thread();
  if (t)
    task_events_creation_end(t, outer);
}

static inline void wait_event(struct thread_state *t, int kind, int endpoint, ompt_data_t *parallel_data,
                              ompt_data_t *task_data, const void *codeptr)
{
  if (endpoint == ompt_scope_begin)
    wait_events_begin(t, kind, codeptr, task_data);
  else
    wait_events_end(t, kind, parallel_data, task_data);
}

static __attribute__((noinline, cold)) void wait_after_record(int kind, int endpoint, ompt_data_t *parallel_data,
                                                              ompt_data_t *task_data, const void *codeptr)
{
  struct thread_state *t = callback_thread();
  wait_event(t, kind, endpoint, parallel_data, task_data, codeptr);
}

/* As for switches of tasks. */
void ompt_on_sync_region_wait(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                              const void *codeptr)
{
  struct thread_state *t = rt_openmp_thread();
  if (!t)
    return;
  if (__builtin_expect(lock_events_unrecorded(t), 0))
    wait_after_record(kind, endpoint, parallel_data, task_data, codeptr);
  else
    wait_event(t, kind, endpoint, parallel_data, task_data, codeptr);
}

void ompt_on_sync_region(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                         const void *codeptr)
{
  (void)parallel_data;
  if (kind != ompt_sync_region_taskgroup) /* of barriers and taskwaits the wait itself is enough */
    return;
  struct thread_state *t = callback_thread();
  if (t)
    wait_events_group(t, endpoint == ompt_scope_begin, task_data, codeptr);
}

/* ---- loops and their chunks ---- */

void ompt_chunks_unknown(void)
{
  loop_events_chunks_unknown();
}

void ompt_loop_call(const void *caller, const void *lower, const void *upper, int64_t step, enum loop_bounds bounds)
{
  struct thread_state *t = callback_thread();
  if (t)
    loop_events_call(t, &(struct loop_call){caller, lower, upper, step, bounds});
}

void ompt_loop_chunk(uint64_t lower, uint64_t upper, int64_t step, enum loop_bounds bounds)
{
  struct thread_state *t = callback_thread();
  if (t)
    loop_events_chunk(t, lower, upper, step, bounds);
}

void ompt_taskloop_chunk(uint64_t lower, uint64_t upper, int64_t step)
{
  struct thread_state *t = callback_thread();
  if (t)
    loop_events_taskloop_chunk(t, lower, upper, step);
}

void ompt_distributed_loop(const void *caller)
{
  struct thread_state *t = callback_thread();
  if (t)
    loop_events_distributed(t, caller);
}

void ompt_on_work(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, uint64_t count,
                  const void *codeptr)
{
  (void)parallel_data;
  struct thread_state *t = callback_thread();
  if (t)
    loop_events_work(t, kind, endpoint == ompt_scope_begin, task_data, count, codeptr);
}

void ompt_on_dispatch(ompt_data_t *parallel_data, ompt_data_t *task_data, int kind, ompt_data_t instance)
{
  (void)parallel_data;
  struct thread_state *t = callback_thread();
  if (t)
    loop_events_dispatch(t, task_data, kind, instance);
}

void ompt_on_dependences(ompt_data_t *task_data, const ompt_dependence_t *dependences, int count)
{
  enum { STEP = sizeof *dependences / sizeof(uint64_t) };
  struct thread_state *t = callback_thread();
  if (!t || count <= 0)
    return;
  struct doacross_vector vector = {&dependences->variable.value, STEP, (uint32_t)count};
  if (dependences->dependence_type == ompt_dependence_type_source)
    doacross_events_source(t, vector);
  else if (dependences->dependence_type == ompt_dependence_type_sink)
    doacross_events_sink(t, vector);
  else
    task_events_dependences(t, task_data, dependences, count);
}

enum doacross_wait ompt_doacross_wait(const uint64_t *vector, unsigned count, const void *code)
{
  struct thread_state *t = callback_thread();
  return t ? doacross_events_wait(t, (struct doacross_vector){vector, 1, count}, code) : DOACROSS_FOLLOWS;
}

void ompt_doacross_called(void)
{
  struct thread_state *t = callback_thread();
  if (t)
    doacross_events_not_waited(t);
}

void ompt_doacross(const uint64_t *vector, unsigned count, bool source)
{
  struct thread_state *t = callback_thread();
  if (t && source)
    doacross_events_source(t, (struct doacross_vector){vector, 1, count});
  else if (t)
    doacross_events_sink(t, (struct doacross_vector){vector, 1, count});
}

static void on_masked(int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, const void *codeptr)
{
  (void)parallel_data;
  struct thread_state *t = callback_thread();
  if (t)
    loop_events_masked(t, endpoint == ompt_scope_begin, task_data, codeptr);
}

void ompt_on_target(int kind, int endpoint, int device, ompt_data_t *task_data, uint64_t target, const void *codeptr)
{
  (void)target;
  struct thread_state *t = callback_thread();
  if (t)
    target_events(t, kind, endpoint == ompt_scope_begin, device, task_data, codeptr);
}

void ompt_target_asks(uint32_t teams, uint32_t threads)
{
  struct thread_state *t = callback_thread();
  if (t)
    target_events_asks(t, teams, threads);
}

void ompt_target_unannounced(int device)
{
  if (!(__atomic_load_n(&measured_process.unseen, __ATOMIC_RELAXED) & OMPT_UNSEEN_OPERATIONS))
    __atomic_fetch_or(&measured_process.unseen, OMPT_UNSEEN_OPERATIONS, __ATOMIC_RELAXED);
  struct thread_state *t = callback_thread();
  if (t)
    target_events_unannounced(t, device);
}

/* The library for devices announces it. */
static void on_announced_target(int kind, int endpoint, int device, ompt_data_t *task_data, uint64_t target,
                                const void *codeptr)
{
  atomic_store_explicit(&measured_process.targets_announced, true, memory_order_relaxed);
  ompt_on_target(kind, endpoint, device, task_data, target, codeptr);
}

static void on_target_emi(int kind, int endpoint, int device, ompt_data_t *task_data, ompt_data_t *target_task,
                          ompt_data_t *target, const void *codeptr)
{
  (void)target_task, (void)target;
  on_announced_target(kind, endpoint, device, task_data, 0, codeptr);
}

static void operation(uint32_t kind, int endpoint, uint64_t *host_op, int device, uint64_t bytes, const void *codeptr)
{
  struct thread_state *t = callback_thread();
  uint64_t number = t ? target_events_operation(t, kind, endpoint == ompt_scope_begin, device, bytes, codeptr) : 0;
  if (number && host_op)
    *host_op = number;
}

static void on_device_initialize(int device, const char *type, ompt_device_t *handle, ompt_function_lookup_t lookup,
                                 const char *documentation)
{
  (void)documentation;
  struct thread_state *t = callback_thread();
  if (!t)
    return;
  target_events_device(t, device, type);
  device_trace_initialize(t, device, handle, lookup);
}

static void on_device_finalize(int device)
{
  device_trace_finalize(device);
}

static void on_data_op_emi(int endpoint, ompt_data_t *target_task, ompt_data_t *target, uint64_t *host_op, int type,
                           void *from, int from_device, void *to, int to_device, size_t bytes, const void *codeptr)
{
  (void)target_task, (void)target, (void)from, (void)to;
  switch (type & ~ompt_target_data_async) {
  case ompt_target_data_alloc:
    operation(FORMAT_CONSTRUCT_DEVICE_ALLOC, endpoint, host_op, to_device, bytes, codeptr);
    break;
  case ompt_target_data_transfer_to_device:
    operation(FORMAT_CONSTRUCT_COPY_TO_DEVICE, endpoint, host_op, to_device, bytes, codeptr);
    break;
  case ompt_target_data_transfer_from_device:
    operation(FORMAT_CONSTRUCT_COPY_FROM_DEVICE, endpoint, host_op, from_device, bytes, codeptr);
    break;
  case ompt_target_data_delete:
    operation(FORMAT_CONSTRUCT_DEVICE_FREE, endpoint, host_op, from_device, 0, codeptr);
    break;
  default:
    break;
  }
}

static void on_submit_emi(int endpoint, ompt_data_t *target, uint64_t *host_op, unsigned teams)
{
  (void)target;
  if (endpoint == ompt_scope_begin)
    ompt_target_asks(teams, 0);
  operation(FORMAT_CONSTRUCT_SUBMIT, endpoint, host_op, OMPT_DEVICE_HOST, 0, NULL);
}

static void on_cancel(ompt_data_t *task_data, int flags, const void *codeptr)
{
  (void)task_data, (void)codeptr;
  struct thread_state *t = callback_thread();
  if (t && flags & ompt_cancel_parallel && flags & (ompt_cancel_activated | ompt_cancel_detected))
    measured_of(t)->cancelled = region_current(t);
}

void ompt_lock_test(void)
{
  struct thread_state *t = callback_thread();
  if (t)
    waiting_tests_lock(t);
}

void ompt_on_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *codeptr)
{
  (void)hint, (void)impl;
  struct thread_state *t = callback_thread();
  if (t)
    lock_events_acquire(t, kind, wait_id, codeptr);
}

void ompt_on_mutex_acquired(int kind, uint64_t wait_id, const void *codeptr)
{
  struct thread_state *t = rt_openmp_thread();
  if (t)
    lock_events_acquired(t, kind, wait_id, codeptr);
}

void ompt_on_nest_lock(int endpoint, uint64_t wait_id, const void *codeptr)
{
  (void)codeptr;
  struct thread_state *t = callback_thread();
  if (t && endpoint == ompt_scope_begin)
    lock_events_acquired_again(t, wait_id);
}

void ompt_on_lock_destroy(int kind, uint64_t wait_id, const void *codeptr)
{
  (void)kind, (void)codeptr;
  struct thread_state *t = callback_thread();
  if (t)
    lock_events_ends(t, wait_id);
}

void ompt_on_lock_init(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *codeptr)
{
  (void)hint, (void)impl;
  ompt_on_lock_destroy(kind, wait_id, codeptr);
}

void ompt_on_mutex_released(int kind, uint64_t wait_id, const void *codeptr)
{
  (void)codeptr;
  struct thread_state *t = rt_openmp_thread();
  if (t)
    lock_events_released(t, kind, wait_id);
}

static int on_control_tool(uint64_t command, uint64_t modifier, void *argument, const void *codeptr)
{
  (void)modifier, (void)codeptr;
  return control_events_command(command, argument);
}

void ompt_pause(bool pause)
{
  control_events_pause(pause);
}

struct registration {
  int event;
  ompt_callback_t callback;
};

int ompt_register(ompt_set_callback_t set_callback)
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
    missing += set_callback(required[i].event, required[i].callback) != ompt_set_always;
  if (missing)
    __atomic_fetch_or(&measured_process.unseen, OMPT_UNSEEN_NEEDED, __ATOMIC_RELAXED);
  for (unsigned i = 0; span_process.online && i < sizeof graph / sizeof *graph; i++) {
    bool announced = set_callback(graph[i].event, graph[i].callback) == ompt_set_always;
    if (!announced && i == DISPATCH)
      measured_process.no_chunks = true;
    else if (!announced)
      __atomic_fetch_or(&measured_process.unseen, 1u << i, __ATOMIC_RELAXED);
  }
  if (span_process.online) {
    set_callback(ompt_callback_cancel, (ompt_callback_t)on_cancel); /* without it, only places are less exact */
    if (set_callback(ompt_callback_target_emi, (ompt_callback_t)on_target_emi) != ompt_set_always)
      set_callback(ompt_callback_target, (ompt_callback_t)on_announced_target); /* from libomp 17 on */
    set_callback(ompt_callback_device_initialize, (ompt_callback_t)on_device_initialize);
    set_callback(ompt_callback_device_finalize, (ompt_callback_t)on_device_finalize);
    set_callback(ompt_callback_target_data_op_emi, (ompt_callback_t)on_data_op_emi);
    set_callback(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit_emi);
  }
  return missing;
}
