/* Two threads that meet at many barriers, or a thread that sleeps often.  Each prints how long the kernel says that it
 * was ready to run without a processor: ready_NUMBER SECONDS.  The first thread also works before each region, and
 * after the last region as often again.  It prints how long all work would take if each thread had a processor: alone
 * SECONDS. That is its own CPU time outside regions, and between two barriers the larger CPU time of the two threads.
 * "killed" meets at barriers too, and ends by SIGKILL.  "spins N": thread N works for a second, the other one waits at
 * a barrier on the same processor. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BARRIERS = 3 };

static volatile double sink;

static void work(int rounds)
{
  double x = 1;
  for (int i = 0; i < rounds; i++)
    x = x * 1.0000001 + 1e-9;
  sink = x;
}

static double cpu_time(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double timed_work(int rounds)
{
  double began = cpu_time();
  work(rounds);
  return cpu_time() - began;
}

static void print_ready(int number)
{
  char path[64];
  unsigned long long ran = 0, ready = 0;
  snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", (long)syscall(SYS_gettid));
  FILE *file = fopen(path, "r");
  if (!file || fscanf(file, "%llu %llu", &ran, &ready) != 2)
    exit(2);
  fclose(file);
  printf("ready_%d %.6f\n", number, (double)ready / 1e9);
}

int main(int argc, char **argv)
{
  int times = 100, rounds = 20000;
  if (argc > 2)
    times = atoi(argv[2]);
  if (argc > 3)
    rounds = atoi(argv[3]);
  if (argc > 1 && strcmp(argv[1], "sleeps") == 0) {
    for (int i = 0; i < times; i++)
      usleep(1000);
    print_ready(0);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "spins") == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one); /* the runtime has counted more */
#pragma omp parallel num_threads(2)
    {
      for (double end = cpu_time() + 1; omp_get_thread_num() == times && cpu_time() < end;)
        work(rounds);
#pragma omp barrier
    }
#pragma omp parallel num_threads(2)
#pragma omp critical
    print_ready(omp_get_thread_num());
    return 0;
  }
  double(*spent)[2] = calloc((size_t)times * BARRIERS, sizeof *spent), alone = 0;
  for (int i = 0; i < times; i++) {
    alone += timed_work(rounds); /* nobody else has any */
#pragma omp parallel num_threads(2)
    for (int barrier = 0; barrier < BARRIERS; barrier++) {
      spent[i * BARRIERS + barrier][omp_get_thread_num()] = timed_work(rounds);
#pragma omp barrier
    }
  }
  for (int i = 0; i < times * BARRIERS; i++)
    alone += spent[i][0] > spent[i][1] ? spent[i][0] : spent[i][1];
  free(spent);
  for (int i = 0; i < times; i++)
    alone += timed_work(rounds);
#pragma omp parallel
#pragma omp critical
  print_ready(omp_get_thread_num());
  printf("alone %.6f\n", alone);
  if (argc > 1 && strcmp(argv[1], "killed") == 0) {
    fflush(stdout);
    raise(SIGKILL);
  }
  return 0;
}
