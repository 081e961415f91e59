/* Locks of POSIX and C11.
 *
 * Context: CTL.  A lock is first tried.  What that returns is the result of the call, unless another thread holds the
 * lock: then the thread waits in the call itself, which is timed.  So a lock that is free costs a call of libc, as
 * without the tool.  Some mutexes are not tried: an attempt takes a system call (priority inheritance and protection),
 * or leaves the mutex locked where it is not recoverable (robust ones in glibc).  Of these the tool looks whether
 * another thread holds the mutex, and times the call only then.
 *
 * Allocators lock mutexes before this library has started: the first call of a function looks it up, for which dlsym()
 * does not allocate if it finds one (libc.h).
 *
 * What the OpenMP runtime locks is not measured.  Not seen: locks inside libc; and the mutex of a condition variable
 * when the wait acquires it again, though its release at the beginning of the wait is seen. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/posix_lock_events.h"

#define CALLER __builtin_return_address(0)
#define FRAME ((uint64_t)__builtin_frame_address(0))

/* The thread, if what it locks is measured. */
static inline struct thread_state *measured(void)
{
  bool goes_on = process.active && !atomic_load_explicit(&rt.forking, memory_order_relaxed); /* handlers of fork() */
  return __builtin_expect(goes_on, 1) ? rt_thread() : NULL;
}

/* ---- waiting ---- */

static void wait_begin(struct thread_state *t, const void *lock, enum format_lock_kind kind, const void *code)
{
  hold_publish_regions();
  posix_lock_events_wait(t, lock, kind, code);
}

/* Returns the result, of which taken says whether the thread holds the lock. */
static int wait_end(int result, bool taken, const void *code)
{
  struct thread_state *t = rt_thread();
  if (t)
    posix_lock_events_waited(t);
  if (t && taken)
    posix_lock_events_acquired(t, code);
  return result;
}

static inline bool mutex_taken(int result)
{
  return result == 0 || result == EOWNERDEAD;
}

/* An attempt has this result, and the thread need not wait. */
static inline int tried(struct thread_state *t, int result, bool taken, const void *code)
{
  if (t && taken)
    posix_lock_events_acquired(t, code);
  return result;
}

static inline bool plain_taken(int result)
{
  return result == 0;
}

static inline bool c11_taken(int result)
{
  return result == thrd_success;
}

/* A call that waits only if an attempt has the result `busy`; taken(): whether the thread then holds the lock. */
#define TRY_FIRST(attempt, busy, taken, kind, call)                                                                    \
  int attempted = attempt;                                                                                             \
  if (attempted != busy)                                                                                               \
    return tried(t, attempted, taken(attempted), CALLER);                                                              \
  wait_begin(t, (const void *)lock, kind, CALLER);                                                                     \
  int result = call;                                                                                                   \
  return wait_end(result, taken(result), CALLER)

/* ---- releases ---- */

/* A release that others wait for, or after a long wait of the thread's own. */
static __attribute__((noinline)) int release_noticed(struct thread_state *t, void *lock, enum format_lock_kind kind,
                                                     int (*real)(void *), const void *code, uint64_t sp)
{
  struct lock_release release;
  posix_lock_events_release(t, lock, &release);
  int result = real(lock);
  release.count = result ? 0 : release.count;
  posix_lock_events_released(t, lock, kind, &release, code, sp);
  return result;
}

/* Calls the real function. */
#define RELEASE(lock, kind, real)                                                                                      \
  struct thread_state *t = measured();                                                                                 \
  if (__builtin_expect(!t || !posix_lock_events_noticed(t, (const void *)(lock)), 1))                                  \
    return real(lock);                                                                                                 \
  return release_noticed(t, (void *)(lock), kind, (int (*)(void *))real, CALLER, FRAME)

/* Whether the calls with a time limit accept it: they refuse some before they try.  libc need not look at it if the
 * lock is free, so that it may be NULL, whatever its declaration says. */
