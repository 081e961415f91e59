/* Waiting at condition variables and semaphores.
 *
 * Context: CTL.  A wait at a condition variable releases its mutex, which counts as a release of that lock; that it
 * acquires the mutex again at its end is not seen.  A signal ends a wait at a semaphore in spite of SA_RESTART:
 * SAMPLE_SIGNAL is held back (hold.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/rt/posix_lock_events.h"
#include "hpcrun-lite/rt/sampling/pools.h"

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

static bool condition_begin(const void *condition, const void *mutex, const void *code, uint64_t sp)
{
  leave_mutex(mutex, code, sp);
  if (!rt_thread())
    return false;
  hold_publish_regions();
  return pools_begin(rt_thread(), condition, FORMAT_LOCK_CONDITION, code_in_runtime(code) ? NULL : code,
                     !sampling_process.wall);
}

static int condition_end(bool begun, int result)
{
  if (begun && rt_thread())
    pools_end(rt_thread(), true);
  return result;
}

#define WAIT_FOR(call)                                                                                                 \
  bool begun = condition_begin(condition, mutex, CALLER, FRAME);                                                       \
  return condition_end(begun, call)

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

/* Takes the semaphore if the thread need not wait for it, as the calls do: after a cancellation. */
static bool taken_at_once(sem_t *semaphore)
{
  int (*attempt)(sem_t *) = libc_real(LIBC_sem_trywait);
  int saved_errno = errno;
  pthread_testcancel();
  bool taken = !attempt(semaphore);
  errno = saved_errno;
  return taken;
}

/* The thread waits for a semaphore in this call. */
struct semaphore_wait {
  unsigned held;
  bool begun;
};

static struct semaphore_wait semaphore_begin(const sem_t *semaphore, const void *code)
{
  struct semaphore_wait wait = {.held = hold_transfer(true)};
  wait.begun = pools_begin(rt_thread(), semaphore, FORMAT_LOCK_SEMAPHORE, code_in_runtime(code) ? NULL : code, true);
  return wait;
}

/* A sample of elapsed time that was held back falls into the wait. */
static int semaphore_end(struct semaphore_wait wait, int result)
{
  int saved_errno = errno;
  hold_release(wait.held);
  if (wait.begun && rt_thread())
    pools_end(rt_thread(), true);
  errno = saved_errno;
  return result;
}

/* valid: the call does not refuse its arguments before it tries. */
#define SEMAPHORE_WAIT(call, valid)                                                                                    \
  if (!measured())                                                                                                     \
    return call;                                                                                                       \
  if (valid && taken_at_once(semaphore))                                                                               \
    return 0;                                                                                                          \
  struct semaphore_wait wait = semaphore_begin(semaphore, CALLER);                                                     \
  return semaphore_end(wait, call)

INTERPOSED int sem_wait(sem_t *semaphore)
{
  int (*real)(sem_t *) = libc_real(LIBC_sem_wait);
  SEMAPHORE_WAIT(real(semaphore), true);
}

INTERPOSED int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
  int (*real)(sem_t *, const struct timespec *) = libc_real(LIBC_sem_timedwait);
  SEMAPHORE_WAIT(real(semaphore, until), is_time(CLOCK_REALTIME, until));
}

INTERPOSED int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
  int (*real)(sem_t *, clockid_t, const struct timespec *) = libc_real(LIBC_sem_clockwait);
  SEMAPHORE_WAIT(real(semaphore, clock, until), is_time(clock, until));
}
