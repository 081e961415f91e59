/* Mutual exclusion: critical, atomic, locks.  Context: CTL (gomp.h).
 *
 * The program holds its lock hardly longer than without the tool.  What is to be done about an acquisition is found
 * out, and most of it done, before the lock is tested; after that, most have no more than the moment taken.  At a
 * release the runtime is called first, with the moment taken before.
 *
 * The clock is read only for acquisitions that wait.  All are first tested, so a failure shows that the thread is going
 * to wait.  libgomp has a test for locks only.  But where it is built for futexes, a critical section is a word of the
 * same form as a lock: 1 while a thread is in it.  For a named section, the word is in the program's variable, whose
 * address is passed; the others are libgomp's own variables, which are found in its code.  Sections that cannot be
 * tested are timed each time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/gomp/gomp.h"
#include "hpcrun-lite/rt/lock_events.h"

/* ---- critical sections as locks ---- */

/* The variable that a function of libgomp locks or frees, by its code; NULL: not shown. */
static const void *variable_of(const uint8_t *function, bool locks)
{
  Dl_info info;
  const ElfW(Sym) *symbol = NULL;
  if (!dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol || info.dli_saddr != function)
    return NULL;
  return machine_locked_variable(function, symbol->st_size, locks);
}

/* The word that the functions of a section without a name lock and free. */
static void *word_of(const void *start, const void *end)
{
  const void *word = variable_of(start, true);
  return word == variable_of(end, false) ? (void *)word : NULL;
}

/* Are named sections locks of that form?  Shown with a section that no other thread enters. */
static bool sections_are_locks(const struct gomp_runtime *runtime)
{
  enum { BYTES = 64 };
  static const int empty[BYTES / sizeof(int)], held[BYTES / sizeof(int)] = {1};
  union {
    void *name;
    int word[BYTES / sizeof(int)];
  } section = {.word = {0}};
  void (*start)(void *) = (void (*)(void *))runtime->next[GOMP_NUMBER_GOMP_critical_name_start];
  void (*end)(void *) = (void (*)(void *))runtime->next[GOMP_NUMBER_GOMP_critical_name_end];
  int (*test)(void *) = (int (*)(void *))runtime->next[GOMP_NUMBER_omp_test_lock];
  start(&section);
  bool is_lock = memcmp(&section, held, BYTES) == 0 && !test(&section);
  end(&section);
  if (!is_lock || memcmp(&section, empty, BYTES) != 0 || !test(&section))
    return false;
  is_lock = memcmp(&section, held, BYTES) == 0;
  end(&section);
  return is_lock && memcmp(&section, empty, BYTES) == 0;
}

void gomp_test_sections(struct gomp_runtime *runtime, void *handle)
{
  static const unsigned needed[] = {
      GOMP_NUMBER_GOMP_critical_start,    GOMP_NUMBER_GOMP_critical_end, GOMP_NUMBER_GOMP_critical_name_start,
      GOMP_NUMBER_GOMP_critical_name_end, GOMP_NUMBER_GOMP_atomic_start, GOMP_NUMBER_GOMP_atomic_end,
      GOMP_NUMBER_omp_test_lock};
  for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!gomp_is_own(runtime, handle, needed[i]))
      return;
  void *const *next = runtime->next;
  runtime->tests_sections = sections_are_locks(runtime);
  if (!runtime->tests_sections)
    return;
  runtime->unnamed = word_of(next[GOMP_NUMBER_GOMP_critical_start], next[GOMP_NUMBER_GOMP_critical_end]);
  runtime->atomic = word_of(next[GOMP_NUMBER_GOMP_atomic_start], next[GOMP_NUMBER_GOMP_atomic_end]);
}

/* ---- entering and leaving ---- */

/* Enters a section, or takes a lock, if that takes no waiting.  Otherwise returns false: the thread then waits for it,
 * which is timed.  lock: NULL: it cannot be tested. */
static inline bool enter(struct thread_state *t, int (*test)(void *), void *lock, int kind, uint64_t id,
                         const void *code)
{
  enum lock_prepared prepared = lock ? lock_events_prepare(t, kind, id, code) : LOCK_RECORD;
  if (lock && test(lock)) {
    if (prepared == LOCK_RECORD || (prepared == LOCK_NOTE && !lock_events_note(t, id, code)))
      ompt_on_mutex_acquired(kind, id, code);
    return true;
  }
  lock_events_not_begun(t, prepared, code);
  ompt_on_mutex_acquire(kind, 0, 0, id, code);
  return false;
}

