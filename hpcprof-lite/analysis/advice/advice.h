/* What to change in the program, in the order of what it would gain.
 *
 * Context: BATCH.  Pure: reads what other analyses have computed; the result owns its strings.  Sources: the
 * performance assistant of INTONE; the focus rules of Liu et al., ICS'13, section 3.1.
 *
 * Each outermost parallel region, and what is outside all, is examined for the causes in a table (advice_findings.c).
 * A cause has a forecast: by how much the run would be shorter without it.  Forecasts are from exact times of
 * constructs, except where a sentence says that they are from samples.  With T threads and L lost thread seconds,
 * the gain is L / T: what all threads lose together, divided equally.  This tool's own time is taken out of the region
 * first, in proportion to the number of constructs that were executed there.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

/* Fills *advice; there is at least one finding. */
void advice_compute(const struct advice_input *input, struct advice *advice);

/* Removes what gains too little, says so where nothing is left, and sorts: after advice_enter().  advice_compute() has
 * done that for its own forecasts. */
void advice_rank(const struct advice_input *input, struct advice *advice);

/* Sets directives[directive] where the change that forecasts a finding applies to the construct; only the first of
 * several copies of the same code is set. */
void advice_select(const struct construct_tree *tree, const struct advice_finding *found, bool *directives);

#endif
