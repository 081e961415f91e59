/* Counts of a thread's constructs, where not every boundary between constructs was read.
 *
 * Context: BATCH.  Works on arrays of the caller; nothing can fail.
 */
#ifndef HPCPROF_LITE_INPUT_CONSTRUCT_COUNTS_H
#define HPCPROF_LITE_INPUT_CONSTRUCT_COUNTS_H

#include "hpcprof-lite/input/read.h"

/* A record of the counts: see doc/format.md.  counts: 2 * counters + 1 numbers for each record of constructs.  Divides
 * what was counted in stretches with boundaries that were left out among the constructs of these stretches, by the
 * rates that were measured in the same constructs; in those without a rate, by that of the whole thread; and without
 * any rate, by time.  Afterwards the first numbers of each record are its counts, and their sums are as before. */
void construct_counts_divide(const struct format_construct *constructs, uint32_t count, unsigned counters,
                             uint64_t *counts);

#endif
