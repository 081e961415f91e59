/* The trace of a thread's whole life: the events of its trace, and what that does not tell.
 *
 * Context: BATCH.  A trace has only states that had ended, and none while the thread started and ended.  What is
 * missing before the first state and after the last one are gaps, unless it is short; the state in which the process
 * was killed is known from the tables of the thread (doc/format.md, "The trace").
 */
#ifndef HPCPROF_LITE_INPUT_THREAD_TRACE_H
#define HPCPROF_LITE_INPUT_THREAD_TRACE_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/trace_reader.h"

/* The state in which the process was killed. */
struct open_state {
  bool known;     /* the process was killed while the thread lived */
  bool blocked;   /* the thread slept in a call of the program */
  bool lock_wait; /* there, for a lock of POSIX or C11 */
  bool limited;   /* its stream may have ended before */
  bool left;      /* it had left the last barrier of its region, which goes on: it did not wait, whatever `code` says */
  uint32_t lock;  /* 1 + the wait site of the lock that it waited for, in the construct of `code`; 0: for none */
  uint64_t code;  /* see common/tracelog.h */
  uint64_t since; /* time-stamp counter; 0: since the last state that ended */
};

/* Whether a thread was parked that waited there when its process was killed: a worker that waits at the end of a region
 * does not know whether that is over.  It is, if no region was open. */
bool open_state_parked(const struct read_file *file, const struct format_wait *wait);

/* What the trace itself does not tell of a thread. */
struct thread_life {
  uint32_t index;
  uint64_t begin, end; /* time-stamp counter */
  uint64_t slack;      /* ticks: a hole that is no longer is how long its start and end take */
  struct open_state open;
};

/* Returns when a thread ended, since the start of its process. */
uint64_t thread_life_end_ns(const struct profile_process *process, const struct profile_thread *thread);

/* waits: the thread's wait sites. */
struct thread_life thread_life_of(const struct read_file *file, const struct profile_process *process,
                                  const struct profile_thread *thread, const struct format_wait *waits,
                                  uint32_t waits_count);

struct thread_trace {
  struct thread_life life;
  struct trace_cursor cursor; /* the caller may seek, before the first event */
  uint64_t at;                /* the end of the last state or gap, or the beginning of the life */
  struct trace_event first;   /* the first state, if it is `held` until the gap before it was delivered */
  bool started, held, ended;
};

/* Damage is reported in problems, which may be NULL.  thread_trace_close() afterwards. */
void thread_trace_open(const struct trace_reader *reader, const struct thread_life *life, struct problems *problems,
                       struct thread_trace *trace);
void thread_trace_close(struct thread_trace *trace);

/* Fills in the next event: those of the cursor, and what it does not have.  Returns false after the last one. */
bool thread_trace_next(struct thread_trace *trace, struct trace_event *event);

#endif
