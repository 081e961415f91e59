/* Programs that do what is hard for profilers; argv[1] chooses one.  Each prints what it prints without a profiler. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "leaf_work.h"

/* Closes every descriptor that it did not open, and then uses their numbers. */
static void descriptors(const char *directory)
{
  int fds[40], wrong = 0;
  char path[4096], text[8];
  pthread_t thread;
  double seconds = 0.3;
  closefrom(3);
  for (int i = 0; i < 40; i++) {
    snprintf(path, sizeof path, "%s/file%d", directory, i);
    fds[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    wrong += fds[i] != 3 + i || write(fds[i], "hello", 5) != 5;
  }
  pthread_create(&thread, NULL, thread_work, &seconds);
  leaf_work(0.3);
  pthread_join(thread, NULL);
  for (int i = 0; i < 40; i++)
    wrong += lseek(fds[i], 0, SEEK_CUR) != 5 || pread(fds[i], text, 8, 0) != 5 || memcmp(text, "hello", 5) != 0;
  printf("%d wrong\n", wrong);
}

static void threads(void)
{
  for (int i = 0; i < 500; i++) {
    pthread_t a, b;
    double seconds = 0.001;
    pthread_create(&a, NULL, thread_work, &seconds);
    pthread_create(&b, NULL, thread_work, &seconds);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
  }
  puts("done");
}

NOINLINE static double deep(int depth)
{
  double sum = depth ? deep(depth - 1) : leaf_work(0.3);
  __asm__ volatile("" ::: "memory");
  return sum + 1;
}

static ucontext_t outside, inside;

static void coroutine(void)
{
  for (;;) {
    leaf_work(0.02);
    swapcontext(&inside, &outside);
  }
}

static void coroutines(void)
{
  getcontext(&inside);
  inside.uc_stack.ss_sp = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  inside.uc_stack.ss_size = 65536;
  makecontext(&inside, coroutine, 0);
  for (int i = 0; i < 15; i++)
    swapcontext(&outside, &inside);
  puts("done");
}

/* A frame without unwind information, with an invalid frame pointer and an invalid return address. */
double wrecked(double seconds);
__asm__(".text\n"
        ".globl wrecked\n"
        ".type wrecked,@function\n"
        "wrecked:\n"
        "  push %rbp\n"
        "  mov $0x1234567, %rbp\n"
        "  sub $8000, %rsp\n"
        "  movabs $0x7000dead0000, %rax\n"
        "  mov %rax, (%rsp)\n"
        "  call leaf_work\n"
        "  add $8000, %rsp\n"
        "  pop %rbp\n"
        "  ret\n"
        ".size wrecked, .-wrecked\n");

static volatile sig_atomic_t alarms, urgents;

static void on_alarm(int number)
{
  (void)number;
  alarms++;
}

static void on_urgent(int number)
{
  (void)number;
  urgents++;
}

/* The program's own signals: SIGPROF from a timer, SIGURG sent by itself, and a mask that blocks everything. */
static void signals(void)
{
  struct sigaction action = {.sa_handler = on_alarm}, old;
  struct itimerval timer = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}};
  sigset_t all, before;
  sigaction(SIGPROF, &action, NULL);
  action.sa_handler = on_urgent;
  sigaction(SIGURG, &action, &old);
  printf("default before: %d\n", old.sa_handler == SIG_DFL);
  setitimer(ITIMER_PROF, &timer, NULL);
  leaf_work(0.3);
  setitimer(ITIMER_PROF, &off, NULL);
  raise(SIGURG);
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  leaf_work(0.3);
  sigprocmask(SIG_SETMASK, &before, NULL);
  printf("alarms %s, urgent %d\n", alarms >= 10 ? "came" : "lacking", (int)urgents);
}

/* Calls that a signal would interrupt: each must take its full time. */
static void sleeps(void)
{
  struct timespec begin, end, nap = {0, 100000000};
  struct timeval wait = {0, 100000};
  sem_t semaphore;
  int errors = 0, epoll = epoll_create1(0);
  struct epoll_event event;
  sem_init(&semaphore, 0, 0);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  errors += nanosleep(&nap, NULL) != 0;
  errors += clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL) != 0;
  errors += usleep(100000) != 0;
  errors += poll(NULL, 0, 100) != 0;
  errors += select(0, NULL, NULL, NULL, &wait) != 0;
  errors += epoll_wait(epoll, &event, 1, 100) != 0;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 1;
  errors += sem_timedwait(&semaphore, &end) != -1 || errno != ETIMEDOUT;
  clock_gettime(CLOCK_MONOTONIC, &end);
  double passed = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
  printf("%d errors, %s\n", errors, passed >= 1.6 ? "in full" : "early");
}

