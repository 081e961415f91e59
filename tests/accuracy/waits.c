/* Threads that sleep, and threads that begin and end.  Prints the times of its own clocks as lines of `name
 * seconds`. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/select.h>
#include <unistd.h>

#include "burn.h"
#include "modes.h"

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition))

static void fail(const char *what)
{
  printf("%s -1\n", what);
  exit(1);
}

/* ---- calls that sleep ---- */

enum { MS = 150 };
static const struct timespec A_WHILE = {0, MS * 1000000L};

static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int signalled;

NOINLINE void in_nanosleep(void)
{
  struct timespec rest = {7, 7};
  CHECK(nanosleep(&A_WHILE, &rest) == 0 && rest.tv_sec == 7);
}

NOINLINE void in_usleep(void) { CHECK(usleep(MS * 1000) == 0); }
NOINLINE void in_poll(void) { CHECK(poll(NULL, 0, MS) == 0); }
NOINLINE void in_select(void) { CHECK(select(0, NULL, NULL, NULL, &(struct timeval){0, MS * 1000}) == 0); }

NOINLINE void in_read(void)
{
  char byte = 0;
  CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
}

NOINLINE void in_mutex(void)
{
  CHECK(pthread_mutex_lock(&mutex) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
}

NOINLINE void in_condition(void)
{
  CHECK(pthread_mutex_lock(&other) == 0);
  while (!signalled)
    CHECK(pthread_cond_wait(&condition, &other) == 0);
  CHECK(pthread_mutex_unlock(&other) == 0);
}

NOINLINE void in_semaphore(void) { CHECK(sem_wait(&semaphore) == 0); }

NOINLINE void in_pthread_barrier(void)
{
  int result = pthread_barrier_wait(&barrier);
  CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

NOINLINE void in_rwlock(void)
{
  CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
}

/* Lets the main thread wait for a while in each call that needs another thread. */
static void *waker(void *unused)
{
  pthread_mutex_lock(&mutex);
  pthread_rwlock_wrlock(&rwlock);
  pthread_barrier_wait(&barrier);
  nanosleep(&A_WHILE, NULL);
  pthread_mutex_unlock(&mutex);
  nanosleep(&A_WHILE, NULL);
  CHECK(write(ends[1], "x", 1) == 1);
  nanosleep(&A_WHILE, NULL);
  pthread_mutex_lock(&other);
  signalled = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&other);
  nanosleep(&A_WHILE, NULL);
  sem_post(&semaphore);
  nanosleep(&A_WHILE, NULL);
  pthread_rwlock_unlock(&rwlock);
  nanosleep(&A_WHILE, NULL);
  pthread_barrier_wait(&barrier);
  return unused;
}

static void timed(const char *name, void (*call)(void))
{
  double began = wall_clock();
  errno = 0;
  call();
  CHECK(errno == 0);
  say(name, wall_clock() - began);
}

static void sleepers(void)
{
  pthread_t thread;
  CHECK(pipe(ends) == 0 && sem_init(&semaphore, 0, 0) == 0 && pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, waker, NULL) == 0);
  pthread_barrier_wait(&barrier);
  timed("in_mutex", in_mutex);
  timed("in_read", in_read);
  timed("in_condition", in_condition);
  timed("in_semaphore", in_semaphore);
  timed("in_rwlock", in_rwlock);
  timed("in_pthread_barrier", in_pthread_barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  timed("in_nanosleep", in_nanosleep);
  timed("in_usleep", in_usleep);
  timed("in_poll", in_poll);
  timed("in_select", in_select);
}

/* ---- OpenMP threads that sleep ---- */

NOINLINE void work_of_each(void) { burn(0.05); }
NOINLINE void in_sleep_between(void) { CHECK(usleep(300000) == 0); }
NOINLINE void in_sleep_inside(void) { CHECK(usleep(200000) == 0); }

static void between(void)
{
  double began = wall_clock();
#pragma omp parallel
  work_of_each();
  in_sleep_between();
#pragma omp parallel
  work_of_each();
  say("elapsed", wall_clock() - began);
}

/* One thread sleeps in a call, the others wait at the barrier. */
static void inside(void)
{
  double began = wall_clock();
#pragma omp parallel
  {
    work_of_each();
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
      in_sleep_inside();
#pragma omp barrier
    if (omp_get_thread_num() == 0)
      in_sleep_inside();
  }
  say("elapsed", wall_clock() - began);
}

NOINLINE void in_sleep_beside(void) { CHECK(usleep(400000) == 0); }
NOINLINE void in_work_beside(void) { burn(0.2); }

/* One thread sleeps in a call, one works, the others wait at the barrier. */
static void beside(void)
{
#pragma omp parallel
  {
#pragma omp barrier
    double began = wall_clock();
    if (omp_get_thread_num() == 0) {
      in_work_beside();
      say("work", wall_clock() - began);
    } else if (omp_get_thread_num() == 1) {
      in_sleep_beside();
      say("asleep", wall_clock() - began);
    }
  }
}

/* ---- threads that begin and end ---- */

static omp_lock_t lock;
static long sum;

static void small_task(int depth)
{
  if (depth > 0) {
#pragma omp task
    small_task(depth - 1);
#pragma omp task
    small_task(depth - 1);
#pragma omp taskwait
  }
#pragma omp atomic
  sum++;
}

/* The threads that the program makes create no tasks, because libomp's memory for tasks is corrupted by threads that
 * have ended. The schedule is monotonic: where libomp may steal chunks, an assertion in it sometimes fails
 * (llvm-project issue 54422). */
static void regions(int threads, int tasks)
{
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    if (tasks)
      small_task(4);
#pragma omp for schedule(monotonic : dynamic, 3) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
      sum += i;
    omp_set_lock(&lock);
    sum++;
    omp_unset_lock(&lock);
#pragma omp critical
    sum++;
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp sections
      {
#pragma omp section
        small_task(tasks);
#pragma omp section
        small_task(2 * tasks);
      }
    }
  }
}

static void *visitor(void *number)
{
  for (int i = 0; i < 5; i++)
    regions(1 + (int)((size_t)number + i) % 3, 0);
  return NULL;
}

NOINLINE void alone_at_last(void)
{
  double began = wall_clock();
  burn(0.2);
  say("alone", wall_clock() - began);
}

static void churn(void)
{
  omp_init_lock(&lock);
  omp_set_max_active_levels(2);
  for (size_t round = 0; round < 25; round++) {
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
      CHECK(pthread_create(&threads[i], NULL, visitor, (void *)(round + i)) == 0);
    regions(2, 0);
    for (size_t i = 0; i < 4; i++)
      CHECK(pthread_join(threads[i], NULL) == 0);
  }
  alone_at_last();
}

static void many(void)
{
  omp_init_lock(&lock);
  omp_set_max_active_levels(2);
  for (int i = 0; i < 300; i++)
    regions(1 + i % 4, 1);
  alone_at_last();
}

int main(int argc, char **argv)
{
  static const struct mode modes[] = {{"sleepers", sleepers}, {"between", between}, {"inside", inside},
               {"beside", beside},     {"churn", churn},     {"many", many}};
  return RUN_MODE(modes, argc, argv) ? 0 : 2;
}
