/* The critical path of a process on the axis of time: the fragments whose work adds up to the span.
 *
 * Context: BATCH, one thread at a time.  Source: the graph log.  critical_chain_find() replays it once and keeps in a
 * temporary file (tape.h), of about the log's size, which fragment ran from which clock, and from which other clock a
 * clock took its value.  Read backwards from the end of the program, that leads along one chain.  Among chains of equal
 * length, it finds the one that the replay reached first.
 *
 * Invariants: the work of the intervals adds up to the span of the log; begin_ticks <= end_ticks, and no interval
 * begins before the end of the one before.  Where clocks of cores or late announcements contradict that, the earlier
 * interval is cut off, down to no length at all; its work stays.
 *
 * Memory: the intervals.  When there are more than CRITICAL_CHAIN_MAX, neighbours on one thread with a short gap become
 * one interval; `gap_ticks` says how short.  Only a path that changes threads more often than that takes more memory.
 */
#ifndef HPCPROF_LITE_GRAINS_CRITICAL_CHAIN_H
#define HPCPROF_LITE_GRAINS_CRITICAL_CHAIN_H

#include "hpcprof-lite/model/profile.h"

#include <stddef.h>

enum { CRITICAL_CHAIN_MAX = 1 << 20 };

/* Fragments of one thread that follow one another without a gap, or with short ones. */
struct critical_interval {
  uint32_t thread;                 /* index in the process */
  uint64_t begin_ticks, end_ticks; /* of the time-stamp counter */
  uint64_t work;                   /* in the unit of the log: ticks, or what was counted */
};

struct critical_chain {
  bool known;                          /* there is a log, and it is complete and consistent */
  struct critical_interval *intervals; /* in order of time */
  size_t count, room;
  uint64_t gap_ticks; /* gaps within intervals are not longer */
};

/* Finds the chain of a process; fragments outside its range (model/profile.h) are not in it.  What is wrong with the
 * log is added to problems; that of a killed process is not expected to be complete.  Returns 0, also if there is no
 * usable log, or ERR_INPUT without space for the temporary file, which is then in problems;
 * critical_chain_release() in any case. */
int critical_chain_find(const struct profile_process *process, struct problems *problems, struct critical_chain *chain);
void critical_chain_release(struct critical_chain *chain);

#endif
