/* Why threads of a region wait for each other.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_REASONS_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_REASONS_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

/* Adds what the evidence tells of the waiting in a region of several threads.  Waiting for which nothing is known is
 * left out. */
void advice_reasons_find(struct advice_run *run, const struct advice_region *region);

/* Sets the place of a block that one thread runs while the others wait, and what follows from it. */
void advice_enter_block(const struct advice_run *run, const struct advice_region *region,
                        const struct construct_entry *at, struct advice_finding *found);

/* Returns the iterations of a loop, or its sections, each time; 0: not known. */
double advice_pieces(const struct advice_run *run, const struct construct_entry *loop);

#endif
