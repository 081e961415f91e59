// A pool of C++: its threads wait at a condition variable while main() works.  Prints how long, by their own clocks.
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "await_sleep.h"
#include "burn.h"

static std::mutex mutex;
static std::condition_variable changed;
static std::deque<double> jobs;
static bool ended;
static double waited;
static waiter waiters[3];

static void worker(int number)
{
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex);
    double since = wall_clock();
    goes_to_wait(&waiters[number]);
    changed.wait(lock, [] { return ended || !jobs.empty(); });
    has_waited(&waiters[number]);
    waited += wall_clock() - since;
    if (jobs.empty())
      return;
    double job = jobs.front();
    jobs.pop_front();
    lock.unlock();
    burn(job);
  }
}

static void change(int count, bool last)
{
  std::lock_guard<std::mutex> lock(mutex);
  jobs.insert(jobs.end(), count, 0.03);
  ended = last;
  changed.notify_all();
}

int main()
{
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++)
    threads.emplace_back(worker, i);
  for (waiter &each : waiters)
    await_sleep(&each);
  burn(0.1);
  change(2, false);
  std::async(std::launch::async, [] { burn(0.05); }).get();
  burn(0.1);
  change(0, true);
  for (auto &thread : threads)
    thread.join();
  say("pool", waited);
}
