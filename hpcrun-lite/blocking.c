/* Calls in which a thread sleeps.
 *
 * Context: CTL.  Most of them a signal would interrupt for good, in spite of SA_RESTART (signal(7)).  Our signal is
 * held back during these and comes on their return: the sample then stands for the time that passed, in the context of
 * the call.  The `wall` event signals threads that sleep; but also an event of CPU time or counts can fall into the
 * kernel's part of a call, just before it sleeps.  Calls that cannot wait are let through.  Variants with __ are what
 * fortified programs call.  The others, at the end, are only here so that a sleeping thread does not pass for a busy
 * one.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite/control.h"
#include "hpcrun-lite/hooks.h"
#include "hpcrun-lite/rt/blame.h"
#include "hpcrun-lite/rt/context.h"
#include "hpcrun-lite/rt/region.h"

#define INTERPOSED __attribute__((visibility("default")))

/* What was done before a call, to be undone after it. */
enum held { HELD_SIGNAL = 1, HELD_STATE = 2 };

/* The workers of its regions may be sampled while it sleeps, and the program be killed. */
static void tell_regions(struct thread_state *t)
{
  if (!t->open_region || rt_closed() || !rt_enter(t))
    return;
  if (region_tell(t))
    context_publish_open(t);
  rt_leave(t);
}

static unsigned hold(bool may_wait)
{
  sigset_t ours, before;
  if (!may_wait || !rt_self)
    return 0;
  tell_regions(rt_self);
  sigemptyset(&ours);
  sigaddset(&ours, RT_SIGNAL);
  hooks_sigmask(SIG_BLOCK, &ours, &before);
  return (blame_block(rt_self) ? HELD_STATE : 0) | (sigismember(&before, RT_SIGNAL) ? 0 : HELD_SIGNAL);
}

static void release(unsigned held)
{
  if (held & HELD_STATE && rt_self)
    blame_unblock(rt_self);
  if (held & HELD_SIGNAL)
    hooks_unblock_signal();
}

/* Around calls that signals do not interrupt: `wall` samples in them as elsewhere. */
static bool sleep_begin(bool may_wait)
{
  if (!may_wait || !rt_self)
    return false;
  tell_regions(rt_self);
  return !rt.wall && blame_block(rt_self);
}

static void sleep_end(bool slept)
{
  if (slept && rt_self)
    blame_unblock(rt_self);
}

/* A mask that a call puts in place of the thread's own, with our signal held back too. */
static const sigset_t *with_ours(const sigset_t *mask, sigset_t *copy)
{
  if (!mask || !rt_self)
    return mask;
  *copy = *mask;
  sigaddset(copy, RT_SIGNAL);
  return copy;
}

INTERPOSED int nanosleep(const struct timespec *time, struct timespec *rest)
{
  int (*real)(const struct timespec *, struct timespec *) = hooks_next(HOOKS_nanosleep);
  unsigned held = hold(true);
  int result = real(time, rest);
  release(held);
  return result;
}

INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
  int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = hooks_next(HOOKS_clock_nanosleep);
  unsigned held = hold(true);
  int result = real(clock, flags, time, rest);
  release(held);
  return result;
}

INTERPOSED unsigned sleep(unsigned seconds)
{
  unsigned (*real)(unsigned) = hooks_next(HOOKS_sleep);
  unsigned held = hold(true);
  unsigned result = real(seconds);
  release(held);
  return result;
}

INTERPOSED int usleep(useconds_t useconds)
{
  int (*real)(useconds_t) = hooks_next(HOOKS_usleep);
  unsigned held = hold(true);
  int result = real(useconds);
  release(held);
  return result;
}

INTERPOSED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
  int (*real)(struct pollfd *, nfds_t, int) = hooks_next(HOOKS_poll);
  unsigned held = hold(timeout != 0);
  int result = real(fds, count, timeout);
  release(held);
  return result;
}

INTERPOSED int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                      struct timeval *restrict timeout)
{
  int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *) = hooks_next(HOOKS_select);
  unsigned held = hold(!timeout || timeout->tv_sec || timeout->tv_usec);
  int result = real(count, in, out, other, timeout);
  release(held);
  return result;
}

INTERPOSED int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
  int (*real)(int, struct epoll_event *, int, int) = hooks_next(HOOKS_epoll_wait);
  unsigned held = hold(timeout != 0);
  int result = real(epoll, events, count, timeout);
  release(held);
  return result;
}

INTERPOSED int sem_wait(sem_t *semaphore)
{
  int (*real)(sem_t *) = hooks_next(HOOKS_sem_wait);
  unsigned held = hold(true);
  int result = real(semaphore);
  release(held);
  return result;
}

