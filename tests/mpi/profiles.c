/* A tool that uses MPI's profiling interface: part of a program, or a library. */
#include <mpi.h>

extern int profiled_sends, profiled_barriers;
int profiled_sends, profiled_barriers;

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
  profiled_sends++;
  return PMPI_Send(buffer, count, type, destination, tag, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
  profiled_barriers++;
  return PMPI_Barrier(comm);
}
