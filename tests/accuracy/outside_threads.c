/* Pools of threads without OpenMP: outside_threads KIND MODE.  Prints what the threads measure themselves, around the
 * calls in which they wait: for work in a pool, and alone.
 *
 * pool: three threads wait for work while serial_part() runs, then one for a long and one for a short job.
 * open: the same; the process ends while they wait.  killed: it is killed then.
 * alone: two threads wait in one line, each at an object of its own.
 * beside: one thread waits alone where three threads of a pool wait.
 * openmp: as pool, after a parallel region.
 * cancelled: the threads are cancelled while they wait.
 * available: threads take a semaphore that is available.
 * for-ever: the process ends while the threads wait for the first time.
 * jump: a handler jumps out of the wait of each thread, which then works; jump-barrier: out of a barrier's. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "await_sleep.h"
#include "burn.h"

enum kind { CONDITION, TIMED, CLOCK, C11, C11_TIMED, SEMAPHORE, SEMAPHORE_TIMED, SEMAPHORE_CLOCK, KINDS };
static const char *const names[KINDS] = {"condition", "timed",     "clock",           "c11",
                                         "c11-timed", "semaphore", "semaphore-timed", "semaphore-clock"};
static enum kind kind;

enum { THREADS = 3, OBJECTS = THREADS + 1 };
static struct object {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  mtx_t c11_mutex;
  cnd_t c11_condition;
  sem_t semaphore;
  int jobs; /* that no thread has taken */
} objects[OBJECTS];

static double waited[OBJECTS]; /* by thread */
static struct waiter waiters[OBJECTS];
static pthread_barrier_t ready; /* the threads go on to wait */
static sem_t finished;
static const struct timespec never = {.tv_sec = 1ll << 40};

static bool is_semaphore(void)
{
  return kind >= SEMAPHORE;
}

static NOINLINE void wait_once(struct object *object)
{
  switch (kind) { /* all calls stand in one line: they are one place */
    /* clang-format off */
  case CONDITION: pthread_cond_wait(&object->condition, &object->mutex); break; case TIMED: pthread_cond_timedwait(&object->condition, &object->mutex, &never); break; case CLOCK: pthread_cond_clockwait(&object->condition, &object->mutex, CLOCK_MONOTONIC, &never); break; case C11: cnd_wait(&object->c11_condition, &object->c11_mutex); break; case C11_TIMED: cnd_timedwait(&object->c11_condition, &object->c11_mutex, &never); break; case SEMAPHORE: sem_wait(&object->semaphore); break; case SEMAPHORE_TIMED: sem_timedwait(&object->semaphore, &never); break; default: sem_clockwait(&object->semaphore, CLOCK_MONOTONIC, &never); /* waits */
    /* clang-format on */
  }
}

static void lock(struct object *object)
{
  if (kind == C11 || kind == C11_TIMED)
    mtx_lock(&object->c11_mutex);
  else
    pthread_mutex_lock(&object->mutex);
}

static void unlock(struct object *object)
{
  if (kind == C11 || kind == C11_TIMED)
    mtx_unlock(&object->c11_mutex);
  else
    pthread_mutex_unlock(&object->mutex);
}

/* Waits for a job, and adds the time to the thread's. */
static NOINLINE void take_job(struct object *object, long thread)
{
  double since = wall_clock();
  if (is_semaphore()) {
    goes_to_wait(&waiters[thread]);
    wait_once(object);
    has_waited(&waiters[thread]);
  } else {
    lock(object);
    goes_to_wait(&waiters[thread]);
    while (!object->jobs)
      wait_once(object);
    has_waited(&waiters[thread]);
    object->jobs--;
    unlock(object);
  }
  waited[thread] += wall_clock() - since;
}

static void give_jobs(struct object *object, int jobs)
{
  if (is_semaphore()) {
    while (jobs--)
      sem_post(&object->semaphore);
    return;
  }
  lock(object);
  object->jobs += jobs;
  unlock(object);
  while (jobs--)
    if (kind == C11 || kind == C11_TIMED)
      cnd_signal(&object->c11_condition);
    else
      pthread_cond_signal(&object->condition);
}

/* ---- the pool ---- */

static int next_job; /* 0: the long one, 1: the short one, then: the end */

static void *worker(void *number)
{
  pthread_barrier_wait(&ready);
  for (;;) {
    take_job(&objects[0], (long)number);
    int job = __atomic_fetch_add(&next_job, 1, __ATOMIC_RELAXED);
    if (job > 1)
      return NULL;
    burn(job ? 0.04 : 0.08);
    sem_post(&finished);
  }
}

static NOINLINE void serial_part(double seconds)
{
  burn(seconds);
  __asm__ volatile("");
}

/* Has nothing to wait for. */
static void *takes(void *number)
{
  pthread_barrier_wait(&ready);
  for (int i = 0; i < 20000; i++)
    wait_once(&objects[0]);
  return number;
}

/* It is blocked at the barrier as well. */
static void *lone(void *number)
{
  double since = wall_clock();
  pthread_barrier_wait(&ready);
  waited[(long)number] += wall_clock() - since;
  take_job(&objects[(long)number], (long)number);
  return NULL;
}

static void await_all(int threads)
{
  for (int i = 0; i < threads; i++)
    await_sleep(&waiters[i]);
}

/* Returns when the threads began to wait at the latest, unless they do not wait. */
static double start(pthread_t *threads, void *(*function)(void *), void *(*last)(void *))
{
  pthread_barrier_init(&ready, NULL, OBJECTS + (last != NULL));
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, function, (void *)i);
  if (last)
    pthread_create(&threads[THREADS], NULL, last, (void *)(long)THREADS);
  pthread_barrier_wait(&ready);
  if (function != takes)
    await_all(THREADS + (last != NULL));
  return wall_clock();
}