INTERPOSED int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
  int (*real)(sem_t *, const struct timespec *) = hooks_next(HOOKS_sem_timedwait);
  unsigned held = hold(true);
  int result = real(semaphore, until);
  release(held);
  return result;
}

INTERPOSED int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
  int (*real)(sem_t *, clockid_t, const struct timespec *) = hooks_next(HOOKS_sem_clockwait);
  unsigned held = hold(true);
  int result = real(semaphore, clock, until);
  release(held);
  return result;
}

INTERPOSED int pause(void)
{
  int (*real)(void) = hooks_next(HOOKS_pause);
  unsigned held = hold(true);
  int result = real();
  release(held);
  return result;
}

INTERPOSED ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
  ssize_t (*real)(int, void *, size_t, long, int) = hooks_next(HOOKS_msgrcv);
  unsigned held = hold(!(flags & IPC_NOWAIT));
  ssize_t result = real(queue, message, size, type, flags);
  release(held);
  return result;
}

INTERPOSED int msgsnd(int queue, const void *message, size_t size, int flags)
{
  int (*real)(int, const void *, size_t, int) = hooks_next(HOOKS_msgsnd);
  unsigned held = hold(!(flags & IPC_NOWAIT));
  int result = real(queue, message, size, flags);
  release(held);
  return result;
}

INTERPOSED int semop(int set, struct sembuf *operations, size_t count)
{
  int (*real)(int, struct sembuf *, size_t) = hooks_next(HOOKS_semop);
  unsigned held = hold(true);
  int result = real(set, operations, count);
  release(held);
  return result;
}

INTERPOSED int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
  int (*real)(int, struct sembuf *, size_t, const struct timespec *) = hooks_next(HOOKS_semtimedop);
  unsigned held = hold(true);
  int result = real(set, operations, count, timeout);
  release(held);
  return result;
}

INTERPOSED int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
  int (*real)(int, struct sockaddr *, socklen_t *) = hooks_next(HOOKS_accept);
  unsigned held = hold(true);
  int result = real(fd, address, size);
  release(held);
  return result;
}

INTERPOSED int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
  int (*real)(int, struct sockaddr *, socklen_t *, int) = hooks_next(HOOKS_accept4);
  unsigned held = hold(true);
  int result = real(fd, address, size, flags);
  release(held);
  return result;
}

INTERPOSED int connect(int fd, const struct sockaddr *address, socklen_t size)
{
  int (*real)(int, const struct sockaddr *, socklen_t) = hooks_next(HOOKS_connect);
  unsigned held = hold(true);
  int result = real(fd, address, size);
  release(held);
  return result;
}

INTERPOSED ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
  ssize_t (*real)(int, void *, size_t, int) = hooks_next(HOOKS_recv);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags);
  release(held);
  return result;
}

INTERPOSED ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict from,
                            socklen_t *restrict from_size)
{
  ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *) = hooks_next(HOOKS_recvfrom);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags, from, from_size);
  release(held);
  return result;
}

INTERPOSED ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
  ssize_t (*real)(int, struct msghdr *, int) = hooks_next(HOOKS_recvmsg);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, message, flags);
  release(held);
  return result;
}

INTERPOSED ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
  ssize_t (*real)(int, const void *, size_t, int) = hooks_next(HOOKS_send);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags);
  release(held);
  return result;
}

INTERPOSED ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                          socklen_t to_size)
{
  ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) = hooks_next(HOOKS_sendto);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags, to, to_size);
  release(held);
  return result;
}

INTERPOSED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
  ssize_t (*real)(int, const struct msghdr *, int) = hooks_next(HOOKS_sendmsg);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, message, flags);
  release(held);
  return result;
}

INTERPOSED int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *) = hooks_next(HOOKS_ppoll);
  unsigned held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(fds, count, timeout, with_ours(mask, &copy));
  release(held);
  return result;
}

INTERPOSED int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                       const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
  sigset_t copy;
  int (*real)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *) = hooks_next(HOOKS_pselect);
  unsigned held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(count, in, out, other, timeout, with_ours(mask, &copy));
  release(held);
  return result;
}

INTERPOSED int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(int, struct epoll_event *, int, int, const sigset_t *) = hooks_next(HOOKS_epoll_pwait);
  unsigned held = hold(timeout != 0);
  int result = real(epoll, events, count, timeout, with_ours(mask, &copy));
  release(held);
  return result;
}

INTERPOSED int sigsuspend(const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(const sigset_t *) = hooks_next(HOOKS_sigsuspend);
  unsigned held = hold(true);
  int result = real(with_ours(mask, &copy));
  release(held);
  return result;
}

