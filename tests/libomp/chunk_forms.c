/* Loops of every schedule and type, whose chunks do not depend on the threads' timing (span/forms.h).  Where the test
 * compares ranges, a loop with a dynamic schedule is monotonic, and has more chunks than threads: so the direction in
 * which it counts is seen. */
#include "../span/forms.h"

static void statics(void)
{
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 10; i++)
      u((uint64_t)i + 1);
#pragma omp for schedule(static, 3) nowait
    for (int i = 5; i < 30; i += 2)
      u((uint64_t)i);
#pragma omp for schedule(static, 1)
    for (int i = 0; i < omp_get_num_threads(); i++)
      u(7);
#pragma omp for schedule(static)
    for (int i = 0; i < 1; i++) /* the other threads have no iteration */
      u(2);
  }
}

static void dynamics(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 3) nowait
    for (int i = 0; i < 20; i++)
      u((uint64_t)i);
#pragma omp barrier
#pragma omp for schedule(monotonic : dynamic, 2)
    for (int i = 3; i < 30; i += 3)
      u(2);
#pragma omp for schedule(guided, 2)
    for (int i = 0; i < 40; i++)
      u(3);
  }
}

static void by_runtime(void)
{
  for (int k = 0; k < 3; k++) {
    omp_set_schedule(k == 0 ? omp_sched_static : k == 1 ? omp_sched_dynamic : omp_sched_guided, k == 0 ? 0 : 5);
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 23; i++)
      u((uint64_t)i % 5);
  }
}

static void types(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (unsigned i = 0xfffffff0u; i < 0xfffffffbu; i += 2)
      u(1);
#pragma omp for schedule(monotonic : dynamic, 2)
    for (unsigned i = 3000000000u; i > 2999999990u; i--)
      u(2);
#pragma omp for schedule(static)
    for (long i = -100000000000; i < 100000000000; i += 50000000000)
      u(3);
#pragma omp for schedule(monotonic : dynamic, 1)
    for (long i = 40000000000; i > 0; i -= 5000000000)
      u(4);
#pragma omp for schedule(static, 2)
    for (unsigned long i = ~0ul; i > ~0ul - 9; i--)
      u(5);
#pragma omp for schedule(guided)
    for (unsigned long i = 0; i < 17; i += 4)
      u(6);
  }
}

static void down(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 30; i > 5; i -= 2)
      u((uint64_t)i);
#pragma omp for schedule(monotonic : dynamic, 2)
    for (int i = 30; i >= 5; i -= 3)
      u((uint64_t)i);
  }
}

static void empty(void)
{
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < none; i++)
      u(1);
#pragma omp for schedule(dynamic)
    for (int i = 0; i < none; i++)
      u(1);
#pragma omp for schedule(static, 2)
    for (int i = one; i < 4; i++)
      u(3);
  }
}

static void collapsed(void)
{
#pragma omp parallel for collapse(2) schedule(monotonic : dynamic, 3)
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      u((uint64_t)(i * j));
}

static void nested(void)
{
#pragma omp parallel for schedule(static, 1) num_threads(2)
  for (int k = 0; k < 2; k++) {
#pragma omp parallel for schedule(monotonic : dynamic, 2) num_threads(3)
    for (int i = 0; i < 8; i++)
      u((uint64_t)(i + 10 * k));
  }
}

/* The loops of inner regions, and of the last one, are not divided. */
static void undivided(void)
{
  omp_set_max_active_levels(1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
  for (int k = 0; k < 4; k++) {
#pragma omp parallel for schedule(dynamic, 2) num_threads(2)
    for (int i = 0; i < 5; i++)
      u(1);
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 5; i++)
      u(2);
  }
#pragma omp parallel num_threads(1)
  {
#pragma omp for
    for (int i = 0; i < 5; i++)
      u(3);
#pragma omp for schedule(guided)
    for (int i = 0; i < 5; i++)
      u(4);
#pragma omp sections
    {
      u(5);
#pragma omp section
      u(6);
    }
  }
}

static void outside(void)
{
#pragma omp for
  for (int i = 0; i < 10; i++)
    u(1);
#pragma omp for schedule(dynamic, 3)
  for (int i = 0; i < 10; i++)
    u(2);
}

static void ordered(void)
{
#pragma omp parallel
  {
#pragma omp for ordered schedule(static)
    for (int i = 0; i < 9; i++) {
      u(1);
#pragma omp ordered
      u(2);
    }
#pragma omp for ordered schedule(dynamic, 2)
    for (int i = 0; i < 9; i++) {
#pragma omp ordered
      u(3);
    }
#pragma omp for ordered(1) schedule(static, 2)
    for (int i = 0; i < 8; i++) {
#pragma omp ordered depend(sink : i - 1)
      u(4);
#pragma omp ordered depend(source)
    }
  }
}

static void sections(void)
{
#pragma omp parallel
  {
#pragma omp sections nowait
      {u(3);
#pragma omp section
  u(3);
#pragma omp section
  u(3);
}
#pragma omp sections
{
  u(4);
#pragma omp section
  u(4);
}
}
#pragma omp parallel sections
{
  u(5);
#pragma omp section
  u(5);
#pragma omp section
  u(5);
#pragma omp section
  u(5);
}
}

static void leagues(void)
{
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute parallel for num_threads(2)
  for (int i = 0; i < 12; i++)
    u(1);
#pragma omp teams num_teams(2) thread_limit(2)
#pragma omp distribute parallel for dist_schedule(static, 6) schedule(dynamic, 2) num_threads(2)
  for (int i = 0; i < 24; i++)
    u(2);
#pragma omp teams num_teams(2)
#pragma omp distribute
  for (int i = 0; i < 9; i++)
    u(3);
#pragma omp teams num_teams(1)
#pragma omp distribute dist_schedule(static, 2)
  for (int i = 0; i < 9; i++)
    u(4);
}

