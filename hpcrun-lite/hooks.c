#define _GNU_SOURCE
#include "hpcrun-lite/hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "hpcrun-lite/control.h"
#include "hpcrun-lite/rt/sample.h"
#include "hpcrun-lite/rt/sys.h"
#include "hpcrun-lite/rt/unwind.h"

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

static void on_signal(int number, siginfo_t *info, void *context)
{
  if (sample_signal(info, context))
    return;
  if (late_sample(info)) {
    if (!rt_self && !thread_stopped())
      rt_lost(NULL, FORMAT_LOST_UNKNOWN);
    return;
  }
  struct sigaction action = program_action;
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(number, info, context);
  else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
    action.sa_handler(number);
}

INTERPOSED int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old)
{
  int (*real)(int, const struct sigaction *, struct sigaction *) = hooks_next(HOOKS_sigaction);
  if (number != RT_SIGNAL || !installed)
    return real(number, action, old);
  struct sigaction before = program_action;
  if (action)
    program_action = *action;
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
  program_action = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
  return before;
}

static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
  if (!set || !installed || how == SIG_UNBLOCK || !sigismember(set, RT_SIGNAL))
    return set;
  *copy = *set;
  sigdelset(copy, RT_SIGNAL);
  return copy;
}

INTERPOSED int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
  sigset_t copy;
  int (*real)(int, const sigset_t *, sigset_t *) = hooks_next(HOOKS_pthread_sigmask);
  return real(how, without_ours(how, set, &copy), old);
}

INTERPOSED int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
  sigset_t copy;
  int (*real)(int, const sigset_t *, sigset_t *) = hooks_next(HOOKS_sigprocmask);
  return real(how, without_ours(how, set, &copy), old);
}

const sigset_t *hooks_awaited(const sigset_t *set, sigset_t *copy)
{
  return without_ours(SIG_BLOCK, set, copy);
}

void hooks_sigmask(int how, const sigset_t *set, sigset_t *old)
{
  int (*real)(int, const sigset_t *, sigset_t *) = hooks_next(HOOKS_pthread_sigmask);
  real(how, set, old);
}

void hooks_unblock_signal(void)
{
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, RT_SIGNAL);
  hooks_sigmask(SIG_UNBLOCK, &ours, NULL);
}

/* ---- threads ---- */

static pthread_key_t end_key;

static void on_thread_end(void *unused)
{
  (void)unused;
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
};

static void *trampoline(void *argument)
{
  struct start start = *(struct start *)argument;
  uint64_t sp;
  free(argument);
  __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
  thread_start(sp, start.handed);
  void *result = start.run ? start.run(start.argument) : (void *)(intptr_t)start.run_c11(start.argument);
  __asm__ volatile("" ::: "memory"); /* not a tail call: this frame marks the end of the thread's stack */
  return result;
}

static struct start *start_new(struct start start)
{
  struct start *copy = control.active ? malloc(sizeof *copy) : NULL;
  if (copy) {
    *copy = start;
    copy->handed = thread_hand_over();
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
  if (control.active && rt_self && rt_enter(rt_self)) {
    atomic_fetch_add(&rt.module_generation, 1);
    unwind_flush();
    rt_leave(rt_self);
  } else {
    atomic_fetch_add(&rt.module_generation, 1);
  }
  return result;
}

/* ---- ends of the process image ---- */

INTERPOSED void _exit(int status)
{
  control_finish();
  sys_exit_group(status);
}

INTERPOSED void _Exit(int status)
{
  control_finish();
  sys_exit_group(status);
}

INTERPOSED int execve(const char *path, char *const argv[], char *const envp[])
{
  int (*real)(const char *, char *const[], char *const[]) = hooks_next(HOOKS_execve);
  control_before_exec();
  int result = real(path, argv, envp);
  control_exec_failed();
  return result;
}

INTERPOSED int execv(const char *path, char *const argv[])
{
  return execve(path, argv, environ);
}

INTERPOSED int execvpe(const char *file, char *const argv[], char *const envp[])
{
  int (*real)(const char *, char *const[], char *const[]) = hooks_next(HOOKS_execvpe);
  control_before_exec();
  int result = real(file, argv, envp);
  control_exec_failed();
  return result;
}

INTERPOSED int execvp(const char *file, char *const argv[])
{
  return execvpe(file, argv, environ);
}

INTERPOSED int fexecve(int fd, char *const argv[], char *const envp[])
{
  int (*real)(int, char *const[], char *const[]) = hooks_next(HOOKS_fexecve);
  control_before_exec();
  int result = real(fd, argv, envp);
  control_exec_failed();
  return result;
}

INTERPOSED int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
  int (*real)(int, const char *, char *const[], char *const[], int) = hooks_next(HOOKS_execveat);
  control_before_exec();
  int result = real(fd, path, argv, envp, flags);
  control_exec_failed();
  return result;
}

/* The list forms: their arguments become an array.  envp, if asked for, follows the terminating null pointer. */
static int arguments_count(va_list list)
{
  int count = 1;
  while (va_arg(list, char *))
    count++;
  return count + 1;
}

static char *const *arguments_take(char **argv, const char *first, va_list list)
{
  int i = 0;
  argv[i++] = (char *)first;
  while ((argv[i++] = va_arg(list, char *)))
    ;
  return argv;
}

INTERPOSED int execl(const char *path, const char *first, ...)
{
  va_list list;
  va_start(list, first);
  int count = arguments_count(list);
  va_end(list);
  char *argv[count];
  va_start(list, first);
  arguments_take(argv, first, list);
  va_end(list);
  return execve(path, argv, environ);
}

INTERPOSED int execlp(const char *file, const char *first, ...)
{
  va_list list;
  va_start(list, first);
  int count = arguments_count(list);
  va_end(list);
  char *argv[count];
  va_start(list, first);
  arguments_take(argv, first, list);
  va_end(list);
  return execvpe(file, argv, environ);
}

INTERPOSED int execle(const char *path, const char *first, ...)
{
  va_list list;
  va_start(list, first);
  int count = arguments_count(list);
  va_end(list);
  char *argv[count];
  va_start(list, first);
  arguments_take(argv, first, list);
  char *const *envp = va_arg(list, char *const *);
  va_end(list);
  return execve(path, argv, envp);
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
  if (pthread_key_create(&end_key, on_thread_end) != 0 || sigaction(RT_SIGNAL, &ours, &program_action) != 0)
    return false;
  installed = true;
  pthread_atfork(control_fork_prepare, control_fork_parent, control_fork_child);
  at_quick_exit(control_finish);
  return true;
}
