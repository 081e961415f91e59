/* The trace of -t: what each thread did when, written to a file of the process as it happens (common/tracelog.h;
 * doc/format.md, "The trace").
 *
 * Context: RT, in callbacks and handlers, inside rt_enter() or with `inside` raised, except where a function says that
 * it raises it; functions marked CTL are called by CTL only.  Each thread writes its own stream (core/stream.h).
 *
 * A state is written when it ends: from the end of the state before, until then.  So states tile a thread's life; the
 * one that is open when the process is killed is in the thread's record (struct format_thread).  What follows the last
 * window of a stream that has ended is not recorded, and what was done while measuring was paused is a gap. */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_TRACE_H
#define HPCRUN_LITE_RT_CONSTRUCT_TRACE_H

#include "common/order.h"
#include "common/tracelog.h"
#include "hpcrun-lite/rt/construct/construct_thread.h"

/* What is written to the trace. */
enum rt_trace { RT_TRACE_OFF, RT_TRACE_SAMPLES, RT_TRACE_STATES };

/* What the trace of the process is.  CTL writes and reads it, under the CTL lock; the thread that carries out a
 * command reports it.  Threads read their own trace_stream. */
extern struct trace_process {
  _Alignas(64) enum rt_trace what;
  uint64_t limit; /* bytes */
  bool keep_last;
} trace_process __attribute__((visibility("hidden")));

/* CTL: starts the trace of this process, in a file at that path, which is made with its first window.  what: samples,
 * or states as well; limit: bytes; keep_last: beyond it, the oldest windows are used again. */
void trace_start(const char *path, enum rt_trace what, uint64_t limit, bool keep_last);
void trace_stop(struct thread_state *threads); /* CTL: threads record nothing from now on; threads: a list */
struct stream_file *trace_file(void);

/* CTL: threads write no states from now on, only samples, which is counted; threads: a list. */
void trace_end_states(struct thread_state *threads);

/* CTL: a new thread's stream begins, at its record's construct_since. */
void trace_start_thread(struct thread_state *t);

/* CTL, under the CTL lock: the thread ends. */
void trace_stop_thread(struct thread_state *t);

/* CTL: lets go of the window of a parent's thread, or of its devices, in the child. */
void trace_forget_thread(struct thread_state *t);
void trace_forget_devices(void);

/* The slow parts of the functions below. */
void trace_put_state(struct thread_state *t, uint64_t now, uint64_t code);
void trace_put_begun(struct thread_state *t, uint64_t code);
void trace_put_lock_wait(struct thread_state *t, uint64_t wait_id);
void trace_put_lock_held(struct thread_state *t, uint64_t wait_id);
void trace_put_op(struct thread_state *t, enum tracelog_op op, unsigned count, const uint64_t *operands);

/* Until now, the thread was in that state. */
static inline void trace_state(struct thread_state *t, uint64_t now, uint64_t code)
{
  if (__builtin_expect(trace_of(t)->states, false))
    trace_put_state(t, now, code);
}

/* The code of the open state. */
static inline uint64_t trace_open_code(const struct thread_state *t)
{
  return t->record->construct_open; /* 0 until the thread has met a construct */
}

/* The execution of a construct begins now, and the next state is that construct's. */
static inline void trace_begun(struct thread_state *t)
{
  struct trace_stream *trace = trace_of(t);
  if (__builtin_expect(!trace->states, true))
    return;
  if (trace->begun)
    trace_put_begun(t, trace_open_code(t));
  trace->begun = true;
}

/* An execution of a construct with that code, which takes no time of its own. */
static inline void trace_instant(struct thread_state *t, uint64_t code)
{
  if (__builtin_expect(trace_of(t)->states, false))
    trace_put_begun(t, code);
}

/* The open wait contains so much work of the runtime. */
static inline void trace_own(struct thread_state *t, uint64_t ticks)
{
  struct trace_stream *trace = trace_of(t);
  if (__builtin_expect(trace->states, false))
    trace->own = trace->own_left + ticks;
}

/* In the wait between these two moments, the thread had no processor.  preempted, of_own: ticks in which it could run,
 * outside and inside the runtime's own work at the end; woken: ticks asleep in that; wakes: before that;
 * no_core: ticks outside in which a thread for which it waited had no processor. */
struct trace_ready {
  uint64_t preempted, of_own, woken, wakes, no_core;
};

void trace_put_ready(struct thread_state *t, uint64_t moment, const struct trace_ready *ready);

/* The same by CTL, in the state that ends next; moment: in that state. */
void trace_end_ready(struct thread_state *t, uint64_t moment, const struct trace_ready *ready);

static inline void trace_ready(struct thread_state *t, uint64_t since, uint64_t now, struct trace_ready ready)
{
  enum { SLACK_TICKS = 1 << 13 }; /* surely in the state of the wait, and the same moment each time in a long one */
  if (__builtin_expect(trace_of(t)->states, false))
    trace_put_ready(t, since + MIN((now - since) / 2, SLACK_TICKS), &ready);
}

/* The thread begins to wait for the lock, in the open state. */
static inline void trace_lock_wait(struct thread_state *t, uint64_t wait_id)
{
  if (__builtin_expect(trace_of(t)->states, false))
    trace_put_lock_wait(t, wait_id);
}

/* The thread holds the lock. */
static inline void trace_lock_held(struct thread_state *t, uint64_t wait_id)
{
  if (__builtin_expect(trace_of(t)->states, false))
    trace_put_lock_held(t, wait_id);
}

/* A chunk of a loop begins with the next state. */
static inline void trace_chunk(struct thread_state *t)
{
  if (__builtin_expect(trace_of(t)->states, false))
    trace_put_op(t, TRACELOG_CHUNK, 0, NULL);
}

/* A device has executed an operation of a construct from begin to end, in ticks, which may be long ago.  In any thread;
 * the caller lets no other one in. */
void trace_put_operation(const struct format_device_times *of, uint64_t begin, uint64_t end);

/* The thread begins to sleep in a call of the program, or has slept since then; how: TRACELOG_BLOCKED,
 * TRACELOG_LOCK_WAIT or, for any call of MPI, TRACELOG_MPI.  They write nothing where `inside` is raised, because a
 * handler of the program may interrupt a callback, and sleep.  inside: the caller is the tool's handler, which has
 * raised `inside` itself. */
void trace_sleeps(struct thread_state *t, uint64_t now);
void trace_slept(struct thread_state *t, uint64_t now, enum tracelog_op how, bool inside);

/* The thread sleeps until now, and maybe longer. */
void trace_put_slept(struct thread_state *t, uint64_t now, enum tracelog_op how);

/* CTL, while the thread writes nothing.  Where its window has no room for the end of its trace, the stream goes on in a
 * new one, or in the old one if there is none.  A window that is left stays mapped and in use: CTL waits for threads
 * only for a limited time, so one may still be writing to it. */
void trace_leave_window(struct thread_state *t);

/* CTL, while the thread writes nothing: the stream goes on where it was then.  Returns false if it cannot. */
bool trace_take_back(struct thread_state *t, const struct trace_stream *before);

/* CTL, while the thread writes nothing: what it did until now is not known. */
void trace_put_gap(struct thread_state *t, uint64_t now);

#endif
