/* Restricts what is read of a process to a part of the run, from its trace: --from and --to.
 *
 * Context: BATCH.  The figures in the file are those of the whole run.  For a part they are made again: work, overhead
 * and lock wait from the samples; waits and times of constructs from the states, exactly; and how much of the other
 * threads' waiting each sample saw, from the states that all threads have at that time, as hpcrun-lite does it
 * (rt/sampling/blame.h).  They take the place of those that the file has, so that everything that reads it stays as it
 * is.
 *
 * Memory: the tables of all threads of the process, and two extents of the trace for each thread.
 */
#ifndef HPCPROF_LITE_INPUT_RANGE_RANGE_H
#define HPCPROF_LITE_INPUT_RANGE_RANGE_H

#include "hpcprof-lite/input/read.h"

struct range;

/* Sets from_ticks and to_ticks of a process that has been read to the part of the run from one time to another one:
 * CLOCK_REALTIME, ns. */
void range_set(struct profile_process *process, uint64_t from_ns, uint64_t to_ns);

/* Replaces the tables of an open file by those of the part between process->from_ticks and to_ticks.  *out must stay
 * until the file is closed.  Returns 0, or ERR_INPUT with the reason in *why if it has no such trace;
 * range_close() in any case. */
int range_open(struct read_file *file, const struct profile_process *process, struct problems *problems,
               struct range **out, const char **why);
void range_close(struct range *range); /* NULL is allowed */

/* Sets the figures of the process and its threads to those of the part, which begins and ends at these times
 * (CLOCK_REALTIME).  The process must not have them yet. */
void range_take(const struct read_file *file, const struct range *range, uint64_t begin_ns, uint64_t end_ns,
                struct profile_process *process, struct problems *problems);

/* Divides time of blocking and of waiting for a processor that is known for the whole run only, as the remainder of the
 * thread's life, among the parts: this part gets its share.  A part's own remainder has the errors of its samples, so
 * that those of several parts would not add up.  whole: the thread in the run; blocked_ns: what it was in calls that
 * are known to block, also while it had no processor there. */
void range_take_rest(const struct range *range, uint32_t position, const struct profile_thread *whole,
                     uint64_t blocked_ns, struct profile_thread *thread);

#endif
