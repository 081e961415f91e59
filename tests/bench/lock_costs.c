/* Locks and waits, one kind at a time: lock_costs FORM COUNT.  Prints on standard error how long one took, in ns: of
 * those that do not wait, the threads' CPU time, which other programs hardly change, and else the elapsed time.
 *
 * mutex, rwlock: pairs of lock and unlock of locks for which nobody waits; semaphore: pairs of post and wait that does
 * not wait.  Each in two threads, with a lock of its own each.  `-1` behind these names: in one thread.
 * contended: the same of one mutex in two threads.  condition, pipe: two threads wake each other in turn, by a
 * condition variable or a byte in a pipe; one is a round, in which each waits once. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2 };

static long count;
static pthread_barrier_t start;
static struct lock {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  sem_t semaphore;
} __attribute__((aligned(128))) locks[THREADS];

static long long now_ns(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void take_mutexes(long thread)
{
  for (long i = 0; i < count; i++) {
    pthread_mutex_lock(&locks[thread].mutex);
    pthread_mutex_unlock(&locks[thread].mutex);
  }
}

static void take_rwlocks(long thread)
{
  for (long i = 0; i < count; i++) {
    pthread_rwlock_rdlock(&locks[thread].rwlock);
    pthread_rwlock_unlock(&locks[thread].rwlock);
  }
}

static void pass_semaphores(long thread)
{
  for (long i = 0; i < count; i++) {
    sem_post(&locks[thread].semaphore);
    sem_wait(&locks[thread].semaphore);
  }
}

static void take_one(long thread)
{
  (void)thread;
  take_mutexes(0);
}

static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static long turn;

static void take_turns(long thread)
{
  pthread_mutex_lock(&locks[0].mutex);
  for (long i = 0; i < count; i++) {
    while (turn != thread)
      pthread_cond_wait(&turned, &locks[0].mutex);
    turn = !thread;
    pthread_cond_signal(&turned);
  }
  pthread_mutex_unlock(&locks[0].mutex);
}

static int pipes[THREADS][2];

static void pass_bytes(long thread)
{
  char byte = 0;
  for (long i = 0; i < count; i++) {
    if (thread == 0 && write(pipes[1][1], &byte, 1) != 1)
      abort();
    if (read(pipes[thread][0], &byte, 1) != 1)
      abort();
    if (thread == 1 && write(pipes[0][1], &byte, 1) != 1)
      abort();
  }
}

static const struct form {
  const char *name;
  void (*run)(long thread);
  int threads;
  bool waits;
} forms[] = {{"mutex", take_mutexes, 2, false},
             {"mutex-1", take_mutexes, 1, false},
             {"rwlock", take_rwlocks, 2, false},
             {"rwlock-1", take_rwlocks, 1, false},
             {"semaphore", pass_semaphores, 2, false},
             {"semaphore-1", pass_semaphores, 1, false},
             {"contended", take_one, 2, true},
             {"condition", take_turns, 2, true},
             {"pipe", pass_bytes, 2, true}};
static const struct form *form;

static long long begun[THREADS], ended[THREADS], used[THREADS];

static void *run(void *thread)
{
  long number = (long)thread;
  pthread_barrier_wait(&start);
  long long since = now_ns(CLOCK_THREAD_CPUTIME_ID);
  begun[number] = now_ns(CLOCK_MONOTONIC);
  form->run(number);
  ended[number] = now_ns(CLOCK_MONOTONIC);
  used[number] = now_ns(CLOCK_THREAD_CPUTIME_ID) - since;
  return NULL;
}

int main(int argument_count, char **arguments)
{
  if (argument_count != 3)
    return 2;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (!strcmp(arguments[1], forms[i].name))
      form = &forms[i];
  count = atol(arguments[2]);
  if (!form || count < 1)
    return 2;
  for (int i = 0; i < THREADS; i++) {
    pthread_mutex_init(&locks[i].mutex, NULL);
    pthread_rwlock_init(&locks[i].rwlock, NULL);
    sem_init(&locks[i].semaphore, 0, 0);
    if (pipe(pipes[i]))
      return 1;
  }
  pthread_t threads[THREADS];
  pthread_barrier_init(&start, NULL, (unsigned)form->threads);
  for (long i = 0; i < form->threads; i++)
    pthread_create(&threads[i], NULL, run, (void *)i);
  for (int i = 0; i < form->threads; i++)
    pthread_join(threads[i], NULL);
  long long elapsed = (ended[0] > ended[1] ? ended[0] : ended[1]) - (begun[0] < begun[1] ? begun[0] : begun[1]);
  long long each = form->waits ? elapsed : (used[0] + used[1]) / form->threads;
  fprintf(stderr, "%.3f\n", (double)each / (double)count);
  return 0;
}
