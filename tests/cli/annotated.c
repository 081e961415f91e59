/* A program for the source view, whose lines are known by their marks. */
#include <stdio.h>

static double shared;
static volatile int arrived;

static double burn(long count)
{
  double x = 1;
  for (long i = 0; i < count; i++)
    x = x * 1.0000001 + 1e-9; /* = hot */
  return x;
}

static void silent(void)
{
  puts("silent"); /* = silent */
}

int main(void)
{
  double sum = burn(40000000);                         /* = serial */
#pragma omp parallel num_threads(2) reduction(+ : sum) /* = parallel */
  {
    sum += burn(60000000);
#pragma omp barrier /* = barrier */
#pragma omp atomic
    arrived++;
#pragma omp critical /* = critical */
    {
      while (arrived < 2) /* so that the other thread waits for this one */
        ;
      shared += burn(40000000);
    } /* = end */
  }
  silent();
  printf("%g\n", sum + shared);
  return 0;
}
