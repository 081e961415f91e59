/* Programs that each have exactly one ill: ills NAME ill|healthy|repaired [sleep].  Ill and repaired do the same work; a
 * healthy twin looks alike, but loses nothing.  They print their elapsed time, and the sum over threads of that in
 * burn(), in seconds.  With `sleep` they sleep instead of computing: other programs on the machine then hardly change
 * what they lose. */
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum how { ILL, HEALTHY, REPAIRED };

#define NOINLINE __attribute__((noinline))

static int sleeps;
static atomic_llong burnt_ns;

static long long now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Takes the same number of cycles for each unit, about a microsecond. */
NOINLINE static void burn(long units)
{
  long long begin_ns = now_ns();
  if (sleeps)
    usleep((useconds_t)units);
  for (volatile long i = 0; !sleeps && i < units * 400; i++)
    continue;
  atomic_fetch_add_explicit(&burnt_ns, now_ns() - begin_ns, memory_order_relaxed);
}

/* ---- serial: a phase that one thread runs ---- */

NOINLINE static void prepare(long units)
{
  burn(units);
}

static void serial(enum how how)
{
  for (int step = 0; step < 10; step++) {
    if (how == ILL) {
      prepare(50000);
    } else {
#pragma omp parallel for
      for (int i = 0; i < 100; i++)
        prepare(500);
    }
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
      burn(500);
  }
}

/* ---- spread: the same, in several functions ---- */

NOINLINE static void first_part(void)
{
  burn(25000);
}

NOINLINE static void second_part(void)
{
  burn(15000);
}

NOINLINE static void third_part(void)
{
  burn(9000);
}

NOINLINE static void last_part(void)
{
  burn(1000);
}

NOINLINE static void spread(enum how how)
{
  (void)how;
  for (int step = 0; step < 10; step++) {
    first_part();
    second_part();
    third_part();
    last_part();
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
      burn(100);
  }
}

/* ---- library: the same, in functions of a library ---- */

NOINLINE static void library(enum how how)
{
  static volatile double sum;
  (void)how;
  for (int step = 0; step < 10; step++) {
    for (int i = 0; i < 2000000; i++)
      sum = sum + sin((double)i * 1e5);
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
      burn(100);
  }
}

/* ---- imbalance: later iterations take longer, in equal blocks ---- */

static void imbalance(enum how how)
{
  for (int step = 0; step < 10; step++) {
    if (how == REPAIRED) {
#pragma omp parallel for schedule(dynamic, 4)
      for (int i = 0; i < 400; i++)
        burn(i);
    } else {
#pragma omp parallel for schedule(static)
      for (int i = 0; i < 400; i++)
        burn(how == ILL ? i : 200);
    }
  }
}

/* ---- chunk-overhead: iterations so short that handing them out takes longer ---- */

static double values[1 << 16];

static void chunk_overhead(enum how how)
{
  enum { LENGTH = 1 << 16 };
  for (int step = 0; step < 200; step++) {
    if (how == ILL) {
#pragma omp parallel for schedule(dynamic, 1)
      for (int i = 0; i < LENGTH; i++)
        values[i] = values[i] * 0.5 + i;
    } else {
#pragma omp parallel for schedule(dynamic, 4096)
      for (int i = 0; i < LENGTH; i++)
        values[i] = values[i] * 0.5 + i;
    }
  }
}

/* ---- task-overhead: tasks that take less time than their creation ---- */

static long fib(int n, int least)
{
  long a, b;
  if (n < 2)
    return n;
  if (n < least)
    return fib(n - 1, least) + fib(n - 2, least);
#pragma omp task shared(a)
  a = fib(n - 1, least);
#pragma omp task shared(b)
  b = fib(n - 2, least);
#pragma omp taskwait
  return a + b;
}

static void task_overhead(enum how how)
{
  long sum = 0;
#pragma omp parallel
#pragma omp single
  sum = fib(29, how == ILL ? 2 : 20);
  if (!sum)
    abort();
}

/* ---- few-chunks: three pieces for two threads ---- */

static void few_chunks(enum how how)
{
  int pieces = how == ILL ? omp_get_max_threads() + 1 : 12 * omp_get_max_threads(), units = 480000 / pieces;
  for (int step = 0; step < 6; step++) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < pieces; i++)
      burn(units);
  }
}

/* ---- region-overhead: a region for each short step ---- */

