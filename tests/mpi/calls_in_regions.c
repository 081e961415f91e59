/* Rank 1 is late for each barrier, in which one thread of a region calls MPI while the other one is busy.  Argument:
 * steps. */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <time.h>

#define SECONDS 0.1

static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_until(double end)
{
  struct timespec time = {.tv_nsec = 1000000};
  while (now() < end)
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
  int provided, rank, steps = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < steps; i++) {
#pragma omp parallel num_threads(2)
    {
      if (rank || omp_get_thread_num())
        sleep_until(now() + SECONDS);
      if (!omp_get_thread_num())
        MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
