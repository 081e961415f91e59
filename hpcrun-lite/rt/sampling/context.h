/* From an unwound stack to a node of the calling-context tree: user-level path, regions stitched, runtime frames left
 * out.
 *
 * Context: RT, inside rt_enter().
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_CONTEXT_H
#define HPCRUN_LITE_RT_SAMPLING_CONTEXT_H

#include <ucontext.h>

#include "hpcrun-lite/rt/core/rt.h"

/* The interrupted thread's context, added to its tree.  *overhead: it is in the OpenMP runtime.  On the way, regions
 * that this thread is master of learn their creation context.  CCT_NONE without memory. */
uint32_t context_interrupted(struct thread_state *t, const greg_t *registers, bool *overhead);

/* Where a callback was called from. */
struct context_place {
  uint32_t node; /* of the user's frame that called the runtime; CCT_NONE without memory                     */
  uint32_t
      entered; /* as what the task there was entered (rt/sampling/task_context.h), 0: an implicit one, or not known */
  int first, end; /* indices into the thread's frames: from that frame outwards to the next one of the runtime */
};

/* In a callback: the context of the user's frame that called the runtime, added to the thread's tree. */
struct context_place context_caller(struct thread_state *t);

/* In a function of the tool's that the program calls: the context of that call.  CCT_NONE without memory. */
uint32_t context_call(struct thread_state *t);

/* The end of the frame that called the tool (see struct user_region); 0 if it cannot be told. */
uint64_t context_frame_end(struct thread_state *t);

/* At the end of a region, in its master's callback: unwinds and publishes the region's creation context. */
void context_publish(struct thread_state *t, struct format_region *region);

/* Anywhere: publishes the creation contexts of all regions open on this thread's stack. */
void context_publish_open(struct thread_state *t);

#endif
