/* A detached task is fulfilled by another task, and a third one depends on it: work 32, span 20 + 7. */
#include <omp.h>
#include <stdio.h>

#include "hpcrun-lite.h"

int main(void)
{
  int x = 0;
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
