/* Short tasks with known work, more than are followed as a whole.  Usage: governed_tasks FORM COUNT: one thread of two
 * creates the tasks; the other one sleeps meanwhile ("shared", "killed": it runs tasks, too).  The work is 2 for each
 * creation and 5 in a task. */
#include <omp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite.h"

enum { ROUND = 100, LOCK_ROUNDS = 10 };
static const double LONG = 3e-3;

static void task_of(long work)
{
#pragma omp task
  hpcrun_lite_add_work(work);
}

static void flat(long count)
{
  for (long i = 0; i < count; i++) {
    if (i % 10 == 0)
      hpcrun_lite_add_work(20);
    task_of(5);
  }
}

static void rounds(long count)
{
  for (long i = 0; i < count; i += ROUND) {
    flat(ROUND);
#pragma omp taskwait
  }
}

static void groups(long count)
{
  for (long i = 0; i < count; i += ROUND) {
#pragma omp taskgroup
    flat(ROUND);
  }
}

static void compute(double seconds)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  double end = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + seconds;
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < end);
}

/* Before the last task is created, which computes as long, its creator computes; too few for it to run them itself. */
static void gap(long count)
{
  for (int round = 0; round < 20; round++) {
    for (long i = 0; i < count; i++) {
      bool last = round == 19 && i == count - 1;
      if (last)
        compute(LONG);
#pragma omp task firstprivate(last)
      compute(last ? LONG : 0);
    }
#pragma omp taskwait
  }
}

static int waiting, held;

static void in_critical(int round)
{
#pragma omp critical
  if (round) {
    __atomic_store_n(&held, round, __ATOMIC_RELEASE);
    usleep(4000);
  }
}

/* In each round the creator, and the last task, compute as long; then the creator waits for a critical construct.  The
 * threads ask for each other rarely, since asking is work, too. */
static void locked(long count)
{
  for (int i = 0; i < 2000; i++)
    in_critical(0);
  for (int round = 1; round <= LOCK_ROUNDS; round++) {
    for (long i = 0; i < count; i++) {
      bool last = i == count - 1;
      if (last)
        compute(LONG);
#pragma omp task firstprivate(last)
      compute(last ? LONG : 0);
    }
    __atomic_store_n(&waiting, round, __ATOMIC_RELEASE);
    while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) < round)
      usleep(2000);
    in_critical(0);
#pragma omp taskwait
  }
}

static void hold(void)
{
  for (int round = 1; round <= LOCK_ROUNDS; round++) {
    while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) < round)
      usleep(2000);
    in_critical(round);
  }
}

/* A user region follows tasks that the creator runs, and others are within such tasks. */
static void regions(long count)
{
  for (long i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
    {
      compute(30e-6);
      if (i % 50 == 49) {
        hpcrun_lite_region_begin("inside");
        in_critical(0);
        hpcrun_lite_region_end();
      }
    }
  }
  hpcrun_lite_region_begin("behind");
  compute(LONG);
#pragma omp taskwait
  hpcrun_lite_region_end();
}

/* The second half of the tasks contains a critical construct. */
static void later(long count)
{
  for (long i = 0; i < count; i++) {
    hpcrun_lite_add_work(2);
#pragma omp task firstprivate(i)
    {
      hpcrun_lite_add_work(2);
      if (i >= count / 2) {
#pragma omp critical
        hpcrun_lite_add_work(1);
      }
      hpcrun_lite_add_work(2);
    }
  }
}

/* Each task creates another one. */
static void nested(long count)
{
  for (long i = 0; i < count; i++) {
    hpcrun_lite_add_work(2);
#pragma omp task
    {
      hpcrun_lite_add_work(2);
#pragma omp task
      hpcrun_lite_add_work(3);
    }
  }
}

/* Of several kinds: priorities, untied, and a taskloop. */
static void kinds(long count)
{
  for (long i = 0; i < count; i++) {
    hpcrun_lite_add_work(2);
#pragma omp task priority(3) untied
    hpcrun_lite_add_work(5);
  }
#pragma omp taskloop num_tasks(100)
  for (long i = 0; i < count; i++)
    hpcrun_lite_add_work(7);
}

/* A cancelled taskgroup: tasks that have not begun are dropped. */
static void cancelled(long count)
{
#pragma omp taskgroup
  {
    flat(count / 2);
#pragma omp task
    {
#pragma omp cancel taskgroup
    } flat(count / 2);
  }
}

/* The process ends while tasks are created. */
static void killed(long count)
{
  flat(count);
  kill(getpid(), SIGKILL);
}

static void exits(long count)
{
  flat(count);
  exit(0);
}

static void forks(long count)
{
  flat(count / 2);
  pid_t child = fork();
  if (!child)
    _exit(0);
  waitpid(child, NULL, 0);
  flat(count / 2);
}

static void sleep_until(const int *done)
{
  while (!__atomic_load_n(done, __ATOMIC_ACQUIRE))
    usleep(2000);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*run)(long);
  } forms[] = {{"flat", flat},           {"shared", flat},     {"rounds", rounds}, {"groups", groups}, {"gap", gap},
               {"locked", locked},       {"regions", regions}, {"later", later},   {"nested", nested}, {"kinds", kinds},
               {"cancelled", cancelled}, {"killed", killed},   {"exits", exits},   {"forks", forks}};
  long count = argc == 3 ? atol(argv[2]) : 0;
  for (size_t i = 0; count && i < sizeof forms / sizeof *forms; i++) {
    int done = 0;
    if (strcmp(argv[1], forms[i].name))
      continue;
#pragma omp parallel num_threads(2)
    {
      if (!omp_get_thread_num()) {
        forms[i].run(count);
#pragma omp taskwait
        __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
      } else if (!strcmp(argv[1], "locked")) {
        hold();
      } else if (strcmp(argv[1], "shared") && strcmp(argv[1], "killed")) {
        sleep_until(&done);
      }
    }
    return 0;
  }
  return 2;
}
