/* Calls in which a thread sleeps.
 *
 * Context: CTL.  Most of them a signal would interrupt for good, in spite of SA_RESTART (signal(7)).  Our signal is
 * held back during these and comes on their return: the sample then stands for the time that passed, in the context of
 * the call.  The `wall` event signals threads that sleep; but also an event of CPU time or counts can fall into the
 * kernel's part of a call, just before it sleeps.  Calls that cannot wait are let through.  Variants with __ are what
 * fortified programs call.  The others, at the end, are only here so that a sleeping thread does not pass for a busy
 * one.
 */
#undef _FILE_OFFSET_BITS /* on x86-64 it only renames functions, and these need both names */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite/interpose/blocking.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/thread.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/core/sys.h"

#define INTERPOSED __attribute__((visibility("default")))

/* What was done before a call, to be undone after it. */
enum held { HELD_SIGNAL = 1, HELD_STATE = 2, HELD_TIMERS = 4 };

/* Of the call that the thread is in: a handler may leave it by a jump. */
static __thread unsigned now_held __attribute__((tls_model("initial-exec")));

/* The workers of its regions may be sampled while it sleeps, and the program be killed. */
static void publish_regions(struct thread_state *t)
{
  if (!t->open_region || !rt_enter(t))
    return;
  if (!rt_closed() && region_publish_open(t)) /* who closes waits for those inside */
    context_publish_open(t);
  rt_leave(t);
}

static unsigned hold(void)
{
  sigset_t ours, before;
  unsigned held = 0;
  publish_regions(rt_thread());
  if (own_signal_in_use()) { /* it may be what the program waits for */
    source_suspend(rt_thread());
    held = HELD_TIMERS;
  } else {
    sigemptyset(&ours);
    sigaddset(&ours, RT_SIGNAL);
    libc_sigmask(SIG_BLOCK, &ours, &before);
    held = sigismember(&before, RT_SIGNAL) ? 0 : HELD_SIGNAL;
    own_signal_view.held = held || now_held & HELD_SIGNAL;
  }
  return held;
}

unsigned blocking_hold(bool may_wait)
{
  if (!may_wait || !rt_thread() || !process.active)
    return 0;
  unsigned held = hold();
  held |= blame_block(rt_thread()) ? HELD_STATE : 0;
  now_held |= held;
  return held;
}

unsigned blocking_hold_signal(bool may_be_cut)
{
  if (!may_be_cut || !rt_thread() || !process.active)
    return 0;
  unsigned held = hold();
  now_held |= held;
  return held;
}

void blocking_release(unsigned held)
{
  int saved_errno = errno;
  now_held &= ~held;
  if (held & HELD_STATE && rt_thread())
    blame_unblock(rt_thread());
  if (held & HELD_TIMERS && rt_thread())
    source_go_on(rt_thread());
  if (held & HELD_SIGNAL) {
    own_signal_view.held = false;
    own_signal_unblock();
  }
  errno = saved_errno;
}

/* A handler of the program's that ran on top of such a call does not return to it. */
static void leave_by_jump(void)
{
  if (now_held)
    blocking_release(now_held);
}

/* Around calls that signals do not interrupt: `wall` samples in them as elsewhere. */
static bool sleep_begin(bool may_wait)
{
  if (!may_wait || !rt_thread())
    return false;
  publish_regions(rt_thread());
  return !rt.wall && blame_block(rt_thread());
}

static void sleep_end(bool slept)
{
  if (slept && rt_thread())
    blame_unblock(rt_thread());
}

/* A mask that a call puts in place of the thread's own, with our signal held back too. */
static const sigset_t *with_ours(const sigset_t *mask, sigset_t *copy)
{
  if (!mask || !rt_thread() || own_signal_in_use())
    return mask;
  *copy = *mask;
  sigaddset(copy, RT_SIGNAL);
  return copy;
}

