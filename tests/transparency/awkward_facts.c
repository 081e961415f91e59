/* What hpcrun-lite(1) and doc/reliability.md state about calls, signals and system call filters: argv[1] selects the
 * fact, argv[2] a variant.  Each prints one line.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "leaf_work.h"

static const struct timespec nap = {0, 100000000};

/* A system call that neither libc nor hpcrun-lite sees. */
static long inline_call(long number, long a, long b, long c, long d, long e)
{
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}

/* ---- system call filters ---- */

#define FORBID(call, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)

static void *short_thread(void *unused)
{
  leaf_work(0.1);
  return unused;
}

/* The calls that hpcrun-lite makes and the program does not.  how: prctl, syscall, inline.  kill: they end the program;
 * otherwise they fail. */
static int filter(const char *how, bool kill)
{
  uint32_t action = kill ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               FORBID(perf_event_open, action),
                               FORBID(process_vm_readv, action),
                               FORBID(timer_create, action),
                               FORBID(timer_settime, action),
                               FORBID(timer_delete, action),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  pthread_t thread;
  leaf_work(0.1);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  long result = strcmp(how, "prctl") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
                : strcmp(how, "syscall") == 0
                    ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                    : inline_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0, 0);
  leaf_work(0.2);
  pthread_create(&thread, NULL, short_thread, NULL);
  pthread_join(thread, NULL);
  printf("filter %ld\n", result);
  return 0;
}

/* ---- SIGURG ---- */

static pthread_t main_thread;
static volatile sig_atomic_t handled;

static void on_urgent(int number)
{
  (void)number;
  handled++;
}

static void *send_urgent(void *unused)
{
  struct timespec delay = {0, 20000000};
  nanosleep(&delay, NULL);
  pthread_kill(main_thread, SIGURG);
  return unused;
}

static void urgent_sender(pthread_t *thread)
{
  leaf_work(0.02);
  pthread_create(thread, NULL, send_urgent, NULL);
}

static int urgent(const char *how)
{
  sigset_t one, mask, pending;
  pthread_t thread;
  siginfo_t info;
  struct timespec limit = {2, 0};
  int number = 0, result = 0;
  main_thread = pthread_self();
  sigemptyset(&one);
  sigaddset(&one, SIGURG);
  if (strcmp(how, "handler") == 0) {
    struct sigaction action = {.sa_handler = on_urgent};
    sigaction(SIGURG, &action, NULL);
    urgent_sender(&thread);
    result = poll(NULL, 0, 2000);
    printf("poll %d %s, handled %d\n", result, strerrorname_np(errno), handled);
    pthread_join(thread, NULL);
    return 0;
  }
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  if (strcmp(how, "blocked") == 0) {
    raise(SIGURG);
    leaf_work(0.05);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    printf("blocked %d, pending %d\n", sigismember(&mask, SIGURG), sigismember(&pending, SIGURG));
    return 0;
  }
  urgent_sender(&thread);
  if (strcmp(how, "sigwait") == 0)
    result = sigwait(&one, &number) ? -1 : number;
  else if (strcmp(how, "sigwaitinfo") == 0)
    result = sigwaitinfo(&one, &info);
  else if (strcmp(how, "sigtimedwait") == 0)
    result = sigtimedwait(&one, &info, &limit);
  else if (strcmp(how, "syscall") == 0)
    result = (int)syscall(SYS_rt_sigtimedwait, &one, &info, &limit, 8L);
  else { /* signalfd */
    struct signalfd_siginfo got = {0};
    int fd = signalfd(-1, &one, 0);
    struct pollfd ready = {fd, POLLIN, 0};
    if (poll(&ready, 1, 500) > 0 && read(fd, &got, sizeof got) == sizeof got)
      result = (int)got.ssi_signo;
  }
  pthread_join(thread, NULL);
  printf("%s %s\n", how, result == SIGURG ? "delivers SIGURG" : "does not deliver SIGURG");
  return 0;
}

/* ---- calls that a signal interrupts for good ---- */

static int ends[2];
static char byte;

static void make_pipe(void)
{
  if (pipe(ends))
    exit(3);
}

static aio_context_t aio_new(void)
{
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, 8, &context))
    exit(4);
  return context;
}

