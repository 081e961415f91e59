/* Finds what MPI costs: ranks with unequal times outside MPI, communication while threads wait, many small messages.
 *
 * Context: BATCH.  Pure.  Time in calls of MPI outside regions, and the waiting of other threads for it, is taken from
 * serial code and from blocking, so that no other finding claims it: these are to be found first.  Where calls were not
 * recorded, functions of MPI in the tree tell where time was spent, and not whose work it waited for.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_MPI_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_MPI_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

void advice_mpi_find(struct advice_run *run);

#endif
