/* Programs whose figures are known: gomp_figures criticals, gomp_figures league, gomp_figures past.  With -DTOGETHER: a
 * library for criticals, which is preloaded. */
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

/* The word of the named critical section in past(), by the name that GCC gives it. */
extern void *past_section __asm__(".gomp_critical_user_past");

/* One thread enters sections of each kind by OpenMP, the other one by libgomp's functions, past any wrapper.  Prints
 * how often they were entered. */
static void past(void)
{
  enum { TIMES = 50000 };
  void *libgomp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void (*unnamed_start)(void) = (void (*)(void))dlsym(libgomp, "GOMP_critical_start");
  void (*unnamed_end)(void) = (void (*)(void))dlsym(libgomp, "GOMP_critical_end");
  void (*named_start)(void **) = (void (*)(void **))dlsym(libgomp, "GOMP_critical_name_start");
  void (*named_end)(void **) = (void (*)(void **))dlsym(libgomp, "GOMP_critical_name_end");
  void (*atomic_start)(void) = (void (*)(void))dlsym(libgomp, "GOMP_atomic_start");
  void (*atomic_end)(void) = (void (*)(void))dlsym(libgomp, "GOMP_atomic_end");
  volatile long unnamed = 0, named = 0;
  long double atomic = 0;
#pragma omp parallel num_threads(2)
  for (int i = 0; i < TIMES; i++) {
    if (omp_get_thread_num()) {
#pragma omp critical
      unnamed++;
#pragma omp critical(past)
      named++;
#pragma omp atomic
      atomic += 1;
    } else {
      unnamed_start();
      unnamed++;
      unnamed_end();
      named_start(&past_section);
      named++;
      named_end(&past_section);
      atomic_start();
      atomic += 1;
      atomic_end();
    }
  }
  printf("%ld %ld %ld\n", unnamed, named, (long)atomic);
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "league"))
    league();
  else if (argc > 1 && !strcmp(argv[1], "past"))
    past();
  else
    criticals();
  return 0;
}

#endif
