/* Programs whose grains follow from their source (forms.h). */
#include "forms.h"

/* ---- structure ---- */

enum { FIB = 12, CUT_OFF = 8 };

static int fib(int n)
{
  if (n < CUT_OFF) {
    u(n);
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }
  int a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  u(1);
  return a + b;
}

static void fibonacci(void)
{
  fib(FIB);
}

/* Iterations 1, 3, ... 31 in chunks of four (figure 4 of Langdal's paper). */
static void loop(void)
{
#pragma omp parallel for schedule(dynamic, 4)
  for (int i = 1; i <= 31; i += 2)
    u(i);
}

/* Below the first node of each level hangs a tree, below the second one a leaf. */
static void grow(int depth)
{
  if (!depth)
    return;
#pragma omp task
  {
    u(depth);
    grow(depth - 1);
  }
#pragma omp task
  u(1);
#pragma omp taskwait
}

static void tree(void)
{
  grow(6);
}

static void flood(void)
{
  for (int i = 0; i < 20000; i++)
#pragma omp task
    u(2);
#pragma omp taskwait
}

static void chain_from(int left)
{
  u(3);
  if (!left)
    return;
#pragma omp task
  chain_from(left - 1);
#pragma omp taskwait
}

static void chain(void)
{
#pragma omp task
  chain_from(199);
}

/* Each creates the next one and ends. */
static void descend_from(int left)
{
  u(1);
  if (left)
#pragma omp task
    descend_from(left - 1);
}

static void descent(void)
{
  descend_from(20000);
}

static void taskloop(void)
{
#pragma omp taskloop num_tasks(5)
  for (int i = 0; i < 20; i++)
    u(i);
}

/* Two single constructs, whichever threads run them, a masked one, and tasks of plain implicit tasks. */
static void constructs(void)
{
#pragma omp parallel
  {
#pragma omp single nowait
#pragma omp task
    u(1);
#pragma omp single nowait
#pragma omp task
    u(2);
#pragma omp masked
#pragma omp task
    u(3);
#pragma omp task
    u(4);
  }
}

/* ---- problems, and twins without them ---- */

static void tasks_of(int count, int work, int longer)
{
  for (int i = 0; i < count; i++)
#pragma omp task
    u(i ? work : longer);
#pragma omp taskwait
}

static void balanced(void)
{
  tasks_of(8, 10, 10);
}

static void unbalanced(void)
{
  tasks_of(8, 10, 80);
}

static void loop_of(int longer)
{
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < omp_get_num_threads(); i++)
    u(i ? 10 : longer);
}

static void balanced_loop(void)
{
  loop_of(10);
}

static void unbalanced_loop(void)
{
  loop_of(80);
}

/* Eight tasks of some milliseconds, and many that do nothing. */
static void coarse(void)
{
  for (int i = 0; i < 8; i++)
#pragma omp task
    for (double end = omp_get_wtime() + 0.004; omp_get_wtime() < end;)
      ;
#pragma omp taskwait
}

static void fine(void)
{
  for (int i = 0; i < 1000; i++)
#pragma omp task
    u(0);
#pragma omp taskwait
}

/* The work of a task differs from run to run: WORK in the environment. */
static void deviating(void)
{
  const char *work = getenv("WORK");
  tasks_of(4, 10, work ? atoi(work) : 10);
}

const struct form forms[] = {FORM(fibonacci, SINGLE),
                             FORM(loop, PLAIN),
                             FORM(tree, SINGLE),
                             FORM(flood, SINGLE),
                             FORM(chain, SINGLE),
                             FORM(descent, SINGLE),
                             FORM(taskloop, SINGLE),
                             FORM(constructs, PLAIN),
                             FORM(balanced, SINGLE),
                             FORM(unbalanced, SINGLE),
                             FORM(balanced_loop, PLAIN),
                             FORM(unbalanced_loop, PLAIN),
                             FORM(coarse, SINGLE),
                             FORM(fine, SINGLE),
                             FORM(deviating, SINGLE),
                             {0}};
