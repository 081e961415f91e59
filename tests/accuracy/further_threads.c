/* A region of two threads in the initial thread, and three in threads that it creates and joins one after the other: no
 * more than two are in use at once. */
#include <pthread.h>
#include <time.h>

static double cpu_time(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *begin(void *argument)
{
#pragma omp parallel num_threads(2)
  for (double end = cpu_time() + 0.05; cpu_time() < end;)
    continue;
  return argument;
}

int main(void)
{
  begin(0);
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, begin, 0);
    pthread_join(thread, 0);
  }
}
