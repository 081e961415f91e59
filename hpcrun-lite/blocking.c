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

#include "hpcrun-lite/hooks.h"
#include "hpcrun-lite/rt/blame.h"

#define INTERPOSED __attribute__((visibility("default")))

static bool hold(bool may_wait)
{
  sigset_t ours, before;
  if (!may_wait || !rt_self)
    return false;
  sigemptyset(&ours);
  sigaddset(&ours, RT_SIGNAL);
  hooks_sigmask(SIG_BLOCK, &ours, &before);
  blame_block(rt_self);
  return true;
}

static void release(bool held)
{
  if (!held)
    return;
  if (rt_self)
    blame_unblock(rt_self);
  hooks_unblock_signal();
}

/* Around calls that signals do not interrupt: `wall` samples in them as elsewhere. */
static void sleep_begin(void)
{
  if (rt_self && !rt.wall)
    blame_block(rt_self);
}

static void sleep_end(void)
{
  if (rt_self && !rt.wall)
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
  static void *next;
  int (*real)(const struct timespec *, struct timespec *) = hooks_next(&next, "nanosleep");
  bool held = hold(true);
  int result = real(time, rest);
  release(held);
  return result;
}

INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
  static void *next;
  int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = hooks_next(&next, "clock_nanosleep");
  bool held = hold(true);
  int result = real(clock, flags, time, rest);
  release(held);
  return result;
}

INTERPOSED unsigned sleep(unsigned seconds)
{
  static void *next;
  unsigned (*real)(unsigned) = hooks_next(&next, "sleep");
  bool held = hold(true);
  unsigned result = real(seconds);
  release(held);
  return result;
}

INTERPOSED int usleep(useconds_t useconds)
{
  static void *next;
  int (*real)(useconds_t) = hooks_next(&next, "usleep");
  bool held = hold(true);
  int result = real(useconds);
  release(held);
  return result;
}

INTERPOSED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
  static void *next;
  int (*real)(struct pollfd *, nfds_t, int) = hooks_next(&next, "poll");
  bool held = hold(timeout != 0);
  int result = real(fds, count, timeout);
  release(held);
  return result;
}

INTERPOSED int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                      struct timeval *restrict timeout)
{
  static void *next;
  int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *) = hooks_next(&next, "select");
  bool held = hold(!timeout || timeout->tv_sec || timeout->tv_usec);
  int result = real(count, in, out, other, timeout);
  release(held);
  return result;
}

INTERPOSED int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
  static void *next;
  int (*real)(int, struct epoll_event *, int, int) = hooks_next(&next, "epoll_wait");
  bool held = hold(timeout != 0);
  int result = real(epoll, events, count, timeout);
  release(held);
  return result;
}

INTERPOSED int sem_wait(sem_t *semaphore)
{
  static void *next;
  int (*real)(sem_t *) = hooks_next(&next, "sem_wait");
  bool held = hold(true);
  int result = real(semaphore);
  release(held);
  return result;
}

INTERPOSED int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
  static void *next;
  int (*real)(sem_t *, const struct timespec *) = hooks_next(&next, "sem_timedwait");
  bool held = hold(true);
  int result = real(semaphore, until);
  release(held);
  return result;
}

INTERPOSED int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
  static void *next;
  int (*real)(sem_t *, clockid_t, const struct timespec *) = hooks_next(&next, "sem_clockwait");
  bool held = hold(true);
  int result = real(semaphore, clock, until);
  release(held);
  return result;
}

INTERPOSED int pause(void)
{
  static void *next;
  int (*real)(void) = hooks_next(&next, "pause");
  bool held = hold(true);
  int result = real();
  release(held);
  return result;
}

INTERPOSED ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
  static void *next;
  ssize_t (*real)(int, void *, size_t, long, int) = hooks_next(&next, "msgrcv");
  bool held = hold(true);
  ssize_t result = real(queue, message, size, type, flags);
  release(held);
  return result;
}

INTERPOSED int msgsnd(int queue, const void *message, size_t size, int flags)
{
  static void *next;
  int (*real)(int, const void *, size_t, int) = hooks_next(&next, "msgsnd");
  bool held = hold(true);
  int result = real(queue, message, size, flags);
  release(held);
  return result;
}

INTERPOSED int semop(int set, struct sembuf *operations, size_t count)
{
  static void *next;
  int (*real)(int, struct sembuf *, size_t) = hooks_next(&next, "semop");
  bool held = hold(true);
  int result = real(set, operations, count);
  release(held);
  return result;
}

