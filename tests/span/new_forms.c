/* Constructs of OpenMP 5.1 to 6.0, each for the releases of compilers that know it: programs whose work and span follow
 * from their source; see closed_forms.py. */
#include "forms.h"

/* Does the compiler know a construct: GCC, or clang, from that release on? */
#define NEVER 1000
#ifdef __clang__
#define SINCE(gcc, clang) (__clang_major__ >= (clang))
#else
#define SINCE(gcc, clang) (__GNUC__ >= (gcc))
#endif

/* ---- teams and blocks ---- */

#if SINCE(12, 19)
static void messages(void)
{
#pragma omp parallel
  {
#pragma omp error at(execution) severity(warning) message("a message of the program")
#pragma omp nothing
    u(2);
  }
}
#endif

#if SINCE(12, 23)
/* Clang 19 does not take it strictly. */
static void strict_tasks(void)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(strict : 5)
  for (int i = 0; i < 12; i++)
    u(1);
  u(1);
}

/* Clang 19 leaves out the loop. */
static void masked_tasks(void)
{
#pragma omp parallel masked taskloop num_tasks(strict : 4)
  for (int i = 0; i < 12; i++)
    u(1);
  u(1);
}

/* The last thread works longest before the barrier, the first one behind it. */
static void scope_barrier(void)
{
  int sum = 0;
#pragma omp parallel
  {
    int thread = omp_get_thread_num(), threads = omp_get_num_threads();
#pragma omp scope reduction(+ : sum)
    {
      u((uint64_t)thread + 1);
      sum++;
    }
    u((uint64_t)(threads - thread));
  }
  u((uint64_t)sum);
}

static void scope_nowait(void)
{
#pragma omp parallel
  {
    int thread = omp_get_thread_num(), threads = omp_get_num_threads();
#pragma omp scope nowait
    u((uint64_t)thread + 1);
    u((uint64_t)(threads - thread));
  }
}

#endif

#if SINCE(13, 23)
static void assumptions(void)
{
#pragma omp parallel
#pragma omp assume no_openmp_routines holds(one > 0)
  u(2);
}
#endif

/* A clause that asks for exactly that number of threads. */
#if SINCE(NEVER, 23)
static void strict_threads(void)
{
#pragma omp parallel num_threads(strict : 3)
  u(2);
}

static void pool_tasks(void)
{
#pragma omp parallel
#pragma omp single
  {
#pragma omp task threadset(omp_pool)
    u(3);
#pragma omp task threadset(omp_team)
    u(4);
  }
}
#endif

/* ---- loops that the compiler transforms ---- */

#if SINCE(15, 19)
static void tile(void)
{
#pragma omp parallel for schedule(static, 1)
#pragma omp tile sizes(2)
  for (int i = 0; i < 24; i++)
    u(5);
  u(1);
}

static void unroll(void)
{
#pragma omp parallel for schedule(static, 1)
#pragma omp unroll partial(2)
  for (int i = 0; i < 24; i++)
    u(5);
#pragma omp unroll full
  for (int i = 0; i < 4; i++)
    u(1);
}
#endif

#if SINCE(NEVER, 19)
static void reverse(void)
{
#pragma omp parallel for schedule(dynamic, 1)
#pragma omp reverse
  for (int i = 0; i < 24; i++)
    u((uint64_t)i);
  u(1);
}

/* Its outer loop has three iterations then. */
static void interchange(void)
{
#pragma omp parallel for schedule(dynamic, 1)
#pragma omp interchange
  for (int i = 0; i < 7; i++)
    for (int k = 0; k < 3; k++)
      u((uint64_t)k);
  u(1);
}
#endif

#if SINCE(NEVER, 23)
/* Clang's outer loop goes from one group of neighbours to the next, as that of tile does. */
static void stripe(void)
{
#pragma omp parallel for schedule(dynamic, 1)
#pragma omp stripe sizes(4)
  for (int i = 0; i < 24; i++)
    u((uint64_t)(i % 4));
  u(1);
}

static void fuse(void)
{
#pragma omp parallel for schedule(dynamic, 1)
#pragma omp fuse
  {
    for (int i = 0; i < 24; i++)
      u(5);
    for (int i = 0; i < 24; i++)
      u(2);
  }
  u(1);
}

