/* Phases of known work, with pauses between them: prints the time-stamp counter in the middle of each pause.  With the
 * argument `fork`, a child does two of the phases. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "hpcrun-lite.h"

#define u(n) hpcrun_lite_add_work(n)

/* Ends a fragment. */
static void mark(void)
{
#pragma omp parallel num_threads(1)
  {
  }
}

static void pause_between(void)
{
  mark();
  usleep(20000);
  printf("%llu\n", (unsigned long long)__rdtsc());
  fflush(stdout);
  usleep(20000);
}

static void task_phase(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 4; i++) {
#pragma omp task
    u(5);
  }
}

static void loop_phase(void)
{
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (int i = 0; i < 8; i++)
    u(i + 1);
}

static void lock_phase(void)
{
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 3; i++) {
    u(1);
#pragma omp critical
    u(7);
  }
}

int main(int argc, char **argv)
{
  pid_t child = -1;
  u(10);
  pause_between();
  task_phase();
  pause_between();
  if (argc > 1 && !strcmp(argv[1], "fork"))
    child = fork();
  if (child <= 0)
    loop_phase();
  if (child > 0)
    waitpid(child, NULL, 0);
  if (child == 0)
    _exit(0);
  pause_between();
  lock_phase();
  return 0;
}
