/* Known CPU times on known paths, for filters.  Prints "NAME seconds".
 *
 * main → serial                                             0.2 s
 * main → left_out → region → kernel                         0.2 s on each thread
 * main → kept → region → kernel                             0.1 s on each thread
 * main → region → wanted → kernel                           0.1 s on each thread
 * main → region → critical, loop and barrier of a few ms
 * main → inlining, into which "inlined" is inlined          0.1 s, and 0.1 s of its own
 * in the user region "solve": kernel                        0.1 s
 */
#include <omp.h>
#include <string.h>

#include "burn.h"
#include "hpcrun-lite.h"

NOINLINE double kernel(double seconds)
{
  return burn(seconds) + 1;
}

static NOINLINE double serial(void)
{
  return burn(0.2) + 2;
}

static NOINLINE double left_out(void)
{
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += kernel(0.2);
  return sum + 1;
}

NOINLINE double kept(void)
{
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += kernel(0.1);
  return sum + 1;
}

NOINLINE double wanted(void)
{
  return kernel(0.1) + 3;
}

static inline __attribute__((always_inline)) double inlined(void)
{
  return burn(0.1) + 1;
}

NOINLINE double inlining(void)
{
  return burn(0.1) + inlined();
}

NOINLINE double constructs(void)
{
  static double shared;
  double sum = 0;
#pragma omp parallel
  {
    for (int i = 0; i < 5; i++) {
#pragma omp critical // first
      shared += burn(0.004);
    }
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 10; i++)
      burn(0.002);
#pragma omp critical // second
    shared += burn(0.001);
  }
  return sum + shared;
}

NOINLINE double solve(void)
{
  hpcrun_lite_region_begin("solve");
  double sum = kernel(0.1) + kept();
  hpcrun_lite_region_end();
  return sum;
}

int main(void)
{
  double sum = serial() + left_out() + kept();
#pragma omp parallel reduction(+ : sum)
  sum += wanted();
  sum += constructs() + inlining() + solve();
  say("threads", omp_get_max_threads());
  return sum < 0;
}
