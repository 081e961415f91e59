/* Programs that are hard for a profiler: workloads NAME [AMOUNT] runs one.  AMOUNT is how many times as long it runs,
 * by default once; for programs with "counted" in their names it is the number of events, or N of fib(N). */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

/* Works for about so many nanoseconds on a core of 2.6 GHz: a chain of multiplications.  The amount of work is the same
 * in every run. */
NOINLINE static void grind(long ns)
{
  unsigned long x = (unsigned long)ns | 1;
  for (long i = 0; i < ns; i++)
    __asm__ volatile("imul %0, %0" : "+r"(x));
  sink = x;
}

static void empty_regions(long scale)
{
  for (long i = 0; i < 100000 * scale; i++) {
#pragma omp parallel num_threads(2)
    __asm__ volatile("");
  }
}

static void tasks_of(long count, long ns)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < count; i++) {
#pragma omp task
    grind(ns);
  }
}

static void small_tasks(long scale)
{
  tasks_of(2000000 * scale, 500);
}

static void counted_tasks(long count)
{
  tasks_of(count, 500);
}

/* The number of calls is 2 F(n+1) - 1, where F(n) is the n-th Fibonacci number; each but the first is a task. */
static long fib(long n)
{
  long a, b;
  if (n < 2)
    return n;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static void counted_fib(long n)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  sink = (unsigned long)fib(n);
}

static void empty_tasks(long scale)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < 2000000 * scale; i++) {
#pragma omp task
    __asm__ volatile("");
  }
}

static void tasks_10us(long scale)
{
  tasks_of(100000 * scale, 10000);
}

static void criticals_of(int threads, long scale)
{
#pragma omp parallel num_threads(threads)
  for (long i = 0; i < 2000000 * scale; i++) {
#pragma omp critical
    __asm__ volatile("");
  }
}

static void empty_criticals(long scale)
{
  criticals_of(2, scale);
}

static void lone_criticals(long scale)
{
  criticals_of(1, 5 * scale);
}

/* The same section in all threads, so that they wait for each other: the work inside and outside it takes some ns. */
static void counted_contended(long count)
{
  unsigned long shared = 0;
#pragma omp parallel num_threads(2)
  for (long i = 0; i < count / 2; i++) {
#pragma omp critical(contended)
    shared += (unsigned long)i;
  }
  sink = shared;
}

/* Each of two threads has a section of its own, so that none waits. */
static void counted_criticals(long count)
{
#pragma omp parallel num_threads(2)
  for (long i = 0; i < count / 2; i++) {
    if (omp_get_thread_num()) {
#pragma omp critical(second)
      __asm__ volatile("");
    } else {
#pragma omp critical(first)
      __asm__ volatile("");
    }
  }
}

/* Loops of 10 tasks of 0.5 us each: 2 million in all. */
static void taskloops(long scale)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < 200000 * scale; i++) {
#pragma omp taskloop num_tasks(10)
    for (int j = 0; j < 10; j++)
      grind(500);
  }
}

static void dynamic_loop(long count, long ns)
{
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (long i = 0; i < count; i++)
    grind(ns);
}

static void empty_chunks(long scale)
{
  dynamic_loop(3000000 * scale, 1);
}

static void chunks_10us(long scale)
{
  dynamic_loop(100000 * scale, 10000);
}

/* Each cell waits for the ones above and to the left of it. */
static void wavefront_of(long rows, long columns, long ns)
{
#pragma omp parallel for ordered(2) schedule(static, 1) num_threads(2)
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      grind(ns);
#pragma omp ordered depend(source)
    }
}

static void wavefront(long scale)
{
  for (long k = 0; k < 10 * scale; k++)
    wavefront_of(400, 400, 0);
}

static void wavefront_million(long scale)
{
  for (long k = 0; k < scale; k++)
    wavefront_of(1000, 1000, 100);
}

/* Cells that work for 1 us each, in rows of 400: three squares, or parts of them. */
static void counted_doacross(long count)
{
  enum { SIDE = 400 };
  for (long rows = count / SIDE; rows > 0; rows -= SIDE)
    wavefront_of(rows < SIDE ? rows : SIDE, SIDE, 1000);
}

static void addresses(long scale)
{
  char *cells = malloc((size_t)(1000000 * scale));
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < 1000000 * scale; i++) {
#pragma omp task depend(inout : cells[i])
    __asm__ volatile("");
  }
  free(cells);
}

/* Tasks of 10 us on the blocks of two grids: each reads five blocks of one and writes one of the other. */
static void stencil(long scale)
{
  enum { SIDE = 32 };
  static char blocks[2][SIDE + 2][SIDE + 2];
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long k = 0; k < 50 * scale; k++)
    for (int i = 1; i <= SIDE; i++)
      for (int j = 1; j <= SIDE; j++) {
        char(*from)[SIDE + 2] = blocks[k % 2], (*to)[SIDE + 2] = blocks[(k + 1) % 2];
#pragma omp task depend(in                                                                                             \
                        : from[i][j], from[i - 1][j], from[i + 1][j], from[i][j - 1], from[i][j + 1])                  \
    depend(out                                                                                                         \
           : to[i][j])
        grind(10000);
      }
}

static void regions_of(long count, long ns)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(2)
    grind(ns);
  }
}

static void counted_regions(long count)
{
  regions_of(count, 9000);
}

