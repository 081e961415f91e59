/* A program with a tool of its own: it defines MPI_Send and MPI_Barrier by PMPI, as the profiling interface has it. */
#include <mpi.h>
#include <stdio.h>

static int sends, barriers;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
  sends++;
  return PMPI_Send(buffer, count, type, destination, tag, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
  barriers++;
  return PMPI_Barrier(comm);
}

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
  printf("calls %s 10\ncalls Barrier %d\n", rank == 0 ? "Send" : "Recv", barriers);
  return MPI_Finalize() + (rank == 0 && sends != 10);
}
