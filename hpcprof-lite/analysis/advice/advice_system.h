/* Finds time that the kernel, the creation of threads or atomic instructions take, which OpenMP's events do not tell.
 *
 * Context: BATCH.  Pure.  What these findings explain is taken from the figures of the regions and from serial code, so
 * that no other finding claims it: they are to be found first.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_SYSTEM_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_SYSTEM_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

/* Adds page faults, with the calls that give memory back, and other system calls. */
void advice_kernel_find(struct advice_run *run);

/* Adds regions, and code outside them, that create threads again and again. */
void advice_churn_find(struct advice_run *run);

/* Adds functions of parallel regions in which atomic instructions take much time. */
void advice_atomics_find(struct advice_run *run);

/* Sets around[row] to the outermost region in which it is, 0 outside all. */
void advice_find_around(const struct tree *tree, uint32_t *around);

/* Sets the place of a finding to a row of the tree. */
void advice_place_row(const struct advice_run *run, uint32_t row, struct advice_finding *found);

/* The elapsed time by a second that one thread of each process that runs at the same time takes. */
double advice_per_process(const struct advice_run *run);

#endif