static long sleeps(const char *how)
{
  struct timespec left = nap;
  struct io_event event;
  if (strcmp(how, "thrd_sleep") == 0)
    return thrd_sleep(&nap, NULL);
  if (strcmp(how, "nanosleep") == 0)
    return nanosleep(&nap, NULL);
  if (strcmp(how, "nanosleep-syscall") == 0)
    return syscall(SYS_nanosleep, &nap, NULL);
  if (strcmp(how, "nanosleep-inline") == 0)
    return inline_call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0);
  if (strcmp(how, "io_getevents-syscall") == 0)
    return syscall(SYS_io_getevents, aio_new(), 1, 1, &event, &left);
  if (strcmp(how, "io_getevents-inline") == 0)
    return inline_call(SYS_io_getevents, (long)aio_new(), 1, 1, (long)&event, (long)&left);
  if (strcmp(how, "io_uring_enter-syscall") == 0) { /* nothing is submitted: the time limit ends the wait */
    char parameters[120] = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 4, parameters);
    struct {
      uint64_t sigmask;
      uint32_t size, pad;
      uint64_t time;
    } limit = {.time = (uint64_t)&left};
    if (ring < 0)
      exit(77);
    return syscall(SYS_io_uring_enter, ring, 0, 1, 1u | 8u /* GETEVENTS, EXT_ARG */, &limit, sizeof limit);
  }
  struct aiocb block = {.aio_buf = &byte, .aio_nbytes = 1};
  const struct aiocb *list[] = {&block};
  make_pipe();
  block.aio_fildes = ends[0];
  aio_read(&block);
  long result = aio_suspend(list, 1, &nap);
  int error = errno;
  if (write(ends[1], "x", 1) != 1)
    exit(3);
  while (aio_error(&block) == EINPROGRESS)
    sched_yield();
  errno = error;
  return result;
}

static int sleeping(const char *how)
{
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  errno = 0;
  long result = sleeps(how);
  int error = result < -1 ? (int)-result : errno;
  clock_gettime(CLOCK_MONOTONIC, &after);
  double took = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
  printf("%s %s%s\n", how, took >= 0.1 ? "whole" : "cut short", error == EINTR ? ", EINTR" : "");
  return 0;
}

/* ---- what counts as blocked ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static mtx_t mtx;
static cnd_t cnd;
static pthread_barrier_t barrier;
static sem_t semaphore;
static uint32_t word;
static mqd_t queue;
static int files[2];

/* The other side, 0.1 s later; not measured as OpenMP. */
static void *release(void *what)
{
  const char *how = what;
  inline_call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0);
  if (strcmp(how, "pthread_mutex_lock") == 0)
    pthread_mutex_unlock(&mutex);
  else if (strcmp(how, "pthread_barrier_wait") == 0)
    pthread_barrier_wait(&barrier);
  else if (strcmp(how, "sem_wait") == 0)
    sem_post(&semaphore);
  else if (strcmp(how, "mq_receive") == 0)
    mq_send(queue, "x", 1, 0);
  else if (strcmp(how, "flock") == 0)
    flock(files[1], LOCK_UN);
  else if (strcmp(how, "write") == 0) {
    static char much[1 << 16];
    ssize_t got = read(ends[0], much, sizeof much);
    (void)got;
  } else if (strncmp(how, "read", 4) == 0) {
    ssize_t put = write(ends[1], "x", 1);
    (void)put;
  }
  return NULL;
}

static pid_t sleeper(void)
{
  pid_t child = fork();
  if (!child) {
    inline_call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0);
    _exit(0);
  }
  return child;
}

static struct timespec until(clockid_t clock)
{
  struct timespec when;
  clock_gettime(clock, &when);
  when.tv_nsec += nap.tv_nsec;
  when.tv_sec += when.tv_nsec / 1000000000;
  when.tv_nsec %= 1000000000;
  return when;
}

