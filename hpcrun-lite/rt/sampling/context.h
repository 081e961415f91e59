/* From an unwound stack to a node of the calling-context tree: the user-level calling context.  Frames of the OpenMP
 * runtime are left out; below a region of another master stands a link to its creation context, or a placeholder for it
 * (sampling/region.h), which merge/stitch.c of hpcprof-lite resolves.
 *
 * Context: RT, inside rt_enter() or with `inside` raised.  Uses the thread's frames and walk memory and adds nodes to
 * its own tree.  Without memory a function returns CCT_NONE; an unwind that was cut is kept below a node of kind
 * partial, and the loss is counted. */
#ifndef HPCRUN_LITE_RT_SAMPLING_CONTEXT_H
#define HPCRUN_LITE_RT_SAMPLING_CONTEXT_H

#include <ucontext.h>

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* The context at which the thread was interrupted.  *overhead: it is in the OpenMP runtime.  Regions whose entry is on
 * the stack, and of which this thread is the master, get their creation context on the way. */
uint32_t context_interrupted(struct thread_state *t, const machine_register_t *registers, bool *overhead);

/* The call site in the program from which a callback was reached. */
struct call_site {
  uint32_t node;     /* of the user frame that called the runtime; CCT_NONE without memory */
  uint32_t entered;  /* entry of the task there (sampling/task_context.h); 0: implicit, or not known */
  uint32_t filtered; /* what a filter found on the path: bits of enum format_filtered */
  int first, end; /* indices into the thread's frames: from that frame outwards, up to the next frame of the runtime */
};

/* In a callback: the context of the user frame that called the runtime for a construct with that address. */
struct call_site context_caller(struct thread_state *t, uint64_t code);

/* The same, for what is charged to it: a node of kind filtered if the path lacks what a filter includes. */
uint32_t context_met(struct thread_state *t);

/* The same, and by which addresses on the stack that context is known: those to which the functions return, from the
 * one that called the tool outwards, as far as the walk went; at most `room`, and on another stack than the thread's
 * own only the first one.  Sets *count. */
struct context_return {
  uint64_t slot, address;
};
uint32_t context_met_at(struct thread_state *t, struct context_return returns[], unsigned room, unsigned *count);

/* In a function of the tool that the program has called: the context of the call.  inside: 0, or an address in the
 * frame of a procedure of include/hpcrun_lite.f90: then the context of the call of that procedure. */
uint32_t context_call(struct thread_state *t, uint64_t inside);

/* The stack address at which the frame of that call ends (struct user_region); 0 if not known. */
uint64_t context_frame_end(struct thread_state *t, uint64_t inside);

/* In the master's callback at the end of a region: unwinds and publishes the region's creation context. */
void context_publish(struct thread_state *t, struct format_region *region);

/* Publishes the creation contexts of all regions that are open on this thread's stack. */
void context_publish_open(struct thread_state *t);

#endif
