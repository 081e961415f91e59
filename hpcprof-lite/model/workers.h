/* Jobs divided among threads.
 *
 * Context: BATCH.  The calling thread works, too; where fewer threads can be started than asked for, the others do all.
 */
#ifndef HPCPROF_LITE_MODEL_WORKERS_H
#define HPCPROF_LITE_MODEL_WORKERS_H

#include <stdint.h>

/* Calls work(argument, job, worker) once for each job below `jobs`, in ascending order, on at most `threads` threads at
 * once; returns when all are done.  worker: number of the thread, below `threads`, 0 = the calling one. */
void workers_run(unsigned threads, uint32_t jobs, void (*work)(void *argument, uint32_t job, unsigned worker),
                 void *argument);

#endif
