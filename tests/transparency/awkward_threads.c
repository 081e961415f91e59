/* Thousands of threads.  argv[1]: churn (argv[2] short ones, one after another), many (argv[2] at once), nest (regions
 * nested argv[2] deep). */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "burn.h"

static pthread_barrier_t barrier;

static void *shortly(void *unused)
{
  for (volatile int i = 0; i < 1000; i++)
    ;
  return unused;
}

static void *together(void *unused)
{
  pthread_barrier_wait(&barrier);
  burn(0.0005);
  return unused;
}

static void churn(int count)
{
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, shortly, NULL);
    pthread_join(thread, NULL);
  }
}

static void many(int count)
{
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_barrier_init(&barrier, NULL, (unsigned)count);
  for (int i = 0; i < count; i++)
    if (pthread_create(&threads[i], &attributes, together, NULL))
      exit(3);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

static int nest(int depth)
{
  int count = 0;
  if (!depth) {
    burn(0.001);
    return 1;
  }
#pragma omp parallel num_threads(depth % 8 ? 1 : 2) reduction(+ : count)
  count += nest(depth - 1);
  return count;
}

int main(int argc, char **argv)
{
  const char *which = argc > 1 ? argv[1] : "";
  int count = argc > 2 ? atoi(argv[2]) : 0;
  if (!strcmp(which, "churn"))
    churn(count);
  else if (!strcmp(which, "many"))
    many(count);
  else if (!strcmp(which, "nest")) {
    omp_set_max_active_levels(20);
    for (int i = 0; i < 10; i++)
      printf("%d leaves\n", nest(count));
  } else
    return 2;
  puts("done");
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  if (getenv("SHOW"))
    fprintf(stderr, "peak %ld\n", usage.ru_maxrss);
  return 0;
}
