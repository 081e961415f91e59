/* What a comparison holds beside the invocation's job.  Context: BATCH, the main thread. */
#ifndef HPCPROF_LITE_COMPARISON_COMPARISON_H
#define HPCPROF_LITE_COMPARISON_COMPARISON_H

#include "hpcprof-lite/pipelines/pipelines.h"

/* A run is a job of its own: it is kept, because the comparison refers to its names. */
struct comparison {
  view_pipeline *pipeline;           /* of the view; fills the report of a run */
  table_maker *make, *compared_make; /* describe the tables of a run, and of the comparison */
  struct job *runs[COMPARE_SIDES];   /* arrays */
  char **directories[COMPARE_SIDES];
  size_t rooms[COMPARE_SIDES]; /* of these */
  uint32_t counts[COMPARE_SIDES];
  struct compare compare;
  struct compare_list list;            /* of a view that is one */
  struct table *tables[COMPARE_SIDES]; /* arrays: those of its runs */
  struct compare_result result;
  bool has_catalog;       /* the job's profile has one, of all runs */
  struct scaling scaling; /* of --scaling, whose runs are all those of COMPARE_NEW */
};

#endif
