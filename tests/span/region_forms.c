/* Regions, exits, cancellation, teams, user regions: programs whose work and span follow from their source; see
 * closed_forms.py. */
#include "forms.h"

/* ---- regions ---- */

static void barriers(void)
{
#pragma omp parallel
  for (int i = 0; i < 20; i++) {
    if (omp_get_thread_num() == i % omp_get_num_threads())
      u(3);
#pragma omp barrier
  }
  u(1);
}

static void barriers_with_tasks(void)
{
#pragma omp parallel
  for (int i = 0; i < 10; i++) {
#pragma omp task
    {
      u(2);
#pragma omp task
      u(3);
    }
    u(1);
#pragma omp barrier
  }
  u(1);
}

/* A task that the end of a region joins, after any number of barriers. */
static void barriers_then_task(void)
{
  for (int barriers = 0; barriers < 6; barriers++) {
#pragma omp parallel
    {
      for (int i = 0; i < barriers; i++) {
#pragma omp barrier
      }
#pragma omp single nowait
      {
#pragma omp task
        u(2);
      }
    }
    u(1);
  }
}

static void nested_4(void)
{
#pragma omp parallel num_threads(2)
  {
    u(1);
#pragma omp parallel num_threads(2)
    {
      u(1);
#pragma omp parallel num_threads(2)
      {
        u(1);
#pragma omp parallel num_threads(2)
        u(1 + (uint64_t)omp_get_thread_num());
        u(1);
      }
      u(1);
    }
    u(1);
  }
}

static void nested_in_tasks(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 5; i++) {
#pragma omp task firstprivate(i)
    {
      u(1);
#pragma omp parallel num_threads(2)
      {
        u((uint64_t)i + 1);
#pragma omp single
        {
#pragma omp task
          u(3);
        }
      }
      u(2);
    }
  }
  u(1);
}

static void region_if(void)
{
  u(1);
#pragma omp parallel if (none)
  {
    u(3);
#pragma omp task
    u(10);
    u(4);
  }
  u(1);
}

static void region_one(void)
{
#pragma omp parallel num_threads(1)
  {
    u(3);
#pragma omp task
    u(10);
#pragma omp task
    u(10);
#pragma omp taskwait
    u(4);
#pragma omp barrier
    u(1);
#pragma omp task
    u(5);
  }
  u(1);
}

static void regions_many(void)
{
  for (int i = 0; i < 300; i++) {
#pragma omp parallel
    u(2);
    u(1);
  }
}

static void regions_sizes(void)
{
  for (int i = 1; i <= 6; i++) {
    omp_set_num_threads(i);
#pragma omp parallel
    u(2);
    u(1);
  }
}

static void *with_tasks(void *unused)
{
  (void)unused;
  u(1);
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
      u(5);
    }
    u(2);
  }
  u(1);
  return NULL;
}

static void pthreads(void)
{
  pthread_t made[4];
  u(2);
  for (int i = 0; i < 4; i++)
    pthread_create(&made[i], NULL, with_tasks, NULL);
#pragma omp parallel num_threads(2)
  u(3);
  for (int i = 0; i < 4; i++)
    pthread_join(made[i], NULL);
  u(1);
}

static void serial_tasks(void)
{
  u(1);
#pragma omp task
  u(50);
#pragma omp task
  u(20);
  u(3);
}

static void serial_tasks_waited(void)
{
  u(1);
#pragma omp task
  u(50);
#pragma omp task
  u(20);
  u(3);
#pragma omp taskwait
  u(2);
}

static void serial_group(void)
{
  u(1);
#pragma omp taskgroup
  {
#pragma omp task
    {
      u(10);
#pragma omp task
      u(5);
    }
    u(3);
  }
  u(2);
}

static void serial_loops(void)
{
#pragma omp for schedule(dynamic, 1)
  for (int i = 0; i < 4; i++)
    u(1);
#pragma omp single
  u(2);
#pragma omp critical
  u(3);
#pragma omp barrier
  u(1);
}

static void orphan_loop(void)
{
#pragma omp for schedule(dynamic, 1)
  for (int i = 0; i < 10; i++)
    u(4);
#pragma omp single
  u(2);
}

static void orphans(void)
{
#pragma omp parallel
  {
    orphan_loop();
    orphan_loop();
  }
}

static int private_count = 5;
#pragma omp threadprivate(private_count)

static void copyin(void)
{
  private_count = 7;
#pragma omp parallel copyin(private_count)
  u((uint64_t)private_count);
  u(1);
}

static void pause_resources(void)
{
#pragma omp parallel
  u(3);
  omp_pause_resource_all(omp_pause_soft);
#pragma omp parallel
  u(3);
  u(1);
}

