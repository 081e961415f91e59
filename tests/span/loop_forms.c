/* Loops, sections, single, locks: programs whose work and span follow from their source; see closed_forms.py. */
#include "forms.h"

/* ---- loops ---- */

static void loop_static(void)
{
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 24; i++)
    u(5);
  u(1);
}

static void loop_static_chunk(void)
{
#pragma omp parallel for schedule(static, 2)
  for (int i = 0; i < 48; i++)
    u(5);
  u(1);
}

static void loop_guided(void)
{
#pragma omp parallel for schedule(guided, 48)
  for (int i = 0; i < 48; i++)
    u(5);
  u(1);
}

static void loop_monotonic(void)
{
#pragma omp parallel for schedule(monotonic : dynamic, 3)
  for (int i = 0; i < 24; i++)
    u(2);
  u(1);
}

static void loop_nonmonotonic(void)
{
#pragma omp parallel for schedule(nonmonotonic : dynamic, 3)
  for (int i = 0; i < 24; i++)
    u(2);
  u(1);
}

static void loop_runtime(void)
{
  omp_set_schedule(omp_sched_dynamic, 2);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < 24; i++)
    u(2);
  u(1);
}

static void loop_collapse(void)
{
#pragma omp parallel for collapse(3) schedule(dynamic, 1)
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 5; k++)
        u((uint64_t)(i + j + k + 1));
  u(1);
}

static void loop_down(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (long i = 20; i > 0; i -= 3)
    u((uint64_t)i);
  u(1);
}

static void loop_unsigned(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (unsigned long long i = 5; i < 25; i += 4)
    u(i);
  u(1);
}

#if !defined __clang__ || __clang_major__ >= 16 /* clang 14 lets every thread run all of it */
static void loop_construct(void)
{
#pragma omp parallel
  {
#pragma omp loop
    for (int i = 0; i < 24; i++)
      u(5);
  }
  u(1);
}
#endif

static void loop_empty(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < none; i++)
      u(5);
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 1; i++)
      u(4);
#pragma omp for schedule(static)
    for (int i = 0; i < none; i++)
      u(5);
  }
  u(1);
}

static void loop_nowait_equal(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 24; i++)
      u(5);
#pragma omp for schedule(static)
    for (int i = 0; i < 24; i++)
      u(2);
  }
  u(1);
}

static void loop_reduction(void)
{
  double sum = 0, largest = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : largest) schedule(dynamic, 1)
  for (int i = 0; i < 20; i++) {
    u(3);
    sum += i;
    largest = i > largest ? i : largest;
  }
  u(1);
  if (sum != 190 || largest != 19)
    exit(1);
}

static void loop_tasks(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 24; i++) {
    u((uint64_t)i % 6);
#pragma omp task firstprivate(i)
    u(i % 6 ? 1 : 12);
#pragma omp taskwait
    u(2 + (uint64_t)i % 6);
  }
  u(1);
}

static void loop_tasks_left(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 12; i++) {
      u(1);
#pragma omp task
      u(9);
    }
    u(1);
  }
}

static void loop_groups(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 12; i++) {
#pragma omp taskgroup
    {
#pragma omp task firstprivate(i)
      u(12 - (uint64_t)i);
    }
    u(2);
  }
  u(1);
}

static void loop_regions(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 6; i++) {
    u(1);
#pragma omp parallel num_threads(2)
    u((uint64_t)i + 1);
    u(2);
  }
  u(1);
}

static void loop_in_loop_region(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 4; i++) {
    u(1);
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
    for (int j = 0; j < 5; j++)
      u((uint64_t)(i + j));
    u(1);
  }
  u(1);
}

static void loops_many_nowait(void)
{
#pragma omp parallel
  {
    for (int k = 0; k < 20; k++) {
#pragma omp for schedule(static) nowait
      for (int i = 0; i < 24; i++)
        u(1);
    }
  }
  u(1);
}

static void loops_and_barriers(void)
{
#pragma omp parallel
  {
    for (int k = 0; k < 12; k++) {
#pragma omp for schedule(dynamic, 1) nowait
      for (int i = 0; i < 6; i++)
        u((uint64_t)i + 1);
#pragma omp barrier
    }
  }
  u(1);
}

/* ---- ordered, doacross ---- */

static void ordered_static(void)
{
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 12; i++) {
#pragma omp ordered
    u(2);
  }
  u(1);
}

static void ordered_guided(void)
{
#pragma omp parallel for ordered schedule(guided)
  for (int i = 0; i < 12; i++) {
#pragma omp ordered
    u(2);
  }
  u(1);
}

static void ordered_twice(void)
{
#pragma omp parallel
  for (int k = 0; k < 3; k++) {
#pragma omp for ordered schedule(dynamic, 1)
    for (int i = 0; i < 6; i++) {
      u(4);
#pragma omp ordered
      u(1);
    }
  }
  u(1);
}