static bool is_time(clockid_t clock, const struct timespec *volatile until_passed)
{
  const struct timespec *until = until_passed;
  return until && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && until->tv_nsec >= 0 &&
         until->tv_nsec < 1000000000;
}

/* ---- mutexes ---- */

enum { RECURSIVE = 1, TYPE = 3, ROBUST = 0x10, INHERIT = 0x20, PROTECT = 0x40 }; /* glibc: bits of a mutex's kind */

static inline int kind_of(const pthread_mutex_t *mutex)
{
  return __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
}

/* Will the thread hold a recursive mutex after it has released it once? */
static inline bool stays_locked(const pthread_mutex_t *mutex)
{
  return (kind_of(mutex) & TYPE) == RECURSIVE && mutex->__data.__count > 1;
}

/* Does another thread hold a mutex that must not be tried?  If it is released meanwhile, the thread counts as waiting
 * for a moment; if it is acquired meanwhile, its wait is not counted. */
static bool is_held(const pthread_mutex_t *mutex, const struct thread_state *t)
{
  enum { OWNER = 0x3fffffff, BELOW_CEILING = 0x7ffff };
  int word = __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);
  int owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
  return word & (kind_of(mutex) & PROTECT ? BELOW_CEILING : OWNER) && owner != t->tid;
}

static int mutex_trylock(pthread_mutex_t *mutex)
{
  int (*real)(pthread_mutex_t *) = libc_real(LIBC_pthread_mutex_trylock);
  return real(mutex);
}

/* Waits in one of the calls that lock a mutex. */
#define MUTEX_WAIT(call, code)                                                                                         \
  wait_begin(t, mutex, FORMAT_LOCK_MUTEX, code);                                                                       \
  int result = call;                                                                                                   \
  return wait_end(result, mutex_taken(result), code)

/* The same, with an attempt before; valid: the call does not refuse its arguments before it tries. */
#define MUTEX_CALL(call, valid, code)                                                                                  \
  if (kind_of(mutex) & (ROBUST | INHERIT | PROTECT)) {                                                                 \
    if (!is_held(mutex, t)) {                                                                                          \
      int untimed = call;                                                                                              \
      return tried(t, untimed, mutex_taken(untimed), code);                                                            \
    }                                                                                                                  \
  } else if (valid) {                                                                                                  \
    int attempted = mutex_trylock(mutex);                                                                              \
    if (attempted != EBUSY)                                                                                            \
      return tried(t, attempted, mutex_taken(attempted), code);                                                        \
  }                                                                                                                    \
  MUTEX_WAIT(call, code)

/* Another thread holds the mutex, or it must not be tried. */
static __attribute__((noinline)) int mutex_lock_otherwise(pthread_mutex_t *mutex, struct thread_state *t,
                                                          const void *code)
{
  int (*real)(pthread_mutex_t *) = libc_real(LIBC_pthread_mutex_lock);
  MUTEX_CALL(real(mutex), false, code);
}

INTERPOSED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
  struct thread_state *t = measured();
  if (__builtin_expect(!t, 0)) {
    int (*real)(pthread_mutex_t *) = libc_real(LIBC_pthread_mutex_lock);
    return real(mutex);
  }
  int result = kind_of(mutex) & (ROBUST | INHERIT | PROTECT) ? EBUSY : mutex_trylock(mutex);
  if (__builtin_expect(result == EBUSY, 0))
    return mutex_lock_otherwise(mutex, t, CALLER);
  return tried(t, result, mutex_taken(result), CALLER);
}

INTERPOSED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
  int result = mutex_trylock(mutex);
  return tried(measured(), result, mutex_taken(result), CALLER);
}

INTERPOSED int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
  int (*real)(pthread_mutex_t *, const struct timespec *) = libc_real(LIBC_pthread_mutex_timedlock);
  struct thread_state *t = measured();
  if (!t)
    return real(mutex, until);
  MUTEX_CALL(real(mutex, until), true, CALLER);
}

