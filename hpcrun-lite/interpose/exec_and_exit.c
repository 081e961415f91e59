/* Ends of the process image: exits, exec, and sandboxes, in which measuring ends.  Context: CTL. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hpcrun-lite/interpose/blocking.h"
#include "hpcrun-lite/control.h"
#include "hpcrun-lite/exec.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/core/sys.h"

#define INTERPOSED __attribute__((visibility("default")))

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

/* The new program inherits the mask, as the program set it. */
static void begin_exec(void)
{
  exec_begin();
  if (own_signal_view.blocked)
    own_signal_block();
}

static void end_exec(void)
{
  int saved_errno = errno;
  exec_failed();
  if (own_signal_view.blocked)
    own_signal_unblock();
  errno = saved_errno;
}

INTERPOSED int execve(const char *path, char *const argv[], char *const envp[])
{
  int (*real)(const char *, char *const[], char *const[]) = libc_real(LIBC_execve);
  begin_exec();
  int result = real(path, argv, envp);
  end_exec();
  return result;
}

INTERPOSED int execv(const char *path, char *const argv[])
{
  return execve(path, argv, environ);
}

INTERPOSED int execvpe(const char *file, char *const argv[], char *const envp[])
{
  int (*real)(const char *, char *const[], char *const[]) = libc_real(LIBC_execvpe);
  begin_exec();
  int result = real(file, argv, envp);
  end_exec();
  return result;
}

INTERPOSED int execvp(const char *file, char *const argv[])
{
  return execvpe(file, argv, environ);
}

INTERPOSED int fexecve(int fd, char *const argv[], char *const envp[])
{
  int (*real)(int, char *const[], char *const[]) = libc_real(LIBC_fexecve);
  begin_exec();
  int result = real(fd, argv, envp);
  end_exec();
  return result;
}

INTERPOSED int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
  int (*real)(int, const char *, char *const[], char *const[], int) = libc_real(LIBC_execveat);
  begin_exec();
  int result = real(fd, path, argv, envp, flags);
  end_exec();
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

/* ---- children that are made without us: they inherit the mask too ---- */

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                           char *const[], char *const[]);

static int spawn(enum libc_call call, pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
  spawn_function *real = (spawn_function *)libc_real(call);
  if (own_signal_view.blocked)
    own_signal_block();
  int error = real(pid, file, actions, attributes, argv, envp);
  if (own_signal_view.blocked)
    own_signal_unblock();
  return error;
}

INTERPOSED int posix_spawn(pid_t *restrict pid, const char *restrict path,
                           const posix_spawn_file_actions_t *restrict actions,
                           const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                           char *const envp[restrict])
{
  return spawn(LIBC_posix_spawn, pid, path, actions, attributes, argv, envp);
}

INTERPOSED int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                            const posix_spawn_file_actions_t *restrict actions,
                            const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                            char *const envp[restrict])
{
  return spawn(LIBC_posix_spawnp, pid, file, actions, attributes, argv, envp);
}

/* ---- sandboxes: a system call of ours could be the program's death ---- */

/* A filter that is not there is a question whether the kernel has them. */
static void seccomp_begins(unsigned long mode, const void *filter)
{
  if (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter))
    control_seal();
}

