/* Ends inside a parallel region, in the way that argv[1] chooses; the master sleeps at the end of the region, or
 * works. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

NOINLINE double worker_work(double seconds)
{
  return burn(seconds) + 1;
}

NOINLINE void creator(const char *how)
{
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      worker_work(0.4);
      if (!strcmp(how, "exit"))
        exit(21);
      if (!strcmp(how, "_exit"))
        _exit(22);
      if (!strcmp(how, "quick_exit"))
        quick_exit(23);
    }
    if (!strcmp(how, "master"))
      worker_work(0.4);
#pragma omp barrier
    if (!strcmp(how, "master") && omp_get_thread_num() == 0)
      exit(24);
  }
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
  creator(argc > 1 ? argv[1] : "");
  puts("done");
  return 0;
}
