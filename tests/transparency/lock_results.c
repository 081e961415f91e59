/* Prints what all calls on locks of POSIX and C11 return, in states that the program makes itself: the same with and
 * without the tool.  A constructor and handlers of fork() use locks, too. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER, forked = PTHREAD_MUTEX_INITIALIZER;
static int constructed = -1;

__attribute__((constructor)) static void construct(void)
{
  constructed = pthread_mutex_lock(&early);
  constructed += pthread_mutex_unlock(&early);
}

static void show(const char *what, int result)
{
  printf("%s: %s\n", what, result ? strerrorname_np(result) ? strerrorname_np(result) : "other" : "0");
}

static struct timespec after(clockid_t clock, long ms)
{
  struct timespec at;
  clock_gettime(clock, &at);
  at.tv_nsec += ms * 1000000;
  at.tv_sec += at.tv_nsec / 1000000000;
  at.tv_nsec %= 1000000000;
  return at;
}

/* ---- another thread does something with a lock, and ends or stays ---- */

struct other {
  int (*lock)(void *), (*unlock)(void *);
  void *at;
  pthread_barrier_t held, done;
};

static void *hold(void *argument)
{
  struct other *other = argument;
  other->lock(other->at);
  pthread_barrier_wait(&other->held);
  pthread_barrier_wait(&other->done);
  if (other->unlock)
    other->unlock(other->at);
  return NULL;
}

static pthread_t thread;

static void start(struct other *other)
{
  pthread_barrier_init(&other->held, NULL, 2);
  pthread_barrier_init(&other->done, NULL, 2);
  pthread_create(&thread, NULL, hold, other);
  pthread_barrier_wait(&other->held);
}

static void finish(struct other *other)
{
  pthread_barrier_wait(&other->done);
  pthread_join(thread, NULL);
}

/* ---- mutexes ---- */

static pthread_mutex_t *mutex_of(int type, int robust, int protocol, int shared)
{
  pthread_mutexattr_t attributes;
  pthread_mutex_t *mutex = malloc(sizeof *mutex);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setrobust(&attributes, robust);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutexattr_setpshared(&attributes, shared);
  show("init", pthread_mutex_init(mutex, &attributes));
  pthread_mutexattr_destroy(&attributes);
  return mutex;
}

/* again: an owner that locks it again gets a result; levels: how often it has locked it then. */
static void try_mutex(const char *what, pthread_mutex_t *mutex, int again, int levels)
{
  struct timespec soon = after(CLOCK_REALTIME, 5), never = {.tv_nsec = -1};
  struct other other = {(int (*)(void *))pthread_mutex_lock, (int (*)(void *))pthread_mutex_unlock, mutex};
  printf("-- %s\n", what);
  show("unlock free", again ? pthread_mutex_unlock(mutex) : 0);
  show("lock", pthread_mutex_lock(mutex));
  show("lock again", again ? pthread_mutex_lock(mutex) : pthread_mutex_trylock(mutex));
  show("timedlock again", pthread_mutex_timedlock(mutex, &soon));
  show("unlock", pthread_mutex_unlock(mutex));
  for (int i = 0; i < levels; i++)
    show("unlock", pthread_mutex_unlock(mutex));
  start(&other);
  soon = after(CLOCK_REALTIME, 5);
  show("trylock held", pthread_mutex_trylock(mutex));
  show("timedlock held", pthread_mutex_timedlock(mutex, &soon));
  show("timedlock at no time", pthread_mutex_timedlock(mutex, &never));
  soon = after(CLOCK_MONOTONIC, 5);
  show("clocklock held", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon));
  show("clocklock by no clock", pthread_mutex_clocklock(mutex, CLOCK_THREAD_CPUTIME_ID, &soon));
  finish(&other);
  show("clocklock free by no clock", pthread_mutex_clocklock(mutex, CLOCK_THREAD_CPUTIME_ID, &soon));
  show("timedlock free at no time", pthread_mutex_timedlock(mutex, &never));
  show("unlock", pthread_mutex_unlock(mutex));
  show("destroy", pthread_mutex_destroy(mutex));
  free(mutex);
}

static void try_robust(int how)
{
  pthread_mutex_t *mutex = mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, how & 1);
  struct timespec soon = after(CLOCK_REALTIME, 5);
  struct other other = {(int (*)(void *))pthread_mutex_lock, NULL, mutex};
  printf("-- robust %d\n", how);
  start(&other);
  finish(&other); /* it has ended with the mutex */
  show("owner died", how & 2 ? pthread_mutex_trylock(mutex) : pthread_mutex_lock(mutex));
  show("lock again", pthread_mutex_lock(mutex));
  if (how & 1)
    show("consistent", pthread_mutex_consistent(mutex));
  show("unlock", pthread_mutex_unlock(mutex));
  show("lock", pthread_mutex_lock(mutex));
  show("timedlock", pthread_mutex_timedlock(mutex, &soon));
  show("unlock", pthread_mutex_unlock(mutex));
  free(mutex);
}

