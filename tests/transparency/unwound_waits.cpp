// Prints what pthread_once(), call_once() and std::call_once do: the same with and without the tool.  Their routines end
// by exceptions, by cancellation, and beside threads that wait for them.  So do waits for conditions.
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>

#include "await_sleep.h"

static pthread_once_t plain = PTHREAD_ONCE_INIT, outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT,
                      cancelled = PTHREAD_ONCE_INIT, shared = PTHREAD_ONCE_INIT;
static std::once_flag flag;
static once_flag c11 = ONCE_FLAG_INIT;
static pthread_barrier_t step;
static int runs;
static waiter waiting;

static void run()
{
  runs++;
}

static void run_inner()
{
  pthread_once(&inner, run);
  runs++;
}

static void throw_twice()
{
  if (++runs < 3)
    throw std::runtime_error("thrown");
}

static void sleep_for_ever()
{
  runs++;
  pthread_barrier_wait(&step);
  for (;;)
    pause();
}

static void until_a_thread_waits()
{
  pthread_barrier_wait(&step);
  await_sleep(&waiting);
  runs++;
}

static void *call_cancelled(void *)
{
  pthread_once(&cancelled, sleep_for_ever);
  return nullptr;
}

static void *call_shared(void *)
{
  pthread_barrier_wait(&step); /* another thread is in the routine */
  goes_to_wait(&waiting);
  int result = pthread_once(&shared, until_a_thread_waits);
  has_waited(&waiting);
  return (void *)(long)(10 * runs + result);
}

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

struct guard {
  guard()
  {
    pthread_mutex_lock(&queue);
  }
  ~guard()
  {
    printf("guard: unlock %d\n", pthread_mutex_unlock(&queue));
  }
};

static void *wait_for_ever(void *)
{
  guard held;
  goes_to_wait(&waiting);
  for (;;)
    pthread_cond_wait(&never, &queue);
}

static void wait_and_throw()
{
  std::mutex mutex;
  std::condition_variable condition;
  int calls = 0;
  try {
    std::unique_lock<std::mutex> lock(mutex);
    condition.wait_for(lock, std::chrono::milliseconds(5), [&calls]() -> bool {
      if (calls++)
        throw std::runtime_error("thrown");
      return false;
    });
  } catch (const std::exception &error) {
    printf("condition: %s, free %d\n", error.what(), mutex.try_lock());
    mutex.unlock();
  }
}

int main()
{
  pthread_t thread;
  void *result;
  pthread_barrier_init(&step, nullptr, 2);
  int first = pthread_once(&plain, run), second = pthread_once(&plain, run);
  printf("plain: %d %d, runs %d\n", first, second, runs);
  first = pthread_once(&outer, run_inner);
  printf("nested: %d, runs %d\n", first, runs);
  runs = 0;
  for (int i = 0; i < 4; i++) {
    const char *what = "none";
    try {
      std::call_once(flag, throw_twice);
    } catch (const std::exception &error) {
      what = error.what();
    }
    printf("exception: %s, runs %d\n", what, runs);
  }
  runs = 0;
  pthread_create(&thread, nullptr, call_cancelled, nullptr);
  pthread_barrier_wait(&step);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  first = pthread_once(&cancelled, run);
  printf("cancelled: %d %d, runs %d\n", result == PTHREAD_CANCELED, first, runs);
  runs = 0;
  pthread_create(&thread, nullptr, call_shared, nullptr);
  first = pthread_once(&shared, until_a_thread_waits);
  pthread_join(thread, &result);
  printf("shared: %d %ld, runs %d\n", first, (long)result, runs);
  for (int i = 0; i < 2; i++)
    call_once(&c11, run);
  printf("C11: runs %d\n", runs);
  wait_and_throw();
  pthread_create(&thread, nullptr, wait_for_ever, nullptr);
  await_sleep(&waiting);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  first = pthread_mutex_lock(&queue);
  printf("condition: cancelled %d, lock %d, unlock %d\n", result == PTHREAD_CANCELED, first,
         pthread_mutex_unlock(&queue));
  return 0;
}
