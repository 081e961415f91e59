/* A library that uses MPI. */
#include <mpi.h>
#include <stdio.h>

void communicate(void);
void communicate(void)
{
  int rank, sum;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; i++)
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("sum %d\ncalls Init 1\ncalls Allreduce 10\ncalls Finalize 1\n", sum);
  MPI_Finalize();
}
