/* Burns a known amount of the calling thread's CPU time. */
#ifndef TESTS_PROGRAMS_BURN_H
#define TESTS_PROGRAMS_BURN_H

#include <time.h>

static inline double burn_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline __attribute__((always_inline)) double burn(double seconds)
{
  volatile double sum = 0;
  for (double end = burn_clock() + seconds; burn_clock() < end;)
    for (int i = 1; i < 3000; i++)
      sum = sum + 1.0 / i;
  return sum;
}

#endif
