/* Messages in one direction only: the first rank sends, the others receive. */
#include <mpi.h>

enum { MESSAGES = 5 };

int main(int argc, char **argv)
{
  int rank, size, data = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < MESSAGES && rank; i++)
    MPI_Recv(&data, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < MESSAGES * size && !rank; i++)
    if (i % size)
      MPI_Send(&data, 1, MPI_INT, i % size, i / size, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
