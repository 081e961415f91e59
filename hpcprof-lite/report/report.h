/* The results that a report prints.
 *
 * Context: BATCH.  Reports compute nothing but widths and percentages; all they show is read from here.  A failed write
 * shows in ferror(stream), which output.c checks.
 */
#ifndef HPCPROF_LITE_REPORT_REPORT_H
#define HPCPROF_LITE_REPORT_REPORT_H

#include "hpcprof-lite/analysis/advice/advice.h"
#include "hpcprof-lite/analysis/causes.h"
#include "hpcprof-lite/algorithms/compare.h"
#include "hpcprof-lite/algorithms/run_marks.h"
#include "hpcprof-lite/analysis/distribution.h"
#include "hpcprof-lite/analysis/efficiency.h"
#include "hpcprof-lite/analysis/grain_groups.h"
#include "hpcprof-lite/analysis/hotspots.h"
#include "hpcprof-lite/analysis/overheads.h"
#include "hpcprof-lite/analysis/phases.h"
#include "hpcprof-lite/analysis/scaling.h"
#include "hpcprof-lite/analysis/speedup.h"
#include "hpcprof-lite/analysis/task_figures.h"
#include "hpcprof-lite/analysis/totals.h"
#include "hpcprof-lite/analysis/unnamed_modules.h"
#include "hpcprof-lite/analysis/whatif.h"
#include "hpcprof-lite/analysis/workspan.h"
#include "hpcprof-lite/model/grain.h"
#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/table.h"
#include "hpcprof-lite/model/timeline.h"
#include "hpcprof-lite/model/tree.h"
#include "hpcprof-lite/views/source/source_blocks.h"
#include "hpcprof-lite/views/statistics.h"

#include <stdio.h>

/* Delivers the rows of single grains, struct grain_row, while they are printed.  Returns 0 or an error. */
struct grain_source {
  int (*each)(void *context, table_take *take, void *to);
  void *context;
};

struct report {
  FILE *stream;
  const uint32_t *chosen; /* numbers of the columns that --columns names, in order */
  uint32_t chosen_count;  /* 0: it is not given */
  const char *view;
  const struct profile *profile;
  const struct names *names;
  const struct tree_columns *columns;
  const struct totals *totals;
  const struct tree *tree;             /* the view's; the top-down tree in the summary */
  const char *metric;                  /* in folded stacks, as --metric names it; NULL: the first one */
  const struct tree *flat;             /* flat view, in the summary */
  const struct source_blocks *source;  /* in the source view */
  const bool *shown;                   /* [row of tree, or of constructs] whether it is printed */
  const struct statistics *statistics; /* of the rows of tree; NULL if there are none */
  bool no_statistics;                  /* the table has no columns for them */
  uint32_t left_out;
  double percent_limit;
  bool only_percent_limit; /* the number or depth of rows is not limited */
  const struct hotspot *hot;
  uint32_t hot_count;
  const struct causes_finding *idle, *locks; /* contexts that cause most waiting */
  uint32_t idle_count, locks_count;
  struct efficiency efficiency;
  struct workspan workspan;
  const char *scenario;          /* --what-if, to which workspan applies; NULL if there is none */
  bool best_case;                /* of the scenario: there is no graph log to compute it from */
  const uint32_t *critical_rows; /* rows of flat with most of the critical path */
  uint32_t critical_rows_count;
  struct whatif whatif;
  struct speedup speedup;
  struct grain_source grains;
  const struct grain_graph *grain_graph;
  enum grain_metric colour;                /* by which its nodes are coloured */
  const struct grain_groups *grain_groups; /* NULL: single grains are shown */
  const struct grain_curve *grain_curve;   /* NULL: not known */
  const struct construct_tree *constructs; /* the tree or list that is shown; in the summary, the list by gain */
  struct overheads overheads;
  struct task_figures tasks;
  struct advice advice;
  bool traced, phased;             /* in the summary: there is a timeline; there are phases */
  const struct timeline *timeline; /* its constructs are entries of `constructs`, its contexts rows of `tree` */
  enum timeline_grouping lanes;
  uint32_t rows_limit;         /* lines of the timeline, 0: all; contexts of --scaling */
  const struct phases *phases; /* of each process that has any */
  uint32_t phases_count;
  const struct run_marks *marks; /* in the views on the axis of time */
  bool per_thread;               /* rows for each thread below those of constructs */
  bool log_differs;              /* the graph log disagrees with the measurement, or is incomplete */
  const struct unnamed_module *modules;
  uint32_t modules_count;
  const uint64_t *thread_order; /* process << 32 | thread, in the order in which they are printed */
  uint32_t thread_count;
  const uint32_t *row_order; /* of a view whose rows are elements of an array: their numbers, in order of printing */
  uint32_t row_count;
  const struct distribution *distribution; /* printed instead of single threads where there are many; else NULL */
  const char *arguments;                   /* of the run, for commands in hints: "--merge DIR1 DIR2" */
  char *const *references;                 /* runs with one thread to which advice compares it */
  size_t references_count;
  enum profile_baseline baseline;
  const char *filtered;              /* what the measurement left out, see profile_filtered(); "" or NULL: nothing */
  bool legend;                       /* explain the columns in full */
  const struct scaling *scaling;     /* of --scaling, else NULL */
  struct compare_result *comparison; /* of --compare and --fail-if, else NULL */
};

/* Describes the table of a view, whose source reads the report.  Columns depend on the profile only: they are known
 * before the report has rows.  The table must be released. */
typedef void table_maker(const struct report *report, struct table *table);

/* Defines the source of a table whose rows are an array: in it, `report` is the table's source. */
#define REPORT_EACH(name, rows, rows_count)                                                                            \
  static int name(const void *source, table_take *take, void *to)                                                      \
  {                                                                                                                    \
    const struct report *report = source;                                                                              \
    int status = 0;                                                                                                    \
    for (uint32_t i = 0; i < (rows_count) && !status; i++)                                                             \
      status = take(to, &(rows)[i]);                                                                                   \
    return status;                                                                                                     \
  }

/* The period of samples in ns; 0: they do not measure time. */
static inline uint64_t report_period_ns(const struct report *report)
{
  const struct tree_columns *columns = report->columns;
  return columns->work == MODEL_NONE ? 0 : columns->columns[columns->work].period;
}

/* The id of a row of the tree; empty if there is no such row. */
static inline struct cell report_context_cell(const struct report *report, uint32_t row)
{
  return row < report->tree->count ? cell_count(report->tree->rows[row].id) : cell_empty();
}

#endif
