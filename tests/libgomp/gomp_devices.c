/* Target constructs of GCC's code on libgomp with a device (gomp_plugin.c).  Prints how many devices there are, and
 * what the regions have computed. */
#include <omp.h>
#include <stdio.h>

enum { ELEMENTS = 1000, REGIONS = 6 };

int main(void)
{
  static double a[ELEMENTS];
  double sum = 0;
  for (int i = 0; i < ELEMENTS; i++)
    a[i] = i;
#pragma omp target data map(tofrom : a) map(tofrom : sum) // @ data
  {
    for (int k = 0; k < REGIONS; k++)
#pragma omp target map(tofrom : a, sum) // @ target
      for (int i = 0; i < ELEMENTS; i++)
        sum += a[i];
#pragma omp target update from(sum) // @ update
  }
#pragma omp target map(tofrom : sum) nowait // @ nowait
  sum += 1;
#pragma omp taskwait
#pragma omp target device(omp_get_initial_device()) map(tofrom : sum) // @ host
  sum += 1;
  printf("%d devices, %g\n", omp_get_num_devices(), sum);
  return 0;
}