INTERPOSED int prctl(int option, ...)
{
  int (*real)(int, unsigned long, unsigned long, unsigned long, unsigned long) = libc_real(LIBC_prctl);
  unsigned long arguments[4];
  va_list list;
  va_start(list, option);
  for (int i = 0; i < 4; i++)
    arguments[i] = va_arg(list, unsigned long);
  va_end(list);
  if (option == PR_SET_SECCOMP)
    seccomp_begins(arguments[0], (const void *)arguments[1]);
  return real(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

enum raw { RAW_OTHER, RAW_WAITS, RAW_WORKS };

/* What a signal does to a system call: nothing, it ends a wait, or a piece of work before all is done. */
static enum raw raw_kind(long number, const long *arguments)
{
  switch (number) {
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
  case SYS_pause:
  case SYS_poll:
  case SYS_ppoll:
  case SYS_select:
  case SYS_pselect6:
  case SYS_epoll_wait:
  case SYS_epoll_pwait:
  case SYS_epoll_pwait2:
  case SYS_rt_sigsuspend:
  case SYS_rt_sigtimedwait:
  case SYS_futex:
  case SYS_io_getevents:
  case SYS_msgrcv:
  case SYS_msgsnd:
  case SYS_semop:
  case SYS_semtimedop:
  case SYS_accept:
  case SYS_accept4:
  case SYS_connect:
  case SYS_recvfrom:
  case SYS_recvmsg:
  case SYS_recvmmsg:
  case SYS_sendto:
  case SYS_sendmsg:
  case SYS_sendmmsg:
    return RAW_WAITS;
  case SYS_write:
    return partial_io_possible((int)arguments[0], (size_t)arguments[2]) ? RAW_WORKS : RAW_OTHER;
  case SYS_writev:
  case SYS_sendfile:
  case SYS_copy_file_range:
  case SYS_getrandom:
    return RAW_WORKS;
  }
  return RAW_OTHER;
}

#define RAW_OURS (1ull << (RT_SIGNAL - 1))

/* A mask among the arguments, as the kernel has it, with our signal held back. */
struct raw_mask {
  uint64_t bits;
  struct {
    const uint64_t *bits;
    size_t size;
  } indirect; /* how pselect6 is given it */
};

/* The program's pointers may be bad, which is the kernel's to find. */
static const uint64_t *raw_mask_copy(struct raw_mask *copy, const uint64_t *mask)
{
  if (!mask || own_signal_in_use() || !sys_peek((uint64_t)mask, &copy->bits, sizeof copy->bits))
    return mask;
  copy->bits |= RAW_OURS;
  return &copy->bits;
}

static void raw_mask(long number, long *arguments, struct raw_mask *copy)
{
  long *place = number == SYS_rt_sigsuspend                               ? &arguments[0]
                : number == SYS_ppoll                                     ? &arguments[3]
                : number == SYS_epoll_pwait || number == SYS_epoll_pwait2 ? &arguments[4]
                                                                          : NULL;
  if (!rt_thread())
    return;
  if (place)
    *place = (long)raw_mask_copy(copy, (const uint64_t *)*place);
  if (number == SYS_pselect6 && arguments[5] &&
      sys_peek((uint64_t)arguments[5], &copy->indirect, sizeof copy->indirect)) {
    copy->indirect.bits = raw_mask_copy(copy, copy->indirect.bits);
    arguments[5] = (long)&copy->indirect;
  }
}

/* Does the program take our signal by a call past libc?  Then samples have to be told apart. */
static bool raw_awaits(long number, const long *arguments, sigset_t *set)
{
  uint64_t bits;
  if (number != SYS_rt_sigtimedwait || !rt_thread() || !sys_peek((uint64_t)arguments[0], &bits, sizeof bits))
    return false;
  sigemptyset(set);
  memcpy(set, &bits, sizeof bits);
  return bits & RAW_OURS;
}

/* The runtime's own waiting, by futex, is sampled like other waiting of its: who makes it wait is charged. */
static bool runtime_waits(void)
{
  const struct thread_state *t = rt_thread();
  return t && (t->activity.lockwait || t->activity.idle);
}

/* Calls past libc. */
INTERPOSED long syscall(long number, ...)
{
  long (*real)(long, long, long, long, long, long, long) = libc_real(LIBC_syscall);
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++)
    arguments[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_exit_group)
    control_finish();
  if (number == SYS_seccomp)
    seccomp_begins(arguments[0] == SECCOMP_SET_MODE_STRICT   ? SECCOMP_MODE_STRICT
                   : arguments[0] == SECCOMP_SET_MODE_FILTER ? SECCOMP_MODE_FILTER
                                                             : SECCOMP_MODE_DISABLED,
                   (const void *)arguments[2]);
  sigset_t awaited;
  if (raw_awaits(number, arguments, &awaited))
    return blocking_await(&awaited, (siginfo_t *)arguments[1], (const struct timespec *)arguments[2]);
  struct raw_mask copy;
  enum raw kind = raw_kind(number, arguments);
  if (kind == RAW_WAITS)
    raw_mask(number, arguments, &copy);
  unsigned held = kind == RAW_WORKS ? blocking_hold_signal(true) : blocking_hold(kind == RAW_WAITS && !runtime_waits());
  long result = real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  blocking_release(held);
  return result;
}