INTERPOSED int sigwait(const sigset_t *restrict set, int *restrict number)
{
  sigset_t copy;
  int (*real)(const sigset_t *, int *) = hooks_next(HOOKS_sigwait);
  unsigned held = hold(true);
  int result = real(hooks_awaited(set, &copy), number);
  release(held);
  return result;
}

INTERPOSED int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
  sigset_t copy;
  int (*real)(const sigset_t *, siginfo_t *) = hooks_next(HOOKS_sigwaitinfo);
  unsigned held = hold(true);
  int result = real(hooks_awaited(set, &copy), info);
  release(held);
  return result;
}

INTERPOSED int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                            const struct timespec *restrict timeout)
{
  sigset_t copy;
  int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) = hooks_next(HOOKS_sigtimedwait);
  unsigned held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(hooks_awaited(set, &copy), info, timeout);
  release(held);
  return result;
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
INTERPOSED int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
  int (*real)(struct pollfd *, nfds_t, int, size_t) = hooks_next(HOOKS___poll_chk);
  unsigned held = hold(timeout != 0);
  int result = real(fds, count, timeout, size);
  release(held);
  return result;
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);
INTERPOSED int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                           size_t size)
{
  sigset_t copy;
  int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t) =
      hooks_next(HOOKS___ppoll_chk);
  unsigned held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(fds, count, timeout, with_ours(mask, &copy), size);
  release(held);
  return result;
}

INTERPOSED int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
                            const sigset_t *mask)
{
  sigset_t copy;
  int (*real)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *) =
      hooks_next(HOOKS_epoll_pwait2);
  unsigned held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(epoll, events, count, timeout, with_ours(mask, &copy));
  release(held);
  return result;
}

ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
INTERPOSED ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
  ssize_t (*real)(int, void *, size_t, size_t, int) = hooks_next(HOOKS___recv_chk);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, room, flags);
  release(held);
  return result;
}

ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                       struct sockaddr *restrict from, socklen_t *restrict from_size);
INTERPOSED ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                                  struct sockaddr *restrict from, socklen_t *restrict from_size)
{
  ssize_t (*real)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *) = hooks_next(HOOKS___recvfrom_chk);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, room, flags, from, from_size);
  release(held);
  return result;
}

INTERPOSED int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
  int (*real)(int, struct mmsghdr *, unsigned, int, struct timespec *) = hooks_next(HOOKS_recvmmsg);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  int result = real(fd, messages, count, flags, timeout);
  release(held);
  return result;
}

INTERPOSED int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
  int (*real)(int, struct mmsghdr *, unsigned, int) = hooks_next(HOOKS_sendmmsg);
  unsigned held = hold(!(flags & MSG_DONTWAIT));
  int result = real(fd, messages, count, flags);
  release(held);
  return result;
}

INTERPOSED int pthread_join(pthread_t thread, void **value)
{
  int (*real)(pthread_t, void **) = hooks_next(HOOKS_pthread_join);
  bool slept = sleep_begin(true);
  int result = real(thread, value);
  sleep_end(slept);
  if (!result)
    thread_joined(thread);
  return result;
}

INTERPOSED int thrd_join(thrd_t thread, int *value)
{
  int (*real)(thrd_t, int *) = hooks_next(HOOKS_thrd_join);
  bool slept = sleep_begin(true);
  int result = real(thread, value);
  sleep_end(slept);
  return result;
}

INTERPOSED pid_t waitpid(pid_t pid, int *status, int options)
{
  pid_t (*real)(pid_t, int *, int) = hooks_next(HOOKS_waitpid);
  bool slept = sleep_begin(!(options & WNOHANG));
  pid_t result = real(pid, status, options);
  sleep_end(slept);
  return result;
}

INTERPOSED int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
  int (*real)(idtype_t, id_t, siginfo_t *, int) = hooks_next(HOOKS_waitid);
  bool slept = sleep_begin(!(options & WNOHANG));
  int result = real(type, id, info, options);
  sleep_end(slept);
  return result;
}

INTERPOSED int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *) = hooks_next(HOOKS_pthread_cond_wait);
  bool slept = sleep_begin(true);
  int result = real(condition, mutex);
  sleep_end(slept);
  return result;
}

INTERPOSED int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                      const struct timespec *restrict until)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) = hooks_next(HOOKS_pthread_cond_timedwait);
  bool slept = sleep_begin(true);
  int result = real(condition, mutex, until);
  sleep_end(slept);
  return result;
}

INTERPOSED int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                      clockid_t clock, const struct timespec *restrict until)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *) =
      hooks_next(HOOKS_pthread_cond_clockwait);
  bool slept = sleep_begin(true);
  int result = real(condition, mutex, clock, until);
  sleep_end(slept);
  return result;
}
