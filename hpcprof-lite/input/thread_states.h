/* What the states of a thread mean.
 *
 * Context: BATCH.  Source: the tables of the thread; doc/format.md, "The trace".
 */
#ifndef HPCPROF_LITE_INPUT_THREAD_STATES_H
#define HPCPROF_LITE_INPUT_THREAD_STATES_H

#include "hpcprof-lite/input/read.h"

/* Where a thread waits in that column of a construct (enum construct_time; outside: of none); MODEL_NONE: it does not
 * wait.  Returns enum format_wait_kind. */
uint32_t thread_states_wait(const struct format_construct *construct, bool outside, uint32_t time);

/* Sets in which constructs of a thread's table it waits for a device, in their body. */
void thread_states_awaited(const struct read_file *file, const struct format_construct *constructs, uint32_t count,
                           bool *awaited);

/* Whether the runtime's own work in a wait with that code of a construct comes first, and is none of it: the thread
 * does not wait yet, or no longer.  Otherwise it is the wait's end. */
bool thread_states_own_first(uint64_t code, bool lock);

#endif
