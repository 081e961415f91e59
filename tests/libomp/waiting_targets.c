/* Target constructs on the device of waiting_runtime.c, between work of the host.
 * Usage: waiting_targets TYPE poll|sleep [once|beside|idle]; once: only the first one copies; beside: another thread
 * works meanwhile, as long as there are constructs; idle: a worker is idle meanwhile; prints the CPU time of the host's
 * own work. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "burn.h"
#include "waiting_runtime.h"

enum { TARGETS = 4 };

static double on_host_s;

NOINLINE static void on_host(double seconds)
{
  double begin = burn_clock();
  burn(seconds);
  on_host_s += burn_clock() - begin;
}

static atomic_bool works;

static void *work(void *unused)
{
  on_host(0.2);
  atomic_store(&works, false);
  return unused;
}

static void beside(int asleep)
{
  pthread_t thread;
  atomic_store(&works, true);
  pthread_create(&thread, NULL, work, NULL);
  while (atomic_load(&works))
    runtime_target(0, 0.01, asleep);
  pthread_join(thread, NULL);
  say("on_host", on_host_s);
}

int main(int count, char **arguments)
{
  if (count < 3)
    return 1;
  const char *form = count > 3 ? arguments[3] : "";
  runtime_start(arguments[1]);
  if (!strcmp(form, "beside")) {
    beside(!strcmp(arguments[2], "sleep"));
    return 0;
  }
  if (!strcmp(form, "idle"))
    runtime_worker();
  on_host(0.1);
  for (int i = 0; i < TARGETS; i++)
    runtime_target(i && !strcmp(form, "once") ? 0 : 0.02, 0.03, !strcmp(arguments[2], "sleep"));
  on_host(0.1);
  say("on_host", on_host_s);
  return 0;
}
