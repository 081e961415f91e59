/* Starts threads, and divides jobs among them.
 *
 * Context: BATCH.  The calling thread works as well.  If fewer threads can be started than requested, those that run do
 * all jobs.
 */
#ifndef HPCPROF_LITE_MODEL_WORKERS_H
#define HPCPROF_LITE_MODEL_WORKERS_H

#include <pthread.h>
#include <stdint.h>

/* Calls work(argument, job, worker) once for each job from 0 to jobs - 1, on at most `threads` threads, and returns
 * when all calls have returned.  Jobs are started in ascending order.  worker: number of the thread, below `threads`.
 */
void workers_run(unsigned threads, uint32_t jobs, void (*work)(void *argument, uint32_t job, unsigned worker),
                 void *argument);

/* What code of this program may need of a stack, its libraries included. */
enum { WORKERS_STACK_BYTES = 8 << 20 };

/* pthread_create(), with a stack of that size whatever the limit of stacks is (ulimit -s).  Returns 0 or errno. */
int workers_start(pthread_t *thread, void *(*body)(void *argument), void *argument);

#endif