static void pool(const char *mode)
{
  pthread_t threads[OBJECTS];
  bool beside = !strcmp(mode, "beside");
  double since = start(threads, worker, beside ? lone : NULL);
  serial_part(0.2);
  double serial = wall_clock() - since;
  give_jobs(&objects[0], 2);
  for (int i = 0; i < 2; i++)
    sem_wait(&finished);
  if (!strcmp(mode, "open") || !strcmp(mode, "killed")) {
    await_all(THREADS);
    double since_last = wall_clock();
    serial_part(0.2);
    printf("open %.6f\nserial %.6f\n", THREADS * (wall_clock() - since_last),
           THREADS * (serial + wall_clock() - since_last));
    fflush(stdout);
    if (!strcmp(mode, "killed"))
      kill(getpid(), SIGKILL);
    _exit(0);
  }
  give_jobs(&objects[0], THREADS);
  give_jobs(&objects[THREADS], beside);
  for (int i = 0; i < THREADS + beside; i++)
    pthread_join(threads[i], NULL);
  printf("pool %.6f\nlone %.6f\nserial %.6f\n", waited[0] + waited[1] + waited[2], waited[THREADS], THREADS * serial);
}

static void alone(void)
{
  pthread_t threads[OBJECTS];
  start(threads, lone, NULL);
  serial_part(0.2);
  for (int i = 0; i < THREADS; i++)
    give_jobs(&objects[i], 1);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  printf("lone %.6f\n", waited[0] + waited[1] + waited[2]);
}

/* ---- waits that do not return ---- */

static void *waits_for_ever(void *number)
{
  pthread_barrier_wait(&ready);
  take_job(&objects[0], (long)number);
  return NULL;
}

static void unlock_it(void *object)
{
  if (!is_semaphore())
    unlock(object);
}

static void *cancellable(void *number)
{
  pthread_cleanup_push(unlock_it, &objects[0]);
  waits_for_ever(number);
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancelled(void)
{
  pthread_t threads[OBJECTS];
  double since = start(threads, cancellable, NULL);
  serial_part(0.2);
  for (int i = 0; i < THREADS; i++)
    pthread_cancel(threads[i]);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  printf("pool %.6f\n", THREADS * (wall_clock() - since));
}

static __thread sigjmp_buf place;

static void jump(int signal)
{
  siglongjmp(place, signal);
}

static NOINLINE void work_after_jump(void)
{
  burn(0.1);
  __asm__ volatile("");
}

static void *jumps(void *number)
{
  if (!sigsetjmp(place, 1))
    waits_for_ever(number);
  work_after_jump();
  return NULL;
}

static void jumping(void)
{
  pthread_t threads[OBJECTS];
  signal(SIGUSR1, jump);
  double since = start(threads, jumps, NULL);
  serial_part(0.2);
  double until = wall_clock();
  for (int i = 0; i < THREADS; i++)
    pthread_kill(threads[i], SIGUSR1);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  printf("pool %.6f\n", THREADS * (until - since));
}

/* The process ends before any wait has. */
static void for_ever(void)
{
  pthread_t threads[OBJECTS];
  double since = start(threads, waits_for_ever, NULL);
  serial_part(0.1);
  printf("pool %.6f\n", THREADS * (wall_clock() - since));
}

/* Prints how long the thread lived before the jump out of a barrier, and altogether. */
static void jumping_out_of_a_barrier(void)
{
  pthread_barrier_t never_met;
  double since = wall_clock();
  pthread_barrier_init(&never_met, NULL, 2);
  signal(SIGALRM, jump);
  if (!sigsetjmp(place, 1)) {
    ualarm(50000, 0);
    pthread_barrier_wait(&never_met);
  }
  printf("before %.6f\n", wall_clock() - since);
  work_after_jump();
  work_after_jump();
  printf("whole %.6f\n", wall_clock() - since);
}

/* ---- nothing to wait for ---- */

static void available(void)
{
  pthread_t threads[OBJECTS];
  for (int i = 0; i < THREADS * 20000; i++)
    sem_post(&objects[0].semaphore);
  start(threads, takes, NULL);
  serial_part(0.05);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  printf("pool 0\n");
}

int main(int count, char **arguments)
{
  if (count != 3)
    return 2;
  while (kind < KINDS && strcmp(arguments[1], names[kind]) != 0)
    kind++;
  if (kind == KINDS)
    return 2;
  for (int i = 0; i < OBJECTS; i++) {
    pthread_mutex_init(&objects[i].mutex, NULL);
    pthread_cond_init(&objects[i].condition, NULL);
    mtx_init(&objects[i].c11_mutex, mtx_timed);
    cnd_init(&objects[i].c11_condition);
    sem_init(&objects[i].semaphore, 0, 0);
  }
  sem_init(&finished, 0, 0);
  const char *mode = arguments[2];
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
  burn(0.02);
#endif
  if (!strcmp(mode, "alone"))
    alone();
  else if (!strcmp(mode, "cancelled"))
    cancelled();
  else if (!strcmp(mode, "jump"))
    jumping();
  else if (!strcmp(mode, "for-ever"))
    for_ever();
  else if (!strcmp(mode, "jump-barrier"))
    jumping_out_of_a_barrier();
  else if (!strcmp(mode, "available"))
    available();
  else
    pool(mode);
  return 0;
}
