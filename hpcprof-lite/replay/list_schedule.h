/* A list schedule of a recorded graph on some cores.
 *
 * Context: BATCH.  Fragments come in the order in which they began in the run.  Each starts when what it waits for is
 * done and a core is free: among the cores that are free by then, on the one that became free last, so that the others
 * stay free for longer; else on the first to become free.  It is what a scheduler does that always takes the oldest
 * piece of work, with no cost of its own; neither the best schedule nor the runtime's.  It does not go back to fill a
 * gap before work that was placed: so it may fall short of what greedy schedules are sure to reach.  Memory: a number
 * for each core.
 */
#ifndef HPCPROF_LITE_REPLAY_LIST_SCHEDULE_H
#define HPCPROF_LITE_REPLAY_LIST_SCHEDULE_H

#include <stdint.h>

enum { LIST_SCHEDULE_CORES_MAX = 1024 };

struct list_schedule {
  double *free_at; /* of each core, ascending */
  uint32_t cores;
};

/* 1 to LIST_SCHEDULE_CORES_MAX cores, all free at 0.  0, or ERR_NOMEM; list_schedule_release() in any case. */
int list_schedule_init(struct list_schedule *schedule, uint32_t cores);
void list_schedule_release(struct list_schedule *schedule);

/* Places work that may start at `ready`; returns its end. */
double list_schedule_run(struct list_schedule *schedule, double ready, double work);

/* The end of all. */
double list_schedule_makespan(const struct list_schedule *schedule);

#endif
