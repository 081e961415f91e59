/* A process whose surroundings change; argv[1] chooses how.  Each prints what it prints without a profiler. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leaf_work.h"

static void run_thread(double seconds)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, thread_work, &seconds) == 0)
    pthread_join(thread, NULL);
}

/* ---- fatal signals without a handler ---- */

static volatile int depth;

NOINLINE static int overflow(int level)
{
  volatile char frame[200];
  frame[0] = (char)level;
  depth = level;
  return overflow(level + 1) + frame[0];
}

static void dies(const char *how)
{
  leaf_work(0.3);
  run_thread(0.2);
  if (!strcmp(how, "abort"))
    abort();
  if (!strcmp(how, "segv"))
    *(volatile int *)16 = 1;
  if (!strcmp(how, "kill"))
    kill(getpid(), SIGKILL);
  if (!strcmp(how, "term"))
    raise(SIGTERM);
  if (!strcmp(how, "overflow")) {
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_STACK, &limit);
    overflow(0);
  }
  if (!strcmp(how, "xcpu")) {
    struct rlimit limit = {1, 3};
    setrlimit(RLIMIT_CPU, &limit);
    for (double used = 0.5;; used += 0.01) { /* the kernel may count in ticks */
      leaf_work(0.01);
      printf("%.2f\n", used + 0.01);
    }
  }
  puts("alive");
}

/* ---- other roots, and directories that disappear ---- */

static void other_root(const char *place, const char *how)
{
  leaf_work(0.15);
  run_thread(0.05);
  if (chroot(place) || chdir("/"))
    puts("no chroot");
  leaf_work(0.1);
  run_thread(0.05);
  printf("%d\n", access("/proc/self", F_OK));
  if (!strcmp(how, "kill"))
    kill(getpid(), SIGKILL);
  if (!strcmp(how, "fork")) {
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
      leaf_work(0.05);
      _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
  }
}

/* Gives up its privileges, as daemons do, with so many threads that end before and after it.  The user is one to whom
 * no file belongs. */
static void other_user(unsigned threads)
{
  enum { USER = 12345 };
  leaf_work(0.15);
  for (unsigned i = 0; i < threads; i++)
    run_thread(0.05 / threads);
  printf("%d\n", setgid(USER) || setuid(USER));
  leaf_work(0.1);
  for (unsigned i = 0; i < threads; i++)
    run_thread(0.05 / threads);
}

/* Runs the command in $VANISH without the profiler, and works on. */
static void vanishes(void)
{
  leaf_work(0.1);
  run_thread(0.05);
  const char *command = getenv("VANISH");
  printf("%d\n", command ? system(command) : 0);
  leaf_work(0.1);
  run_thread(0.05);
}

/* ---- descriptors ---- */

static volatile bool stop;

static void *closes_at_random(void *unused)
{
  unsigned seed = 7;
  int wrong = 0;
  while (!stop) {
    int fd = 3 + (int)((seed = seed * 1103515245 + 12345) >> 16) % 1000;
    switch (seed >> 8 & 3) {
    case 0:
      close(fd);
      break;
    case 1:
      wrong += dup2(1, fd) != fd && errno != EBUSY; /* another thread is just opening it */
      break;
    case 2:
      wrong += dup3(1, fd, O_CLOEXEC) != fd && errno != EBUSY;
      break;
    default:
      close_range((unsigned)fd, (unsigned)fd + 20, 0);
    }
  }
  return unused ? NULL : (void *)(intptr_t)wrong;
}

/* Uses descriptors up to the limit, where other code may expect none. */
static int high_numbers(void)
{
  struct rlimit limit;
  int wrong = 0;
  getrlimit(RLIMIT_NOFILE, &limit);
  for (int i = 1; i <= 200; i++)
    wrong += dup2(1, (int)limit.rlim_cur - i) < 0;
  run_thread(0.02);
  for (int i = 1; i <= 200; i++)
    wrong += close((int)limit.rlim_cur - i) != 0;
  return wrong;
}

