/* The speedup over one core that can be expected on several cores.
 *
 * Context: BATCH.  Pure: the profile is only read, the caller owns the result.  Source: the bounds of greedy scheduling
 * (Graham; Brent).  With work W and span S, a run on P cores that leaves no core idle while there is work takes
 * max(W/P, S) <= T_P <= W/P + S.  If a lock has one holder at a time, T_P is at least the largest lock bound L, and at
 * most W/P + C, where C is the longest chain in which each holder of a lock also waits for the one before.  C is known
 * from a log; otherwise the larger of S and L stands for it.  The estimate is Brent's (W - S)/P + S: work that is not
 * on the critical path is distributed evenly and does not overlap the critical path.  It lies between the bounds and is
 * W for P = 1.  With the burdened span B, which includes the cost of scheduling, it is (W - B)/P + B.
 */
#ifndef HPCPROF_LITE_ANALYSIS_SPEEDUP_H
#define HPCPROF_LITE_ANALYSIS_SPEEDUP_H

#include "hpcprof-lite/model/profile.h"

enum { SPEEDUP_ROWS = 9 };

struct speedup_row {
  uint64_t cores;
  double lower, upper, estimate, burdened;
  double simulated; /* in a list schedule of the recorded graph; 0 without a log, or on too many cores */
  double measured;  /* work / elapsed time; 0 except in the row of the run's own threads if work is time */
};

struct speedup {
  struct speedup_row rows[SPEEDUP_ROWS];
  uint32_t count; /* 0 if work and span are not known */
};

/* Fills rows for 1, 2, 4, … 128 cores and for the run's own number of threads. */
void speedup_compute(const struct profile *profile, struct speedup *speedup);

/* Returns the estimate for a number of cores, 0 if work and span are not known. */
double speedup_estimate(const struct profile *profile, uint64_t cores);

/* Adds the results of the graph log: the burdened span, the longest chain in which a lock has one holder at a time, and
 * makespans[row] of the list schedule on the row's cores, 0 if there is none.  All are in the unit of the profile's
 * workspan. */
void speedup_enter(const struct profile *profile, double burdened, double chain, const double *makespans,
                   struct speedup *speedup);

#endif