/* Such a mask is also what the program sees meanwhile.  Returns what it saw before. */
static bool see_mask(const sigset_t *mask)
{
  bool before = own_signal_view.blocked;
  if (mask)
    own_signal_view.blocked = sigismember(mask, RT_SIGNAL) == 1;
  return before;
}

INTERPOSED int nanosleep(const struct timespec *time, struct timespec *rest)
{
  int (*real)(const struct timespec *, struct timespec *) = libc_real(LIBC_nanosleep);
  unsigned held = blocking_hold(true);
  int result = real(time, rest);
  blocking_release(held);
  return result;
}

INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
  int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = libc_real(LIBC_clock_nanosleep);
  unsigned held = blocking_hold(true);
  int result = real(clock, flags, time, rest);
  blocking_release(held);
  return result;
}

INTERPOSED unsigned sleep(unsigned seconds)
{
  unsigned (*real)(unsigned) = libc_real(LIBC_sleep);
  unsigned held = blocking_hold(true);
  unsigned result = real(seconds);
  blocking_release(held);
  return result;
}

INTERPOSED int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
  int (*real)(const struct timespec *, struct timespec *) = libc_real(LIBC_thrd_sleep);
  unsigned held = blocking_hold(true);
  int result = real(time, rest);
  blocking_release(held);
  return result;
}

INTERPOSED int usleep(useconds_t useconds)
{
  int (*real)(useconds_t) = libc_real(LIBC_usleep);
  unsigned held = blocking_hold(true);
  int result = real(useconds);
  blocking_release(held);
  return result;
}

INTERPOSED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
  int (*real)(struct pollfd *, nfds_t, int) = libc_real(LIBC_poll);
  unsigned held = blocking_hold(timeout != 0);
  int result = real(fds, count, timeout);
  blocking_release(held);
  return result;
}

INTERPOSED int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                      struct timeval *restrict timeout)
{
  int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *) = libc_real(LIBC_select);
  unsigned held = blocking_hold(!timeout || timeout->tv_sec || timeout->tv_usec);
  int result = real(count, in, out, other, timeout);
  blocking_release(held);
  return result;
}

INTERPOSED int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
  int (*real)(int, struct epoll_event *, int, int) = libc_real(LIBC_epoll_wait);
  unsigned held = blocking_hold(timeout != 0);
  int result = real(epoll, events, count, timeout);
  blocking_release(held);
  return result;
}

INTERPOSED int sem_wait(sem_t *semaphore)
{
  int (*real)(sem_t *) = libc_real(LIBC_sem_wait);
  unsigned held = blocking_hold(true);
  int result = real(semaphore);
  blocking_release(held);
  return result;
}

INTERPOSED int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
  int (*real)(sem_t *, const struct timespec *) = libc_real(LIBC_sem_timedwait);
  unsigned held = blocking_hold(true);
  int result = real(semaphore, until);
  blocking_release(held);
  return result;
}

INTERPOSED int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
  int (*real)(sem_t *, clockid_t, const struct timespec *) = libc_real(LIBC_sem_clockwait);
  unsigned held = blocking_hold(true);
  int result = real(semaphore, clock, until);
  blocking_release(held);
  return result;
}

INTERPOSED int pause(void)
{
  int (*real)(void) = libc_real(LIBC_pause);
  unsigned held = blocking_hold(true);
  int result = real();
  blocking_release(held);
  return result;
}

INTERPOSED ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
  ssize_t (*real)(int, void *, size_t, long, int) = libc_real(LIBC_msgrcv);
  unsigned held = blocking_hold(!(flags & IPC_NOWAIT));
  ssize_t result = real(queue, message, size, type, flags);
  blocking_release(held);
  return result;
}

INTERPOSED int msgsnd(int queue, const void *message, size_t size, int flags)
{
  int (*real)(int, const void *, size_t, int) = libc_real(LIBC_msgsnd);
  unsigned held = blocking_hold(!(flags & IPC_NOWAIT));
  int result = real(queue, message, size, flags);
  blocking_release(held);
  return result;
}

