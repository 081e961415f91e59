/* What a thread keeps by addresses of code, after a module was unloaded: other code may be there now.
 *
 * Context: RT, in callbacks.  Where regions and a thread's part in them begin, the thread forgets all of it, and looks
 * it up again, by the module that has the address then. */
#ifndef HPCRUN_LITE_RT_UNLOADED_CODE_H
#define HPCRUN_LITE_RT_UNLOADED_CODE_H

#include "hpcrun-lite/rt/measured_thread.h"

void unloaded_code_forget(struct thread_state *t, uint32_t generation) __attribute__((noinline, cold));

static inline void unloaded_code_check(struct thread_state *t)
{
  uint32_t generation = atomic_load_explicit(&rt.module_generation, memory_order_relaxed);
  if (__builtin_expect(measured_of(t)->code_generation != generation, 0))
    unloaded_code_forget(t, generation);
}

#endif
