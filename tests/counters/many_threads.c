/* Starts 100 threads that wait, and prints how many files the program can open then. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 100 };

static pthread_barrier_t all, end;

static void *wait_for_end(void *unused)
{
  pthread_barrier_wait(&all);
  pthread_barrier_wait(&end);
  return unused;
}

int main(void)
{
  pthread_t threads[THREADS];
  int opened = 0;
  pthread_barrier_init(&all, NULL, THREADS + 1);
  pthread_barrier_init(&end, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, wait_for_end, NULL) != 0)
      return 1;
  pthread_barrier_wait(&all);
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
    opened++;
  printf("%d\n", opened);
  pthread_barrier_wait(&end);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
