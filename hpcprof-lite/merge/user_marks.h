/* Reads what the program says about itself: its marks and user phases, and what threads counted in all contexts.
 *
 * Context: BATCH.  All input is hostile: marks of an unknown kind are left out and reported, those out of order are
 * sorted.
 */
#ifndef HPCPROF_LITE_MERGE_USER_MARKS_H
#define HPCPROF_LITE_MERGE_USER_MARKS_H

#include "hpcprof-lite/input/read.h"

/* Fills in process->marks, whose start and threads are known. */
void user_marks_read(struct read_file *file, struct profile_process *process, struct problems *problems);

/* Leaves the marks from one time to before another one, since the start of the process, and the user phase that has
 * begun before; that and all times are then those of a process that starts at the first time.  Counts are left out. */
void user_marks_cut(struct profile_process *process, uint64_t from_ns, uint64_t to_ns);

/* Adds the counts of a part of the run, by which those of the file have been replaced. */
void user_marks_count(struct read_file *file, struct profile_process *process);

#endif
