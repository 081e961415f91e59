/* Worksharing loops, their chunks, ordered and doacross.  Context: CTL (gomp.h).
 *
 * The bounds of a chunk are results of libgomp's functions.  Chunks are reported by the loop variable of their first
 * iteration, as libomp does for GCC's code.  A loop that GCC has divided itself is not seen, or has no chunks. */
#include <stdarg.h>
#include <stddef.h>

#include "hpcrun-lite/gomp/gomp.h"

typedef unsigned long long ull;

/* A loop begins in the task; the first chunk follows.  size: that of chunks which the call demands. */
static inline void loop_begin(struct rt_gomp_task *task, enum gomp_schedule schedule, uint64_t size, uint64_t count,
                              long increment, const void *code)
{
  if (!task)
    return;
  gomp_note_schedule(schedule, size);
  gomp_work_begin(task, ompt_work_loop, count, code);
  task->increment = increment;
}

/* libgomp has returned a chunk, which is not empty; unsigned bounds may exceed those of long.  Outside any region a
 * loop is serial code, as under libomp. */
static inline bool chunk(struct rt_gomp_task *task, bool any, long first, long end)
{
  if (span_process.online && task && any && task->parallel.value) {
    uint64_t start = (uint64_t)first, step = (uint64_t)task->increment;
    bool up = task->increment > 0;
    uint64_t distance = up ? (uint64_t)end - start : start - (uint64_t)end, size = up ? step : -step;
    ompt_dispatch_chunk_t chunk = {start, size ? (distance - 1) / size + 1 : 0};
    ompt_on_dispatch(&task->parallel, task->data, ompt_dispatch_ws_loop_chunk, (ompt_data_t){.ptr = &chunk});
  }
  return any;
}

#define LOOP_START(name)                                                                                               \
  GOMP_CODE bool wrap_##name(long start, long end, long step, long size, long *first, long *last)                      \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    loop_begin(task, gomp_schedule_of(#name, (uint64_t)size), (uint64_t)size, gomp_iterations(start, end, step), step, \
               GOMP_CALLER);                                                                                           \
    bool any = GOMP_NEXT(runtime, name)(start, end, step, size, first, last);                                          \
    return chunk(task, any, *first, *last);                                                                            \
  }
GOMP_LOOP_STARTS(LOOP_START)

#define LOOP_RUNTIME_START(name)                                                                                       \
  GOMP_CODE bool wrap_##name(long start, long end, long step, long *first, long *last)                                 \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    loop_begin(task, GOMP_RUNTIME, 0, gomp_iterations(start, end, step), step, GOMP_CALLER);                           \
    bool any = GOMP_NEXT(runtime, name)(start, end, step, first, last);                                                \
    return chunk(task, any, *first, *last);                                                                            \
  }
GOMP_LOOP_RUNTIME_STARTS(LOOP_RUNTIME_START)

#define LOOP_NEXT(name)                                                                                                \
  GOMP_CODE bool wrap_##name(long *first, long *last)                                                                  \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    bool any = GOMP_NEXT(runtime, name)(first, last);                                                                  \
    return chunk(task, any, *first, *last);                                                                            \
  }
GOMP_LOOP_NEXTS(LOOP_NEXT)

/* The schedule that a parameter names; a bit says that it is monotonic. */
static inline enum gomp_schedule schedule_of(long number, uint64_t size)
{
  enum { RUNTIME, STATIC, DYNAMIC, GUIDED, AUTO, MASK = 7 };
  switch (number & MASK) {
  case DYNAMIC:
    return GOMP_DYNAMIC;
  case GUIDED:
    return GOMP_GUIDED;
  case STATIC:
    return size ? GOMP_STATIC_CHUNKS : GOMP_STATIC;
  default:
    return (number & MASK) == AUTO ? GOMP_AUTO : GOMP_RUNTIME;
  }
}

/* Without `first` it is a loop that GCC's code divides itself; the call only sets up reductions. */
#define LOOP_GENERIC_START(name)                                                                                       \
  GOMP_CODE bool wrap_##name(long start, long end, long step, long schedule, long size, long *first, long *last,       \
                             uintptr_t *reductions, void **memory)                                                     \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    loop_begin(task, schedule_of(schedule, (uint64_t)size), (uint64_t)size, gomp_iterations(start, end, step), step,   \
               GOMP_CALLER);                                                                                           \
    bool any = GOMP_NEXT(runtime, name)(start, end, step, schedule, size, first, last, reductions, memory);            \
    return first ? chunk(task, any, *first, *last) : any;                                                              \
  }
