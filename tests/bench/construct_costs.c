/* Prints the CPU time of one OpenMP construct in ns, in the thread that executes it: construct_costs NAME COUNT
 * [ROUNDS]. It is the minimum over the rounds, because disturbances only add time.
 *
 * construct_costs marked [NAME FEW MANY]... executes FEW of a construct twice, then MANY, and calls mark() after each
 * of the three: for a tool that counts instructions between the calls. */
#include <linux/futex.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* What the other threads of a team do while the first one executes all constructs: sleep, because the processor's
 * caches are to be the first one's, and because valgrind lets one thread run at a time. A call of the C library would
 * call the tool, whose instructions would be counted. */
static void wait_for(uint32_t *done)
{
  while (!__atomic_load_n(done, __ATOMIC_ACQUIRE))
    syscall(SYS_futex, done, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void end_wait(uint32_t *done)
{
  __atomic_store_n(done, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, done, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void critical(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp critical
    __asm__ volatile("");
  }
}

static void lock(long count)
{
  omp_lock_t one;
  omp_init_lock(&one);
  for (long i = 0; i < count; i++) {
    omp_set_lock(&one);
    omp_unset_lock(&one);
  }
  omp_destroy_lock(&one);
}

static void region(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(1)
    __asm__ volatile("");
  }
}

static void region2(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(2)
    __asm__ volatile("");
  }
}

/* Regions with three loops of two iterations. */
static void loops2(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(2)
    for (int loop = 0; loop < 3; loop++) {
#pragma omp for schedule(static)
      for (int j = 0; j < 2; j++)
        __asm__ volatile("");
    }
  }
}

static void barrier2(long count)
{
#pragma omp parallel num_threads(2)
  for (long i = 0; i < count; i++) {
#pragma omp barrier
  }
}

/* Loops of two iterations with the barrier at their end. */
static void loop2(long count)
{
#pragma omp parallel num_threads(2)
  for (long i = 0; i < count; i++) {
#pragma omp for schedule(static)
    for (int j = 0; j < 2; j++)
      __asm__ volatile("");
  }
}

static void task(long count)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < count; i++) {
#pragma omp task
    __asm__ volatile("");
  }
}

/* The same, by one thread. */
static void task1(long count)
{
#pragma omp parallel num_threads(1)
  for (long i = 0; i < count; i++) {
#pragma omp task
    __asm__ volatile("");
  }
}

static void dynamic(long count)
{
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (long i = 0; i < count; i++)
    __asm__ volatile("");
}

/* The same, but the first thread executes all chunks. */
static void dynamic1(long count)
{
  uint32_t done = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num())
      wait_for(&done);
#pragma omp for schedule(dynamic, 1) nowait
    for (long i = 0; i < count; i++)
      __asm__ volatile("");
    end_wait(&done);
  }
}

/* A doacross loop, all iterations by the first thread. */
static void doacross1(long count)
{
  uint32_t done = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num())
      wait_for(&done);
#pragma omp for ordered(1) schedule(dynamic, 1) nowait
    for (long i = 0; i < count; i++) {
#pragma omp ordered depend(sink : i - 1)
      __asm__ volatile("");
#pragma omp ordered depend(source)
    }
    end_wait(&done);
  }
}

/* Tasks that each write one cell and read its neighbours, all by the first thread. */
static void depend1(long count)
{
  enum { CELLS = 64 };
  static char cells[2][CELLS + 2];
  uint32_t done = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num())
      wait_for(&done);
    for (long i = 0; i < count && !omp_get_thread_num(); i++) {
      char *from = cells[i / CELLS % 2] + i % CELLS, *to = cells[1 - i / CELLS % 2] + i % CELLS;
#pragma omp task depend(in : from[0], from[1], from[2]) depend(out : to[1])
      __asm__ volatile("" : : "r"(from), "r"(to));
    }
#pragma omp taskwait
    end_wait(&done);
  }
}

