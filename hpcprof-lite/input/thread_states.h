/* What the states of a thread mean, and in which one it was when its process was killed: a trace has only states that
 * had ended.
 *
 * Context: BATCH.  Source: the tables of the thread; doc/format.md, "The trace".
 */
#ifndef HPCPROF_LITE_INPUT_THREAD_STATES_H
#define HPCPROF_LITE_INPUT_THREAD_STATES_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/trace_reader.h"

/* Where a thread waits in that column of a construct (enum construct_time; outside: of none); MODEL_NONE: it does not
 * wait.  Returns enum format_wait_kind. */
uint32_t thread_states_wait(const struct format_construct *construct, bool outside, uint32_t time);

/* A shorter hole at an end of a thread's life is how long its start and end take. */
#define THREAD_STATES_SLACK_NS 1000000

struct open_state {
  bool known;   /* the process was killed while the thread lived */
  bool blocked; /* the thread slept in a call of the program */
  bool limited; /* its stream may have ended before */
  bool left; /* it had left the last barrier of its region, which goes on: it did not wait, although `code` is that of a
                wait */
  uint32_t lock;  /* 1 + the waiting place of the lock that it waited for, in the construct of `code`; 0: for none */
  uint64_t code;  /* see common/tracelog.h */
  uint64_t since; /* time-stamp counter; 0: since the last state that ended */
};

/* waits: the thread's waiting places. */
struct open_state thread_states_open(const struct profile_process *process, const struct profile_thread *thread,
                                     const struct format_wait *waits, uint32_t waits_count);

/* Whether the thread's stream, all of which the cursor has read, goes on with the open state.  A stream that
 * has only samples has no states. */
bool thread_states_go_on(const struct open_state *state, const struct trace_cursor *cursor);

#endif
