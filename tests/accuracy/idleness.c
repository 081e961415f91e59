/* Programs whose idleness is known.  Each prints the times of its own clocks as lines of `name seconds`. */
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"
#include "modes.h"

static double start;

static double seconds(double asked)
{
  const char *scale = getenv("SCALE");
  return asked * (scale ? atof(scale) : 1);
}

/* ---- sequential code before, between and after regions ---- */

NOINLINE double before_regions(void) { return burn(seconds(0.2)) + 1; }
NOINLINE double between_regions(void) { return burn(seconds(0.3)) + 2; }
NOINLINE double after_regions(void) { return burn(seconds(0.1)) + 3; }
NOINLINE double in_parallel(void) { return burn(seconds(0.1)) + 4; }

static void balanced_region(void)
{
#pragma omp parallel
  {
    leave();
    in_parallel();
    arrive();
  }
  leave();
}

static void serial(void)
{
  before_regions();
  balanced_region();
  between_regions();
  balanced_region();
  after_regions();
}

/* ---- one heavy thread in each region ---- */

NOINLINE double heavy(void) { return burn(seconds(0.2)) + 1; }
NOINLINE double light(void) { return burn(seconds(0.002)) + 2; }

static void imbalanced_region(int threads, int heavy_thread)
{
#pragma omp parallel num_threads(threads)
  {
    leave();
    if (omp_get_thread_num() == heavy_thread % omp_get_num_threads())
      heavy();
    else
      light();
    arrive();
  }
  leave();
}

static void imbalance(void)
{
  for (int i = 0; i < 4; i++)
    imbalanced_region(omp_get_max_threads(), i % 2 ? 0 : omp_get_max_threads() - 1);
}

/* ---- every kind of wait: one thread works alone, the others wait ---- */

static volatile int begun;

NOINLINE double lone_work(void)
{
  leave();
  double result = burn(seconds(0.06));
  arrive();
  return result + 1;
}

static int last(void)
{
  return omp_get_thread_num() == omp_get_num_threads() - 1;
}

