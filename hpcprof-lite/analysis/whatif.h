/* What the span would be if some code ran faster.
 *
 * Context: BATCH.  Pure: profile and trees are only read; names_own() keeps new strings.  The caller owns the results.
 * Source: the what-if analysis of OMP-WHIP: serial work of the selected code is divided by a factor, the program's work
 * stays as it is.  Departure: without a recorded graph, the result is a pair of bounds.  With c the part of the
 * critical path that is selected and f the factor, the path becomes c (1 - 1/f) shorter; another path may then be the
 * longest:
 *
 *     span - c (1 - 1/f) <= span of the scenario <= span
 *
 * A selector covers what the selected code calls, and the regions created below it.  Code that is selected several
 * times runs faster by the largest factor.
 */
#ifndef HPCPROF_LITE_ANALYSIS_WHATIF_H
#define HPCPROF_LITE_ANALYSIS_WHATIF_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/scenario.h"
#include "hpcprof-lite/model/tree.h"

enum { WHATIF_FACTOR = 16, WHATIF_SINGLES = 5, WHATIF_PAIRS = 3 };

/* The input of all functions.  It refers to what belongs to the caller. */
struct whatif_run {
  const struct profile *profile;
  struct names *names;
  const struct tree *tree; /* top-down, finished */
  const uint32_t *row_of;  /* [context] row of the tree, then [directive], see views/topdown.h */
};

/* The result of replaying a recorded graph, in the unit of the profile's workspan. */
struct whatif_replayed {
  double span;
  double removed, sampled; /* by how much samples shortened the critical path, of what measured length */
  bool by_sample;          /* the span is based on samples */
  bool unplaced;           /* the code of some counted work is not known */
  bool differs;            /* the log differs from the measurement */
  double per_sample;       /* work for which a sample stands */
};

/* A scenario and its span. */
struct whatif_row {
  uint32_t scenario; /* its number, from 1 */
  const char *selector;
  double factor;                    /* 0 if there are several: the selector's text contains them */
  double span, span_low, span_high; /* span: from the recorded graph, otherwise the best case */
  const char *note;
  bool exact;                            /* the span is from a recorded graph, and all that is selected is known */
  const struct scenario *scenario_given; /* what runs faster: a scenario that the user gave, */
  const struct tree_row *one, *other;    /* or one or two functions, rows of the flat tree   */
};

struct whatif {
  struct whatif_row *rows;
  uint32_t count, singles; /* singles: number of rows of one function, which come before the pairs */
  bool automatic;          /* rows are suggestions */
  bool replayed;           /* rows have the results of a recorded graph */
};

/* Sets factors[share of the profile's span] for a scenario, and *unmatched to the first selector that selects nothing,
 * or NULL. */
void whatif_factors(const struct whatif_run *run, const struct scenario *scenario, double *factors,
                    const char **unmatched);

/* Makes a row for each scenario, with bounds.  Returns 0, or ERR_INPUT with *unmatched set; whatif_release() in
 * either case. */
int whatif_compute(const struct whatif_run *run, const struct scenario *scenarios, uint32_t count,
                   struct whatif *whatif, const char **unmatched);

/* Makes a row, with bounds, for each candidate if it ran WHATIF_FACTOR times as fast, and for all pairs of candidates;
 * whatif_choose() keeps the best.  Candidates are the functions that might shorten the critical path most.  Each has
 *
 *  - at least 1 % of the critical path exclusively,
 *  - at least half of its inclusive part of the path exclusively, so that callers are not listed beside their callees,
 *  - and not nearly all of its part below another candidate that has more.
 *
 * shares: of a recorded graph, with the work of each; none if shares_count is 0.  With them, the functions with most
 * work are candidates too, even if they are not on the critical path.  flat: the flat view. */
void whatif_rank(const struct whatif_run *run, const struct tree *flat, const struct tree_columns *columns,
                 const struct context_share *shares, uint32_t shares_count, struct whatif *whatif);

/* Sorts the rows of whatif_rank() and keeps the best.  A pair must gain more than each of its functions alone. */
void whatif_choose(const struct whatif_run *run, struct whatif *whatif);

/* Sets factors[share] of a recorded graph for a row, and directives[directive] for the directives whose instances are
 * selected with everything in them; 1 = not selected. */
void whatif_select(const struct whatif_run *run, const struct whatif_row *row, const struct context_share *shares,
                   uint32_t count, double *factors, double *directives);

/* Sets the span of a row from a recorded graph.  Samples decide what is selected in a part t of the critical path; a
 * sample stands for p of work.  They shorten the path by g.  With the largest factor f, c = g / (1 - 1/f) of t is
 * selected, which is known from n = c / p samples (at least 1).  The relative standard error of c (binomial) is
 * sqrt((1 - c/t) / n), so that
 *
 *     span_low, span_high = span -+ 2 g sqrt((1 - c/t) / n)
 *
 * limited to 0 and the measured span.  Constructs, user regions and counted work are exact: g = 0.  The interval does
 * not cover the case in which another path is in fact the longest although the samples make it shorter. */
void whatif_enter(const struct whatif_run *run, const struct whatif_replayed *replayed, struct whatif_row *row);

/* Frees the rows. */
void whatif_release(struct whatif *whatif);

#endif
