/* Tasks: programs whose work and span follow from their source; see closed_forms.py. */
#include "forms.h"

/* ---- tasks and their waits ---- */

static void grandchildren(void)
{
#pragma omp task
  {
    u(1);
#pragma omp task
    u(30);
  }
  u(2);
#pragma omp taskwait
  u(4);
#pragma omp task
  u(3);
#pragma omp taskwait
  u(6);
}

static void short_lived_parents(void)
{
#pragma omp taskgroup
  for (int i = 0; i < 6; i++) {
#pragma omp task
    {
      u(1);
#pragma omp task
      {
        u(2);
#pragma omp task
        u(3);
      }
    }
  }
  u(4);
}

static void group_task_group(void)
{
#pragma omp taskgroup
  {
#pragma omp task
    {
      u(2);
#pragma omp taskgroup
      {
#pragma omp task
        {
          u(3);
#pragma omp task
          u(9);
        }
        u(1);
      }
      u(5);
    }
    u(4);
  }
  u(1);
}

static void if_chain(void)
{
  for (int i = 0; i < 5; i++) {
#pragma omp task if (none)
    {
      u(2);
#pragma omp task
      u(10);
    }
  }
  u(1);
}

static void final_tree_of(int depth)
{
  u(1);
  if (!depth)
    return;
#pragma omp task final(depth <= 2)
  final_tree_of(depth - 1);
#pragma omp task final(depth <= 2)
  final_tree_of(depth - 1);
#pragma omp taskwait
}

static void final_tree(void)
{
  final_tree_of(5);
}

static void mergeable(void)
{
  for (int i = 0; i < 4; i++) {
#pragma omp task mergeable if (none)
    u(3);
#pragma omp task mergeable
    u(7);
  }
#pragma omp taskwait
  u(1);
}

static void untied_children(void)
{
  for (int i = 0; i < 5; i++) {
#pragma omp task untied
    {
      u(2);
#pragma omp task
      u(6);
#pragma omp taskyield
      u(1);
#pragma omp taskwait
      u(3);
    }
  }
#pragma omp taskwait
  u(1);
}

static void many_tasks(void)
{
  for (int i = 0; i < 3000; i++) {
#pragma omp task
    u(2);
  }
#pragma omp taskwait
  u(1);
}

/* More addresses than are kept after a taskwait. */
static void many_addresses(void)
{
  enum { CELLS = 5000, ROUNDS = 2 };
  static char cells[CELLS];
  for (int i = 0; i < ROUNDS * CELLS; i++) {
#pragma omp task depend(inout : cells[i % CELLS])
    u(1);
  }
#pragma omp taskwait
  for (int i = 0; i < ROUNDS * CELLS; i++) {
#pragma omp task depend(inout : cells[i % CELLS])
    u(1);
  }
#pragma omp taskwait
  u(1);
}

/* Readers of one address, more than a list keeps. */
static void many_readers(void)
{
  int x = 0;
#pragma omp task depend(out : x)
  u(4);
  for (int i = 0; i < 500; i++) {
#pragma omp task depend(in : x)
    u(1 + i % 3);
  }
#pragma omp task depend(out : x)
  u(5);
#pragma omp task depend(in : x) depend(inout : x) /* it does not wait for itself */
  u(1);
#pragma omp taskwait
  u(1);
}

/* Tasks below tasks, each with dependences among its own children. */
static void depend_tree(void)
{
  for (int i = 0; i < 20; i++) {
#pragma omp task
    {
      int x = 0, y = 0;
#pragma omp task depend(out : x) shared(x)
      u(2);
#pragma omp task depend(in : x) depend(out : y) shared(x, y)
      u(3);
#pragma omp task depend(in : y) shared(y)
      u(4);
#pragma omp taskwait
    }
  }
#pragma omp taskwait
  u(1);
}

static void deep(int n)
{
  u(1);
  if (!n)
    return;
#pragma omp task
  deep(n - 1);
}

static void deep_chain(void)
{
#pragma omp taskgroup
  deep(200);
  u(1);
}

static void waits_for_none(void)
{
#pragma omp taskwait
  u(1);
#pragma omp taskgroup
  ;
#pragma omp taskgroup
  u(3);
#pragma omp taskwait
}

