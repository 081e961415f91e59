/* What a program prints depends on the libomp that it runs on (after_fork, loaded), or must not depend on how its loops
 * are measured (loops): PROGRAM WHAT. */
#define _GNU_SOURCE
#include <link.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEVEN = 7, EIGHT = 8 };

static int team(void)
{
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads++;
  return threads;
}

/* A region in a child that is forked after a hard pause: some versions of libomp end the child by an assertion. */
static void after_fork(void)
{
  team();
  printf("pause: %d\n", omp_pause_resource_all(omp_pause_hard));
  fflush(stdout);
  pid_t child = fork();
  if (!child)
    _exit(team() > 0 ? SEVEN : EIGHT);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status))
    printf("exit status %d\n", WEXITSTATUS(status));
  else
    printf("signal %d\n", WTERMSIG(status));
}

static int print_runtime(struct dl_phdr_info *info, size_t size, void *unused)
{
  (void)size, (void)unused;
  char *path = strstr(info->dlpi_name, "omp.so") ? realpath(info->dlpi_name, NULL) : NULL;
  if (path)
    puts(path);
  free(path);
  return 0;
}

static void loaded(void)
{
  team();
  dl_iterate_phdr(print_runtime, NULL);
}

/* Calls a loop for each schedule: its sum, and the value of its last iteration. */
#define SCHEDULES(LOOP)                                                                                                \
  LOOP(schedule(static)) LOOP(schedule(static, 3)) LOOP(schedule(dynamic)) LOOP(schedule(dynamic, 5))                  \
  LOOP(schedule(guided)) LOOP(schedule(monotonic : dynamic, 2)) LOOP(schedule(auto)) LOOP(schedule(runtime))           \
  LOOP(ordered) LOOP(nowait)

#define PRAGMA(text) _Pragma(#text)
#define LOOP_OF(type, first, condition, step, clauses)                                                                 \
  {                                                                                                                    \
    type last = 0;                                                                                                     \
    unsigned long sum = 0;                                                                                             \
    PRAGMA(omp parallel)                                                                                               \
    {                                                                                                                  \
      PRAGMA(omp for reduction(+ : sum) lastprivate(last) clauses)                                                     \
      for (type i = first; condition; i += step) {                                                                     \
        sum += (unsigned long)i;                                                                                       \
        last = i;                                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
    printf(#type " " #clauses ": %lu %ld\n", sum, (long)last);                                                         \
  }
#define INT_LOOP(clauses) LOOP_OF(int, 3, i < 100, 2, clauses)
#define DOWN_LOOP(clauses) LOOP_OF(long, 5000000000, i > -5000000000, -300000000, clauses)
#define UNSIGNED_LOOP(clauses) LOOP_OF(unsigned, 4294967000u, i < 4294967290u, 5, clauses)
#define LARGE_LOOP(clauses) LOOP_OF(unsigned long, ~0ul - 100, i < ~0ul - 3, 1, clauses)

static void sections_and_teams(void)
{
  int sections = 0, last = 0;
  long sum = 0;
#pragma omp parallel sections reduction(+ : sections) lastprivate(last)
  {
    sections += last = 1;
#pragma omp section
    sections += last = 2;
#pragma omp section
    sections += last = 3;
  }
#pragma omp teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++)
    sum += i;
  printf("sections %d %d, teams %ld\n", sections, last, sum);
}

static void tasks_and_doacross(void)
{
  long sum = 0, chain[64] = {0};
  int last = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop reduction(+ : sum) lastprivate(last) grainsize(7)
    for (int i = 0; i < 500; i++) {
      sum += i;
      last = i;
    }
  }
#pragma omp parallel for ordered(1) schedule(dynamic, 2)
  for (int i = 1; i < 64; i++) {
#pragma omp ordered depend(sink : i - 1)
    chain[i] = chain[i - 1] + i;
#pragma omp ordered depend(source)
  }
  printf("taskloop %ld %d, doacross %ld\n", sum, last, chain[63]);
}

static void loops(void)
{
  omp_set_schedule(omp_sched_guided, 3);
  SCHEDULES(INT_LOOP)
  SCHEDULES(DOWN_LOOP)
  SCHEDULES(UNSIGNED_LOOP)
  SCHEDULES(LARGE_LOOP)
  sections_and_teams();
  tasks_and_doacross();
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "after_fork"))
    after_fork();
  else if (!strcmp(what, "loaded"))
    loaded();
  else if (!strcmp(what, "loops"))
    loops();
  else
    return 2;
  return 0;
}
