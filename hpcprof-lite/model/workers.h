/* Divides jobs among threads.
 *
 * Context: BATCH.  The calling thread works as well.  If fewer threads can be started than requested, those that run do
 * all jobs.
 */
#ifndef HPCPROF_LITE_MODEL_WORKERS_H
#define HPCPROF_LITE_MODEL_WORKERS_H

#include <stdint.h>

/* Calls work(argument, job, worker) once for each job from 0 to jobs - 1, on at most `threads` threads, and returns
 * when all calls have returned.  Jobs are started in ascending order.  worker: number of the thread, below `threads`.
 */
void workers_run(unsigned threads, uint32_t jobs, void (*work)(void *argument, uint32_t job, unsigned worker),
                 void *argument);

#endif
