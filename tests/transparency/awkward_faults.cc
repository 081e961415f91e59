// Exceptions thrown by handlers of faults, argv[1] of them in each of two threads; needs -fnon-call-exceptions.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>

#include "leaf_work.h"

static std::atomic<long> destroyed;

struct Counted {
  ~Counted() { destroyed.fetch_add(1, std::memory_order_relaxed); }
};

static void on_fault(int number)
{
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, number);
  sigprocmask(SIG_UNBLOCK, &mask, nullptr);
  throw number;
}

NOINLINE static int faults(volatile int *where)
{
  Counted counted;
  return *where;
}

static long caught_faults(int count)
{
  long caught = 0;
  volatile int zero = 0;
  auto *nowhere = static_cast<int *>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < count; i++) {
    try {
      caught += i % 2 ? faults(nowhere) : i / zero;
    } catch (int number) {
      caught += number;
    }
  }
  return caught;
}

static void *fault_thread(void *count)
{
  return reinterpret_cast<void *>(caught_faults(*static_cast<int *>(count)));
}

int main(int, char **argv)
{
  int count = atoi(argv[1]);
  struct sigaction action = {};
  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGFPE, &action, nullptr);
  pthread_t thread;
  pthread_create(&thread, nullptr, fault_thread, &count);
  long caught = caught_faults(count);
  void *there;
  pthread_join(thread, &there);
  printf("faults %ld %ld, destroyed %ld\n", caught, reinterpret_cast<long>(there), destroyed.load());
  leaf_work(0.05);
  return 0;
}

