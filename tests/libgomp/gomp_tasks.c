/* Tasks, task loops and task groups as GCC compiles them; see gomp_cases.h. */
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "gomp_cases.h"

typedef unsigned long long ull;

struct aligned {
  _Alignas(64) long values[16];
};

struct huge {
  long values[1 << 17]; /* 1 MiB */
};

static long total;

static void add(long value)
{
#pragma omp atomic
  total += value;
}

static long taken(void)
{
  long value = total;
  total = 0;
  return value;
}

static long fib(int n)
{
  long a, b;
  if (n < 2)
    return n;
#pragma omp task shared(a) if (n > 5)
  a = fib(n - 1);
#pragma omp task shared(b) final(n < 8) mergeable
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static void task_recursion(void)
{
  long value = 0;
#pragma omp parallel
#pragma omp single
  value = fib(16);
  note(value);
  note(fib(10)); /* outside of any region */
}

static void task_clauses(void)
{
  const int many = 3;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 20; i++) {
#pragma omp task
      add(1);
#pragma omp task untied if (i % 2)
      add(10);
#pragma omp task final(i % 3 == 0)
      {
#pragma omp task
        add(omp_in_final() ? 100 : 1000);
#pragma omp taskyield
      }
#pragma omp task mergeable priority(i) firstprivate(i)
      add(i * 10000);
#pragma omp task if (0) default(shared)
      add(1000000);
#pragma omp task untied
      {
#pragma omp taskyield
        add(10000000);
      }
    }
#pragma omp task final(many > 2) if (many > 5)
#pragma omp task
#pragma omp task
    add(omp_in_final());
  }
  note(taken());
}

static void task_private_data(void)
{
  static struct huge huge;
  struct aligned aligned;
  int length = 300;
  for (int i = 0; i < 1 << 17; i++)
    huge.values[i] = i;
  for (int i = 0; i < 16; i++)
    aligned.values[i] = i;
#pragma omp parallel
#pragma omp single
  {
    long variable[length];
    char byte = 7;
    for (int i = 0; i < length; i++)
      variable[i] = i;
    struct huge copy = huge;
    for (int i = 0; i < 8; i++) {
      copy.values[1000] = i;
#pragma omp task firstprivate(copy)
      {
        long sum = 0;
        for (int k = 0; k < 1 << 17; k++)
          sum += copy.values[k] * (k % 7);
        add(sum);
      }
      aligned.values[3] = i;
#pragma omp task firstprivate(aligned, byte) if (i % 2)
      add((uintptr_t)&aligned % 64 ? 1000000000000 : aligned.values[3] + aligned.values[15] + byte);
      variable[5] = i;
#pragma omp task firstprivate(variable)
      {
        long sum = 0;
        for (int k = 0; k < length; k++)
          sum += variable[k];
        add(sum);
      }
    }
#pragma omp taskloop firstprivate(aligned) num_tasks(6)
    for (int i = 0; i < 60; i++)
      add((uintptr_t)&aligned % 64 ? 1000000000000 : aligned.values[3] * i);
  }
  note(taken());
}

static void task_dependences(void)
{
  long chain = 1, set = 0, readers = 0, cells[8] = {0};
  omp_depend_t object;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 30; i++) {
#pragma omp task depend(inout : chain)
      chain = chain * 3 % 1000003 + i;
#pragma omp task depend(in : chain) depend(out : cells[i % 8])
      cells[i % 8] += chain;
#pragma omp task depend(mutexinoutset : set) depend(in : cells[i % 8])
      set += cells[i % 8] % 101;
    }
#pragma omp taskwait depend(in : chain)
    readers += chain;
#pragma omp depobj(object) depend(inout : cells[0])
#pragma omp task depend(depobj : object) depend(in : set)
    cells[0] *= 2;
#pragma omp depobj(object) update(in)
#pragma omp task depend(depobj : object)
    add(cells[0]);
