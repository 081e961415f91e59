/* Work, span and parallelism of the program and of every construct.
 *
 * Context: BATCH.  Pure: profile and tree are only read; names_own() keeps new strings.  The caller owns the result.
 * Source: the parallelism profile of OMP-WHIP.  Work = everything that an instance and its descendants do, device
 * time = how long they wait for devices, span = the longest chain of both, both summed over outermost instances;
 * parallelism = work / span.  `critical` is what a construct itself contributes to the program's span.  Invariant: the
 * sum of `critical` over all rows = the program's span.
 *
 * iteration_parallelism is an estimate of a loop's parallelism if every iteration were a chunk and took the mean time:
 * work / (instances x work / iterations) = iterations / instances.  Where every chunk is one iteration already, it only
 * says how many there are.
 */
#ifndef HPCPROF_LITE_ANALYSIS_WORKSPAN_H
#define HPCPROF_LITE_ANALYSIS_WORKSPAN_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

struct workspan_row {
  uint32_t directive; /* number in the profile; the first one if several are copies of the same code */
  const char *kind, *name, *file;
  uint32_t line;
  uint64_t instances, work, device_time, span, critical, lock_bound;
  double iteration_parallelism; /* 0: not known */
  uint64_t chunk_most;          /* of a loop: iterations of the largest chunk; 0: not known */
  const char *note;             /* limits of the figures, or "" */
  uint64_t executions;          /* all, also those within others */
  uint64_t light;               /* of `instances`: not followed, so that work and span are estimates */
};

/* A scenario (whatif.h) that applies to the rows.  Without a recorded graph, `factors` divide the shares of the
 * profile's span: the program's span and `critical` are those of the best case, the other rows' spans are as measured.
 * With a recorded graph, `shares`, `spans` and `lock_bounds` are those of the scenario.  Work is always as measured. */
struct workspan_scenario {
  const double *factors;              /* [share of the profile's span], NULL with a recorded graph */
  const struct context_share *shares; /* of the scenario's span; NULL without a recorded graph */
  uint32_t shares_count;
  const uint64_t *spans, *lock_bounds; /* [directive] */
  double low, high;                    /* bounds of the program's span */
  const char *note;
};

struct workspan {
  struct workspan_row *rows; /* the program first, then those with most of the critical path */
  uint32_t count;
  uint32_t *row_of; /* [directive] its row, which copies of the same code share; the program's if it has none */
  uint64_t work, span;
  bool executions_known;              /* times of constructs were measured in all processes */
  struct workspan_row top;            /* copy of the row that contributes most to the critical path, if one does */
  const struct context_share *shares; /* shares of the span: the profile's, or the scenario's */
  uint32_t shares_count;
  uint32_t top_context; /* row of the top-down tree that has most of `top`, 0 if not known */
};

/* Fills *result with a row for each directive, or for all copies that a compiler has made of one.  tree: top-down and
 * finished; its root is the program.  scenario: NULL for none. */
void workspan_compute(const struct profile *profile, struct names *names, const struct tree *tree,
                      const struct workspan_scenario *scenario, struct workspan *result);

/* Sets top and top_context; the rows are in their first order.  row_of[context] is a row of the top-down tree, which
 * has `rows` rows. */
void workspan_find_top(const uint32_t *row_of, uint32_t rows, struct workspan *result);

/* Frees the rows. */
void workspan_release(struct workspan *result);

/* Returns work / span, 0 if the span is 0. */
double workspan_parallelism(uint64_t work, uint64_t span);

#endif
