/* Mutual exclusion: critical, atomic, locks.  Context: CTL (gomp.h).
 *
 * The program holds its lock no longer than without the tool: after an acquisition the moment is taken, and at a
 * release the runtime is called first, with the moment taken before.
 *
 * The clock is read only for acquisitions that may wait.  A lock is first tested, so a failure shows that the thread is
 * going to wait.  A critical section cannot be tested.  For it there is struct gate.  Of a quiet one, threads keep
 * whether a thread is in it, and how often it was entered: a thread that finds it free, and is the next to enter, has
 * not waited.  Once a thread has waited, the gate is no longer quiet: nothing is written to its cache line, which would
 * move between processors with each entry, and all entries read the clock.  A thread that has then entered often
 * without waiting makes it quiet again. */
#include <stddef.h>

#include "hpcrun-lite/gomp/gomp.h"
#include "hpcrun-lite/rt/lock_events.h"

enum { TRIES = 8, CALM = 64 };

/* All fields but the name are relaxed hints, written by the thread inside: as long as the gate is quiet, `held` is true
 * while a thread is in it. */
struct gate {
  const void *name; /* of the critical section; NULL: free */
  uint32_t quiet, held, entered;
} __attribute__((aligned(64)));

enum { UNNAMED, ATOMIC, NAMED };
static struct gate gates[GOMP_GATES];

/* NULL if there are too many names: their entries always read the clock. */
static inline struct gate *gate_of(const void *name)
{
  for (unsigned i = 0; i < TRIES; i++) {
    struct gate *gate = &gates[NAMED + ((((uint64_t)name * 0x9e3779b97f4a7c15ULL) >> 56) + i) % (GOMP_GATES - NAMED)];
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

/* How often the thread has entered the gate without waiting, since it has waited there; NULL without memory. */
static inline uint8_t *calm_of(const struct gate *gate)
{
  struct gomp_memory *memory = gate ? gomp_memory() : NULL;
  return memory ? &memory->calm[gate - gates] : NULL;
}

struct gate_visit {
  uint32_t entered;
  bool quiet, found_held, timed;
};

static inline struct gate_visit gate_approach(const struct gate *gate, int kind, uint64_t id, const void *code)
{
  struct gate_visit visit = {.quiet = gate && load(&gate->quiet)};
  if (visit.quiet) {
    visit.entered = load(&gate->entered);
    visit.found_held = load(&gate->held);
  }
  visit.timed = !visit.quiet || visit.found_held;
  if (visit.timed)
    ompt_on_mutex_acquire(kind, 0, 0, id, code);
  return visit;
}

/* Writes to a quiet gate, or one that becomes quiet. */
static inline void gate_note_entry(struct gate *gate, struct gate_visit visit)
{
  bool quiet = load(&gate->quiet);
  if (!quiet) {
    uint8_t *calm = calm_of(gate);
    if (!calm || *calm < CALM)
      return;
    *calm = 0;
    store(&gate->quiet, true);
  }
  uint32_t entered = load(&gate->entered);
  store(&gate->entered, entered + 1);
  store(&gate->held, true);
  if (visit.quiet && (visit.found_held || entered != visit.entered))
    store(&gate->quiet, false);
}

static inline void gate_entered(struct gate *gate, struct gate_visit visit, int kind, uint64_t id, const void *code)
{
  if (gate)
    gate_note_entry(gate, visit);
  if (visit.timed)
    lock_events_waited(rt_thread(), visit.found_held);
  if (visit.timed || span_process.online)
    ompt_on_mutex_acquired(kind, id, code);
}

static inline uint64_t gate_leave(struct gate *gate, uint64_t id)
{
  uint64_t moment = lock_events_leave(rt_thread(), id);
  if (gate && load(&gate->quiet))
    store(&gate->held, false);
  return moment;
}

/* After the runtime has freed the lock. */
static inline void gate_left(const struct gate *gate, int kind, uint64_t id, uint64_t moment)
{
  lock_events_left(rt_thread(), kind, id, moment);
  uint8_t *calm = !gate || load(&gate->quiet) ? NULL : calm_of(gate);
  if (calm)
    *calm = lock_events_has_waited(rt_thread()) ? 0 : (uint8_t)(*calm + (*calm < CALM));
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
    if (!task) {                                                                                                       \
      GOMP_NEXT(runtime, end)();                                                                                       \
      return;                                                                                                          \
    }                                                                                                                  \
    uint64_t moment = gate_leave(gate, (uint64_t)gate);                                                                \
    GOMP_NEXT(runtime, end)();                                                                                         \
    gate_left(gate, kind, (uint64_t)gate, moment);                                                                     \
  }
CRITICAL(GOMP_critical_start, GOMP_critical_end, &gates[UNNAMED], ompt_mutex_critical)
CRITICAL(GOMP_atomic_start, GOMP_atomic_end, &gates[ATOMIC], ompt_mutex_atomic)

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
  if (!task) {
    GOMP_NEXT(runtime, GOMP_critical_name_end)(name);
    return;
  }
  struct gate *gate = gate_of(name);
  uint64_t moment = gate_leave(gate, (uint64_t)name);
  GOMP_NEXT(runtime, GOMP_critical_name_end)(name);
  gate_left(gate, ompt_mutex_critical, (uint64_t)name, moment);
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
      lock_events_waited(rt_thread(), true);                                                                           \
    } else if (!task) {                                                                                                \
      GOMP_NEXT(runtime, old##omp_set_lock##end)(lock);                                                                \
      return;                                                                                                          \
    }                                                                                                                  \
    ompt_on_mutex_acquired(ompt_mutex_lock, (uint64_t)lock, GOMP_CALLER);                                              \
  }                                                                                                                    \
  GOMP_CODE void wrap_##old##omp_unset_lock##end(void *lock)                                                           \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    uint64_t moment = task ? lock_events_leave(rt_thread(), (uint64_t)lock) : 0;                                       \
    GOMP_NEXT(runtime, old##omp_unset_lock##end)(lock);                                                                \
    if (task)                                                                                                          \
      lock_events_left(rt_thread(), ompt_mutex_lock, (uint64_t)lock, moment);                                          \
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
      lock_events_waited(rt_thread(), true);                                                                           \
    }                                                                                                                  \
    if (times <= 1)                                                                                                    \
      ompt_on_mutex_acquired(ompt_mutex_nest_lock, (uint64_t)lock, GOMP_CALLER);                                       \
  }                                                                                                                    \
  GOMP_CODE void wrap_##old##omp_unset_nest_lock##end(void *lock)                                                      \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    int times = task ? GOMP_NEXT(runtime, old##omp_test_nest_lock##end)(lock) : 0;                                     \
    if (times)                                                                                                         \
      GOMP_NEXT(runtime, old##omp_unset_nest_lock##end)(lock);                                                         \
    uint64_t moment = times == 2 ? lock_events_leave(rt_thread(), (uint64_t)lock) : 0;                                 \
    GOMP_NEXT(runtime, old##omp_unset_nest_lock##end)(lock);                                                           \
    if (times == 2)                                                                                                    \
      lock_events_left(rt_thread(), ompt_mutex_nest_lock, (uint64_t)lock, moment);                                     \
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
