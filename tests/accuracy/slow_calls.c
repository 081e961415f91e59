/* Calls that sleep because somebody else is slow.  Prints the times of its own clocks as lines of `name seconds`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await_sleep.h"
#include "burn.h"
#include "modes.h"

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition))

static void fail(const char *what)
{
  printf("%s -1\n", what);
  exit(1);
}

static void nap(long us) { nanosleep(&(struct timespec){0, us * 1000}, NULL); }

/* ---- one call of each kind, which sleeps for a while ---- */

enum { WHILE_US = 40000, LINE = 16, FULL = 1 << 16 };

static int ends[2], pair[2];
static FILE *in, *out;
static uint32_t word;
static char buffer[2 * FULL];

static void put_line(void) { CHECK(write(ends[1], "fifteen letters\n", LINE) == LINE); }
static void take_all(void) { CHECK(syscall(SYS_read, ends[0], buffer + FULL, FULL) > 0); }
static void send_line(void) { CHECK(send(pair[1], "fifteen letters\n", LINE, 0) == LINE); }

static void wake(void)
{
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void unlock(void) { CHECK(flock(ends[0], LOCK_UN) == 0); }
static void open_other(void) { close(open("fifo", O_WRONLY)); }

static void fill_pipe(void)
{
  int flags = fcntl(ends[1], F_GETFL);
  fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
  while (write(ends[1], buffer, 4096) > 0)
    ;
  fcntl(ends[1], F_SETFL, flags);
}

NOINLINE void in_read(void) { CHECK(read(ends[0], buffer, LINE) == LINE); }
NOINLINE void in_readv(void) { CHECK(readv(ends[0], &(struct iovec){buffer, LINE}, 1) == LINE); }
NOINLINE void in_raw_read(void) { CHECK(syscall(SYS_read, ends[0], buffer, LINE) == LINE); }
NOINLINE void in_recv(void) { CHECK(recv(pair[0], buffer, LINE, 0) == LINE); }
NOINLINE void in_fgets(void) { CHECK(fgets(buffer, 2 * LINE, in)); }
NOINLINE void in_fread(void) { CHECK(fread(buffer, 1, LINE, in) == LINE); }
NOINLINE void in_write(void) { CHECK(write(ends[1], buffer, LINE) == LINE); }

NOINLINE void in_getline(void)
{
  char *text = NULL;
  size_t room = 0;
  CHECK(getline(&text, &room, in) == LINE);
  free(text);
}

NOINLINE void in_fflush(void) { CHECK(fflush(out) == 0); }
NOINLINE void in_printf(void) { CHECK(fprintf(out, "%5000d", 1) == 5000); }

NOINLINE void in_futex(void)
{
  while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

NOINLINE void in_open(void) { close(open("fifo", O_RDONLY)); }

NOINLINE void in_wait(void)
{
  int status;
  CHECK(wait4(-1, &status, 0, NULL) > 0 && status == 0);
}

NOINLINE void in_flock(void)
{
  int other = open("/proc/self/exe", O_RDONLY);
  CHECK(flock(other, LOCK_EX) == 0);
  close(other);
}

static struct waiter caller;

static void *helper(void *call)
{
  await_sleep(&caller);
  nap(WHILE_US);
  ((void (*)(void))call)();
  return NULL;
}

/* The call sleeps until another thread has done its part. */
static void one(const char *name, void (*call)(void), void (*other)(void))
{
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, helper, (void *)other) == 0);
  double began = wall_clock();
  goes_to_wait(&caller);
  errno = 77;
  call();
  CHECK(errno == 77);
  has_waited(&caller);
  double slept = wall_clock() - began;
  CHECK(pthread_join(thread, NULL) == 0);
  say(name, slept);
}

static void kinds(void)
{
  CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && mkfifo("fifo", 0600) == 0);
  in = fdopen(dup(ends[0]), "r");
  out = fdopen(dup(ends[1]), "w");
  one("in_read", in_read, put_line);
  one("in_readv", in_readv, put_line);
  one("in_raw_read", in_raw_read, put_line);
  one("in_recv", in_recv, send_line);
  one("in_fgets", in_fgets, put_line);
  one("in_fread", in_fread, put_line);
  one("in_getline", in_getline, put_line);
  fill_pipe();
  one("in_write", in_write, take_all);
  fill_pipe();
  CHECK(fputs("one", out) >= 0);
  one("in_fflush", in_fflush, take_all);
  fill_pipe();
  one("in_printf", in_printf, take_all);
  one("in_futex", in_futex, wake);
  one("in_open", in_open, open_other);
  close(ends[0]);
  ends[0] = open("/proc/self/exe", O_RDONLY);
  CHECK(flock(ends[0], LOCK_EX) == 0);
  one("in_flock", in_flock, unlock);
  if (fork() == 0) {
    nap(2 * WHILE_US);
    _exit(0);
  }
  one("in_wait", in_wait, unlock);
}

/* ---- short calls ---- */

enum { PAIRS = 400, SHORT_US = 300, LONGER_US = 1500 };

