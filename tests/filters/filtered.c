/* Known CPU times on known paths, for filters.  Prints "NAME seconds".
 *
 * main → serial                                             0.05 s
 * main → left_out → region → kernel                         0.05 s on each thread
 * main → kept → region → kernel                             0.025 s on each thread
 * main → region → wanted → kernel                           0.025 s on each thread
 * main → region → critical, loop and barrier of a few ms
 * main → inlining, into which "inlined" is inlined          0.025 s, and 0.025 s of its own
 * in the user region "solve": kernel                        0.025 s, and kept
 * main → tasks: four tasks, each → task_body                0.0125 s
 * With the argument "sleeps" only, in elapsed time: early up to 0.1 s, late from 0.3 to 0.45 s, after from 0.65 to 0.75
 * s, and asleep between them.
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
  return burn(0.05) + 2;
}

static NOINLINE double left_out(void)
{
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += kernel(0.05);
  return sum + 1;
}

NOINLINE double kept(void)
{
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += kernel(0.025);
  return sum + 1;
}

NOINLINE double wanted(void)
{
  return kernel(0.025) + 3;
}

static inline __attribute__((always_inline)) double inlined(void)
{
  return burn(0.025) + 1;
}

NOINLINE double inlining(void)
{
  return burn(0.025) + inlined();
}

NOINLINE double constructs(void)
{
  static double shared;
  double sum = 0;
#pragma omp parallel
  {
    for (int i = 0; i < 5; i++) {
#pragma omp critical // first
      shared += burn(0.002);
    }
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 10; i++)
      burn(0.001);
#pragma omp critical // second
    shared += burn(0.0005);
  }
  return sum + shared;
}

NOINLINE double solve(void)
{
  hpcrun_lite_region_begin("solve");
  double sum = kernel(0.025) + kept();
  hpcrun_lite_region_end();
  return sum;
}

NOINLINE double task_body(void)
{
  return burn(0.0125) + 4;
}

NOINLINE void tasks(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4; i++)
#pragma omp task
    task_body();
}

static double begun;

static inline __attribute__((always_inline)) double burn_until(double moment)
{
  double sum = 0;
  while (wall_clock() < begun + moment)
    sum += burn(0.0005);
  return sum;
}

static void sleep_until(double moment)
{
  double left = begun + moment - wall_clock();
  if (left > 0)
    usleep((useconds_t)(left * 1e6));
}

NOINLINE double early(void)
{
  return burn_until(0.1) + 5;
}

NOINLINE double late(void)
{
  return burn_until(0.45) + 6;
}

NOINLINE double after(void)
{
  return burn_until(0.75) + 7;
}

static int sleeping(void)
{
  double sum = early();
  sleep_until(0.3);
  sum += late();
  sleep_until(0.65);
  sum += after();
#pragma omp parallel
  usleep(1000);
  return sum < 0;
}

int main(int count, char **arguments)
{
  begun = wall_clock();
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
