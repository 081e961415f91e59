/* Known amounts of CPU time in known places: grains MODE SERIAL, seconds of it serial. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burn.h"

#define NOINLINE __attribute__((noinline))

NOINLINE double serial_part(double seconds)
{
  return burn(seconds) + 1;
}

NOINLINE double grain(double seconds)
{
  return burn(seconds) + 2;
}

/* 400 grains of 1 ms. */
static void loop(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 400; i++)
    grain(0.001);
}

/* The same, a part of each in a critical section that all threads want. */
static void locked(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 400; i++) {
    grain(0.0006);
#pragma omp critical
    grain(0.0004);
  }
}

/* Grains of 0.1 ms, as tasks. */
static void tasks(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4000; i++) {
#pragma omp task
    grain(0.0001);
  }
}

/* One thread has three times as much to do as the others. */
static void uneven(void)
{
#pragma omp parallel
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
      grain(0.3);
    else
      grain(0.1);
  }
}

int main(int argc, char **argv)
{
  if (argc < 3)
    return 2;
  serial_part(atof(argv[2]));
  if (!strcmp(argv[1], "loop"))
    loop();
  else if (!strcmp(argv[1], "locked"))
    locked();
  else if (!strcmp(argv[1], "tasks"))
    tasks();
  else
    uneven();
  puts("done");
  return 0;
}
