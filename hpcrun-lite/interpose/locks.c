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
 * What the OpenMP runtime locks is not measured.  Not seen: locks inside libc.  For the mutex of a condition variable
 * see conditions.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/rt/posix_lock_events.h"

static inline void *known(enum libc_call call)
{
  return libc_addresses[call];
}

/* ---- waiting ---- */

static void wait_begin(struct thread_state *t, const void *lock, enum format_lock_kind kind, const void *code)
{
  hold_publish_regions();
  posix_lock_events_wait(t, lock, kind, code);
}

/* What the thread has got: nothing; a lock that others may hold, too; or one that it holds alone. */
enum taken { NOT_TAKEN, SHARED, ALONE };

/* Returns the result of the call. */
static int wait_end(int result, enum taken taken, const void *lock, enum format_lock_kind kind, const void *code)
{
  struct thread_state *t = rt_thread();
  uint64_t since = t ? posix_lock_events_waited(t) : 0;
  if (!t || !taken)
    return result;
  posix_lock_events_acquired(t, lock, kind, code);
  if (since && taken == ALONE)
    lock_table_hold(t, (uint64_t)lock, since);
  return result;
}

static inline enum taken mutex_taken(int result)
{
  return result == 0 || result == EOWNERDEAD ? ALONE : NOT_TAKEN;
}

/* An attempt has this result, and the thread need not wait. */
static inline int tried(struct thread_state *t, int result, enum taken taken, const void *lock,
                        enum format_lock_kind kind, const void *code)
{
  if (t && taken)
    posix_lock_events_acquired(t, lock, kind, code);
  return result;
}

static inline enum taken plain_taken(int result)
{
  return result == 0 ? ALONE : NOT_TAKEN;
}

static inline enum taken read_taken(int result)
{
  return result == 0 ? SHARED : NOT_TAKEN;
}

static inline enum taken c11_taken(int result)
{
  return result == thrd_success ? ALONE : NOT_TAKEN;
}

/* A call that waits only if an attempt has the result `busy`; taken(): what the thread then has. */
#define TRY_FIRST(attempt, busy, taken, kind, call)                                                                    \
  int attempted = attempt;                                                                                             \
  if (__builtin_expect(attempted != busy, 1))                                                                          \
    return tried(t, attempted, taken(attempted), (const void *)lock, kind, CALLER);                                    \
  wait_begin(t, (const void *)lock, kind, CALLER);                                                                     \
  int result = call;                                                                                                   \
  return wait_end(result, taken(result), (const void *)lock, kind, CALLER)

/* ---- releases ---- */

/* A release that others wait for, or after a long wait of the thread's own. */
static __attribute__((noinline)) int release_noticed(struct thread_state *t, void *lock, enum format_lock_kind kind,
                                                     int (*real)(void *), const void *code, uint64_t sp)
{
  struct lock_release release;
  posix_lock_events_release(t, lock, &release);
  int result = real(lock);
  if (result)
    release.count = 0, release.held = 0;
  posix_lock_events_released(t, lock, kind, &release, code, sp);
  return result;
}

/* Calls the real function.  stays: the lock stays locked, as the thread has locked it more than once. */
#define RELEASE(name, type, lock, kind, stays)                                                                         \
  struct thread_state *t = measured();                                                                                 \
  int (*real)(type *) = t ? known(LIBC_##name) : libc_real(LIBC_##name);                                               \
  if (__builtin_expect(!t || !posix_lock_events_noticed(t, (const void *)(lock)) || stays, 1))                         \
    return real(lock);                                                                                                 \
  return release_noticed(t, (void *)(lock), kind, (int (*)(void *))real, CALLER, FRAME)

/* ---- mutexes ---- */

/* Does another thread hold a mutex that must not be tried?  If it is released meanwhile, the thread counts as waiting
 * for a moment; if it is acquired meanwhile, its wait is not counted. */
static bool is_held(const pthread_mutex_t *mutex, const struct thread_state *t)
{
  enum { OWNER = 0x3fffffff, BELOW_CEILING = 0x7ffff };
  int word = __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);
  int owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
  return word & (posix_lock_events_mutex_kind(mutex) & MUTEX_PROTECT ? BELOW_CEILING : OWNER) && owner != t->tid;
}

