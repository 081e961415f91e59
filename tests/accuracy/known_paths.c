/* Known CPU times on known paths, serial and parallel.  Prints the number of threads.
 *
 * main → serial_part                    SERIAL s
 * main → heavy_caller → region → kernel HEAVY s on each thread
 * main → light_caller → region → kernel LIGHT s on each thread, then other in thread 0 only: OTHER s
 */
#include <omp.h>
#include <stdio.h>

#include "burn.h"

NOINLINE double serial_part(void)
{
  return burn(0.2) + 1;
}

NOINLINE double kernel(double seconds)
{
  return burn(seconds) + 2;
}

NOINLINE double other(double seconds)
{
  return burn(seconds) + 3;
}

NOINLINE double heavy_caller(double share)
{
  double sum = 0;
  for (int i = 0; i < 4; i++) {
#pragma omp parallel reduction(+ : sum)
    sum += kernel(0.0375 * share);
  }
  return sum + 1;
}

NOINLINE double light_caller(double share)
{
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    sum += kernel(0.05 * share);
    if (omp_get_thread_num() == 0)
      sum += other(0.15);
  }
  return sum + 1;
}

int main(void)
{
  double share = 4.0 / omp_get_max_threads();
  double sum = serial_part() + heavy_caller(share) + light_caller(share);
  printf("%d threads, %s\n", omp_get_max_threads(), sum > 0 ? "done" : "wrong");
  return 0;
}
