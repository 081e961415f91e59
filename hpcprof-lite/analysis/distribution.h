/* Summary of many threads: the distribution of each figure over them, and the threads with extreme figures.
 *
 * Context: BATCH.  Pure: the profile is only read, the caller owns the result.  The p % quantile is the smallest figure
 * of a thread that p % of the threads do not exceed (nearest rank).
 */
#ifndef HPCPROF_LITE_ANALYSIS_DISTRIBUTION_H
#define HPCPROF_LITE_ANALYSIS_DISTRIBUTION_H

#include "hpcprof-lite/model/profile.h"

enum {
  DISTRIBUTION_FROM = 64, /* more threads than these are shown as a distribution */
  DISTRIBUTION_SHOWN = 4, /* threads in each list of extremes */
  DISTRIBUTION_BINS = 8
};

enum distribution_figure {
  DISTRIBUTION_WORK,
  DISTRIBUTION_OVERHEAD,
  DISTRIBUTION_LOCKWAIT,
  DISTRIBUTION_IDLE,
  DISTRIBUTION_BLOCKED,
  DISTRIBUTION_CPU,
  DISTRIBUTION_WALL, /* the figures up to this one are times */
  DISTRIBUTION_SAMPLES,
  DISTRIBUTION_DROPPED,
  DISTRIBUTION_PARTIAL,
  DISTRIBUTION_FIGURES
};

/* Quantiles, the smallest first. */
enum distribution_quantile {
  DISTRIBUTION_LEAST,
  DISTRIBUTION_P5,
  DISTRIBUTION_P25,
  DISTRIBUTION_MEDIAN,
  DISTRIBUTION_P75,
  DISTRIBUTION_P95,
  DISTRIBUTION_MOST,
  DISTRIBUTION_QUANTILES
};

struct distribution {
  uint32_t threads, processes, hosts;
  uint64_t quantiles[DISTRIBUTION_FIGURES][DISTRIBUTION_QUANTILES];
  uint64_t mean[DISTRIBUTION_FIGURES];
  enum distribution_figure by;        /* compares threads: work, or CPU time if no time was sampled */
  uint64_t bin_width;                 /* of that figure, from its minimum on; 0: it is the same for all threads */
  uint32_t bins[DISTRIBUTION_BINS];   /* number of threads in each */
  uint64_t most[DISTRIBUTION_SHOWN];  /* threads with the largest values of `by`, as elements of the order */
  uint64_t least[DISTRIBUTION_SHOWN]; /* threads with the smallest */
  uint64_t lossy[DISTRIBUTION_SHOWN]; /* threads that lost most samples */
  uint32_t lossy_count;
};

/* Computes the distribution over the threads of an order (views/thread_order.h), of which there are more than
 * DISTRIBUTION_FROM. */
void distribution_compute(const struct profile *profile, const uint64_t *order, uint32_t count, bool has_time,
                          struct distribution *distribution);

/* Returns a figure of a thread. */
uint64_t distribution_value(const struct profile_thread *thread, enum distribution_figure figure);

/* Returns the static column title of a figure. */
const char *distribution_name(enum distribution_figure figure);

#endif
