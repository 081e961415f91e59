/* Short regions with known work, more than are followed.  Usage: governed_regions FORM COUNT. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "hpcrun-lite.h"

enum { THREADS = 2 };

/* Of each thread 5; of iterations 3; in the single construct 7, by the master 2; outside the region 1. */
static void constructs(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(THREADS)
    {
      hpcrun_lite_add_work(5);
#pragma omp for schedule(dynamic, 1)
      for (int j = 0; j < 4; j++)
        hpcrun_lite_add_work(3);
#pragma omp single
      hpcrun_lite_add_work(7);
#pragma omp barrier
#pragma omp master
      hpcrun_lite_add_work(2);
    }
    hpcrun_lite_add_work(1);
  }
}

/* Two kinds of regions, of other lengths: work of 4 + 2 and of 30 + 10. */
static void two(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(THREADS)
    hpcrun_lite_add_work(omp_get_thread_num() ? 2 : 4);
    for (int j = 0; j < 3; j++) {
#pragma omp parallel num_threads(THREADS)
      hpcrun_lite_add_work(omp_get_thread_num() ? 30 : 10);
    }
  }
}

/* One in ten is 50 times as long. */
static void uneven(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(THREADS)
    hpcrun_lite_add_work(i % 10 == 7 ? 500 : 10);
  }
}

/* Each thread 1, and two tasks of 5. */
static void tasks(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(THREADS)
    {
      hpcrun_lite_add_work(1);
#pragma omp single
      for (int j = 0; j < 2; j++) {
#pragma omp task
        hpcrun_lite_add_work(5);
      }
    }
  }
}

/* The same in one region only. */
static void rare(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(THREADS)
    {
      hpcrun_lite_add_work(1);
#pragma omp single
      for (int j = 0; i == count / 2 && j < 2; j++) {
#pragma omp task
        hpcrun_lite_add_work(5);
      }
    }
  }
}

/* Each thread 1, and a region of 4 in each. */
static void nested(long count)
{
  omp_set_max_active_levels(2);
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(THREADS)
    {
      hpcrun_lite_add_work(1);
#pragma omp parallel num_threads(1)
      hpcrun_lite_add_work(4);
    }
  }
}

/* Each thread 1, and 3 in a critical construct, 5 in a user region. */
static void others(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp parallel num_threads(THREADS)
    {
      hpcrun_lite_add_work(1);
#pragma omp critical
      hpcrun_lite_add_work(3);
    }
#pragma omp parallel num_threads(THREADS)
    {
      hpcrun_lite_add_work(1);
      hpcrun_lite_region_begin("inside");
      hpcrun_lite_add_work(5);
      hpcrun_lite_region_end();
    }
  }
}

/* Cells of 3 that follow the ones above and to the left of them: the longest chain has ROWS + COLUMNS - 1. */
static void cells(long count)
{
  enum { ROWS = 4, COLUMNS = 6 };
  for (long k = 0; k < count; k++) {
#pragma omp parallel for ordered(2) schedule(dynamic, 1) num_threads(THREADS)
    for (long i = 0; i < ROWS; i++)
      for (long j = 0; j < COLUMNS; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
        hpcrun_lite_add_work(3);
#pragma omp ordered depend(source)
      }
  }
}

/* Ends the process in a region, after so many others. */
static void ends(long count)
{
  for (long i = 0; i <= count; i++) {
#pragma omp parallel num_threads(THREADS)
    {
      hpcrun_lite_add_work(10);
#pragma omp barrier
#pragma omp master
      if (i == count)
        exit(0);
    }
  }
}

static const struct {
  const char *name;
  void (*run)(long count);
} forms[] = {{"constructs", constructs}, {"two", two},       {"uneven", uneven}, {"tasks", tasks}, {"rare", rare},
             {"nested", nested},         {"others", others}, {"cells", cells},   {"ends", ends}};

int main(int argc, char **argv)
{
  if (argc < 3)
    return 2;
  for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
    if (!strcmp(argv[1], forms[i].name))
      forms[i].run(atol(argv[2]));
  return 0;
}
