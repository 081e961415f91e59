/* CPU time in known places: known_grains MODE SERIAL, with SERIAL seconds of serial code.  Prints the times of its own
 * clocks. When a machine halts a virtual processor, that time counts in these clocks, too. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burn.h"

static uint64_t work_ns, longest_ns;

static double take(double seconds)
{
  double began = burn_clock();
  burn(seconds);
  return burn_clock() - began;
}

static double counted(double took)
{
  __atomic_fetch_add(&work_ns, (uint64_t)(took * 1e9), __ATOMIC_RELAXED);
  return took;
}

NOINLINE double serial_part(double seconds)
{
  return counted(take(seconds));
}

NOINLINE double grain(double seconds)
{
  return counted(take(seconds));
}

/* The serial part. */
static void chain(double took)
{
  uint64_t ns = (uint64_t)(took * 1e9), before = __atomic_load_n(&longest_ns, __ATOMIC_RELAXED);
  while (ns > before &&
         !__atomic_compare_exchange_n(&longest_ns, &before, ns, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

/* 400 grains of 1 ms. */
static void loop(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 400; i++)
    chain(grain(0.001));
}

/* The same, with a part of each grain in a critical section. */
static void locked(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 400; i++) {
    double took = grain(0.0006);
#pragma omp critical
    took += grain(0.0004);
    chain(took);
  }
}

/* Grains of 0.1 ms, as tasks. */
static void tasks(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4000; i++) {
#pragma omp task
    chain(grain(0.0001));
  }
}

/* One thread has three times as much work as the others. */
static void uneven(void)
{
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
      chain(grain(0.3));
    else
      chain(grain(0.1));
  }
}

int main(int argc, char **argv)
{
  if (argc < 3)
    return 2;
  double serial = serial_part(atof(argv[2]));
  if (!strcmp(argv[1], "loop"))
    loop();
  else if (!strcmp(argv[1], "locked"))
    locked();
  else if (!strcmp(argv[1], "tasks"))
    tasks();
  else
    uneven();
  printf("serial %.6f\nwork %.6f\nlongest %.6f\n", serial, (double)work_ns * 1e-9,
         (double)longest_ns * 1e-9);
  return 0;
}