INTERPOSED int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
  static void *next;
  int (*real)(int, struct sembuf *, size_t, const struct timespec *) = hooks_next(&next, "semtimedop");
  bool held = hold(true);
  int result = real(set, operations, count, timeout);
  release(held);
  return result;
}

INTERPOSED int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
  static void *next;
  int (*real)(int, struct sockaddr *, socklen_t *) = hooks_next(&next, "accept");
  bool held = hold(true);
  int result = real(fd, address, size);
  release(held);
  return result;
}

INTERPOSED int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
  static void *next;
  int (*real)(int, struct sockaddr *, socklen_t *, int) = hooks_next(&next, "accept4");
  bool held = hold(true);
  int result = real(fd, address, size, flags);
  release(held);
  return result;
}

INTERPOSED int connect(int fd, const struct sockaddr *address, socklen_t size)
{
  static void *next;
  int (*real)(int, const struct sockaddr *, socklen_t) = hooks_next(&next, "connect");
  bool held = hold(true);
  int result = real(fd, address, size);
  release(held);
  return result;
}

INTERPOSED ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
  static void *next;
  ssize_t (*real)(int, void *, size_t, int) = hooks_next(&next, "recv");
  bool held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags);
  release(held);
  return result;
}

INTERPOSED ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict from,
                            socklen_t *restrict from_size)
{
  static void *next;
  ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *) = hooks_next(&next, "recvfrom");
  bool held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags, from, from_size);
  release(held);
  return result;
}

INTERPOSED ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
  static void *next;
  ssize_t (*real)(int, struct msghdr *, int) = hooks_next(&next, "recvmsg");
  bool held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, message, flags);
  release(held);
  return result;
}

INTERPOSED ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
  static void *next;
  ssize_t (*real)(int, const void *, size_t, int) = hooks_next(&next, "send");
  bool held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags);
  release(held);
  return result;
}

INTERPOSED ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                          socklen_t to_size)
{
  static void *next;
  ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) = hooks_next(&next, "sendto");
  bool held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags, to, to_size);
  release(held);
  return result;
}

INTERPOSED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
  static void *next;
  ssize_t (*real)(int, const struct msghdr *, int) = hooks_next(&next, "sendmsg");
  bool held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, message, flags);
  release(held);
  return result;
}

INTERPOSED int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
  static void *next;
  sigset_t copy;
  int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *) = hooks_next(&next, "ppoll");
  bool held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(fds, count, timeout, with_ours(mask, &copy));
  release(held);
  return result;
}

INTERPOSED int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                       const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
  static void *next;
  sigset_t copy;
  int (*real)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *) =
      hooks_next(&next, "pselect");
  bool held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(count, in, out, other, timeout, with_ours(mask, &copy));
  release(held);
  return result;
}

INTERPOSED int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
  static void *next;
  sigset_t copy;
  int (*real)(int, struct epoll_event *, int, int, const sigset_t *) = hooks_next(&next, "epoll_pwait");
  bool held = hold(timeout != 0);
  int result = real(epoll, events, count, timeout, with_ours(mask, &copy));
  release(held);
  return result;
}

INTERPOSED int sigsuspend(const sigset_t *mask)
{
  static void *next;
  sigset_t copy;
  int (*real)(const sigset_t *) = hooks_next(&next, "sigsuspend");
  bool held = hold(true);
  int result = real(with_ours(mask, &copy));
  release(held);
  return result;
}

INTERPOSED int sigwait(const sigset_t *restrict set, int *restrict number)
{
  static void *next;
  sigset_t copy;
  int (*real)(const sigset_t *, int *) = hooks_next(&next, "sigwait");
  bool held = hold(true);
  int result = real(hooks_awaited(set, &copy), number);
  release(held);
  return result;
}

INTERPOSED int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
  static void *next;
  sigset_t copy;
  int (*real)(const sigset_t *, siginfo_t *) = hooks_next(&next, "sigwaitinfo");
  bool held = hold(true);
  int result = real(hooks_awaited(set, &copy), info);
  release(held);
  return result;
}

INTERPOSED int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                            const struct timespec *restrict timeout)
{
  static void *next;
  sigset_t copy;
  int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) = hooks_next(&next, "sigtimedwait");
  bool held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(hooks_awaited(set, &copy), info, timeout);
  release(held);
  return result;
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
INTERPOSED int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
  static void *next;
  int (*real)(struct pollfd *, nfds_t, int, size_t) = hooks_next(&next, "__poll_chk");
  bool held = hold(timeout != 0);
  int result = real(fds, count, timeout, size);
  release(held);
  return result;
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);
INTERPOSED int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                           size_t size)
{
  static void *next;
  sigset_t copy;
  int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t) =
      hooks_next(&next, "__ppoll_chk");
  bool held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(fds, count, timeout, with_ours(mask, &copy), size);
  release(held);
  return result;
}

