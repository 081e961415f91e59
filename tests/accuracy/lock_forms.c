/* Programs of locks and conditions whose figures follow from the source: lock_forms convoy|readers|queue|free
 * pthread|openmp.  Prints how often locks were acquired, and what the threads measure themselves.
 *
 * convoy: each thread in turn takes a lock, and holds it until all that have not had it wait for it.
 * readers: two threads read while one waits to write, and wait to read while it writes.
 * queue: one thread puts items into a queue, slowly, and two take them out, which wait for a condition; then as free.
 * free: each thread takes locks of its own, of all kinds, for which nobody waits, and then once that of the convoy. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "await_sleep.h"
#include "burn.h"

enum { THREADS = 3, ROUNDS = 4, HELD_US = 20000, ITEMS = 30, ITEM_US = 8000, FREE = 1000 };

static pthread_barrier_t step;
/* How long the thread has waited, by its own clock: for the gate; otherwise. */
static double gated[THREADS], waited[THREADS];

static struct waiter waiters[THREADS];

/* Holds a lock for a while, after so many other threads have begun to wait for it. */
static NOINLINE void hold(int count)
{
  for (int waiting = 0; waiting < count;) {
    waiting = 0;
    for (int i = 0; i < THREADS; i++)
      waiting += sleeps(&waiters[i]);
    usleep(200);
  }
  usleep(HELD_US);
}

/* ---- convoy ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int passed; /* by how many threads in all */

static NOINLINE void pass(int thread)
{
  double since = wall_clock();
  goes_to_wait(&waiters[thread]);
  pthread_mutex_lock(&gate);
  has_waited(&waiters[thread]);
  gated[thread] += wall_clock() - since;
  hold(THREADS - 1 - passed++ % THREADS);
  pthread_mutex_unlock(&gate);
  __asm__ volatile("");
}

static void convoy(int thread)
{
  for (int round = 0; round < ROUNDS; round++) {
    pthread_barrier_wait(&step);
    pass(thread);
  }
}

/* ---- readers and a writer ---- */

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static NOINLINE void read_table(int thread, bool first)
{
  double since = wall_clock();
  goes_to_wait(&waiters[thread]);
  pthread_rwlock_rdlock(&table);
  has_waited(&waiters[thread]);
  waited[thread] += wall_clock() - since;
  if (first)
    pthread_barrier_wait(&step);
  hold(first ? 1 : 0);
  pthread_rwlock_unlock(&table);
  __asm__ volatile("");
}

static NOINLINE void write_table(int thread, bool first)
{
  double since = wall_clock();
  goes_to_wait(&waiters[thread]);
  pthread_rwlock_wrlock(&table);
  has_waited(&waiters[thread]);
  waited[thread] += wall_clock() - since;
  if (first)
    pthread_barrier_wait(&step);
  hold(first ? THREADS - 1 : 0);
  pthread_rwlock_unlock(&table);
  __asm__ volatile("");
}

/* In even rounds the readers have the lock first, in odd ones the writer. */
static void readers(int thread)
{
  for (int round = 0; round < ROUNDS; round++) {
    bool first = (thread == 0) == (round % 2 == 1);
    if (!first)
      pthread_barrier_wait(&step); /* the others have the lock */
    if (thread == 0)
      write_table(thread, first);
    else
      read_table(thread, first);
    pthread_barrier_wait(&step);
  }
}

/* ---- a queue ---- */

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items, put_count;

static NOINLINE void put(void)
{
  pthread_mutex_lock(&queue_lock);
  items++;
  put_count++;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&queue_lock);
}

/* Returns whether there was one. */
static NOINLINE bool get(int thread)
{
  pthread_mutex_lock(&queue_lock);
  while (!items && put_count < ITEMS) {
    double since = wall_clock();
    pthread_cond_wait(&filled, &queue_lock);
    waited[thread] += wall_clock() - since;
  }
  bool got = items > 0;
  items -= got;
  if (put_count == ITEMS)
    pthread_cond_broadcast(&filled);
  pthread_mutex_unlock(&queue_lock);
  return got;
}

static void queue(int thread)
{
  pthread_barrier_wait(&step);
  if (thread == 0)
    for (int i = 0; i < ITEMS; i++) {
      usleep(ITEM_US);
      put();
    }
  else
    while (get(thread))
      ;
  pthread_barrier_wait(&step);
  pass(thread);
}

/* ---- locks for which hardly anybody waits ---- */

static void take_all(pthread_mutex_t *mutex, pthread_rwlock_t *rwlock, pthread_spinlock_t *spinlock, mtx_t *c11)
{
  pthread_mutex_lock(mutex);
  if (pthread_mutex_trylock(mutex) != EBUSY)
    abort();
  pthread_mutex_unlock(mutex);
  if (pthread_mutex_trylock(mutex))
    abort();
  pthread_mutex_unlock(mutex);
  pthread_rwlock_rdlock(rwlock);
  pthread_rwlock_tryrdlock(rwlock);
  pthread_rwlock_unlock(rwlock);
  pthread_rwlock_unlock(rwlock);
  pthread_rwlock_wrlock(rwlock);
  pthread_rwlock_unlock(rwlock);
  pthread_spin_lock(spinlock);
  pthread_spin_unlock(spinlock);
  mtx_lock(c11);
  mtx_unlock(c11);
}

enum { FREE_EACH = 7 };

static void take_free(int thread)
{
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_spinlock_t spinlock;
  mtx_t c11;
  pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
  mtx_init(&c11, mtx_plain);
  for (int i = 0; i < FREE * (thread + 1); i++)
    take_all(&mutex, &rwlock, &spinlock, &c11);
  pthread_barrier_wait(&step);
  pass(thread);
}

/* ---- the programs ---- */

static const struct form {
  const char *name;
  void (*run)(int thread);
  int acquisitions;
} forms[] = {{"convoy", convoy, THREADS *ROUNDS},
             {"readers", readers, THREADS *ROUNDS},
             {"queue", queue, 2 * ITEMS + 2 * THREADS - 1},
             {"free", take_free, FREE_EACH *FREE *THREADS *(THREADS + 1) / 2 + THREADS}};
static const struct form *form;

static void *thread_of(void *number)
{
  form->run((int)(long)number);
  return NULL;
}

static void with_threads(void)
{
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, thread_of, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void with_openmp(void)
{
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
  for (int i = 0; i < THREADS; i++)
    form->run(i);
}

int main(int count, char **arguments)
{
  if (count != 3)
    return 2;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (!strcmp(arguments[1], forms[i].name))
      form = &forms[i];
  if (!form)
    return 2;
  pthread_barrier_init(&step, NULL, THREADS);
  if (!strcmp(arguments[2], "openmp"))
    with_openmp();
  else
    with_threads();
  for (int i = 1; i < THREADS; i++) {
    gated[0] += gated[i];
    waited[0] += waited[i];
  }
  printf("acquisitions %d\ngated %.6f\nwaited %.6f\n", form->acquisitions, gated[0], waited[0]);
  return 0;
}
