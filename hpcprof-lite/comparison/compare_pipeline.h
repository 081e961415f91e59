/* The pipeline of --compare, and the conditions of --fail-if.
 *
 * Context: BATCH, the main thread.  Each measurement directory is a run, which is read like a report of its own and
 * kept until the end: the comparison refers to its names.  The invocation's job then holds the joined tree in the place
 * of its own.  Functions that return a status return 0, or the exit status after they have printed the reason.
 */
#ifndef HPCPROF_LITE_COMPARISON_COMPARE_PIPELINE_H
#define HPCPROF_LITE_COMPARISON_COMPARE_PIPELINE_H

#include "hpcprof-lite/comparison/comparison.h"

/* Finds the names of the directories of both sides; names with commas are lists, unless a directory has such a name. */
int compare_directories(const struct options *options, struct comparison *comparison);

/* Reads all runs, and fills the job's report with the comparison that the view shows.  comparison->pipeline, make and
 * compared_make must be set. */
int compare_pipeline(struct job *job, struct comparison *comparison);

/* Checks the conditions in the job's own run, in which tree_begin() has made the top-down tree. */
int compare_conditions(struct job *job, struct comparison *comparison);

/* Adds a directory to a side, and takes over its name. */
void compare_add_directory(struct comparison *comparison, int side, char *name);

/* Reads the runs in the directories, and makes what the view compares. */
int compare_load_runs(struct job *job, struct comparison *comparison);

/* Releases the runs, and what the comparison has put into the job's profile. */
void compare_pipeline_release(struct job *job, struct comparison *comparison);

/* Whether two runs were measured with the same filter; if not, prints a warning.  option: which compares them. */
bool compare_same_filter(const struct job *run, const struct job *other, const char *option);

#endif
