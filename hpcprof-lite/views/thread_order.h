/* The order in which the threads view shows threads.
 *
 * Context: BATCH.  Pure: the profile is only read.
 */
#ifndef HPCPROF_LITE_VIEWS_THREAD_ORDER_H
#define HPCPROF_LITE_VIEWS_THREAD_ORDER_H

#include "hpcprof-lite/model/profile.h"

/* All threads of usable processes (free()), sorted by a column of the threads view, NULL = process and thread.
 * ERR_INPUT where there is no such column. */
int thread_order(const struct profile *profile, const char *sort, uint64_t **order, uint32_t *count);

#endif