static volatile int stop;

static void *load_and_unload(void *path)
{
  while (!stop) {
    void *handle = dlopen(path, RTLD_NOW);
    if (!handle)
      exit(9);
    double (*work)(int) = (double (*)(int))dlsym(handle, "plugin_work");
    work(2000);
    dlclose(handle);
  }
  return NULL;
}

static void *compute(void *unused)
{
  while (!stop)
    leaf_work(0.01);
  return unused;
}

static void plugins(char *first, char *second)
{
  pthread_t thread[4];
  pthread_create(&thread[0], NULL, load_and_unload, first);
  pthread_create(&thread[1], NULL, load_and_unload, second);
  pthread_create(&thread[2], NULL, compute, NULL);
  pthread_create(&thread[3], NULL, compute, NULL);
  sleep(3);
  stop = 1;
  for (int i = 0; i < 4; i++)
    pthread_join(thread[i], NULL);
  puts("done");
}

/* Time spent in the kernel must be charged to the function that called it. */
NOINLINE static void kernel_part(double seconds)
{
  for (double end = burn_clock() + seconds; burn_clock() < end;) {
    void *memory = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    munmap(memory, 8 << 20);
  }
  __asm__ volatile("" ::: "memory");
}

NOINLINE static double user_part(double seconds)
{
  volatile double sum = 0;
  for (double end = burn_clock() + seconds; burn_clock() < end;)
    for (int i = 1; i < 100000; i++)
      sum = sum + 1.0 / i;
  return sum;
}

static void in_kernel(void)
{
  for (int i = 0; i < 5; i++) {
    kernel_part(0.2);
    user_part(0.1);
  }
  puts("done");
}

static void exit_now(int number)
{
  (void)number;
  _exit(13);
}

static void *short_threads(void *unused)
{
  for (;;) {
    pthread_t thread;
    double seconds = 0;
    pthread_create(&thread, NULL, thread_work, &seconds);
    pthread_join(thread, NULL);
  }
  return unused;
}

/* A handler ends the process while its threads allocate memory, begin and end. */
static void exit_in_handler(void)
{
  struct itimerval timer = {{0, 0}, {0, 200000}};
  pthread_t thread;
  signal(SIGALRM, exit_now);
  pthread_create(&thread, NULL, short_threads, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  for (;;)
    free(malloc(100));
}

/* Many short sleeps: a sample may fall into the call itself. */
static void naps(void)
{
  struct timespec nap = {0, 1000};
  int errors = 0;
  for (int i = 0; i < 8000; i++)
    errors += nanosleep(&nap, NULL) != 0;
  for (int i = 0; i < 300; i++)
    errors += poll(NULL, 0, 1) != 0;
  printf("%d errors\n", errors);
}

static void children(void)
{
  int status;
  for (int i = 0; i < 4; i++) {
    pid_t child = fork();
    if (child == 0) {
      leaf_work(0.1);
      if (i == 1)
        _exit(11);
      if (i == 2)
        execl("/bin/sh", "sh", "-c", "exit 12", (char *)NULL);
      if (i == 3 && execl("/nowhere", "nowhere", (char *)NULL) != 0)
        leaf_work(0.1);
      exit(10);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    fflush(stdout);
  }
  printf("shell %d\n", WEXITSTATUS(system("exit 3")));
}

int main(int argc, char **argv)
{
  const char *which = argc > 1 ? argv[1] : "";
  if (!strcmp(which, "descriptors"))
    descriptors(argv[2]);
  else if (!strcmp(which, "threads"))
    threads();
  else if (!strcmp(which, "deep"))
    printf("%d\n", deep(100) + deep(100000) > 0);
  else if (!strcmp(which, "coroutines"))
    coroutines();
  else if (!strcmp(which, "wrecked"))
    printf("%d\n", wrecked(0.3) > 0);
  else if (!strcmp(which, "signals"))
    signals();
  else if (!strcmp(which, "sleeps"))
    sleeps();
  else if (!strcmp(which, "plugins"))
    plugins(argv[2], argv[3]);
  else if (!strcmp(which, "kernel"))
    in_kernel();
  else if (!strcmp(which, "exit_in_handler"))
    exit_in_handler();
  else if (!strcmp(which, "naps"))
    naps();
  else if (!strcmp(which, "children"))
    children();
  else
    return 2;
  return 0;
}
