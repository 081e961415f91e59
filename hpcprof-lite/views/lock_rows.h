/* The locks for which threads waited, and those that they acquired, if that was counted.
 *
 * Context: BATCH.  The contexts' records (struct context_lock) are of one thread and lock each.  Locks of one variable
 * (an array, or the same variable in several processes) are one row.  Locks without a name, on the heap or the stack,
 * are one row if threads first waited for them in the same line; those without waits, if they were first acquired in
 * the same line.  The caller releases the rows; strings belong to struct names.
 */
#ifndef HPCPROF_LITE_VIEWS_LOCK_ROWS_H
#define HPCPROF_LITE_VIEWS_LOCK_ROWS_H

#include "hpcprof-lite/views/call_places.h"

struct lock_row {
  const char *name; /* of the variable; "" if it has none */
  const char *kind;
  bool posix;              /* it is of POSIX or C11, not of OpenMP */
  uint32_t locks, threads; /* how many locks; how many threads waited for them */
  bool counted;            /* `acquired` is known */
  uint64_t acquired;       /* how often */
  uint64_t waits, wait_ns; /* exact */
  uint64_t longest_ns;     /* the longest wait */
  uint64_t held_ns;        /* a lower bound of how long one of them was held; the largest */
  struct call_place first; /* where the thread with the most waits, or else acquisitions, first used it */
  uint64_t released_ns;    /* how long threads had waited, at all releases */
  struct call_place holder[CALL_PLACES_MOST]; /* where the lock was released for which others had waited longest */
  uint64_t holder_ns[CALL_PLACES_MOST];       /* of released_ns; 0: there is none */
};

struct lock_rows {
  struct lock_row *rows; /* by waiting time, the longest first */
  uint32_t count;
};

/* pools: the objects at which threads of pools wait, instead of locks. */
void lock_rows_make(const struct profile *profile, struct names *names, bool pools, struct lock_rows *rows);
void lock_rows_release(struct lock_rows *rows);

#endif
