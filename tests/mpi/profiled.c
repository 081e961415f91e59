/* A program with the tool of profiles.c. */
#include <mpi.h>
#include <stdio.h>

extern int profiled_sends, profiled_barriers;

int main(int argc, char **argv)
{
  int rank, number = 3;
  MPI_Init(&argc, &argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; i++) {
    if (rank == 0)
      MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
      MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("the tool of %d has seen %d and %d\n", rank, profiled_sends, profiled_barriers);
  printf("calls Init 1\ncalls %s 10\ncalls Barrier 10\ncalls Finalize 1\n", rank == 0 ? "Send" : "Recv");
  return MPI_Finalize();
}
