/* Target regions without a device: one that its thread runs at once, and one with nowait beside work of the thread that
 * creates it.  Prints the CPU time that each has burnt. */
#include "burn.h"

static double at_once_s, as_task_s, on_host_s;

NOINLINE static void at_once(void)
{
  double begin = burn_clock();
  burn(0.3);
  at_once_s = burn_clock() - begin;
}

NOINLINE static void as_task(void)
{
  double begin = burn_clock();
  burn(0.3);
  as_task_s = burn_clock() - begin;
}

NOINLINE static void on_host(void)
{
  double begin = burn_clock();
  burn(0.3);
  on_host_s = burn_clock() - begin;
}

NOINLINE static void calls(void)
{
#pragma omp target
  at_once();
  __asm__ volatile("");
}

int main(void)
{
  calls();
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target nowait
    as_task();
    on_host();
#pragma omp taskwait
  }
  say("at_once", at_once_s);
  say("as_task", as_task_s);
  say("on_host", on_host_s);
  return 0;
}
