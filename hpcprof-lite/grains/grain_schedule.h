/* How much of a run can happen at the same time: the schedule of its graph on any number of cores, in which everything
 * begins as soon as what it waits for has ended.
 *
 * Context: BATCH.  A stretch is what a grain runs without a wait that matters, from one logical clock to another.  The
 * parallelism at an instant is the number of stretches that contain it; that of a stretch is the minimum over its
 * instants.  Stretches are added in any order and sorted externally; their results come in the opposite order.
 */
#ifndef HPCPROF_LITE_GRAINS_GRAIN_SCHEDULE_H
#define HPCPROF_LITE_GRAINS_GRAIN_SCHEDULE_H

#include "hpcprof-lite/model/grain.h"

#include "hpcprof-lite/grains/external_sort.h"

enum { GRAIN_SCHEDULE_MOST = 4 << 20 }; /* parallelism beyond this is counted as this */

struct grain_schedule {
  struct external_sort *starts, *ends, *results;
  uint64_t stretches;
};

void grain_schedule_init(struct grain_schedule *schedule, struct problems *problems);
void grain_schedule_release(struct grain_schedule *schedule);

/* Adds a stretch; begin < end.  What fails is returned by grain_schedule_compute(). */
void grain_schedule_add(struct grain_schedule *schedule, uint64_t begin, uint64_t end);

/* Computes the parallelism of all stretches, and the curve over a run of that span.  Returns 0 or ERR_INPUT. */
int grain_schedule_compute(struct grain_schedule *schedule, uint64_t span, struct grain_curve *curve);

/* Starts reading the results.  Returns 0 or ERR_INPUT. */
int grain_schedule_rewind(struct grain_schedule *schedule);

/* Sets *parallelism to that of the next stretch: that of the one that was added last comes first.  Returns false if it
 * cannot be read. */
bool grain_schedule_next(struct grain_schedule *schedule, uint64_t *parallelism);

#endif
