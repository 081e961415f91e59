/* The graph log: the operations of span.c, worksharing.c, explicit_task.c and depend.c, written to a file of the
 * process as they happen (doc/format.md, "The graph log").
 *
 * Context: RT, in callbacks and handlers, inside rt_enter() or with `inside` raised; functions marked CTL are called by
 * CTL only.  Each thread writes its own stream (core/stream.h).  Where a window is missing, the thread's stream ends,
 * because nothing after a gap can be replayed. */
#ifndef HPCRUN_LITE_RT_SPAN_GRAPH_LOG_H
#define HPCRUN_LITE_RT_SPAN_GRAPH_LOG_H

#include "common/graphlog.h"
#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/span/work_clock.h"

/* CTL: starts logging in this process, to a file at that path, which is made with the first window. */
void graph_log_start(const char *path);
void graph_log_stop(void); /* CTL: threads log nothing from now on */

/* Starts the calling thread's stream; CTL, under the CTL lock: ends it. */
void graph_log_start_thread(struct thread_state *t);
void graph_log_stop_thread(struct thread_state *t);

/* CTL: lets go of the window of a parent's thread, in the child. */
void graph_log_forget_thread(struct thread_state *t);

/* CTL: the file. */
struct stream_file *graph_log_file(void);

/* The slow parts of the functions below, for callers that have tested graph_log_on().  An operation has `count`
 * operands.  graph_log_put_implicit(), graph_log_put_task() and graph_log_put_region() name what they log and return
 * the name; region and parent are names (0: none), flags are those of GRAPHLOG_TASK. */
void graph_log_put(struct thread_state *t, enum graphlog_op op, unsigned count, const uint64_t *operands);
void graph_log_put_run(struct thread_state *t, uint64_t moment, uint64_t work);
void graph_log_put_device(struct thread_state *t, uint64_t since, uint64_t ticks, uint64_t amount);
uint64_t graph_log_put_implicit(struct thread_state *t, uint64_t region, uint32_t team_size);
uint64_t graph_log_put_task(struct thread_state *t, uint64_t parent, uint32_t row, uint64_t flags);
uint64_t graph_log_put_region(struct thread_state *t, uint32_t row);
void graph_log_put_offer(struct thread_state *t, uint64_t name, struct join *join);
void graph_log_put_take(struct thread_state *t, uint64_t name, const struct join *join);
void graph_log_put_wait(struct thread_state *t, enum graphlog_op op, uint64_t name, int kind, uint32_t row);

/* Creation times.  graph_log_creation_begin(): the task of that name enters a function of the runtime that creates
 * tasks; `ticks` were spent on it before.  graph_log_creation_end(): the function returns, or begins to wait for the
 * tasks; then the caller puts back what graph_log_creation_begin() has returned.  An undeferred creation ends by itself
 * when the thread begins to run the task.  What the callbacks take is left out, as are other tasks that the thread
 * runs.  If the function creates several tasks, a task's time is that from its announcement to the next one's: their
 * sum is the time of the call. */
struct creation_time graph_log_creation_begin(struct thread_state *t, const void *caller, uint64_t creator,
                                              uint64_t ticks);
void graph_log_creation_undeferred(struct thread_state *t, const void *caller, uint64_t creator, uint64_t ticks);
void graph_log_creation_end(struct thread_state *t, uint64_t moment);

/* Whether the process logs. */
static inline bool graph_log_on(void)
{
  return atomic_load_explicit(&span_process.log, memory_order_relaxed);
}

/* The next operation happens at that moment (span/work_clock.h); graph_log_now(): now. */
static inline void graph_log_time(struct thread_state *t, uint64_t moment)
{
  if (graph_log_on())
    span_of(t)->log.moment = work_clock_is_time() ? moment : rt_ticks();
}

static inline void graph_log_now(struct thread_state *t)
{
  if (graph_log_on())
    span_of(t)->log.moment = rt_ticks();
}

/* A fragment ends at that moment; logs its samples and its work. */
static inline void graph_log_run(struct thread_state *t, uint64_t moment, uint64_t work)
{
  if (graph_log_on())
    graph_log_put_run(t, moment, work);
}

/* Logs an operation of the running task, with its operands. */
#define graph_log_op(t, op, ...)                                                                                       \
  do {                                                                                                                 \
    const uint64_t graph_log_operands[] = {__VA_ARGS__};                                                               \
    if (graph_log_on())                                                                                                \
      graph_log_put(t, op, sizeof graph_log_operands / sizeof *graph_log_operands, graph_log_operands);                \
  } while (0)

/* Logs an operation whose only operand is the task of that name. */
static inline void graph_log_task_op(struct thread_state *t, enum graphlog_op op, uint64_t name)
{
  if (graph_log_on())
    graph_log_put(t, op, 2, (const uint64_t[]){name >> 32, (uint32_t)name});
}

/* kind: OMPT's. */
static inline void graph_log_wait(struct thread_state *t, enum graphlog_op op, uint64_t name, int kind, uint32_t row)
{
  if (graph_log_on())
    graph_log_put_wait(t, op, name, kind, row);
}

/* The clock of the task of that name is offered to a join, or is raised to one. */
static inline void graph_log_offer(struct thread_state *t, uint64_t name, struct join *join)
{
  if (graph_log_on())
    graph_log_put_offer(t, name, join);
}

static inline void graph_log_take(struct thread_state *t, uint64_t name, const struct join *join)
{
  if (graph_log_on())
    graph_log_put_take(t, name, join);
}

#endif
