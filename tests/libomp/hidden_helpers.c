/* Target tasks, which libomp's hidden helper threads run where there is no device, and threads of the program that are
 * like them.  Usage: hidden_helpers beside|serial|many|inner|killed|own|jump; prints the CPU time that it has burnt. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "burn.h"

enum { MANY = 60 };

static double on_device_s, on_host_s;

__attribute__((noinline)) static void on_device(double seconds)
{
  double begin = burn_clock();
  burn(seconds);
#pragma omp atomic
  on_device_s += burn_clock() - begin;
}

__attribute__((noinline)) static void on_host(double seconds)
{
  double begin = burn_clock();
  burn(seconds);
#pragma omp atomic
  on_host_s += burn_clock() - begin;
}

NOINLINE static void beside(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait
    on_device(0.3);
    on_host(0.3);
#pragma omp taskwait
  }
}

/* Outside any region. */
static void serial(void)
{
#pragma omp target nowait
  on_device(0.3);
  on_host(0.3);
#pragma omp taskwait
}

/* Each waits for the one before, and for a task of its own. */
static void many(void)
{
  char chain = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < MANY; i++) {
#pragma omp target nowait depend(inout : chain)
    {
#pragma omp task
      on_device(0.002);
#pragma omp taskwait
    }
  }
}

/* Threads of a region in a target task are the program's. */
static void inner(void)
{
#pragma omp target nowait
  {
#pragma omp parallel num_threads(3)
#pragma omp critical
    on_device(0.1);
  }
#pragma omp taskwait
}

static void killed(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait
    {
      on_device(0.3);
      raise(SIGKILL);
    }
#pragma omp taskwait
  }
}

static void *region(void *unused)
{
#pragma omp parallel num_threads(3)
#pragma omp critical
  on_host(0.1);
  return unused;
}

/* Ends by a jump into the runtime, and leaves no frame. */
static void jump(void)
{
#pragma omp parallel num_threads(3)
  {
#pragma omp critical
    on_host(0.1);
  }
}

static void in_thread(void *(*function)(void *))
{
  pthread_t thread;
  pthread_create(&thread, NULL, function, NULL);
  pthread_join(thread, NULL);
}

int main(int count, char **arguments)
{
  const char *what = count > 1 ? arguments[1] : "";
  if (!strcmp(what, "beside"))
    beside();
  else if (!strcmp(what, "serial"))
    serial();
  else if (!strcmp(what, "many"))
    many();
  else if (!strcmp(what, "inner"))
    inner();
  else if (!strcmp(what, "killed"))
    killed();
  else if (!strcmp(what, "own"))
    in_thread(region);
  else if (!strcmp(what, "jump"))
    in_thread((void *(*)(void *))(void (*)(void))jump);
  else
    return 2;
  say("on_device", on_device_s);
  say("on_host", on_host_s);
  return 0;
}
