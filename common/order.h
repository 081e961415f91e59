/* Comparing, sorting and searching.
 *
 * Context: any.  The macros work for all types of numbers; arguments may be evaluated twice. */
#ifndef COMMON_ORDER_H
#define COMMON_ORDER_H

#include <stddef.h>

#ifndef MIN /* <sys/param.h> has the same */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

/* Below 0, 0, or above 0, as a is less than, equal to, or greater than b.  Orders by several keys are joined with ?:,
 * COMPARE(x->line, y->line) ?: COMPARE(x->id, y->id). */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Defines the static function `name`, an order for qsort() and the like: `result` is what it returns for x and y, which
 * point to elements of that type. */
#define ORDER(name, type, result)                                                                                      \
  static int name(const void *first_, const void *second_)                                                             \
  {                                                                                                                    \
    const type *x = first_, *y = second_;                                                                              \
    return result;                                                                                                     \
  }

/* The first i below `count` for which `holds`, an expression with i, is true; `count` if there is none.  It must be
 * true of all that follow, too: the search is binary. */
#define FIRST_WHERE(i, count, holds)                                                                                   \
  __extension__({                                                                                                      \
    size_t low_ = 0, high_ = (count);                                                                                  \
    while (low_ < high_) {                                                                                             \
      size_t i = low_ + (high_ - low_) / 2;                                                                            \
      if (holds)                                                                                                       \
        high_ = i;                                                                                                     \
      else                                                                                                             \
        low_ = i + 1;                                                                                                  \
    }                                                                                                                  \
    low_;                                                                                                              \
  })

#endif