static void split(void)
{
#pragma omp split counts(4, omp_fill)
  for (int i = 0; i < 24; i++)
    u(1);
}
#endif

#if SINCE(12, 19)
static void reproducible(void)
{
#pragma omp parallel for order(reproducible : concurrent) schedule(static)
  for (int i = 0; i < 24; i++)
    one = 1;
  u(1);
}
#endif

/* ---- directives that are chosen ---- */

#if SINCE(15, 19)
static void chosen_directive(void)
{
#pragma omp metadirective when(user = {condition(1)} : parallel num_threads(2)) otherwise(single)
  u(2);
}
#endif

#if SINCE(15, NEVER)
/* Clang 23 takes the other one, whatever the value is. */
static void directive_of_value(void)
{
#pragma omp metadirective when(user = {condition(one)} : parallel num_threads(2)) otherwise(parallel num_threads(1))
  u(3);
}

static void variant(int units)
{
  u((uint64_t)units + 1);
}

#pragma omp declare variant(variant) match(construct = {dispatch})
static void base(int units)
{
  u((uint64_t)units);
}

/* The call follows the first task, and what comes behind it follows the call. */
static void dispatch(void)
{
  int x = 0, y = 0;
#pragma omp task depend(out : x)
  u(5);
#pragma omp task depend(out : y)
  u(10);
#pragma omp dispatch depend(inout : x)
  base(1);
#pragma omp task
  u(20);
#pragma omp taskwait
  u(1);
}
#endif

#if SINCE(15, NEVER) /* clang's code needs LLVM's library for devices */
/* Initialised after the first task, and destroyed after the second one. */
static void interop(void)
{
  int x = 0, y = 0;
  omp_interop_t object = omp_interop_none;
#pragma omp task depend(out : x)
  u(10);
#pragma omp task depend(out : y)
  u(15);
#pragma omp interop init(targetsync : object) depend(in : x)
#pragma omp interop use(object)
#pragma omp task depend(out : x)
  u(20);
#pragma omp interop destroy(object) depend(in : x)
  u(3);
}
#endif

/* ---- memory and order ---- */

#if SINCE(14, 19)
static void allocated(void)
{
#pragma omp parallel
  {
    int memory[16];
#pragma omp allocate(memory) allocator(omp_default_mem_alloc) align(64)
    memory[one] = 2;
    u((uint64_t)memory[one]);
  }
}
#endif

#if SINCE(13, 19)
static void doacross_clauses(void)
{
#pragma omp parallel for ordered(1) schedule(dynamic, 1)
  for (int i = 0; i < 24; i++) {
    u(3);
#pragma omp ordered doacross(sink : i - 1)
    u(1);
#pragma omp ordered doacross(source : omp_cur_iteration)
  }
  u(1);
}
#endif

const struct form forms[] = {
#if SINCE(12, 19)
    FORM(messages, PLAIN),
    FORM(reproducible, PLAIN),
#endif
#if SINCE(12, 23)
    FORM(strict_tasks, PLAIN),
    FORM(masked_tasks, PLAIN),
    FORM(scope_barrier, PLAIN),
    FORM(scope_nowait, PLAIN),
#endif
#if SINCE(13, 23)
    FORM(assumptions, PLAIN),
#endif
#if SINCE(NEVER, 23)
    FORM(strict_threads, PLAIN),
    FORM(pool_tasks, PLAIN),
    FORM(stripe, PLAIN),
    FORM(fuse, PLAIN),
    FORM(split, PLAIN),
#endif
#if SINCE(15, 19)
    FORM(tile, PLAIN),
    FORM(unroll, PLAIN),
#endif
#if SINCE(NEVER, 19)
    FORM(reverse, PLAIN),
    FORM(interchange, PLAIN),
#endif
#if SINCE(15, 19)
    FORM(chosen_directive, PLAIN),
#endif
#if SINCE(15, NEVER)
    FORM(directive_of_value, PLAIN),
    FORM(dispatch, SINGLE),
    FORM(interop, SINGLE),
#endif
#if SINCE(14, 19)
    FORM(allocated, PLAIN),
#endif
#if SINCE(13, 19)
    FORM(doacross_clauses, PLAIN),
#endif
    {NULL, NULL, PLAIN}};
