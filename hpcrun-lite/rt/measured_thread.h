/* The state of a thread as a whole: what CTL allocates, and the callbacks' own part of it; and what the callbacks keep
 * of the process.
 *
 * Context: RT and CTL.  The callbacks and the handler of the thread itself write the fields here.  See rt.h for how the
 * layers' structures nest. */
#ifndef HPCRUN_LITE_RT_MEASURED_THREAD_H
#define HPCRUN_LITE_RT_MEASURED_THREAD_H

#include <stdatomic.h>

#include "hpcrun-lite/rt/control/command.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* A call by which the program enters a loop: see ompt_loop_call() in rt/ompt.h.  caller NULL: none. */
enum loop_bounds { LOOP_BOUNDS_4, LOOP_BOUNDS_4U, LOOP_BOUNDS_8, LOOP_BOUNDS_8U };
struct loop_call {
  const void *caller, *lower, *upper;
  int64_t step;
  enum loop_bounds bounds; /* the type of the loop's variable: bytes, unsigned */
};

/* What the callbacks keep of the process.  Written when the OpenMP runtime starts, before it has threads. */
extern struct measured_process {
  uint32_t unseen; /* bits: callbacks of the graph that the runtime does not provide; that of chunks is set by any
                      thread, relaxed */
  atomic_bool targets_announced; /* the runtime has announced a target construct on a device */
  bool no_chunks; /* the runtime does not announce chunks; hpcrun-lite/gomp reports those of the calls that it sees */
} measured_process __attribute__((visibility("hidden")));

/* The data word of a worker's implicit task that waits at a barrier: libomp has 0 in its place until the thread runs
 * another task there.  At the barrier that ends a region libomp first copies the word to the thread; where a task that
 * the thread runs meanwhile waits for dependences, it asserts that the copy is 0, and ends the program otherwise. */
struct barrier_data {
  ompt_data_t word;
  const ompt_data_t *place; /* where libomp has the word; NULL: the thread is not in such a barrier */
};

struct measured_thread {
  struct control_thread below;
  struct barrier_data barrier;
  const ompt_data_t *helper_task; /* of a hidden helper: the task in which it waits for others */
  bool forking;                   /* begins a region; its implicit task in it has not begun */
  bool repeated;                  /* likewise: libomp announces the team again, by the region in this one */
  uint64_t cancelled;             /* the handle of the region to whose end it goes, since that was cancelled; 0: none */
  uint32_t code_generation;       /* rt.module_generation for which is valid what unloaded_code.h forgets */
  struct loop_call loop_call;
  const void *awaits; /* where the thread waits for an iteration of a doacross loop; NULL: it does not */
  bool passes;        /* its last wait for an iteration needs no event when it ends */
  struct format_extent *handler_stack; /* see hpcrun-lite/handler.c */
};

static inline struct measured_thread *measured_of(const struct thread_state *t)
{
  return (struct measured_thread *)t;
}

#endif