static void critical_in_tasks(void)
{
  for (int i = 0; i < 8; i++) {
#pragma omp task
    {
      u(1);
#pragma omp critical(here)
      u(5);
      u(2);
    }
  }
#pragma omp taskwait
  u(1);
}

static void priorities(void)
{
  for (int i = 0; i < 8; i++) {
#pragma omp task priority(i) firstprivate(i)
    u((uint64_t)i + 1);
  }
#pragma omp taskwait
  u(1);
}

/* ---- taskloops ---- */

static void taskloop_tasks(void)
{
#pragma omp taskloop num_tasks(4)
  for (int i = 0; i < 20; i++)
    u(3);
  u(1);
}

static void taskloop_reduction(void)
{
  long sum = 0;
#pragma omp taskloop grainsize(2) reduction(+ : sum)
  for (int i = 0; i < 12; i++) {
    u(4);
    sum += i;
  }
  u(1);
  if (sum != 66)
    exit(1);
}

static void taskloop_many(void)
{
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 1000; i++)
    u(5);
  u(1);
}

static void taskloop_many_nogroup(void)
{
#pragma omp taskloop grainsize(1) nogroup
  for (int i = 0; i < 1000; i++)
    u(5);
  u(100);
}

static void taskloop_many_waited(void)
{
#pragma omp taskloop grainsize(1) nogroup
  for (int i = 0; i < 1000; i++)
    u(5);
#pragma omp taskwait
  u(1);
}

static void taskloop_nested(void)
{
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 4; i++) {
    u(1);
#pragma omp taskloop grainsize(1)
    for (int j = 0; j < 3; j++)
      u(2);
    u(1);
  }
  u(1);
}

static void taskloop_with_tasks(void)
{
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 6; i++) {
    u(1);
#pragma omp task
    u(9);
  }
  u(1);
}

static void taskloop_collapse(void)
{
#pragma omp taskloop collapse(2) grainsize(1)
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      u(2);
  u(1);
}

static void taskloop_if(void)
{
#pragma omp taskloop grainsize(1) if (none)
  for (int i = 0; i < 6; i++)
    u(2);
  u(1);
}

/* ---- reductions over tasks ---- */

static void task_reduction(void)
{
  int sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  {
    for (int i = 0; i < 6; i++) {
#pragma omp task in_reduction(+ : sum)
      {
        u(3);
        sum += 1;
      }
    }
    u(1);
  }
  u(2);
  if (sum != 6)
    exit(1);
}

static void region_task_reduction(void)
{
  int sum = 0;
#pragma omp parallel reduction(task, + : sum)
  {
#pragma omp single
    for (int i = 0; i < 6; i++) {
#pragma omp task in_reduction(+ : sum)
      {
        u(3);
        sum += 1;
      }
    }
  }
  u(2);
  if (sum != 6)
    exit(1);
}

/* ---- dependences ---- */

static void sections_of_arrays(void)
{
  int a[8] = {0};
#pragma omp task depend(out : a [0:4])
  u(10);
#pragma omp task depend(out : a [4:4])
  u(3);
#pragma omp task depend(in : a [0:4])
  u(5);
#pragma omp task depend(in : a [4:4])
  u(1);
#pragma omp taskwait
  u(1);
}

static void depobj(void)
{
  int x = 0;
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
  for (int i = 0; i < 5; i++) {
#pragma omp task depend(depobj : object)
    u(4);
  }
#pragma omp depobj(object) update(in)
  for (int i = 0; i < 5; i++) {
#pragma omp task depend(depobj : object)
    u(3);
  }
#pragma omp taskwait
#pragma omp depobj(object) destroy
  u(1);
}

static void iterators(void)
{
  int a[4] = {0};
  for (int i = 0; i < 4; i++) {
#pragma omp task depend(out : a[i]) firstprivate(i)
    u((uint64_t)i + 1);
  }
#pragma omp task depend(iterator(k = 0 : 4), in : a[k])
  u(5);
#pragma omp task depend(iterator(k = 0 : 2), in : a[k])
  u(5);
#pragma omp taskwait
  u(1);
}

static void across_taskwaits(void)
{
  int x = 0;
  for (int i = 0; i < 4; i++) {
#pragma omp task depend(inout : x)
    u(5);
#pragma omp task depend(in : x)
    u(2);
#pragma omp taskwait
    u(1);
  }
}

