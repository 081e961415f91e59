/* Tasks created by one thread and run by all: main → creator → region → task → task_work. */
#include <omp.h>
#include <stdio.h>

#include "burn.h"

NOINLINE double task_work(double seconds)
{
  return burn(seconds) + 1;
}

NOINLINE double waiting_work(double seconds)
{
  return burn(seconds) + 2;
}

NOINLINE void creator(void)
{
#pragma omp parallel
  {
#pragma omp single
    {
      for (int i = 0; i < 40; i++) {
#pragma omp task
        task_work(0.01);
      }
#pragma omp taskwait
      waiting_work(0.1);
    }
  }
}

int main(void)
{
  creator();
  puts("done");
  return 0;
}
