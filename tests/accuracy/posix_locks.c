/* Waiting for locks of POSIX and C11: posix_locks KIND MODE [openmp].  Prints what the threads measure themselves.
 *
 * blame: one thread holds a lock, first in hold_long(), then in hold_short(), while two others wait for it.
 * chain: each of three threads waits for a lock that the next one holds; the last one sleeps.
 * many: each thread waits often for one of eight locks in an array, and for one on the heap.
 * held: a thread holds one lock, and for a part of that time another one; it has waited for both.  Then it waits for a
 * condition with a mutex, and holds the first lock without having waited for it.
 * open, killed: a thread waits for a lock when the process ends.
 * once: two threads wait until a third one has run the routine of pthread_once() or call_once().
 * outside: after a region, two threads that OpenMP does not know work; nothing is serial. */
#define _GNU_SOURCE
#include <pthread.h>
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

enum kind { MUTEX, RWLOCK, WRITERS, SPINLOCK, C11, TIMED, KINDS };
static const char *const names[KINDS] = {"mutex", "rwlock", "writers", "spinlock", "c11", "timed"};
static enum kind kind;

struct lock {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  pthread_spinlock_t spinlock;
  mtx_t c11;
};

static struct lock held_lock, first_lock, second_lock, third_lock, array[8];

static void init(struct lock *lock)
{
  pthread_mutex_init(&lock->mutex, NULL);
  pthread_rwlock_init(&lock->rwlock, NULL);
  pthread_spin_init(&lock->spinlock, PTHREAD_PROCESS_PRIVATE);
  mtx_init(&lock->c11, mtx_plain);
}

static const struct timespec never = {.tv_sec = 1ll << 40};

/* Macros, so that calls stand in the functions that use them. */
#define acquire(lock, reads)                                                                                           \
  (kind == MUTEX                       ? pthread_mutex_lock(&(lock)->mutex)                                            \
   : kind == TIMED                     ? pthread_mutex_timedlock(&(lock)->mutex, &never)                               \
   : kind == RWLOCK && (reads)         ? pthread_rwlock_rdlock(&(lock)->rwlock)                                        \
   : kind == RWLOCK || kind == WRITERS ? pthread_rwlock_wrlock(&(lock)->rwlock)                                        \
   : kind == SPINLOCK                  ? pthread_spin_lock(&(lock)->spinlock)                                          \
                                       : mtx_lock(&(lock)->c11))
#define release(lock)                                                                                                  \
  (kind == MUTEX || kind == TIMED      ? pthread_mutex_unlock(&(lock)->mutex)                                          \
   : kind == RWLOCK || kind == WRITERS ? pthread_rwlock_unlock(&(lock)->rwlock)                                        \
   : kind == SPINLOCK                  ? pthread_spin_unlock(&(lock)->spinlock)                                        \
                                       : mtx_unlock(&(lock)->c11))

/* Threads that go to wait for a lock, and their clocks of CPU time. */
static struct waiter waiters[3];
static clockid_t cpu_clocks[3];

/* Acquires a lock as the waiter of that number. */
#define acquire_as(number, lock, reads)                                                                                \
  (pthread_getcpuclockid(pthread_self(), &cpu_clocks[number]), goes_to_wait(&waiters[number]), acquire(lock, reads),   \
   has_waited(&waiters[number]))

