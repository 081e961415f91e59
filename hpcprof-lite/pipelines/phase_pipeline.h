/* The phases of all processes, from the timeline.
 *
 * Context: BATCH, the main thread; several threads read lanes.
 */
#ifndef HPCPROF_LITE_PIPELINES_PHASE_PIPELINE_H
#define HPCPROF_LITE_PIPELINES_PHASE_PIPELINE_H

#include "hpcprof-lite/pipelines/job.h"

/* Finds the phases of all processes, and gives them to the report; none without times of constructs, and none of a
 * process with too many regions, which is reported. */
void phases_of_timeline(struct job *job);

/* The phases of a process whose index is built, to be stored with it. */
struct phase_guest;

/* Returns a new one, for phase_guest_close(). */
struct phase_guest *phase_guest_open(struct job *job, const struct timeline *timeline, uint32_t first_lane);
void phase_guest_close(struct phase_guest *guest);

/* Finds them, without their figures.  Several threads may do that for different processes. */
void phase_guest_find(struct phase_guest *guest);

/* Returns what adds their figures while the index is built; NULL if there are no phases. */
const struct timeline_index_guest *phase_guest_of_index(const struct phase_guest *guest);

#endif
