/* Builds the indexes of traces.
 *
 * Context: BATCH, the main thread; several threads read lanes.
 */
#ifndef HPCPROF_LITE_PIPELINES_INDEX_PIPELINE_H
#define HPCPROF_LITE_PIPELINES_INDEX_PIPELINE_H

#include "hpcprof-lite/pipelines/job.h"

/* What the timeline of the whole run is made from. */
struct timeline_input index_input(struct job *job);

/* Builds the indexes of all processes that have none, on all ranks, which are dismissed.  Returns 0, or the exit status
 * if the ranks do not understand each other. */
int index_store(struct job *job);

/* Builds those of this rank's processes, for another rank, as struct ranks_service wants it; self: the job, which has
 * only options. */
void index_part(void *self, const struct timeline_request *request, struct problems *problems);

#endif
