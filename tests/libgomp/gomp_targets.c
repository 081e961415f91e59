/* Target constructs of GCC's code without a device: programs whose work and span follow from their source; see
 * ../span/forms.h.  Each checks what it has computed. */
#include "../span/forms.h"

#include <stdint.h>

#define NOINLINE __attribute__((noinline))

static void check(int is_right)
{
  if (!is_right) {
    puts("wrong");
    exit(3);
  }
}

/* ---- regions that their thread runs at once ---- */

static void serial(void)
{
  int values[4] = {1, 2, 3, 4}, sum = 0;
  u(1);
#pragma omp target map(tofrom : sum)
  {
    for (int i = 0; i < 4; i++)
      sum += values[i];
    u(10);
  }
  u(2);
  check(sum == 10);
}

static void refused(void)
{
  int seen = 0;
#pragma omp target if (none) map(tofrom : seen)
  {
    seen = omp_is_initial_device();
    u(10);
  }
#pragma omp target device(omp_get_initial_device()) map(tofrom : seen)
  {
    seen += omp_is_initial_device();
    u(10);
  }
  check(seen == 2);
}

static void repeated(void)
{
  int sum = 0;
  for (int i = 0; i < 1000; i++) {
#pragma omp target map(tofrom : sum)
    {
      sum += i;
      u(3);
    }
  }
  check(sum == 499500);
}

/* Threads of the team in it: it has none around it. */
static void team(void)
{
  int count = 0;
  u(1);
#pragma omp target map(tofrom : count)
  {
    u(2);
#pragma omp parallel num_threads(3) reduction(+ : count)
    {
      count += omp_get_num_threads() * (omp_get_level() == 1);
      u(4);
    }
  }
  check(count == 9);
}

static void combined(void)
{
  int values[12] = {0}, sum = 0;
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(2) map(tofrom : values)
  for (int i = 0; i < 12; i++) {
    values[i] += i;
    u(5);
  }
  for (int i = 0; i < 12; i++)
    sum += values[i];
  check(sum == 66);
}

/* The end of a region waits for its tasks. */
static void tasks_inside(void)
{
  u(1);
#pragma omp target
  {
#pragma omp task
    u(10);
#pragma omp task
    u(10);
    u(2);
  }
  u(5);
#pragma omp task
  u(3);
#pragma omp taskwait
}

/* In chunks of a loop; in each, a loop of its own. */
static void in_loop(void)
{
  int sum = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
  for (int i = 0; i < 6; i++) {
    u(1);
#pragma omp target map(tofrom : sum)
    {
      sum += i;
      u(i + 1);
    }
    u(2);
  }
  check(sum == 15);
}

NOINLINE static void divided(int *sum)
{
#pragma omp for schedule(dynamic, 1)
  for (int k = 0; k < 4; k++) {
    *sum += k;
    u(1);
  }
}

/* A loop in a function, whose team is that of the region: one thread. */
static void orphaned(void)
{
  int sum = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
  for (int i = 0; i < 6; i++) {
    u(1);
#pragma omp target map(tofrom : sum)
    divided(&sum);
    u(2);
  }
  check(sum == 36);
#pragma omp parallel
  u(10);
}

/* Constructs of a team in a function. */
NOINLINE static void shared(int *sum)
{
  divided(sum);
#pragma omp single
  u(1);
#pragma omp barrier
#pragma omp sections
  {
#pragma omp section
    u(1);
#pragma omp section
    u(1);
  }
#pragma omp for ordered schedule(dynamic, 1)
  for (int i = 0; i < 2; i++) {
    u(1);
#pragma omp ordered
    u(1);
  }
}

/* In regions within a loop and a single construct, and in a region that is a task.  In an ordered loop, libgomp 12 by
 * itself can hang. */
static void shared_inside(void)
{
  int sum = 0, others = 0;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1) reduction(+ : sum)
    for (int i = 0; i < 4; i++) {
#pragma omp target map(tofrom : sum)
      shared(&sum);
      u(1);
    }
#pragma omp single
    {
#pragma omp target map(tofrom : sum)
      shared(&sum);
#pragma omp target nowait map(tofrom : others)
      shared(&others);
      u(2);
#pragma omp taskwait
    }
  }
  check(sum == 30 && others == 6);
}

/* A barrier there waits for the tasks of the region alone, but for all of them. */
static void barriers_inside(void)
{
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    u(7);
#pragma omp target
    {
#pragma omp task
      {
#pragma omp task
        u(10);
      }
#pragma omp barrier
      u(3);
#pragma omp for schedule(dynamic, 1)
      for (int i = 0; i < 2; i++) {
#pragma omp task
        u(4);
      }
      u(2);
    }
  }
}

static void in_task(void)
{
  for (int i = 0; i < 4; i++) {
#pragma omp task
    {
      u(1);
#pragma omp target
      u(10);
    }
  }
  u(4);
#pragma omp taskwait
}

/* After a single construct that another thread executes, which has ended. */
static void after_single(void)
{
#pragma omp parallel
  {
#pragma omp single nowait
    u(10);
#pragma omp target
    u(3);
#pragma omp barrier
  }
}

/* ---- regions that are tasks ---- */

static void beside(void)
{
  int values[2] = {0, 0};
  u(1);
#pragma omp target nowait map(tofrom : values)
  {
    values[0] = 1 - omp_get_level(); /* outside of all teams */
    u(20);
  }
  u(15);
#pragma omp taskwait
  u(2);
  check(values[0] == 1);
}

