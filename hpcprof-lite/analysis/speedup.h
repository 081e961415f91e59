/* The speedup over one core that can be expected on several cores.
 *
 * Context: BATCH.  Pure: the profile is only read, the caller owns the result.  Source: the bounds of greedy scheduling
 * (Graham; Brent).  With work W and span S, a run on P cores that leaves no core idle while there is work takes
 * max(W/P, S) <= T_P <= W/P + S.  The estimate is Brent's (W - S)/P + S: work that is not on the critical path is
 * distributed evenly and does not overlap the critical path.  It lies between the bounds and is W for P = 1.  With the
 * burdened span B, which includes the cost of scheduling, it is (W - B)/P + B.
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

/* Adds the results of the graph log: the burdened span, and makespans[row] of the list schedule on the row's cores, 0
 * if there is none.  All are in the unit of the profile's workspan. */
void speedup_enter(const struct profile *profile, double burdened, const double *makespans, struct speedup *speedup);

#endif
