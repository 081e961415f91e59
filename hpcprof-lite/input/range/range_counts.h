/* What a thread counted in a part of the run: events of -c, and counters of the program.
 *
 * Context: BATCH.  Decodes the thread's trace once more, if the file has counts.  A context has the events between its
 * sample and the one before; where the part begins or ends between two readings, what was counted between them is
 * divided by time.  Values of the program's counters are those in the part.  All input is hostile: counters, contexts
 * and names that the file does not have are left out.
 */
#ifndef HPCPROF_LITE_INPUT_RANGE_RANGE_COUNTS_H
#define HPCPROF_LITE_INPUT_RANGE_RANGE_COUNTS_H

#include "hpcprof-lite/input/range/range_thread.h"

/* Fills in what the thread needs for the values of counters, and part->user_counts. */
void range_counts_take(struct range_thread *thread, struct read_file *file, const struct trace_reader *trace,
                       struct problems *problems, struct read_part *part);

#endif
