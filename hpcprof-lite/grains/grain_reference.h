/* The execution of the same grains in another run, found by their paths.
 *
 * Context: BATCH.  Use: add the grains of the other run, then the wanted ones in an order, join, and read the results
 * in that order.  Everything is sorted externally (external_sort.h).
 */
#ifndef HPCPROF_LITE_GRAINS_GRAIN_REFERENCE_H
#define HPCPROF_LITE_GRAINS_GRAIN_REFERENCE_H

#include "hpcprof-lite/grains/external_sort.h"

struct grain_reference {
  struct external_sort *known, *wanted, *found;
  uint64_t wanted_count, missing, next; /* missing: of the wanted ones */
  uint64_t next_found, exec;            /* the next result: its position + 1, 0: none; and its execution */
};

void grain_reference_init(struct grain_reference *reference, struct problems *problems);
void grain_reference_release(struct grain_reference *reference);

/* Adds a grain of the other run; wants one of this run.  Return 0 or ERR_INPUT. */
int grain_reference_add(struct grain_reference *reference, uint64_t path_hash, uint64_t exec);
int grain_reference_want(struct grain_reference *reference, uint64_t path_hash);

/* Returns 0 or ERR_INPUT. */
int grain_reference_join(struct grain_reference *reference);

/* Returns the execution of the next wanted grain in the other run, or UINT64_MAX if it is not there. */
uint64_t grain_reference_next(struct grain_reference *reference);

#endif