static void league(void)
{
#pragma omp teams num_teams(1)
#pragma omp distribute parallel for num_threads(2)
  for (int i = 0; i < 12; i++)
    u(1);
}

static void cancelled(void)
{
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 40; i++) {
      u(1);
#pragma omp cancel for if (i % 20 == 3)
    }
#pragma omp for ordered schedule(monotonic : dynamic, 4)
    for (int i = 0; i < 40; i++)
      u(1);
  }
}

static void taskloops(void)
{
#pragma omp taskloop grainsize(3)
  for (int i = 0; i < 20; i++)
    u((uint64_t)i);
#pragma omp taskloop num_tasks(7) nogroup
  for (int i = 30; i > 3; i -= 2)
    u((uint64_t)i);
#pragma omp taskloop untied
  for (unsigned long i = 5; i < 25; i++)
    u(i);
#pragma omp taskloop num_tasks(4) if (none)
  for (int i = 0; i < 8; i++)
    u(1);
}

static void many_tasks(void)
{
  double sum = 0;
#pragma omp taskloop num_tasks(700) shared(sum)
  for (int i = 0; i < 1400; i++) {
    u(1);
    if (i == 1399)
      sum = i;
  }
  if (sum != 1399)
    exit(1);
}

static void undivided_taskloop(void)
{
#pragma omp parallel num_threads(1)
  {
#pragma omp taskloop num_tasks(3)
    for (int i = 0; i < 9; i++)
      u((uint64_t)i);
  }
}

/* Clang's loops count up by 1.  Code of other compilers may pass any step, as these calls do; the schedules are
 * libomp's numbers. */
struct location {
  int32_t reserved, flags, more[2];
  const char *source;
};
enum { MONOTONIC_DYNAMIC = 35 | 1 << 29, STATIC = 34 };

int32_t __kmpc_global_thread_num(struct location *);
void __kmpc_barrier(struct location *, int32_t);
void __kmpc_dispatch_init_4(struct location *, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
int __kmpc_dispatch_next_4(struct location *, int32_t, int32_t *, int32_t *, int32_t *, int32_t *);
void __kmpc_dispatch_init_8u(struct location *, int32_t, int32_t, uint64_t, uint64_t, int64_t, int64_t);
int __kmpc_dispatch_next_8u(struct location *, int32_t, int32_t *, uint64_t *, uint64_t *, int64_t *);
void __kmpc_for_static_init_4(struct location *, int32_t, int32_t, int32_t *, int32_t *, int32_t *, int32_t *, int32_t,
                              int32_t);
void __kmpc_for_static_fini(struct location *, int32_t);

static struct location location = {.flags = 2 | 512, .source = ";chunk_forms.c;steps;1;1;;"};

static __attribute__((noinline)) void step_4(int32_t thread, int32_t lower, int32_t upper, int32_t step)
{
  int32_t last = 0, from, to, by;
  __kmpc_dispatch_init_4(&location, thread, MONOTONIC_DYNAMIC, lower, upper, step, 2);
  while (__kmpc_dispatch_next_4(&location, thread, &last, &from, &to, &by))
    u(1);
  __kmpc_barrier(&location, thread);
}

static __attribute__((noinline)) void step_8u(int32_t thread, uint64_t lower, uint64_t upper, int64_t step)
{
  int32_t last = 0;
  uint64_t from, to;
  int64_t by;
  __kmpc_dispatch_init_8u(&location, thread, MONOTONIC_DYNAMIC, lower, upper, step, 2);
  while (__kmpc_dispatch_next_8u(&location, thread, &last, &from, &to, &by))
    u(1);
  __kmpc_barrier(&location, thread);
}

static __attribute__((noinline)) void static_step(int32_t thread, int32_t lower, int32_t upper, int32_t step)
{
  int32_t last = 0, stride = 1;
  __kmpc_for_static_init_4(&location, thread, STATIC, &last, &lower, &upper, &stride, step, 1);
  u(1);
  __kmpc_for_static_fini(&location, thread);
  __kmpc_barrier(&location, thread);
}

static void steps(void)
{
#pragma omp parallel
  {
    int32_t thread = __kmpc_global_thread_num(&location);
    step_4(thread, 0, 20, 3);
    step_4(thread, 20, 0, -3);
    step_4(thread, -5, -30, -2);
    static_step(thread, 0, 20, 3);
    static_step(thread, 20, 0, -3);
    static_step(thread, -3, -40, -4);
    step_8u(thread, 3, (1ul << 63) - 9, 1l << 58);
  }
}

const struct form forms[] = {FORM(statics, PLAIN),    FORM(dynamics, PLAIN),    FORM(by_runtime, PLAIN),
                             FORM(types, PLAIN),      FORM(down, PLAIN),        FORM(empty, PLAIN),
                             FORM(collapsed, PLAIN),  FORM(nested, PLAIN),      FORM(undivided, PLAIN),
                             FORM(outside, PLAIN),    FORM(ordered, PLAIN),     FORM(sections, PLAIN),
                             FORM(leagues, PLAIN),    FORM(league, PLAIN),      FORM(cancelled, PLAIN),
                             FORM(taskloops, SINGLE), FORM(many_tasks, SINGLE), FORM(undivided_taskloop, PLAIN),
                             FORM(steps, PLAIN),      {NULL, NULL, PLAIN}};
