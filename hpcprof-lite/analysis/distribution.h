/* Many threads in few figures: how each figure is spread over them, and the threads that stand out.
 *
 * Context: BATCH.  Pure.  A quantile is the figure of a thread: the least one that so many percent of the threads do
 * not exceed.
 */
#ifndef HPCPROF_LITE_ANALYSIS_DISTRIBUTION_H
#define HPCPROF_LITE_ANALYSIS_DISTRIBUTION_H

#include "hpcprof-lite/model/profile.h"

enum {
  DISTRIBUTION_FROM = 64,
  DISTRIBUTION_SHOWN = 4,
  DISTRIBUTION_BINS = 8
}; /* more threads than DISTRIBUTION_FROM are a crowd */

enum distribution_figure {
  DISTRIBUTION_WORK,
  DISTRIBUTION_OVERHEAD,
  DISTRIBUTION_LOCKWAIT,
  DISTRIBUTION_IDLE,
  DISTRIBUTION_BLOCKED,
  DISTRIBUTION_CPU,
  DISTRIBUTION_WALL, /* the times are up to here */
  DISTRIBUTION_SAMPLES,
  DISTRIBUTION_DROPPED,
  DISTRIBUTION_PARTIAL,
  DISTRIBUTION_FIGURES
};

enum distribution_place {
  DISTRIBUTION_LEAST,
  DISTRIBUTION_P5,
  DISTRIBUTION_P25,
  DISTRIBUTION_MEDIAN,
  DISTRIBUTION_P75,
  DISTRIBUTION_P95,
  DISTRIBUTION_MOST,
  DISTRIBUTION_PLACES
};

struct distribution {
  uint32_t threads, processes, hosts;
  uint64_t places[DISTRIBUTION_FIGURES][DISTRIBUTION_PLACES];
  uint64_t mean[DISTRIBUTION_FIGURES];
  enum distribution_figure by;      /* what threads are compared by: work, or CPU time where no time was sampled */
  uint64_t bin_width;               /* of that figure, from its least on; 0: all are alike */
  uint32_t bins[DISTRIBUTION_BINS]; /* threads */
  uint64_t most[DISTRIBUTION_SHOWN],
      least[DISTRIBUTION_SHOWN];      /* as in the order: those with most and with least of it */
  uint64_t lossy[DISTRIBUTION_SHOWN]; /* those that lost most samples */
  uint32_t lossy_count;
};

/* Looks at the threads of an order, process << 32 | thread, more than DISTRIBUTION_FROM.  0, or ERR_NOMEM. */
int distribution_compute(const struct profile *profile, const uint64_t *order, uint32_t count, bool has_time,
                         struct distribution *distribution);

uint64_t distribution_value(const struct profile_thread *thread, enum distribution_figure figure);

const char *distribution_name(enum distribution_figure figure);

#endif
