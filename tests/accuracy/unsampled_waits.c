/* Serial code that no sample sees: the initial thread sleeps, or another program has its core.  Prints, in seconds, how
 * long it slept before the team of two threads existed, how long it was ready then, and how long it slept between two
 * regions.
 *
 *     unsampled_waits CPU
 *
 * CPU: on which it works before the team exists. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

NOINLINE static double nap(double seconds)
{
  double begin = wall_clock(), delayed = delay_clock();
  usleep((unsigned)(1e6 * seconds));
  return wall_clock() - begin - (delay_clock() - delayed);
}

int main(int count, char **arguments)
{
  cpu_set_t all, one;
  if (count < 2 || sched_getaffinity(0, sizeof all, &all))
    return 2;
  CPU_ZERO(&one);
  CPU_SET(atoi(arguments[1]), &one);
  double before = nap(0.4);
  sched_setaffinity(0, sizeof one, &one);
  burn(0.3);
  double ready = delay_clock();
  sched_setaffinity(0, sizeof all, &all);
#pragma omp parallel num_threads(2)
  burn(0.2);
  double between = nap(0.3);
#pragma omp parallel num_threads(2)
  burn(0.2);
  printf("%f %f %f\n", before, ready, between);
  return 0;
}