static void region_overhead(enum how how)
{
  enum { STEPS = 60000, LENGTH = 200 };
  if (how == ILL) {
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for schedule(static)
      for (int i = 0; i < LENGTH; i++)
        values[i] = values[i] * 0.5 + i;
    }
  } else {
#pragma omp parallel
    for (int step = 0; step < STEPS; step++) {
#pragma omp for schedule(static) nowait
      for (int i = 0; i < LENGTH; i++)
        values[i] = values[i] * 0.5 + i;
    }
  }
}

/* ---- contention: most of each iteration is in a critical section ---- */

static void contention(enum how how)
{
  long sum = 0, count = sleeps ? 600 : 60000, units = sleeps ? 100 : 1;
#pragma omp parallel for reduction(+ : sum) schedule(static)
  for (int i = 0; i < count; i++) {
    burn(10 * units);
    if (how == ILL) {
#pragma omp critical(sums)
      burn(30 * units);
    } else {
      burn(30 * units);
    }
    sum += i;
  }
}

/* ---- dependences: a chain of tasks ---- */

char links[1000];

static void dependences(enum how how)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 1000; i++) {
    int link = how == ILL ? 0 : i;
#pragma omp task depend(inout : links[link])
    burn(1500);
  }
}

/* ---- creation: one thread creates the tasks, and takes longer than others to run them ---- */

static void creation(enum how how)
{
  int count = sleeps ? 600 : 12000, units = sleeps ? 20 : 1, grain = sleeps ? 10 : 40;
  if (how == ILL) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < count; i++) {
      burn(100 * units); /* finds out what to do */
#pragma omp task
      burn(20 * units);
    }
  } else {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(grain)
    for (int i = 0; i < count; i++)
      burn(120 * units);
  }
}

/* ---- oversubscription: more threads than cores ---- */

static void oversubscription(enum how how)
{
  int threads = how == ILL ? 8 * omp_get_num_procs() : omp_get_num_procs();
#pragma omp parallel num_threads(threads)
  for (int step = 0; step < 300; step++) {
#pragma omp for
    for (int i = 0; i < 320; i++)
      burn(10);
  }
}

/* ---- nesting: the inner region of a long section runs with one thread ---- */

static void nesting(enum how how)
{
  omp_set_max_active_levels(how == REPAIRED ? 2 : 1);
  for (int step = 0; step < 4; step++) {
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
      {
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < (how == HEALTHY ? 50 : 90); i++)
          burn(1000);
      }
#pragma omp section
      burn(how == HEALTHY ? 50000 : 10000);
    }
  }
}

/* ---- blocking: sleep where work could be done ---- */

static void blocking(enum how how)
{
  for (int step = 0; step < 20; step++) {
    if (how == ILL)
      usleep(20000);
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
      burn(500);
  }
}

/* ---- barrier: imbalance that cancels over phases ---- */

static void barrier(enum how how)
{
#pragma omp parallel
  for (int step = 0; step < 20; step++) {
    int long_one = (omp_get_thread_num() + step) % 2;
    burn(long_one ? 40000 : 10000);
    if (how == ILL) {
#pragma omp barrier
    }
  }
}

/* ---- locality: tasks take longer on one thread, as if their data were near the other one ---- */

static void locality(enum how how)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 400; i++) {
#pragma omp task
    burn(how == ILL && omp_get_thread_num() == 1 ? 2000 : 1000);
  }
}

/* ---- none ---- */

static void none(enum how how)
{
  (void)how;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 10000; i++)
    burn(100);
}

static const struct {
  const char *name;
  void (*run)(enum how how);
} ills[] = {{"serial", serial},
            {"spread", spread},
            {"library", library},
            {"imbalance", imbalance},
            {"chunk-overhead", chunk_overhead},
            {"task-overhead", task_overhead},
            {"few-chunks", few_chunks},
            {"region-overhead", region_overhead},
            {"contention", contention},
            {"dependences", dependences},
            {"creation", creation},
            {"oversubscription", oversubscription},
            {"nesting", nesting},
            {"blocking", blocking},
            {"barrier", barrier},
            {"locality", locality},
            {"none", none}};

int main(int argc, char **argv)
{
  static const char *const hows[] = {"ill", "healthy", "repaired"};
  enum how how = ILL;
  if (argc < 3)
    return 2;
  sleeps = argc > 3;
  while (how < REPAIRED && strcmp(hows[how], argv[2]))
    how++;
  long long begin_ns = now_ns();
  for (unsigned i = 0; i < sizeof ills / sizeof *ills; i++)
    if (!strcmp(ills[i].name, argv[1]))
      ills[i].run(how);
  printf("%.6f %.6f\n", 1e-9 * (double)(now_ns() - begin_ns), 1e-9 * (double)burnt_ns);
  return 0;
}
