/* Programs whose work and span follow from their source. */
#include "forms.h"

/* ---- tasks ---- */

enum { CUT = 4 };

static int serial_fib(int n)
{
  u(1);
  return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
}

static int task_fib(int n)
{
  int left, right;
  if (n < CUT)
    return serial_fib(n);
  u(1);
#pragma omp task shared(left)
  left = task_fib(n - 1);
#pragma omp task shared(right)
  right = task_fib(n - 2);
#pragma omp taskwait
  return left + right;
}

static void fib(void)
{
  task_fib(12);
}

static void taskgroup(void)
{
#pragma omp taskgroup
  {
#pragma omp task
    {
      u(1);
#pragma omp task
      u(20);
    }
    u(2);
  }
  u(3);
#pragma omp task
  {
    u(1);
#pragma omp task
    u(50);
  }
#pragma omp taskwait
  u(5);
}

static void nested_groups(void)
{
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp taskgroup
      {
#pragma omp task
        u(10);
        u(1);
      }
      u(2);
#pragma omp task
      u(30);
    }
  }
  u(5);
}

static void undeferred(void)
{
  u(1);
#pragma omp task if (none)
  u(10);
#pragma omp task
  u(10);
  u(4);
}

static void final(void)
{
#pragma omp task final(one)
  {
    u(3);
#pragma omp task
    u(4);
  }
#pragma omp taskwait
  u(1);
}

/* Only what the task creates is serial. */
static void final_beside(void)
{
  final();
#pragma omp task final(one)
  {
    u(3);
#pragma omp task
    u(4);
  }
  u(5);
#pragma omp taskwait
  u(1);
}

static void untied(void)
{
  for (int i = 0; i < 10; i++) {
#pragma omp task untied
    {
      u(2);
#pragma omp taskyield
      u(3);
    }
  }
#pragma omp taskwait
  u(1);
}

static void taskloop(void)
{
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 8; i++)
    u(5);
  u(1);
}

static void taskloop_nogroup(void)
{
#pragma omp taskloop grainsize(1) nogroup
  for (int i = 0; i < 8; i++)
    u(5);
  u(1);
}

static void region_in_task(void)
{
#pragma omp task
  {
    u(1);
#pragma omp parallel num_threads(2)
    u(6);
    u(2);
  }
  u(4);
}

/* ---- dependences ---- */

static void inout(void)
{
  int x = 0;
  for (int i = 0; i < 10; i++) {
    u(2);
#pragma omp task depend(inout : x)
    u(10);
  }
}

static void readers(void)
{
  int x = 0;
#pragma omp task depend(out : x)
  u(10);
  for (int i = 3; i <= 7; i++) {
#pragma omp task depend(in : x) firstprivate(i)
    u(i);
  }
#pragma omp task depend(out : x)
  u(4);
}

static void mutexinoutset(void)
{
  int x = 0;
#pragma omp task depend(out : x)
  u(10);
  for (int i = 0; i < 3; i++) {
#pragma omp task depend(mutexinoutset : x)
    u(3);
  }
#pragma omp task depend(in : x)
  u(2);
}

static void taskwait_depend(void)
{
  int x = 0, y = 0;
#pragma omp task depend(out : x)
  u(10);
#pragma omp task depend(out : y)
  u(50);
#pragma omp taskwait depend(in : x)
  u(100);
}

/* ---- loops ---- */

static void loop(void)
{
  u(10);
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 16; i++)
    u((uint64_t)i + 1);
  u(10);
}

static void loops(void)
{
#pragma omp parallel
  for (int k = 0; k < 10; k++) {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 4; i++)
      u(10);
  }
}

static void reduction(void)
{
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 1)
  for (int i = 0; i < 12; i++) {
    u(4);
    sum += i;
  }
  u(1);
  if (sum != 66)
    exit(1);
}

static void ordered(void)
{
#pragma omp parallel for ordered schedule(dynamic, 1)
  for (int i = 0; i < 10; i++) {
    u(6);
#pragma omp ordered
    u(2);
    u(1);
  }
}

static void doacross(void)
{
#pragma omp parallel for ordered(2) schedule(dynamic, 1)
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      u(3);
#pragma omp ordered depend(source)
    }
}

static void critical(void)
{
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 10; i++) {
    u(3);
#pragma omp critical
    u(7);
  }
}

static void lock(void)
{
  omp_lock_t here;
  omp_init_lock(&here);
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 8; i++) {
    u(1);
    omp_set_lock(&here);
    u(2);
    omp_unset_lock(&here);
    u(1);
  }
  omp_destroy_lock(&here);
}

/* ---- regions ---- */

static void nested(void)
{
#pragma omp parallel num_threads(3)
  {
    int k = omp_get_thread_num();
    u(2);
#pragma omp parallel num_threads(2)
    u((uint64_t)(5 + k));
    u(3);
  }
}

static void phases(void)
{
#pragma omp parallel
  for (int k = 0; k < 5; k++) {
#pragma omp single nowait
    {
      u(2);
#pragma omp task
      {
        u(3);
#pragma omp task
        u(4);
      }
    }
#pragma omp barrier
  }
}

static void masked(void)
{
#pragma omp parallel
  {
#pragma omp master
    u(9);
#pragma omp barrier
#pragma omp single
    u(2);
  }
}

static void left_behind(void)
{
#pragma omp parallel
  {
#pragma omp single nowait
    {
#pragma omp task
      u(40);
    }
  }
  u(2);
}

static void *foreign_region(void *unused)
{
  (void)unused;
#pragma omp parallel num_threads(2)
  u(7);
  return NULL;
}

static void foreign(void)
{
  pthread_t threads[2];
  u(3);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, foreign_region, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
#pragma omp parallel num_threads(2)
  u(5);
}

const struct form forms[] = {
    FORM(fib, SINGLE), FORM(taskgroup, SINGLE), FORM(nested_groups, SINGLE), FORM(undeferred, SINGLE),
    FORM(final, SINGLE), FORM(final_beside, SINGLE), FORM(untied, SINGLE), FORM(taskloop, SINGLE),
    FORM(taskloop_nogroup, SINGLE), FORM(region_in_task, SINGLE), FORM(inout, SINGLE), FORM(readers, SINGLE),
    FORM(mutexinoutset, SINGLE), FORM(taskwait_depend, SINGLE), FORM(loop, PLAIN), FORM(loops, PLAIN),
    FORM(reduction, PLAIN), FORM(ordered, PLAIN), FORM(doacross, PLAIN), FORM(critical, PLAIN), FORM(lock, PLAIN),
    FORM(nested, PLAIN), FORM(phases, PLAIN), FORM(masked, PLAIN),
    FORM(left_behind, PLAIN), FORM(foreign, PLAIN), {NULL, NULL, PLAIN}
};
