/* Chunks of loops in programs that call a libomp that does not announce them: older than version 15.  Context: CTL
 * (gomp.h).
 *
 * Such a libomp announces a loop, but not its chunks.  The program asks it for each chunk (__kmpc_dispatch_next_*), or
 * once for its part of a static loop (__kmpc_for_static_init_*), and the bounds are results.  From these the wrappers
 * report what a newer libomp announces, in the same order and with the same values.  A function that begins a loop is
 * left by a jump, so that libomp sees the program as its caller; the bounds are read when it announces the loop
 * (ompt_loop_call()).  Calls that libomp itself makes, for GCC's code, cause no events: the chunks of such loops are
 * not known. */
#include "hpcrun-lite/gomp/gomp.h"

/* Declares the runtime of this call, and libomp's function.  A call from libomp, or of a libomp that announces chunks,
 * jumps there. */
#define CHUNKS_ENTER(name, ...)                                                                                        \
  const struct gomp_runtime *runtime = gomp_libomp(GOMP_CALLER);                                                       \
  __typeof__(&wrap_##name) next = GOMP_NEXT(runtime, name);                                                            \
  if (!runtime->no_chunks || code_in_runtime(GOMP_CALLER))                                                             \
  return next(__VA_ARGS__)

/* Does one thread, or one team of a league, run the whole loop?  Then libomp does not divide it. */
static inline bool undivided(const struct gomp_runtime *runtime, int schedule)
{
  enum { MODIFIERS = 3 << 29, LAST_OF_LOOPS = 72 }; /* schedules beyond it are those of distribute */
  return ((schedule & ~MODIFIERS) > LAST_OF_LOOPS ? runtime->team_count() : runtime->team_size()) == 1;
}

/* The functions for loop variables of type T, whose increment is of type S. */
#define LOOPS(suffix, T, S, bounds)                                                                                    \
  GOMP_CODE void wrap___kmpc_dispatch_init_##suffix(void *place, int thread, int schedule, T lower, T upper, S step,   \
                                                    S size)                                                            \
  {                                                                                                                    \
    CHUNKS_ENTER(__kmpc_dispatch_init_##suffix, place, thread, schedule, lower, upper, step, size);                    \
    ompt_loop_call(GOMP_CALLER, NULL, NULL, step, bounds);                                                             \
    next(place, thread, schedule, lower, upper, step, size);                                                           \
  }                                                                                                                    \
                                                                                                                       \
  GOMP_CODE void wrap___kmpc_dist_dispatch_init_##suffix(void *place, int thread, int schedule, int *last, T lower,    \
                                                         T upper, S step, S size)                                      \
  {                                                                                                                    \
    CHUNKS_ENTER(__kmpc_dist_dispatch_init_##suffix, place, thread, schedule, last, lower, upper, step, size);         \
    ompt_loop_call(GOMP_CALLER, NULL, NULL, step, bounds);                                                             \
    next(place, thread, schedule, last, lower, upper, step, size);                                                     \
  }                                                                                                                    \
                                                                                                                       \
  GOMP_CODE int wrap___kmpc_dispatch_next_##suffix(void *place, int thread, int *last, T *lower, T *upper, S *step)    \
  {                                                                                                                    \
    CHUNKS_ENTER(__kmpc_dispatch_next_##suffix, place, thread, last, lower, upper, step);                              \
    int any = next(place, thread, last, lower, upper, step);                                                           \
    if (any)                                                                                                           \
      ompt_loop_chunk((uint64_t)*lower, (uint64_t)*upper, *step, bounds);                                              \
    return any;                                                                                                        \
  }                                                                                                                    \
                                                                                                                       \
  GOMP_CODE void wrap___kmpc_for_static_init_##suffix(void *place, int thread, int schedule, int *last, T *lower,      \
                                                      T *upper, S *stride, S step, S size)                             \
  {                                                                                                                    \
    CHUNKS_ENTER(__kmpc_for_static_init_##suffix, place, thread, schedule, last, lower, upper, stride, step, size);    \
    bool divided = !undivided(runtime, schedule);                                                                      \
    ompt_loop_call(GOMP_CALLER, divided ? lower : NULL, upper, step, bounds);                                          \
    next(place, thread, schedule, last, lower, upper, stride, step, size);                                             \
  }                                                                                                                    \
                                                                                                                       \
  /* This one announces no loop either. */                                                                             \
  GOMP_CODE void wrap___kmpc_dist_for_static_init_##suffix(void *place, int thread, int schedule, int *last, T *lower, \
                                                           T *upper, T *team_upper, S *stride, S step, S size)         \
  {                                                                                                                    \
    CHUNKS_ENTER(__kmpc_dist_for_static_init_##suffix, place, thread, schedule, last, lower, upper, team_upper,        \
                 stride, step, size);                                                                                  \
    next(place, thread, schedule, last, lower, upper, team_upper, stride, step, size);                                 \
    ompt_distributed_loop(GOMP_CALLER);                                                                                \
  }

LOOPS(4, int32_t, int32_t, LOOP_BOUNDS_4)
LOOPS(4u, uint32_t, int32_t, LOOP_BOUNDS_4U)
LOOPS(8, int64_t, int64_t, LOOP_BOUNDS_8)
LOOPS(8u, uint64_t, int64_t, LOOP_BOUNDS_8U)

/* ---- taskloops ---- */

/* libomp copies a taskloop's first task, and writes the bounds of each copy into it.  A task begins with a pointer to
 * shared variables, and the one to the task function; that one is replaced by an element of gomp_taskloop_bodies
 * (jumps.S). */
struct kmp_task {
  void *shared;
  const void *function;
  int32_t part; /* an untied task goes on with the function, and a part other than 0 */
};

/* What element i of gomp_taskloop_bodies stands for.  A thread claims an element, writes it once, and releases `ready`;
 * one that a fork leaves claimed stays unused. */
struct taskloop_body {
  const void *function;
  size_t lower, upper; /* where the bounds are in the task */
  int64_t step;
  atomic_bool claimed, ready;
};
static struct taskloop_body bodies[KMPC_TASKLOOPS];

extern const char gomp_taskloop_bodies[KMPC_TASKLOOPS][16] __attribute__((visibility("hidden")));

static bool stands_for(struct taskloop_body *body, const struct taskloop_body *wanted)
{
  return atomic_load_explicit(&body->ready, memory_order_acquire) && body->function == wanted->function &&
         body->lower == wanted->lower && body->upper == wanted->upper && body->step == wanted->step;
}

static bool claim(struct taskloop_body *body, const struct taskloop_body *wanted)
{
  if (atomic_load_explicit(&body->claimed, memory_order_relaxed) || atomic_exchange(&body->claimed, true))
    return false;
  body->function = wanted->function;
  body->lower = wanted->lower;
  body->upper = wanted->upper;
  body->step = wanted->step;
  atomic_store_explicit(&body->ready, true, memory_order_release);
  return true;
}

/* Two threads may add the same body at a time; then two elements stand for it.  Returns -1 if all are in use. */
static int find_body(const struct taskloop_body *wanted)
{
  for (int i = 0; i < KMPC_TASKLOOPS; i++)
    if (stands_for(&bodies[i], wanted) || claim(&bodies[i], wanted))
      return i;
  return -1;
}

void gomp_taskloop_chunks(void *task, const uint64_t *lower, const uint64_t *upper, int64_t step)
{
  struct kmp_task *first = task;
  struct taskloop_body body = {.function = first->function,
                               .lower = (size_t)((const char *)lower - (const char *)task),
                               .upper = (size_t)((const char *)upper - (const char *)task),
                               .step = step};
  int found = find_body(&body);
  if (found < 0)
    ompt_chunks_unknown();
  else
    first->function = gomp_taskloop_bodies[found];
}

/* A task of a taskloop begins; called by jumps.S.  Returns the task function. */
__attribute__((visibility("hidden"))) const void *gomp_taskloop_task(unsigned number, const void *task)
{
  const struct taskloop_body *body = &bodies[number];
  const uint64_t *lower = (const void *)((const char *)task + body->lower);
  const uint64_t *upper = (const void *)((const char *)task + body->upper);
  if (!((const struct kmp_task *)task)->part)
    ompt_taskloop_chunk(*lower, *upper, body->step);
  return body->function;
}
