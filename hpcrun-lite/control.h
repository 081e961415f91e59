/* CTL: start and end of measuring, of threads and of the process.
 *
 * Everything here runs in the program's threads, outside handlers, and may allocate.  One lock orders it; it is never
 * taken in RT.
 */
#ifndef HPCRUN_LITE_CONTROL_H
#define HPCRUN_LITE_CONTROL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hpcrun-lite/process/process.h"

/* Starts measuring, once; also safe before the library's constructor ran.  False: inert. */
bool control_start(void);

/* The calling thread begins and ends.  top_sp: the stack pointer of its outermost frame of interest, 0 if not known. */
/* handed: see rt/span/span.h; 0 without. */
void thread_start(uint64_t top_sp, uint32_t handed);
void thread_stop(void);

/* What a thread that is created now takes over from the calling one, and what the calling one takes over from a thread
 * that it has joined. */
uint32_t thread_hand_over(void);
void thread_joined(pthread_t thread);

/* Has the calling thread been measured, to its end? */
bool thread_stopped(void);

/* Stops measuring and writes everything.  Idempotent. */
void control_finish(void);

/* The program enters a sandbox: ends measuring as control_finish() does, and leaves nothing of ours at work. */
void control_seal(void);

/* exec: writes what there is; if the exec failed, control_exec_failed() takes it back and measuring goes on. */
void control_before_exec(void);
void control_exec_failed(void);

void control_fork_prepare(void);
void control_fork_parent(void);
void control_fork_child(void);

#endif