/* Of a thread that is measured. */
static inline int mutex_trylock(pthread_mutex_t *mutex)
{
  int (*real)(pthread_mutex_t *) = known(LIBC_pthread_mutex_trylock);
  return real(mutex);
}

/* Waits in one of the calls that lock a mutex. */
#define MUTEX_WAIT(call, code)                                                                                         \
  wait_begin(t, mutex, FORMAT_LOCK_MUTEX, code);                                                                       \
  int result = call;                                                                                                   \
  return wait_end(result, mutex_taken(result), mutex, FORMAT_LOCK_MUTEX, code)

/* The same, with an attempt before; valid: the call does not refuse its arguments before it tries. */
#define MUTEX_CALL(call, valid, code)                                                                                  \
  if (posix_lock_events_mutex_kind(mutex) & (MUTEX_ROBUST | MUTEX_INHERIT | MUTEX_PROTECT)) {                          \
    if (!is_held(mutex, t)) {                                                                                          \
      int untimed = call;                                                                                              \
      return tried(t, untimed, mutex_taken(untimed), mutex, FORMAT_LOCK_MUTEX, code);                                  \
    }                                                                                                                  \
  } else if (valid) {                                                                                                  \
    int attempted = mutex_trylock(mutex);                                                                              \
    if (attempted != EBUSY)                                                                                            \
      return tried(t, attempted, mutex_taken(attempted), mutex, FORMAT_LOCK_MUTEX, code);                              \
  }                                                                                                                    \
  MUTEX_WAIT(call, code)

/* The thread is not measured, another one holds the mutex, or it must not be tried. */
static __attribute__((noinline)) int mutex_lock_otherwise(pthread_mutex_t *mutex, struct thread_state *t,
                                                          const void *code)
{
  int (*real)(pthread_mutex_t *) = libc_real(LIBC_pthread_mutex_lock);
  if (!t)
    return real(mutex);
  MUTEX_CALL(real(mutex), false, code);
}

INTERPOSED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
  struct thread_state *t = measured();
  if (__builtin_expect(!t || posix_lock_events_mutex_kind(mutex) & (MUTEX_ROBUST | MUTEX_INHERIT | MUTEX_PROTECT), 0))
    return mutex_lock_otherwise(mutex, t, CALLER);
  int result = mutex_trylock(mutex);
  if (__builtin_expect(result == 0, 1))
    posix_lock_events_acquired(t, mutex, FORMAT_LOCK_MUTEX, CALLER);
  else if (result == EBUSY)
    return mutex_lock_otherwise(mutex, t, CALLER);
  return result;
}

INTERPOSED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
  int (*real)(pthread_mutex_t *) = libc_real(LIBC_pthread_mutex_trylock);
  int result = real(mutex);
  return tried(measured(), result, mutex_taken(result), mutex, FORMAT_LOCK_MUTEX, CALLER);
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
  RELEASE(pthread_mutex_unlock, pthread_mutex_t, mutex, FORMAT_LOCK_MUTEX, posix_lock_events_nested(mutex));
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
  return tried(measured(), result, c11_taken(result), mutex, FORMAT_LOCK_MUTEX, CALLER);
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
  RELEASE(mtx_unlock, mtx_t, mutex, FORMAT_LOCK_MUTEX, posix_lock_events_nested((pthread_mutex_t *)mutex));
}

/* ---- locks for reading and writing ---- */

/* A call that locks: its parameters beyond the lock and its arguments; attempt: the call that tries; taken(): what the
 * thread then has; valid: whether the call accepts the arguments. */
