/* Calls that wait or that take long, each of which a signal could interrupt.  Each is tried several times; the program
 * prints how often it did not do what it does alone.  argv[1]: a part of the names, to try only these. */
#define _GNU_SOURCE
#include <aio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "leaf_work.h"

enum { ROUNDS = 3, BIG = 1 << 20, NAP_US = 2000 };

static pthread_t main_thread;
static int from[2];               /* a pipe or a pair of sockets, made anew for each kind of wait */
static char big[BIG], got[BIG];
static const struct timespec little = {0, 3000000};
static struct timeval little_left;
static volatile sig_atomic_t came, over;

static struct timespec soon(clockid_t clock)
{
  struct timespec when;
  clock_gettime(clock, &when);
  when.tv_nsec += little.tv_nsec;
  if (when.tv_nsec >= 1000000000) {
    when.tv_nsec -= 1000000000;
    when.tv_sec++;
  }
  return when;
}

static bool fails_with(long result, int error)
{
  return result == -1 && errno == error;
}

static void make_pipe(void)
{
  if (pipe(from))
    exit(3);
}

static void make_sockets(void)
{
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, from))
    exit(3);
}

static void make_packets(void)
{
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, from))
    exit(3);
}

static void limit_sockets(void)
{
  struct timeval limit = {0, 3000};
  make_sockets();
  setsockopt(from[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(from[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static void put_one(void)
{
  if (write(from[1], "x", 1) != 1)
    exit(3);
}

/* Reads what the other end sends, little by little. */
static void drain(void)
{
  for (size_t all = 0; all < BIG;) {
    ssize_t now = read(from[1], got, 64 << 10);
    if (now <= 0)
      exit(3);
    all += (size_t)now;
    usleep(400);
  }
}

/* The ends of the pipe are exchanged. */
static void make_pipe_to_drain(void)
{
  int ends[2];
  if (pipe(ends))
    exit(3);
  from[0] = ends[1];
  from[1] = ends[0];
}

/* ---- signals ---- */

static void on_user(int number)
{
  (void)number;
  came++;
}

/* A signal that arrives before the wait does not end it. */
static void interrupt(void)
{
  do {
    pthread_kill(main_thread, SIGUSR1);
    usleep(NAP_US);
  } while (!over);
}

static sigset_t only_user(void)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return set;
}

static void block_user(void)
{
  sigset_t set = only_user();
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Forgets signals that arrived after the end of the last wait. */
static void forget(void)
{
  sigset_t set = only_user();
  struct timespec none = {0, 0};
  while (sigtimedwait(&set, NULL, &none) > 0)
    ;
}

static bool by_sigwait(void)
{
  sigset_t set = only_user();
  int number = 0;
  return sigwait(&set, &number) == 0 && number == SIGUSR1;
}

static bool by_sigwaitinfo(void)
{
  sigset_t set = only_user();
  return sigwaitinfo(&set, NULL) == SIGUSR1;
}

static bool by_sigtimedwait(void)
{
  sigset_t set = only_user();
  return fails_with(sigtimedwait(&set, NULL, &little), EAGAIN);
}

static bool by_raw_sigtimedwait(void)
{
  sigset_t set;
  sigfillset(&set);
  return fails_with(syscall(SYS_rt_sigtimedwait, &set, NULL, &little, 8L), EAGAIN);
}

static bool by_sigsuspend(void)
{
  sigset_t none;
  sigemptyset(&none);
  came = 0;
  return fails_with(sigsuspend(&none), EINTR) && came > 0;
}

static bool by_raw_sigsuspend(void)
{
  sigset_t none;
  sigemptyset(&none);
  came = 0;
  return fails_with(syscall(SYS_rt_sigsuspend, &none, 8L), EINTR) && came > 0;
}

static bool by_pause(void)
{
  sigset_t set = only_user();
  came = 0;
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  bool good = fails_with(pause(), EINTR) && came > 0;
  block_user();
  return good;
}

/* ---- sleeps ---- */

static bool by_nanosleep(void) { return nanosleep(&little, NULL) == 0; }
static bool by_raw_nanosleep(void) { return syscall(SYS_nanosleep, &little, NULL) == 0; }
static bool by_clock_nanosleep(void) { return clock_nanosleep(CLOCK_MONOTONIC, 0, &little, NULL) == 0; }
static bool by_usleep(void) { return usleep(3000) == 0; }
static bool by_thrd_sleep(void) { return thrd_sleep(&little, NULL) == 0; }

static bool by_clock_nanosleep_until(void)
{
  struct timespec when = soon(CLOCK_REALTIME);
  return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &when, NULL) == 0;
}

/* ---- several descriptors ---- */

static int epoll = -1;

static void make_epoll(void)
{
  struct epoll_event event = {.events = EPOLLIN};
  make_pipe();
  close(epoll);
  epoll = epoll_create1(0);
  epoll_ctl(epoll, EPOLL_CTL_ADD, from[0], &event);
}

static bool by_poll(void) { return poll(&(struct pollfd){from[0], POLLIN, 0}, 1, 3) == 0; }
static bool by_raw_poll(void) { return syscall(SYS_poll, &(struct pollfd){from[0], POLLIN, 0}, 1, 3) == 0; }

static bool by_ppoll(void)
{
  sigset_t none;
  sigemptyset(&none);
  return ppoll(&(struct pollfd){from[0], POLLIN, 0}, 1, &little, &none) == 0;
}

static bool by_raw_ppoll(void)
{
  sigset_t none;
  struct timespec time = little;
  sigemptyset(&none);
  return syscall(SYS_ppoll, &(struct pollfd){from[0], POLLIN, 0}, 1, &time, &none, 8L) == 0;
}

static bool by_select(void)
{
  fd_set set;
  FD_ZERO(&set);
  FD_SET(from[0], &set);
  little_left = (struct timeval){0, 3000};
  return select(from[0] + 1, &set, NULL, NULL, &little_left) == 0;
}

static bool by_pselect(void)
{
  sigset_t none;
  fd_set set;
  FD_ZERO(&set);
  FD_SET(from[0], &set);
  sigemptyset(&none);
  return pselect(from[0] + 1, &set, NULL, NULL, &little, &none) == 0;
}

static bool by_raw_pselect(void)
{
  sigset_t none;
  struct timespec time = little;
  struct { const sigset_t *mask; size_t size; } mask = {&none, 8};
  sigemptyset(&none);
  return syscall(SYS_pselect6, 0, NULL, NULL, NULL, &time, &mask) == 0;
}

static bool by_epoll_wait(void)
{
  struct epoll_event event;
  return epoll_wait(epoll, &event, 1, 3) == 0;
}

static bool by_epoll_pwait(void)
{
  struct epoll_event event;
  sigset_t none;
  sigemptyset(&none);
  return epoll_pwait(epoll, &event, 1, 3, &none) == 0;
}

static bool by_epoll_pwait2(void)
{
  struct epoll_event event;
  sigset_t none;
  sigemptyset(&none);
  return epoll_pwait2(epoll, &event, 1, &little, &none) == 0 || errno == ENOSYS;
}

static bool by_raw_epoll_pwait(void)
{
  struct epoll_event event;
  sigset_t none;
  sigemptyset(&none);
  return syscall(SYS_epoll_pwait, epoll, &event, 1, 3, &none, 8L) == 0;
}

/* ---- sockets ---- */

static int listener;
static struct sockaddr_un address;

static void make_listener(void)
{
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "awkward-%d-%d", (int)getpid(), listener);
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 0))
    exit(3);
}

static int new_connection(void)
{
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  return connect(fd, (struct sockaddr *)&address, sizeof address) ? -1 : fd;
}

static void connect_once(void) { close(new_connection()); }
static void accept_once(void) { close(accept(listener, NULL, NULL)); }

static bool by_accept(void)
{
  int fd = accept(listener, NULL, NULL);
  return fd >= 0 && close(fd) == 0;
}

static bool by_accept4(void)
{
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  return fd >= 0 && close(fd) == 0;
}

static bool by_accept_limited(void)
{
  struct timeval limit = {0, 3000};
  setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  bool good = fails_with(accept(listener, NULL, NULL), EAGAIN);
  limit.tv_usec = 0;
  setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return good;
}

/* The queue has room for one connection: the second has to wait. */
static bool by_connect(void)
{
  int first = new_connection(), second = new_connection();
  accept_once();
  return first >= 0 && second >= 0 && close(first) == 0 && close(second) == 0;
}

static struct msghdr *one_message(char *text)
{
  static struct iovec part;
  static struct msghdr message;
  part = (struct iovec){text, 1};
  message = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
  return &message;
}

static bool by_recv(void) { return recv(from[0], got, 1, 0) == 1; }
static bool by_recv_all(void) { return recv(from[0], got, 2, MSG_WAITALL) == 2; }
static bool by_recvfrom(void) { return recvfrom(from[0], got, 1, 0, NULL, NULL) == 1; }
static bool by_recvmsg(void) { return recvmsg(from[0], one_message(got), 0) == 1; }
static bool by_recvmmsg(void) { return recvmmsg(from[0], &(struct mmsghdr){.msg_hdr = *one_message(got)}, 1, 0, NULL) == 1; }
static bool by_read(void) { return read(from[0], got, 1) == 1; }
static bool by_readv(void) { return readv(from[0], &(struct iovec){got, 1}, 1) == 1; }
static bool limited_recv(void) { return fails_with(recv(from[0], got, 1, 0), EAGAIN); }
static bool limited_recvfrom(void) { return fails_with(recvfrom(from[0], got, 1, 0, NULL, NULL), EAGAIN); }
static bool limited_recvmsg(void) { return fails_with(recvmsg(from[0], one_message(got), 0), EAGAIN); }
static bool limited_read(void) { return fails_with(read(from[0], got, 1), EAGAIN); }
static bool limited_readv(void) { return fails_with(readv(from[0], &(struct iovec){got, 1}, 1), EAGAIN); }
static bool raw_recvfrom(void) { return fails_with(syscall(SYS_recvfrom, from[0], got, 1, 0, NULL, NULL), EAGAIN); }

/* Variants that fortified programs call: the compiler does not know the sizes. */
static volatile size_t one = 1;
static bool fortified_poll(void) { return poll(&(struct pollfd){from[0], POLLIN, 0}, one, 3) == 0; }

static bool fortified_read(void)
{
  char few[8];
  return fails_with(read(from[0], few, one), EAGAIN);
}

static bool fortified_recv(void)
{
  char few[8];
  return fails_with(recv(from[0], few, one, 0), EAGAIN);
}

/* The buffer of the other end is full. */
static bool limited_send(void)
{
  while (send(from[0], big, 4096, MSG_DONTWAIT) > 0)
    ;
  return fails_with(send(from[0], big, 1, 0), EAGAIN) && fails_with(write(from[0], big, 1), EAGAIN);
}

static void put_two(void)
{
  put_one();
  usleep(NAP_US);
  put_one();
}

/* ---- large amounts ---- */

static int file, file_to;

static void make_files(void)
{
  file = memfd_create("from", 0);
  file_to = memfd_create("to", 0);
  for (int i = 0; i < 64; i++)
    if (write(file, big, BIG) != BIG)
      exit(3);
}

static void make_file_and_sockets(void)
{
  make_files();
  make_sockets();
}

/* The other end waits for everything. */
static bool whole(ssize_t done)
{
  for (ssize_t left = BIG - done, now; left > 0; left -= now)
    if ((now = write(from[0], big, (size_t)left)) <= 0)
      exit(3);
  return done == BIG;
}

static bool whole_write(void) { return whole(write(from[0], big, BIG)); }
static bool whole_writev(void) { return whole(writev(from[0], &(struct iovec){big, BIG}, 1)); }
static bool whole_send(void) { return whole(send(from[0], big, BIG, 0)); }
static bool whole_sendto(void) { return whole(sendto(from[0], big, BIG, 0, NULL, 0)); }
static bool whole_getrandom(void) { return getrandom(got, BIG, 0) == BIG; }
static bool raw_getrandom(void) { return syscall(SYS_getrandom, got, BIG, 0) == BIG; }

static bool whole_device(const char *path)
{
  int fd = open(path, O_RDONLY);
  bool good = read(fd, got, BIG) == BIG;
  close(fd);
  return good;
}

static bool whole_urandom(void) { return whole_device("/dev/urandom"); }
static bool whole_zero(void) { return whole_device("/dev/zero"); }

static bool whole_sendfile(void)
{
  off_t at = 0;
  lseek(file_to, 0, SEEK_SET);
  return sendfile(file_to, file, &at, 64 * BIG) == 64 * BIG;
}

static bool sendfile_to_socket(void)
{
  off_t at = 0;
  return whole(sendfile(from[0], file, &at, BIG));
}

static bool whole_copy(void)
{
  off_t at = 0, to = 0;
  return copy_file_range(file, &at, file_to, &to, 64 * BIG, 0) == 64 * BIG;
}

static bool whole_fallocate(void)
{
  bool good = fallocate(file_to, 0, 0, 100 * BIG) == 0;
  return ftruncate(file_to, 0) == 0 && good;
}

static bool whole_posix_fallocate(void)
{
  bool good = posix_fallocate(file_to, 0, 100 * BIG) == 0;
  return ftruncate(file_to, 0) == 0 && good;
}

/* ---- files, terminals, descriptors that count ---- */

static char path[60];
static int other;

static void make_locks(void)
{
  snprintf(path, sizeof path, "/tmp/awkward-%d", (int)getpid());
  file = open(path, O_RDWR | O_CREAT, 0600);
  other = open(path, O_RDWR);
  unlink(path);
}

static struct flock whole_file(short type)
{
  return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static bool by_flock(void) { return flock(file, LOCK_EX) == 0 && flock(file, LOCK_UN) == 0; }

static bool by_setlkw(void)
{
  struct flock take = whole_file(F_WRLCK), leave_it = whole_file(F_UNLCK);
  return fcntl(file, F_OFD_SETLKW, &take) == 0 && fcntl(file, F_OFD_SETLK, &leave_it) == 0;
}

static void hold_flock(void) { flock(other, LOCK_EX); }
static void leave_flock(void) { flock(other, LOCK_UN); }

static void hold_setlkw(void)
{
  struct flock take = whole_file(F_WRLCK);
  fcntl(other, F_OFD_SETLK, &take);
}

static void leave_setlkw(void)
{
  struct flock leave_it = whole_file(F_UNLCK);
  fcntl(other, F_OFD_SETLK, &leave_it);
}

static void make_fifo(void)
{
  snprintf(path, sizeof path, "/tmp/awkward-%d", (int)getpid());
  mkfifo(path, 0600);
}

static void open_other_end(void)
{
  other = open(path, O_WRONLY);
  usleep(NAP_US);
  ssize_t written = write(other, "x", 1);
  close(other);
  (void)written;
}

static bool by_fifo(void)
{
  int fd = open(path, O_RDONLY);
  return fd >= 0 && read(fd, got, 1) == 1 && read(fd, got, 1) == 0 && close(fd) == 0;
}

static bool no_tty; /* /dev/pts may be missing in a chroot */

static void make_tty(void)
{
  from[1] = posix_openpt(O_RDWR | O_NOCTTY);
  no_tty = from[1] < 0 || grantpt(from[1]) || unlockpt(from[1]) ||
           (from[0] = open(ptsname(from[1]), O_RDWR | O_NOCTTY)) < 0;
}

static void type_line(void)
{
  put_one();
  usleep(NAP_US);
  if (write(from[1], "\n", 1) != 1)
    exit(3);
}

static bool by_tty(void) { return read(from[0], got, 80) == 2; }

static void make_inotify(void)
{
  make_fifo();
  from[0] = inotify_init1(0);
  inotify_add_watch(from[0], path, IN_ATTRIB);
}

static void change_mode(void) { chmod(path, 0600); }
static bool by_inotify(void) { return read(from[0], got, sizeof got) > 0; }
static void make_eventfd(void) { from[0] = from[1] = eventfd(0, 0); }

static void count_up(void)
{
  if (eventfd_write(from[1], 1))
    exit(3);
}

static bool by_eventfd(void)
{
  eventfd_t value;
  return eventfd_read(from[0], &value) == 0;
}

static bool by_timerfd(void)
{
  struct itimerspec when = {{0, 0}, little};
  uint64_t times;
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  return timerfd_settime(fd, 0, &when, NULL) == 0 && read(fd, &times, sizeof times) == sizeof times && close(fd) == 0;
}

#include "awkward_waits.h"

/* ---- all of them ---- */

struct wait {
  const char *name;
  void (*make)(void), (*before)(void); /* once; in each round */
  bool (*wait)(void);
  void (*wake)(void); /* by another thread, after a while */
};

static const struct wait waits[] = {
    {"sigwait", block_user, forget, by_sigwait, interrupt},
    {"sigwaitinfo", NULL, forget, by_sigwaitinfo, interrupt},
    {"sigtimedwait", NULL, forget, by_sigtimedwait, NULL},
    {"raw sigtimedwait", NULL, forget, by_raw_sigtimedwait, NULL},
    {"sigsuspend", NULL, forget, by_sigsuspend, interrupt},
    {"raw sigsuspend", NULL, forget, by_raw_sigsuspend, interrupt},
    {"pause", NULL, forget, by_pause, interrupt},
    {"nanosleep", NULL, NULL, by_nanosleep, NULL},
    {"raw nanosleep", NULL, NULL, by_raw_nanosleep, NULL},
    {"clock_nanosleep", NULL, NULL, by_clock_nanosleep, NULL},
    {"clock_nanosleep until", NULL, NULL, by_clock_nanosleep_until, NULL},
    {"usleep", NULL, NULL, by_usleep, NULL},
    {"thrd_sleep", NULL, NULL, by_thrd_sleep, NULL},
    {"poll", make_pipe, NULL, by_poll, NULL},
    {"raw poll", NULL, NULL, by_raw_poll, NULL},
    {"ppoll", NULL, NULL, by_ppoll, NULL},
    {"raw ppoll", NULL, NULL, by_raw_ppoll, NULL},
    {"select", NULL, NULL, by_select, NULL},
    {"pselect", NULL, NULL, by_pselect, NULL},
    {"raw pselect", NULL, NULL, by_raw_pselect, NULL},
    {"epoll_wait", make_epoll, NULL, by_epoll_wait, NULL},
    {"epoll_pwait", NULL, NULL, by_epoll_pwait, NULL},
    {"epoll_pwait2", NULL, NULL, by_epoll_pwait2, NULL},
    {"raw epoll_pwait", NULL, NULL, by_raw_epoll_pwait, NULL},
    {"accept", make_listener, NULL, by_accept, connect_once},
    {"accept4", NULL, NULL, by_accept4, connect_once},
    {"connect", NULL, NULL, by_connect, accept_once},
    {"recv", make_sockets, NULL, by_recv, put_one},
    {"recv of all", NULL, NULL, by_recv_all, put_two},
    {"recvfrom", NULL, NULL, by_recvfrom, put_one},
    {"recvmsg", NULL, NULL, by_recvmsg, put_one},
    {"recvmmsg", make_packets, NULL, by_recvmmsg, put_one},
    {"read", make_pipe, NULL, by_read, put_one},
    {"readv", NULL, NULL, by_readv, put_one},
    {"whole send", make_sockets, NULL, whole_send, drain},
    {"whole sendto", NULL, NULL, whole_sendto, drain},
    {"whole write to a socket", NULL, NULL, whole_write, drain},
    {"whole write", make_pipe_to_drain, NULL, whole_write, drain},
    {"whole writev", NULL, NULL, whole_writev, drain},
    {"whole getrandom", NULL, NULL, whole_getrandom, NULL},
    {"raw getrandom", NULL, NULL, raw_getrandom, NULL},
    {"whole urandom", NULL, NULL, whole_urandom, NULL},
    {"whole zero", NULL, NULL, whole_zero, NULL},
    {"sendfile to a socket", make_file_and_sockets, NULL, sendfile_to_socket, drain},
    {"sendfile", NULL, NULL, whole_sendfile, NULL},
    {"copy_file_range", NULL, NULL, whole_copy, NULL},
    {"fallocate", NULL, NULL, whole_fallocate, NULL},
    {"posix_fallocate", NULL, NULL, whole_posix_fallocate, NULL},
    {"flock", make_locks, hold_flock, by_flock, leave_flock},
    {"F_SETLKW", NULL, hold_setlkw, by_setlkw, leave_setlkw},
    {"fifo", make_fifo, NULL, by_fifo, open_other_end},
    {"tty", make_tty, NULL, by_tty, type_line},
    {"inotify", make_inotify, NULL, by_inotify, change_mode},
    {"eventfd", make_eventfd, NULL, by_eventfd, count_up},
    {"timerfd", NULL, NULL, by_timerfd, NULL},
    {"msgrcv", make_ipc, NULL, receive, send_message},
    {"msgsnd", NULL, NULL, send_until_full, take_message},
    {"semop", NULL, NULL, by_semop, post},
    {"semtimedop", NULL, NULL, by_semtimedop, NULL},
    {"raw semtimedop", NULL, NULL, raw_semtimedop, NULL},
    {"mq_receive", NULL, NULL, by_mq_receive, mq_put},
    {"mq_timedreceive", NULL, NULL, by_mq_timedreceive, NULL},
    {"wait4", remove_ipc, NULL, by_wait4, NULL},
    {"waitid", NULL, NULL, by_waitid, NULL},
    {"wait", NULL, NULL, by_wait, NULL},
    {"sem_wait", NULL, NULL, by_sem_wait, post_one},
    {"sem_timedwait", NULL, NULL, by_sem_timedwait, NULL},
    {"sem_clockwait", NULL, NULL, by_sem_clockwait, NULL},
    {"pthread_cond_timedwait", NULL, NULL, by_condition, NULL},
    {"futex", NULL, NULL, by_futex, wake_futex},
    {"futex, limited", NULL, NULL, by_futex_limited, NULL},
    {"io_getevents", make_aio, NULL, by_io_getevents, NULL},
    {"aio_suspend", NULL, NULL, by_aio_suspend, NULL},
    /* from here on some sockets have timeouts, and the tool must treat every read and write as if it had one */
    {"recv, limited", limit_sockets, NULL, limited_recv, NULL},
    {"recvfrom, limited", NULL, NULL, limited_recvfrom, NULL},
    {"recvmsg, limited", NULL, NULL, limited_recvmsg, NULL},
    {"read, limited", NULL, NULL, limited_read, NULL},
    {"readv, limited", NULL, NULL, limited_readv, NULL},
    {"raw recvfrom, limited", NULL, NULL, raw_recvfrom, NULL},
    {"fortified read", NULL, NULL, fortified_read, NULL},
    {"fortified recv", NULL, NULL, fortified_recv, NULL},
    {"fortified poll", NULL, NULL, fortified_poll, NULL},
    {"send, limited", NULL, NULL, limited_send, NULL},
    {"accept, limited", make_listener, NULL, by_accept_limited, NULL},
};

static void *wake_later(void *wake)
{
  usleep(NAP_US);
  (*(void (*const *)(void))wake)();
  return NULL;
}

static int tries(const struct wait *wait)
{
  int wrong = 0;
  for (int i = 0; i < ROUNDS; i++) {
    pthread_t thread;
    over = 0;
    if (wait->before)
      wait->before();
    if (wait->wake)
      pthread_create(&thread, NULL, wake_later, (void *)&wait->wake);
    leaf_work(0.0003);
    errno = 0;
    wrong += !wait->wait();
    over = 1;
    if (wait->wake)
      pthread_join(thread, NULL);
  }
  return wrong;
}

int main(int argc, char **argv)
{
  signal(SIGUSR1, on_user);
  main_thread = pthread_self();
  block_user();
  sem_init(&semaphore, 0, 0);
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
    if (waits[i].make)
      waits[i].make();
    if (argc > 1 && !strstr(waits[i].name, argv[1]))
      continue;
    if (waits[i].make == make_tty && no_tty)
      printf("%s: left out, no pseudoterminals\n", waits[i].name);
    else
      printf("%s: %d\n", waits[i].name, tries(&waits[i]));
  }
  unlink(path);
  return 0;
}
