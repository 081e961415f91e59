/* Work, span and critical path of the run, out of those of its processes.
 *
 * Context: BATCH.  Processes run at the same time: their work adds up, and the span of the run is that of the process
 * with the largest one; its parts are the run's.  Constructs are the same by kind, module, offset and name, and
 * their figures add up.  Processes that count in another unit are left out.
 *
 * A part without a context (a fragment in which no sample fell) takes its directive's mix: it is spread over the
 * contexts of the directive's other parts in proportion to them; where there are none it stays without.  Invariant:
 * the sum of all parts = the span.
 */
#ifndef HPCPROF_LITE_INPUT_SPAN_MERGE_H
#define HPCPROF_LITE_INPUT_SPAN_MERGE_H

#include "hpcprof-lite/model/profile.h"

/* Fills profile->graph, replaces contexts.shares by the run's parts (each directive and context once, by directive),
 * and enters them into the contexts as a column of role COLUMN_CRITICAL.  0, or ERR_NOMEM. */
int span_merge(struct profile *profile);

/* Fills leads[number of a process]: whether its span is the largest, or as large; the parts of others' are not asked
 * for any more, whatever other processes there are. */
void span_leaders(const struct profile *profile, bool *leads);

/* Sorts parts of the span by directive, and spreads those without a context over the others of their directive, in
 * proportion; fewer are left. */
void span_spread(struct profile_share *shares, uint32_t *count);

#endif
