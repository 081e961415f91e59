#include "hpcprof-lite/model/workers.h"

#include <assert.h>
#include <stdatomic.h>

enum { THREADS_MAX = 1024 };

struct run {
  void (*work)(void *argument, uint32_t job, unsigned worker);
  void *argument;
  uint32_t jobs;
  atomic_uint next_job, next_worker;
};

static void *take_jobs(void *argument)
{
  struct run *run = argument;
  unsigned worker = atomic_fetch_add(&run->next_worker, 1);
  for (;;) {
    uint32_t job = atomic_fetch_add(&run->next_job, 1);
    if (job >= run->jobs)
      return NULL;
    run->work(run->argument, job, worker);
  }
}

int workers_start(pthread_t *thread, void *(*body)(void *argument), void *argument)
{
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error)
    return error;
  error = pthread_attr_setstacksize(&attributes, WORKERS_STACK_BYTES);
  if (!error)
    error = pthread_create(thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

void workers_run(unsigned threads, uint32_t jobs, void (*work)(void *argument, uint32_t job, unsigned worker),
                 void *argument)
{
  assert(work);
  struct run run = {.work = work, .argument = argument, .jobs = jobs};
  pthread_t started[THREADS_MAX];
  unsigned count = 0;
  while (count + 1 < threads && count + 1 < jobs && count < THREADS_MAX &&
         !workers_start(&started[count], take_jobs, &run))
    count++;
  take_jobs(&run);
  for (unsigned i = 0; i < count; i++)
    pthread_join(started[i], NULL);
}