static void prepare(const char *how)
{
  if (strcmp(how, "pthread_mutex_lock") == 0)
    pthread_mutex_lock(&mutex);
  if (strcmp(how, "pthread_barrier_wait") == 0)
    pthread_barrier_init(&barrier, NULL, 2);
  if (strcmp(how, "sem_wait") == 0)
    sem_init(&semaphore, 0, 0);
  if (strcmp(how, "mq_receive") == 0) {
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    queue = mq_open("/hpcrun-lite-facts", O_RDWR | O_CREAT, 0600, &attributes);
    mq_unlink("/hpcrun-lite-facts");
    if (queue == (mqd_t)-1)
      exit(77);
  }
  if (strcmp(how, "flock") == 0) {
    files[0] = open("facts-lock", O_RDWR | O_CREAT, 0600);
    files[1] = open("facts-lock", O_RDWR);
    flock(files[1], LOCK_EX);
  }
  if (strcmp(how, "read-limited") == 0) {
    struct timeval limit = {5, 0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
      exit(3);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  if (strcmp(how, "read") == 0 || strcmp(how, "write") == 0)
    make_pipe();
  if (strcmp(how, "write") == 0)
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
  if (strcmp(how, "cnd_timedwait") == 0) {
    mtx_init(&mtx, mtx_plain);
    cnd_init(&cnd);
  }
}

static void sleep_in(const char *how)
{
  static char much[8192];
  struct timespec when;
  struct io_event event;
  struct timespec left = nap;
  ssize_t done = 0;
  if (strcmp(how, "nanosleep") == 0)
    nanosleep(&nap, NULL);
  else if (strcmp(how, "nanosleep-syscall") == 0)
    syscall(SYS_nanosleep, &nap, NULL);
  else if (strcmp(how, "nanosleep-inline") == 0)
    inline_call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0);
  else if (strcmp(how, "futex-syscall") == 0)
    syscall(SYS_futex, &word, 128, 0, &nap, NULL, 0);
  else if (strcmp(how, "io_getevents-syscall") == 0)
    syscall(SYS_io_getevents, aio_new(), 1, 1, &event, &left);
  else if (strcmp(how, "thrd_sleep") == 0)
    thrd_sleep(&nap, NULL);
  else if (strcmp(how, "poll") == 0)
    poll(NULL, 0, 100);
  else if (strcmp(how, "pthread_mutex_lock") == 0)
    pthread_mutex_lock(&mutex);
  else if (strcmp(how, "pthread_barrier_wait") == 0)
    pthread_barrier_wait(&barrier);
  else if (strcmp(how, "sem_wait") == 0)
    sem_wait(&semaphore);
  else if (strcmp(how, "mq_receive") == 0)
    done = mq_receive(queue, much, 8, NULL);
  else if (strcmp(how, "flock") == 0)
    flock(files[0], LOCK_EX);
  else if (strncmp(how, "read", 4) == 0)
    done = read(ends[0], much, 1);
  else if (strcmp(how, "write") == 0)
    done = write(ends[1], much, sizeof much);
  else if (strcmp(how, "system") == 0)
    done = system("sleep 0.1");
  else if (strcmp(how, "wait") == 0)
    wait(NULL);
  else if (strcmp(how, "wait4") == 0)
    wait4(sleeper(), NULL, 0, NULL);
  else if (strcmp(how, "waitpid") == 0)
    waitpid(sleeper(), NULL, 0);
  else if (strcmp(how, "pthread_cond_timedwait") == 0) {
    when = until(CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &when);
    pthread_mutex_unlock(&mutex);
  } else if (strcmp(how, "cnd_timedwait") == 0) {
    when = until(CLOCK_REALTIME);
    mtx_lock(&mtx);
    cnd_timedwait(&cnd, &mtx, &when);
    mtx_unlock(&mtx);
  } else if (strcmp(how, "pthread_mutex_timedlock") == 0) {
    when = until(CLOCK_REALTIME);
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&own);
    pthread_mutex_timedlock(&own, &when);
  } else if (strcmp(how, "aio_suspend") == 0) {
    sleeps("aio_suspend");
  } else {
    exit(2);
  }
  (void)done;
}

/* The master of a parallel region of one thread sleeps for 0.1 s. */
static int blocked(const char *how)
{
  pthread_t thread;
  prepare(how);
  if (strcmp(how, "wait") == 0)
    sleeper();
#pragma omp parallel num_threads(1)
  {
    leaf_work(0.02);
    pthread_create(&thread, NULL, release, (void *)how); /* not earlier: the work may take long on a busy machine */
    sleep_in(how);
  }
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}

/* An end of the process that hpcrun-lite does not see. */
static int raw_exit(void)
{
  leaf_work(0.2);
  puts("done");
  fflush(stdout);
  return (int)inline_call(SYS_exit_group, 3, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
  const char *fact = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
  if (strcmp(fact, "filter") == 0)
    return filter(how, argc > 3);
  if (strcmp(fact, "urgent") == 0)
    return urgent(how);
  if (strcmp(fact, "sleep") == 0)
    return sleeping(how);
  if (strcmp(fact, "blocked") == 0)
    return blocked(how);
  if (strcmp(fact, "exit") == 0)
    return raw_exit();
  return 2;
}
