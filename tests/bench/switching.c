/* Programs that switch often: switching FORM COUNT WORK.  `sleep`: a thread sleeps COUNT times; `handover`: two threads
 * hand a token to each other, COUNT times, by system calls that are not libc's, so that no library sees them.  Before
 * each, a thread computes WORK steps.  Prints on standard error how
 * many switches the process had, its CPU time and the elapsed time in ns, from the first step on. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long count, work;
static volatile double sink;
static int turn; /* whose: 0 or 1 */

static long long now_ns(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void compute(void)
{
  double x = 1;
  for (long i = 0; i < work; i++)
    x = x * 1.0000001 + 1e-9;
  sink = x;
}

static void sleep_often(void)
{
  struct timespec moment = {0, 1};
  for (long i = 0; i < count; i++) {
    compute();
    nanosleep(&moment, NULL);
  }
}

static void futex(int *word, long operation, long value)
{
  register long timeout __asm__("r10") = 0;
  long result = SYS_futex;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(word), "S"(operation), "d"(value), "r"(timeout)
                   : "rcx", "r11", "memory");
}

static void *hand_over(void *argument)
{
  int me = argument != NULL;
  for (long i = 0; i < count / 2; i++) {
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
      futex(&turn, FUTEX_WAIT_PRIVATE, !me);
    compute();
    __atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
    futex(&turn, FUTEX_WAKE_PRIVATE, 1);
  }
  return NULL;
}

static int hand_over_often(void)
{
  pthread_t other;
  if (pthread_create(&other, NULL, hand_over, &turn) != 0)
    return 1;
  hand_over(NULL);
  return pthread_join(other, NULL);
}

int main(int arguments, char **argument)
{
  struct rusage before, after;
  if (arguments != 4)
    return 2;
  count = atol(argument[2]);
  work = atol(argument[3]);
  getrusage(RUSAGE_SELF, &before);
  long long cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall_ns = now_ns(CLOCK_MONOTONIC);
  if (!strcmp(argument[1], "sleep"))
    sleep_often();
  else if (strcmp(argument[1], "handover") != 0 || hand_over_often())
    return 2;
  cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
  wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
  getrusage(RUSAGE_SELF, &after);
  fprintf(stderr, "%ld %lld %lld\n", after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw, cpu_ns,
          wall_ns);
  return 0;
}
