/* A library whose constructor creates a thread, which works when it is asked to (-DLIBRARY), and a program that uses
 * it. */
#include <pthread.h>
#include <stdio.h>

void pool_work(void);

#ifdef LIBRARY
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked;
static volatile double result;

static void *serve(void *unused)
{
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (!asked)
      pthread_cond_wait(&changed, &mutex);
    for (int i = 0; i < 1000000; i++)
      result += 1e-9;
    asked = 0;
    pthread_cond_broadcast(&changed);
  }
  return unused;
}

__attribute__((constructor)) static void start(void)
{
  pthread_t thread;
  pthread_create(&thread, NULL, serve, NULL);
}

void pool_work(void)
{
  pthread_mutex_lock(&mutex);
  asked = 1;
  pthread_cond_broadcast(&changed);
  while (asked)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}
#else
int main(void)
{
  pool_work();
  puts("done");
  return 0;
}
#endif
