/* Lines that keep bounds between each other, all of them by as much as possible.
 *
 * Context: BATCH.  Pure.  A linear program: all lines are moved and turned at once, so that a solution is found
 * whenever there is one.  It is solved by Newton's method with a logarithmic barrier (S. Boyd, L. Vandenberghe, "Convex
 * Optimization", 2004, chapter 11), whose matrix has an entry for two lines only if there is a bound between them or
 * they are numbered between lines for which there is one.  So neighbours should have close numbers.  For n lines, of
 * which none has such an entry for a line of which the number differs by more than w, a step takes n * w^2 operations,
 * and there are 30 to 60 steps.
 */
#ifndef HPCPROF_LITE_MESSAGES_LINE_FIT_H
#define HPCPROF_LITE_MESSAGES_LINE_FIT_H

#include <stddef.h>
#include <stdint.h>

/* offset + slope * x; |slope| is less than slope_most. */
struct line {
  double offset, slope, slope_most;
};

/* Line `from` at x_from is at most `more` above line `to` at x_to.  more < 0: it is below it by at least -more. */
struct line_bound {
  uint32_t from, to;
  double x_from, x_to, more;
};

/* Sets all lines but the first, which stays 0: the smallest distance to a bound is at least half of the largest
 * possible one.  It is not made larger, as lines are then less in the middle of all bounds.  If they cannot keep all
 * bounds, they violate them by as little as possible, and 0.1 % or 0.01 more.  For each line, there must be bounds to
 * others from both sides, directly or through others. */
void line_fit(struct line *lines, uint32_t count, const struct line_bound *bounds, size_t bounds_count);

#endif
