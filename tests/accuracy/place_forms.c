/* Constructs of all kinds, in code that compilers move, merge and inline.  See place_forms.py: every line that ends in
 * "@ KIND" has a construct of that kind.  PART is 1 for a library, 2 for the program that uses it, 3 for all in one. */
#include "place_forms.h"

#if PART & 1 /* orphaned constructs, and regions of a library */

void orphans(int count)
{
#pragma omp for schedule(dynamic) // @ for
  for (int i = 0; i < count; i++)
    spend(i);
#pragma omp single // @ single
  {
    spend(1);
#pragma omp task // @ task
    spend(2);
#pragma omp taskwait // @ taskwait
  }
#pragma omp barrier // @ barrier
}

void library_region(int count)
{
#pragma omp parallel // @ parallel
  {
    spend(count);
  }
  spend(count);
}

void library_tail(void)
{
#pragma omp parallel // @ parallel
  spend(1);
}

#endif
#if PART & 2

#include "hpcrun-lite.h"
#include "modes.h"

#include <omp.h>


#define TWO_TASKS                                                                                                      \
  _Pragma("omp task") spend(5);                                                                                        \
  _Pragma("omp task") spend(6)

static omp_lock_t lock;
static omp_nest_lock_t nested;
static int numbers[64];

/* ---- worksharing ---- */

static void loops(int count)
{
#pragma omp parallel // @ parallel
  {
#pragma omp for schedule(static, 1) // @ for
    for (int i = 0; i < count; i++)
      spend(i);
#pragma omp for schedule(dynamic, 1) nowait // @ for
    for (int i = 0; i < count; i++) {
      spend(i);
      numbers[i] += i;
    }
#pragma omp for schedule(guided) ordered // @ for
    for (int i = 0; i < count; i++) {
      spend(i);
#pragma omp ordered // @ ordered
      spend(i);
    }
#pragma omp sections // @ sections
    {
#pragma omp section
      spend(1);
#pragma omp section
      spend(2);
    }
#pragma omp single // @ single
    spend(3);
#pragma omp single nowait // @ single
    {
      spend(4);
    }
#pragma omp masked // @ masked
    spend(5);
#pragma omp barrier // @ barrier
    spend(6);
  }
}

static void combined(int count)
{
#pragma omp parallel for schedule(dynamic, 1) // @ parallel for
  for (int i = 0; i < count; i++)
    spend(i);
#pragma omp parallel for // @ parallel for
  for (int i = 0; i < count; i++)
    spend(i);
#pragma omp parallel sections // @ parallel sections
  {
#pragma omp section
    spend(1);
#pragma omp section
    spend(2);
  }
  place_sink++;
}

/* ---- mutual exclusion ---- */

static NOINLINE void locks(void)
{
#pragma omp parallel num_threads(2) // @ parallel
  {
#pragma omp critical // @ critical
    spend(1);
    spend(1);
#pragma omp critical(named) // @ critical
    {
      spend(2);
    }
    omp_set_lock(&lock); // @ lock
    spend(3);
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nested); // @ lock
    spend(4);
    omp_unset_nest_lock(&nested);
    hpcrun_lite_region_begin("a region"); // @ user-region
    spend(5);
    hpcrun_lite_region_end();
  }
}

/* ---- tasks ---- */

static void recursive(int depth)
{
  if (depth > 0) {
#pragma omp task // @ task
    recursive(depth - 1);
#pragma omp task untied // @ task
    {
      recursive(depth - 1);
    }
#pragma omp taskwait // @ taskwait
  }
  spend(depth);
}

static void tasks(int count)
{
#pragma omp parallel // @ parallel
#pragma omp single // @ single
  {
    recursive(2);
#pragma omp taskgroup // @ taskgroup
    {
      for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(i) // @ task
        {
          spend(i);
          numbers[i % 64] += i;
        }
      }
    }
#pragma omp taskloop grainsize(1) // @ taskloop
    for (int i = 0; i < count; i++)
      spend(i);
    spend(7);
#pragma omp task if (0) // @ task
    {
      spend(8);
    }
#pragma omp task depend(out : numbers[0]) // @ task
    spend(9);
#pragma omp task depend(in : numbers[0]) // @ task
    spend(10);
#pragma omp taskwait // @ taskwait
    TWO_TASKS; // @ task
  }
}

/* ---- functions that end in a region ---- */

static void last_act(void)
{
#pragma omp parallel // @ parallel
  spend(1);
}

static void last_of_two(void)
{
  spend(1);
#pragma omp parallel num_threads(2) // @ parallel
  {
    spend(2);
#pragma omp barrier // @ barrier
    spend(3);
  }
}

static NOINLINE void called_directly(void)
{
#pragma omp parallel // @ parallel
  spend(4);
}

static NOINLINE void one_or_other(int which)
{
  if (which) {
#pragma omp parallel // @ parallel
    spend(1);
  } else {
#pragma omp parallel // @ parallel
    spend(2);
  }
}

static NOINLINE void wait_at_last(int which)
{
#pragma omp task firstprivate(which) // @ task
  spend(which);
#pragma omp taskwait // @ taskwait
}

static NOINLINE void barrier_at_last(int which)
{
  spend(which);
#pragma omp barrier // @ barrier
}

static NOINLINE void task_at_last(void)
{
  place_sink++;
#pragma omp task // @ task
  spend(7);
}

static void at_last(void)
{
#pragma omp parallel // @ parallel
  {
#pragma omp single nowait // @ single
    {
      wait_at_last(1);
      task_at_last();
    }
    barrier_at_last(2);
  }
}

/* ---- equal code, moved code ---- */

static NOINLINE void twins(int amount)
{
#pragma omp parallel // @ parallel
  spend(amount);
  place_sink++;
#pragma omp parallel // @ parallel
  spend(amount);
  place_sink++;
}

static void nests(int amount)
{
#pragma omp parallel /* @ parallel */ \
    num_threads(2)
  {
    spend(amount);
#pragma omp parallel /* @ parallel */ \
    num_threads(2)
    {
      spend(amount + 1);
    }
  }
}

static inline int prepare(int number)
{
  int count = 2 + number % 3;
  for (int i = 0; i < count; i++)
    numbers[i] = place_sink++;
  return count;
}

static void after_inlined(void)
{
  for (int i = 0; i < 3; i++) {
    int count = prepare(i);
#pragma omp parallel // @ parallel
    {
      spend(count);
    }
  }
  header_region(3);
}

static void teams(void)
{
#pragma omp teams num_teams(1) // @ teams
  {
    spend(1);
#pragma omp parallel num_threads(2) // @ parallel
    spend(2);
  }
}

static void elsewhere(void)
{
#pragma omp parallel // @ parallel
  orphans(4);
  library_region(1);
  library_tail();
}

static void everything(void)
{
  loops(6);
  combined(6);
  locks();
  tasks(4);
  called_directly();
  one_or_other(0);
  one_or_other(1);
  at_last();
  twins(3);
  nests(2);
  after_inlined();
  teams();
  elsewhere();
  header_region(4);
}

int main(int argc, char **argv)
{
  static const struct mode modes[] = {{"everything", everything}, {"last_act", last_act}, {"last_of_two", last_of_two}};
  omp_init_lock(&lock);
  omp_init_nest_lock(&nested);
  omp_set_max_active_levels(2);
  return RUN_MODE(modes, argc, argv) ? 0 : 2;
}

#endif
