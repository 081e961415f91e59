/* Exclusion, locks of both versions, and libgomp's interface called by hand: as old compilers do, and entry points that
 * GCC 12 never calls; see gomp_cases.h. */
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "gomp_cases.h"

typedef unsigned long long ull;

/* ---- exclusion ---- */

static void criticals(void)
{
  long plain = 0, named = 0, hinted = 0;
  long double wide = 0;

#pragma omp parallel for schedule(dynamic, 10)
  for (int i = 0; i < 2000; i++) {
#pragma omp critical
    plain += i;
#pragma omp critical(one)
    {
#pragma omp critical(two) hint(omp_sync_hint_contended)
      hinted++;
      named += hash(i);
    }
#pragma omp atomic
    wide += i;
  }
  note(plain);
  note(named);
  note(hinted);
  note((long)wide);
}

static void locks(void)
{
  omp_lock_t lock, hinted;
  omp_nest_lock_t nest;
  long sum = 0, tested = 0, depth = 0;
  omp_init_lock(&lock);
  omp_init_lock(&hinted);
  omp_init_nest_lock(&nest);
#pragma omp parallel for schedule(dynamic, 10)
  for (int i = 0; i < 1000; i++) {
    omp_set_lock(&lock);
    sum += i;
    omp_unset_lock(&lock);
    while (!omp_test_lock(&hinted))
      ;
    tested++;
    omp_unset_lock(&hinted);
    omp_set_nest_lock(&nest);
    depth += omp_test_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
  }
  omp_set_lock(&lock);
  tested += omp_test_lock(&lock); /* held: 0 */
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  omp_destroy_lock(&hinted);
  omp_destroy_nest_lock(&nest);
  note(sum);
  note(tested);
  note(depth);
}

