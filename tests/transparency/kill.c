/* Programs that run until they are killed, or for a number of seconds: kill FORM [SECONDS].  All their work is done in
 * work(), below go(), below main(), which first prints the CPU time until then.  `fixed` has a number of threads
 * instead, 5 by default. */
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

static double end;
static int fixed_threads = 5;

NOINLINE static void work(double seconds)
{
  burn(seconds);
  __asm__ volatile("");
}

static int over(void)
{
  return wall_clock() > end;
}

/* Each step is a region. */
NOINLINE static void iterations(void)
{
  while (!over()) {
#pragma omp parallel
    work(0.003);
  }
}

NOINLINE static void endless(void)
{
#pragma omp parallel
  while (!over())
    work(0.002);
}

NOINLINE static void tasks(void)
{
#pragma omp parallel
#pragma omp single
  while (!over()) {
    for (int i = 0; i < 50; i++) {
#pragma omp task
      work(0.0005);
    }
#pragma omp taskwait
  }
}

NOINLINE static void single(void)
{
  while (!over())
    work(0.002);
}

/* The master sleeps inside the region, before any of its threads was sampled. */
NOINLINE static void asleep(void)
{
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0)
      while (!over())
        sleep(1000);
    while (!over())
      work(0.002);
  }
}

/* The same, but it waits for a lock that another thread never releases, in a call that the tool does not see. */
NOINLINE static void locked(void)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#pragma omp parallel
  {
    if (omp_get_thread_num() == 1)
      pthread_mutex_lock(&lock);
#pragma omp barrier
    if (omp_get_thread_num() == 0)
      pthread_mutex_lock(&lock);
    while (!over())
      work(0.002);
    if (omp_get_thread_num() <= 1)
      pthread_mutex_unlock(&lock);
  }
}

static void *short_lived(void *unused)
{
  work(0.05);
  return unused;
}

/* Threads that end before the program is killed. */
NOINLINE static void threads(void)
{
  pthread_t thread;
  while (!over())
    if (!pthread_create(&thread, NULL, short_lived, NULL))
      pthread_join(thread, NULL);
}

/* A fixed amount of work, in threads that end and in the main thread.  The OpenMP runtime starts, so that a graph is
 * recorded. */
NOINLINE static void fixed(void)
{
  pthread_t thread;
#pragma omp critical
  work(0);
  for (int i = 0; i < fixed_threads; i++)
    if (!pthread_create(&thread, NULL, short_lived, NULL))
      pthread_join(thread, NULL);
  work(0.05);
}

/* A failing exec must lose nothing. */
NOINLINE static void exec(void)
{
  work(0.5);
  execl("/nowhere/at/all", "all", NULL);
  while (!over())
    work(0.002);
}

/* A child works beside its parent and must not disturb it. */
NOINLINE static void forks(void)
{
  if (fork() >= 0)
    while (!over())
      work(0.002);
}

/* Ends before the first sample. */
NOINLINE static void at_once(void)
{
  abort();
}

NOINLINE static void criticals(void)
{
  static volatile int entered;
#pragma omp parallel num_threads(1)
  for (int i = 0; i < 3; i++) {
#pragma omp critical
    entered++;
  }
  abort();
}

__attribute__((constructor)) static void before_main(void)
{
  if (getenv("KILL_BEFORE_MAIN"))
    abort();
}

NOINLINE static void go(const char *form)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } forms[] = {{"iterations", iterations}, {"endless", endless}, {"tasks", tasks},
               {"single", single},         {"asleep", asleep},   {"locked", locked},
               {"threads", threads},       {"fixed", fixed},     {"exec", exec},
               {"forks", forks},           {"at once", at_once}, {"criticals", criticals}};
  for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
    if (!strcmp(form, forms[i].name))
      forms[i].run();
  __asm__ volatile("");
}

int main(int count, char **arguments)
{
  say("began", burn_clock());
  end = wall_clock() + (count > 2 ? atof(arguments[2]) : 1e9);
  if (count > 2)
    fixed_threads = atoi(arguments[2]);
  go(count > 1 ? arguments[1] : "single");
  return 0;
}