static void if_with_depend(void)
{
  int x = 0;
  u(1);
#pragma omp task depend(out : x)
  u(10);
#pragma omp task
  u(18);
#pragma omp task if (none) depend(inout : x)
  u(5);
  u(1);
#pragma omp task depend(in : x)
  u(3);
#pragma omp task if (none) depend(in : x)
  u(2);
#pragma omp taskwait
  u(1);
}

static void two_addresses(void)
{
  int x = 0, y = 0, z = 0;
#pragma omp task depend(out : x)
  u(10);
#pragma omp task depend(out : y)
  u(4);
#pragma omp task depend(in : x, y) depend(out : z)
  u(3);
#pragma omp task depend(inout : y)
  u(20);
#pragma omp task depend(in : y, z)
  u(1);
}

static void mutex_sets(void)
{
  int x = 0;
#pragma omp task depend(mutexinoutset : x)
  u(4);
#pragma omp task depend(mutexinoutset : x)
  u(6);
#pragma omp task depend(in : x)
  u(2);
#pragma omp task depend(mutexinoutset : x)
  u(5);
#pragma omp task depend(mutexinoutset : x)
  u(1);
#pragma omp task depend(out : x)
  u(3);
}

static void depend_not_siblings(void)
{
  int x = 0;
#pragma omp task depend(out : x) shared(x)
  {
    u(2);
#pragma omp task depend(out : x) shared(x)
    u(20);
  }
#pragma omp task depend(in : x)
  u(3);
#pragma omp taskwait
  u(1);
}

static void depend_in_group(void)
{
  int x = 0;
#pragma omp taskgroup
  {
#pragma omp task depend(out : x)
    u(5);
#pragma omp task depend(inout : x)
    {
      u(1);
#pragma omp task
      u(10);
    }
#pragma omp task depend(in : x)
    u(2);
  }
  u(1);
}

static void late_creation(void)
{
  int x = 0;
#pragma omp task depend(out : x)
  u(5);
  u(20);
#pragma omp task depend(inout : x)
  u(3);
  u(1);
#pragma omp task depend(in : x)
  u(4);
}

static void wait_depend_in_task(void)
{
  int x = 0, y = 0;
#pragma omp task shared(x, y)
  {
#pragma omp task depend(out : x) shared(x)
    u(7);
#pragma omp task depend(out : y) shared(y)
    u(30);
#pragma omp taskwait depend(in : x)
    u(2);
  }
#pragma omp taskwait
  u(1);
}

#if defined __clang__ ? __clang_major__ >= 16 : __GNUC__ >= 13
static void all_memory(void)
{
  int x = 0, y = 0;
#pragma omp task depend(out : x)
  u(10);
#pragma omp task depend(out : y)
  u(4);
#pragma omp task depend(inout : omp_all_memory)
  u(5);
#pragma omp task depend(in : x)
  u(2);
#pragma omp task depend(in : y)
  u(3);
#pragma omp task depend(out : omp_all_memory)
  u(1);
}

static void inoutset(void)
{
  int x = 0;
#pragma omp task depend(out : x)
  u(10);
  for (int i = 0; i < 4; i++) {
#pragma omp task depend(inoutset : x)
    u(3);
  }
#pragma omp task depend(in : x)
  u(2);
#pragma omp task depend(inoutset : x)
  u(4);
}

static void wait_nowait(void)
{
  int x = 0, y = 0;
#pragma omp task depend(out : x)
  u(10);
#pragma omp task depend(out : y)
  u(30);
#pragma omp taskwait depend(in : x) nowait
  u(25);
#pragma omp taskwait
  u(1);
}

static void masked_filter(void)
{
#pragma omp parallel
  {
#pragma omp masked filter(1)
    u(7);
#pragma omp barrier
#pragma omp masked
    u(2);
  }
  u(1);
}

#endif

/* ---- detached tasks ---- */

