/* Doacross loops in a team of two, with iterations that each use TOOK_NS of CPU time.  "chain": each waits for the one
 * before, which the other thread runs.  "alone": one thread runs them all, so that none waits. */
#include <string.h>
#include <time.h>

enum { ITERATIONS = 8, TOOK_NS = 20000000 };

static long cpu_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void work(void)
{
  long end = cpu_ns() + TOOK_NS;
  while (cpu_ns() < end)
    ;
}

static void chain(void)
{
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
  for (int i = 0; i < ITERATIONS; i++) {
#pragma omp ordered depend(sink : i - 1)
    work();
#pragma omp ordered depend(source)
  }
}

/* Two dimensions: the rows of the second thread wait for those of the first one, cell by cell. */
static void wave(void)
{
#pragma omp parallel for ordered(2) schedule(static, 1) num_threads(2)
  for (long i = 0; i < 2; i++)
    for (long j = 0; j < ITERATIONS; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      if (!i)
        work();
#pragma omp ordered depend(source)
    }
}

static void alone(void)
{
#pragma omp parallel for ordered(1) schedule(static, ITERATIONS) num_threads(2)
  for (int i = 0; i < ITERATIONS; i++) {
#pragma omp ordered depend(sink : i - 1)
    work();
#pragma omp ordered depend(source)
  }
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "chain"))
    chain();
  else if (argc > 1 && !strcmp(argv[1], "wave"))
    wave();
  else
    alone();
}
