/* Parallel regions that should have fewer threads, and others: team_sizes small|large|shared [THREADS].  They have
 * that many threads, by num_threads(), or as many as the runtime gives them.  Prints the elapsed time in seconds. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECES = 8 };

static atomic_long counter;

/* A few microseconds for 1000 units. */
__attribute__((noinline)) static void burn(long units)
{
  for (volatile long i = 0; i < units; i++)
    continue;
}

/* Each of the regions has so much work. */
static void divided(long regions, long units, int threads)
{
  for (long k = 0; k < regions; k++) {
#pragma omp parallel for schedule(static) num_threads(threads) /* divided */
    for (int i = 0; i < PIECES; i++)
      burn(units);
  }
}

/* All threads write to one line of memory, which takes much longer than if one thread does it. */
static void shared(long regions, long times, int threads)
{
  for (long k = 0; k < regions; k++) {
#pragma omp parallel for schedule(static) num_threads(threads) /* shared */
    for (int i = 0; i < PIECES; i++)
      for (long j = 0; j < times; j++)
        atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  }
}

int main(int argc, char **argv)
{
  struct timespec begin, end;
  int threads = argc > 2 ? atoi(argv[2]) : omp_get_max_threads();
  if (argc < 2)
    return 2;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  if (!strcmp(argv[1], "small"))
    divided(20000, 1000, threads);
  else if (!strcmp(argv[1], "large"))
    divided(20, 4000000, threads);
  else
    shared(20, 500000, threads);
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
  return 0;
}
