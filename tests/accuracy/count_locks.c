/* Counts acquisitions of locks of POSIX and C11, and how long threads wait for them, independently of hpcrun-lite: a
 * library to be preloaded before it.  Writes "acquisitions N", "waits N" and "waited S" to the file COUNT_LOCKS when
 * the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static unsigned long acquisitions, waits, waited_ns;
static FILE *file;

static unsigned long now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (unsigned long)now.tv_sec * 1000000000 + (unsigned long)now.tv_nsec;
}

static void acquired(unsigned long since)
{
  __atomic_fetch_add(&acquisitions, 1, __ATOMIC_RELAXED);
  if (!since)
    return;
  __atomic_fetch_add(&waits, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&waited_ns, now_ns() - since, __ATOMIC_RELAXED);
}

/* The next definition of the function. */
#define NEXT(name)                                                                                                     \
  static __typeof__(&name) next;                                                                                       \
  if (!next)                                                                                                           \
  next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define TRY(name, type, taken)                                                                                         \
  int name(type *lock)                                                                                                 \
  {                                                                                                                    \
    NEXT(name);                                                                                                        \
    int result = next(lock);                                                                                           \
    if (taken)                                                                                                         \
      acquired(0);                                                                                                     \
    return result;                                                                                                     \
  }

/* Tries by the function `attempt`, and waits if that says that the lock is taken. */
#define LOCK(name, attempt, type, taken, busy)                                                                         \
  int name(type *lock)                                                                                                 \
  {                                                                                                                    \
    NEXT(name);                                                                                                        \
    static __typeof__(&attempt) tries;                                                                                 \
    if (!tries)                                                                                                        \
      tries = (__typeof__(&attempt))dlsym(RTLD_NEXT, #attempt);                                                        \
    int result = tries(lock);                                                                                          \
    unsigned long since = 0;                                                                                           \
    if (result == (busy)) {                                                                                            \
      since = now_ns();                                                                                                \
      result = next(lock);                                                                                             \
    }                                                                                                                  \
    if (taken)                                                                                                         \
      acquired(since);                                                                                                 \
    return result;                                                                                                     \
  }

#define TAKEN (!result || result == EOWNERDEAD)
TRY(pthread_mutex_trylock, pthread_mutex_t, TAKEN)
TRY(pthread_rwlock_tryrdlock, pthread_rwlock_t, TAKEN)
TRY(pthread_rwlock_trywrlock, pthread_rwlock_t, TAKEN)
TRY(pthread_spin_trylock, pthread_spinlock_t volatile, TAKEN)
TRY(mtx_trylock, mtx_t, result == thrd_success)
LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t, TAKEN, EBUSY)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, TAKEN, EBUSY)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, TAKEN, EBUSY)
LOCK(pthread_spin_lock, pthread_spin_trylock, pthread_spinlock_t volatile, TAKEN, EBUSY)
LOCK(mtx_lock, mtx_trylock, mtx_t, result == thrd_success, thrd_busy)

/* At once, since xz soon forbids itself to open files. */
static __attribute__((constructor)) void open_file(void)
{
  const char *path = getenv("COUNT_LOCKS");
  file = path ? fopen(path, "we") : NULL;
}

/* Writes the counts, which the counting of what follows no longer changes. */
static __attribute__((destructor)) void write_counts(void)
{
  if (!file)
    return;
  fprintf(file, "acquisitions %lu\nwaits %lu\nwaited %.9f\n", acquisitions, waits, (double)waited_ns * 1e-9);
  fclose(file);
}
