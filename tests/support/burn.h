/* Burns a known amount of the calling thread's CPU time, and measures how long threads wait, by their own clocks. */
#ifndef TESTS_SUPPORT_BURN_H
#define TESTS_SUPPORT_BURN_H

#include <stdio.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

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

static inline double wall_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* How long the calling thread was ready to run while other threads had the processor. */
static inline double delay_clock(void)
{
  unsigned long long ran = 0, delayed = 0;
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (file) {
    if (fscanf(file, "%llu %llu", &ran, &delayed) != 2)
      delayed = 0;
    fclose(file);
  }
  return (double)delayed * 1e-9;
}

/* Prints a line that clocks() in measured.py reads. */
static inline void say(const char *name, double value)
{
  printf("%s %.9f\n", name, value);
  fflush(stdout);
}

/* How long a thread has waited, by its own clock: from arrive() to leave(). */
struct own_clock {
  double waited, since; /* since: 0 while it does not wait */
};

enum { OWN_CLOCKS = 4096 };
static struct own_clock own_clocks[OWN_CLOCKS];
static int own_count;
static __thread struct own_clock *own;

static inline struct own_clock *own_clock(void)
{
  if (!own)
    own = &own_clocks[__atomic_fetch_add(&own_count, 1, __ATOMIC_RELAXED)];
  return own;
}

/* The thread begins to wait; no effect if it waits already. */
static inline void arrive(void)
{
  if (own_clock()->since == 0)
    own->since = wall_clock();
}

static inline void leave(void)
{
  struct own_clock *clock = own_clock();
  if (clock->since > 0)
    clock->waited += wall_clock() - clock->since;
  clock->since = 0;
}

/* How long all threads have waited until now, including those that still wait. */
static inline double waited_by_all(void)
{
  double now = wall_clock(), sum = 0;
  for (int i = 0; i < own_count; i++)
    sum += own_clocks[i].waited + (own_clocks[i].since > 0 ? now - own_clocks[i].since : 0);
  return sum;
}

#endif
