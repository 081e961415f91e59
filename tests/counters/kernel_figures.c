/* What the kernel counts for programs with known page faults, context switches and threads: kernel_figures FORM. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 1000, TIMES = 20, SLEEPS = 50, REGIONS = 200, CREATED = 30, FILLINGS = 20 };

static double cpu_s(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Long enough for samples on a kernel with slow ticks. */
static inline __attribute__((always_inline)) void compute(void)
{
  for (double end = cpu_s() + 0.06; cpu_s() < end;)
    ;
}

static inline __attribute__((always_inline)) void touch(int times)
{
  for (int i = 0; i < times; i++) {
    char *memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      exit(2);
    madvise(memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    for (int k = 0; k < PAGES; k++)
      memory[k * PAGE] = 1;
    munmap(memory, (size_t)PAGES * PAGE);
  }
}

/* Samples come before the first page, and after the last one. */
static __attribute__((noinline)) void touch_pages(void)
{
  compute();
  touch(TIMES);
  compute();
}

static __attribute__((noinline)) void nothing(void)
{
  compute();
}

static __attribute__((noinline)) void sleep_often(void)
{
  struct timespec moment = {0, 100000};
  compute();
  for (int i = 0; i < SLEEPS; i++)
    nanosleep(&moment, NULL);
  compute();
}

static void serial(void)
{
  nothing();
  touch_pages();
  sleep_often();
  nothing();
}

static void parallel(void)
{
#pragma omp parallel num_threads(2)
  touch_pages(); /* touching */
#pragma omp parallel num_threads(2)
  nothing(); /* computing */
}

static __attribute__((noinline)) void teams(void)
{
  for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel num_threads(i % 2 ? 2 : 4)
    __asm__ volatile("" ::: "memory"); /* changing */
  }
}

/* Two threads fill a buffer that is new each time, for a second and at least FILLINGS times. */
static void fill(void)
{
  double end = cpu_s() + 1;
  for (int i = 0; i < FILLINGS || cpu_s() < end; i++) {
    char *memory = mmap(NULL, (size_t)PAGES * TIMES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      exit(2);
    madvise(memory, (size_t)PAGES * TIMES * PAGE, MADV_NOHUGEPAGE);
#pragma omp parallel for num_threads(2)
    for (int k = 0; k < PAGES * TIMES; k++)
      memory[(size_t)k * PAGE] = 1; /* filling */
    munmap(memory, (size_t)PAGES * TIMES * PAGE);
  }
}

static void *run(void *argument)
{
  touch(1);
  return argument;
}

static __attribute__((noinline)) void create(void)
{
  for (int i = 0; i < CREATED; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
  }
}

int main(int count, char **arguments)
{
  const char *form = count > 1 ? arguments[1] : "serial";
  struct rusage usage;
  if (!strcmp(form, "serial"))
    serial();
  else if (!strcmp(form, "parallel"))
    parallel();
  else if (!strcmp(form, "teams"))
    teams();
  else if (!strcmp(form, "create"))
    create();
  else if (!strcmp(form, "fill"))
    fill();
  else if (!strcmp(form, "killed")) {
    touch_pages();
    kill(getpid(), SIGKILL);
  }
  getrusage(RUSAGE_THREAD, &usage);
  printf("%ld %ld %ld\n", usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw + usage.ru_nivcsw);
  return 0;
}