INTERPOSED int semop(int set, struct sembuf *operations, size_t count)
{
  int (*real)(int, struct sembuf *, size_t) = libc_real(LIBC_semop);
  unsigned held = blocking_hold(true);
  int result = real(set, operations, count);
  blocking_release(held);
  return result;
}

INTERPOSED int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
  int (*real)(int, struct sembuf *, size_t, const struct timespec *) = libc_real(LIBC_semtimedop);
  unsigned held = blocking_hold(true);
  int result = real(set, operations, count, timeout);
  blocking_release(held);
  return result;
}

INTERPOSED int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
  int (*real)(int, struct sockaddr *, socklen_t *) = libc_real(LIBC_accept);
  unsigned held = blocking_hold(true);
  int result = real(fd, address, size);
  blocking_release(held);
  return result;
}

INTERPOSED int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
  int (*real)(int, struct sockaddr *, socklen_t *, int) = libc_real(LIBC_accept4);
  unsigned held = blocking_hold(true);
  int result = real(fd, address, size, flags);
  blocking_release(held);
  return result;
}

INTERPOSED int connect(int fd, const struct sockaddr *address, socklen_t size)
{
  int (*real)(int, const struct sockaddr *, socklen_t) = libc_real(LIBC_connect);
  unsigned held = blocking_hold(true);
  int result = real(fd, address, size);
  blocking_release(held);
  return result;
}

INTERPOSED ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
  ssize_t (*real)(int, void *, size_t, int) = libc_real(LIBC_recv);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags);
  blocking_release(held);
  return result;
}

INTERPOSED ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict from,
                            socklen_t *restrict from_size)
{
  ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *) = libc_real(LIBC_recvfrom);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags, from, from_size);
  blocking_release(held);
  return result;
}

INTERPOSED ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
  ssize_t (*real)(int, struct msghdr *, int) = libc_real(LIBC_recvmsg);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, message, flags);
  blocking_release(held);
  return result;
}

INTERPOSED ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
  ssize_t (*real)(int, const void *, size_t, int) = libc_real(LIBC_send);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags);
  blocking_release(held);
  return result;
}

INTERPOSED ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                          socklen_t to_size)
{
  ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) = libc_real(LIBC_sendto);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags, to, to_size);
  blocking_release(held);
  return result;
}

INTERPOSED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
  ssize_t (*real)(int, const struct msghdr *, int) = libc_real(LIBC_sendmsg);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, message, flags);
  blocking_release(held);
  return result;
}

INTERPOSED int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *) = libc_real(LIBC_ppoll);
  unsigned held = blocking_hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  bool seen = see_mask(mask);
  int result = real(fds, count, timeout, with_ours(mask, &copy));
  own_signal_view.blocked = seen;
  blocking_release(held);
  return result;
}

INTERPOSED int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                       const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
  sigset_t copy;
  int (*real)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *) = libc_real(LIBC_pselect);
  unsigned held = blocking_hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  bool seen = see_mask(mask);
  int result = real(count, in, out, other, timeout, with_ours(mask, &copy));
  own_signal_view.blocked = seen;
  blocking_release(held);
  return result;
}

INTERPOSED int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(int, struct epoll_event *, int, int, const sigset_t *) = libc_real(LIBC_epoll_pwait);
  unsigned held = blocking_hold(timeout != 0);
  bool seen = see_mask(mask);
  int result = real(epoll, events, count, timeout, with_ours(mask, &copy));
  own_signal_view.blocked = seen;
  blocking_release(held);
  return result;
}

INTERPOSED int sigsuspend(const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(const sigset_t *) = libc_real(LIBC_sigsuspend);
  unsigned held = blocking_hold(true);
  bool seen = see_mask(mask);
  int result = real(with_ours(mask, &copy));
  own_signal_view.blocked = seen;
  blocking_release(held);
  return result;
}

