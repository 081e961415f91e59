/* Finds why threads of a parallel region do not work: what is too small, and for what they wait.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_WAITS_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_WAITS_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

/* Adds what is found in all regions; if there are more threads than cores (`crowded`), only locks. */
void advice_waits_find(struct advice_run *run, bool crowded);

#endif
