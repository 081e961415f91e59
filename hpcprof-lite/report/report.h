/* The results that a report prints.
 *
 * Context: BATCH.  Reports compute nothing but widths and percentages; all they show is read from here.  A failed write
 * shows in ferror(stream), which output.c checks.
 */
#ifndef HPCPROF_LITE_REPORT_REPORT_H
#define HPCPROF_LITE_REPORT_REPORT_H

#include "hpcprof-lite/analysis/advice/advice.h"
#include "hpcprof-lite/analysis/causes.h"
#include "hpcprof-lite/analysis/core_findings.h"
#include "hpcprof-lite/algorithms/compare.h"
#include "hpcprof-lite/algorithms/run_marks.h"
#include "hpcprof-lite/analysis/trial_figures.h"
#include "hpcprof-lite/analysis/distribution.h"
#include "hpcprof-lite/analysis/efficiency.h"
#include "hpcprof-lite/analysis/grain_groups.h"
#include "hpcprof-lite/analysis/hotspots.h"
#include "hpcprof-lite/analysis/kernel_findings.h"
#include "hpcprof-lite/analysis/overheads.h"
#include "hpcprof-lite/analysis/phases.h"
#include "hpcprof-lite/analysis/region_threads.h"
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
#include "hpcprof-lite/views/call_places.h"
#include "hpcprof-lite/views/source/source_blocks.h"
#include "hpcprof-lite/views/statistics.h"

#include <stdio.h>

/* Delivers the rows of single grains, struct grain_row, while they are printed.  Returns 0 or an error. */
struct grain_source {
  int (*each)(void *context, table_take *take, void *to);
  void *context;
};

/* Which rows are shown. */
struct report_limits {
  uint32_t left_out;
  double percent;
  bool only_percent; /* the number or depth of rows is not limited */
  uint32_t rows;     /* lines of the timeline, 0: all; contexts of --scaling */
};

/* What tree_pipeline finds for the views of contexts and source lines. */
struct report_trees {
  const struct tree *calls;            /* the top-down tree that the flat view is made of; NULL in other views */
  const char *metric;                  /* in folded stacks, as --metric names it; NULL: the first one */
  const struct source_blocks *source;  /* in the source view */
  const struct statistics *statistics; /* of the rows of the report's tree; NULL if there are none */
  bool no_statistics;                  /* the table has no columns for them */
};

/* What summary_pipeline finds. */
struct report_summary {
  const struct tree *flat; /* flat view */
  struct hotspot hot[HOTSPOTS_MAX];
  uint32_t hot_count;
  uint32_t critical[HOTSPOTS_CRITICAL_MAX]; /* rows of flat with most of the critical path */
  uint32_t critical_count;
  struct causes_finding idle[CAUSES_WORST], locks[CAUSES_WORST]; /* contexts that cause most waiting */
  uint32_t idle_count, locks_count;
  struct call_places blocked; /* where threads slept outside OpenMP */
  struct advice_pool pool;
  uint64_t mpi_idle_ns; /* threads had no work while another one was in a call of MPI */
  uint32_t mpi_idle;    /* row of the tree with most of that */
  struct unnamed_module unnamed[UNNAMED_MODULES_MAX];
  uint32_t unnamed_count;
  struct core_findings cores;
  struct kernel_findings kernel;
  bool traced, phased; /* there is a timeline; there are phases */
};

/* What graph_pipelines finds for the views of work and span; grain_pipelines fills workspan, too. */
struct report_spans {
  struct workspan workspan;
  const char *scenario; /* --what-if, to which workspan applies; NULL if there is none */
  bool best_case;       /* of the scenario: there is no graph log to compute it from */
  struct whatif whatif;
  struct speedup speedup;
};

/* What grain_pipelines finds. */
struct report_grains {
  struct grain_source rows;
  const struct grain_graph *graph;
  enum grain_metric colour;          /* by which its nodes are coloured */
  const struct grain_groups *groups; /* NULL: single grains are shown */
  const struct grain_curve *curve;   /* NULL: not known */
};

/* What timeline_pipelines finds for the views on the axis of time. */
struct report_time {
  const struct timeline *timeline; /* its constructs are entries of the report's, its contexts rows of its tree */
  enum timeline_grouping lanes;
  const struct phases *phases; /* of each process that has any */
  uint32_t phases_count;
  const struct run_marks *marks;
  struct mpi_events *mpi; /* timeline/mpi_events.h, for the exports; NULL: there are none */
};

/* The rows of a view that shows elements of an array, as overview_pipelines puts them in order. */
struct report_list {
  const uint64_t *threads; /* process << 32 | thread */
  const uint32_t *rows;    /* numbers of the elements */
  uint32_t count;
  const struct distribution *distribution; /* printed instead of single threads where there are many; else NULL */
};

/* The record of hpcrun-lite --try, with what it says; without runs, what could be tried. */
struct report_trial {
  const struct trial *record;
  const struct trial_figures *figures;
};

/* Parts of commands in hints. */
struct report_command {
  const char *arguments;   /* of the run: "--merge DIR1 DIR2" */
  char *const *references; /* runs with one thread to which advice and regions compare it */
  size_t references_count;
};

struct report {
  FILE *stream;
  const uint32_t *chosen; /* numbers of the columns that --columns names, in order */
  uint32_t chosen_count;  /* 0: it is not given */
  const char *view;
  bool legend; /* explain the columns in full */
  bool mpi;    /* the run made calls of MPI: tables have columns for them */
  bool awaits; /* threads waited for devices: likewise */
  const struct profile *profile;
  const struct names *names;
  const struct tree_columns *columns;
  const struct totals *totals;
  struct efficiency efficiency;
  enum profile_baseline baseline;
  const char *filtered;    /* what the measurement left out, see profile_filtered(); "" or NULL: nothing */
  bool log_differs;        /* the graph log disagrees with the measurement, or is incomplete */
  const struct tree *tree; /* the view's; the top-down tree in the summary */
  const struct construct_tree *constructs; /* the tree or list that is shown; in the summary, the list by gain */
  const bool *shown;                       /* [row of tree, or of constructs] whether it is printed */
  bool per_thread;                         /* rows for each thread below those of constructs */
  struct report_limits limits;
  struct report_command command;
  struct report_trees trees;
  struct report_summary summary;
  struct advice advice;
  struct report_spans spans;
  struct overheads overheads;
  struct region_threads_list region_threads;
  struct task_figures tasks;
  struct report_grains grains;
  struct report_time time;
  struct report_list list;
  struct report_trial trial;                 /* of the views try and advice */
  const struct lock_rows *locks;             /* of the view locks */
  const struct rank_rows *ranks;             /* of the view ranks */
  const struct device_rows *devices;         /* of the view devices */
  const struct mpi_rows *mpi_calls;          /* of the view mpi */
  const struct job_messages *messages;       /* of the views messages and wait-states */
  const struct wait_state_rows *wait_states; /* of the view wait-states */
  const struct scaling *scaling;             /* of --scaling, else NULL */
  struct compare_result *comparison;         /* of --compare and --fail-if, else NULL */
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

/* A name that may not be known. */
static inline const char *report_known(const char *name)
{
  return *name ? name : "(unknown)";
}

/* The process of a lane of the timeline. */
static inline const struct profile_process *report_lane_process(const struct report *report, uint32_t lane)
{
  return &report->profile->processes[report->time.timeline->lanes[lane].process];
}

/* The id of a row of the tree; empty if there is no such row. */
static inline struct cell report_context_cell(const struct report *report, uint32_t row)
{
  return row < report->tree->count ? cell_count(report->tree->rows[row].id) : cell_empty();
}

#endif