/* Waits for signals of which ours is one: samples are not what is meant. */
static int wait_past_samples(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
  int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) = libc_real(LIBC_sigtimedwait);
  struct timespec left = timeout ? *timeout : (struct timespec){0};
  uint64_t end = sys_monotonic_ns() + (uint64_t)left.tv_sec * 1000000000u + (uint64_t)left.tv_nsec;
  for (;;) {
    int number = real(set, info, timeout ? &left : NULL);
    if (number < 0 || !own_signal_is_sample(info))
      return number;
    uint64_t now = sys_monotonic_ns(), rest_ns = now < end ? end - now : 0;
    left = (struct timespec){(time_t)(rest_ns / 1000000000u), (long)(rest_ns % 1000000000u)};
  }
}

int blocking_await(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
  siginfo_t own;
  unsigned held = blocking_hold(true);
  int result = wait_past_samples(set, info ? info : &own, timeout);
  blocking_release(held);
  return result;
}

INTERPOSED int sigwait(const sigset_t *restrict set, int *restrict number)
{
  int (*real)(const sigset_t *, int *) = libc_real(LIBC_sigwait);
  siginfo_t info;
  int got, saved_errno = errno;
  bool ours = own_signal_awaited(set);
  unsigned held = blocking_hold(true);
  if (!ours) {
    got = real(set, number);
    blocking_release(held);
    return got;
  }
  while ((got = wait_past_samples(set, &info, NULL)) < 0 && errno == EINTR)
    ;
  blocking_release(held);
  int error = got < 0 ? errno : 0;
  if (got > 0)
    *number = got;
  errno = saved_errno;
  return error;
}

INTERPOSED int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
  int (*real)(const sigset_t *, siginfo_t *) = libc_real(LIBC_sigwaitinfo);
  siginfo_t own;
  bool ours = own_signal_awaited(set);
  unsigned held = blocking_hold(true);
  int result = ours ? wait_past_samples(set, info ? info : &own, NULL) : real(set, info);
  blocking_release(held);
  return result;
}

INTERPOSED int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                            const struct timespec *restrict timeout)
{
  int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) = libc_real(LIBC_sigtimedwait);
  siginfo_t own;
  bool ours = own_signal_awaited(set);
  unsigned held = blocking_hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = ours ? wait_past_samples(set, info ? info : &own, timeout) : real(set, info, timeout);
  blocking_release(held);
  return result;
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
INTERPOSED int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
  int (*real)(struct pollfd *, nfds_t, int, size_t) = libc_real(LIBC___poll_chk);
  unsigned held = blocking_hold(timeout != 0);
  int result = real(fds, count, timeout, size);
  blocking_release(held);
  return result;
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);
INTERPOSED int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                           size_t size)
{
  sigset_t copy;
  int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t) = libc_real(LIBC___ppoll_chk);
  unsigned held = blocking_hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  bool seen = see_mask(mask);
  int result = real(fds, count, timeout, with_ours(mask, &copy), size);
  own_signal_view.blocked = seen;
  blocking_release(held);
  return result;
}

INTERPOSED int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
                            const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *) = libc_real(LIBC_epoll_pwait2);
  unsigned held = blocking_hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  bool seen = see_mask(mask);
  int result = real(epoll, events, count, timeout, with_ours(mask, &copy));
  own_signal_view.blocked = seen;
  blocking_release(held);
  return result;
}

ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
INTERPOSED ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
  ssize_t (*real)(int, void *, size_t, size_t, int) = libc_real(LIBC___recv_chk);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, room, flags);
  blocking_release(held);
  return result;
}

ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                       struct sockaddr *restrict from, socklen_t *restrict from_size);
INTERPOSED ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                                  struct sockaddr *restrict from, socklen_t *restrict from_size)
{
  ssize_t (*real)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *) = libc_real(LIBC___recvfrom_chk);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, room, flags, from, from_size);
  blocking_release(held);
  return result;
}

