/* System calls that the program makes by syscall(), not by libc's function for the call.  Context: CTL. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite/lifecycle.h"
#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/interpose/partial_io.h"
#include "hpcrun-lite/interpose/sandbox.h"
#include "hpcrun-lite/interpose/signal_waits.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/core/sys.h"

/* The effect of a signal on a system call: none that is known (IO: it may sleep); it ends a wait (MOVE: whose result is
 * a number of bytes); or it ends a transfer with a part. */
enum raw { RAW_OTHER, RAW_IO, RAW_WAIT, RAW_MOVE, RAW_TRANSFER };

/* Does an operation of futex() wait?  The others only wake. */
static bool futex_waits(int operation)
{
  switch (operation & FUTEX_CMD_MASK) {
  case FUTEX_WAIT:
  case FUTEX_WAIT_BITSET:
  case FUTEX_WAIT_REQUEUE_PI:
  case FUTEX_LOCK_PI:
  case FUTEX_LOCK_PI2:
    return true;
  }
  return false;
}

static enum raw raw_kind(long number, const long *arguments)
{
  switch (number) {
  case SYS_futex:
    return futex_waits((int)arguments[1]) ? RAW_WAIT : RAW_OTHER;
  case SYS_nanosleep:
  case SYS_clock_nanosleep:
#ifdef SYS_poll /* newer machines have only the calls that do more */
  case SYS_pause:
  case SYS_poll:
  case SYS_select:
  case SYS_epoll_wait:
#endif
  case SYS_ppoll:
  case SYS_pselect6:
  case SYS_epoll_pwait:
  case SYS_epoll_pwait2:
  case SYS_rt_sigsuspend:
  case SYS_rt_sigtimedwait:
  case SYS_futex_waitv:
  case SYS_io_getevents:
  case SYS_msgsnd:
  case SYS_semop:
  case SYS_semtimedop:
  case SYS_accept:
  case SYS_accept4:
  case SYS_connect:
  case SYS_recvmmsg:
  case SYS_sendmmsg:
    return RAW_WAIT;
  case SYS_msgrcv:
  case SYS_recvfrom:
  case SYS_recvmsg:
  case SYS_sendto:
  case SYS_sendmsg:
    return RAW_MOVE;
  case SYS_write:
    return partial_io_possible((int)arguments[0], (size_t)arguments[2]) ? RAW_TRANSFER : RAW_IO;
  case SYS_read:
  case SYS_readv:
  case SYS_pread64:
  case SYS_pwrite64:
    return RAW_IO;
  case SYS_writev:
  case SYS_sendfile:
  case SYS_copy_file_range:
  case SYS_getrandom:
    return RAW_TRANSFER;
  }
  return RAW_OTHER;
}

#define RAW_OWN (1ull << (SAMPLE_SIGNAL - 1))

/* A signal mask among the arguments, in the kernel's layout, with SAMPLE_SIGNAL held back. */
struct raw_mask {
  uint64_t bits;
  struct {
    const uint64_t *bits;
    size_t size;
  } indirect; /* pselect6 gets a pointer to this */
};

/* The program's pointers may be invalid: then they are passed on, and the kernel reports them. */
static const uint64_t *raw_mask_copy(struct raw_mask *copy, const uint64_t *mask)
{
  if (!mask || own_signal_in_use() || !sys_peek((uint64_t)mask, &copy->bits, sizeof copy->bits))
    return mask;
  copy->bits |= RAW_OWN;
  return &copy->bits;
}

/* Which argument of the call is a mask; -1: none is. */
static int raw_mask_argument(long number)
{
  switch (number) {
  case SYS_rt_sigsuspend:
    return 0;
  case SYS_ppoll:
    return 3;
  case SYS_epoll_pwait:
  case SYS_epoll_pwait2:
    return 4;
  default:
    return -1;
  }
}

static void raw_mask(long number, long *arguments, struct raw_mask *copy)
{
  int mask = raw_mask_argument(number);
  if (!rt_thread())
    return;
  if (mask >= 0)
    arguments[mask] = (long)raw_mask_copy(copy, (const uint64_t *)arguments[mask]);
  if (number == SYS_pselect6 && arguments[5] &&
      sys_peek((uint64_t)arguments[5], &copy->indirect, sizeof copy->indirect)) {
    copy->indirect.bits = raw_mask_copy(copy, copy->indirect.bits);
    arguments[5] = (long)&copy->indirect;
  }
}

/* Does the call wait for SAMPLE_SIGNAL?  Then it must not return for samples. */
static bool raw_awaits(long number, const long *arguments, sigset_t *set)
{
  uint64_t bits;
  if (number != SYS_rt_sigtimedwait || !rt_thread() || !sys_peek((uint64_t)arguments[0], &bits, sizeof bits))
    return false;
  sigemptyset(set);
  memcpy(set, &bits, sizeof bits);
  return own_signal_awaited(set);
}

/* Does an OpenMP runtime wait by futex?  It is sampled there as in its other waits, so that the wait is charged. */
static bool runtime_waits(void)
{
  const struct thread_state *t = rt_thread();
  return t && (t->activity.lockwait || t->activity.idle);
}

/* The mode that an operation of seccomp() sets. */
static int seccomp_mode(long operation)
{
  if (operation == SECCOMP_SET_MODE_STRICT)
    return SECCOMP_MODE_STRICT;
  return operation == SECCOMP_SET_MODE_FILTER ? SECCOMP_MODE_FILTER : SECCOMP_MODE_DISABLED;
}

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
    lifecycle_finish();
  if (number == SYS_execve)
    return execve((const char *)arguments[0], (char *const *)arguments[1], (char *const *)arguments[2]);
  if (number == SYS_execveat)
    return execveat((int)arguments[0], (const char *)arguments[1], (char *const *)arguments[2],
                    (char *const *)arguments[3], (int)arguments[4]);
  if (number == SYS_seccomp)
    sandbox_begins(seccomp_mode(arguments[0]), (const void *)arguments[2]);
  if (number == SYS_ptrace && arguments[0] == PTRACE_TRACEME)
    sandbox_traced();
  sigset_t awaited;
  if (raw_awaits(number, arguments, &awaited))
    return signal_waits_await(&awaited, (siginfo_t *)arguments[1], (const struct timespec *)arguments[2]);
  struct raw_mask copy;
  enum raw kind = raw_kind(number, arguments);
  if (kind == RAW_WAIT)
    raw_mask(number, arguments, &copy);
  bool moves = kind != RAW_WAIT, io = kind == RAW_IO || kind == RAW_TRANSFER;
  unsigned held = kind == RAW_TRANSFER ? hold_transfer(true)
                                       : hold_wait((kind == RAW_WAIT || kind == RAW_MOVE) && !runtime_waits());
  uint64_t position = io ? hold_io_begin() : 0;
  long result = real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
  if (io)
    hold_io_end(position, result, CALLER);
  hold_moved(held, moves ? result : 0, CALLER);
  return result;
}
