/* A thread acquires a mutex all the time, while the initial one forks.  Prints how often it did. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 30 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool begun, ended;
static long acquired; /* the thread's */

static void *acquire(void *unused)
{
  for (; !ended; acquired++) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    begun = true;
  }
  return unused;
}

int main(void)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, acquire, NULL))
    return EXIT_FAILURE;
  while (!begun)
    usleep(1000);
  for (int i = 0; i < FORKS; i++) {
    pid_t child = fork();
    if (!child)
      _exit(EXIT_SUCCESS);
    waitpid(child, NULL, 0);
  }
  ended = true;
  pthread_join(thread, NULL);
  printf("acquired %ld\n", acquired);
  return EXIT_SUCCESS;
}
