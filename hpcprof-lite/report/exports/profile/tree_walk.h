/* The walk over the rows of a tree that all exports of profiles share, and the metrics that they export.
 *
 * Context: BATCH.  Rows come depth-first, as in the tree views, and only those that the report shows.  Where the rows
 * below a row are not shown, one row named "[omitted]" stands for them, so that for every row and metric
 * incl = excl + sum of incl of the rows below it.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_PROFILE_TREE_WALK_H
#define HPCPROF_LITE_REPORT_EXPORTS_PROFILE_TREE_WALK_H

#include "hpcprof-lite/report/report.h"

enum { TREE_METRIC_NAME_MAX = 128 };

struct tree_metric {
  char name[TREE_METRIC_NAME_MAX]; /* of a category, critical_path, samples, the event's, or what the kernel counted */
  const char *unit;                /* "ns", "" for a number, or what was counted */
  bool is_time;                    /* the unit is "ns" */
  bool is_category;                /* one of the four */
  uint32_t column;                 /* of the tree; MODEL_NONE: all values are 0 */
};

struct tree_metrics {
  struct tree_metric list[CATALOG_COLUMNS_MAX + 1];
  uint32_t count; /* at least 1; their names differ, also without regard to case */
};

/* One row of the walk.  `number` is tree->count for omitted rows, whose `row` is not part of the tree. */
struct walk_row {
  const struct tree_row *row;
  uint32_t number, depth;
  const uint64_t *excl, *incl; /* [metric] */
};

struct walk_visitor {
  void (*enter)(void *context, const struct walk_row *here);
  void (*leave)(void *context, const struct walk_row *here); /* NULL: nothing is to be done */
};

/* Fills *metrics with all metrics that the report has: the four categories, the critical path, samples, events, what
 * the kernel counted. */
void tree_metrics_init(const struct report *report, struct tree_metrics *metrics);

/* Whether any of the values of a row, one for each metric, is not 0. */
static inline bool tree_metrics_any(const struct tree_metrics *metrics, const uint64_t *values)
{
  for (uint32_t i = 0; i < metrics->count; i++)
    if (values[i])
      return true;
  return false;
}

/* Returns the position of the metric with that name, or whose exclusive CSV column has that name; MODEL_NONE if there
 * is none. */
uint32_t tree_metrics_find(const struct tree_metrics *metrics, const char *name);

/* The row that stands for omitted ones; the name of any row, never "". */
extern const struct tree_row tree_walk_omitted;
const char *tree_walk_name(const struct tree_row *row);

/* Returns the path of a row's module, "" if it has none. */
const char *tree_walk_module(const struct report *report, const struct tree_row *row);

/* Calls the visitor for each row.  Returns 0; or ERR_INPUT if the report's stream, if there is one, has failed, which
 * ends the walk. */
int tree_walk(const struct report *report, const struct tree_metrics *metrics, const struct walk_visitor *visitor,
              void *context);

#endif