INTERPOSED int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                       const struct timespec *restrict until)
{
  int (*real)(pthread_mutex_t *, clockid_t, const struct timespec *) = libc_real(LIBC_pthread_mutex_clocklock);
  struct thread_state *t = measured();
  if (!t)
    return real(mutex, clock, until);
  MUTEX_CALL(real(mutex, clock, until), is_time(clock, until), CALLER);
}

INTERPOSED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
  int (*real)(pthread_mutex_t *) = libc_real(LIBC_pthread_mutex_unlock);
  if (stays_locked(mutex))
    return real(mutex);
  RELEASE(mutex, FORMAT_LOCK_MUTEX, real);
}

/* ---- mutexes of C11 ---- */

INTERPOSED int mtx_lock(mtx_t *lock)
{
  int (*real)(mtx_t *) = libc_real(LIBC_mtx_lock);
  int (*attempt)(mtx_t *) = libc_real(LIBC_mtx_trylock);
  struct thread_state *t = measured();
  if (!t)
    return real(lock);
  TRY_FIRST(attempt(lock), thrd_busy, c11_taken, FORMAT_LOCK_MUTEX, real(lock));
}

INTERPOSED int mtx_trylock(mtx_t *mutex)
{
  int (*real)(mtx_t *) = libc_real(LIBC_mtx_trylock);
  int result = real(mutex);
  return tried(measured(), result, c11_taken(result), CALLER);
}

INTERPOSED int mtx_timedlock(mtx_t *restrict lock, const struct timespec *restrict until)
{
  int (*real)(mtx_t *, const struct timespec *) = libc_real(LIBC_mtx_timedlock);
  int (*attempt)(mtx_t *) = libc_real(LIBC_mtx_trylock);
  struct thread_state *t = measured();
  if (!t)
    return real(lock, until);
  TRY_FIRST(attempt(lock), thrd_busy, c11_taken, FORMAT_LOCK_MUTEX, real(lock, until));
}

INTERPOSED int mtx_unlock(mtx_t *mutex)
{
  int (*real)(mtx_t *) = libc_real(LIBC_mtx_unlock);
  if (stays_locked((pthread_mutex_t *)mutex))
    return real(mutex);
  RELEASE(mutex, FORMAT_LOCK_MUTEX, real);
}

/* ---- locks for reading and writing ---- */

/* A call that locks: its parameters beyond the lock and its arguments; attempt: the call that tries; valid: whether it
 * accepts them. */
#define RWLOCK(name, parameters, types, arguments, attempt_name, valid)                                                \
  INTERPOSED int name parameters                                                                                       \
  {                                                                                                                    \
    int(*real) types = libc_real(LIBC_##name);                                                                         \
    int (*attempt)(pthread_rwlock_t *) = libc_real(LIBC_##attempt_name);                                               \
    struct thread_state *t = measured();                                                                               \
    if (!t)                                                                                                            \
      return real arguments;                                                                                           \
    TRY_FIRST(valid ? attempt(lock) : EBUSY, EBUSY, plain_taken, FORMAT_LOCK_RWLOCK, real arguments);                  \
  }

#define RWLOCK_PLAIN(name, attempt) RWLOCK(name, (pthread_rwlock_t * lock), (pthread_rwlock_t *), (lock), attempt, true)
#define RWLOCK_TIMED(name, attempt)                                                                                    \
  RWLOCK(name, (pthread_rwlock_t *restrict lock, const struct timespec *restrict until),                               \
         (pthread_rwlock_t *, const struct timespec *), (lock, until), attempt, is_time(CLOCK_REALTIME, until))
#define RWLOCK_CLOCK(name, attempt)                                                                                    \
  RWLOCK(name, (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until),              \
         (pthread_rwlock_t *, clockid_t, const struct timespec *), (lock, clock, until), attempt,                      \
         is_time(clock, until))

RWLOCK_PLAIN(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock)
RWLOCK_PLAIN(pthread_rwlock_wrlock, pthread_rwlock_trywrlock)
RWLOCK_TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock)
RWLOCK_TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock)
RWLOCK_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock)
RWLOCK_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock)

