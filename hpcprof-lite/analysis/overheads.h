/* Where the time of parallel regions is lost: the four classes of overhead of ompP.
 *
 * Context: BATCH.  Pure.  Source: Fürlinger and Skinner, "Performance Profiling for OpenMP Tasks", section 3.3: time in
 * which tasks run is not overhead.  Departure: a barrier's own cost, after the last thread has arrived, is management.
 *
 * Each outermost parallel region has a row with everything below it, in all teams.  Invariant: total = useful + the
 * four classes, where total_ns is all exclusive time and useful_ns the bodies' part of it.  The row of the program
 * comes last: its total is the largest team x elapsed time, its overheads and its gain are the sums of the others; the
 * rest is serial code, and threads that smaller regions do not use.
 */
#ifndef HPCPROF_LITE_ANALYSIS_OVERHEADS_H
#define HPCPROF_LITE_ANALYSIS_OVERHEADS_H

#include "hpcprof-lite/model/construct_tree.h"

struct overheads_row {
  const struct construct_entry *entry; /* of the tree: its kind, name and place */
  uint64_t total_ns, useful_ns;
  struct construct_lost lost;
  uint64_t gain_ns; /* lost time / threads of the region */
};

struct overheads {
  struct overheads_row *rows; /* the program last */
  uint32_t count;             /* 0: not measured */
};

/* Fills *result, with the longest total first and the program last. */
void overheads_compute(const struct profile *profile, const struct construct_tree *tree, struct overheads *result);
void overheads_release(struct overheads *result);

#endif
