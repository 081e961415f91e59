/* Constructs about which libomp's events do not say all: clang_rows FORM THREADS. */
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3 };

/* Functions of LLVM's runtime. */
struct ident {
  int32_t reserved, flags, other[2];
  const char *place;
};
extern int __kmpc_global_thread_num(struct ident *);
extern void __kmpc_barrier(struct ident *, int);
extern void __kmpc_for_static_init_4(struct ident *, int32_t, int32_t, int32_t *, int32_t *, int32_t *, int32_t *,
                                     int32_t, int32_t);
extern void __kmpc_for_static_fini(struct ident *, int32_t);

static volatile int sink, deferred, none;
static int private_copy;
#pragma omp threadprivate(private_copy)

static __attribute__((noinline)) void work(void)
{
  sink++;
}

static void sections(void)
{
  for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel // @ region of sections
    {
#pragma omp sections // @ sections
      {
#pragma omp section
        work();
#pragma omp section
        work();
#pragma omp section
        work();
      }
#pragma omp sections nowait // @ one
      {
        work();
      }
    }
  }
}

/* The code of clang for a taskloop begins a taskgroup, as that for a taskgroup does. */
static void groups(void)
{
#pragma omp parallel // @ region of groups
  {
#pragma omp taskgroup // @ at once
    {
#pragma omp taskloop num_tasks(2) nogroup // @ loop at once
      for (int i = 0; i < 2; i++)
        work();
    }
#pragma omp taskgroup // @ later
    {
      work();
#pragma omp taskloop num_tasks(2) nogroup // @ loop later
      for (int i = 0; i < 2; i++)
        work();
#pragma omp taskloop num_tasks(2) // @ loop inside
      for (int i = 0; i < 2; i++)
        work();
    }
#pragma omp taskloop num_tasks(2) // @ loop alone
    for (int i = 0; i < 2; i++)
      work();
  }
}

static void dependent(void)
{
  int first = 0, second = 0;
  (void)first, (void)second;
#pragma omp parallel // @ region of dependent
#pragma omp masked   // @ masked
  for (int i = 0; i < ROUNDS; i++) {
#pragma omp task depend(out : first) // @ deferred
    work();
#pragma omp task if (deferred) depend(inout : first) depend(out : second) // @ undeferred
    {
#pragma omp task // @ inside
      work();
#pragma omp task if (deferred) // @ independent
      work();
      work();
    }
#pragma omp task depend(inout : second) // @ last
    work();
#pragma omp taskwait depend(in : second) // @ wait
    work();
  }
}

/* While it waits for the dependences of an undeferred task, the thread runs others, the latest first, which wait, too.
 */
static void waiting(void)
{
  int first = 0, second = 0;
  volatile int done = 0;
  (void)first, (void)second;
#pragma omp parallel // @ region of waiting
  {
    while (omp_get_thread_num() && !done)
      sched_yield();
    for (int i = 0; i < ROUNDS && !omp_get_thread_num(); i++) {
#pragma omp task depend(out : first) // @ first
      work();
#pragma omp task // @ other
      {
#pragma omp taskwait depend(in : second) // @ other wait
        work();
      }
#pragma omp task if (deferred) depend(inout : first) // @ waiting
      work();
    }
    done = 1;
  }
}

/* A task is allocated for a taskloop without iterations, and none is created. */
static void empty_loops(void)
{
  int first = 0;
  (void)first;
#pragma omp parallel // @ region of empty_loops
#pragma omp masked   // @ masked for loops
  for (int i = 0; i < ROUNDS; i++) {
#pragma omp task depend(out : first) // @ before loop
    work();
#pragma omp taskloop nogroup
    for (int k = 0; k < none; k++)
      work();
#pragma omp taskwait depend(in : first) // @ wait for it
#pragma omp task                        // @ after loop
    work();
#pragma omp taskwait           // @ wait for all
#pragma omp task if (deferred) // @ last of all
    work();
  }
}

/* The parts of an untied task may run in different threads. */
static void untied(void)
{
#pragma omp parallel // @ region of untied
  {
#pragma omp task untied // @ untied
    {
#pragma omp taskgroup // @ outer
      {
#pragma omp task // @ in outer
        work();
#pragma omp taskgroup // @ inner
        {
#pragma omp task // @ in inner
          work();
          work();
        }
#pragma omp task // @ after inner
        work();
        work();
      }
#pragma omp taskloop num_tasks(2) // @ loop
      for (int i = 0; i < 2; i++)
        work();
      work();
    }
    work();
  }
}

/* libomp announces each team twice: in the league, and as a region of its own. */
static void leagues(void)
{
#pragma omp teams num_teams(2) thread_limit(2) // @ league
  {
    work();
#pragma omp parallel num_threads(2) // @ in league
    work();
  }
#pragma omp teams distribute parallel for num_teams(2) thread_limit(2) num_threads(2) // @ combined
  for (int i = 0; i < 8; i++)                                                         // @ its loop
    work();
}

/* What newer releases of clang emit for a scope: only the barrier at its end. */
static void end_of_scope(void)
{
  static struct ident ident = {.flags = 0x42, .place = ";unknown;unknown;0;0;;"};
  __kmpc_barrier(&ident, __kmpc_global_thread_num(&ident)); // @ scope
}

static void barriers(void)
{
  for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel copyin(private_copy) // @ region of barriers
    {                                     // @ copyin
      work();
      end_of_scope();
#pragma omp for // @ empty
      for (int k = 0; k < none; k++)
        work();
      work();
    }
  }
}

/* The calls of other compilers may name no place in the source. */
static void no_place(void)
{
#pragma omp parallel // @ region of no_place
  {
    int32_t thread = __kmpc_global_thread_num(NULL), last = 0, lower = 0, upper = 3, stride = 1;
    __kmpc_for_static_init_4(NULL, thread, 34, &last, &lower, &upper, &stride, 1, 1);
    work();
    __kmpc_for_static_fini(NULL, thread);
  }
}

/* Its end is no barrier of the program. */
static void cancelled(void)
{
  for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel // @ region of cancelled
    {
      work();
#pragma omp cancel parallel
      work();
    }
  }
}

/* Later constructs of the region around it end as usual. */
static void cancelled_inside(void)
{
#pragma omp parallel // @ region of cancelled_inside
  {
#pragma omp parallel num_threads(2) // @ inside cancelled
    {
      work();
#pragma omp cancel parallel
      work();
    }
#pragma omp for schedule(static, 1) // @ uneven
    for (int k = 0; k < 2; k++)
      usleep(k * 20000);
  }
}

int main(int count, char **words)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } forms[] = {{"sections", sections},   {"groups", groups},
               {"dependent", dependent}, {"waiting", waiting},
               {"untied", untied},       {"barriers", barriers},
               {"cancelled", cancelled}, {"empty_loops", empty_loops},
               {"no_place", no_place},   {"cancelled_inside", cancelled_inside},
               {"leagues", leagues}};
  omp_set_num_threads(count > 2 ? atoi(words[2]) : 2);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (count > 1 && !strcmp(words[1], forms[i].name)) {
      forms[i].run();
      return 0;
    }
  return 2;
}
