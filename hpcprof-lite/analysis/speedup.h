/* Speedup over one core that can be expected on more of them.
 *
 * Context: BATCH.  Pure.  Source: the bounds of greedy scheduling (Graham; Brent).  With work W and span S, a run on P
 * cores that leaves none idle while there is work takes max(W/P, S) <= T_P <= W/P + S.  The estimate is Brent's
 * (W - S)/P + S: what is not on the critical path is spread evenly, and nothing overlaps the critical path; it lies
 * between the bounds and is W at P = 1.  With the burdened span B, which adds the cost of scheduling: (W - B)/P + B.
 * Simulated: a list schedule of the recorded graph (list_schedule.h), for one process.
 */
#ifndef HPCPROF_LITE_ANALYSIS_SPEEDUP_H
#define HPCPROF_LITE_ANALYSIS_SPEEDUP_H

#include "hpcprof-lite/model/profile.h"

enum { SPEEDUP_ROWS = 9 };

struct speedup_row {
  uint64_t cores;
  double lower, upper, estimate, burdened;
  double simulated; /* 0 without the log of the graph, or on more cores than schedules are made for */
  double measured;  /* work / elapsed, 0 but in the row of the run's own threads, where work is time */
};

struct speedup {
  struct speedup_row rows[SPEEDUP_ROWS];
  uint32_t count; /* 0 without work and span */
};

/* For 1, 2, 4, … 128 cores and the run's own number of threads. */
void speedup_compute(const struct profile *profile, struct speedup *speedup);

/* Enters what the log of the graph says: the burdened span, and the end of the schedule on each row's cores, 0 where
 * there is none.  In the unit of the graph. */
void speedup_enter(const struct profile *profile, double burdened, const double *makespans, struct speedup *speedup);

#endif
