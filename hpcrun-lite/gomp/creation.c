/* How long the creation of tasks takes in programs that call libomp; only with -p log.  Context: CTL (gomp.h).
 *
 * A wrapper reports begin and end of libomp's function (ompt_creation_begin()).  libomp takes the wrapper for its
 * caller; the callbacks know the address in the program.  Clang's code allocates a task first: that time belongs to the
 * creation, too.  Calls that libomp itself makes, for GCC's code and to divide a large taskloop, are a part of another
 * function's time, so they are not measured. */
#include "hpcrun-lite/gomp/gomp.h"

/* Declares the runtime of this call, and libomp's function.  A call from libomp jumps there. */
#define KMPC_ENTER(name, ...)                                                                                          \
  const struct gomp_runtime *runtime = gomp_libomp(GOMP_CALLER);                                                       \
  __typeof__(&wrap_##name) next = GOMP_NEXT(runtime, name);                                                            \
  if (code_in_runtime(GOMP_CALLER))                                                                                    \
  return next(__VA_ARGS__)

/* A libomp that announces no chunks divides a taskloop in a team of several threads. */
static inline void taskloop_chunks(const struct gomp_runtime *runtime, void *task, const uint64_t *first,
                                   const uint64_t *last, int64_t step)
{
  if (runtime->no_chunks && runtime->team_size() > 1)
    gomp_taskloop_chunks(task, first, last, step);
}

uint64_t gomp_allocation(const void *task)
{
  struct gomp_thread *self = &gomp_self;
  uint64_t ticks = !task || task == self->allocated ? self->allocation_ticks : 0;
  self->allocated = NULL;
  self->allocation_ticks = 0;
  return ticks;
}

GOMP_CODE void *wrap___kmpc_omp_task_alloc(void *place, int thread, int flags, size_t size, size_t shared_size,
                                           void *function)
{
  KMPC_ENTER(__kmpc_omp_task_alloc, place, thread, flags, size, shared_size, function);
  uint64_t begin = rt_ticks();
  void *task = next(place, thread, flags, size, shared_size, function);
  gomp_self.allocation_ticks = rt_ticks() - begin;
  gomp_self.allocated = task;
  return task;
}

GOMP_CODE int wrap___kmpc_omp_task(void *place, int thread, void *task)
{
  KMPC_ENTER(__kmpc_omp_task, place, thread, task);
  const struct creation_time outer = ompt_creation_begin(GOMP_CALLER, gomp_allocation(task));
  int result = next(place, thread, task);
  ompt_creation_end(&outer);
  return result;
}

GOMP_CODE int wrap___kmpc_omp_task_with_deps(void *place, int thread, void *task, int count, void *dependences,
                                             int other_count, void *other)
{
  KMPC_ENTER(__kmpc_omp_task_with_deps, place, thread, task, count, dependences, other_count, other);
  const struct creation_time outer = ompt_creation_begin(GOMP_CALLER, gomp_allocation(task));
  int result = next(place, thread, task, count, dependences, other_count, other);
  ompt_creation_end(&outer);
  return result;
}

GOMP_CODE void wrap___kmpc_taskloop(void *place, int thread, void *task, int deferred, uint64_t *first, uint64_t *last,
                                    int64_t step, int no_group, int schedule, uint64_t number, void *copy)
{
  KMPC_ENTER(__kmpc_taskloop, place, thread, task, deferred, first, last, step, no_group, schedule, number, copy);
  taskloop_chunks(runtime, task, first, last, step);
  const struct creation_time outer = ompt_creation_begin(GOMP_CALLER, gomp_allocation(task));
  next(place, thread, task, deferred, first, last, step, no_group, schedule, number, copy);
  ompt_creation_end(&outer);
}

GOMP_CODE void wrap___kmpc_taskloop_5(void *place, int thread, void *task, int deferred, uint64_t *first,
                                      uint64_t *last, int64_t step, int no_group, int schedule, uint64_t number,
                                      int modifier, void *copy)
{
  KMPC_ENTER(__kmpc_taskloop_5, place, thread, task, deferred, first, last, step, no_group, schedule, number, modifier,
             copy);
  taskloop_chunks(runtime, task, first, last, step);
  const struct creation_time outer = ompt_creation_begin(GOMP_CALLER, gomp_allocation(task));
  next(place, thread, task, deferred, first, last, step, no_group, schedule, number, modifier, copy);
  ompt_creation_end(&outer);
}
