/* Programs whose figures are known: gomp_figures criticals, gomp_figures league.  With -DTOGETHER: a library for
 * criticals, which is preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef TOGETHER

/* Two threads call libgomp together: each has found the critical section free. */
void GOMP_critical_name_start(void **name)
{
  static int arrivals;
  void (*start)(void **) = (void (*)(void **))dlsym(RTLD_NEXT, "GOMP_critical_name_start");
  const int all = (__atomic_fetch_add(&arrivals, 1, __ATOMIC_SEQ_CST) | 1) + 1;
  while (__atomic_load_n(&arrivals, __ATOMIC_SEQ_CST) < all)
    sched_yield();
  start(name);
}

#else

static double waited;

static void hold(double since)
{
  waited += omp_get_wtime() - since;
  usleep(30000);
}

/* Critical sections that two threads meet once each.  Prints how long they waited. */
static void criticals(void)
{
#pragma omp parallel num_threads(2)
  {
    double since = omp_get_wtime();
#pragma omp critical(first)
    hold(since);
#pragma omp barrier
    since = omp_get_wtime();
#pragma omp critical(second)
    hold(since);
  }
  printf("%f\n", waited);
}

/* Three teams of two threads, one after another. */
static void league(void)
{
  int count = 0;
#pragma omp teams num_teams(3) thread_limit(2)
#pragma omp parallel num_threads(2)
#pragma omp atomic
  count++;
  printf("%d\n", count);
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "league"))
    league();
  else
    criticals();
  return 0;
}

#endif
