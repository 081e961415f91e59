/* The figures of a whole run that comparisons and conditions of --fail-if use.  Context: BATCH.  Pure. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_RUN_FIGURES_H
#define HPCPROF_LITE_REPORT_COMPARISON_RUN_FIGURES_H

#include "hpcprof-lite/algorithms/condition.h"
#include "hpcprof-lite/report/report.h"

enum {
  RUN_FIGURE_ELAPSED,
  RUN_FIGURE_WITH_CORES,
  RUN_FIGURE_CPU,
  RUN_FIGURE_WORK,
  RUN_FIGURE_OVERHEAD,
  RUN_FIGURE_LOCKWAIT,
  RUN_FIGURE_IDLE,
  RUN_FIGURE_SPAN,
  RUN_FIGURE_PARALLELISM,
  RUN_FIGURE_EFFICIENCY, /* and the following */
  RUN_FIGURE_MPI = RUN_FIGURE_EFFICIENCY + EFFICIENCY_COUNT,
  RUN_FIGURE_JOB, /* and the following: efficiencies of a job of several ranks */
  RUN_FIGURES = RUN_FIGURE_JOB + JOB_METRICS
};

struct run_figure {
  const char *section, *name;
  const char *unit; /* "s", "ratio", or "" for counts */
  bool of_contexts; /* conditions use the same figure of contexts */
};

struct run_figure run_figure(uint32_t number);

/* A figure of the run of a report, in its unit; NAN if it is not known. */
double run_figure_value(const struct report *run, uint32_t number);

/* The unit in a run: that of work and span depends on it. */
const char *run_figure_unit(const struct report *run, uint32_t number);

/* The metrics of conditions, but for those of further events: figures of runs, and the columns of topdown and regions
 * that are times or counts.  Returns their number. */
enum { RUN_METRICS_MAX = 96 };
uint32_t run_figure_metrics(struct condition_metric metrics[RUN_METRICS_MAX]);

#endif
