/* OMPT callbacks: dispatch.  Each finds the state of its thread and calls one function of the modules *_events, which
 * decide what the event means: for the thread's state, its place in the parallel regions, the task graph, constructs.
 *
 * What a thread does follows from the task that it runs: the task's data word says whether the task waits.  A task that
 * is scheduled during a wait makes the thread busy until the waiting task continues.
 *
 * Context: RT.  Callbacks always keep the state up to date, also while measuring is paused; a sample that interrupts
 * one while it is `inside` counts as tool time.  ompt_register() is called by CTL (tool.c).  A callback writes the
 * state of its own thread only. */
#ifndef HPCRUN_LITE_RT_OMPT_H
#define HPCRUN_LITE_RT_OMPT_H

#include "hpcrun-lite/rt/loop_events.h"
#include "hpcrun-lite/rt/region_events.h"
#include "hpcrun-lite/rt/span/doacross.h"

/* Registers all callbacks by that function of the runtime.  Returns how many of the required ones the runtime does not
 * provide. */
int ompt_register(ompt_set_callback_t set_callback);

/* The callbacks, with OMPT's parameters.  A runtime without OMPT calls them by way of hpcrun-lite/gomp. */
void ompt_on_thread_begin(int type, ompt_data_t *thread_data);
void ompt_on_thread_end(ompt_data_t *thread_data);
void ompt_on_parallel_begin(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *parallel_data,
                            unsigned requested, int flags, const void *codeptr);
void ompt_on_parallel_end(ompt_data_t *parallel_data, ompt_data_t *task_data, int flags, const void *codeptr);
void ompt_on_implicit_task(int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, unsigned team_size,
                           unsigned index, int flags);
void ompt_on_task_create(ompt_data_t *task_data, const ompt_frame_t *frame, ompt_data_t *new_data, int flags,
                         int has_dependences, const void *codeptr);
void ompt_on_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next);
void ompt_on_dependences(ompt_data_t *task_data, const ompt_dependence_t *dependences, int count);
void ompt_on_sync_region_wait(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                              const void *codeptr);
void ompt_on_sync_region(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                         const void *codeptr);
void ompt_on_work(int kind, int endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, uint64_t count,
                  const void *codeptr);
void ompt_on_dispatch(ompt_data_t *parallel_data, ompt_data_t *task_data, int kind, ompt_data_t instance);
void ompt_on_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *codeptr);
void ompt_on_mutex_acquired(int kind, uint64_t wait_id, const void *codeptr);
void ompt_on_nest_lock(int endpoint, uint64_t wait_id, const void *codeptr);
void ompt_on_lock_destroy(int kind, uint64_t wait_id, const void *codeptr);
void ompt_on_lock_init(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *codeptr);
void ompt_on_mutex_released(int kind, uint64_t wait_id, const void *codeptr);

/* A target construct is about to begin on a device, of whose operations, and of waiting for it, the runtime says
 * nothing. */
void ompt_target_unannounced(int device);

/* A target construct begins or ends, as the host sees it.  device: may be OMPT_DEVICE_HOST or OMPT_DEVICE_NONE. */
void ompt_target_asks(uint32_t teams, uint32_t threads); /* of the one that has begun: target_events_asks() */
void ompt_on_target(int kind, int endpoint, int device, ompt_data_t *task_data, uint64_t target, const void *codeptr);

/* Doacross loops: functions of the runtime that wait for an iteration are wrapped for these, since no runtime announces
 * that they begin.
 *
 * ompt_doacross_wait(): the program calls one at that address; count: of the vector's coordinates, 0: not known.
 * DOACROSS_PASSES: the event after the wait need not be announced.
 * ompt_doacross_called(): the call has returned, and the runtime has announced that the thread has waited, unless there
 * is no such iteration.
 * ompt_doacross(): where the runtime announces nothing: an iteration ends (source), or another one goes on. */
enum doacross_wait ompt_doacross_wait(const uint64_t *vector, unsigned count, const void *code);
void ompt_doacross_called(void);
void ompt_doacross(const uint64_t *vector, unsigned count, bool source);

/* Loops of a runtime that does not announce chunks (measured_process.no_chunks); otherwise these functions do nothing.
 *
 * ompt_loop_call(): the program enters a function of the runtime that announces a loop.  The thread's next loop is this
 * one; its chunks are reported.  If `lower` is not NULL, lower and upper point to the bounds of the thread's only
 * chunk, which the runtime has written when it announces the loop.
 * ompt_loop_chunk(): a chunk of the thread's loop begins; upper: its last iteration.
 * ompt_distributed_loop(): the thread begins its chunk of a loop that the runtime does not announce either.
 * ompt_taskloop_chunk(): the current task runs these iterations of a taskloop.
 * ompt_chunks_unknown(): there is a loop whose chunks are not reported. */
void ompt_loop_call(const void *caller, const void *lower, const void *upper, int64_t step, enum loop_bounds bounds);
void ompt_loop_chunk(uint64_t lower, uint64_t upper, int64_t step, enum loop_bounds bounds);
void ompt_distributed_loop(const void *caller);
void ompt_taskloop_chunk(uint64_t lower, uint64_t upper, int64_t step);
void ompt_chunks_unknown(void);

/* The thread enters a function of the runtime that acquires a lock only if that is free, which the runtime announces
 * next, perhaps as one that waits. */
void ompt_lock_test(void);

/* A bit of measured_process.unseen: the program's code runs static loops and masked constructs without calling its
 * runtime, and does not say to which construct a barrier belongs. */
enum { OMPT_UNSEEN_INLINED = 1 << 7 };

/* Another: of some construct on a device, the runtime reports no operations. */
enum { OMPT_UNSEEN_OPERATIONS = 1 << 8 };

/* Another: the runtime does not report all events that every measurement needs. */
enum { OMPT_UNSEEN_NEEDED = 1 << 9 };

/* For -p log, around a call of the runtime that creates tasks: the caller, an address in the program, and the ticks
 * that were spent on the task before.  ompt_creation_end() gets what ompt_creation_begin() has returned.  An undeferred
 * creation has no end (span/graph_log.h). */
struct creation_time ompt_creation_begin(const void *caller, uint64_t ticks);
void ompt_creation_undeferred(const void *caller, uint64_t ticks);
void ompt_creation_end(const struct creation_time *outer);

/* The program, or omp_control_tool(), pauses or resumes measuring. */
void ompt_pause(bool pause);

#endif
