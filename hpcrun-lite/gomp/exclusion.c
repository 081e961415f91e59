/* Mutual exclusion: critical, atomic, locks.  Context: CTL (gomp.h).
 *
 * The clock is read only for acquisitions that wait.  A lock is first tested, so a failure shows that the thread is
 * going to wait.  A critical section cannot be tested.  For it, struct gate shows whether a thread is in it, and how
 * often it was entered: a thread that finds it free, and was the next to enter, has not waited.  If another thread
 * entered between, the time is not known, and the next entries read the clock in any case. */
#include <stddef.h>

#include "hpcrun-lite/gomp/gomp.h"
#include "hpcrun-lite/rt/sampling/blame.h"

enum { GATES = 256, TRIES = 8, WATCHED = 64 };

/* All fields but the name are relaxed hints, written by the thread inside. */
struct gate {
  const void *name; /* of the critical section; NULL: free */
  uint32_t held, entered;
  uint32_t quiet; /* consecutive entries that did not wait; below WATCHED, entries read the clock in any case */
} __attribute__((aligned(64)));

static struct gate unnamed, atomic, named[GATES];

/* NULL if there are too many names: their entries always read the clock. */
static inline struct gate *gate_of(const void *name)
{
  for (unsigned i = 0; i < TRIES; i++) {
    struct gate *gate = &named[((((uint64_t)name * 0x9e3779b97f4a7c15ULL) >> 56) + i) % GATES];
    const void *known = __atomic_load_n(&gate->name, __ATOMIC_RELAXED);
    if (known == name)
      return gate;
    if (!known && (__atomic_compare_exchange_n(&gate->name, &known, name, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                   known == name))
      return gate;
  }
  return NULL;
}

static inline uint32_t load(const uint32_t *field)
{
  return __atomic_load_n(field, __ATOMIC_RELAXED);
}

static inline void store(uint32_t *field, uint32_t value)
{
  __atomic_store_n(field, value, __ATOMIC_RELAXED);
}

/* Overrides the estimate of waiting_lock_end(): all of the time was waiting, or none of it. */
static inline void note_waited(bool waited)
{
  sampling_of(rt_thread())->lock_cost = waited ? 1 : UINT64_MAX;
}

struct gate_visit {
  uint32_t entered;
  bool found_held, timed;
};

static inline struct gate_visit gate_approach(struct gate *gate, int kind, uint64_t id, const void *code)
{
  struct gate_visit visit = {.found_held = true, .timed = true};
  if (gate) {
    visit.entered = load(&gate->entered);
    visit.found_held = load(&gate->held);
    visit.timed = visit.found_held || load(&gate->quiet) < WATCHED;
  }
  if (visit.timed)
    ompt_on_mutex_acquire(kind, 0, 0, id, code);
  return visit;
}

static inline void gate_entered(struct gate *gate, struct gate_visit visit, int kind, uint64_t id, const void *code)
{
  bool waited = visit.found_held;
  if (gate) {
    uint32_t entered = load(&gate->entered), quiet = load(&gate->quiet);
    waited |= entered != visit.entered;
    if (waited || quiet < WATCHED)
      store(&gate->quiet, waited ? 0 : quiet + 1);
    store(&gate->entered, entered + 1);
    store(&gate->held, 1);
  }
  if (visit.timed)
    note_waited(waited);
  if (visit.timed || span_process.online)
    ompt_on_mutex_acquired(kind, id, code);
}

static inline void gate_leave(struct gate *gate, int kind, uint64_t id, const void *code)
{
  if (span_process.online || blame_pending(id))
    ompt_on_mutex_released(kind, id, code);
  if (gate)
    store(&gate->held, 0);
}

#define CRITICAL(start, end, gate, kind)                                                                               \
  GOMP_CODE void wrap_##start(void)                                                                                    \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    if (!task) {                                                                                                       \
      GOMP_NEXT(runtime, start)();                                                                                     \
      return;                                                                                                          \
    }                                                                                                                  \
    struct gate_visit visit = gate_approach(gate, kind, (uint64_t)gate, GOMP_CALLER);                                  \
    GOMP_NEXT(runtime, start)();                                                                                       \
    gate_entered(gate, visit, kind, (uint64_t)gate, GOMP_CALLER);                                                      \
  }                                                                                                                    \
  GOMP_CODE void wrap_##end(void)                                                                                      \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    if (task)                                                                                                          \
      gate_leave(gate, kind, (uint64_t)gate, GOMP_CALLER);                                                             \
    GOMP_NEXT(runtime, end)();                                                                                         \
  }
CRITICAL(GOMP_critical_start, GOMP_critical_end, &unnamed, ompt_mutex_critical)
CRITICAL(GOMP_atomic_start, GOMP_atomic_end, &atomic, ompt_mutex_atomic)

GOMP_CODE void wrap_GOMP_critical_name_start(void **name)
{
  GOMP_ENTER(runtime, task);
  if (!task) {
    GOMP_NEXT(runtime, GOMP_critical_name_start)(name);
    return;
  }
  struct gate *gate = gate_of(name);
  struct gate_visit visit = gate_approach(gate, ompt_mutex_critical, (uint64_t)name, GOMP_CALLER);
  GOMP_NEXT(runtime, GOMP_critical_name_start)(name);
  gate_entered(gate, visit, ompt_mutex_critical, (uint64_t)name, GOMP_CALLER);
}

GOMP_CODE void wrap_GOMP_critical_name_end(void **name)
{
  GOMP_ENTER(runtime, task);
  if (task)
    gate_leave(gate_of(name), ompt_mutex_critical, (uint64_t)name, GOMP_CALLER);
  GOMP_NEXT(runtime, GOMP_critical_name_end)(name);
}

