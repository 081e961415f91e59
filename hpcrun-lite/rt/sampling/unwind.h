/* Frame walk with libunwind.
 *
 * Context: RT; unwind_start() and unwind_restart() CTL.  libunwind's remote interface is used on the own process, with
 * accessors of ours:
 *  - unwind tables are found through glibc's lock-free _dl_find_object, not dl_iterate_phdr (which deadlocks with
 * dlopen);
 *  - memory is read directly only within the thread's own stack; every other load goes through the kernel, so that a
 * bad address or code that is just being unmapped is an error, not a fault;
 *  - the library is loaded privately (load_libunwind.c), its pipe2 (it would take descriptors of the program's) and its
 * sigprocmask (two system calls a frame; our signal cannot interfere while rt_enter() holds) are redirected to
 * functions that do nothing. The one lock inside (its cache of unwind rows) is only ever held by threads inside
 * rt_enter().
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_UNWIND_H
#define HPCRUN_LITE_RT_SAMPLING_UNWIND_H

#include <libunwind.h>
#include <signal.h>
#include <ucontext.h>

#include "hpcrun-lite/rt/core/rt.h"

/* libunwind's entry points: the exception to the rule on function pointers. */
struct unwind_entries {
  unw_addr_space_t (*create_addr_space)(unw_accessors_t *, int);
  int (*set_caching_policy)(unw_addr_space_t, unw_caching_policy_t);
  int (*set_cache_size)(unw_addr_space_t, size_t, int);
  void (*flush_cache)(unw_addr_space_t, unw_word_t, unw_word_t);
  int (*init_remote)(unw_cursor_t *, unw_addr_space_t, void *);
  int (*step)(unw_cursor_t *);
  int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
  int (*search)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int, void *);
};

/* Takes the library as it was loaded; false where it gets no memory. */
bool unwind_start(const struct unwind_entries *entries);

/* What stands for its pipe2 and sigprocmask. */
int unwind_no_pipe(int fds[2], int flags);
int unwind_no_sigprocmask(int how, const sigset_t *set, sigset_t *old);

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