GOMP_LOOP_GENERIC_STARTS(LOOP_GENERIC_START)

/* ---- unsigned long long ---- */

static inline void ull_begin(struct rt_gomp_task *task, enum gomp_schedule schedule, ull size, bool up, ull start,
                             ull end, ull step, const void *code)
{
  loop_begin(task, schedule, size, gomp_ull_iterations(up, start, end, step), (long)step, code);
}

static inline bool ull_chunk(struct rt_gomp_task *task, bool any, ull first, ull end)
{
  return chunk(task, any, (long)first, (long)end);
}

#define ULL_START(name)                                                                                                \
  GOMP_CODE bool wrap_##name(bool up, ull start, ull end, ull step, ull size, ull *first, ull *last)                   \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    ull_begin(task, gomp_schedule_of(#name, size), size, up, start, end, step, GOMP_CALLER);                           \
    bool any = GOMP_NEXT(runtime, name)(up, start, end, step, size, first, last);                                      \
    return ull_chunk(task, any, *first, *last);                                                                        \
  }
GOMP_ULL_STARTS(ULL_START)

#define ULL_RUNTIME_START(name)                                                                                        \
  GOMP_CODE bool wrap_##name(bool up, ull start, ull end, ull step, ull *first, ull *last)                             \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    ull_begin(task, GOMP_RUNTIME, 0, up, start, end, step, GOMP_CALLER);                                               \
    bool any = GOMP_NEXT(runtime, name)(up, start, end, step, first, last);                                            \
    return ull_chunk(task, any, *first, *last);                                                                        \
  }
GOMP_ULL_RUNTIME_STARTS(ULL_RUNTIME_START)

#define ULL_NEXT(name)                                                                                                 \
  GOMP_CODE bool wrap_##name(ull *first, ull *last)                                                                    \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    bool any = GOMP_NEXT(runtime, name)(first, last);                                                                  \
    return ull_chunk(task, any, *first, *last);                                                                        \
  }
GOMP_ULL_NEXTS(ULL_NEXT)

#define ULL_GENERIC_START(name)                                                                                        \
  GOMP_CODE bool wrap_##name(bool up, ull start, ull end, ull step, long schedule, ull size, ull *first, ull *last,    \
                             uintptr_t *reductions, void **memory)                                                     \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    ull_begin(task, schedule_of(schedule, size), size, up, start, end, step, GOMP_CALLER);                             \
    bool any = GOMP_NEXT(runtime, name)(up, start, end, step, schedule, size, first, last, reductions, memory);        \
    return first ? ull_chunk(task, any, *first, *last) : any;                                                          \
  }
GOMP_ULL_GENERIC_STARTS(ULL_GENERIC_START)

/* ---- doacross ---- */

static inline void doacross_begin(struct rt_gomp_task *task, enum gomp_schedule schedule, uint64_t size,
                                  unsigned dimensions, uint64_t count, const void *code)
{
  loop_begin(task, schedule, size, count, 1, code);
  if (task)
    task->dimensions = dimensions;
}

#define DOACROSS_START(T, name)                                                                                        \
  GOMP_CODE bool wrap_##name(unsigned dimensions, T *counts, T size, T *first, T *last)                                \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    doacross_begin(task, gomp_schedule_of(#name, (uint64_t)size), (uint64_t)size, dimensions, (uint64_t)counts[0],     \
                   GOMP_CALLER);                                                                                       \
    bool any = GOMP_NEXT(runtime, name)(dimensions, counts, size, first, last);                                        \
    return chunk(task, any, (long)*first, (long)*last);                                                                \
  }
#define LONG_DOACROSS_START(name) DOACROSS_START(long, name)
#define ULL_DOACROSS_START(name) DOACROSS_START(ull, name)
GOMP_LOOP_DOACROSS_STARTS(LONG_DOACROSS_START)
GOMP_ULL_DOACROSS_STARTS(ULL_DOACROSS_START)

#define DOACROSS_RUNTIME_START(T, name)                                                                                \
  GOMP_CODE bool wrap_##name(unsigned dimensions, T *counts, T *first, T *last)                                        \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    doacross_begin(task, GOMP_RUNTIME, 0, dimensions, (uint64_t)counts[0], GOMP_CALLER);                               \
    bool any = GOMP_NEXT(runtime, name)(dimensions, counts, first, last);                                              \
    return chunk(task, any, (long)*first, (long)*last);                                                                \
  }
DOACROSS_RUNTIME_START(long, GOMP_loop_doacross_runtime_start)
DOACROSS_RUNTIME_START(ull, GOMP_loop_ull_doacross_runtime_start)

