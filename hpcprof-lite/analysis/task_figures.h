/* Task constructs: how many instances, how long they run, wait and are created, and where they run.
 *
 * Context: BATCH.  Pure.  Percentiles and shares come from a histogram with eight buckets for each factor of two: an
 * error of at most 9 %.  Where some tasks are created without a reading of the clock (`untimed`), their waits are
 * estimates.  The other figures are exact.
 */
#ifndef HPCPROF_LITE_ANALYSIS_TASK_FIGURES_H
#define HPCPROF_LITE_ANALYSIS_TASK_FIGURES_H

#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/names.h"

struct task_row {
  uint32_t directive, kind; /* the first directive that is a copy of the same code; its kind */
  const char *name, *file;
  uint32_t line, context; /* context: id of a row of the top-down tree, MODEL_NONE if not known */
  uint64_t created, undeferred, untied, dependent, untimed, ended, started, elsewhere, suspended;
  uint64_t exec_ns, shortest_ns, longest_ns;
  uint64_t median_ns, p90_ns;
  bool creation_known, waits_known;
  bool cut; /* only a part of the tasks: nothing but created, started and exec_ns is known */
  uint64_t create_ns;
  double wait_mean_ns;
  double below_1us, below_10us; /* parts of the ended ones */
  double cost_ns;        /* what creating one takes, or else the way from the end of one to the next; 0: not known */
  bool cost_of_creation; /* it is the former */
  uint64_t counted[COUNTERS_MAX];  /* while they ran, without the tasks that ran inside them */
  struct counters_present present; /* of them */
  uint64_t unread_ns;              /* time of which these are estimated, with the tasks inside */
  double below_cost;               /* part of the ended ones that ran for less */
};

struct task_figures {
  struct task_row *rows;
  uint32_t count;
};

/* Fills *result, with the longest time first.  tree: for the contexts. */
void task_figures_compute(const struct profile *profile, const struct names *names, const struct construct_tree *tree,
                          struct task_figures *result);
void task_figures_release(struct task_figures *result);

#endif
