/* Target constructs on the device of waiting_runtime.c, between work of the host.
 * Usage: waiting_targets TYPE poll|sleep [once]; once: only the first one copies; prints the CPU time of the host's own
 * work. */
#define _GNU_SOURCE
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

int main(int count, char **arguments)
{
  if (count < 3)
    return 1;
  runtime_start(arguments[1]);
  on_host(0.1);
  for (int i = 0; i < TARGETS; i++)
    runtime_target(i && count > 3 ? 0 : 0.02, 0.03, !strcmp(arguments[2], "sleep"));
  on_host(0.1);
  say("on_host", on_host_s);
  return 0;
}
