/* A list schedule of a recorded graph on a number of cores (Graham, "Bounds on Multiprocessing Timing Anomalies",
 * 1969).
 *
 * Context: BATCH.  The caller passes fragments in the order in which they began in the run.  A fragment starts when it
 * is ready and a core is free.  If several cores are free at that time, it is placed on the one that became free last,
 * so that the gap before it is smallest; if none is, on the core that becomes free first.  Scheduling costs nothing.
 * The result is neither the best schedule nor that of the runtime.
 *
 * Departure: a gap before a fragment that has been placed is never filled.  Therefore the schedule may be longer than
 * the bound that holds for greedy schedules.
 *
 * The caller owns the structure, which owns one number for each core.
 */
#ifndef HPCPROF_LITE_REPLAY_LIST_SCHEDULE_H
#define HPCPROF_LITE_REPLAY_LIST_SCHEDULE_H

#include <stdint.h>

enum { LIST_SCHEDULE_CORES_MAX = 1024 };

struct list_schedule {
  double *free_at; /* when each core becomes free, ascending */
  uint32_t cores;
};

/* Prepares 1 to LIST_SCHEDULE_CORES_MAX cores, all free at 0.  Returns 0 or ERR_NOMEM; list_schedule_release() in
 * either case. */
int list_schedule_init(struct list_schedule *schedule, uint32_t cores);
void list_schedule_release(struct list_schedule *schedule);

/* Places a fragment that is ready at time `ready` and takes `work`.  Returns the time at which it ends. */
double list_schedule_run(struct list_schedule *schedule, double ready, double work);

/* Returns the time at which the last fragment ends. */
double list_schedule_makespan(const struct list_schedule *schedule);

#endif