static inline void entered(const void *lock, int kind, uint64_t id, const void *code)
{
  lock_events_waited(rt_thread(), lock);
  ompt_on_mutex_acquired(kind, id, code);
}

/* The calling thread, in a call that leads to that runtime; NULL if no events are reported. */
static inline struct thread_state *reporting(const struct gomp_runtime *runtime)
{
  return runtime != gomp_global && runtime->silent ? NULL : gomp_thread();
}

/* Declares the runtime of this call, and the calling thread. */
#define ENTER_THREAD(runtime, t)                                                                                       \
  const struct gomp_runtime *runtime = gomp_runtime(GOMP_CALLER);                                                      \
  struct thread_state *t = reporting(runtime)

/* parameter, argument: those of both functions, if they have one.  lock: what test() can test, or NULL.  id: what it is
 * called in the events. */
#define EXCLUSION(start, end, parameter, argument, test, lock, id, kind)                                               \
  GOMP_CODE void wrap_##start(parameter)                                                                               \
  {                                                                                                                    \
    ENTER_THREAD(runtime, t);                                                                                          \
    if (!t)                                                                                                            \
      GOMP_NEXT(runtime, start)(argument);                                                                             \
    else if (!enter(t, GOMP_NEXT(runtime, test), lock, kind, (uint64_t)id, GOMP_CALLER)) {                             \
      GOMP_NEXT(runtime, start)(argument);                                                                             \
      entered(lock, kind, (uint64_t)id, GOMP_CALLER);                                                                  \
    }                                                                                                                  \
  }                                                                                                                    \
  GOMP_CODE void wrap_##end(parameter)                                                                                 \
  {                                                                                                                    \
    ENTER_THREAD(runtime, t);                                                                                          \
    uint64_t moment = t ? lock_events_leave(t, (uint64_t)id) : 0;                                                      \
    GOMP_NEXT(runtime, end)(argument);                                                                                 \
    if (t)                                                                                                             \
      lock_events_left(t, kind, (uint64_t)id, moment);                                                                 \
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
  EXCLUSION(old##omp_set_lock##end, old##omp_unset_lock##end, void *lock, lock, old##omp_test_lock##end, lock, lock,   \
            ompt_mutex_lock)                                                                                           \
  GOMP_CODE int wrap_##old##omp_test_nest_lock##end(void *lock)                                                        \
  {                                                                                                                    \
    GOMP_ENTER(runtime, task);                                                                                         \
    int times = GOMP_NEXT(runtime, old##omp_test_nest_lock##end)(lock);                                                \
    if (task && times == 1)                                                                                            \
      ompt_on_mutex_acquired(ompt_mutex_test_nest_lock, (uint64_t)lock, GOMP_CALLER);                                  \
    else if (task && times)                                                                                            \
      lock_events_count(rt_thread(), ompt_mutex_nest_lock, (uint64_t)lock);                                            \
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
    else                                                                                                               \
      lock_events_count(rt_thread(), ompt_mutex_nest_lock, (uint64_t)lock);                                            \
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

/* ---- critical, atomic ---- */

/* Sections without a name, by what they are called in the events. */
static const uint64_t unnamed_section, atomic_sections;

EXCLUSION(GOMP_critical_start, GOMP_critical_end, void, , omp_test_lock, runtime->unnamed, &unnamed_section,
          ompt_mutex_critical)
EXCLUSION(GOMP_atomic_start, GOMP_atomic_end, void, , omp_test_lock, runtime->atomic, &atomic_sections,
          ompt_mutex_atomic)
EXCLUSION(GOMP_critical_name_start, GOMP_critical_name_end, void **name, name, omp_test_lock,
          runtime->tests_sections ? name : NULL, name, ompt_mutex_critical)

/* ---- libomp's locks ---- */

/* Left by a jump, so that libomp finds the program's address where it looks for it. */
#define LOCK_TEST(name)                                                                                                \
  GOMP_CODE int wrap_##name(void *place, int thread, void **lock)                                                      \
  {                                                                                                                    \
    ompt_lock_test();                                                                                                  \
    return GOMP_NEXT(gomp_libomp(GOMP_CALLER), name)(place, thread, lock);                                             \
  }
KMPC_TESTS(LOCK_TEST)
