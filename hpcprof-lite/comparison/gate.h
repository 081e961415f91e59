/* Checks the conditions of --fail-if: measures each in every run, and decides which hold.
 *
 * Context: BATCH, the main thread.  Functions that return a status return 0, or the exit status after they have printed
 * the reason.
 */
#ifndef HPCPROF_LITE_COMPARISON_GATE_H
#define HPCPROF_LITE_COMPARISON_GATE_H

#include "hpcprof-lite/pipelines/job.h"

/* The runs of one side, in which tree_begin() has made the top-down tree. */
struct gate_side {
  struct job *runs;
  uint32_t count;
};

/* Fills gates[] for each condition.  base: NULL if there is nothing to compare to. */
int gate_check(const struct options *options, const struct gate_side *base, const struct gate_side *now,
               struct compare_gate *gates);

/* Prints a line for each condition that holds.  Returns EXIT_GATE if any does, otherwise 0. */
int gate_report(const struct compare_gate *gates, uint32_t count);

#endif
