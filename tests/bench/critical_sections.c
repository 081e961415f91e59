/* Prints the CPU time of an empty critical section in ns: of the first thousand, and of a million after many. */
#include <stdio.h>
#include <time.h>

static double now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double sections(long count)
{
  double begun = now_ns();
  for (long i = 0; i < count; i++) {
#pragma omp critical
    __asm__ volatile("");
  }
  return (now_ns() - begun) / (double)count;
}

int main(void)
{
#pragma omp parallel num_threads(1)
  {
    sections(10);
    double first = sections(1000);
    sections(1000000);
    printf("%.1f %.1f\n", first, sections(1000000));
  }
  return 0;
}
