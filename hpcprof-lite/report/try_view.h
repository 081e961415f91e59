/* The try view: what settings gained when they were tried.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_TRY_VIEW_H
#define HPCPROF_LITE_REPORT_TRY_VIEW_H

#include "hpcprof-lite/analysis/trial_figures.h"

enum { TRY_VIEW_RESULT_MAX = 256 };

/* Writes what a setting did, for a sentence: "gained 0.310 s (29.1 to 32.9 % of the
 * time)", "no difference above 2.1 %". */
void try_view_result(const struct trial *trial, const struct trial_row *tried, char out[TRY_VIEW_RESULT_MAX]);

#endif
