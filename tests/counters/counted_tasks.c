/* Programs with known page faults and context switches: counted_tasks FORM. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite.h"

enum { PAGE = 4096, TASKS = 10, SHORT = 40000, EVERY = 16 };

static char *pages(long count)
{
  char *memory = mmap(NULL, (size_t)count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    exit(2);
  madvise(memory, (size_t)count * PAGE, MADV_NOHUGEPAGE);
  return memory;
}

static __attribute__((noinline)) void touch(long count)
{
  char *memory = pages(count);
  for (long i = 0; i < count; i++)
    memory[i * PAGE] = 1;
}

static void tasks(long count)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < TASKS; i++)
#pragma omp task
    touch(count); /* tasks */
}

/* Each thread sleeps 20 times in its single part of a critical section. */
static void sleepers(void)
{
  struct timespec millisecond = {0, 1000000};
#pragma omp parallel num_threads(2)
#pragma omp masked
  for (int i = 0; i < 20; i++)
    nanosleep(&millisecond, NULL);
}

static void short_tasks(void)
{
  static volatile double sum;
  char *memory = pages(SHORT / EVERY);
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < SHORT; i++)
#pragma omp task firstprivate(i)
  {
    if (i % EVERY == 0)
      memory[(long)i / EVERY * PAGE] = 1;
    for (int k = 0; k < 50; k++)
      sum += k;
  }
}

/* The second thread touches pages, and is still in the region when the first one ends the process. */
static void exit_inside(void)
{
  static volatile int touched;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num()) {
    touch(300);
    touched = 1;
    for (;;)
      pause();
  } else {
    while (!touched)
      usleep(1000);
    exit(0);
  }
}

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* One thread touches 1,000 pages at a steady pace; the other one pauses measuring for the middle half of them, and
 * prints for which part of the time.  inside: the first one meets a construct in the pause. */
static void pause_halfway(bool inside)
{
  static volatile int step;
  double paused = 0, begin = now();
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num()) {
    for (; step < 100; step++) {
      usleep(2000);
      touch(10);
      if (inside && step == 50)
#pragma omp critical
        touch(1);
    }
  } else {
    while (step < 25)
      usleep(500);
    hpcrun_lite_stop();
    paused = now();
    while (step < 75)
      usleep(500);
    paused = now() - paused;
    hpcrun_lite_start();
  }
  printf("%f\n", paused / (now() - begin));
}

static void close_all(void)
{
  for (int i = 3; i < 2000; i++)
    close(i);
}

int main(int argc, char **argv)
{
  const char *form = argc > 1 ? argv[1] : "";
  struct rusage usage;
  tasks(100);
  if (!strcmp(form, "sleep"))
    sleepers();
  if (!strcmp(form, "short"))
    short_tasks();
  if (!strcmp(form, "exit"))
    exit_inside();
  if (!strncmp(form, "pause", 5))
    pause_halfway(!strcmp(form, "pause-inside"));
  if (!strcmp(form, "close")) {
    close_all();
    tasks(100);
  }
  if (!strcmp(form, "exec") && argc < 3)
    execl(argv[0], argv[0], form, "again", (char *)NULL);
  if (!strcmp(form, "fork")) {
    pid_t child = fork();
    if (child == 0) {
      touch(50);
      exit(0);
    }
    waitpid(child, NULL, 0);
  }
  if (!strcmp(form, "kill"))
    raise(SIGKILL);
  getrusage(RUSAGE_SELF, &usage);
  printf("%ld %ld\n", usage.ru_minflt + usage.ru_majflt, usage.ru_nvcsw + usage.ru_nivcsw);
  return 0;
}
