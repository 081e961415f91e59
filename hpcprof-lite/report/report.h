/* What every report gets: results to turn into bytes.
 *
 * Context: BATCH.  Reports compute nothing but widths and percentages; all they show is read from here.  A failed write
 * shows in ferror(stream), which main.c checks.
 */
#ifndef HPCPROF_LITE_REPORT_REPORT_H
#define HPCPROF_LITE_REPORT_REPORT_H

#include "hpcprof-lite/analysis/causes.h"
#include "hpcprof-lite/analysis/efficiency.h"
#include "hpcprof-lite/analysis/speedup.h"
#include "hpcprof-lite/analysis/whatif.h"
#include "hpcprof-lite/analysis/workspan.h"
#include "hpcprof-lite/analysis/distribution.h"
#include "hpcprof-lite/views/statistics.h"
#include "hpcprof-lite/model/tree.h"

#include <stdio.h>

/* Totals over all processes and threads. */
struct report_run {
  char *command; /* of all processes, shortened where they are many */
  char *hosts;   /* "node1", or "3 hosts: node1, node2, node3"      */
  uint32_t processes, threads, threads_max;
  uint32_t unfinished, running; /* of the processes: were killed; have not ended yet */
  uint64_t elapsed_ns, cpu_ns, regions;
  uint64_t samples;
  uint64_t work_ns, overhead_ns, lockwait_ns, idle_ns, lockwait_sampled_ns;
  uint64_t lost[LOSS_MAX];
  uint64_t caused_lock_ns, caused_idle_ns; /* charged to contexts                                    */
  uint64_t baseline_ns;                    /* threads or cores of the OpenMP processes x elapsed time  */
  uint32_t openmp_processes, baseline;     /* their number; threads or cores of each, 0 if they differ */
  uint64_t openmp_wall_ns, blocked_ns;     /* of OpenMP threads: life time; in calls known to block    */
  uint64_t unseen_ns;                      /* of OpenMP threads: in no category and not known as blocked */
  bool by_wall;                            /* samples were driven by elapsed time, not by CPU time     */
};

/* A function with much time of its own, and the calling path on which most of it was spent. */
struct report_hot {
  uint32_t flat;    /* row of the flat tree     */
  uint32_t context; /* row of the top-down tree */
};

/* What could not be named. */
struct report_module {
  uint32_t module;
  uint64_t weight; /* of the module's own rows             */
  bool unnamed;    /* no symbols; else no source lines     */
};

struct report {
  FILE *stream;
  const char *view;
  const struct profile *profile;
  const struct names *names;
  const struct tree_columns *columns;
  const struct report_run *run;
  const struct tree *tree;             /* of the view; of the summary: the top-down one */
  const struct tree *flat;             /* of the summary */
  const bool *shown;                   /* [row of tree] */
  const struct statistics *statistics; /* of the rows of tree; NULL: none */
  uint32_t left_out;
  double percent_limit;
  bool weigh_excl; /* the view is about exclusive values */
  const struct report_hot *hot;
  uint32_t hot_count;
  const struct causes_finding *idle, *locks; /* worst contexts */
  uint32_t idle_count, locks_count;
  struct efficiency efficiency;
  struct workspan workspan;
  const uint32_t *path; /* rows of flat with most of the critical path */
  uint32_t path_count;
  struct whatif whatif;
  struct speedup speedup;
  bool log_differs; /* the log of the graph says something else than the measurement, or is not complete */
  const struct report_module *modules;
  uint32_t modules_count;
  const uint64_t *thread_order; /* process << 32 | thread, in the order to be shown */
  uint32_t thread_count;
  const struct distribution *distribution; /* of so many threads that they are not shown one by one; else NULL */
  const char *directory;                   /* first one, for hints */
  enum profile_baseline baseline;
};

static inline const struct profile_thread *report_thread(const struct report *report, uint32_t i,
                                                         const struct profile_process **process)
{
  *process = &report->profile->processes[report->thread_order[i] >> 32];
  return &(*process)->threads[(uint32_t)report->thread_order[i]];
}

#endif
