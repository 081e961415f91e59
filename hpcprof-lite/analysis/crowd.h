/* Many threads in few figures: how each figure is spread over them, and the threads that stand out.
 *
 * Context: BATCH.  Pure.  A quantile is the figure of a thread: the least one that so many percent of the threads do
 * not exceed.
 */
#ifndef HPCPROF_CROWD_H
#define HPCPROF_CROWD_H

#include "hpcprof-lite/input/merge.h"

enum { CROWD_FROM = 64, CROWD_SHOWN = 4, CROWD_BINS = 8 }; /* more threads than CROWD_FROM are a crowd */

enum crowd_figure {
  CROWD_WORK,
  CROWD_OVERHEAD,
  CROWD_LOCKWAIT,
  CROWD_IDLE,
  CROWD_BLOCKED,
  CROWD_CPU,
  CROWD_WALL, /* the times are up to here */
  CROWD_SAMPLES,
  CROWD_DROPPED,
  CROWD_PARTIAL,
  CROWD_FIGURES
};

enum crowd_place { CROWD_LEAST, CROWD_P5, CROWD_P25, CROWD_MEDIAN, CROWD_P75, CROWD_P95, CROWD_MOST, CROWD_PLACES };

struct crowd {
  uint32_t threads, processes, hosts;
  uint64_t places[CROWD_FIGURES][CROWD_PLACES];
  uint64_t mean[CROWD_FIGURES];
  enum crowd_figure by;      /* what threads are compared by: work, or CPU time where no time was sampled */
  uint64_t bin_width;        /* of that figure, from its least on; 0: all are alike */
  uint32_t bins[CROWD_BINS]; /* threads */
  uint64_t most[CROWD_SHOWN], least[CROWD_SHOWN]; /* as in the order: those with most and with least of it */
  uint64_t lossy[CROWD_SHOWN];                    /* those that lost most samples */
  uint32_t lossy_count;
};

/* Looks at the threads of an order, process << 32 | thread, more than CROWD_FROM.  0, or ERR_NOMEM. */
int crowd_compute(const struct profile *profile, const uint64_t *order, uint32_t count, bool has_time,
                  struct crowd *crowd);

uint64_t crowd_value(const struct profile_thread *thread, enum crowd_figure figure);

const char *crowd_name(enum crowd_figure figure);

#endif