INTERPOSED int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
  int (*real)(pthread_rwlock_t *) = libc_real(LIBC_pthread_rwlock_tryrdlock);
  int result = real(lock);
  return tried(measured(), result, plain_taken(result), CALLER);
}

INTERPOSED int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
  int (*real)(pthread_rwlock_t *) = libc_real(LIBC_pthread_rwlock_trywrlock);
  int result = real(lock);
  return tried(measured(), result, plain_taken(result), CALLER);
}

INTERPOSED int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
  int (*real)(pthread_rwlock_t *) = libc_real(LIBC_pthread_rwlock_unlock);
  RELEASE(lock, FORMAT_LOCK_RWLOCK, real);
}

/* ---- spinlocks ---- */

INTERPOSED int pthread_spin_lock(pthread_spinlock_t *lock)
{
  int (*real)(pthread_spinlock_t *) = libc_real(LIBC_pthread_spin_lock);
  int (*attempt)(pthread_spinlock_t *) = libc_real(LIBC_pthread_spin_trylock);
  struct thread_state *t = measured();
  if (!t)
    return real(lock);
  TRY_FIRST(attempt(lock), EBUSY, plain_taken, FORMAT_LOCK_SPINLOCK, real(lock));
}

INTERPOSED int pthread_spin_trylock(pthread_spinlock_t *lock)
{
  int (*real)(pthread_spinlock_t *) = libc_real(LIBC_pthread_spin_trylock);
  int result = real(lock);
  return tried(measured(), result, plain_taken(result), CALLER);
}

INTERPOSED int pthread_spin_unlock(pthread_spinlock_t *lock)
{
  int (*real)(pthread_spinlock_t *) = libc_real(LIBC_pthread_spin_unlock);
  RELEASE(lock, FORMAT_LOCK_SPINLOCK, real);
}

/* ---- condition variables ---- */

/* The wait releases the mutex: what others have waited for it is charged here, before, since a wait may be cancelled.
 */
static inline void leave_mutex(const void *mutex, const void *code, uint64_t sp)
{
  struct thread_state *t = measured();
  struct lock_release release;
  if (!t)
    return;
  posix_lock_events_release(t, mutex, &release);
  posix_lock_events_released(t, mutex, FORMAT_LOCK_MUTEX, &release, code, sp);
}

#define WAIT_FOR(call)                                                                                                 \
  leave_mutex(mutex, CALLER, FRAME);                                                                                   \
  bool slept = hold_sleep_begin(true);                                                                                 \
  int result = call;                                                                                                   \
  hold_sleep_end(slept);                                                                                               \
  return result

INTERPOSED int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *) = libc_real(LIBC_pthread_cond_wait);
  WAIT_FOR(real(condition, mutex));
}

INTERPOSED int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                      const struct timespec *restrict until)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) = libc_real(LIBC_pthread_cond_timedwait);
  WAIT_FOR(real(condition, mutex, until));
}

INTERPOSED int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                      clockid_t clock, const struct timespec *restrict until)
{
  int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *) =
      libc_real(LIBC_pthread_cond_clockwait);
  WAIT_FOR(real(condition, mutex, clock, until));
}

INTERPOSED int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
  int (*real)(cnd_t *, mtx_t *) = libc_real(LIBC_cnd_wait);
  WAIT_FOR(real(condition, mutex));
}

INTERPOSED int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict until)
{
  int (*real)(cnd_t *, mtx_t *, const struct timespec *) = libc_real(LIBC_cnd_timedwait);
  WAIT_FOR(real(condition, mutex, until));
}