/* ---- the other locks ---- */

static void try_rwlock(void)
{
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  struct timespec soon, never = {.tv_nsec = 2000000000};
  struct other other = {(int (*)(void *))pthread_rwlock_wrlock, (int (*)(void *))pthread_rwlock_unlock, &lock};
  printf("-- rwlock\n");
  show("rdlock", pthread_rwlock_rdlock(&lock));
  show("rdlock again", pthread_rwlock_rdlock(&lock));
  show("tryrdlock", pthread_rwlock_tryrdlock(&lock));
  show("trywrlock", pthread_rwlock_trywrlock(&lock));
  soon = after(CLOCK_REALTIME, 5);
  show("timedwrlock", pthread_rwlock_timedwrlock(&lock, &soon));
  for (int i = 0; i < 3; i++)
    show("unlock", pthread_rwlock_unlock(&lock));
  show("wrlock", pthread_rwlock_wrlock(&lock));
  show("wrlock again", pthread_rwlock_wrlock(&lock));
  show("rdlock again", pthread_rwlock_rdlock(&lock));
  show("unlock", pthread_rwlock_unlock(&lock));
  start(&other);
  soon = after(CLOCK_REALTIME, 5);
  show("timedrdlock held", pthread_rwlock_timedrdlock(&lock, &soon));
  soon = after(CLOCK_MONOTONIC, 5);
  show("clockrdlock held", pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &soon));
  show("clockwrlock held", pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon));
  finish(&other);
  show("timedrdlock at no time", pthread_rwlock_timedrdlock(&lock, &never));
  show("clockwrlock by no clock", pthread_rwlock_clockwrlock(&lock, CLOCK_THREAD_CPUTIME_ID, &soon));
  show("clockwrlock", pthread_rwlock_clockwrlock(&lock, CLOCK_REALTIME, &soon));
  show("unlock", pthread_rwlock_unlock(&lock));
  show("destroy", pthread_rwlock_destroy(&lock));
}

static void try_spinlock(void)
{
  pthread_spinlock_t lock;
  struct other other = {(int (*)(void *))pthread_spin_lock, (int (*)(void *))pthread_spin_unlock, (void *)&lock};
  printf("-- spinlock\n");
  show("init", pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE));
  start(&other);
  show("trylock", pthread_spin_trylock(&lock));
  finish(&other);
  show("lock", pthread_spin_lock(&lock));
  show("trylock", pthread_spin_trylock(&lock));
  show("unlock", pthread_spin_unlock(&lock));
}

static void try_c11(int type)
{
  mtx_t mutex;
  cnd_t condition;
  struct timespec soon;
  struct other other = {(int (*)(void *))mtx_lock, (int (*)(void *))mtx_unlock, &mutex};
  printf("-- C11 %d\n", type);
  printf("%d", mtx_init(&mutex, type) == thrd_success && cnd_init(&condition) == thrd_success);
  printf("%d", mtx_lock(&mutex) == thrd_success);
  printf("%d", mtx_trylock(&mutex) == thrd_busy);
  soon = after(CLOCK_REALTIME, 5);
  printf("%d", cnd_timedwait(&condition, &mutex, &soon) == thrd_timedout);
  printf("%d", mtx_unlock(&mutex) == thrd_success);
  if (type & mtx_recursive)
    printf("%d", mtx_unlock(&mutex) == thrd_success);
  start(&other);
  printf("%d", mtx_trylock(&mutex) == thrd_busy);
  soon = after(CLOCK_REALTIME, 5);
  printf("%d", type & mtx_timed ? mtx_timedlock(&mutex, &soon) == thrd_timedout : 1);
  finish(&other);
  printf("%d\n", mtx_lock(&mutex) == thrd_success && mtx_unlock(&mutex) == thrd_success);
}

/* ---- conditions that are cancelled ---- */

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int waits;

static void clean_up(void *mutex)
{
  show("unlock in a clean-up handler", pthread_mutex_unlock(mutex));
}

static void *wait_for_ever(void *argument)
{
  pthread_mutex_lock(&queue);
  pthread_cleanup_push(clean_up, &queue);
  waits = 1;
  while (waits)
    pthread_cond_wait(&ready, &queue);
  pthread_cleanup_pop(1);
  return argument;
}

static void try_cancellation(void)
{
  void *result;
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  for (int now = 0; !now;) {
    pthread_mutex_lock(&queue);
    now = waits;
    pthread_mutex_unlock(&queue);
  }
  pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("-- condition: cancelled %d\n", result == PTHREAD_CANCELED);
  show("lock", pthread_mutex_lock(&queue));
  show("unlock", pthread_mutex_unlock(&queue));
}