static void descriptors(void)
{
  pthread_t thread;
  void *wrong;
  pthread_create(&thread, NULL, closes_at_random, NULL);
  for (int i = 0; i < 100; i++)
    run_thread(0.001);
  leaf_work(0.1);
  stop = true;
  pthread_join(thread, &wrong);
  closefrom(3);
  run_thread(0.02);
  printf("%d wrong, high %d\n", (int)(intptr_t)wrong, high_numbers());
  close_range(3, ~0u, 0);
  leaf_work(0.05);
}

/* Closes every descriptor, also the standard ones, and then reuses them. */
static void all_closed(void)
{
  int to = dup(1), file = memfd_create("file", 0);
  leaf_work(0.05);
  dup2(to, 50);
  close_range(0, 49, 0);
  for (int i = 0; i < 20; i++)
    if (memfd_create("file", 0) < 0)
      _exit(9);
  leaf_work(0.05);
  for (int i = 0; i < 20; i++) {
    struct stat facts;
    if (fstat(i, &facts) || facts.st_size)
      _exit(8); /* other code has written there */
  }
  if (write(50, "closed\n", 7) != 7 || file < 0)
    _exit(7);
}

/* ---- limits ---- */

static void little_memory(size_t more)
{
  struct rlimit limit;
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1)
    exit(3);
  fclose(file);
  limit.rlim_cur = limit.rlim_max = pages * 4096 + more;
  setrlimit(RLIMIT_AS, &limit);
  leaf_work(0.1);
  fork() ? (void)wait(NULL) : _exit(0);
  for (int i = 0; i < 50; i++)
    free(malloc(1 << 14));
  puts("done");
}

static void small_threads(size_t size)
{
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  double seconds = 0.005;
  int ran = 0;
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    void *memory = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, 4096, PROT_NONE);
    int error = pthread_attr_setstack(&attributes, (char *)memory + 4096, size);
    if (!error && !(error = pthread_create(&thread, &attributes, thread_work, &seconds)))
      ran += pthread_join(thread, NULL) == 0;
    munmap(memory, size + 4096);
  }
  printf("%d ran\n", ran);
}

/* ---- rseq, registered by the program instead of glibc ---- */

#ifdef __x86_64__
static struct {
  uint32_t cpu_id_start, cpu_id;
  uint64_t critical;
  uint32_t flags, padding[3];
} area __attribute__((aligned(32)));

static void own_rseq(void)
{
  long result = syscall(SYS_rseq, &area, sizeof area, 0, 0x53053053);
  for (int i = 0; i < 100; i++) {
    leaf_work(0.001);
    if (area.cpu_id >= 1024 || area.critical)
      puts("strange");
  }
  run_thread(0.02);
  printf("rseq %ld, back %ld\n", result, syscall(SYS_rseq, &area, sizeof area, 1, 0x53053053));
}
#endif

int main(int argc, char **argv)
{
  const char *which = argc > 1 ? argv[1] : "";
  setvbuf(stdout, NULL, _IOLBF, 0);
  no_core_files();
  if (!strcmp(which, "dies"))
    dies(argv[2]);
  else if (!strcmp(which, "root"))
    other_root(argv[2], argv[3]);
  else if (!strcmp(which, "user"))
    other_user((unsigned)strtoul(argv[2], NULL, 0));
  else if (!strcmp(which, "vanishes"))
    vanishes();
  else if (!strcmp(which, "descriptors"))
    descriptors();
  else if (!strcmp(which, "closed"))
    all_closed();
  else if (!strcmp(which, "memory"))
    little_memory(strtoul(argv[2], NULL, 0) << 10);
  else if (!strcmp(which, "stacks"))
    small_threads(strtoul(argv[2], NULL, 0));
  else if (!strcmp(which, "rseq"))
    own_rseq();
  else
    return 2;
  return 0;
}