INTERPOSED int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
  int (*real)(int, struct mmsghdr *, unsigned, int, struct timespec *) = libc_real(LIBC_recvmmsg);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  int result = real(fd, messages, count, flags, timeout);
  blocking_release(held);
  return result;
}

INTERPOSED int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
  int (*real)(int, struct mmsghdr *, unsigned, int) = libc_real(LIBC_sendmmsg);
  unsigned held = blocking_hold(!(flags & MSG_DONTWAIT));
  int result = real(fd, messages, count, flags);
  blocking_release(held);
  return result;
}

INTERPOSED int aio_suspend(const struct aiocb *const list[], int count, const struct timespec *restrict timeout)
{
  int (*real)(const struct aiocb *const[], int, const struct timespec *) = libc_real(LIBC_aio_suspend);
  unsigned held = blocking_hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(list, count, timeout);
  blocking_release(held);
  return result;
}

INTERPOSED int aio_suspend64(const struct aiocb64 *const list[], int count, const struct timespec *restrict timeout)
{
  return aio_suspend((const struct aiocb *const *)list, count, timeout);
}

INTERPOSED int pthread_join(pthread_t thread, void **value)
{
  int (*real)(pthread_t, void **) = libc_real(LIBC_pthread_join);
  bool slept = sleep_begin(true);
  int result = real(thread, value);
  sleep_end(slept);
  if (!result)
    thread_joined(thread);
  return result;
}

INTERPOSED int thrd_join(thrd_t thread, int *value)
{
  int (*real)(thrd_t, int *) = libc_real(LIBC_thrd_join);
  bool slept = sleep_begin(true);
  int result = real(thread, value);
  sleep_end(slept);
  return result;
}

INTERPOSED pid_t waitpid(pid_t pid, int *status, int options)
{
  pid_t (*real)(pid_t, int *, int) = libc_real(LIBC_waitpid);
  bool slept = sleep_begin(!(options & WNOHANG));
  pid_t result = real(pid, status, options);
  sleep_end(slept);
  return result;
}

INTERPOSED int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
  int (*real)(idtype_t, id_t, siginfo_t *, int) = libc_real(LIBC_waitid);
  bool slept = sleep_begin(!(options & WNOHANG));
  int result = real(type, id, info, options);
  sleep_end(slept);
  return result;
}

INTERPOSED int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *) = libc_real(LIBC_pthread_cond_wait);
  bool slept = sleep_begin(true);
  int result = real(condition, mutex);
  sleep_end(slept);
  return result;
}

INTERPOSED int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                      const struct timespec *restrict until)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) = libc_real(LIBC_pthread_cond_timedwait);
  bool slept = sleep_begin(true);
  int result = real(condition, mutex, until);
  sleep_end(slept);
  return result;
}

INTERPOSED int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                      clockid_t clock, const struct timespec *restrict until)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *) =
      libc_real(LIBC_pthread_cond_clockwait);
  bool slept = sleep_begin(true);
  int result = real(condition, mutex, clock, until);
  sleep_end(slept);
  return result;
}

/* ---- jumps, which may lead out of a call ---- */

static _Noreturn void jump(enum libc_call call, void *place, int value)
{
  void (*real)(void *, int) = libc_real(call);
  leave_by_jump();
  real(place, value);
  __builtin_unreachable();
}

INTERPOSED void longjmp(jmp_buf place, int value)
{
  jump(LIBC_longjmp, place, value);
}

INTERPOSED void _longjmp(jmp_buf place, int value)
{
  jump(LIBC__longjmp, place, value);
}

INTERPOSED void siglongjmp(sigjmp_buf place, int value)
{
  jump(LIBC_siglongjmp, place, value);
}

_Noreturn void __longjmp_chk(jmp_buf place, int value);
INTERPOSED void __longjmp_chk(jmp_buf place, int value)
{
  jump(LIBC___longjmp_chk, place, value);
}
