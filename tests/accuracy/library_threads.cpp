// Threads of oneTBB in turn with those of OpenMP.  Prints how much CPU time the bodies took, by their own clocks.
#include <atomic>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "burn.h"

static const int ROUNDS = 4, PIECES = 24, THREADS = 3;

static std::atomic<long> tbb_ns, openmp_ns;

static NOINLINE void tbb_body()
{
  double since = burn_clock();
  burn(0.003);
  tbb_ns += (long)(1e9 * (burn_clock() - since));
}

static NOINLINE void openmp_body()
{
  double since = burn_clock();
  burn(0.003);
  openmp_ns += (long)(1e9 * (burn_clock() - since));
}

int main()
{
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, THREADS);
  for (int round = 0; round < ROUNDS; round++) {
    tbb::parallel_for(0, PIECES, [](int) { tbb_body(); });
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 0; i < PIECES; i++)
      openmp_body();
  }
  say("tbb", 1e-9 * (double)tbb_ns);
  say("openmp", 1e-9 * (double)openmp_ns);
}