#define DOACROSS_GENERIC_START(T, name)                                                                                \
  GOMP_CODE bool wrap_##name(unsigned dimensions, T *counts, long schedule, T size, T *first, T *last,                 \
                             uintptr_t *reductions, void **memory)                                                     \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    doacross_begin(task, schedule_of(schedule, (uint64_t)size), (uint64_t)size, dimensions, (uint64_t)counts[0],       \
                   GOMP_CALLER);                                                                                       \
    bool any = GOMP_NEXT(runtime, name)(dimensions, counts, schedule, size, first, last, reductions, memory);          \
    return first ? chunk(task, any, (long)*first, (long)*last) : any;                                                  \
  }
DOACROSS_GENERIC_START(long, GOMP_loop_doacross_start)
DOACROSS_GENERIC_START(ull, GOMP_loop_ull_doacross_start)

#define DOACROSS_POST(T, name)                                                                                         \
  GOMP_CODE void wrap_##name(T *vector)                                                                                \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    if (task && task->dimensions && span_process.online)                                                               \
      ompt_doacross((const uint64_t *)vector, task->dimensions, true);                                                 \
    GOMP_NEXT(runtime, name)(vector);                                                                                  \
  }
DOACROSS_POST(long, GOMP_doacross_post)
DOACROSS_POST(ull, GOMP_doacross_ull_post)

/* Calls a function that takes any number of long (jumps.S). */
void gomp_call_longs(void *function, unsigned count, const long *arguments) __attribute__((visibility("hidden")));

enum { UNKNOWN_DIMENSIONS = 16 };

/* The number of arguments is that of the loop's dimensions.  Where that is not known, more are passed on: the callee
 * reads only its own. */
#define DOACROSS_WAIT(T, name)                                                                                         \
  GOMP_CODE void wrap_##name(T first, ...)                                                                             \
  {                                                                                                                    \
    GOMP_ENTER_SHARED(runtime, task);                                                                                  \
    unsigned known = task ? task->dimensions : 0, count = known ? known : UNKNOWN_DIMENSIONS;                          \
    long vector[count];                                                                                                \
    va_list arguments;                                                                                                 \
    va_start(arguments, first);                                                                                        \
    vector[0] = (long)first;                                                                                           \
    for (unsigned i = 1; i < count; i++)                                                                               \
      vector[i] = va_arg(arguments, long);                                                                             \
    va_end(arguments);                                                                                                 \
    bool follows = known && span_process.online;                                                                       \
    if (follows)                                                                                                       \
      follows = ompt_doacross_wait((const uint64_t *)vector, known, GOMP_CALLER) != DOACROSS_PASSES;                   \
    gomp_call_longs((runtime)->next[GOMP_NUMBER_##name], count, vector);                                               \
    if (follows)                                                                                                       \
      ompt_doacross((const uint64_t *)vector, known, false);                                                           \
  }
DOACROSS_WAIT(long, GOMP_doacross_wait)
DOACROSS_WAIT(ull, GOMP_doacross_ull_wait)

/* ---- ordered ---- */

/* All ordered constructs of a region are one lock. */
static uint64_t ordered_id(const struct rt_gomp_task *task)
{
  return task->parallel.value + 1;
}

GOMP_CODE void wrap_GOMP_ordered_start(void)
{
  GOMP_ENTER_SHARED(runtime, task);
  if (task)
    ompt_on_mutex_acquire(ompt_mutex_ordered, 0, 0, ordered_id(task), GOMP_CALLER);
  GOMP_NEXT(runtime, GOMP_ordered_start)();
  if (task)
    ompt_on_mutex_acquired(ompt_mutex_ordered, ordered_id(task), GOMP_CALLER);
}

GOMP_CODE void wrap_GOMP_ordered_end(void)
{
  GOMP_ENTER_SHARED(runtime, task);
  if (task)
    ompt_on_mutex_released(ompt_mutex_ordered, ordered_id(task), GOMP_CALLER);
  GOMP_NEXT(runtime, GOMP_ordered_end)();
}

/* ---- libomp's waits ---- */

/* The vector is that of clang's code, which counts up from 0 by 1.  For an iteration that does not exist, libomp
 * announces nothing. */
GOMP_CODE void wrap___kmpc_doacross_wait(void *place, int thread, const int64_t *vector)
{
  bool waits = ompt_doacross_wait((const uint64_t *)vector, 0, GOMP_CALLER) == DOACROSS_WAITS;
  GOMP_NEXT(gomp_libomp(GOMP_CALLER), __kmpc_doacross_wait)(place, thread, vector);
  if (waits)
    ompt_doacross_called();
}
