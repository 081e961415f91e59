// C++ exceptions of a program that is sampled; argv[1] chooses where.  Prints what it prints without a profiler.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <omp.h>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "leaf_work.h"

static std::atomic<long> destroyed;

struct Counted {
  ~Counted() { destroyed.fetch_add(1, std::memory_order_relaxed); }
};

NOINLINE static void throws(int depth, int value)
{
  Counted counted;
  if (depth)
    throws(depth - 1, value);
  else if (value % 2)
    throw value;
  else
    throw std::runtime_error("even");
}

NOINLINE static long catches(int count, int depth)
{
  long caught = 0;
  for (int i = 0; i < count; i++) {
    try {
      throws(depth, i);
    } catch (int) {
      caught++;
    } catch (const std::exception &) {
      caught += 2;
    }
  }
  return caught;
}

// Each is thrown and caught inside one task or region, as OpenMP requires.
static void in_regions(int count)
{
  long caught = 0;
#pragma omp parallel num_threads(4) reduction(+ : caught)
  {
    caught += catches(count, 10);
#pragma omp for
    for (int i = 0; i < 1000; i++)
      caught += catches(2, 3);
  }
  printf("regions %ld\n", caught);
  std::atomic<long> of_tasks(0);
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 2000; i++) {
#pragma omp task shared(of_tasks)
    {
      try {
        of_tasks += catches(4, 2);
        throws(5, 1);
      } catch (int) {
        of_tasks++;
      }
    }
  }
  printf("tasks %ld, destroyed %ld\n", of_tasks.load(), destroyed.load());
}

static void *in_thread(void *count)
{
  return reinterpret_cast<void *>(catches(*static_cast<int *>(count), 20));
}

static void in_threads(int count)
{
  std::vector<pthread_t> threads(4);
  long all = 0;
  for (auto &thread : threads)
    pthread_create(&thread, nullptr, in_thread, &count);
  for (auto &thread : threads) {
    void *caught;
    pthread_join(thread, &caught);
    all += reinterpret_cast<long>(caught);
  }
  printf("threads %ld, destroyed %ld\n", all, destroyed.load());
}

// ---- forced unwinding ----

// Destructors that run during unwinding are sampled, too.
struct Works {
  ~Works() { leaf_work(0.002); }
};

NOINLINE static void exits(int depth)
{
  Counted counted;
  if (depth)
    exits(depth - 1);
  else
    pthread_exit(reinterpret_cast<void *>(7L));
}

static void *exits_deep(void *depth)
{
  Works works;
  exits(*static_cast<int *>(depth));
  return nullptr;
}

static std::atomic<bool> begun;

NOINLINE static void sleeps(int depth)
{
  Counted counted;
  if (depth) {
    sleeps(depth - 1);
  } else {
    begun = true;
    for (;;) {
      pthread_testcancel();
      usleep(100000);
    }
  }
}

static void *sleeps_deep(void *depth)
{
  Works works;
  try {
    sleeps(*static_cast<int *>(depth));
  } catch (...) {
    destroyed += 1000;
    throw;
  }
  return nullptr;
}

static void unwinds(int count)
{
  int depth = 30;
  long ended = 0;
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    void *value;
    begun = false;
    pthread_create(&thread, nullptr, i % 2 ? exits_deep : sleeps_deep, &depth);
    if (i % 2 == 0) {
      while (!begun)
        usleep(100);
      pthread_cancel(thread);
    }
    pthread_join(thread, &value);
    ended += i % 2 ? value == reinterpret_cast<void *>(7L) : value == PTHREAD_CANCELED;
  }
  printf("ended %ld, destroyed %ld\n", ended, destroyed.load());
}

// ---- uncaught exceptions ----

static void last_words()
{
  leaf_work(0.01);
  try {
    throw;
  } catch (const std::exception &error) {
    printf("terminated by %s\n", error.what());
  } catch (...) {
    puts("terminated");
  }
  fflush(stdout);
  abort();
}

static void uncaught(const char *how)
{
  leaf_work(0.05);
  if (!strcmp(how, "handled"))
    std::set_terminate(last_words);
  if (!strcmp(how, "noexcept"))
    []() noexcept { throws(3, 1); }();
#pragma omp parallel num_threads(2) if (!strcmp(how, "region"))
  if (omp_get_thread_num() == 0)
    throws(3, 2);
}

int main(int argc, char **argv)
{
  const char *which = argc > 1 ? argv[1] : "";
  int count = argc > 2 ? atoi(argv[2]) : 0;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (!strcmp(which, "regions"))
    in_regions(count);
  else if (!strcmp(which, "threads"))
    in_threads(count);
  else if (!strcmp(which, "unwinds"))
    unwinds(count);
  else if (!strcmp(which, "uncaught"))
    uncaught(argv[2]);
  else
    return 2;
  leaf_work(0.1);
  return 0;
}
