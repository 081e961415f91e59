/* Known CPU times on known paths, for filters.  Prints "NAME seconds".
 *
 * main → serial                                             0.2 s
 * main → left_out → region → kernel                         0.2 s on each thread
 * main → kept → region → kernel                             0.1 s on each thread
 * main → region → wanted → kernel                           0.1 s on each thread
 * main → region → critical, loop and barrier of a few ms
 * main → inlining, into which "inlined" is inlined          0.1 s, and 0.1 s of its own
 * in the user region "solve": kernel                        0.1 s, and kept
 * main → tasks: four tasks, each → task_body                0.05 s
 * With the argument "sleeps" only: early 0.1 s, sleep 0.4 s, late 0.3 s, sleep 0.3 s, after 0.1 s.
 */
#include <omp.h>
#include <unistd.h>

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

NOINLINE double task_body(void)
{
  return burn(0.05) + 4;
}

NOINLINE void tasks(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4; i++)
#pragma omp task
    task_body();
}

NOINLINE double early(void)
{
  return burn(0.1) + 5;
}

NOINLINE double late(void)
{
  return burn(0.3) + 6;
}

NOINLINE double after(void)
{
  return burn(0.1) + 7;
}

static int sleeping(void)
{
  double sum = early();
#pragma omp parallel
  usleep(1000);
  usleep(400000);
  sum += late();
  usleep(300000);
  sum += after();
  return sum < 0;
}

int main(int count, char **arguments)
{
  if (count > 1 && arguments[1][0] == 's')
    return sleeping();
  double sum = serial() + left_out() + kept();
#pragma omp parallel reduction(+ : sum)
  sum += wanted();
  sum += constructs() + inlining() + solve();
  tasks();
  say("threads", omp_get_max_threads());
  return sum < 0;
}
