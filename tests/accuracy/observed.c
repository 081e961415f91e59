/* Constructs of a given length on all threads, whose waiting the program measures itself, by the time-stamp counter.
 *
 * Usage: observed KIND MICROSECONDS INSTANCES.  Prints lines that clocks() in measured.py reads. */
#include "burn.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 16, SLOTS = 4 };
static struct {
  _Alignas(128) volatile uint64_t arrived[SLOTS]; /* when the thread had nothing more to do in an instance */
  uint64_t waited;
} threads[THREADS_MAX];
static long rounds; /* of the loop in work(), for the length of an instance */
static omp_lock_t lock;

static uint64_t ticks(void)
{
  return __builtin_ia32_rdtsc();
}

NOINLINE void work(long count)
{
  for (volatile long i = 0; i < count; i++)
    ;
}

/* Finds how many rounds take so many microseconds where nothing interrupts them. */
static void calibrate(double microseconds)
{
  double least = 1;
  for (int i = 0; i < 40; i++) {
    double begun = wall_clock();
    work(20000);
    double took = wall_clock() - begun;
    least = took < least ? took : least;
  }
  rounds = (long)(microseconds * 1e-6 / least * 20000) + 1;
}

static void arrived(int instance)
{
  threads[omp_get_thread_num()].arrived[instance % SLOTS] = ticks();
}

static uint64_t waited(int instance, int thread)
{
  uint64_t last = 0;
  for (int i = 0; i < omp_get_max_threads(); i++)
    if (threads[i].arrived[instance % SLOTS] > last)
      last = threads[i].arrived[instance % SLOTS];
  return last - threads[thread].arrived[instance % SLOTS];
}

/* The calling thread has left the barrier after an instance. */
static void left(int instance)
{
  int thread = omp_get_thread_num();
  threads[thread].waited += waited(instance, thread);
}

static void regions(int instances)
{
  for (int i = 0; i < instances; i++) {
#pragma omp parallel
    {
      work(rounds);
      arrived(i);
    }
    for (int thread = 0; thread < omp_get_max_threads(); thread++)
      threads[thread].waited += waited(i, thread);
  }
}

static void barriers(int instances)
{
#pragma omp parallel
  for (int i = 0; i < instances; i++) {
    work(rounds);
    arrived(i);
#pragma omp barrier
    left(i);
  }
}

/* Every instance has chunks of a third of its length. */
static void loops(int instances)
{
#pragma omp parallel
  for (int i = 0; i < instances; i++) {
#pragma omp for schedule(dynamic) nowait
    for (int chunk = 0; chunk < 3 * omp_get_num_threads() - 1; chunk++)
      work(rounds / 3);
    arrived(i);
#pragma omp barrier
    left(i);
  }
}

/* One task less than threads could run at once. */
static void tasks(int instances)
{
#pragma omp parallel
  for (int i = 0; i < instances; i++) {
    arrived(i);
#pragma omp barrier
#pragma omp single nowait
    for (int task = 0; task < 3 * omp_get_num_threads() - 1; task++)
#pragma omp task firstprivate(i)
    {
      work(rounds / 3);
      arrived(i);
    }
#pragma omp barrier
    left(i);
  }
}

/* Every thread holds the lock half of the time. */
static void locks(int instances)
{
#pragma omp parallel
  for (int i = 0; i < instances; i++) {
    work(rounds / 2);
    uint64_t begun = ticks();
    omp_set_lock(&lock);
    threads[omp_get_thread_num()].waited += ticks() - begun;
    work(rounds / 2);
    omp_unset_lock(&lock);
  }
}

/* Threads sleep for different times, so that cores do not matter. */
static void sleepers(int instances)
{
  for (int i = 0; i < instances; i++) {
#pragma omp parallel
    {
      usleep(1000 * (1 + omp_get_thread_num()));
      work(rounds);
      arrived(i);
    }
    for (int thread = 0; thread < omp_get_max_threads(); thread++)
      threads[thread].waited += waited(i, thread);
  }
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)(int instances);
  } kinds[] = {{"regions", regions}, {"barriers", barriers}, {"loops", loops},
               {"tasks", tasks},     {"locks", locks},       {"sleepers", sleepers}};
  if (argc != 4 || omp_get_max_threads() > THREADS_MAX)
    return 2;
  calibrate(atof(argv[2]));
  omp_init_lock(&lock);
#pragma omp parallel
  arrived(0); /* the threads exist from here on */
  uint64_t begun_ticks = ticks(), all = 0;
  double begun = wall_clock();
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(kinds[i].name, argv[1]))
      kinds[i].run(atoi(argv[3]));
  double elapsed = wall_clock() - begun;
  for (int i = 0; i < THREADS_MAX; i++)
    all += threads[i].waited;
  say("waited", (double)all * elapsed / (double)(ticks() - begun_ticks));
  say("elapsed", elapsed);
  return 0;
}