/* Three loops in each region, of 12 us in each thread: about 26,000 regions a second. */
static void counted_loops(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(2)
    for (int loop = 0; loop < 3; loop++) {
#pragma omp for
      for (int part = 0; part < 32; part++)
        grind(750);
    }
  }
}

static void regions_2us(long scale)
{
  regions_of(100000 * scale, 2000);
}

static void regions_10us(long scale)
{
  regions_of(50000 * scale, 10000);
}

/* Regions of one thread inside a region of two. */
static void nested(long scale)
{
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  for (long i = 0; i < 100000 * scale; i++) {
#pragma omp parallel num_threads(1)
    grind(2000);
  }
}

/* The addition after the call prevents a tail call. */
NOINLINE static int descend(int frames, long ns)
{
  if (frames > 1)
    return descend(frames - 1, ns) + 1;
  grind(ns);
  return (int)sink & 1;
}

static void deep(int frames, long scale)
{
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 20 * scale; i++)
    descend(frames, 50000000);
}

static void deep_30(long scale)
{
  deep(30, scale);
}

static void deep_200(long scale)
{
  deep(200, scale);
}

static void deep_1000(long scale)
{
  deep(1000, scale);
}

NOINLINE static long left(int levels);
NOINLINE static long right(int levels);

static long both(int levels)
{
  if (levels)
    return left(levels - 1) + right(levels - 1) * 2;
  grind(20000);
  return 1;
}

NOINLINE static long left(int levels)
{
  return both(levels) + 1;
}

NOINLINE static long right(int levels)
{
  return both(levels) + 2;
}

/* 1,024 leaves of 20 us each. */
static void contexts_1000(long scale)
{
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 50 * scale; i++)
    sink = (unsigned long)both(10);
}

static void threads(int count, long scale)
{
  for (long i = 0; i < 4 * scale; i++) {
#pragma omp parallel num_threads(count)
    grind(1000000000 / count);
  }
}

static void threads_64(long scale)
{
  threads(64, scale);
}

static void threads_1000(long scale)
{
  threads(1000, scale);
}

/* A time step of a small simulation: about 20,000 regions in a second. */
static void mini_app(long scale)
{
  static double field[2048], next[2048];
  for (long step = 0; step < 5000 * scale; step++) {
    grind(20000);
#pragma omp parallel for num_threads(2)
    for (int i = 1; i < 2047; i++)
      next[i] = 0.25 * field[i - 1] + 0.5 * field[i] + 0.25 * field[i + 1];
    double sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 2048; i++)
      sum += next[i] * next[i];
#pragma omp parallel for num_threads(2) schedule(static, 64)
    for (int i = 0; i < 2048; i++)
      field[i] = next[i] + (i == 1024) - sum * 1e-9;
#pragma omp parallel num_threads(2)
    grind(150000);
  }
}

static void locks(long scale)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  for (long i = 0; i < 300000 * scale; i++) {
    omp_set_lock(&lock);
    grind(500);
    omp_unset_lock(&lock);
    grind(2000);
  }
  omp_destroy_lock(&lock);
}

/* Regions of two threads inside a region of two: libgomp creates and ends a thread for each. */
static void nested_threads(long scale)
{
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  for (long i = 0; i < 100 * scale; i++) {
#pragma omp parallel num_threads(2)
    grind(10000);
  }
}

/* A lock that nobody else wants. */
static void lone_locks(long scale)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (long i = 0; i < 10000000 * scale; i++) {
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

/* A small run of two threads, for the minimal size of a measurement. */
static void small(long scale)
{
#pragma omp parallel num_threads(2)
  grind(500000000 * scale);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)(long amount);
    long usual; /* amount */
  } all[] = {{"empty_regions", empty_regions, 1},
             {"small_tasks", small_tasks, 1},
             {"empty_tasks", empty_tasks, 1},
             {"tasks_10us", tasks_10us, 1},
             {"empty_criticals", empty_criticals, 1},
             {"lone_criticals", lone_criticals, 1},
             {"taskloops", taskloops, 1},
             {"regions_2us", regions_2us, 1},
             {"nested", nested, 1},
             {"nested_threads", nested_threads, 1},
             {"lone_locks", lone_locks, 1},
             {"empty_chunks", empty_chunks, 1},
             {"chunks_10us", chunks_10us, 1},
             {"regions_10us", regions_10us, 1},
             {"wavefront", wavefront, 1},
             {"wavefront_million", wavefront_million, 1},
             {"addresses", addresses, 1},
             {"stencil", stencil, 1},
             {"deep_30", deep_30, 1},
             {"deep_200", deep_200, 1},
             {"deep_1000", deep_1000, 1},
             {"contexts_1000", contexts_1000, 1},
             {"threads_64", threads_64, 1},
             {"threads_1000", threads_1000, 1},
             {"mini_app", mini_app, 1},
             {"locks", locks, 1},
             {"small", small, 1},
             {"counted_tasks", counted_tasks, 2000000},
             {"counted_fib", counted_fib, 30},
             {"counted_contended", counted_contended, 2000000},
             {"counted_criticals", counted_criticals, 4000000},
             {"counted_regions", counted_regions, 100000},
             {"counted_loops", counted_loops, 26000},
             {"counted_doacross", counted_doacross, 480000}};
  for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++) {
    if (!strcmp(argv[1], all[i].name)) {
      all[i].run(argc > 2 ? atol(argv[2]) : all[i].usual);
      return 0;
    }
  }
  fprintf(stderr, "usage: workloads NAME [AMOUNT]\n");
  return 2;
}
