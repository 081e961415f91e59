/* A detached task is fulfilled by another task, and a third one depends on it: work 32, span 20 + 7.
 * With a number: so many detached tasks, four at a time, which end at about the time when others fulfil them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "hpcrun-lite.h"

static void many(int count)
{
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < count; i++) {
    omp_event_handle_t event;
#pragma omp task detach(event) // @ detached
    hpcrun_lite_add_work(1);
#pragma omp task firstprivate(event) // @ fulfils
    {
      hpcrun_lite_add_work(1);
      omp_fulfill_event(event);
    }
    if (i % 4 == 3) {
#pragma omp taskwait
    }
  }
}

int main(int argc, char **argv)
{
  int x = 0;
  if (argc > 1) {
    many(atoi(argv[1]));
    return 0;
  }
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
    hpcrun_lite_add_work(5);
#pragma omp task firstprivate(event)
    {
      hpcrun_lite_add_work(20);
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : x)
    hpcrun_lite_add_work(7);
  }
  puts("done");
  return 0;
}
