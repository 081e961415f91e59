/* Tasks whose creation is timed (creation_times.py): creation_times FORM TASKS.  Each prints the number of explicit
 * tasks that it has created. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void burn(int ms)
{
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static int deferred(int tasks)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; i++)
#pragma omp task
    burn(0);
  return tasks;
}

static int dependent(int tasks)
{
  int chain = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; i++)
#pragma omp task depend(inout : chain)
    chain++;
  return tasks;
}

/* Each runs within the creating thread. */
static int undeferred(int tasks)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; i++)
#pragma omp task if (0)
    burn(10);
  return tasks;
}

/* The same in a team of one thread, where each runs within the call; and creates another one. */
static int alone(int tasks)
{
#pragma omp parallel num_threads(1)
  for (int i = 0; i < tasks; i++)
#pragma omp task
  {
#pragma omp task
    burn(10);
#pragma omp taskwait
  }
  return 2 * tasks;
}

static void move_to(int cpu)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/* Each task begins on one CPU and ends on the next one.  Prints where they begin. */
static int moving(int tasks)
{
  cpu_set_t all;
  int cpus[CPU_SETSIZE], count = 0;
  sched_getaffinity(0, sizeof all, &all);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all))
      cpus[count++] = cpu;
  move_to(cpus[0]);
#pragma omp parallel num_threads(1)
  for (int i = 0; i < tasks; i++)
#pragma omp task if (0)
  {
    printf("%d ", sched_getcpu());
    burn(1);
    move_to(cpus[(i + 1) % count]);
  }
  printf("\n");
  return tasks;
}

static int untied(int tasks)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; i++)
#pragma omp task untied
  {
    burn(0);
#pragma omp taskyield
  }
  return tasks;
}

static int taskloop(int tasks)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(tasks)
  for (int i = 0; i < tasks; i++)
    burn(1);
  return tasks;
}

static int fibonacci(int n, int *created)
{
  int x, y;
  if (n < 2)
    return n;
#pragma omp task shared(x)
  x = fibonacci(n - 1, created);
#pragma omp task shared(y)
  y = fibonacci(n - 2, created);
#pragma omp taskwait
#pragma omp atomic
  *created += 2;
  return x + y;
}

static int recursive(int n)
{
  int created = 0;
#pragma omp parallel
#pragma omp single
  fibonacci(n, &created);
  return created;
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    int (*run)(int);
  } forms[] = {{"deferred", deferred}, {"dependent", dependent}, {"undeferred", undeferred}, {"alone", alone},
               {"moving", moving},     {"untied", untied},       {"taskloop", taskloop},     {"recursive", recursive}};
  for (size_t i = 0; argc == 3 && i < sizeof forms / sizeof *forms; i++)
    if (strcmp(argv[1], forms[i].name) == 0)
      printf("%d\n", forms[i].run(atoi(argv[2])));
  return 0;
}
