/* Nested regions: main → outer_caller → region(2) → middle_caller → region(2) → leaf_work.  All threads have the same
 * path.  With -DPART=0.1 they work a tenth as long. */
#include <omp.h>
#include <stdio.h>

#include "burn.h"

#ifndef PART
#define PART 1.0
#endif

NOINLINE double leaf_work(double seconds)
{
  return burn(seconds) + 1;
}

NOINLINE double middle_work(double seconds)
{
  return burn(seconds) + 2;
}

NOINLINE double middle_caller(void)
{
  double sum = 0;
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += leaf_work(0.005 * PART);
  }
  return sum + 1;
}

NOINLINE double outer_caller(void)
{
  double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    sum += middle_work(0.1 * PART);
    sum += middle_caller();
  }
  return sum + 1;
}

int main(void)
{
  omp_set_max_active_levels(3);
  double sum = 0;
  for (int i = 0; i < 2; i++)
    sum += outer_caller();
  printf("%s\n", sum > 0 ? "done" : "wrong");
  return 0;
}