#define RWLOCK(name, parameters, types, arguments, attempt_name, taken, valid)                                         \
  INTERPOSED int name parameters                                                                                       \
  {                                                                                                                    \
    struct thread_state *t = measured();                                                                               \
    int(*real) types = t ? known(LIBC_##name) : libc_real(LIBC_##name);                                                \
    if (!t)                                                                                                            \
      return real arguments;                                                                                           \
    int (*attempt)(pthread_rwlock_t *) = known(LIBC_##attempt_name);                                                   \
    TRY_FIRST(valid ? attempt(lock) : EBUSY, EBUSY, taken, FORMAT_LOCK_RWLOCK, real arguments);                        \
  }

#define RWLOCK_PLAIN(name, attempt, taken)                                                                             \
  RWLOCK(name, (pthread_rwlock_t * lock), (pthread_rwlock_t *), (lock), attempt, taken, true)
#define RWLOCK_TIMED(name, attempt, taken)                                                                             \
  RWLOCK(name, (pthread_rwlock_t *restrict lock, const struct timespec *restrict until),                               \
         (pthread_rwlock_t *, const struct timespec *), (lock, until), attempt, taken, is_time(CLOCK_REALTIME, until))
#define RWLOCK_CLOCK(name, attempt, taken)                                                                             \
  RWLOCK(name, (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until),              \
         (pthread_rwlock_t *, clockid_t, const struct timespec *), (lock, clock, until), attempt, taken,               \
         is_time(clock, until))

RWLOCK_PLAIN(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, read_taken)
RWLOCK_PLAIN(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, plain_taken)
RWLOCK_TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, read_taken)
RWLOCK_TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, plain_taken)
RWLOCK_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, read_taken)
RWLOCK_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, plain_taken)

INTERPOSED int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
  int (*real)(pthread_rwlock_t *) = libc_real(LIBC_pthread_rwlock_tryrdlock);
  int result = real(lock);
  return tried(measured(), result, read_taken(result), lock, FORMAT_LOCK_RWLOCK, CALLER);
}

INTERPOSED int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
  int (*real)(pthread_rwlock_t *) = libc_real(LIBC_pthread_rwlock_trywrlock);
  int result = real(lock);
  return tried(measured(), result, plain_taken(result), lock, FORMAT_LOCK_RWLOCK, CALLER);
}

INTERPOSED int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
  RELEASE(pthread_rwlock_unlock, pthread_rwlock_t, lock, FORMAT_LOCK_RWLOCK, false);
}

/* ---- spinlocks ---- */

static __attribute__((noinline)) int spin_lock(struct thread_state *t, pthread_spinlock_t *lock, const void *code)
{
  int (*real)(pthread_spinlock_t *) = known(LIBC_pthread_spin_lock);
  int (*attempt)(pthread_spinlock_t *) = known(LIBC_pthread_spin_trylock);
  int attempted = attempt(lock);
  if (__builtin_expect(attempted != EBUSY, 1))
    return tried(t, attempted, plain_taken(attempted), (const void *)lock, FORMAT_LOCK_SPINLOCK, code);
  wait_begin(t, (const void *)lock, FORMAT_LOCK_SPINLOCK, code);
  int result = real(lock);
  return wait_end(result, plain_taken(result), (const void *)lock, FORMAT_LOCK_SPINLOCK, code);
}

/* UCX locks six for a message: what is done for each in a call of MPI is a part of the time of the message. */
INTERPOSED int pthread_spin_lock(pthread_spinlock_t *lock)
{
  struct thread_state *t = measured();
  if (t && t->activity.call != RT_CALL_MPI)
    return spin_lock(t, lock, CALLER);
  int (*real)(pthread_spinlock_t *) = t ? known(LIBC_pthread_spin_lock) : libc_real(LIBC_pthread_spin_lock);
  return real(lock);
}

INTERPOSED int pthread_spin_trylock(pthread_spinlock_t *lock)
{
  int (*real)(pthread_spinlock_t *) = libc_real(LIBC_pthread_spin_trylock);
  int result = real(lock);
  return tried(measured(), result, plain_taken(result), (const void *)lock, FORMAT_LOCK_SPINLOCK, CALLER);
}

INTERPOSED int pthread_spin_unlock(pthread_spinlock_t *lock)
{
  RELEASE(pthread_spin_unlock, pthread_spinlock_t, lock, FORMAT_LOCK_SPINLOCK, false);
}
