/* The figures of the comparison's summary: those of the run, its efficiencies, and the functions that changed most.
 *
 * Context: BATCH.  Pure: the runs are only read.
 */
#ifndef HPCPROF_LITE_COMPARISON_COMPARE_ITEMS_H
#define HPCPROF_LITE_COMPARISON_COMPARE_ITEMS_H

#include "hpcprof-lite/comparison/comparison.h"

/* Fills the items of the result, and tests all of them together.  The joined tree is a flat view whose figures are not
 * corrected yet. */
void compare_items(struct comparison *comparison);

#endif
