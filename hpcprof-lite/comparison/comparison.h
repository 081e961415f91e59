/* What a comparison holds beside the invocation's job.  Context: BATCH, the main thread. */
#ifndef HPCPROF_LITE_COMPARISON_COMPARISON_H
#define HPCPROF_LITE_COMPARISON_COMPARISON_H

#include "hpcprof-lite/job.h"

/* A run is a job of its own: it is kept, because the comparison refers to its names. */
struct comparison {
  struct job *runs[COMPARE_SIDES]; /* arrays */
  char **directories[COMPARE_SIDES];
  uint32_t counts[COMPARE_SIDES];
  struct compare compare;
  struct compare_result result;
  struct scaling scaling; /* of --scaling, whose runs are all those of COMPARE_NEW */
};

#endif