/* What a construct waits for, but does not run, is not in its span. */
static void waits_for_others(void)
{
  int x = 0;
#pragma omp task
  u(50);
#pragma omp task depend(out : x)
  u(20);
#pragma omp taskgroup
  {
#pragma omp task depend(in : x)
    u(2);
#pragma omp taskwait
    u(1);
  }
  hpcrun_lite_region_begin("waits");
#pragma omp task depend(inout : x)
  u(6);
#pragma omp taskwait
  hpcrun_lite_region_end();
}

static void detach_early(void)
{
  omp_event_handle_t event;
#pragma omp task detach(event)
  {
    u(3);
    omp_fulfill_event(event);
    u(8);
  }
#pragma omp taskwait
  u(1);
}

static void detach_by_parent(void)
{
  omp_event_handle_t event;
#pragma omp task detach(event)
  u(3);
  u(20);
  omp_fulfill_event(event);
#pragma omp taskwait
  u(1);
}

static void detach_chain(void)
{
  int x = 0;
  omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
  u(3);
#pragma omp task firstprivate(event)
  {
    u(9);
    omp_fulfill_event(event);
    u(2);
  }
#pragma omp task depend(in : x)
  u(5);
#pragma omp taskwait
  u(1);
}

static void *fulfil(void *event)
{
  omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
  return NULL;
}

static void detach_pthread(void)
{
  omp_event_handle_t event;
  pthread_t thread;
#pragma omp task detach(event)
  u(3);
  u(4);
  pthread_create(&thread, NULL, fulfil, (void *)(uintptr_t)event);
#pragma omp taskwait
  u(1);
  pthread_join(thread, NULL);
}

static void detach_group(void)
{
#pragma omp taskgroup
  {
    omp_event_handle_t event;
#pragma omp task detach(event)
    u(2);
#pragma omp task firstprivate(event)
    {
      u(11);
      omp_fulfill_event(event);
    }
  }
  u(1);
}

const struct form forms[] = {FORM(grandchildren, SINGLE),
                             FORM(short_lived_parents, SINGLE),
                             FORM(group_task_group, SINGLE),
                             FORM(if_chain, SINGLE),
                             FORM(final_tree, SINGLE),
                             FORM(mergeable, SINGLE),
                             FORM(untied_children, SINGLE),
                             FORM(many_tasks, SINGLE),
                             FORM(deep_chain, SINGLE),
                             FORM(waits_for_none, SINGLE),
                             FORM(critical_in_tasks, SINGLE),
                             FORM(priorities, SINGLE),
                             FORM(taskloop_tasks, SINGLE),
                             FORM(taskloop_reduction, SINGLE),
                             FORM(taskloop_many, SINGLE),
                             FORM(taskloop_many_nogroup, SINGLE),
                             FORM(taskloop_many_waited, SINGLE),
                             FORM(taskloop_nested, SINGLE),
                             FORM(taskloop_with_tasks, SINGLE),
                             FORM(taskloop_collapse, SINGLE),
                             FORM(taskloop_if, SINGLE),
                             FORM(task_reduction, SINGLE),
                             FORM(region_task_reduction, PLAIN),
                             FORM(sections_of_arrays, SINGLE),
                             FORM(depobj, SINGLE),
                             FORM(iterators, SINGLE),
                             FORM(across_taskwaits, SINGLE),
                             FORM(if_with_depend, SINGLE),
                             FORM(two_addresses, SINGLE),
                             FORM(many_addresses, SINGLE),
                             FORM(many_readers, SINGLE),
                             FORM(depend_tree, SINGLE),
                             FORM(mutex_sets, SINGLE),
                             FORM(depend_not_siblings, SINGLE),
                             FORM(depend_in_group, SINGLE),
                             FORM(waits_for_others, SINGLE),
                             FORM(late_creation, SINGLE),
                             FORM(wait_depend_in_task, SINGLE),
#if defined __clang__ ? __clang_major__ >= 16 : __GNUC__ >= 13
                             FORM(all_memory, SINGLE),
                             FORM(inoutset, SINGLE),
                             FORM(wait_nowait, SINGLE),
                             FORM(masked_filter, PLAIN),
#endif
                             FORM(detach_early, SINGLE),
                             FORM(detach_by_parent, SINGLE),
                             FORM(detach_chain, SINGLE),
                             FORM(detach_pthread, SINGLE),
                             FORM(detach_group, SINGLE),
                             {NULL, NULL, PLAIN}};