/* ---- an address that is used again, and a mutex of two processes ---- */

static void try_reuse(void)
{
  static union {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spinlock;
  } at;
  struct other held = {(int (*)(void *))pthread_mutex_lock, (int (*)(void *))pthread_mutex_unlock, &at};
  struct other written = {(int (*)(void *))pthread_rwlock_wrlock, (int (*)(void *))pthread_rwlock_unlock, &at};
  struct timespec soon;
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  printf("-- reuse\n");
  for (int i = 0; i < 3; i++) {
    show("init", pthread_mutex_init(&at.mutex, i == 1 ? &recursive : NULL));
    start(&held);
    soon = after(CLOCK_REALTIME, 5);
    show("timedlock held", pthread_mutex_timedlock(&at.mutex, &soon));
    finish(&held);
    show("lock", pthread_mutex_lock(&at.mutex));
    show("trylock again", pthread_mutex_trylock(&at.mutex));
    for (int k = 0; k <= (i == 1); k++)
      show("unlock", pthread_mutex_unlock(&at.mutex));
    show("destroy", pthread_mutex_destroy(&at.mutex));
    show("init", pthread_rwlock_init(&at.rwlock, NULL));
    start(&written);
    soon = after(CLOCK_REALTIME, 5);
    show("timedrdlock held", pthread_rwlock_timedrdlock(&at.rwlock, &soon));
    finish(&written);
    show("destroy", pthread_rwlock_destroy(&at.rwlock));
    show("init", pthread_spin_init(&at.spinlock, PTHREAD_PROCESS_PRIVATE));
    show("lock", pthread_spin_lock(&at.spinlock));
    show("unlock", pthread_spin_unlock(&at.spinlock));
  }
}

/* The child holds it while the parent waits, and ends with it, if it is robust. */
static void try_shared(bool robust)
{
  pthread_mutex_t *made = mutex_of(PTHREAD_MUTEX_NORMAL, robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED,
                                   PTHREAD_PRIO_NONE, PTHREAD_PROCESS_SHARED);
  pthread_mutex_t *mutex = mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int held[2], status;
  char byte = 0;
  memcpy(mutex, made, sizeof *mutex);
  free(made);
  printf("-- shared%s\n", robust ? ", robust" : "");
  fflush(stdout);
  if (pipe(held))
    return;
  pid_t child = fork();
  if (!child) {
    pthread_mutex_lock(mutex);
    bool told = write(held[1], &byte, 1) == 1;
    usleep(10000);
    _exit(told && (robust || !pthread_mutex_unlock(mutex)) ? 7 : 1);
  }
  printf("held %d\n", (int)read(held[0], &byte, 1));
  show("lock", pthread_mutex_lock(mutex));
  show("unlock", pthread_mutex_unlock(mutex));
  show("lock", pthread_mutex_lock(mutex));
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
}

/* ---- fork ---- */

static void lock_forked(void)
{
  pthread_mutex_lock(&forked);
}

static void unlock_forked(void)
{
  pthread_mutex_unlock(&forked);
}

static void try_fork(void)
{
  int status = 0;
  pthread_atfork(lock_forked, unlock_forked, unlock_forked);
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    bool locked = pthread_mutex_trylock(&forked) == 0;
    bool unlocked = locked && pthread_mutex_unlock(&forked) == 0;
    _exit(unlocked ? 7 : 1);
  }
  waitpid(child, &status, 0);
  printf("-- fork: child %d\n", WEXITSTATUS(status));
  show("trylock", pthread_mutex_trylock(&forked));
}

/* ---- a handler ---- */

static pthread_mutex_t handled = PTHREAD_MUTEX_INITIALIZER;
static volatile int handler_result = -1;

static void handle(int number)
{
  (void)number;
  handler_result = pthread_mutex_trylock(&handled) ?: pthread_mutex_unlock(&handled);
}

int main(void)
{
  show("constructor", constructed);
  try_mutex("normal", mutex_of(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, 0), 0, 0);
  try_mutex("recursive", mutex_of(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, 0), 1, 2);
  try_mutex("errorcheck", mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, 1), 1, 0);
  try_mutex("adaptive", mutex_of(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, 0), 0, 0);
  try_mutex("inheriting", mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, 0), 1, 0);
  try_mutex("protecting", mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_PROTECT, 0), 1, 0);
  for (int how = 0; how < 4; how++)
    try_robust(how);
  try_rwlock();
  try_spinlock();
  try_c11(mtx_plain);
  try_c11(mtx_timed);
  try_c11(mtx_plain | mtx_recursive);
  try_cancellation();
  try_reuse();
  try_shared(false);
  try_shared(true);
  try_fork();
  signal(SIGUSR1, handle);
  raise(SIGUSR1);
  show("handler", handler_result);
  return 0;
}
