/* Calls in which a thread sleeps.
 *
 * Context: CTL.  A signal ends most of them in spite of SA_RESTART (signal(7)): SAMPLE_SIGNAL is held back (hold.h).
 * The others, at the end, are interposed only so that a sleeping thread does not count as busy. Functions whose names
 * begin with __ are the variants that fortified programs call.
 */
#undef _FILE_OFFSET_BITS /* on x86-64 it only renames functions, and these need both names */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/thread.h"

INTERPOSED int nanosleep(const struct timespec *time, struct timespec *rest)
{
  int (*real)(const struct timespec *, struct timespec *) = libc_real(LIBC_nanosleep);
  unsigned held = hold_wait(true);
  int result = real(time, rest);
  hold_release(held);
  return result;
}

INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
  int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = libc_real(LIBC_clock_nanosleep);
  unsigned held = hold_wait(true);
  int result = real(clock, flags, time, rest);
  hold_release(held);
  return result;
}

INTERPOSED unsigned sleep(unsigned seconds)
{
  unsigned (*real)(unsigned) = libc_real(LIBC_sleep);
  unsigned held = hold_wait(true);
  unsigned result = real(seconds);
  hold_release(held);
  return result;
}

INTERPOSED int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
  int (*real)(const struct timespec *, struct timespec *) = libc_real(LIBC_thrd_sleep);
  unsigned held = hold_wait(true);
  int result = real(time, rest);
  hold_release(held);
  return result;
}

INTERPOSED int usleep(useconds_t useconds)
{
  int (*real)(useconds_t) = libc_real(LIBC_usleep);
  unsigned held = hold_wait(true);
  int result = real(useconds);
  hold_release(held);
  return result;
}

INTERPOSED int poll(struct pollfd *fds, nfds_t count, int timeout)
{
  int (*real)(struct pollfd *, nfds_t, int) = libc_real(LIBC_poll);
  unsigned held = hold_wait(timeout != 0);
  int result = real(fds, count, timeout);
  hold_release(held);
  return result;
}

INTERPOSED int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                      struct timeval *restrict timeout)
{
  int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *) = libc_real(LIBC_select);
  unsigned held = hold_wait(!timeout || timeout->tv_sec || timeout->tv_usec);
  int result = real(count, in, out, other, timeout);
  hold_release(held);
  return result;
}

INTERPOSED int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
  int (*real)(int, struct epoll_event *, int, int) = libc_real(LIBC_epoll_wait);
  unsigned held = hold_wait(timeout != 0);
  int result = real(epoll, events, count, timeout);
  hold_release(held);
  return result;
}

INTERPOSED int pause(void)
{
  int (*real)(void) = libc_real(LIBC_pause);
  unsigned held = hold_wait(true);
  int result = real();
  hold_release(held);
  return result;
}

INTERPOSED ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
  ssize_t (*real)(int, void *, size_t, long, int) = libc_real(LIBC_msgrcv);
  unsigned held = hold_wait(!(flags & IPC_NOWAIT));
  ssize_t result = real(queue, message, size, type, flags);
  hold_moved(held, result, CALLER);
  return result;
}

INTERPOSED int msgsnd(int queue, const void *message, size_t size, int flags)
{
  int (*real)(int, const void *, size_t, int) = libc_real(LIBC_msgsnd);
  unsigned held = hold_wait(!(flags & IPC_NOWAIT));
  int result = real(queue, message, size, flags);
  hold_moved(held, result ? 0 : (ssize_t)size, CALLER);
  return result;
}

INTERPOSED int semop(int set, struct sembuf *operations, size_t count)
{
  int (*real)(int, struct sembuf *, size_t) = libc_real(LIBC_semop);
  unsigned held = hold_wait(true);
  int result = real(set, operations, count);
  hold_release(held);
  return result;
}

INTERPOSED int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
  int (*real)(int, struct sembuf *, size_t, const struct timespec *) = libc_real(LIBC_semtimedop);
  unsigned held = hold_wait(true);
  int result = real(set, operations, count, timeout);
  hold_release(held);
  return result;
}

INTERPOSED int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
  int (*real)(int, struct sockaddr *, socklen_t *) = libc_real(LIBC_accept);
  unsigned held = hold_wait(true);
  int result = real(fd, address, size);
  hold_release(held);
  return result;
}

INTERPOSED int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
  int (*real)(int, struct sockaddr *, socklen_t *, int) = libc_real(LIBC_accept4);
  unsigned held = hold_wait(true);
  int result = real(fd, address, size, flags);
  hold_release(held);
  return result;
}

INTERPOSED int connect(int fd, const struct sockaddr *address, socklen_t size)
{
  int (*real)(int, const struct sockaddr *, socklen_t) = libc_real(LIBC_connect);
  unsigned held = hold_wait(true);
  int result = real(fd, address, size);
  hold_release(held);
  return result;
}

INTERPOSED ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
  ssize_t (*real)(int, void *, size_t, int) = libc_real(LIBC_recv);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags);
  hold_moved(held, result, CALLER);
  return result;
}

INTERPOSED ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict from,
                            socklen_t *restrict from_size)
{
  ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *) = libc_real(LIBC_recvfrom);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags, from, from_size);
  hold_moved(held, result, CALLER);
  return result;
}

INTERPOSED ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
  ssize_t (*real)(int, struct msghdr *, int) = libc_real(LIBC_recvmsg);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, message, flags);
  hold_moved(held, result, CALLER);
  return result;
}

INTERPOSED ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
  ssize_t (*real)(int, const void *, size_t, int) = libc_real(LIBC_send);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags);
  hold_moved(held, result, CALLER);
  return result;
}

