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
#ifndef HPCPROF_LITE_ANALYSIS_WHATIF_H
#define HPCPROF_LITE_ANALYSIS_WHATIF_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/scenario.h"
#include "hpcprof-lite/model/tree.h"

enum { WHATIF_FACTOR = 16, WHATIF_SINGLES = 5, WHATIF_PAIRS = 3 };

/* What all of it is computed from: the top-down tree, finished, and the row of each part of the span, see
 * topdown_critical_path(). */
struct whatif_run {
  const struct profile *profile;
  struct names *names;
  const struct tree *tree;
  const uint32_t *row_of;
};

/* What a recorded graph answers: the span itself, in the unit of the graph, and how sure it is. */
struct whatif_replayed {
  double span;
  double removed, sampled; /* what samples say was taken off the path, out of so much of it      */
  bool by_sample;          /* the answer rests on samples                                        */
  bool differs;            /* the log and the measurement do not agree                           */
  double per_sample;       /* work that a sample stands for                                      */
};

struct whatif_row {
  uint32_t scenario; /* from 1 */
  const char *selector;
  double factor;                    /* 0 where they differ: then the selector's text holds them */
  double span, span_low, span_high; /* in the unit of the graph; span: the best case, or the answer of the log */
  const char *note;
  bool exact;                         /* of a log's answers: nothing rests on samples */
  const struct scenario *asked;       /* what is faster: a scenario, */
  const struct tree_row *one, *other; /* or one or two functions     */
};

struct whatif {
  struct whatif_row *rows;
  uint32_t count, singles; /* singles: rows with one function; behind them are pairs */
  bool automatic;          /* rows are suggestions            */
  bool replayed;           /* rows are answers of a log       */
};

/* What a row selects in a recorded graph: factors[i] of parts[i]; and of directives, all of whose instances' work is
 * selected, directives[i].  0, or ERR_NOMEM. */
int whatif_select(const struct whatif_run *run, const struct whatif_row *row, const struct profile_share *shares,
                  uint32_t count, double *factors, double *directives);

/* Enters what a log answers.  Of a part t of the path samples tell what is selected, one for each p of work; they take
 * g off it.  With f the largest factor c = g / (1 - 1/f) of it is selected, which n = c / p samples tell of (at least
 * 1). The standard error of such a share (binomial) is sqrt((1 - c/t) / n) of it, so that
 *
 *     span_low, span_high = span -+ 2 g sqrt((1 - c/t) / n)
 *
 * within 0 and the span as measured.  Constructs, user regions and counted work are exact: g = 0.  That another path,
 * shortened by the word of samples, is in truth the longest, is not in it. */
void whatif_enter(const struct whatif_run *run, const struct whatif_replayed *replayed, struct whatif_row *row);

/* Puts suggestions in order and keeps the best; a pair must gain more than each of the two. */
void whatif_choose(const struct whatif_run *run, struct whatif *whatif);

/* Sets factors[part of the span] for a scenario.  *unmatched: the first selector that selects nothing, or NULL.  0, or
 * ERR_NOMEM. */
int whatif_factors(const struct whatif_run *run, const struct scenario *scenario, double *factors,
                   const char **unmatched);

/* A row for each scenario.  0, ERR_INPUT with *unmatched set, or ERR_NOMEM; whatif_release() in any case. */
int whatif_compute(const struct whatif_run *run, const struct scenario *scenarios, uint32_t count,
                   struct whatif *whatif, const char **unmatched);

/* The functions whose being WHATIF_FACTOR times as fast might shorten the critical path most, then all pairs of them;
 * whatif_choose() keeps the best.  Candidates are functions with at least 1 % of the path of their own, and at least
 * half of what they have on it with all they call: so callers do not stand beside what they call; and which run
 * elsewhere than below another candidate that has more.  flat: the view of functions.
 * parts: of a recorded graph (0: there is none), with the work in each: then functions off the path come into question,
 * too, which have most of it. */
int whatif_rank(const struct whatif_run *run, const struct tree *flat, const struct tree_columns *columns,
                const struct profile_share *shares, uint32_t shares_count, struct whatif *whatif);

void whatif_release(struct whatif *whatif);

#endif
