/* A loop of OpenMP and a thread of a library in turn.  While the library works, one thread of OpenMP has no work: with
 * OMP_WAIT_POLICY=active it spins, so that of three threads on two cores one is ready without a core. */
#include <pthread.h>
#include <stdlib.h>

#include "burn.h"

enum { ROUNDS = 200 };

static pthread_barrier_t go, done;

static void *worker(void *unused)
{
  for (int i = 0; i < ROUNDS; i++) {
    pthread_barrier_wait(&go);
    burn(0.001);
    pthread_barrier_wait(&done);
  }
  return unused;
}

NOINLINE static void library(void)
{
  pthread_barrier_wait(&go);
  burn(0.001);
  pthread_barrier_wait(&done);
}

int main(void)
{
  pthread_t thread;
  pthread_barrier_init(&go, NULL, 2);
  pthread_barrier_init(&done, NULL, 2);
  if (pthread_create(&thread, NULL, worker, NULL))
    return 1;
  for (int i = 0; i < ROUNDS; i++) {
#pragma omp parallel num_threads(2)
    burn(0.0005);
    library();
  }
  pthread_join(thread, NULL);
  return 0;
}