INTERPOSED ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *to,
                          socklen_t to_size)
{
  ssize_t (*real)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) = libc_real(LIBC_sendto);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, flags, to, to_size);
  hold_moved(held, result, CALLER);
  return result;
}

INTERPOSED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
  ssize_t (*real)(int, const struct msghdr *, int) = libc_real(LIBC_sendmsg);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, message, flags);
  hold_moved(held, result, CALLER);
  return result;
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
INTERPOSED int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
  int (*real)(struct pollfd *, nfds_t, int, size_t) = libc_real(LIBC___poll_chk);
  unsigned held = hold_wait(timeout != 0);
  int result = real(fds, count, timeout, size);
  hold_release(held);
  return result;
}

ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
INTERPOSED ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
  ssize_t (*real)(int, void *, size_t, size_t, int) = libc_real(LIBC___recv_chk);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, room, flags);
  hold_moved(held, result, CALLER);
  return result;
}

ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                       struct sockaddr *restrict from, socklen_t *restrict from_size);
INTERPOSED ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                                  struct sockaddr *restrict from, socklen_t *restrict from_size)
{
  ssize_t (*real)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *) = libc_real(LIBC___recvfrom_chk);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  ssize_t result = real(fd, buffer, size, room, flags, from, from_size);
  hold_moved(held, result, CALLER);
  return result;
}

/* The bytes of the first messages. */
static ssize_t bytes_in(const struct mmsghdr *messages, int count)
{
  size_t bytes = 0;
  for (int i = 0; i < count; i++)
    bytes += messages[i].msg_len;
  return (ssize_t)bytes;
}

INTERPOSED int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
  int (*real)(int, struct mmsghdr *, unsigned, int, struct timespec *) = libc_real(LIBC_recvmmsg);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  int result = real(fd, messages, count, flags, timeout);
  hold_moved(held, bytes_in(messages, result), CALLER);
  return result;
}

INTERPOSED int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
  int (*real)(int, struct mmsghdr *, unsigned, int) = libc_real(LIBC_sendmmsg);
  unsigned held = hold_wait(!(flags & MSG_DONTWAIT));
  int result = real(fd, messages, count, flags);
  hold_moved(held, bytes_in(messages, result), CALLER);
  return result;
}

INTERPOSED int aio_suspend(const struct aiocb *const list[], int count, const struct timespec *restrict timeout)
{
  int (*real)(const struct aiocb *const[], int, const struct timespec *) = libc_real(LIBC_aio_suspend);
  unsigned held = hold_wait(!timeout || timeout->tv_sec || timeout->tv_nsec);
  int result = real(list, count, timeout);
  hold_release(held);
  return result;
}

INTERPOSED int aio_suspend64(const struct aiocb64 *const list[], int count, const struct timespec *restrict timeout)
{
  return aio_suspend((const struct aiocb *const *)list, count, timeout);
}

/* errno stays as it is. */
static void joined(pthread_t thread)
{
  int saved_errno = errno;
  thread_joined(thread);
  errno = saved_errno;
}

INTERPOSED int pthread_join(pthread_t thread, void **value)
{
  int (*real)(pthread_t, void **) = libc_real(LIBC_pthread_join);
  bool slept = hold_sleep_begin(true);
  int result = real(thread, value);
  hold_sleep_end(slept);
  if (!result)
    joined(thread);
  return result;
}

INTERPOSED int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
  int (*real)(pthread_t, void **, const struct timespec *) = libc_real(LIBC_pthread_timedjoin_np);
  bool slept = hold_sleep_begin(true);
  int result = real(thread, value, until);
  hold_sleep_end(slept);
  if (!result)
    joined(thread);
  return result;
}

INTERPOSED int thrd_join(thrd_t thread, int *value)
{
  int (*real)(thrd_t, int *) = libc_real(LIBC_thrd_join);
  bool slept = hold_sleep_begin(true);
  int result = real(thread, value);
  hold_sleep_end(slept);
  return result;
}

INTERPOSED pid_t waitpid(pid_t pid, int *status, int options)
{
  pid_t (*real)(pid_t, int *, int) = libc_real(LIBC_waitpid);
  bool slept = hold_sleep_begin(!(options & WNOHANG));
  pid_t result = real(pid, status, options);
  hold_sleep_end(slept);
  return result;
}

INTERPOSED int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
  int (*real)(idtype_t, id_t, siginfo_t *, int) = libc_real(LIBC_waitid);
  bool slept = hold_sleep_begin(!(options & WNOHANG));
  int result = real(type, id, info, options);
  hold_sleep_end(slept);
  return result;
}

INTERPOSED pid_t wait(int *status)
{
  pid_t (*real)(int *) = libc_real(LIBC_wait);
  bool slept = hold_sleep_begin(true);
  pid_t result = real(status);
  hold_sleep_end(slept);
  return result;
}

INTERPOSED pid_t wait3(int *status, int options, struct rusage *usage)
{
  pid_t (*real)(int *, int, struct rusage *) = libc_real(LIBC_wait3);
  bool slept = hold_sleep_begin(!(options & WNOHANG));
  pid_t result = real(status, options, usage);
  hold_sleep_end(slept);
  return result;
}

INTERPOSED pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
  pid_t (*real)(pid_t, int *, int, struct rusage *) = libc_real(LIBC_wait4);
  bool slept = hold_sleep_begin(!(options & WNOHANG));
  pid_t result = real(pid, status, options, usage);
  hold_sleep_end(slept);
  return result;
}

INTERPOSED int pthread_barrier_wait(pthread_barrier_t *barrier)
{
  int (*real)(pthread_barrier_t *) = libc_real(LIBC_pthread_barrier_wait);
  bool slept = hold_sleep_begin(true);
  int result = real(barrier);
  hold_sleep_end(slept);
  return result;
}
