/* The pipeline of --scaling.
 *
 * Context: BATCH, the main thread.  Each measurement directory is a run, as in compare_pipeline.h, which also releases
 * what this one fills; the contexts of all runs are joined into one tree with columns for each run.
 */
#ifndef HPCPROF_LITE_COMPARISON_SCALING_PIPELINE_H
#define HPCPROF_LITE_COMPARISON_SCALING_PIPELINE_H

#include "hpcprof-lite/comparison/comparison.h"

/* Finds the directories of the runs; those of a series are in the order of their names. */
void scaling_directories(const struct options *options, struct comparison *comparison);

/* Reads all runs and fills the job's report.  Returns 0, or the exit status after it has printed the reason. */
int scaling_pipeline(struct job *job, struct comparison *comparison);

#endif