NOINLINE void kind_barrier(void)
{
#pragma omp parallel
  {
    arrive();
    if (last())
      lone_work();
#pragma omp barrier
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_region_end(void)
{
#pragma omp parallel
  {
    arrive();
    if (last())
      lone_work();
  }
  leave();
}

NOINLINE void kind_for(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp for schedule(static)
    for (int i = 0; i < omp_get_num_threads(); i++)
      if (i == 0)
        lone_work();
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_dynamic(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp for schedule(dynamic)
    for (int i = 0; i < omp_get_num_threads(); i++)
      if (i == 0)
        lone_work();
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_sections(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp sections
    {
#pragma omp section
      ;
#pragma omp section
      lone_work();
    }
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_single(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp single
    lone_work();
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_copyprivate(void)
{
#pragma omp parallel
  {
    double copied = 0;
    arrive();
#pragma omp single copyprivate(copied)
    copied = lone_work();
    leave();
    if (copied == 0)
      abort();
    arrive();
  }
  leave();
}

NOINLINE void kind_reduction(void)
{
  double sum = 0;
#pragma omp parallel
  {
    arrive();
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < omp_get_num_threads(); i++)
      sum += i == 0 ? lone_work() : 1;
    leave();
    arrive();
  }
  leave();
  if (sum < 1)
    abort();
}

static void task_body(void)
{
  begun = 1;
  lone_work();
}

/* The creator leaves the task to another thread, unless all others sleep. */
static void until_begun(void)
{
  for (double end = wall_clock() + 0.1; !begun && wall_clock() < end;)
    ;
  begun = 0;
  arrive();
}

NOINLINE void kind_taskwait(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp single
    {
      leave();
#pragma omp task
      task_body();
      until_begun();
#pragma omp taskwait
    }
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_taskgroup(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp single
    {
      leave();
#pragma omp taskgroup
      {
#pragma omp task
        task_body();
        until_begun();
      }
    }
    leave();
    arrive();
  }
  leave();
}

/* The waiting thread runs a task first, and then continues to wait. */
static void short_task(void)
{
  leave();
  burn(seconds(0.0005));
  arrive();
}

NOINLINE void kind_helping_taskwait(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp single
    {
      leave();
#pragma omp task
      task_body();
      until_begun();
#pragma omp task
      short_task();
#pragma omp taskwait
    }
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_helping_taskgroup(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp single
    {
      leave();
#pragma omp taskgroup
      {
#pragma omp task
        task_body();
        until_begun();
#pragma omp task
        short_task();
      }
    }
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_taskloop(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp single
#pragma omp taskloop num_tasks(4)
    for (int i = 0; i < 4; i++) {
      if (i == 0)
        lone_work();
      else
        short_task();
    }
    leave();
    arrive();
  }
  leave();
}

NOINLINE void kind_taskwait_depend(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp single
    {
      int data = 0;
      (void)data;
      leave();
#pragma omp task depend(out : data)
      task_body();
      until_begun();
#if defined __clang__ && __clang_major__ < 15
#pragma omp taskwait
#else
#pragma omp taskwait depend(in : data)
#endif
    }
    leave();
    arrive();
  }
  leave();
}

/* Tasks run by threads that wait at a barrier: such threads are busy. */
NOINLINE double barrier_task(void)
{
  leave();
  double result = burn(seconds(0.03));
  arrive();
  return result + 5;
}

NOINLINE void kind_tasks_in_barrier(void)
{
#pragma omp parallel
  {
    arrive();
#pragma omp master
    for (int i = 0; i < 4; i++)
#pragma omp task
      barrier_task();
#pragma omp barrier
    leave();
    arrive();
  }
  leave();
}

static void kinds(void)
{
  kind_barrier();
  kind_region_end();
  kind_for();
  kind_dynamic();
  kind_sections();
  kind_single();
  kind_copyprivate();
  kind_reduction();
  kind_taskwait();
  kind_taskgroup();
  kind_taskwait_depend();
  kind_helping_taskwait();
  kind_helping_taskgroup();
  kind_taskloop();
  kind_tasks_in_barrier();
}

/* ---- teams ---- */

static int together;

/* Two threads work at the same time: each waits for the other before and after. */
NOINLINE double heavy_together(void)
{
  double result = 1;
  __atomic_fetch_add(&together, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&together, __ATOMIC_RELAXED) < 2)
    ;
  result += burn(seconds(0.2));
  __atomic_fetch_add(&together, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&together, __ATOMIC_RELAXED) < 4)
    ;
  return result;
}

/* Two teams of two threads inside a region of two: two of the four threads work. */
static void nested(void)
{
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2)
  {
    leave();
#pragma omp parallel num_threads(2)
    {
      leave();
      if (omp_get_thread_num() == 0)
        heavy_together();
      arrive();
    }
    leave();
    arrive();
  }
  leave();
}

NOINLINE void team_of_two(void) { imbalanced_region(2, 1); }
NOINLINE void team_of_four(void) { imbalanced_region(4, 3); }
NOINLINE void team_of_three(void) { imbalanced_region(3, 0); }

NOINLINE void set_team(int threads)
{
  omp_set_num_threads(threads);
#pragma omp parallel
  {
    leave();
    if (last())
      heavy();
    arrive();
  }
  leave();
}

static void teams(void)
{
  team_of_two();
  team_of_four();
  set_team(3);
  team_of_two();
  between_regions();
}

/* ---- threads and processes that enter OpenMP ---- */

static void *foreign(void *unused)
{
  imbalanced_region(2, 1);
  arrive(); /* ends at once */
  leave();
  return unused;
}

static void run_foreign(void)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, foreign, NULL))
    abort();
  pthread_join(thread, NULL);
}

static void foreigners(void)
{
  for (int i = 0; i < 5; i++)
    run_foreign();
}

static void in_child(void (*run)(void))
{
  pid_t child = fork();
  if (child == 0) {
    memset(own_clocks, 0, sizeof own_clocks);
    start = wall_clock();
    run();
    say("child_waited", waited_by_all());
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  if (status)
    abort();
}

static void forked(void)
{
  in_child(imbalance);
}

static void forked_after(void)
{
  imbalanced_region(2, 1);
  in_child(imbalance);
}

int main(int argc, char **argv)
{
  static const struct mode modes[] = {{"serial", serial}, {"imbalance", imbalance}, {"kinds", kinds},   {"nested", nested},
               {"teams", teams},   {"foreign", foreigners},  {"forked", forked}, {"forked-after", forked_after}};
  start = wall_clock();
  if (!RUN_MODE(modes, argc, argv))
    return 2;
  say("waited", waited_by_all());
  say("cpu", burn_clock());
  say("elapsed", wall_clock() - start);
  return 0;
}
