/* Work, span and parallelism of the program and of every construct.
 *
 * Context: BATCH.  Pure: the profile is only read; strings are made for the names.  Source: OMP-WHIP's parallelism
 * profile.  work = all that an instance and its descendants do, span = its longest chain, both summed over outermost
 * instances; parallelism = work / span.  A row's critical path is what the construct itself contributes to the
 * program's span; the sum over all rows = the span.
 *
 * iteration_parallelism: what a loop's parallelism would be if every iteration were a chunk of its own that takes the
 * mean time: work / (instances x work / iterations) = iterations / instances.  An estimate.
 */
#ifndef HPCPROF_LITE_ANALYSIS_WORKSPAN_H
#define HPCPROF_LITE_ANALYSIS_WORKSPAN_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

/* Columns of the parallelism view, in their order: what it can be sorted by. */
#define WORKSPAN_COLUMNS 14
extern const char *const workspan_columns[WORKSPAN_COLUMNS];

struct workspan_row {
  uint32_t directive; /* number in the graph */
  const char *kind, *name, *file;
  uint32_t line;
  uint64_t instances, work, span, critical, lock_bound;
  double iteration_parallelism; /* 0: not known */
  const char *note;             /* what the runtime did not show, "" */
};

/* A scenario under which the rows stand: from an online run, factors of the parts of the span; then the span is the one
 * at best, and what rows contribute to it, while their own span stays as measured.  From a recorded graph, the parts of
 * the scenario's span, and the rows' own.  Work stays as measured. */
struct workspan_scenario {
  const double *factors;
  const struct profile_share *shares; /* NULL: from an online run */
  uint32_t shares_count;
  const uint64_t *spans, *lock_bounds; /* [directive] */
  double low, high;                    /* of the program's span */
  const char *note;
};

struct workspan {
  struct workspan_row *rows; /* the program first */
  uint32_t count;
  uint64_t work, span;
  uint32_t lead; /* element of rows: contributes most to the critical path, PROFILE_NONE if nothing does */
  const struct profile_share *shares; /* parts of the span: the profile's, or the scenario's */
  uint32_t shares_count;
  uint32_t lead_context; /* row of the top-down tree that has most of this, 0 if it is not known */
};

/* Fills *result with all rows, sorted by that column of the parallelism view, NULL = the critical path; the
 * program always stands first.  tree: the top-down one, finished; its root is the program.  scenario: NULL for none.
 * 0; ERR_INPUT where there is no such column; ERR_NOMEM.  workspan_release() in any case. */
int workspan_compute(const struct profile *profile, struct names *names, const struct tree *tree, const char *sort,
                     const struct workspan_scenario *scenario, struct workspan *result);
/* Finds what contributes most, and where: row_of[context] are rows of a tree of so many.  0, or ERR_NOMEM. */
int workspan_lead(const uint32_t *row_of, uint32_t rows, struct workspan *result);

void workspan_release(struct workspan *result);

/* work / span, 0 where there is no span. */
double workspan_parallelism(uint64_t work, uint64_t span);

#endif
