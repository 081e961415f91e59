/* Programs whose graph log is examined: logged_graph WHAT.  u(n) reports n units of work. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hpcrun-lite.h"

#define u(n) hpcrun_lite_add_work(n)

enum { LOWEST_FD = 3, HIGHEST_FD = 1024 };

static void tasks(int count)
{
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    for (int i = 0; i < count; i++) {
#pragma omp task
      u(3);
    }
#pragma omp taskwait
    u(1);
  }
}

/* Counts the mapped parts of logs.  They are shared memory, so a child must not keep those of its parent. */
static int windows(void)
{
  char line[5000];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    found += strstr(line, ".graph") != NULL;
  if (maps)
    fclose(maps);
  return found;
}

static int child(void)
{
  if (windows() > 1)
    return 1;
  u(5);
  tasks(4);
  return 0;
}

static void in_a_child(void)
{
  tasks(2);
  int status = 1;
  pid_t pid = fork();
  if (pid == 0)
    _exit(child());
  tasks(3);
  if (windows() < 3)
    puts("fewer windows than threads");
  waitpid(pid, &status, 0);
  u((uint64_t)status + 1);
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "tasks"))
    tasks(20000);
  if (!strcmp(what, "kill")) {
    tasks(5000);
    kill(getpid(), SIGKILL);
  }
  if (!strcmp(what, "fork"))
    in_a_child();
  if (!strcmp(what, "exec") && omp_get_max_threads() > 0) { /* without the OpenMP runtime there is no graph */
    u(2);
    execl(argc > 2 ? argv[2] : "/nowhere", "true", (char *)NULL);
    u(3);
  }
  for (int i = 0; i < 20 && !strcmp(what, "close"); i++) {
    tasks(1000);
    for (int fd = LOWEST_FD; fd < HIGHEST_FD; fd++)
      close(fd);
  }
  puts("done");
  return 0;
}
