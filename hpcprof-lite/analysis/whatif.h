/* What the span would be if some code ran faster.
 *
 * Context: BATCH.  Pure.  Source: OMP-WHIP's what-if analysis: serial work of the selected code is divided by a factor.
 * Departure: the work of the program stays as it is, as the paper defines, and from a run without the recorded graph
 * the answer is a bound.  With c the part of the critical path that is selected, the path becomes c (1 - 1/f) shorter;
 * another one may then be the longest, so that
 *
 *     span - c (1 - 1/f) <= span of the scenario <= span
 *
 * A selector covers what the selected code calls, and the regions that are created below it.  Code selected
 * several times runs by the largest factor.
 */
#ifndef HPCPROF_ANALYSIS_WHATIF_H
#define HPCPROF_ANALYSIS_WHATIF_H

#include "hpcprof-lite/scenario.h"

enum { WHATIF_FACTOR = 16, WHATIF_SINGLES = 5, WHATIF_PAIRS = 3 };

/* What all of it is computed from: the top-down tree, finished, and the row of each part of the span, see
 * build_path(). */
struct whatif_run {
  const struct profile *profile;
  struct names *names;
  const struct tree *tree;
  const uint32_t *row_of;
};

struct whatif_row {
  uint32_t scenario; /* from 1 */
  const char *selector;
  double factor;   /* 0 where they differ: then the selector's text holds them */
  double span_low; /* in the unit of the graph: the best case */
  const char *note;
};

struct whatif {
  struct whatif_row *rows;
  uint32_t count;
  bool automatic; /* rows are suggestions */
};

/* Sets factors[part of the span] for a scenario.  *unmatched: the first selector that selects nothing, or NULL.  0, or
 * ERR_NOMEM. */
int whatif_factors(const struct whatif_run *run, const struct scenario *scenario, double *factors,
                   const char **unmatched);

/* A row for each scenario.  0, ERR_INPUT with *unmatched set, or ERR_NOMEM; whatif_release() in any case. */
int whatif_compute(const struct whatif_run *run, const struct scenario *scenarios, uint32_t count,
                   struct whatif *whatif, const char **unmatched);

/* The functions whose being WHATIF_FACTOR times as fast would shorten the critical path most, the best first, then the
 * best pairs.  Candidates are functions with at least 1 % of the path of their own, and at least half of what
 * they have on it with all they call: so callers do not stand beside what they call; and which run elsewhere than
 * below another candidate that has more.  flat: the view of functions. */
int whatif_rank(const struct whatif_run *run, const struct tree *flat, const struct tree_columns *columns,
                struct whatif *whatif);

void whatif_release(struct whatif *whatif);

#endif
