/* Prints what the environment settings make of a program: threads, places, schedules and the chunks that follow. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gomp_cases.h"

bool GOMP_loop_runtime_start(long, long, long, long *, long *);
bool GOMP_loop_runtime_next(long *, long *);
void GOMP_loop_end_nowait(void);

/* The size of a team, and where each thread is bound. */
static void team(void)
{
  int places[64] = {0}, processors[64] = {0}, size = 0;
#pragma omp parallel
  {
    cpu_set_t set;
    const int me = omp_get_thread_num() % 64;
    sched_getaffinity(0, sizeof set, &set);
    places[me] = omp_get_place_num();
    processors[me] = CPU_COUNT(&set);
#pragma omp master
    size = omp_get_num_threads();
  }
  note(size);
  for (int i = 0; i < size && i < 64; i++) {
    note(places[i]);
    note(processors[i]);
  }
}

static void variables(void)
{
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  const int all[] = {omp_get_max_threads(),
                     omp_get_dynamic(),
                     omp_get_max_active_levels(),
                     omp_get_thread_limit(),
                     omp_get_proc_bind(),
                     omp_get_num_places(),
                     omp_get_cancellation(),
                     (int)kind,
                     chunk,
                     omp_get_max_task_priority(),
                     omp_get_num_procs(),
                     omp_get_max_teams(),
                     omp_get_supported_active_levels() > 0};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
    note(all[i]);
}

/* The bounds of the chunks that schedule(runtime) hands to a team of one thread. */
static void chunks(void)
{
#pragma omp parallel num_threads(1)
  {
    long from, to;
    for (bool more = GOMP_loop_runtime_start(0, 100, 1, &from, &to); more; more = GOMP_loop_runtime_next(&from, &to))
      note(from * 1000 + to);
    GOMP_loop_end_nowait();
  }
}

static void nested(void)
{
  long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
  sum += omp_get_num_threads() * 10 + omp_get_active_level();
  note(sum);
}

/* As much stack as OMP_STACKSIZE=64k leaves beside what a thread itself needs. */
static void stack(void)
{
  long sum = 0, tasks = 0;
#pragma omp parallel reduction(+ : sum)
  {
    volatile char part[16 << 10];
    for (unsigned i = 0; i < sizeof part; i++)
      part[i] = (char)i;
    sum += part[1000];
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++)
      sum += i;
#pragma omp task
    {
      volatile char more[8 << 10];
      more[5] = 3;
#pragma omp atomic
      tasks += more[5];
    }
  }
  note(sum);
  note(tasks);
}

static void displayed(void)
{
  omp_set_affinity_format("thread %n of %N level %L");
#pragma omp parallel num_threads(1)
  omp_display_affinity(NULL);
}

static const struct gomp_case rows[] = {ROW(variables), ROW(team),  ROW(chunks),
                                        ROW(nested),    ROW(stack), ROW(displayed)};

int main(int argc, char **argv)
{
  return run_cases(rows, sizeof rows / sizeof *rows, argc, argv);
}