#pragma omp task depend(iterator(k = 0 : 8), in : cells[k])
    for (int k = 0; k < 8; k++)
      add(cells[k]);
#pragma omp task if (0) depend(inout : cells[1])
    cells[1]++;
#pragma omp depobj(object) destroy
  }
  note(chain);
  note(set % 1000);
  note(readers);
  note(cells[0]);
  note(cells[1]);
  note(taken());
}

/* ---- detached tasks ---- */

static void *fulfil(void *event)
{
  sched_yield();
  omp_fulfill_event(*(omp_event_handle_t *)event);
  return NULL;
}

static void task_detach(void)
{
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t own, late, other, foreign, first;
    pthread_t thread;
    long order = 1;
#pragma omp task detach(own) /* fulfilled by its own body */
    {
      add(1);
      omp_fulfill_event(own);
    }
#pragma omp task detach(late)
    add(10);
#pragma omp task detach(other)
    add(100);
#pragma omp task firstprivate(other)
    {
      add(1000);
      omp_fulfill_event(other);
    }
    omp_fulfill_event(late);
#pragma omp task detach(foreign) depend(out : order)
    add(10000);
    pthread_create(&thread, NULL, fulfil, &foreign); /* a thread that the runtime has never met */
#pragma omp task depend(inout : order) shared(order)
    order += total % 100000 / 10000;
#pragma omp taskwait
    pthread_join(thread, NULL);
    note(order);
#pragma omp taskgroup
    {
#pragma omp task detach(first) depend(out : order)
      add(100000);
      omp_fulfill_event(first); /* likely before the task runs */
    }
#pragma omp task if (0) detach(own)
    {
      add(1000000);
      omp_fulfill_event(own);
    }
  }
  note(taken());
}

/* ---- groups and reductions ---- */

static void task_groups(void)
{
  long before = 0, sum = 0, looped = 0, inner = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 10; i++)
#pragma omp task
      {
#pragma omp task
        add(1);
      }
    }
    before = taken();
#pragma omp taskgroup task_reduction(+ : sum, inner)
    {
      for (int i = 0; i < 10; i++)
#pragma omp task in_reduction(+ : sum) firstprivate(i)
      {
        sum += i;
#pragma omp taskgroup task_reduction(+ : inner)
        {
#pragma omp task in_reduction(+ : sum, inner)
          {
            sum += 100;
            inner++;
          }
        }
      }
#pragma omp taskloop in_reduction(+ : sum) grainsize(3)
      for (int i = 0; i < 50; i++)
        sum += hash(i);
    }
#pragma omp taskloop reduction(+ : looped) num_tasks(7)
    for (int i = 0; i < 50; i++)
      looped += hash(i);
  }
  note(before);
  note(sum);
  note(inner);
  note(looped);
}

/* ---- task loops ---- */

#define TASKLOOP(name, type, from, condition, step, ...)                                                               \
  static void name(void)                                                                                               \
  {                                                                                                                    \
    PRAGMA(omp parallel)                                                                                               \
    PRAGMA(omp single)                                                                                                 \
    PRAGMA(omp taskloop __VA_ARGS__)                                                                                   \
    for (type i = from; condition; step)                                                                               \
      add(hash((long)i));                                                                                              \
    note(taken());                                                                                                     \
  }

