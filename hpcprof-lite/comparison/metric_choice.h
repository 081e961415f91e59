/* The column that --metric means in a comparison.  Context: BATCH, the main thread. */
#ifndef HPCPROF_LITE_COMPARISON_METRIC_CHOICE_H
#define HPCPROF_LITE_COMPARISON_METRIC_CHOICE_H

#include "hpcprof-lite/pipelines/job.h"

struct metric_choice {
  const struct table *table;
  bool (*is_figure)(const void *context, uint32_t column); /* whether it can be compared */
  const void *context;
  bool exclusive;       /* the view prefers "_excl" */
  const char *standard; /* the name without --metric */
};

/* Sets *column to the column: one whose name is that of the option, or whichever fits among those that can be compared.
 * Returns 0, or the exit status after it has printed why there is none. */
int metric_choice_find(const struct job *job, const struct metric_choice *choice, uint32_t *column);

#endif
