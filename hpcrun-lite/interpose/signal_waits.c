#undef _FILE_OFFSET_BITS /* on x86-64 it only renames functions, and these need both names */
#define _GNU_SOURCE
#include "hpcrun-lite/interpose/signal_waits.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/core/sys.h"

/* The mask that a call sets while it waits, with SAMPLE_SIGNAL held back. */
static const sigset_t *with_own(const sigset_t *mask, sigset_t *copy)
{
  if (!mask || !rt_thread() || own_signal_in_use())
    return mask;
  *copy = *mask;
  sigaddset(copy, SAMPLE_SIGNAL);
  return copy;
}

/* The program sees that mask during the call.  Returns its view before. */
static bool show_mask(const sigset_t *mask)
{
  bool before = own_signal_view.blocked;
  if (mask)
    own_signal_view.blocked = sigismember(mask, SAMPLE_SIGNAL) == 1;
  return before;
}

INTERPOSED int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *) = libc_real(LIBC_ppoll);
  unsigned held = hold_wait(!timeout || timeout->tv_sec || timeout->tv_nsec);
  bool before = show_mask(mask);
  int result = real(fds, count, timeout, with_own(mask, &copy));
  own_signal_view.blocked = before;
  hold_release(held);
  return result;
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);
INTERPOSED int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                           size_t size)
{
  sigset_t copy;
  int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t) = libc_real(LIBC___ppoll_chk);
  unsigned held = hold_wait(!timeout || timeout->tv_sec || timeout->tv_nsec);
  bool before = show_mask(mask);
  int result = real(fds, count, timeout, with_own(mask, &copy), size);
  own_signal_view.blocked = before;
  hold_release(held);
  return result;
}

INTERPOSED int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                       const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
  sigset_t copy;
  int (*real)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *) = libc_real(LIBC_pselect);
  unsigned held = hold_wait(!timeout || timeout->tv_sec || timeout->tv_nsec);
  bool before = show_mask(mask);
  int result = real(count, in, out, other, timeout, with_own(mask, &copy));
  own_signal_view.blocked = before;
  hold_release(held);
  return result;
}

INTERPOSED int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(int, struct epoll_event *, int, int, const sigset_t *) = libc_real(LIBC_epoll_pwait);
  unsigned held = hold_wait(timeout != 0);
  bool before = show_mask(mask);
  int result = real(epoll, events, count, timeout, with_own(mask, &copy));
  own_signal_view.blocked = before;
  hold_release(held);
  return result;
}

INTERPOSED int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
                            const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *) = libc_real(LIBC_epoll_pwait2);
  unsigned held = hold_wait(!timeout || timeout->tv_sec || timeout->tv_nsec);
  bool before = show_mask(mask);
  int result = real(epoll, events, count, timeout, with_own(mask, &copy));
  own_signal_view.blocked = before;
  hold_release(held);
  return result;
}

INTERPOSED int sigsuspend(const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(const sigset_t *) = libc_real(LIBC_sigsuspend);
  unsigned held = hold_wait(true);
  bool before = show_mask(mask);
  int result = real(with_own(mask, &copy));
  own_signal_view.blocked = before;
  hold_release(held);
  return result;
}

/* Waits for signals that include SAMPLE_SIGNAL; does not return for samples. */
static int wait_past_samples(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
  int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) = libc_real(LIBC_sigtimedwait);
  struct timespec left = timeout ? *timeout : (struct timespec){0};
  uint64_t end = sys_monotonic_ns() + (uint64_t)left.tv_sec * 1000000000u + (uint64_t)left.tv_nsec;
  for (;;) {
    int number = real(set, info, timeout ? &left : NULL);
    bool own = number == SAMPLE_SIGNAL && own_signal_absorb(info); /* once: a command's file may be gone then */
    if (number == SAMPLE_SIGNAL && !own && own_signal_view.in_kernel) {
      own_signal_end_pending();
      own_signal_unblock();
    }
    if (!own)
      return number;
    uint64_t now = sys_monotonic_ns(), rest_ns = now < end ? end - now : 0;
    left = (struct timespec){(time_t)(rest_ns / 1000000000u), (long)(rest_ns % 1000000000u)};
  }
}

int signal_waits_await(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
  siginfo_t unused;
  unsigned held = hold_wait(true);
  int result = wait_past_samples(set, info ? info : &unused, timeout);
  hold_release(held);
  return result;
}

INTERPOSED int sigwait(const sigset_t *restrict set, int *restrict number)
{
  int (*real)(const sigset_t *, int *) = libc_real(LIBC_sigwait);
  siginfo_t info;
  int got, saved_errno = errno;
  bool own = own_signal_awaited(set);
  unsigned held = hold_wait(true);
  if (!own) {
    got = real(set, number);
    hold_release(held);
    return got;
  }
  while ((got = wait_past_samples(set, &info, NULL)) < 0 && errno == EINTR)
    ;
  hold_release(held);
  int error = got < 0 ? errno : 0;
  if (got > 0)
    *number = got;
  errno = saved_errno;
  return error;
}

INTERPOSED int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
  int (*real)(const sigset_t *, siginfo_t *) = libc_real(LIBC_sigwaitinfo);
  siginfo_t unused;
  bool own = own_signal_awaited(set);
  unsigned held = hold_wait(true);
  int result;
  if (own)
    result = wait_past_samples(set, info ? info : &unused, NULL);
  else
    result = real(set, info);
  hold_release(held);
  return result;
}

INTERPOSED int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                            const struct timespec *restrict timeout)
{
  int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) = libc_real(LIBC_sigtimedwait);
  siginfo_t unused;
  bool own = own_signal_awaited(set);
  unsigned held = hold_wait(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result;
  if (own)
    result = wait_past_samples(set, info ? info : &unused, timeout);
  else
    result = real(set, info, timeout);
  hold_release(held);
  return result;
}
