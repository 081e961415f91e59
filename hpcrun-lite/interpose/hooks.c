#define _GNU_SOURCE
#include "hpcrun-lite/interpose/hooks.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#include "hpcrun-lite/control.h"
#include "hpcrun-lite/rt/sampling/sample.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/unwind.h"

#define INTERPOSED __attribute__((visibility("default")))

#define NAME(name) #name,
static const char *const names[] = {HOOKS_CALLS(NAME)};
static void *known[sizeof names / sizeof *names];

/* libc has the condition variables in two versions, of which the older takes another structure. */
static void *look_up(enum hooks_call call)
{
  static const char condition[] = "pthread_cond_";
  void *found =
      strncmp(names[call], condition, sizeof condition - 1) ? NULL : dlvsym(RTLD_NEXT, names[call], "GLIBC_2.3.2");
  known[call] = found ? found : dlsym(RTLD_NEXT, names[call]);
  return known[call];
}

void *hooks_next(enum hooks_call call)
{
  return known[call] ? known[call] : look_up(call);
}

/* ---- signals: ours is taken before the program's handler, if it has one, and cannot be blocked ---- */

static struct sigaction program_action; /* what the program believes to be installed for RT_SIGNAL */
static bool installed;

/* A signal of an event or timer that was stopped or armed anew meanwhile.  It stands for nothing: what a thread uses
 * after its last sample is in no sample, and the next one of a thread that goes on makes up for it. */
static bool late_sample(const siginfo_t *info)
{
  return info->si_code == SI_TIMER || (info->si_code >= POLL_IN && info->si_code <= POLL_HUP);
}

/* What the calling thread's mask says of RT_SIGNAL in the program's eyes, that it is so in truth, and that it is held
 * back by us for a call. */
static __thread struct {
  bool blocked, truly, held;
} view __attribute__((tls_model("initial-exec")));

/* The program counts on RT_SIGNAL: it has a handler, or waits for it. */
static atomic_bool in_use;

bool hooks_signal_in_use(void)
{
  return atomic_load_explicit(&in_use, memory_order_relaxed);
}

bool hooks_view_blocked(void)
{
  return view.blocked;
}

void hooks_view_set(bool blocked)
{
  view.blocked = blocked;
}

void hooks_view_held(bool held)
{
  view.held = held;
}

static void only_ours(sigset_t *set)
{
  sigemptyset(set);
  sigaddset(set, RT_SIGNAL);
}

/* The program's handler, with the mask that it would have. */
static void call_program(int number, siginfo_t *info, ucontext_t *context)
{
  struct sigaction action = program_action;
  sigset_t mask;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
    return;
  if (action.sa_flags & (int)SA_RESETHAND)
    program_action = (struct sigaction){.sa_handler = SIG_DFL};
  sigorset(&mask, &context->uc_sigmask, &action.sa_mask);
  if (!(action.sa_flags & SA_NODEFER))
    sigaddset(&mask, RT_SIGNAL);
  hooks_sigmask(SIG_SETMASK, &mask, NULL);
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
  ucontext_t *interrupted = context;
  if (sample_signal(info, context))
    return;
  bool of_program = rt_self && info->si_code == SI_TIMER && hooks_signal_in_use(); /* it has such a timer */
  if (late_sample(info) && !of_program) {
    if (!rt_self && !thread_stopped())
      rt_lost(NULL, FORMAT_LOST_UNKNOWN);
  } else if (view.blocked && !sigismember(&interrupted->uc_sigmask, RT_SIGNAL)) {
    /* not for this thread now: it goes back to the kernel, and from here on the thread's mask is what it seems */
    view.truly = true;
    sigaddset(&interrupted->uc_sigmask, RT_SIGNAL);
    sys_signal_again(sys_pid(), info->si_code == SI_TKILL ? sys_tid() : 0, RT_SIGNAL, info);
  } else {
    call_program(number, info, interrupted);
  }
}

/* A handler on a stack of its own may have no room left for ours. */
static const struct sigaction *with_room(const struct sigaction *action, struct sigaction *copy)
{
  if (!action || !installed || !(action->sa_flags & SA_ONSTACK))
    return action;
  *copy = *action;
  sigaddset(&copy->sa_mask, RT_SIGNAL);
  return copy;
}

