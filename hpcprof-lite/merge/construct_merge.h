/* Times of constructs of the run, merged from those of its processes.
 *
 * Context: BATCH.  Constructs are the same if they have the same place in the program: kind, directive and whether they
 * ran in a wait are equal, and those around them are the same.  All memory belongs to the profile.
 */
#ifndef HPCPROF_LITE_MERGE_CONSTRUCT_MERGE_H
#define HPCPROF_LITE_MERGE_CONSTRUCT_MERGE_H

#include "hpcprof-lite/model/profile.h"

/* Fills in the nodes of profile->constructs, with their contexts.  In the constructs of each process, rows and tasks
 * then name nodes and directives of the run, and the nodes are gone.  span_merge() has been called. */
void construct_merge(struct profile *profile);

#endif