/* Tasks of which each names an address of its own. */
static void addresses1(long count)
{
  char *cells = malloc((size_t)count);
  uint32_t done = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num())
      wait_for(&done);
    for (long i = 0; i < count && !omp_get_thread_num(); i++) {
#pragma omp task depend(inout : cells[i])
      __asm__ volatile("" : : "r"(cells));
    }
#pragma omp taskwait
    end_wait(&done);
  }
  free(cells);
}

/* No constructs, but what measuring them is made of. */
static void rdtsc(long count)
{
  for (long i = 0; i < count; i++)
    __builtin_ia32_rdtsc();
}

static void clock_monotonic(long count)
{
  struct timespec now;
  for (long i = 0; i < count; i++)
    clock_gettime(CLOCK_MONOTONIC, &now);
}

static void thread_clock(long count)
{
  for (long i = 0; i < count; i++)
    now_ns();
}

/* Tasks that a team's first thread creates one after the other.  The other thread takes none: those that the runtime
 * does not keep for later, because there are so many, the first one runs at once. */
static void flat1(long count)
{
  enum { KEPT = 256 };
  uint32_t done = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num())
      wait_for(&done);
    for (long i = 0; i < KEPT + count && !omp_get_thread_num(); i++) {
#pragma omp task
      __asm__ volatile("");
    }
#pragma omp taskwait
    end_wait(&done);
  }
}

/* Creates 2 * leaves - 2 tasks, two for each taskwait. */
static void split(long leaves)
{
  if (leaves < 2)
    return;
#pragma omp task
  split(leaves / 2);
#pragma omp task
  split(leaves - leaves / 2);
#pragma omp taskwait
}

/* Tasks that create two tasks each and wait for them, or none, as those that compute Fibonacci numbers do; all by the
 * first thread. */
static void fib1(long count)
{
  uint32_t done = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num())
      wait_for(&done);
    if (!omp_get_thread_num())
      split(count / 2 + 1);
    end_wait(&done);
  }
}

typedef void construct(long count);

/* Returns the construct of that name; ends the program where there is none. */
static construct *named(const char *name)
{
  static const struct {
    const char *name;
    construct *run;
  } all[] = {{"critical", critical},
             {"lock", lock},
             {"region", region},
             {"region2", region2},
             {"loops2", loops2},
             {"barrier2", barrier2},
             {"loop2", loop2},
             {"task", task},
             {"task1", task1},
             {"dynamic", dynamic},
             {"dynamic1", dynamic1},
             {"doacross1", doacross1},
             {"depend1", depend1},
             {"addresses1", addresses1},
             {"flat1", flat1},
             {"fib1", fib1},
             {"rdtsc", rdtsc},
             {"clock_gettime", clock_monotonic},
             {"thread_clock", thread_clock}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(name, all[i].name))
      return all[i].run;
  fprintf(stderr, "construct_costs: no construct %s\n", name);
  exit(2);
}

__attribute__((noinline)) void mark(void)
{
  __asm__ volatile("");
}

static void few_and_many(construct *run, long few, long many)
{
  for (int part = 0; part < 3; part++) {
    run(part < 2 ? few : many);
    mark();
  }
}

static double least_time(construct *run, long count, int rounds)
{
  double least = 1e300;
  for (int round = 0; round < rounds; round++) {
    double begin = now_ns();
    run(count);
    double each = (now_ns() - begin) / (double)count;
    least = each < least ? each : least;
  }
  return least;
}

int main(int argc, char **argv)
{
  enum { ROUNDS = 7 };
  if (argc > 1 && !strcmp(argv[1], "marked")) {
    for (int i = 2; i + 2 < argc; i += 3)
      few_and_many(named(argv[i]), atol(argv[i + 1]), atol(argv[i + 2]));
  } else if (argc > 2) {
    printf("%.2f\n", least_time(named(argv[1]), atol(argv[2]), argc > 3 ? atoi(argv[3]) : ROUNDS));
  } else {
    fprintf(stderr, "usage: construct_costs NAME COUNT [ROUNDS] | marked [NAME FEW MANY]...\n");
    return 2;
  }
  return 0;
}