INTERPOSED int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
                            const sigset_t *mask)
{
  static void *next;
  sigset_t copy;
  int (*real)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *) =
      hooks_next(&next, "epoll_pwait2");
  bool held = hold(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(epoll, events, count, timeout, with_ours(mask, &copy));
  release(held);
  return result;
}

ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
INTERPOSED ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
  static void *next;
  ssize_t (*real)(int, void *, size_t, size_t, int) = hooks_next(&next, "__recv_chk");
  bool held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, room, flags);
  release(held);
  return result;
}

ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                       struct sockaddr *restrict from, socklen_t *restrict from_size);
INTERPOSED ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                                  struct sockaddr *restrict from, socklen_t *restrict from_size)
{
  static void *next;
  ssize_t (*real)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *) =
      hooks_next(&next, "__recvfrom_chk");
  bool held = hold(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, room, flags, from, from_size);
  release(held);
  return result;
}

INTERPOSED int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
  static void *next;
  int (*real)(int, struct mmsghdr *, unsigned, int, struct timespec *) = hooks_next(&next, "recvmmsg");
  bool held = hold(!(flags & MSG_DONTWAIT));
  int result = real(fd, messages, count, flags, timeout);
  release(held);
  return result;
}

INTERPOSED int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
  static void *next;
  int (*real)(int, struct mmsghdr *, unsigned, int) = hooks_next(&next, "sendmmsg");
  bool held = hold(!(flags & MSG_DONTWAIT));
  int result = real(fd, messages, count, flags);
  release(held);
  return result;
}

INTERPOSED int pthread_join(pthread_t thread, void **value)
{
  static void *next;
  int (*real)(pthread_t, void **) = hooks_next(&next, "pthread_join");
  sleep_begin();
  int result = real(thread, value);
  sleep_end();
  return result;
}

INTERPOSED int thrd_join(thrd_t thread, int *value)
{
  static void *next;
  int (*real)(thrd_t, int *) = hooks_next(&next, "thrd_join");
  sleep_begin();
  int result = real(thread, value);
  sleep_end();
  return result;
}

INTERPOSED pid_t wait(int *status)
{
  static void *next;
  pid_t (*real)(int *) = hooks_next(&next, "wait");
  sleep_begin();
  pid_t result = real(status);
  sleep_end();
  return result;
}

INTERPOSED pid_t waitpid(pid_t pid, int *status, int options)
{
  static void *next;
  pid_t (*real)(pid_t, int *, int) = hooks_next(&next, "waitpid");
  sleep_begin();
  pid_t result = real(pid, status, options);
  sleep_end();
  return result;
}

INTERPOSED pid_t wait3(int *status, int options, struct rusage *usage)
{
  static void *next;
  pid_t (*real)(int *, int, struct rusage *) = hooks_next(&next, "wait3");
  sleep_begin();
  pid_t result = real(status, options, usage);
  sleep_end();
  return result;
}

INTERPOSED pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
  static void *next;
  pid_t (*real)(pid_t, int *, int, struct rusage *) = hooks_next(&next, "wait4");
  sleep_begin();
  pid_t result = real(pid, status, options, usage);
  sleep_end();
  return result;
}

INTERPOSED int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
  static void *next;
  int (*real)(idtype_t, id_t, siginfo_t *, int) = hooks_next(&next, "waitid");
  sleep_begin();
  int result = real(type, id, info, options);
  sleep_end();
  return result;
}

INTERPOSED int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
  static void *next;
  int (*real)(pthread_cond_t *, pthread_mutex_t *) = hooks_next_version(&next, "pthread_cond_wait", "GLIBC_2.3.2");
  sleep_begin();
  int result = real(condition, mutex);
  sleep_end();
  return result;
}

INTERPOSED int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                      const struct timespec *restrict until)
{
  static void *next;
  int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) =
      hooks_next_version(&next, "pthread_cond_timedwait", "GLIBC_2.3.2");
  sleep_begin();
  int result = real(condition, mutex, until);
  sleep_end();
  return result;
}

INTERPOSED int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                      clockid_t clock, const struct timespec *restrict until)
{
  static void *next;
  int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *) =
      hooks_next(&next, "pthread_cond_clockwait");
  sleep_begin();
  int result = real(condition, mutex, clock, until);
  sleep_end();
  return result;
}
