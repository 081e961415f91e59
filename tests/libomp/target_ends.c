/* Programs that end in a target construct, or of which the kernel's figures there are known.
 * Usage: target_ends MODE; prints what it has done. */
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

enum { PAGES = 500, PAGE = 4096, CALLS = 300000, MANY = 10000 };

static void say_done(const char *what)
{
  puts(what);
  fflush(stdout);
}

/* A device uses it first. */
static void warm_up(void)
{
#pragma omp target
  ;
}

static double system_s(void)
{
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

static void faults(void)
{
  char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  warm_up();
#pragma omp target is_device_ptr(pages)
  for (int i = 0; i < PAGES; i++)
    pages[i * PAGE] = 1;
  say_done(pages[PAGE] ? "touched" : "wrong");
}

static void calls(void)
{
  warm_up();
  double before = system_s();
#pragma omp target
  for (int i = 0; i < CALLS; i++)
    getppid();
  printf("system %.6f\n", system_s() - before);
}

static void aborts(void)
{
  say_done("aborts");
#pragma omp target
  abort();
}

static void exits(void)
{
  say_done("exits");
#pragma omp target
  exit(3);
}

static void exits_at_once(void)
{
  say_done("exits at once");
#pragma omp target
  _exit(4);
}

static void terminated(void)
{
  say_done("terminated");
#pragma omp target
  raise(SIGTERM);
  say_done("wrong");
}

static void faulty(void)
{
  int *nowhere = NULL;
  say_done("segmentation fault");
#pragma omp target is_device_ptr(nowhere)
  *nowhere = 1;
  say_done("wrong");
}

/* While another thread waits for the end of a target. */
static void nowait(void)
{
  say_done("nowait");
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait
    {
      if (burn(0.05) > 0)
        _exit(6);
    }
#pragma omp taskwait
  }
}

static void forks(void)
{
  int status = 1, many = 0;
  warm_up();
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    if (!child)
      _exit(10 + i);
    many += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 10 + i;
  }
#pragma omp target map(tofrom : many)
  many *= 2;
  printf("children %d\n", many);
}

static void loop(void)
{
  int count = 0;
  for (int i = 0; i < MANY; i++) {
#pragma omp target map(tofrom : count)
    count++;
  }
  printf("count %d\n", count);
}

int main(int count, char **arguments)
{
  static const struct {
    const char *name;
    void (*run)(void);
  } modes[] = {{"faults", faults},   {"calls", calls},  {"abort", aborts},  {"exit", exits},  {"_exit", exits_at_once},
               {"term", terminated}, {"fault", faulty}, {"nowait", nowait}, {"forks", forks}, {"loop", loop}};
  for (unsigned i = 0; i < sizeof modes / sizeof *modes && count > 1; i++)
    if (!strcmp(modes[i].name, arguments[1]))
      modes[i].run();
  return 0;
}
