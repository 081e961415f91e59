/* What the program reports about itself (include/hpcrun-lite.h): moments that it marks, user phases that it begins, and
 * amounts that it counts.
 *
 * Context: RT, by the thread itself inside rt_enter(); functions marked CTL are called by CTL only.  Marks and user
 * phases are a table of the process, which is added to under a lock that is tried a bounded number of times; counts are
 * tables of the threads.  Both are tables of the measurement format and lie in the live file, so a killed process keeps
 * them. What cannot be kept is counted as FORMAT_LOST_MARKS. */
#ifndef HPCRUN_LITE_RT_MARKS_MARKS_H
#define HPCRUN_LITE_RT_MARKS_MARKS_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* What this layer keeps of a thread; the thread itself writes it. */
struct marks_thread {
  struct sampling_thread below;
  struct table user_counts; /* a record for each context and counter */
  struct table user_heads;  /* of their lists, by node: record + 1, 0: none */
};

static inline struct marks_thread *marks_of(const struct thread_state *t)
{
  return (struct marks_thread *)t;
}

/* Marks and user phases of a process; its counters; records of a thread, each of a context and a counter. */
enum { MARKS_MAX = 1 << 20, MARKS_COUNTERS_MAX = 32, MARKS_COUNTS_MAX = 1 << 20 };

/* CTL: starts the tables of a new process; of a thread, whose memory marks_release_thread() frees. */
void marks_start(void);
void marks_start_thread(struct thread_state *t);
void marks_release_thread(struct thread_state *t);

/* CTL: whether the process has any marks, user phases or counts; the marks, for the writer. */
bool marks_any(void);
const struct table *marks_table(void);

/* The moment is now, also while measuring is paused.  name: NULL ends a user phase. */
void marks_add(struct thread_state *t, enum format_mark_kind kind, const char *name);

/* Adds a value to the counter's sums in the context of the call, and to the trace; not while measuring is paused.
 * inside: as for context_call(). */
void marks_count(struct thread_state *t, const char *name, int64_t value, uint64_t inside);

#endif