static double cpu_of(int number)
{
  struct timespec used;
  clock_gettime(cpu_clocks[number], &used);
  return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

/* Returns when the thread waits for a lock, which somebody must hold: it sleeps there, or uses CPU time. */
static void await_waiter(int number)
{
  if (kind != SPINLOCK) {
    await_sleep(&waiters[number]);
    return;
  }
  while (!__atomic_load_n(&waiters[number].thread, __ATOMIC_ACQUIRE))
    usleep(200);
  for (double until = cpu_of(number) + 0.002; cpu_of(number) < until;)
    usleep(200);
}

static pthread_barrier_t step;
static double waited[4][2]; /* [thread][round] */

/* ---- blame ---- */

static NOINLINE void hold_long(void)
{
  acquire(&held_lock, false);
  pthread_barrier_wait(&step);
  await_waiter(0);
  await_waiter(1);
  usleep(120000);
  release(&held_lock);
  __asm__ volatile("");
}

static NOINLINE void hold_short(void)
{
  acquire(&held_lock, false);
  pthread_barrier_wait(&step);
  await_waiter(0);
  await_waiter(1);
  usleep(40000);
  release(&held_lock);
  __asm__ volatile("");
}

static void *wait_for_it(void *number)
{
  for (int round = 0; round < 2; round++) {
    pthread_barrier_wait(&step);
    double since = wall_clock();
    acquire_as((long)number, &held_lock, true);
    waited[(long)number][round] = wall_clock() - since;
    release(&held_lock);
    pthread_barrier_wait(&step);
  }
  return NULL;
}

static void blame(void)
{
  pthread_t threads[2];
  pthread_barrier_init(&step, NULL, 3);
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, wait_for_it, (void *)i);
  hold_long();
  pthread_barrier_wait(&step);
  hold_short();
  pthread_barrier_wait(&step);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  printf("long %.6f\nshort %.6f\nacquisitions 6\n", waited[0][0] + waited[1][0], waited[0][1] + waited[1][1]);
}

/* ---- chain ---- */

static NOINLINE void hold_first(double *own)
{
  acquire(&first_lock, false);
  pthread_barrier_wait(&step);
  usleep(20000);
  double since = wall_clock();
  acquire_as(1, &second_lock, false);
  *own = wall_clock() - since;
  release(&second_lock);
  release(&first_lock);
  __asm__ volatile("");
}

static NOINLINE void hold_second(double *own)
{
  acquire(&second_lock, false);
  pthread_barrier_wait(&step);
  double since = wall_clock();
  acquire_as(2, &third_lock, false);
  *own = wall_clock() - since;
  release(&third_lock);
  release(&second_lock);
  __asm__ volatile("");
}

static NOINLINE void hold_third(void)
{
  acquire(&third_lock, false);
  pthread_barrier_wait(&step);
  for (int i = 0; i < 3; i++)
    await_waiter(i);
  usleep(80000);
  release(&third_lock);
  __asm__ volatile("");
}

static void *link_of(void *number)
{
  if (number == (void *)0) {
    pthread_barrier_wait(&step);
    usleep(40000);
    double since = wall_clock();
    acquire_as(0, &first_lock, false); /* waits */
    waited[0][0] = wall_clock() - since;
    release(&first_lock);
  } else if (number == (void *)1) {
    hold_first(&waited[1][0]);
  } else {
    hold_second(&waited[2][0]);
  }
  return NULL;
}

static void chain(void)
{
  pthread_t threads[3];
  pthread_barrier_init(&step, NULL, 4);
  for (long i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, link_of, (void *)i);
  hold_third();
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  printf("first %.6f\nsecond %.6f\nthird %.6f\nacquisitions 6\n", waited[0][0], waited[1][0], waited[2][0]);
}

/* ---- many ---- */

enum { ROUNDS = 400, THREADS = 3 };
static struct lock *on_heap;

static void *take_many(void *number)
{
  for (int i = 0; i < ROUNDS; i++) {
    acquire(&array[i % 8], false);
    usleep(20);
    release(&array[i % 8]);
    acquire(on_heap, false);
    usleep(20);
    release(on_heap);
  }
  return number;
}

static void many(void)
{
  pthread_t threads[THREADS];
  on_heap = malloc(sizeof *on_heap);
  init(on_heap);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, take_many, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  free(on_heap);
  printf("acquisitions %d\n", 2 * ROUNDS * THREADS);
}

/* ---- held ---- */

static double held[2];

