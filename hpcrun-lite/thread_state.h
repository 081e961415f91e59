/* The state of a measured thread: its memory, its place in the list of live threads, the bounds of its stack.
 *
 * Context: CTL.  All but thread_state_find_stack() run under the CTL lock.  A state and its tables lie in extents of
 * the arena (rt/core/arena.h), which thread_state_release() frees.
 */
#ifndef HPCRUN_LITE_THREAD_STATE_H
#define HPCRUN_LITE_THREAD_STATE_H

#include "hpcrun-lite/rt/core/rt.h"

/* Makes the state of the calling thread, registered with RT and in the list.  Returns NULL without memory. */
struct thread_state *thread_state_new(uint32_t index);

/* Takes an ended thread's state out of the list and of RT's tables; the state stays readable. */
void thread_state_remove(struct thread_state *t);

/* Frees the state and all its tables. */
void thread_state_release(struct thread_state *t);

/* Sets the stack's bounds, within which an unwind may load directly, and top_sp (thread.h). */
void thread_state_find_stack(struct thread_state *t, uint64_t top_sp);

#endif