/* The symbols of GCC 4.1 to 4.3, of C and of Fortran. */
#define OLD(result, name)                                                                                              \
  result old_##name(void *);                                                                                           \
  __asm__(".symver old_" #name ", omp_" #name "@OMP_1.0");                                                             \
  result old_fortran_##name(void *);                                                                                   \
  __asm__(".symver old_fortran_" #name ", omp_" #name "_@OMP_1.0");
OLD(void, init_lock)
OLD(void, destroy_lock)
OLD(void, set_lock)
OLD(void, unset_lock)
OLD(int, test_lock)
OLD(void, init_nest_lock)
OLD(void, destroy_nest_lock)
OLD(void, set_nest_lock)
OLD(void, unset_nest_lock)
OLD(int, test_nest_lock)

#define OLD_LOCKS(name, prefix)                                                                                        \
  static void name(void)                                                                                               \
  {                                                                                                                    \
    long lock[2] = {0}, nest[2] = {0}, sum = 0, depth = 0;                                                             \
    prefix##init_lock(lock);                                                                                           \
    prefix##init_nest_lock(nest);                                                                                      \
    PRAGMA(omp parallel)                                                                                               \
    {                                                                                                                  \
      PRAGMA(omp for schedule(dynamic, 10))                                                                            \
      for (int i = 0; i < 1000; i++) {                                                                                 \
        if (i % 2 || !prefix##test_lock(lock))                                                                         \
          prefix##set_lock(lock);                                                                                      \
        sum += i;                                                                                                      \
        prefix##unset_lock(lock);                                                                                      \
      }                                                                                                                \
      PRAGMA(omp for schedule(dynamic, 10))                                                                            \
      for (int i = 0; i < 200; i++) {                                                                                  \
        prefix##set_nest_lock(nest);                                                                                   \
        depth += prefix##test_nest_lock(nest);                                                                         \
        prefix##unset_nest_lock(nest);                                                                                 \
        prefix##unset_nest_lock(nest);                                                                                 \
      }                                                                                                                \
    }                                                                                                                  \
    prefix##destroy_lock(lock);                                                                                        \
    prefix##destroy_nest_lock(nest);                                                                                   \
    note(sum);                                                                                                         \
    note(depth);                                                                                                       \
  }

OLD_LOCKS(old_locks, old_)
OLD_LOCKS(old_fortran_locks, old_fortran_)

/* ---- regions opened in two calls ---- */

struct frame {
  long sum, numbers;
};

void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_end(void);
void GOMP_parallel_loop_static_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_guided_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(void (*)(void *), void *, unsigned, long, long, long);
void GOMP_parallel_sections_start(void (*)(void *), void *, unsigned, unsigned);
unsigned GOMP_sections_start(unsigned);
unsigned GOMP_sections_next(void);
void GOMP_sections_end(void);
void GOMP_sections_end_nowait(void);
bool GOMP_single_start(void);
void GOMP_barrier(void);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);

static void old_body(void *data)
{
  struct frame *frame = data;
  __atomic_fetch_or(&frame->numbers, 1L << omp_get_thread_num(), __ATOMIC_RELAXED);
  for (unsigned section = GOMP_sections_start(3); section; section = GOMP_sections_next())
    __atomic_fetch_add(&frame->sum, section * 1000L, __ATOMIC_RELAXED);
  GOMP_sections_end();
  if (GOMP_single_start())
    __atomic_fetch_add(&frame->sum, 7, __ATOMIC_RELAXED);
  GOMP_barrier();
  __atomic_fetch_add(&frame->sum, omp_get_num_threads(), __ATOMIC_RELAXED);
}

static void old_region(void)
{
  for (unsigned threads = 0; threads <= 3; threads++) {
    struct frame frame = {0};
    GOMP_parallel_start(old_body, &frame, threads);
    old_body(&frame);
    GOMP_parallel_end();
    note(frame.sum);
    note(frame.numbers);
  }
}

static void old_sections_body(void *data)
{
  struct frame *frame = data;
  for (unsigned section; (section = GOMP_sections_next());)
    __atomic_fetch_add(&frame->sum, section * 10L, __ATOMIC_RELAXED);
  GOMP_sections_end_nowait();
}

static void old_sections(void)
{
  struct frame frame = {0};
  GOMP_parallel_sections_start(old_sections_body, &frame, 0, 5);
  old_sections_body(&frame);
  GOMP_parallel_end();
  note(frame.sum);
}

static void add_range(struct frame *frame, long from, long to)
{
  long sum = 0;
  for (long i = from; i < to; i++)
    sum += hash(i);
  __atomic_fetch_add(&frame->sum, sum, __ATOMIC_RELAXED);
}

/* A region with a loop, in two calls: body, starter, and the case. */
#define OLD_LOOP(kind, ...)                                                                                            \
  bool GOMP_loop_##kind##_next(long *, long *);                                                                        \
  static void old_##kind##_body(void *data)                                                                            \
  {                                                                                                                    \
    for (long from, to; GOMP_loop_##kind##_next(&from, &to);)                                                          \
      add_range(data, from, to);                                                                                       \
    GOMP_loop_end_nowait();                                                                                            \
  }                                                                                                                    \
  static void old_##kind(void)                                                                                         \
  {                                                                                                                    \
    struct frame frame = {0};                                                                                          \
    GOMP_parallel_loop_##kind##_start(old_##kind##_body, &frame, 0, __VA_ARGS__);                                      \
    old_##kind##_body(&frame);                                                                                         \
    GOMP_parallel_end();                                                                                               \
    note(frame.sum);                                                                                                   \
  }

OLD_LOOP(static, 0, 500, 1, 7)
OLD_LOOP(dynamic, 0, 500, 1, 3)
OLD_LOOP(guided, 0, 500, 1, 2)
OLD_LOOP(runtime, 0, 500, 1)

/* ---- every starter of a loop, in one region ---- */

#define LONG_LOOP(kind, ...)                                                                                           \
  bool GOMP_loop_##kind##_start(__VA_ARGS__, long *, long *);                                                          \
  bool GOMP_loop_##kind##_next(long *, long *);
#define ULL_LOOP(kind, ...)                                                                                            \
  bool GOMP_loop_ull_##kind##_start(bool, __VA_ARGS__, ull *, ull *);                                                  \
  bool GOMP_loop_ull_##kind##_next(ull *, ull *);

LONG_LOOP(ordered_static, long, long, long, long)
LONG_LOOP(ordered_dynamic, long, long, long, long)
LONG_LOOP(ordered_guided, long, long, long, long)
LONG_LOOP(ordered_runtime, long, long, long)
LONG_LOOP(nonmonotonic_dynamic, long, long, long, long)
LONG_LOOP(nonmonotonic_guided, long, long, long, long)
LONG_LOOP(nonmonotonic_runtime, long, long, long)
LONG_LOOP(maybe_nonmonotonic_runtime, long, long, long)
bool GOMP_loop_static_start(long, long, long, long, long *, long *);
bool GOMP_loop_dynamic_start(long, long, long, long, long *, long *);
bool GOMP_loop_guided_start(long, long, long, long, long *, long *);
bool GOMP_loop_runtime_start(long, long, long, long *, long *);
ULL_LOOP(static, ull, ull, ull, ull)
ULL_LOOP(dynamic, ull, ull, ull, ull)
ULL_LOOP(guided, ull, ull, ull, ull)
ULL_LOOP(runtime, ull, ull, ull)
ULL_LOOP(ordered_static, ull, ull, ull, ull)
ULL_LOOP(ordered_dynamic, ull, ull, ull, ull)
ULL_LOOP(ordered_guided, ull, ull, ull, ull)
ULL_LOOP(ordered_runtime, ull, ull, ull)
ULL_LOOP(nonmonotonic_dynamic, ull, ull, ull, ull)
ULL_LOOP(nonmonotonic_guided, ull, ull, ull, ull)
ULL_LOOP(nonmonotonic_runtime, ull, ull, ull)
ULL_LOOP(maybe_nonmonotonic_runtime, ull, ull, ull)

/* One loop on all threads, with an ordered part where the kind has one. */
#define STEP(type, kind, ordered, ...)                                                                                 \
  {                                                                                                                    \
    type from, to;                                                                                                     \
    for (bool more = GOMP_loop_##kind##_start(__VA_ARGS__, &from, &to); more;                                          \
         more = GOMP_loop_##kind##_next(&from, &to))                                                                   \
      for (long i = (long)from; i < (long)to; i++) {                                                                   \
        if (ordered) {                                                                                                 \
          GOMP_ordered_start();                                                                                        \
          sequence = (sequence * 31 + i) % 1000003;                                                                    \
          GOMP_ordered_end();                                                                                          \
        } else                                                                                                         \
          add_range(frame, i, i + 1);                                                                                  \
      }                                                                                                                \
    GOMP_loop_end();                                                                                                   \
  }

static long sequence;

static void long_loops_body(void *data)
{
  struct frame *frame = data;
  STEP(long, static, false, 0, 100, 1, 3)
  STEP(long, dynamic, false, 0, 100, 1, 3)
  STEP(long, guided, false, 0, 100, 1, 3)
  STEP(long, runtime, false, 0, 100, 1)
  STEP(long, ordered_static, true, 0, 100, 1, 3)
  STEP(long, ordered_dynamic, true, 0, 100, 1, 3)
  STEP(long, ordered_guided, true, 0, 100, 1, 3)
  STEP(long, ordered_runtime, true, 0, 100, 1)
  STEP(long, nonmonotonic_dynamic, false, 0, 100, 1, 3)
  STEP(long, nonmonotonic_guided, false, 0, 100, 1, 3)
  STEP(long, nonmonotonic_runtime, false, 0, 100, 1)
  STEP(long, maybe_nonmonotonic_runtime, false, 0, 100, 1)
}

static void ull_loops_body(void *data)
{
  struct frame *frame = data;
  STEP(ull, ull_static, false, true, 0, 100, 1, 3)
  STEP(ull, ull_dynamic, false, true, 0, 100, 1, 3)
  STEP(ull, ull_guided, false, true, 0, 100, 1, 3)
  STEP(ull, ull_runtime, false, true, 0, 100, 1)
  STEP(ull, ull_ordered_static, true, true, 0, 100, 1, 3)
  STEP(ull, ull_ordered_dynamic, true, true, 0, 100, 1, 3)
  STEP(ull, ull_ordered_guided, true, true, 0, 100, 1, 3)
  STEP(ull, ull_ordered_runtime, true, true, 0, 100, 1)
  STEP(ull, ull_nonmonotonic_dynamic, false, true, 0, 100, 1, 3)
  STEP(ull, ull_nonmonotonic_guided, false, true, 0, 100, 1, 3)
  STEP(ull, ull_nonmonotonic_runtime, false, true, 0, 100, 1)
  STEP(ull, ull_maybe_nonmonotonic_runtime, false, true, 0, 100, 1)
}

void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);

static void direct_loops(void)
{
  void (*const bodies[])(void *) = {long_loops_body, ull_loops_body};
  for (int i = 0; i < 2; i++) {
    struct frame frame = {0};
    sequence = 1;
    GOMP_parallel(bodies[i], &frame, 0, 0);
    note(frame.sum);
    note(sequence);
  }
}

/* Combined entry points in one call: the body begins with _next. */
#define COMBINED(kind) void GOMP_parallel_loop_##kind(void (*)(void *), void *, unsigned, long, long, long,
COMBINED(static) long, unsigned);
COMBINED(dynamic) long, unsigned);
COMBINED(guided) long, unsigned);
COMBINED(nonmonotonic_dynamic) long, unsigned);
COMBINED(nonmonotonic_guided) long, unsigned);
COMBINED(runtime) unsigned);
COMBINED(nonmonotonic_runtime) unsigned);
COMBINED(maybe_nonmonotonic_runtime) unsigned);

