/* Reductions of an array in a team of two: the combination takes nearly all of the time. */
#include <stdio.h>

enum { LENGTH = 1 << 18, TIMES = 10 };
static double sums[LENGTH];

int main(void)
{
  for (int time = 0; time < TIMES; time++) {
#pragma omp parallel for reduction(+ : sums[:LENGTH]) num_threads(2)
    for (int i = 0; i < 100; i++)
      sums[i] += i;
#pragma omp parallel num_threads(2)
#pragma omp for reduction(+ : sums[:LENGTH]) schedule(dynamic, 10)
    for (int i = 0; i < 100; i++)
      sums[i] += i;
  }
  printf("%g\n", sums[50]);
}
