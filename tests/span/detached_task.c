/* A detached task is fulfilled by another task, and a third one depends on it: work 32, span 20 + 7.
 * With a number: so many detached tasks, four at a time, which end at about the time when others fulfil them.
 * With a number and "forks": so many children, forked meanwhile; each runs detached tasks, too. */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hpcrun-lite.h"

static void many(int count)
{
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < count; i++) {
    omp_event_handle_t event;
#pragma omp task detach(event) // @ detached
    hpcrun_lite_add_work(1);
#pragma omp task firstprivate(event) // @ fulfils
    {
      hpcrun_lite_add_work(1);
      omp_fulfill_event(event);
    }
    if (i % 4 == 3) {
#pragma omp taskwait
    }
  }
}

static atomic_int children;

/* More than the tool follows at once. */
static void run_child(void)
{
  alarm(20);
#pragma omp parallel num_threads(1)
  for (int i = 0; i < 5000; i++) {
    omp_event_handle_t event;
#pragma omp task detach(event)
    omp_fulfill_event(event);
  }
  exit(0);
}

/* Returns its argument, or NULL if a child was killed. */
static void *fork_children(void *fine)
{
  for (; children; children--) {
    int status = 1;
    pid_t child = fork();
    if (!child)
      run_child();
    if (waitpid(child, &status, 0) != child || status)
      fine = NULL;
  }
  return fine;
}

static int many_and_forks(void)
{
  pthread_t thread;
  void *fine = NULL;
  pthread_create(&thread, NULL, fork_children, &children);
  while (children)
    many(100);
  pthread_join(thread, &fine);
  return !fine;
}

int main(int argc, char **argv)
{
  int x = 0;
  if (argc > 2) {
    children = atoi(argv[1]);
    return many_and_forks();
  }
  if (argc > 1) {
    many(atoi(argv[1]));
    return 0;
  }
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
    hpcrun_lite_add_work(5);
#pragma omp task firstprivate(event)
    {
      hpcrun_lite_add_work(20);
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : x)
    hpcrun_lite_add_work(7);
  }
  puts("done");
  return 0;
}
