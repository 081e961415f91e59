/* Constructs of several kinds in two processes, for exports of the timeline. */
#include "hpcrun-lite.h"

#include <omp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double sum;

static void spin(int amount)
{
  for (int i = 0; i < amount * 1000; i++)
    sum = sum + i;
}

static void tasks(int depth)
{
  spin(10);
  if (!depth)
    return;
#pragma omp task
  tasks(depth - 1);
#pragma omp task
  tasks(depth - 1);
#pragma omp taskwait
}

static void region(void)
{
#pragma omp parallel num_threads(3)
  {
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 20; i++)
      spin(20);
#pragma omp critical
    spin(500);
#pragma omp single
    tasks(4);
    if (omp_get_thread_num() == 1)
      spin(2000);
#pragma omp barrier
  }
}

int main(void)
{
  pid_t child = fork(); /* before libgomp has threads, which a child would lack */
  for (int i = 0; i < 5; i++)
    region();
  hpcrun_lite_region_begin("a \"quoted\" <name>\n");
  spin(3000);
  usleep(20000);
  region();
  hpcrun_lite_region_end();
  if (child)
    waitpid(child, NULL, 0);
  return 0;
}