static void dynamic_threads(void)
{
  omp_set_dynamic(1);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4; i++) {
#pragma omp task
    u(3);
  }
  u(1);
}

static void bound(void)
{
#pragma omp parallel proc_bind(spread)
  u(3);
#pragma omp parallel proc_bind(close)
  u(2);
}

static void at_exit_region(void)
{
#pragma omp parallel num_threads(2)
  u(10);
}

static void at_exit(void)
{
  atexit(at_exit_region);
  u(1);
#pragma omp parallel
  u(2);
}

static void exit_inside(void)
{
#pragma omp parallel
  {
    u(5);
#pragma omp barrier
#pragma omp master
    {
      u(2);
      puts("done");
      fflush(stdout);
      exit(0);
    }
#pragma omp barrier
  }
}

static void exit_after_tasks(void)
{
#pragma omp parallel
  {
#pragma omp master
    {
      u(1);
      int x = 0;
#pragma omp task depend(out : x)
      u(50);
#pragma omp taskwait
#pragma omp taskgroup
      {
#pragma omp task
        {
          u(1);
#pragma omp task
          u(30);
        }
      }
      puts("done");
      fflush(stdout);
      exit(0);
    }
#pragma omp barrier
  }
}

static void exit_after_unawaited(void)
{
  int done = 0;
#pragma omp parallel
  {
#pragma omp master
    {
      u(1);
#pragma omp task shared(done)
      {
        u(50);
#pragma omp atomic write
        done = 1;
      }
      for (int seen = 0; !seen;) {
#pragma omp taskyield
#pragma omp atomic read
        seen = done;
      }
      for (volatile int i = 0; i < 3000000; i++)
        ;
      puts("done");
      fflush(stdout);
      exit(0);
    }
#pragma omp barrier
  }
}

/* ---- cancellation: OMP_CANCELLATION=true ---- */

static void cancel_parallel(void)
{
#pragma omp parallel
  {
    u(3);
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
#pragma omp barrier
    u(100);
  }
  u(1);
}

static void cancel_for(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < omp_get_num_threads(); i++) {
      u(3);
#pragma omp cancel for
      u(50);
    }
    u(1);
  }
  u(1);
}

static void cancel_dynamic(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 1; i++) {
      u(3);
#pragma omp cancel for
      u(50);
    }
    u(2);
  }
  u(1);
}

static void cancel_sections(void)
{
#pragma omp parallel
  {
#pragma omp sections
    {
#pragma omp section
      {
        u(4);
#pragma omp cancel sections
        u(100);
      }
    }
    u(1);
  }
  u(1);
}

static void cancel_taskgroup(void)
{
#pragma omp taskgroup
  {
#pragma omp task if (none)
    {
      u(2);
#pragma omp cancel taskgroup
      u(100);
    }
    for (int i = 0; i < 10; i++) {
#pragma omp task
      u(1000);
    }
    u(3);
  }
  u(1);
}

static void cancellation_points(void)
{
#pragma omp taskgroup
  {
    for (int i = 0; i < 5; i++) {
#pragma omp task
      {
        u(2);
#pragma omp cancellation point taskgroup
        u(3);
      }
    }
  }
  u(1);
}

static void cancel_again(void)
{
  for (int k = 0; k < 20; k++) {
#pragma omp parallel
    {
      u(1);
#pragma omp cancel parallel
      u(100);
    }
    u(1);
  }
}

/* ---- teams ---- */

static void teams(void)
{
#pragma omp teams num_teams(3) thread_limit(2)
  {
    u(2 + (uint64_t)omp_get_team_num());
#pragma omp parallel num_threads(2)
    u(3);
    u(1);
  }
  u(1);
}

static void distribute(void)
{
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute
  for (int i = 0; i < 8; i++)
    u(3);
  u(1);
}

static void distribute_parallel(void)
{
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2) dist_schedule(static, 4) schedule(dynamic, 1)
  for (int i = 0; i < 8; i++)
    u(3);
  u(1);
}

static void orphan_task(void)
{
  u(1);
#pragma omp task
  u(9);
  u(2);
#pragma omp taskwait
  u(1);
}

static void teams_tasks(void)
{
#pragma omp teams num_teams(2) thread_limit(2)
  orphan_task();
  u(1);
}

/* ---- user regions, and control of the measurement ---- */

static void begin(const char *name)
{
  hpcrun_lite_region_begin(name);
}

static void recursive(int n)
{
  begin("recursive");
  u(1);
  if (n) {
#pragma omp task
    recursive(n - 1);
#pragma omp task
    recursive(n - 1);
#pragma omp taskwait
  }
  hpcrun_lite_region_end();
}