/* For which signals the mask of the program's handler does not have ours by its own will. */
static bool mask_added[_NSIG];

static int set_action(int number, const struct sigaction *action, struct sigaction *old)
{
  int (*real)(int, const struct sigaction *, struct sigaction *) = hooks_next(HOOKS_sigaction);
  struct sigaction copy;
  int result = real(number, with_room(action, &copy), old);
  if (result != 0 || number < 1 || number >= _NSIG)
    return result;
  if (old && mask_added[number])
    sigdelset(&old->sa_mask, RT_SIGNAL);
  if (action)
    mask_added[number] = installed && action->sa_flags & SA_ONSTACK && !sigismember(&action->sa_mask, RT_SIGNAL);
  return result;
}

static void set_program_action(const struct sigaction *action)
{
  program_action = *action;
  if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
    atomic_store(&in_use, true);
}

INTERPOSED int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old)
{
  if (number != RT_SIGNAL || !installed)
    return set_action(number, action, old);
  struct sigaction before = program_action;
  if (action)
    set_program_action(action);
  if (old)
    *old = before;
  return 0;
}

INTERPOSED sighandler_t signal(int number, sighandler_t handler)
{
  sighandler_t (*real)(int, sighandler_t) = hooks_next(HOOKS_signal);
  if (number != RT_SIGNAL || !installed)
    return real(number, handler);
  sighandler_t before = program_action.sa_handler;
  set_program_action(&(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART});
  return before;
}

static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
  if (!set || !installed || !sigismember(set, RT_SIGNAL))
    return set;
  *copy = *set;
  sigdelset(copy, RT_SIGNAL);
  return copy;
}

/* A mask as the program sets and sees it: RT_SIGNAL is not blocked in truth, so that samples come, until one comes that
 * is the program's. */
static int set_mask(enum hooks_call call, int how, const sigset_t *set, sigset_t *old)
{
  int (*real)(int, const sigset_t *, sigset_t *) = hooks_next(call);
  sigset_t copy;
  bool before = view.blocked;
  bool strip = how != SIG_UNBLOCK && !view.truly;
  if (set && installed && (how == SIG_SETMASK || sigismember(set, RT_SIGNAL) == 1))
    view.blocked =
        how != SIG_UNBLOCK && sigismember(set, RT_SIGNAL) == 1; /* before the call: what is pending comes in it */
  int result = real(how, strip ? without_ours(set, &copy) : set, old);
  if (result != 0)
    view.blocked = before;
  else if (old && before)
    sigaddset(old, RT_SIGNAL);
  else if (old && view.held)
    sigdelset(old, RT_SIGNAL);
  view.truly &= view.blocked;
  return result;
}

INTERPOSED int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
  return set_mask(HOOKS_pthread_sigmask, how, set, old);
}

INTERPOSED int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
  return set_mask(HOOKS_sigprocmask, how, set, old);
}

/* Readers of the descriptor would meet samples. */
INTERPOSED int signalfd(int fd, const sigset_t *set, int flags)
{
  int (*real)(int, const sigset_t *, int) = hooks_next(HOOKS_signalfd);
  sigset_t copy;
  return real(fd, without_ours(set, &copy), flags);
}

bool hooks_awaits_signal(const sigset_t *set)
{
  if (!set || !installed || sigismember(set, RT_SIGNAL) != 1)
    return false;
  atomic_store(&in_use, true);
  return true;
}

bool hooks_is_sample(const siginfo_t *info)
{
  return info->si_signo == RT_SIGNAL && rt_thread() && source_of(rt_thread(), info);
}

void hooks_sigmask(int how, const sigset_t *set, sigset_t *old)
{
  int (*real)(int, const sigset_t *, sigset_t *) = hooks_next(HOOKS_pthread_sigmask);
  real(how, set, old);
}

void hooks_block_signal(void)
{
  sigset_t ours;
  only_ours(&ours);
  hooks_sigmask(SIG_BLOCK, &ours, NULL);
}

