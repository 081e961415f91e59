/* A call chain whose names and lines are known, once serially and once in a region: see symbol_files.py.
 *
 * Usage: named_functions CPU-SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

volatile double sink;

static double cpu_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void leaf(double seconds)
{
  for (double end = cpu_seconds() + seconds; cpu_seconds() < end;)
    for (int i = 0; i < 20000; i++)
      sink = sink * 1.0000001 + i; /* the leaf's work */
}

static inline __attribute__((always_inline)) void middle(double seconds)
{
  leaf(seconds); /* called by middle */
  sink += 1;
}

static __attribute__((noinline)) void outer(double seconds)
{
  middle(seconds); /* inlined into outer */
  sink += 2;
}

__attribute__((noinline)) void team(double seconds)
{
#pragma omp parallel num_threads(2)
  {
    middle(seconds);
    sink += 3;
  }
  sink += 4;
}

int main(int argc, char **argv)
{
  double seconds = argc > 1 ? atof(argv[1]) : 0.06;
  outer(seconds);
  team(seconds);
  puts("done");
  return 0;
}
