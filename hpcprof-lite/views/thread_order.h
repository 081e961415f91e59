/* The order in which the threads view shows threads.
 *
 * Context: BATCH.  Pure: the profile is only read.
 */
#ifndef HPCPROF_LITE_VIEWS_THREAD_ORDER_H
#define HPCPROF_LITE_VIEWS_THREAD_ORDER_H

#include "hpcprof-lite/model/profile.h"

/* Sets *order to a new array of the threads of all usable processes, without those of the OpenMP runtime, which the
 * caller frees; an element is process << 32 | thread, both positions in the profile. */
void thread_order(const struct profile *profile, uint64_t **order, uint32_t *count);

#endif