static void combined_loops(void)
{
  struct frame frame = {0};
  GOMP_parallel_loop_static(old_static_body, &frame, 0, 0, 100, 1, 3, 0);
  GOMP_parallel_loop_dynamic(old_dynamic_body, &frame, 3, 0, 100, 1, 3, 0);
  GOMP_parallel_loop_guided(old_guided_body, &frame, 0, 0, 100, 1, 3, 0);
  GOMP_parallel_loop_runtime(old_runtime_body, &frame, 1, 0, 100, 1, 0);
  GOMP_parallel_loop_nonmonotonic_dynamic(old_dynamic_body, &frame, 0, 0, 100, 1, 3, 0);
  GOMP_parallel_loop_nonmonotonic_guided(old_guided_body, &frame, 2, 0, 100, 1, 3, 0);
  GOMP_parallel_loop_nonmonotonic_runtime(old_runtime_body, &frame, 0, 0, 100, 1, 0);
  GOMP_parallel_loop_maybe_nonmonotonic_runtime(old_runtime_body, &frame, 0, 0, 100, 1, 0);
  note(frame.sum);
}

/* ---- the rest ---- */

/* A task releases a lock that another task of its thread holds twice; libgomp allows it. */
static void lock_released_by_a_task(void)
{
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(1)
  {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
#pragma omp task if (0)
    omp_unset_nest_lock(&lock);
    note(omp_test_nest_lock(&lock)); /* 2: held once */
  }
}

