/* A list schedule of a recorded graph on a number of cores (Graham, "Bounds on Multiprocessing Timing Anomalies",
 * 1969).
 *
 * Context: BATCH.  The caller passes fragments in an order in which each comes after those that it waits for; earlier
 * ones go first where cores are short.  A fragment runs from the time at which it is ready, on one core at a time, and
 * whenever a core is free: it uses gaps that earlier fragments have left, also in parts.  So no core is idle while
 * there is work, and the schedule is not longer than work / cores + the longest chain.  Scheduling costs nothing.  The
 * result is neither the best schedule nor that of the runtime.
 *
 * Departure: time is divided into LIST_SCHEDULE_SLOTS slots, whose length doubles when they do not suffice.  Within a
 * slot fragments share the cores evenly.  Both bounds hold all the same: a fragment never runs faster than on one core,
 * nor a slot's cores more than all the time.
 *
 * The caller owns the structure, which owns two numbers for each slot.
 */
#ifndef HPCPROF_LITE_REPLAY_LIST_SCHEDULE_H
#define HPCPROF_LITE_REPLAY_LIST_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum { LIST_SCHEDULE_CORES_MAX = 1024, LIST_SCHEDULE_SLOTS = 1 << 15 };

struct list_schedule {
  double *used;    /* [slot] work placed there */
  uint32_t *skip;  /* [slot] a full slot: a later one that may have room, or itself */
  double length;   /* of a slot */
  double makespan; /* the time at which the last fragment ends */
  uint32_t cores;  /* 0: as many as are needed */
};

/* Prepares at most LIST_SCHEDULE_CORES_MAX cores, all free at 0. */
void list_schedule_init(struct list_schedule *schedule, uint32_t cores);
void list_schedule_release(struct list_schedule *schedule);

/* Places a fragment that is ready at time `ready` and takes `work`.  If it is divisible, at will, it runs on all cores
 * at once; on as many cores as are needed it then takes no time.  Returns the time at which it ends. */
double list_schedule_run(struct list_schedule *schedule, double ready, double work, bool divisible);

/* Something that needs no core ends at that time. */
void list_schedule_wait(struct list_schedule *schedule, double end);

#endif
