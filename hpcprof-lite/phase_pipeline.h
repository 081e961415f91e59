/* The phases of all processes, from the timeline.
 *
 * Context: BATCH, the main thread; several threads read lanes.
 */
#ifndef HPCPROF_LITE_PHASE_PIPELINE_H
#define HPCPROF_LITE_PHASE_PIPELINE_H

#include "hpcprof-lite/job.h"

/* Finds the phases of all processes, and gives them to the report; none without times of constructs, and none of a
 * process with too many regions, which is reported.  Returns 0 or ERR_NOMEM. */
int phases_of_timeline(struct job *job);

/* The phases of a process whose index is built, to be stored with it. */
struct phase_guest;

/* Returns 0 or ERR_NOMEM; phase_guest_close() in any case. */
int phase_guest_open(struct job *job, const struct timeline *timeline, uint32_t first_lane, struct phase_guest **out);
void phase_guest_close(struct phase_guest *guest); /* NULL is allowed */

/* Finds them, without their figures.  Several threads may do that for different processes.  Returns the same as
 * phases_of_timeline(). */
int phase_guest_find(struct phase_guest *guest);

/* What then adds the figures while the index is built; NULL if there are no phases. */
const struct timeline_index_guest *phase_guest_of_index(const struct phase_guest *guest);

#endif
