/* Frame walk with libunwind.
 *
 * Context: RT; unwind_start() CTL.  libunwind's remote interface is used on the own process, with accessors of ours:
 *  - unwind tables are found through glibc's lock-free _dl_find_object, not dl_iterate_phdr (which deadlocks with
 * dlopen);
 *  - memory is read directly only within the thread's own stack; every other load goes through the kernel, so that a
 * bad address or code that is just being unmapped is an error, not a fault;
 *  - the library is loaded privately, its pipe2 (it would take descriptors of the program's) and its sigprocmask (two
 * system calls a frame; our signal cannot interfere while rt_enter() holds) are redirected to functions that do
 * nothing. The one lock inside (its cache of unwind rows) is only ever held by threads inside rt_enter().
 */
#ifndef HPCRUN_LITE_RT_UNWIND_H
#define HPCRUN_LITE_RT_UNWIND_H

#include <ucontext.h>

#include "hpcrun-lite/rt/rt.h"

/* Loads libunwind.  Returns NULL, or why stacks cannot be unwound. */
const char *unwind_start(void);

/* In a forked child: the lock may have been held by a thread that is no more. */
void unwind_restart(void);

/* Forget what is known about code: something was unloaded. */
void unwind_flush(void);

/* Bytes of memory for the walks of one thread (thread_state.walk): handlers may run on small stacks. */
size_t unwind_size(void);

/* Start of the function that an address lies in, 0 if its module does not say. */
uint64_t unwind_function(const struct thread_state *t, uint64_t ip);

/* Walks from the interrupted context outwards into frames[RT_FRAMES_MAX], innermost first.  Returns the number of
 * frames, at least 1; *cut says that neither the thread's outermost frame nor one beyond end_sp was reached. */
int unwind_walk(const struct thread_state *t, const greg_t *registers, uint64_t end_sp, struct frame *frames,
                bool *cut);

/* The same from the caller's own frame. */
int unwind_here(const struct thread_state *t, uint64_t end_sp, struct frame *frames, bool *cut)
    __attribute__((noinline));

#endif