static void chain(void)
{
  int x = 0, y = 0;
  u(1);
#pragma omp target nowait depend(out : x) map(tofrom : x)
  {
    x = 1;
    u(10);
  }
#pragma omp target nowait depend(inout : x) map(tofrom : x)
  {
    x = x * 2 + 1;
    u(10);
  }
#pragma omp task depend(in : x) shared(x, y)
  {
    y = x;
    u(5);
  }
  u(7);
#pragma omp taskwait
  check(y == 3);
}

/* Without nowait: the thread waits for the dependences. */
static void waits(void)
{
  int x = 0, after = 0;
#pragma omp task depend(out : x) shared(x)
  {
    x = 1;
    u(10);
  }
#pragma omp task
  u(4);
#pragma omp target depend(inout : x) map(tofrom : x)
  {
    x = x * 2 + 1;
    u(3);
  }
  after = x;
  u(1);
#pragma omp taskwait
  check(after == 3);
}

extern void GOMP_target_ext(int, void (*)(void *), size_t, void **, size_t *, unsigned short *, unsigned, void **,
                            void **);

static void ten(void *unused)
{
  (void)unused;
  u(10);
}

/* A device number of which it is not known that it is the host's: what the function is may not be changed. */
static void numbered(void)
{
  int x;
  void *depend[] = {(void *)1, (void *)1, &x}, *arguments[] = {NULL};
  GOMP_target_ext(-3, ten, 0, NULL, NULL, NULL, 0, depend, arguments);
}

/* Nothing is moved, but dependences go by way of the data. */
static void moves(void)
{
  int x = 0, y = 0, z = 0;
#pragma omp task depend(out : x)
  u(10);
#pragma omp target update to(x) nowait depend(in : x) depend(out : y)
#pragma omp task depend(in : y)
  u(5);
#pragma omp target enter data map(to : z) nowait depend(in : y) depend(out : z)
#pragma omp target exit data map(from : z) nowait depend(inout : z)
#pragma omp task depend(in : z)
  u(6);
#pragma omp taskwait
#pragma omp task depend(out : x)
  u(10);
#pragma omp target update from(x) depend(in : x)
  u(2);
#pragma omp taskwait
}

static void data(void)
{
  int values[100] = {0};
#pragma omp target data map(tofrom : values)
  {
    u(1);
#pragma omp target update to(values)
    for (int i = 0; i < 3; i++) {
#pragma omp target map(tofrom : values)
      {
        values[i]++;
        u(5);
      }
    }
#pragma omp target update from(values)
  }
#pragma omp target enter data map(to : values)
#pragma omp target exit data map(from : values)
  u(2);
  check(values[0] + values[1] + values[2] == 3);
}

/* Copies of variables, with their alignment. */
struct aligned {
  _Alignas(64) long values[16];
};

static void copies(void)
{
  struct aligned aligned = {.values = {1, 2, 3}};
  int length = 40, wrong[8] = {0};
  char byte = 7;
  double many[length];
  for (int i = 0; i < length; i++)
    many[i] = i;
  for (int k = 0; k < 8; k++) {
    aligned.values[3] = k;
    many[5] = k;
#pragma omp target nowait firstprivate(aligned, byte, many, k) map(tofrom : wrong[k])
    {
      wrong[k] =
          ((uintptr_t)&aligned % 64 != 0) + (aligned.values[3] != k) + (byte != 7) + (many[5] != k) + (many[39] != 39);
      u(2);
    }
  }
  aligned.values[3] = 100;
  many[5] = 100;
#pragma omp taskwait
  for (int k = 0; k < 8; k++)
    check(!wrong[k]);
}

/* At the end of the region; a team in each. */
static void at_end(void)
{
  static int counts[6];
#pragma omp parallel
  {
#pragma omp single nowait
    for (int i = 0; i < 6; i++) {
      counts[i] = 0;
#pragma omp target nowait map(tofrom : counts[i])
      {
#pragma omp parallel num_threads(2)
        {
          u(4);
#pragma omp atomic
          counts[i] += omp_get_num_threads();
        }
      }
    }
  }
#pragma omp parallel
  u(1);
  for (int i = 0; i < 6; i++)
    check(counts[i] == 4);
}

static void in_group(void)
{
  int x = 0;
#pragma omp taskgroup
  {
#pragma omp target nowait map(tofrom : x)
    {
      x = 1;
      u(10);
    }
    u(3);
  }
  check(x);
  u(4);
}

/* Serial: libgomp runs it at once. */
static void in_final(void)
{
  int x = 0;
#pragma omp task final(one) shared(x)
  {
#pragma omp target nowait map(tofrom : x)
    {
      x = 1;
      u(10);
    }
    u(3);
  }
#pragma omp taskwait
  check(x);
}

/* Outside any region, where libgomp makes a team of one thread for it. */
static void outside(void)
{
  int x = 0;
  u(1);
#pragma omp target nowait map(tofrom : x)
  {
    x = 1;
    u(20);
  }
  u(15);
#pragma omp taskwait
  u(2);
  check(x);
}

const struct form forms[] = {FORM(serial, PLAIN),          FORM(refused, PLAIN),  FORM(repeated, PLAIN),
                             FORM(team, SINGLE),           FORM(combined, PLAIN), FORM(tasks_inside, SINGLE),
                             FORM(in_loop, PLAIN),         FORM(orphaned, PLAIN), FORM(shared_inside, PLAIN),
                             FORM(barriers_inside, PLAIN), FORM(in_task, SINGLE), FORM(after_single, PLAIN),
                             FORM(beside, SINGLE),         FORM(chain, SINGLE),   FORM(waits, SINGLE),
                             FORM(numbered, SINGLE),       FORM(moves, SINGLE),   FORM(data, PLAIN),
                             FORM(copies, SINGLE),         FORM(at_end, PLAIN),   FORM(in_group, SINGLE),
                             FORM(in_final, SINGLE),       FORM(outside, PLAIN),  {0}};
