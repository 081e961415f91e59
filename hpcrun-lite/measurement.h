/* The measurement of the process: its tables and its files.
 *
 * Context: CTL.  measurement_begin() runs before the program has threads, or in a forked child; the others under the
 * CTL lock.  A failure is reported and counted by the writer (output/writer.h), and the program runs on.
 */
#ifndef HPCRUN_LITE_MEASUREMENT_H
#define HPCRUN_LITE_MEASUREMENT_H

#include <stdbool.h>

/* Begins an empty measurement for a process image, new or forked. */
void measurement_begin(void);

/* Writes everything, closes the files and packs the graph log: nothing is recorded afterwards.  A child process that
 * was not sampled leaves no files.  in_exec: takes back first what measurement_write_for_exec() has written. */
void measurement_finish(bool in_exec);

/* Writes what is not in the live file: work and span of the process until now.  At a moment at which it is
 * single-threaded.  Returns false if that fails. */
bool measurement_flush(void);

/* Writes everything for an exec, which may fail: measurement_take_back() then returns to the state before. */
void measurement_write_for_exec(void);
void measurement_take_back(void);

#endif
