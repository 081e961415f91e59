/* Rank 1 has three times the work of rank 0, which waits for it in MPI_Barrier; with EQUAL, both have the same. */
#include <mpi.h>

static volatile double sink;

__attribute__((noinline)) static double burn(long steps)
{
  double x = 1;
  __asm__ volatile("" : "+r"(steps)); /* not a pure function */
  for (long i = 0; i < steps; i++)
    x = x * 1.0000001 + 1e-9;
  return x;
}

int main(int argc, char **argv)
{
  int rank, given, iterations = 200;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifndef EQUAL
  iterations = rank ? 300 : 100;
#endif
  for (int k = 0; k < 20; k++) {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < iterations; i++)
      sink = burn(20000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
