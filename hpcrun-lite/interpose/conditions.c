/* Waiting at condition variables and semaphores.
 *
 * Context: CTL.  A wait at a condition variable releases its mutex, which counts as a release of that lock; that it
 * acquires the mutex again at its end is not seen.  A signal ends a wait at a semaphore in spite of SA_RESTART:
 * SAMPLE_SIGNAL is held back (hold.h). */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/rt/posix_lock_events.h"

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

/* ---- semaphores ---- */

INTERPOSED int sem_wait(sem_t *semaphore)
{
  int (*real)(sem_t *) = libc_real(LIBC_sem_wait);
  unsigned held = hold_wait(true);
  int result = real(semaphore);
  hold_release(held);
  return result;
}

INTERPOSED int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
  int (*real)(sem_t *, const struct timespec *) = libc_real(LIBC_sem_timedwait);
  unsigned held = hold_wait(true);
  int result = real(semaphore, until);
  hold_release(held);
  return result;
}

INTERPOSED int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
  int (*real)(sem_t *, clockid_t, const struct timespec *) = libc_real(LIBC_sem_clockwait);
  unsigned held = hold_wait(true);
  int result = real(semaphore, clock, until);
  hold_release(held);
  return result;
}