/* ---- locks ---- */

/* What the functions of C and Fortran, and of both versions, have in common.  old: v1_ or nothing; end: _ or nothing.
 */
#define LOCKS(old, end)                                                                                                \
  GOMP_CODE int wrap_##old##omp_test_lock##end(void *lock)                                                             \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    int taken = GOMP_NEXT(runtime, old##omp_test_lock##end)(lock);                                                     \
    if (task && taken)                                                                                                 \
      ompt_on_mutex_acquired(ompt_mutex_test_lock, (uint64_t)lock, GOMP_CALLER);                                       \
    return taken;                                                                                                      \
  }                                                                                                                    \
  GOMP_CODE void wrap_##old##omp_set_lock##end(void *lock)                                                             \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    if (task && !GOMP_NEXT(runtime, old##omp_test_lock##end)(lock)) {                                                  \
      ompt_on_mutex_acquire(ompt_mutex_lock, 0, 0, (uint64_t)lock, GOMP_CALLER);                                       \
      GOMP_NEXT(runtime, old##omp_set_lock##end)(lock);                                                                \
      note_waited(true);                                                                                               \
    } else if (!task) {                                                                                                \
      GOMP_NEXT(runtime, old##omp_set_lock##end)(lock);                                                                \
      return;                                                                                                          \
    }                                                                                                                  \
    ompt_on_mutex_acquired(ompt_mutex_lock, (uint64_t)lock, GOMP_CALLER);                                              \
  }                                                                                                                    \
  GOMP_CODE void wrap_##old##omp_unset_lock##end(void *lock)                                                           \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    if (task)                                                                                                          \
      ompt_on_mutex_released(ompt_mutex_lock, (uint64_t)lock, GOMP_CALLER);                                            \
    GOMP_NEXT(runtime, old##omp_unset_lock##end)(lock);                                                                \
  }                                                                                                                    \
  GOMP_CODE int wrap_##old##omp_test_nest_lock##end(void *lock)                                                        \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    int times = GOMP_NEXT(runtime, old##omp_test_nest_lock##end)(lock);                                                \
    if (task && times == 1)                                                                                            \
      ompt_on_mutex_acquired(ompt_mutex_test_nest_lock, (uint64_t)lock, GOMP_CALLER);                                  \
    return times;                                                                                                      \
  }                                                                                                                    \
  /* A nested lock that the task holds already is tested with success: the result is how often it holds the lock. */   \
  GOMP_CODE void wrap_##old##omp_set_nest_lock##end(void *lock)                                                        \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    int times = task ? GOMP_NEXT(runtime, old##omp_test_nest_lock##end)(lock) : 1;                                     \
    if (!task) {                                                                                                       \
      GOMP_NEXT(runtime, old##omp_set_nest_lock##end)(lock);                                                           \
      return;                                                                                                          \
    }                                                                                                                  \
    if (!times) {                                                                                                      \
      ompt_on_mutex_acquire(ompt_mutex_nest_lock, 0, 0, (uint64_t)lock, GOMP_CALLER);                                  \
      GOMP_NEXT(runtime, old##omp_set_nest_lock##end)(lock);                                                           \
      note_waited(true);                                                                                               \
    }                                                                                                                  \
    if (times <= 1)                                                                                                    \
      ompt_on_mutex_acquired(ompt_mutex_nest_lock, (uint64_t)lock, GOMP_CALLER);                                       \
  }                                                                                                                    \
  GOMP_CODE void wrap_##old##omp_unset_nest_lock##end(void *lock)                                                      \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    if (task) {                                                                                                        \
      int times = GOMP_NEXT(runtime, old##omp_test_nest_lock##end)(lock);                                              \
      if (times)                                                                                                       \
        GOMP_NEXT(runtime, old##omp_unset_nest_lock##end)(lock);                                                       \
      if (times == 2)                                                                                                  \
        ompt_on_mutex_released(ompt_mutex_nest_lock, (uint64_t)lock, GOMP_CALLER);                                     \
    }                                                                                                                  \
    GOMP_NEXT(runtime, old##omp_unset_nest_lock##end)(lock);                                                           \
  }                                                                                                                    \
  LOCK_LIFE(old##omp_init_lock##end, ompt_mutex_lock)                                                                  \
  LOCK_LIFE(old##omp_destroy_lock##end, ompt_mutex_lock)                                                               \
  LOCK_LIFE(old##omp_init_nest_lock##end, ompt_mutex_nest_lock)                                                        \
  LOCK_LIFE(old##omp_destroy_nest_lock##end, ompt_mutex_nest_lock)

/* A lock begins or ends: what is known of its address no longer holds. */
#define LOCK_LIFE(name, kind)                                                                                          \
  GOMP_CODE void wrap_##name(void *lock)                                                                               \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    if (task)                                                                                                          \
      ompt_on_lock_destroy(kind, (uint64_t)lock, GOMP_CALLER);                                                         \
    GOMP_NEXT(runtime, name)(lock);                                                                                    \
  }

LOCKS(, )
LOCKS(, _)
LOCKS(v1_, )
LOCKS(v1_, _)

/* ---- libomp's locks ---- */

/* Left by a jump, so that libomp finds the program's address where it looks for it. */
#define LOCK_TEST(name)                                                                                                \
  GOMP_CODE int wrap_##name(void *place, int thread, void **lock)                                                      \
  {                                                                                                                    \
    ompt_lock_test();                                                                                                  \
    return GOMP_NEXT(gomp_libomp(GOMP_CALLER), name)(place, thread, lock);                                             \
  }
KMPC_TESTS(LOCK_TEST)