void hooks_unblock_signal(void)
{
  sigset_t ours;
  only_ours(&ours);
  if (!view.truly)
    hooks_sigmask(SIG_UNBLOCK, &ours, NULL);
}

/* ---- threads ---- */

static pthread_key_t end_key;

/* Destructors of the program's keys may run code: they come in rounds, and the last is ours. */
static void on_thread_end(void *unused)
{
  static __thread unsigned char round __attribute__((tls_model("initial-exec")));
  (void)unused;
  if (rt_self && ++round < PTHREAD_DESTRUCTOR_ITERATIONS)
    hooks_watch_thread_end();
  else
    thread_stop();
}

void hooks_watch_thread_end(void)
{
  pthread_setspecific(end_key, &end_key);
}

struct start {
  void *(*run)(void *);
  thrd_start_t run_c11;
  void *argument;
  uint32_t handed;
  bool blocked; /* the creator's mask */
};

static void *trampoline(void *argument)
{
  struct start start = *(struct start *)argument;
  uint64_t sp;
  free(argument);
  __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
  hooks_view_set(start.blocked);
  thread_start(sp, start.handed);
  void *result = start.run ? start.run(start.argument) : (void *)(intptr_t)start.run_c11(start.argument);
  __asm__ volatile("" ::: "memory"); /* not a tail call: this frame marks the end of the thread's stack */
  return result;
}

static struct start *start_new(struct start start)
{
  struct start *copy = process.active ? malloc(sizeof *copy) : NULL;
  if (copy) {
    *copy = start;
    copy->handed = thread_hand_over();
    copy->blocked = view.blocked;
  }
  return copy;
}

INTERPOSED int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr, void *(*run)(void *),
                              void *restrict argument)
{
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = hooks_next(HOOKS_pthread_create);
  struct start *start = start_new((struct start){.run = run, .argument = argument});
  if (!start)
    return real(thread, attr, run, argument);
  int error = real(thread, attr, trampoline, start);
  if (error)
    free(start);
  return error;
}

INTERPOSED int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
  int (*real)(thrd_t *, thrd_start_t, void *) = hooks_next(HOOKS_thrd_create);
  struct start *start = start_new((struct start){.run_c11 = run, .argument = argument});
  if (!start)
    return real(thread, run, argument);
  int error = real(thread, (thrd_start_t)(void (*)(void))trampoline, start);
  if (error != thrd_success)
    free(start);
  return error;
}

/* ---- code that goes away ---- */

INTERPOSED int dlclose(void *handle)
{
  int (*real)(void *) = hooks_next(HOOKS_dlclose);
  int result = real(handle);
  if (process.active && rt_thread() && rt_enter(rt_thread())) {
    atomic_fetch_add(&rt.module_generation, 1);
    unwind_flush();
    rt_leave(rt_thread());
  } else {
    atomic_fetch_add(&rt.module_generation, 1);
  }
  return result;
}

static __attribute__((destructor)) void on_unload(void)
{
  control_finish();
}

static __attribute__((constructor)) void on_load(void)
{
  control_start();
}

bool hooks_start(void)
{
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) /* later it could meet the loader's lock */
    look_up(i);
  struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  memset(&ours.sa_mask, 0xff,
         sizeof ours.sa_mask); /* also what glibc keeps for cancellation: not in a handler of ours */
  sigdelset(&ours.sa_mask, SIGSEGV);
  sigdelset(&ours.sa_mask, SIGBUS);
  sigdelset(&ours.sa_mask, SIGFPE);
  sigdelset(&ours.sa_mask, SIGILL);
  if (pthread_key_create(&end_key, on_thread_end) != 0 || set_action(RT_SIGNAL, &ours, &program_action) != 0)
    return false;
  installed = true;
  sigset_t inherited;
  hooks_sigmask(SIG_BLOCK, NULL, &inherited);
  view.blocked = sigismember(&inherited, RT_SIGNAL) == 1;
  pthread_atfork(control_fork_prepare, control_fork_parent, control_fork_child);
  at_quick_exit(control_finish);
  return true;
}
