/* A run of known phases, all asleep: prints how long each took by its own clock, in seconds, and which repetition took
 * longest. */
#include <omp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { REPETITIONS = 30, LONGEST = 17 };

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void)
{
  double marks[5], slowest = 0, start = 0;
  int number = 0;
  omp_get_max_threads(); /* starts the runtime before the first region */
  usleep(120000);
  marks[0] = now();
  for (int i = 1; i <= REPETITIONS; i++) {
    double begin = now();
#pragma omp parallel num_threads(2)
    usleep(i == LONGEST ? 40000 : 4000);
    usleep(3000);
#pragma omp parallel num_threads(2)
    usleep(2000);
    usleep(1000);
    double took = now() - begin;
    if (took > slowest) { /* another one on a busy machine */
      slowest = took;
      start = begin - marks[0];
      number = i;
    }
  }
  marks[1] = now();
  usleep(80000);
  marks[2] = now();
#pragma omp parallel num_threads(2)
  usleep(60000);
  marks[3] = now();
  usleep(50000);
  marks[4] = now();
  printf("pattern %.9f\nslowest %.9f\nstart %.9f\nnumber %d\nserial %.9f\nregion %.9f\nend %.9f\n", marks[1] - marks[0],
         slowest, start, number, marks[2] - marks[1], marks[3] - marks[2], marks[4] - marks[3]);
  return 0;
}
