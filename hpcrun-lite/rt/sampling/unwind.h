/* Stack unwinding with libunwind, and by guesses where code has no call frame information (doc/reliability.md).
 *
 * Context: RT, inside rt_enter() or with `inside` raised; unwind_start(), unwind_restart() and unwind_flush() CTL.  A
 * walk uses the memory of the calling thread (sampling_thread.walk); libunwind has its own cache of unwind rows.
 * Without libunwind a walk returns one frame and is cut.  libunwind's remote interface is applied to the tool's own
 * process, with the tool's accessors:
 *
 * - unwind tables are found with glibc's lock-free _dl_find_object(); dl_iterate_phdr() can deadlock with dlopen();
 * - only the thread's own stack is read directly; every other load goes through the kernel, so that a bad address, or
 *   code that is being unmapped, is an error and not a fault;
 * - the library is loaded privately (load_libunwind.c), and imports are redirected to functions that do nothing:
 *   pipe2(), whose descriptors could collide with the program's, and sigprocmask() and pthread_sigmask(): they cost two
 *   system calls a frame, and glibc leaves its signal for cancellation out of every mask, so that it would come in the
 *   tool's handler, and be lost.  The masks are not needed, since the tool's signal cannot interfere inside rt_enter().
 *   The one lock in the library, that of its cache, is held by threads inside rt_enter() only. */
#ifndef HPCRUN_LITE_RT_SAMPLING_UNWIND_H
#define HPCRUN_LITE_RT_SAMPLING_UNWIND_H

#include <libunwind.h>
#include <signal.h>
#include <ucontext.h>

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

/* libunwind's entry points: with OMPT's, the only function pointers that RT stores. */
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

/* CTL: takes the entry points of the loaded library.  Returns false if it has no memory. */
bool unwind_start(const struct unwind_entries *entries);

/* Replacements of the library's pipe2(), and of its sigprocmask() and pthread_sigmask(). */
int unwind_no_pipe(int fds[2], int flags);
int unwind_no_sigprocmask(int how, const sigset_t *set, sigset_t *old);

/* CTL, in a forked child: starts anew, since a thread that no longer exists may have held the lock. */
void unwind_restart(void);

/* CTL: a module was unloaded: forgets everything known about code. */
void unwind_flush(void);

/* Bytes that one thread's walks need.  Handlers may run on small stacks, so the memory is not on the stack. */
size_t unwind_size(void);

/* Start of the function that contains an address; 0 if its module does not say. */
uint64_t unwind_function(const struct thread_state *t, uint64_t ip);

/* Walks from the interrupted context outwards into frames[RT_FRAMES_MAX], innermost first.  Returns the number of
 * frames, at least 1.  *cut: the walk reached neither the thread's outermost frame nor a frame beyond end_sp. */
int unwind_walk(const struct thread_state *t, const machine_register_t *registers, uint64_t end_sp,
                struct frame *frames, bool *cut);

/* The same from the caller's own frame. */
int unwind_here(const struct thread_state *t, uint64_t end_sp, struct frame *frames, bool *cut)
    __attribute__((noinline));

/* Whether the last walk of the thread has guessed frames: callers of code without unwind information. */
bool unwind_has_guessed(const struct thread_state *t);

/* The function that was called by the instruction before `code`, if that is a call by a register that functions
 * preserve; 0: not known.  code: the return address, in loaded code, of the function whose frame begins at enter_frame.
 * Overwrites frames[RT_FRAMES_MAX]. */
uint64_t unwind_called(struct thread_state *t, uint64_t code, uint64_t enter_frame, struct frame *frames);

#endif
