/* Threads that come and go, each of which enters a parallel region: prints whether the process's resident memory has
 * grown by more than 2 KB for each.
 *
 * Usage: thread_churn THREADS */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *run(void *sum)
{
  int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  threads += omp_get_num_threads();
  *(int *)sum += threads;
  return NULL;
}

static long resident_kb(void)
{
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*d %ld", &pages) != 1)
    exit(2);
  fclose(file);
  return pages * 4;
}

int main(int argc, char **argv)
{
  enum { FIRST = 200, LEAST_KB = 2 };
  int sum = 0, count = argc > 1 ? atoi(argv[1]) : 0;
  long before = 0;
  for (int i = 0; i < FIRST + count; i++) {
    pthread_t thread;
    if (i == FIRST)
      before = resident_kb();
    if (pthread_create(&thread, NULL, run, &sum))
      return 3;
    pthread_join(thread, NULL);
  }
  long grown = resident_kb() - before;
  printf("%d, %s\n", sum, grown > LEAST_KB * count ? "grown" : "constant");
  return 0;
}
