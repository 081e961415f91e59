/* Acquires locks of all kinds, and prints how often each was acquired: acquisitions N [MANY].  Threads of OpenMP
 * acquire each lock N times in all possible ways; then a thread that OpenMP does not know does so with locks of POSIX
 * and with some that no other thread takes, and the initial one acquires MANY mutexes on the heap twice. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "burn.h"

enum { THREADS = 3 };
static omp_lock_t omp_simple;
static omp_nest_lock_t omp_nested;
static pthread_mutex_t a_mutex = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_rwlock_t a_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t a_spinlock;
static mtx_t a_c11;
static pthread_mutex_t lone_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lone_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t lone_spinlock;
static mtx_t lone_c11;
static pthread_mutex_t waits_here = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static const struct timespec late = {.tv_sec = 1ll << 40}, past = {.tv_nsec = 1};
static long taken_by_test, sum;
static long double odd; /* for which processors have no atomic addition */

static NOINLINE void lock_posix(long times)
{
  for (long i = 0; i < times; i++) {
    if (i % 3)
      pthread_mutex_lock(&a_mutex);
    else
      pthread_mutex_timedlock(&a_mutex, &late);
    sum++;
    pthread_mutex_unlock(&a_mutex);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    if (i % 2)
      pthread_rwlock_rdlock(&a_rwlock);
    else
      pthread_rwlock_wrlock(&a_rwlock);
    pthread_rwlock_unlock(&a_rwlock);
    pthread_spin_lock(&a_spinlock);
    pthread_spin_unlock(&a_spinlock);
    mtx_lock(&a_c11);
    mtx_unlock(&a_c11);
    pthread_mutex_lock(&waits_here);
    if (i == 0)
      pthread_cond_timedwait(&never, &waits_here, &past); /* acquires it again, which does not count */
    pthread_mutex_unlock(&waits_here);
  }
}

static NOINLINE void lock_openmp(long times)
{
  for (long i = 0; i < times; i++) {
    omp_set_lock(&omp_simple);
    sum++;
    omp_unset_lock(&omp_simple);
    if (omp_test_lock(&omp_simple)) {
      taken_by_test++;
      omp_unset_lock(&omp_simple);
    }
    omp_set_nest_lock(&omp_nested);
    omp_set_nest_lock(&omp_nested);
    omp_test_nest_lock(&omp_nested);
    for (int k = 0; k < 3; k++)
      omp_unset_nest_lock(&omp_nested);
#pragma omp critical(named)
    sum++;
#pragma omp critical
    sum++;
#ifndef __clang__ /* which calls no function of the OpenMP runtime for it */
#pragma omp atomic
    odd += 1;
#endif
  }
}

/* Only one thread takes these: nobody waits. */
static NOINLINE void lock_lone(long times)
{
  for (long i = 0; i < times; i++) {
    pthread_mutex_lock(&lone_mutex);
    pthread_mutex_unlock(&lone_mutex);
    pthread_rwlock_rdlock(&lone_rwlock);
    pthread_rwlock_unlock(&lone_rwlock);
    pthread_spin_lock(&lone_spinlock);
    pthread_spin_unlock(&lone_spinlock);
    mtx_lock(&lone_c11);
    mtx_unlock(&lone_c11);
  }
}

static NOINLINE void lock_many(long count)
{
  pthread_mutex_t *many = calloc((size_t)count, sizeof *many);
  for (long i = 0; i < 2 * count; i++) {
    pthread_mutex_lock(&many[i % count]);
    pthread_mutex_unlock(&many[i % count]);
  }
  free(many);
  printf("many %ld\n", 2 * count);
}

static void *outside(void *times)
{
  lock_posix(*(long *)times);
  lock_lone(*(long *)times);
  return NULL;
}

int main(int argc, char **argv)
{
  long times = argc > 1 ? atol(argv[1]) : 0;
  pthread_mutexattr_t attributes;
  pthread_t thread;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  pthread_spin_init(&a_spinlock, PTHREAD_PROCESS_PRIVATE);
  mtx_init(&a_c11, mtx_plain);
  pthread_spin_init(&lone_spinlock, PTHREAD_PROCESS_PRIVATE);
  mtx_init(&lone_c11, mtx_plain);
  omp_init_lock(&omp_simple);
  omp_init_nest_lock(&omp_nested);
#pragma omp parallel num_threads(THREADS)
  {
    lock_openmp(times);
    lock_posix(times);
  }
  pthread_create(&thread, NULL, outside, &times);
  pthread_join(thread, NULL);
  if (argc > 2)
    lock_many(atol(argv[2]));
  printf("a_mutex %ld\nrecursive %ld\n", times * (THREADS + 1), 2 * times * (THREADS + 1));
  printf("a_rwlock %ld\na_spinlock %ld\n", times * (THREADS + 1), times * (THREADS + 1));
  printf("a_c11 %ld\nwaits_here %ld\n", times * (THREADS + 1), times * (THREADS + 1));
  printf("lone_mutex %ld\nlone_rwlock %ld\nlone_spinlock %ld\nlone_c11 %ld\n", times, times, times, times);
  printf("omp_simple %ld\nomp_nested %ld\n", times * THREADS + taken_by_test, 3 * times * THREADS);
  printf("named %ld\nunnamed %ld\n", times * THREADS, times * THREADS);
  printf("atomic %ld\n", (long)odd);
  return sum ? 0 : 1;
}
