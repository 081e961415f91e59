/* A program that runs until SIGTERM, and then ends in order.  What it does meanwhile is the argument. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite.h"

static volatile sig_atomic_t ended, urgent, woken;
static volatile double sink;

static void on_end(int number)
{
  (void)number;
  ended = 1;
}

static void on_urgent(int number)
{
  (void)number;
  urgent++;
}

static __attribute__((noinline)) void burn(void)
{
  double sum = 0;
  for (int i = 1; i < 200000; i++)
    sum += 1.0 / i;
  sink = sum;
}

/* One region until the end. */
static void long_region(void)
{
#pragma omp parallel
  while (!ended)
    burn();
}

static void regions(void)
{
  while (!ended) {
#pragma omp parallel for
    for (int i = 0; i < 8; i++)
      burn();
  }
}

/* Exact counts: in each step, each thread enters a critical section, and a loop is executed once. */
static __attribute__((noinline)) void kept(void)
{
#pragma omp parallel
  {
#pragma omp critical
    burn();
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 4; i++)
      burn();
  }
}

static __attribute__((noinline)) void left(void)
{
#pragma omp parallel
  burn();
}

static double process_cpu(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Three phases of 100 steps.  After each one, regions without content follow until the file goN exists.  Prints the CPU
 * time of these regions. */
static void phases(void)
{
  double between = 0;
  for (int phase = 0; phase < 3; phase++) {
    char name[16];
    for (int step = 0; step < 100; step++) {
      kept();
      left();
    }
    double begun = process_cpu();
    snprintf(name, sizeof name, "done%d", phase);
    fclose(fopen(name, "w"));
    snprintf(name, sizeof name, "go%d", phase);
    while (!ended && access(name, F_OK) != 0) {
#pragma omp parallel
      sink = 0;
      usleep(1000);
    }
    between += process_cpu() - begun;
  }
  printf("between %.9f\n", between);
}

/* Speaks of itself beside regions; sets how often. */
static void *speak(void *count)
{
  for (long *spoken = count; !ended; ++*spoken) {
    hpcrun_lite_region_begin("beside");
    for (int i = 0; i < 4; i++)
      hpcrun_lite_counter("values", 1);
    hpcrun_lite_mark("round");
    hpcrun_lite_region_end();
    for (int i = 1; i < 5000; i++)
      sink = i;
  }
  return NULL;
}

/* Sets how often the process had another limit of descriptors than at its start. */
static void *watch(void *count)
{
  struct rlimit first, now;
  getrlimit(RLIMIT_NOFILE, &first);
  for (long *others = count; !ended; *others += now.rlim_cur != first.rlim_cur)
    getrlimit(RLIMIT_NOFILE, &now);
  return NULL;
}

/* A thread beside regions, which counts. */
static void beside(void *(*run)(void *), const char *what)
{
  long count = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, run, &count);
  while (!ended) {
#pragma omp parallel
    sink = 0;
  }
  pthread_join(thread, NULL);
  printf("%s %ld\n", what, count);
}

static void *burn_for_a_while(void *unused)
{
  for (int i = 0; i < 50; i++)
    burn();
  return unused;
}

/* Threads that are sampled and end, between regions. */
static void ending_threads(void)
{
  pthread_t thread;
  while (!ended) {
    pthread_create(&thread, NULL, burn_for_a_while, NULL);
    pthread_join(thread, NULL);
#pragma omp parallel
    burn();
  }
}

static void serial(void)
{
  while (!ended)
    burn();
}

/* By a system call that libc does not see, so that the tool's handler cannot run. */
static void deaf(void)
{
  unsigned long all = ~(1ul << (SIGTERM - 1)), size = sizeof all;
  register unsigned long r10 __asm__("r10") = size;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_rt_sigprocmask), "D"(SIG_SETMASK), "S"(&all), "d"(0), "r"(r10)
                   : "rcx", "r11", "memory");
  serial();
}

/* Asks for nothing that interrupts a call by SIGURG: each interruption is counted. */
static void sleeping(void)
{
  int interrupted = 0;
  while (!ended)
    interrupted += usleep(20000) != 0 && !ended;
  printf("interrupted %d\n", interrupted);
}

static void on_wake(int number)
{
  (void)number;
  woken = 1;
}

/* Sleeps in that call until SIGUSR1; each interruption is counted. */
static void asleep(const char *call)
{
  int interrupted = 0;
  sigset_t none;
  sigemptyset(&none);
  while (!woken) {
    int result = !strcmp(call, "poll")        ? poll(NULL, 0, -1)
                 : !strcmp(call, "select")    ? select(0, NULL, NULL, NULL, NULL)
                 : !strcmp(call, "nanosleep") ? nanosleep(&(struct timespec){.tv_sec = 1000}, NULL)
                 : !strcmp(call, "pause")     ? pause()
                                              : sigsuspend(&none);
    interrupted += result < 0 && errno == EINTR;
  }
  printf("%s: interrupted %d\n", call, interrupted);
  fflush(stdout);
  regions();
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "regions";
  struct sigaction end = {.sa_handler = on_end}, handler = {.sa_handler = on_urgent, .sa_flags = SA_RESTART};
  sigset_t all;
  struct sigaction wake = {.sa_handler = on_wake};
  sigaction(SIGTERM, &end, NULL);
  sigaction(SIGUSR1, &wake, NULL);
  if (!strcmp(what, "handler"))
    sigaction(SIGURG, &handler, NULL);
  if (!strcmp(what, "blocked")) {
    sigfillset(&all);
    sigdelset(&all, SIGTERM);
    sigprocmask(SIG_SETMASK, &all, NULL);
  }
  pid_t child = !strcmp(what, "fork") ? fork() : -1;
  if (!strcmp(what, "long"))
    long_region();
  else if (!strcmp(what, "serial") || !strcmp(what, "handler"))
    serial();
  else if (!strcmp(what, "phases"))
    phases();
  else if (!strcmp(what, "deaf"))
    deaf();
  else if (!strcmp(what, "sleeping"))
    sleeping();
  else if (!strcmp(what, "ending threads"))
    ending_threads();
  else if (!strcmp(what, "beside"))
    beside(speak, "spoken");
  else if (!strcmp(what, "watched"))
    beside(watch, "other limits");
  else if (!strcmp(what, "asleep"))
    asleep(argc > 2 ? argv[2] : "poll");
  else if (!strcmp(what, "workers")) {
#pragma omp parallel
    burn();
    asleep("poll");
  } else
    regions();
  if (child > 0) {
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
  }
  if (child != 0)
    printf("SIGURG %d\n", (int)urgent);
  return 0;
}