static NOINLINE void *hold_both(void *argument)
{
  pthread_barrier_wait(&step);
  acquire_as(0, &first_lock, false);
  double since = wall_clock();
  usleep(10000);
  acquire_as(1, &second_lock, false);
  double since_second = wall_clock();
  usleep(20000);
  held[1] = wall_clock() - since_second;
  release(&second_lock);
  usleep(20000);
  held[0] = wall_clock() - since;
  if (kind == MUTEX || kind == TIMED) {
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (until.tv_nsec + 30000000) / 1000000000;
    until.tv_nsec = (until.tv_nsec + 30000000) % 1000000000;
    while (pthread_cond_timedwait(&condition, &first_lock.mutex, &until) == 0)
      ;
    usleep(20000);
  }
  release(&first_lock);
  acquire(&first_lock, false); /* at once */
  usleep(20000);
  release(&first_lock);
  return argument;
}

static void hold_after_waits(void)
{
  pthread_t thread;
  pthread_barrier_init(&step, NULL, 2);
  acquire(&first_lock, false);
  acquire(&second_lock, false);
  pthread_create(&thread, NULL, hold_both, NULL);
  pthread_barrier_wait(&step);
  await_waiter(0);
  usleep(20000);
  release(&first_lock);
  await_waiter(1);
  usleep(20000);
  release(&second_lock);
  pthread_join(thread, NULL);
  printf("first %.6f\nsecond %.6f\n", held[0], held[1]);
}

/* ---- waits that do not end ---- */

static NOINLINE void *wait_for_ever(void *argument)
{
  pthread_barrier_wait(&step);
  acquire_as(0, &held_lock, false);
  return argument;
}

static void leave_open(bool killed)
{
  pthread_t thread;
  pthread_barrier_init(&step, NULL, 2);
  acquire(&held_lock, false);
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  pthread_barrier_wait(&step);
  double since = wall_clock();
  await_waiter(0);
  burn(0.1); /* samples keep the process's times up to date */
  printf("open %.6f\n", wall_clock() - since);
  fflush(stdout);
  if (killed)
    kill(getpid(), SIGKILL);
}

/* ---- pthread_once(), call_once() ---- */

static pthread_once_t posix_control = PTHREAD_ONCE_INIT;
static once_flag c11_control = ONCE_FLAG_INIT;

static double in_routine;

static NOINLINE void routine(void)
{
  double since = wall_clock();
  pthread_barrier_wait(&step);
  usleep(60000);
  in_routine = wall_clock() - since;
  __asm__ volatile("");
}

static NOINLINE void call_routine(void)
{
  if (kind == C11)
    call_once(&c11_control, routine);
  else
    pthread_once(&posix_control, routine);
  __asm__ volatile("");
}

static NOINLINE void *wait_for_routine(void *number)
{
  pthread_barrier_wait(&step);
  double since = wall_clock();
  call_routine();
  waited[(long)number][0] = wall_clock() - since;
  return NULL;
}

static void once(void)
{
  pthread_t threads[2];
  pthread_barrier_init(&step, NULL, 3);
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, wait_for_routine, (void *)i);
  call_routine();
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  printf("waited %.6f\nroutine %.6f\n", waited[0][0] + waited[1][0], in_routine);
}

/* ---- threads outside OpenMP ---- */

static NOINLINE void *work_outside(void *argument)
{
  burn(0.3);
  return argument;
}

static void outside(void)
{
  pthread_t thread;
#pragma omp parallel num_threads(2)
  burn(0.01);
  pthread_create(&thread, NULL, work_outside, NULL);
  work_outside(NULL);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
  while (kind < KINDS && strcmp(names[kind], argc > 1 ? argv[1] : "") != 0)
    kind++;
  init(&held_lock);
  init(&first_lock);
  init(&second_lock);
  init(&third_lock);
  for (int i = 0; i < 8; i++)
    init(&array[i]);
  if (argc < 3 || kind == KINDS)
    return 2;
  if (!strcmp(argv[2], "blame"))
    blame();
  else if (!strcmp(argv[2], "chain"))
    chain();
  else if (!strcmp(argv[2], "many"))
    many();
  else if (!strcmp(argv[2], "held"))
    hold_after_waits();
  else if (!strcmp(argv[2], "open") || !strcmp(argv[2], "killed"))
    leave_open(!strcmp(argv[2], "killed"));
  else if (!strcmp(argv[2], "once"))
    once();
  else
    outside();
  return 0;
}