static void warnings(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp error at(execution) severity(warning) message("a warning")
  } note(1);
}

/* Prints the environment, gives all threads back, and goes on. */
static void pauses(void)
{
  long sum = 0;
  omp_display_env(0);
  for (int i = 0; i < 20; i++) {
#pragma omp parallel reduction(+ : sum)
    sum++;
    sum += 1000 * omp_pause_resource_all(i % 2 ? omp_pause_hard : omp_pause_soft);
  }
#pragma omp parallel reduction(+ : sum)
  sum += 100 * omp_pause_resource_all(omp_pause_soft); /* not in a region: -1 */
  note(sum);
}

static void fatal(void)
{
#pragma omp parallel
#pragma omp master
  {
#pragma omp error at(execution) severity(fatal) message("the end")
  }
}

static const struct gomp_case rows[] = {
    ROW(criticals),  ROW(locks),        ROW(old_locks),    ROW(old_fortran_locks),
    ROW(old_region), ROW(old_sections), ROW(old_static),   ROW(old_dynamic),
    ROW(old_guided), ROW(old_runtime),  ROW(direct_loops), ROW(combined_loops),
    ROW(warnings),   ROW(pauses),       ROW(fatal),        ROW(lock_released_by_a_task),
};

int main(int argc, char **argv)
{
  return run_cases(rows, sizeof rows / sizeof *rows, argc, argv);
}
