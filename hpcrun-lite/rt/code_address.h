/* The addresses in the program that stand for constructs, from those that runtimes pass to callbacks.
 *
 * Context: RT, in callbacks of the thread itself; functions that take a data word: between rt_inside_inc() and
 * rt_inside_dec(), unless they say otherwise.  Code that jumps into the runtime, as compilers end functions, leaves no
 * address of its own, and the runtime passes one inside itself. */
#ifndef HPCRUN_LITE_RT_CODE_ADDRESS_H
#define HPCRUN_LITE_RT_CODE_ADDRESS_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/measured_thread.h"
#include "hpcrun-lite/rt/span/graph.h"

static inline bool code_in_runtime(const void *code)
{
  return __builtin_expect((uint64_t)code - rt.runtime_start < rt.runtime_size, 0);
}

/* Is it in the code of the adapter that stands between the program and the runtime? */
static inline bool code_in_adapter(const void *code)
{
  return (uint64_t)code - sampling_process.adapter_start < sampling_process.adapter_size;
}

/* A function that the adapter (hpcrun-lite/gomp) has called may end by jumping into a wrapper, which then returns to
 * the adapter: the address behind that function's first byte stands for the return address. */
static inline const void *code_after_jump(const void *code)
{
  return __builtin_expect(code_in_adapter(code) && rt_gomp_task && rt_gomp_task->function, 0)
             ? rt_gomp_task->function + 1
             : code;
}

/* The address behind a wrapper by which the current task has called the runtime (ompt_creation_begin()). */
static inline const void *code_past_wrapper(const struct thread_state *t, const void *code)
{
  const struct span_thread *span = span_of(t);
  bool wrapped = span->log.creation.caller && code_in_adapter(code);
  if (!__builtin_expect(wrapped, 0) || (span->running && span->running->name != span->log.creation.creator))
    return code;
  return span->log.creation.caller;
}

/* The address at which an undeferred task is created; forgets it.  Clang's code calls a function that begins such a
 * task, for which libomp passes an address that it has kept from an earlier call. */
static inline const void *code_take_undeferred(const void *code)
{
  const void *caller = rt_undeferred.caller;
  rt_undeferred.caller = NULL;
  return caller && !code_in_runtime(caller) ? caller : code;
}

/* The address of the directive whose code the thread runs: of an explicit task, or of the region; NULL: not known. */
const void *code_of_directive(const struct thread_state *t);

/* The address at which the program has entered the runtime, from the stack.  If it jumped there: `otherwise`, or `code`
 * if that is NULL.  data: the current task's. */
const void *code_of_caller(struct thread_state *t, const ompt_data_t *data, const void *code, const void *otherwise);

/* The address of a construct, from the one that the runtime passes; NULL: it passes none.  The stack is walked only if
 * need be. */
static inline const void *code_of_construct(struct thread_state *t, const ompt_data_t *data, const void *code)
{
  code = code_past_wrapper(t, code);
  bool wrapped = __builtin_expect(code_in_adapter(code) && !rt_gomp_task, 0); /* see hpcrun-lite/gomp/device_calls.c */
  if (!code || code_in_runtime(code) || wrapped)
    return code_of_caller(t, data, code, code_of_directive(t));
  return code_after_jump(code);
}

/* The same for a region: of code that jumped there, the address behind the first byte of the function that the runtime
 * has called stands for the return address.  libomp passes no address for the region that it makes for each team of a
 * league: it belongs to that construct. */
const void *code_of_region(struct thread_state *t, const void *code, uint64_t enter_frame);

/* Where the program creates a task.  A task of a taskloop gets the address of that (span/explicit_task.c).  The caller
 * is not inside.  code_of_task_call(): the runtime passes an address inside itself. */
const void *code_of_task_call(struct thread_state *t, const ompt_data_t *creator, const void *code);

static inline const void *code_of_task(struct thread_state *t, const ompt_data_t *creator, const void *code)
{
  code = code_past_wrapper(t, code);
  return code_in_runtime(code) ? code_of_task_call(t, creator, code) : code_after_jump(code);
}

/* The address of a wait (kind: ompt_sync_region_...) for which the runtime passes none.  A thread that ends a critical
 * section clears the address that libomp keeps for the initial thread, which may be just entering a barrier.  Returns
 * NULL where libomp has none: at the end of a region.  The caller is not inside. */
const void *code_of_cleared_wait(struct thread_state *t, const ompt_data_t *task_data, int kind);

#endif
