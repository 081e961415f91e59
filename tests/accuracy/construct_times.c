/* Programs whose times in constructs are known: the examples of ompP's paper with sleeps of UNIT instead of seconds,
 * and others.  The first argument names one; the second is the number of threads. */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNIT_US = 40000 };

static void unit(void)
{
  usleep(UNIT_US);
}

/* Figure 1. */
static void critical(void)
{
#pragma omp parallel
  {
#pragma omp critical
    unit();
  }
}

/* Figure 4. */
static void tasks(void)
{
#pragma omp parallel
  {
#pragma omp single nowait
    for (int i = 0; i < 5; i++) {
#pragma omp task
      unit();
    }
  }
}

/* The same with an if() clause that is false. */
static void undeferred(void)
{
#pragma omp parallel
  {
#pragma omp single nowait
    for (int i = 0; i < 5; i++) {
#pragma omp task if (0)
      unit();
    }
  }
}

/* Two tasks, which are suspended and continued wherever a thread is free. */
static void untied(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 2; i++) {
#pragma omp task untied
    {
      unit();
#pragma omp taskyield
      unit();
#pragma omp taskyield
      unit();
    }
  }
}

/* Tasks that are suspended inside a taskgroup, and continued wherever a thread is free. */
static void untied_in_groups(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 200; i++) {
#pragma omp task untied
    {
#pragma omp taskgroup
      {
#pragma omp task
        usleep(100);
#pragma omp taskyield
        usleep(100);
#pragma omp taskyield
        usleep(100);
      }
    }
  }
}

/* Thread i has i units of the loop's work, 0 of the other constructs'. */
static void loops(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < omp_get_num_threads(); i++)
      usleep((unsigned)(i * UNIT_US));
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < omp_get_num_threads(); i++)
      unit();
#pragma omp barrier
#pragma omp single
    unit();
#pragma omp sections
    {
#pragma omp section
      unit();
    }
    usleep(1); /* otherwise GCC leaves out the barrier of sections */
  }
}

/* A task that waits for a task that waits for a task. */
static void nested_waits(void)
{
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      {
#pragma omp task
        unit();
#pragma omp taskwait
        unit();
      }
#pragma omp taskwait
      unit();
    }
#pragma omp taskwait
  }
}

/* Locks that are held hand over hand. */
static void locks(void)
{
  static omp_lock_t first, second;
  omp_init_lock(&first);
  omp_init_lock(&second);
#pragma omp parallel
  {
#pragma omp barrier
    omp_set_lock(&first);
    unit();
    omp_set_lock(&second);
    omp_unset_lock(&first);
    unit();
    omp_unset_lock(&second);
  }
}

/* Teams that grow and shrink. */
static void teams_of_sizes(void)
{
  int most = omp_get_max_threads();
  for (int round = 0; round < 3; round++)
    for (int threads = 1; threads <= most; threads++) {
#pragma omp parallel num_threads(threads)
      usleep(UNIT_US / 8);
    }
}

/* A taskgroup of the program's own around a taskloop without one. */
static void group_around_taskloop(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 3; i++) {
#pragma omp taskgroup
    {
#pragma omp taskloop nogroup num_tasks(2)
      for (int k = 0; k < 2; k++)
        usleep(1000);
      unit();
    }
  }
}

/* The barrier is not that of the single construct. */
static void single_in_a_taskgroup(void)
{
#pragma omp parallel
  {
#pragma omp taskgroup
    {
#pragma omp single nowait
      {
#pragma omp task
        unit();
      }
    }
#pragma omp barrier
    usleep(1000);
  }
}

static void single_before_a_taskwait(void)
{
#pragma omp parallel
  {
#pragma omp single nowait
    unit();
#pragma omp taskwait
    usleep(1000);
#pragma omp barrier
    usleep(1000);
  }
}

/* Prints how long the tasks took by their own clock. */
static void first_tasks(void)
{
  double inside = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < omp_get_num_threads(); i++) {
#pragma omp task shared(inside)
    {
      double begin = omp_get_wtime();
      unit();
      double took = omp_get_wtime() - begin;
#pragma omp atomic
      inside += took;
    }
  }
  printf("%.6f\n", inside);
}

static void held_at_the_end(void)
{
  static omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  unit();
  exit(0);
}

/* The worker waits outside any region when the process is killed. */
static void killed_in_serial_code(void)
{
  for (int i = 0; i < 3; i++) {
#pragma omp parallel
    usleep(UNIT_US / 4);
  }
  for (int i = 0; i < 10; i++)
    unit();
  raise(SIGKILL);
}

/* The last thread of the first team learns of its end after 41 others. */
static void smaller_teams(void)
{
  for (int round = 0; round < 2; round++) {
    for (int threads = 3; threads > 0; threads -= 2) {
#pragma omp parallel num_threads(threads)
      usleep(UNIT_US / 8);
    }
    for (int i = 0; i < 40; i++) {
#pragma omp parallel num_threads(2)
      usleep(10);
    }
  }
}

static __attribute__((noinline)) void *guest(void *unused)
{
#pragma omp parallel num_threads(2)
  {
#pragma omp for
    for (int i = 0; i < 4; i++)
      usleep(UNIT_US / 4);
  }
  return unused;
}

/* Two threads of the program with regions of their own; and nested regions. */
static void guests(void)
{
  pthread_t thread;
  omp_set_max_active_levels(2);
  pthread_create(&thread, NULL, guest, NULL);
#pragma omp parallel
  guest(NULL);
  pthread_join(thread, NULL);
}

/* Constructs at the end of a region's code, where compilers jump to the runtime. */
static void at_ends(void)
{
  for (volatile int i = 0; i < 10; i++) { /* each construct is one place in the code */
#pragma omp parallel
    {
      usleep(100);
#pragma omp barrier
    }
#pragma omp parallel
    {
#pragma omp task
      usleep(100);
#pragma omp taskwait
    }
  }
}

/* libomp forgets where the initial thread has entered a barrier if another one ends a critical section just then. */
static void criticals_before_barriers(void)
{
  long sum = 0;
#pragma omp parallel
  for (int i = 0; i < 10000; i++) {
    for (int k = 0; k < 5 && omp_get_thread_num(); k++)
#pragma omp critical
      sum++;
#pragma omp barrier
  }
  if (sum != 50000 * (omp_get_max_threads() - 1))
    exit(3);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } modes[] = {{"critical", critical},
               {"tasks", tasks},
               {"undeferred", undeferred},
               {"untied", untied},
               {"untied_in_groups", untied_in_groups},
               {"loops", loops},
               {"nested_waits", nested_waits},
               {"locks", locks},
               {"teams_of_sizes", teams_of_sizes},
               {"smaller_teams", smaller_teams},
               {"held_at_the_end", held_at_the_end},
               {"killed_in_serial_code", killed_in_serial_code},
               {"group_around_taskloop", group_around_taskloop},
               {"single_in_a_taskgroup", single_in_a_taskgroup},
               {"single_before_a_taskwait", single_before_a_taskwait},
               {"first_tasks", first_tasks},
               {"guests", guests},
               {"at_ends", at_ends},
               {"criticals_before_barriers", criticals_before_barriers}};
  if (argc != 3)
    return 2;
  omp_set_dynamic(0);
  omp_set_num_threads(atoi(argv[2]));
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (!strcmp(modes[i].name, argv[1])) {
      modes[i].run();
      return 0;
    }
  return 2;
}
