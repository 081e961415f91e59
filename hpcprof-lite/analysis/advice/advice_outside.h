/* Finds what keeps the whole program from using its cores: code outside parallel regions, sleep, too many threads.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_OUTSIDE_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_OUTSIDE_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

/* Adds code that one thread runs outside regions, and calls that block it. */
void advice_outside_find(struct advice_run *run);

/* Adds locks of POSIX and C11 for which threads wait. */
void advice_mutexes_find(struct advice_run *run);

/* Adds threads of pools outside OpenMP that wait for work. */
void advice_pools_find(struct advice_run *run);

/* ", mostly at the semaphore s in f (a.c:3)", "" if that is not known; size: at least 200. */
void advice_pool_text(const struct advice_pool *pool, char *out, size_t size);

/* Adds idle threads that spin while others have no core. */
void advice_spinning_find(struct advice_run *run);

/* Adds more threads than cores.  Returns whether that was added.  A thread that waits then leaves its core to another
 * one, so that its waiting says nothing about the elapsed time. */
bool advice_oversubscription(struct advice_run *run);

#endif