static void user_recursive(void)
{
  recursive(4);
}

static void user_deep(void)
{
  static const char *const names[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"};
  for (int i = 0; i < 10; i++) {
    begin(names[i]);
    u(1);
  }
#pragma omp parallel num_threads(2)
  u(5);
  for (int i = 0; i < 10; i++)
    hpcrun_lite_region_end();
  u(1);
}

static void user_single(void)
{
#pragma omp parallel
  {
    begin("around");
#pragma omp single nowait
    u(4);
    hpcrun_lite_region_end();
#pragma omp barrier
    begin("after");
    u(3);
    hpcrun_lite_region_end();
    u(2);
  }
}

static void user_loop(void)
{
#pragma omp parallel
  {
    begin("around");
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < 6; i++) {
      begin("chunk");
      u(4);
      hpcrun_lite_region_end();
    }
    hpcrun_lite_region_end();
#pragma omp barrier
    begin("tail");
    u(1);
    hpcrun_lite_region_end();
  }
}

static void user_cancel(void)
{
#pragma omp parallel
  {
    begin("around");
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 1; i++) {
      u(4);
#pragma omp cancel for
      u(50);
    }
    hpcrun_lite_region_end();
    u(1);
  }
}

static void user_ends_too_often(void)
{
  hpcrun_lite_region_end();
  u(1);
#pragma omp parallel
  {
    hpcrun_lite_region_end();
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 6; i++) {
      u(3);
      hpcrun_lite_region_end();
    }
#pragma omp critical
    {
      u(1);
      hpcrun_lite_region_end();
    }
  }
  u(1);
}

static void user_left_open(void)
{
#pragma omp parallel
  {
    begin("open");
    u(2);
#pragma omp single
    {
      begin("open too");
      u(3);
    }
    u(1);
  }
  u(1);
}

static void stop_start(void)
{
  u(1);
  hpcrun_lite_stop();
  u(100);
#pragma omp parallel
  u(100);
  hpcrun_lite_start();
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    u(5);
    u(2);
  }
  hpcrun_lite_stop();
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < 10; i++)
    u(30);
  hpcrun_lite_start();
  u(1);
}

static void stop_task(void)
{
  hpcrun_lite_stop();
#pragma omp task
  u(100);
#pragma omp taskwait
  hpcrun_lite_start();
#pragma omp task
  u(10);
#pragma omp taskwait
  u(1);
}

const struct form forms[] = {FORM(barriers, PLAIN),
                             FORM(barriers_with_tasks, PLAIN),
                             FORM(barriers_then_task, PLAIN),
                             FORM(nested_4, PLAIN),
                             FORM(nested_in_tasks, PLAIN),
                             FORM(region_if, PLAIN),
                             FORM(region_one, PLAIN),
                             FORM(regions_many, PLAIN),
                             FORM(regions_sizes, PLAIN),
                             FORM(pthreads, PLAIN),
                             FORM(serial_tasks, PLAIN),
                             FORM(serial_tasks_waited, PLAIN),
                             FORM(serial_group, PLAIN),
                             FORM(serial_loops, PLAIN),
                             FORM(orphans, PLAIN),
                             FORM(copyin, PLAIN),
                             FORM(pause_resources, PLAIN),
                             FORM(dynamic_threads, PLAIN),
                             FORM(bound, PLAIN),
                             FORM(at_exit, PLAIN),
                             FORM(exit_inside, PLAIN),
                             FORM(exit_after_tasks, PLAIN),
                             FORM(exit_after_unawaited, PLAIN),
                             FORM(cancel_parallel, PLAIN),
                             FORM(cancel_for, PLAIN),
                             FORM(cancel_dynamic, PLAIN),
                             FORM(cancel_sections, PLAIN),
                             FORM(cancel_taskgroup, SINGLE),
                             FORM(cancellation_points, SINGLE),
                             FORM(cancel_again, PLAIN),
                             FORM(teams, PLAIN),
                             FORM(distribute, PLAIN),
                             FORM(distribute_parallel, PLAIN),
                             FORM(teams_tasks, PLAIN),
                             FORM(user_recursive, SINGLE),
                             FORM(user_deep, PLAIN),
                             FORM(user_single, PLAIN),
                             FORM(user_loop, PLAIN),
                             FORM(user_cancel, PLAIN),
                             FORM(user_ends_too_often, PLAIN),
                             FORM(user_left_open, PLAIN),
                             FORM(stop_start, PLAIN),
                             FORM(stop_task, SINGLE),
                             {NULL, NULL, PLAIN}};