static void ordered_some(void)
{
#pragma omp parallel for ordered schedule(dynamic, 1)
  for (int i = 0; i < 10; i++) {
    u(3);
    if (i % 2) {
#pragma omp ordered
      u(2);
    }
  }
  u(1);
}

static void doacross_1(void)
{
#pragma omp parallel for ordered(1) schedule(dynamic, 1)
  for (int i = 0; i < 12; i++) {
    u(5);
#pragma omp ordered depend(sink : i - 1)
    u(2);
#pragma omp ordered depend(source)
    u(1);
  }
  u(1);
}

static void doacross_2apart(void)
{
#pragma omp parallel for ordered(1) schedule(dynamic, 1)
  for (int i = 0; i < 12; i++) {
#pragma omp ordered depend(sink : i - 2)
    u(4);
#pragma omp ordered depend(source)
  }
  u(1);
}

static void doacross_3(void)
{
#pragma omp parallel for ordered(3) schedule(dynamic, 1)
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) {
#pragma omp ordered depend(sink : i - 1, j, k) depend(sink : i, j - 1, k) depend(sink : i, j, k - 1)
        u(2);
#pragma omp ordered depend(source)
      }
  u(1);
}

static void doacross_diagonal(void)
{
#pragma omp parallel for ordered(2) collapse(2) schedule(dynamic, 1)
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) {
#pragma omp ordered depend(sink : i - 1, j - 1)
      u(3);
#pragma omp ordered depend(source)
    }
  u(1);
}

static void doacross_repeated(void)
{
#pragma omp parallel
  for (int k = 0; k < 4; k++) {
#pragma omp for ordered(1) schedule(dynamic, 1)
    for (int i = 0; i < 6; i++) {
#pragma omp ordered depend(sink : i - 1)
      u(2);
#pragma omp ordered depend(source)
      u(3);
    }
  }
  u(1);
}

static void wavefront(int rows, int columns)
{
#pragma omp for ordered(2) schedule(dynamic, 1)
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      u(3);
#pragma omp ordered depend(source)
    }
}

static void doacross_many(void)
{
#pragma omp parallel
  for (int k = 0; k < 3; k++)
    wavefront(60, 70);
  u(1);
}

static void doacross_nested(void)
{
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(3)
    wavefront(5 + omp_get_ancestor_thread_num(1), 6);
  }
  u(1);
}

static void doacross_threads(void)
{
#pragma omp parallel num_threads(9)
  wavefront(20, 20);
  u(1);
}

/* Vectors far apart, in loops that threads leave at different times. */
static void doacross_apart(void)
{
#pragma omp parallel
  for (int k = 0; k < 4; k++) {
#pragma omp for ordered(1) schedule(dynamic, 1) nowait
    for (long i = 0; i < 12; i++) {
#pragma omp ordered depend(sink : i - 5)
      u(2);
#pragma omp ordered depend(source)
    }
#pragma omp barrier
  }
  u(1);
}

static void doacross_static(void)
{
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < 12; i++) {
#pragma omp ordered depend(sink : i - 1)
    u(2);
#pragma omp ordered depend(source)
  }
  u(1);
}

/* Threads enter the loop at clocks that differ: that is not part of the loop. */
static void ordered_unequal(void)
{
#pragma omp parallel
  {
    u(10 * (omp_get_thread_num() + 1));
#pragma omp for ordered schedule(dynamic, 1)
    for (int i = 0; i < 20; i++) {
      u(1);
#pragma omp ordered
      u(2);
    }
  }
}

static void doacross_unequal(void)
{
#pragma omp parallel
  {
    u(10 * (omp_get_thread_num() + 1));
#pragma omp for ordered(1) schedule(dynamic, 1)
    for (int i = 0; i < 20; i++) {
      u(1);
#pragma omp ordered depend(sink : i - 1)
      u(2);
#pragma omp ordered depend(source)
    }
  }
}

/* The thread's part of the loop is in its user region, also the tasks. */
static void loop_tasks_inside(void)
{
#pragma omp parallel
  {
    hpcrun_lite_region_begin("inside");
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 12; i++) {
      u(1);
#pragma omp task
      u(4);
#pragma omp taskwait
    }
    hpcrun_lite_region_end();
  }
}

/* ---- sections, single, masked ---- */

static void sections(void)
{
#pragma omp parallel sections
  {
#pragma omp section
    u(3);
#pragma omp section
    u(4);
#pragma omp section
    u(5);
#pragma omp section
    u(6);
#pragma omp section
    u(7);
  }
  u(1);
}