TASKLOOP(taskloop_default, int, 0, i < 300, i++, )
TASKLOOP(taskloop_empty, int, 3, i < 3, i++, )
TASKLOOP(taskloop_grain, int, 0, i < 300, i++, grainsize(7))
TASKLOOP(taskloop_strict_grain, long, 0, i < 300, i += 2, grainsize(strict : 7))
TASKLOOP(taskloop_tasks, int, 0, i < 300, i++, num_tasks(11))
TASKLOOP(taskloop_strict_tasks, int, 0, i < 300, i++, num_tasks(strict : 11))
TASKLOOP(taskloop_down, int, 300, i > -5, i -= 7, grainsize(2))
TASKLOOP(taskloop_ull, ull, 10, i < 300, i += 3, num_tasks(9))
TASKLOOP(taskloop_ull_down, ull, UINT64_MAX - 5, i > UINT64_MAX - 500, i -= 2, grainsize(5))
TASKLOOP(taskloop_nogroup, int, 0, i < 300, i++, nogroup untied)
TASKLOOP(taskloop_if, int, 0, i < 300, i++, if (0) num_tasks(6))
TASKLOOP(taskloop_final, int, 0, i < 300, i++, final(1) num_tasks(6) mergeable)
TASKLOOP(taskloop_priority, int, 0, i < 300, i++, priority(3) grainsize(1))
TASKLOOP(taskloop_many, int, 0, i < 40000, i++, num_tasks(20000))

static void taskloop_more(void)
{
  long last = 0, collapsed = 0;
  int first = 4;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop collapse(2) reduction(+ : collapsed) grainsize(4)
    for (int i = 0; i < 20; i++)
      for (long k = 10; k > 0; k -= 3)
        collapsed += hash(i * 10 + k);
#pragma omp taskloop lastprivate(last) firstprivate(first) num_tasks(5)
    for (int i = 0; i < 100; i++)
      last = i + first;
  }
  note(last);
  note(collapsed);
}

static void taskloop_outside(void)
{
  long serial = 0;
#pragma omp taskloop reduction(+ : serial)
  for (int i = 0; i < 100; i++)
    serial += hash(i);
  note(serial);
}

/* ---- tasks and regions within one another ---- */

static void tasks_and_regions(void)
{
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i)
      {
#pragma omp parallel num_threads(2)
        {
#pragma omp task
          add(i + 10 * omp_get_level());
#pragma omp for schedule(dynamic)
          for (int k = 0; k < 4; k++)
            add(1000);
        }
#pragma omp task
        add(100000);
      }
    }
#pragma omp taskwait
#pragma omp critical
#pragma omp task if (0)
    add(10000000);
  }
  omp_set_max_active_levels(1);
#pragma omp task /* of the initial thread */
  add(7);
#pragma omp parallel if (0)
#pragma omp task
  add(70);
#pragma omp taskwait
  note(taken());
}

static void task_flood(void)
{
#pragma omp parallel
  {
    for (int i = 0; i < 2000; i++)
#pragma omp task
      add(1);
#pragma omp barrier
#pragma omp single nowait
    for (int i = 0; i < 2000; i++)
#pragma omp task untied
      add(1000000);
  }
  note(taken() - 2000 * (omp_get_max_threads() - 1));
}

static void add_down(int depth)
{
#pragma omp task
  {
    add(depth);
    if (depth)
      add_down(depth - 1);
  }
#pragma omp taskwait
}

static void task_depth(void)
{
#pragma omp parallel
#pragma omp single
  add_down(200);
  note(taken());
}

static const struct gomp_case rows[] = {
    ROW(task_recursion),   ROW(task_clauses),          ROW(task_private_data), ROW(task_dependences),
    ROW(task_detach),      ROW(task_groups),           ROW(taskloop_default),  ROW(taskloop_empty),
    ROW(taskloop_grain),   ROW(taskloop_strict_grain), ROW(taskloop_tasks),    ROW(taskloop_strict_tasks),
    ROW(taskloop_down),    ROW(taskloop_ull),          ROW(taskloop_ull_down), ROW(taskloop_nogroup),
    ROW(taskloop_if),      ROW(taskloop_final),        ROW(taskloop_priority), ROW(taskloop_many),
    ROW(taskloop_more),    ROW(tasks_and_regions),     ROW(task_flood),        ROW(task_depth),
    ROW(taskloop_outside), /* last: such a reduction makes libgomp 12 hang in later regions */
};

int main(int argc, char **argv)
{
  return run_cases(rows, sizeof rows / sizeof *rows, argc, argv);
}
