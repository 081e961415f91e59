#include "hpcrun-lite/lock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { TAKEN_MAX = 8 };

struct saved_state {
  sigset_t mask;
  int cancel;
  uint64_t floating; /* settings of the program */
  bool pipe_pending, size_pending;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic pthread_t owner; /* 0 = none */
static atomic_uint users;       /* threads in lock_take() or lock_drop(), or between */

/* One for each time that the owner has taken the lock, the innermost last. */
static struct saved_state taken[TAKEN_MAX];
static unsigned taken_count;

void lock_take(void)
{
  sigset_t all, pending;
  struct saved_state saved;
  atomic_fetch_add(&users, 1);
  sigfillset(&all);
  libc_sigmask(SIG_SETMASK, &all, &saved.mask);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved.cancel);
  if (atomic_load(&owner) != pthread_self()) {
    int (*real)(pthread_mutex_t *) = libc_real(LIBC_pthread_mutex_lock);
    real(&mutex);
    atomic_store(&owner, pthread_self());
  }
  saved.floating = machine_default_floating();
  sigpending(&pending);
  saved.pipe_pending = sigismember(&pending, SIGPIPE);
  saved.size_pending = sigismember(&pending, SIGXFSZ);
  taken[taken_count++ % TAKEN_MAX] = saved;
}

/* Discards what was raised while the lock was held. */
static void discard_raised(const struct saved_state *saved)
{
  int (*real)(const sigset_t *, siginfo_t *, const struct timespec *) = libc_real(LIBC_sigtimedwait);
  struct timespec now = {0, 0};
  sigset_t raised;
  sigemptyset(&raised);
  if (!saved->pipe_pending)
    sigaddset(&raised, SIGPIPE);
  if (!saved->size_pending)
    sigaddset(&raised, SIGXFSZ);
  while (real(&raised, NULL, &now) > 0)
    ;
}

void lock_drop(void)
{
  struct saved_state saved = taken[--taken_count % TAKEN_MAX];
  if (!taken_count) {
    atomic_store(&owner, 0);
    int (*real)(pthread_mutex_t *) = libc_real(LIBC_pthread_mutex_unlock);
    real(&mutex);
  }
  discard_raised(&saved);
  machine_restore_floating(saved.floating);
  pthread_setcancelstate(saved.cancel, NULL);
  libc_sigmask(SIG_SETMASK, &saved.mask, NULL);
  atomic_fetch_sub(&users, 1);
}

void lock_inherit(void)
{
  atomic_store(&users, taken_count);
}

void lock_settle(void)
{
  enum { WAIT_MAX_NS = 100000000 };
  uint64_t deadline = sys_monotonic_ns() + WAIT_MAX_NS;
  while (atomic_load(&users) && sys_monotonic_ns() < deadline)
    sys_yield();
}

void lock_lend(void)
{
  const struct saved_state *saved = &taken[(taken_count - 1) % TAKEN_MAX];
  machine_restore_floating(saved->floating);
  libc_sigmask(SIG_SETMASK, &saved->mask, NULL);
}

bool lock_nested(void)
{
  return taken_count > 1;
}