NOINLINE void in_short(void) { nap(SHORT_US); }
NOINLINE void in_longer(void) { nap(LONGER_US); }

/* Two lines sleep in turn, together for about one period of 500 samples a second: at regular moments of the accumulated
 * sleep, one of them would have all of it. */
static void in_turn(void)
{
  double in_one = 0, in_other = 0;
  for (int i = 0; i < PAIRS; i++) {
    double began = wall_clock();
    in_short();
    double then = wall_clock();
    in_longer();
    in_one += then - began;
    in_other += wall_clock() - then;
  }
  say("in_short", in_one);
  say("in_longer", in_other);
}

/* ---- bytes ---- */

enum { MESSAGES = 300, SMALL = 100, LARGE = 700, MUCH = 3000 };
static int request[2];

NOINLINE void read_small(void) { CHECK(read(ends[0], buffer, SMALL) == SMALL); }
NOINLINE void read_large(void) { CHECK(read(ends[0], buffer, LARGE) == LARGE); }

/* Reads a message, which is sent only when the call sleeps. */
static void read_message(const char *wanted, void (*message)(void))
{
  CHECK(syscall(SYS_write, request[1], wanted, 1) == 1);
  goes_to_wait(&caller);
  message();
  has_waited(&caller);
}
NOINLINE void read_at_once(void) { CHECK(read(ends[0], buffer, MUCH) == MUCH); }
NOINLINE void write_at_once(void) { CHECK(write(ends[1], buffer, MUCH) == MUCH); }

static void *answer(void *unused)
{
  char wanted;
  while (syscall(SYS_read, request[0], &wanted, 1) == 1) {
    size_t size = wanted == 's' ? SMALL : LARGE;
    await_sleep(&caller);
    nap(200);
    CHECK(write(ends[1], buffer + FULL, size) == (ssize_t)size);
  }
  return unused;
}

/* Small and large messages, each of which is waited for, and between them many bytes that are there already. */
static void bytes(void)
{
  pthread_t thread;
  CHECK(pipe(ends) == 0 && pipe(request) == 0 && pthread_create(&thread, NULL, answer, NULL) == 0);
  for (int i = 0; i < MESSAGES; i++) {
    read_message("s", read_small);
    write_at_once();
    read_at_once();
    read_message("l", read_large);
  }
  close(request[1]);
  CHECK(pthread_join(thread, NULL) == 0);
}

/* ---- sleep that libc does not see ---- */

/* The system call itself, so that no function of libc is called. */
NOINLINE void in_system_call(void)
{
  struct timespec time = {0, 3000000};
  long result = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(NULL) : "rcx", "r11", "memory");
  burn(0.004);
}

static void unseen(void)
{
  double asleep = 0;
  for (int i = 0; i < 50; i++) {
    double began = wall_clock(), worked = burn_clock();
    in_system_call();
    asleep += wall_clock() - began - (burn_clock() - worked);
  }
  say("in_system_call", asleep);
}

/* ---- calls that wake ---- */

enum { LOOKS = 400 };
static volatile int wakes_now, looked; /* pthread_create() holds all signals back for a moment */

/* How often another thread is seen with SIGURG, which carries samples, held back. */
static void *look(void *process)
{
  char path[64], text[4096];
  int held = 0;
  snprintf(path, sizeof path, "/proc/self/task/%ld/status", (long)(intptr_t)process);
  while (!wakes_now)
    sched_yield();
  for (int i = 0; i < LOOKS; i++) {
    int fd = open(path, O_RDONLY);
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    CHECK(length > 0);
    text[length] = '\0';
    char *mask = strstr(text, "SigBlk:");
    CHECK(mask);
    held += strtoull(mask + 7, NULL, 16) >> (SIGURG - 1) & 1;
  }
  looked = 1;
  return (void *)(intptr_t)held;
}

static void wakes(void)
{
  pthread_t thread;
  void *held;
  CHECK(pthread_create(&thread, NULL, look, (void *)syscall(SYS_gettid)) == 0);
  for (wakes_now = 1; !looked;)
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  CHECK(pthread_join(thread, &held) == 0);
  say("held", (double)(intptr_t)held);
}

/* ---- in a parallel region ---- */

NOINLINE void in_region(void) { nap(100000); }

static void region(void)
{
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    in_region();
    burn(0.02);
  }
}

/* ---- one place with several callers ---- */

NOINLINE void in_first(void) { nap(WHILE_US); }
NOINLINE void in_second(void) { nap(WHILE_US); }
NOINLINE void in_third(void) { nap(WHILE_US); }

static void callers(void)
{
  in_first();
  in_second();
  in_third();
  burn(0.05); /* for samples */
}

int main(int argc, char **argv)
{
  static const struct mode modes[] = {
      {"kinds", kinds}, {"in_turn", in_turn}, {"bytes", bytes}, {"unseen", unseen},
      {"wakes", wakes}, {"region", region}, {"callers", callers}};
  return !RUN_MODE(modes, argc, argv);
}
