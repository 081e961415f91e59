/* The loss: the time of all threads that is not work and not this tool's, as elapsed time, divided among findings.
 *
 * Context: BATCH.  Pure.  Each finding takes the part of the lost time that it explains, the first one first, from the
 * categories in which its class shows.  Time that two findings share counts for the first.  What no finding takes is
 * ADVICE_OTHER where its kind or its place is known, and ADVICE_UNEXPLAINED otherwise.  The parts add up to the loss.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_LOSS_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_LOSS_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

/* Returns the elapsed time that all threads together lost in the categories of a class. */
double advice_loss_most(const struct advice_input *input, const struct advice *advice, enum advice_class class);

/* Sets advice->loss_s and the parts of the findings, which are sorted, and adds what is left. */
void advice_loss_divide(const struct advice_input *input, struct advice *advice);

#endif
