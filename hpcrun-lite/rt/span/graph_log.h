/* The log of the graph: what rt/span/span.c, rt/span/worksharing.c and rt/depend.c do, written to the process's file as
 * they do it (doc/format.md, "The log of the graph").
 *
 * Context: RT, in callbacks and handlers, inside rt_enter() or with `inside` raised; what CTL calls is marked.  A
 * thread writes its own stream, through a window of the file that it alone has mapped; nobody else unmaps it, but for a
 * forked child, whose windows are its parent's.  Memory: one window a thread.  The space of a window is reserved before
 * it is mapped, so that a full disk is a failure here and no signal later.  On failure the thread's stream ends, which
 * is counted, and the program runs on: nothing behind a gap would be of use.
 */
#ifndef HPCRUN_LITE_RT_SPAN_GRAPH_LOG_H
#define HPCRUN_LITE_RT_SPAN_GRAPH_LOG_H

#include "common/graphlog.h"
#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/span/work_clock.h"

enum { GRAPH_LOG_WINDOW_FIRST = 16 << 10, GRAPH_LOG_WINDOW_MAX = 256 << 10, GRAPH_LOG_PAGE = 4096 };

/* CTL: a process begins to log, to a file of that name, which is made when it is needed. */
void graph_log_start(const char *path);
void graph_log_stop(void); /* CTL: nothing more is begun by any thread */
void graph_log_start_thread(struct thread_state *t);
void graph_log_stop_thread(struct thread_state *t);

/* CTL, in a forked child: the thread's window is its parent's. */
void graph_log_forget(struct thread_state *t);

/* CTL: the file, and how much of it has been given to windows. */
const char *graph_log_path(void);
uint64_t graph_log_length(void);

void graph_log_put(struct thread_state *t, enum graphlog_op op, unsigned count, const uint64_t *operands);
void graph_log_put_run(struct thread_state *t, uint64_t moment, uint64_t work);
uint64_t graph_log_put_implicit(struct thread_state *t, uint64_t region, uint32_t team_size);
uint64_t graph_log_put_task(struct thread_state *t, uint64_t parent, uint32_t row, uint64_t flags);
uint64_t graph_log_put_region(struct thread_state *t, uint32_t row);
void graph_log_put_offer(struct thread_state *t, uint64_t name, struct join *join);
void graph_log_put_take(struct thread_state *t, uint64_t name, const struct join *join);
void graph_log_put_wait(struct thread_state *t, enum graphlog_op op, uint64_t name, int kind, uint32_t row);

static inline bool graph_log_on(void)
{
  return atomic_load_explicit(&rt.log, memory_order_relaxed);
}

/* What follows happens at that moment (rt/span/work_clock.h), or now. */
static inline void graph_log_time(struct thread_state *t, uint64_t moment)
{
  if (graph_log_on())
    t->log.moment = work_clock_is_time() ? moment : rt_ticks();
}

static inline void graph_log_now(struct thread_state *t)
{
  if (graph_log_on())
    t->log.moment = rt_ticks();
}

/* The fragment ends at that moment, with its samples. */
static inline void graph_log_run(struct thread_state *t, uint64_t moment, uint64_t work)
{
  if (graph_log_on())
    graph_log_put_run(t, moment, work);
}

/* An operation of the task that runs, with its operands. */
#define graph_log_op(t, op, ...)                                                                                       \
  do {                                                                                                                 \
    const uint64_t graph_log_operands[] = {__VA_ARGS__};                                                               \
    if (graph_log_on())                                                                                                \
      graph_log_put(t, op, sizeof graph_log_operands / sizeof *graph_log_operands, graph_log_operands);                \
  } while (0)

/* An operation of a task of that name, without further operands. */
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

/* The clock of the task of that name is offered to a join, and takes from one. */
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
