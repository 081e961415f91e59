/* What the columns of a run mean where runs are compared: their units, and what their figures rest on.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_COMPARISON_AMOUNTS_H
#define HPCPROF_LITE_COMPARISON_AMOUNTS_H

#include "hpcprof-lite/pipelines/job.h"

struct amounts_column {
  const char *unit; /* "s", or "" for counts */
  double scale;     /* from the stored amount to the unit */
  enum compare_basis basis;
  double sample; /* the stored amount that a sample of a counted column stands for */
};

/* Returns what a column of the run's trees means. */
struct amounts_column amounts_of(const struct job *run, uint32_t column);

/* All samples of the run, of which those of a column's rows are a part. */
uint64_t amounts_samples(const struct job *run, uint32_t column);

#endif
