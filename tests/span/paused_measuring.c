/* Measuring pauses and goes on.  Work that is reported during a pause does not count. */
#include <omp.h>
#include <stdio.h>

#include "hpcrun-lite.h"

#define u(n) hpcrun_lite_add_work(n)

int main(void)
{
  enum { GO_ON = 1, PAUSE = 2 }; /* of omp_control_tool() */
  u(1);
  hpcrun_lite_start();
  u(10);
#pragma omp parallel num_threads(2)
  u(5);
  hpcrun_lite_stop();
  u(100);
  hpcrun_lite_start();
  u(20);
  omp_control_tool(PAUSE, 0, NULL);
  u(1000);
  omp_control_tool(GO_ON, 0, NULL);
  u(3);
  puts("done");
  return 0;
}
