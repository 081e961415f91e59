/* Tasks created on different paths, by tasks, and recursively, which --task-context creation distinguishes. */
#include <stdio.h>

#include "burn.h"

NOINLINE double leaf(double seconds)
{
  return burn(seconds) + 1;
}

NOINLINE void make_leaf(double seconds)
{
#pragma omp task
  leaf(seconds);
  __asm__ volatile(""); /* the last statement is not a call */
}

NOINLINE void make_through_task(double seconds)
{
#pragma omp task
  {
    make_leaf(seconds);
    __asm__ volatile("");
  }
  __asm__ volatile("");
}

NOINLINE int recurse(int depth, double seconds)
{
  int left = 0, right = 0;
  if (!depth) {
    leaf(seconds);
    return 1;
  }
#pragma omp task shared(left)
  left = recurse(depth - 1, seconds);
  right = recurse(depth - 1, seconds);
#pragma omp taskwait
  return left + right;
}

NOINLINE void create_all(void)
{
  for (int i = 0; i < 40; i++) {
    make_leaf(0.01);
    make_through_task(0.005);
  }
#pragma omp taskwait
#pragma omp task
  printf("%d leaves\n", recurse(8, 0.001));
}

int main(void)
{
#pragma omp parallel num_threads(3)
#pragma omp single
  create_all();
  return 0;
}
