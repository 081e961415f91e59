/* Named regions of the program: contexts, and rows of the parallelism report. */
#include <omp.h>
#include <stdio.h>

#include "burn.h"
#include "hpcrun-lite.h"

NOINLINE void inner(void)
{
  hpcrun_lite_add_work(7);
  burn(0.05);
}

NOINLINE void solve(void)
{
  hpcrun_lite_region_begin("solve phase");
  hpcrun_lite_add_work(2);
  inner();
#pragma omp parallel num_threads(2)
  inner();
  hpcrun_lite_region_begin("deep");
  hpcrun_lite_add_work(30);
  burn(0.1);
  hpcrun_lite_region_end();
  hpcrun_lite_region_end();
  hpcrun_lite_add_work(4);
  burn(0.02);
}

int main(void)
{
  hpcrun_lite_add_work(1);
  solve();
  solve();
  puts("done");
  return 0;
}
