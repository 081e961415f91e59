/* Short critical constructs and locks with known work, more than are followed as a whole.  Usage: governed FORM COUNT
 * THREADS; the work of an iteration is 2 outside, 3 in the critical construct, 5 with the lock. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
  if (argc < 4)
    return 2;
  long count = atol(argv[2]);
  omp_init_lock(&locks[0]);
  omp_init_lock(&locks[1]);
  omp_init_lock(&inner);
#pragma omp parallel num_threads(atoi(argv[3]))
  {
    if (!strcmp(argv[1], "leaves"))
      leaves(count);
    else if (!strcmp(argv[1], "uneven"))
      uneven(count);
    else
      nested(count);
  }
  return 0;
}
