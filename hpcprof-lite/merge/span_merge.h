/* Work, span and critical path of the run, computed from those of its processes.
 *
 * Context: BATCH.  Processes run at the same time: their work adds up, and the span of the run is the largest span of a
 * process, whose shares of the span become those of the run, unless the graph logs of an MPI job tell more
 * (recorded_graph_job()).  Directives of equal kind, module, offset and name are the
 * same in all processes, and their figures add up.  Processes whose work is in another unit, or not known, are left
 * out; their directives are only merged, since the times of their constructs refer to them.
 *
 * A share without a context stands for fragments in which no sample fell.  It is distributed over the other shares of
 * its directive, in proportion to them; without others it stays as it is.  Invariant: sum of all shares = span.
 *
 * All memory belongs to the profile.
 */
#ifndef HPCPROF_LITE_MERGE_SPAN_MERGE_H
#define HPCPROF_LITE_MERGE_SPAN_MERGE_H

#include "hpcprof-lite/model/profile.h"

/* Fills in profile->workspan, the profile's span_* fields, and the directive_map of each process.  Replaces
 * contexts.shares by the shares of the run: each directive and context once, sorted by directive. */
void span_merge(struct profile *profile);

/* Sets profile->span_elapsed_ns, also again after the processes' clocks were corrected. */
void span_elapsed(struct profile *profile);

/* Adds the shares to their contexts as a column of role COLUMN_CRITICAL.  Nothing happens without a span. */
void span_enter_shares(struct profile *profile);

/* Sets leads[number of a process] to whether no process of the profile has a larger span; elements of processes without
 * a span are left as they are.  Shares of the other processes can be dropped: however many processes are added, the
 * span of the run is never theirs. */
void span_leaders(const struct profile *profile, bool *leads);

/* Sorts shares by directive and distributes those without a context as described above; *count becomes the number of
 * shares that are left. */
void span_spread(struct context_share *shares, uint32_t *count);

#endif