static void sections_two(void)
{
#pragma omp parallel
  {
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp task
        u(10);
        u(3);
      }
    }
    u(1);
#pragma omp sections nowait
    {
      u(2);
    }
#pragma omp barrier
    u(1);
  }
}

static void copyprivate(void)
{
#pragma omp parallel
  {
    int x;
#pragma omp single copyprivate(x)
    {
      u(6);
      x = 3;
    }
    u((uint64_t)x);
  }
}

static void single_tasks_nowait(void)
{
#pragma omp parallel
  {
#pragma omp single nowait
    {
      for (int i = 0; i < 5; i++) {
#pragma omp task
        u(4);
      }
    }
#pragma omp barrier
    u(1);
  }
}

static void singles(void)
{
#pragma omp parallel
  for (int i = 0; i < 10; i++) {
#pragma omp single
    {
      u(2);
#pragma omp task
      u(5);
    }
  }
  u(1);
}

static void master_tasks(void)
{
#pragma omp parallel
  {
#pragma omp master
    {
      for (int i = 0; i < 5; i++) {
#pragma omp task
        u(4);
      }
#pragma omp taskwait
      u(2);
    }
#pragma omp barrier
    u(1);
  }
}

/* ---- locks, critical sections, atomics ---- */

static void criticals(void)
{
#pragma omp parallel
  {
    u(1);
#pragma omp critical(first)
    u(2);
#pragma omp critical(second)
    u(3);
#pragma omp critical
    {
      u(1);
#pragma omp critical(third)
      u(4);
    }
  }
}

static void nest_lock(void)
{
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 8; i++) {
    omp_set_nest_lock(&lock);
    u(1);
    omp_set_nest_lock(&lock);
    u(2);
    omp_unset_nest_lock(&lock);
    u(1);
    omp_unset_nest_lock(&lock);
    while (!omp_test_nest_lock(&lock))
      ;
    u(1);
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
}

static void own_locks(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 10; i++) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    u(10);
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
  }
}

static void test_lock(void)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 10; i++) {
    while (!omp_test_lock(&lock))
      ;
    u(3);
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
}

static void atomics(void)
{
  double x = 0;
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 10; i++) {
    u(3);
#pragma omp atomic
    x += 1;
#pragma omp flush
  }
}

const struct form forms[] = {FORM(loop_static, PLAIN),
                             FORM(loop_static_chunk, PLAIN),
                             FORM(loop_guided, PLAIN),
                             FORM(loop_monotonic, PLAIN),
                             FORM(loop_nonmonotonic, PLAIN),
                             FORM(loop_runtime, PLAIN),
                             FORM(loop_collapse, PLAIN),
                             FORM(loop_down, PLAIN),
                             FORM(loop_unsigned, PLAIN),
#if !defined __clang__ || __clang_major__ >= 16
                             FORM(loop_construct, PLAIN),
#endif
                             FORM(loop_empty, PLAIN),
                             FORM(loop_nowait_equal, PLAIN),
                             FORM(loop_reduction, PLAIN),
                             FORM(loop_tasks, PLAIN),
                             FORM(loop_tasks_left, PLAIN),
                             FORM(loop_groups, PLAIN),
                             FORM(loop_regions, PLAIN),
                             FORM(loop_in_loop_region, PLAIN),
                             FORM(loops_many_nowait, PLAIN),
                             FORM(loops_and_barriers, PLAIN),
                             FORM(ordered_static, PLAIN),
                             FORM(ordered_guided, PLAIN),
                             FORM(ordered_twice, PLAIN),
                             FORM(ordered_some, PLAIN),
                             FORM(doacross_1, PLAIN),
                             FORM(doacross_2apart, PLAIN),
                             FORM(doacross_3, PLAIN),
                             FORM(doacross_diagonal, PLAIN),
                             FORM(doacross_repeated, PLAIN),
                             FORM(doacross_static, PLAIN),
                             FORM(doacross_many, PLAIN),
                             FORM(doacross_nested, PLAIN),
                             FORM(doacross_threads, PLAIN),
                             FORM(doacross_apart, PLAIN),
                             FORM(ordered_unequal, PLAIN),
                             FORM(doacross_unequal, PLAIN),
                             FORM(loop_tasks_inside, PLAIN),
                             FORM(sections, PLAIN),
                             FORM(sections_two, PLAIN),
                             FORM(copyprivate, PLAIN),
                             FORM(single_tasks_nowait, PLAIN),
                             FORM(singles, PLAIN),
                             FORM(master_tasks, PLAIN),
                             FORM(criticals, PLAIN),
                             FORM(nest_lock, PLAIN),
                             FORM(own_locks, PLAIN),
                             FORM(test_lock, PLAIN),
                             FORM(atomics, PLAIN),
                             {NULL, NULL, PLAIN}};
