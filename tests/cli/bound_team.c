/* bound_team [team N|nested N|bind CPU|kill|throttled FILE]: a region in which all threads work; with `team` it has a
 * clause num_threads; with `nested`, regions with a team of N, 0: as large as the environment says, are inside it; with
 * `bind` all threads but one of more than two bind themselves to that CPU first, with `kill` the process is killed in
 * it, with `throttled` it works until the file cpu.stat counts a throttled period. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double cpu_s(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void work(double s)
{
  for (double end = cpu_s() + s; cpu_s() < end;)
    ;
}

static void bind_to(int cpu)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    abort();
}

static int throttled(const char *path)
{
  char line[128];
  int count = 0;
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    sscanf(line, "nr_throttled %d", &count);
  if (file)
    fclose(file);
  return count > 0;
}

static void nested(int team)
{
  omp_set_max_active_levels(2);
#pragma omp parallel
  {
    int threads = team ? team : omp_get_max_threads();
#pragma omp parallel num_threads(threads) /* inner */
    work(0.01);
  }
}

int main(int count, char **arguments)
{
  const char *what = count > 1 ? arguments[1] : "", *argument = count > 2 ? arguments[2] : "";
  if (!strcmp(what, "nested")) {
    nested(atoi(argument));
    return 0;
  }
  int team = strcmp(what, "team") ? omp_get_max_threads() : atoi(argument);
#pragma omp parallel num_threads(team)
  {
    int threads = omp_get_num_threads();
    if (!strcmp(what, "bind") && (threads == 2 || omp_get_thread_num() != threads - 1))
      bind_to(atoi(argument));
    work(0.1);
    while (!strcmp(what, "throttled") && !throttled(argument))
      work(0.01);
#pragma omp barrier
    if (!strcmp(what, "kill"))
      kill(getpid(), SIGKILL);
  }
  return 0;
}
