/* Compares the figures of threads: a thread is the same one in all runs if its rank, the number of its process in the
 * rank, and its own number in the process are.
 *
 * Context: BATCH, the main thread.  The runs are only read.
 */
#ifndef HPCPROF_LITE_COMPARISON_COMPARE_THREADS_H
#define HPCPROF_LITE_COMPARISON_COMPARE_THREADS_H

#include "hpcprof-lite/comparison/comparison.h"

/* Returns the number of a column by its name, or MODEL_NONE. */
uint32_t compare_threads_column(const char *name);

/* Fills the threads of the result and the figures of all their columns, and tests these together; the threads are in
 * the order of --sort.  column: the one of --metric.  Returns 0, ERR_INPUT if there is no such column to sort by, or
 * ERR_NOMEM. */
int compare_threads(struct job *job, struct comparison *comparison, uint32_t column);

#endif
