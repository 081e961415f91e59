/* Short critical constructs and locks with known work, more than are followed as a whole.  Usage: governed FORM COUNT
 * THREADS; the work of an iteration is 2 outside, 3 in the critical construct, 5 with the lock or in a user region. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite.h"

static omp_lock_t locks[2], inner;

static void leaves(long count)
{
  omp_lock_t *lock = &locks[omp_get_thread_num() % 2];
  for (long i = 0; i < count; i++) {
    hpcrun_lite_add_work(2);
#pragma omp critical
    hpcrun_lite_add_work(3);
    omp_set_lock(lock);
    hpcrun_lite_add_work(5);
    omp_unset_lock(lock);
  }
}

/* The work of one in a thousand iterations is 1000 times that of the others. */
static void uneven(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp critical
    hpcrun_lite_add_work(i % 1000 == 7 ? 3000 : 3);
  }
}

static void nested(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp critical
    {
      hpcrun_lite_add_work(3);
      omp_set_lock(&inner);
      hpcrun_lite_add_work(5);
      omp_unset_lock(&inner);
    }
    hpcrun_lite_add_work(2);
  }
}

/* A critical construct that contains a user region, after others that make measuring too expensive. */
static void region(long count)
{
  leaves(1000);
  for (long i = 0; i < count; i++) {
#pragma omp critical(around)
    {
      hpcrun_lite_add_work(3);
      hpcrun_lite_region_begin("inside");
      hpcrun_lite_add_work(5);
      hpcrun_lite_region_end();
    }
    hpcrun_lite_add_work(2);
  }
}

static void compute(double seconds)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  double end = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + seconds;
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < end);
}

/* Executions in which samples are taken come before many that are tiny. */
static void sampled(long count)
{
  volatile long sum = 0;
  for (long i = 0; i < count; i++) {
#pragma omp critical
    if (i < 200)
      compute(2e-3);
    else
      sum++;
  }
}

/* Work between short critical constructs, and a lock in one. */
static void apart(long count)
{
  for (long i = 0; i < count; i++) {
    compute(2e-6);
#pragma omp critical
    {
      omp_set_lock(&inner);
      omp_unset_lock(&inner);
    }
    compute(2e-6);
#pragma omp critical(leaf)
    (void)0;
  }
}

/* A critical construct that contains a lock in one execution only. */
static void later(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp critical
    if (i == count / 2) {
      omp_set_lock(&inner);
      omp_unset_lock(&inner);
    }
  }
}

static void await(const long *what, long value)
{
  while (__atomic_load_n(what, __ATOMIC_ACQUIRE) < value)
    usleep(10);
}

/* Two threads: while the first one is in the critical construct, the second one tries to enter it. */
static void contended(long count)
{
  static long inside, tries, entered;
  bool first = omp_get_thread_num() == 0;
  for (long i = 1; i <= count; i++) {
    if (!first) {
      await(&inside, i);
      __atomic_store_n(&tries, i, __ATOMIC_RELEASE);
    }
#pragma omp critical
    if (first) {
      __atomic_store_n(&inside, i, __ATOMIC_RELEASE);
      await(&tries, i);
      usleep(50);
    } else {
      __atomic_store_n(&entered, i, __ATOMIC_RELEASE);
    }
    if (first)
      await(&entered, i);
  }
}

static const struct {
  const char *name;
  void (*run)(long count);
} forms[] = {{"leaves", leaves},   {"uneven", uneven}, {"nested", nested}, {"region", region},
             {"sampled", sampled}, {"apart", apart},   {"later", later},   {"contended", contended}};

int main(int argc, char **argv)
{
  if (argc < 4)
    return 2;
  long count = atol(argv[2]);
  omp_init_lock(&locks[0]);
  omp_init_lock(&locks[1]);
  omp_init_lock(&inner);
#pragma omp parallel num_threads(atoi(argv[3]))
  for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
    if (!strcmp(argv[1], forms[i].name))
      forms[i].run(count);
  return 0;
}
