/* The first rank is late for its first message; then two ranks exchange messages as fast as they can. */
#include <mpi.h>
#include <unistd.h>

enum { LATE_US = 400000, MESSAGES = 6 };

int main(int argc, char **argv)
{
  int rank, data = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!rank)
    usleep(LATE_US);
  for (int i = 0; i < 2 * MESSAGES; i++)
    if (i % 2 == rank)
      MPI_Send(&data, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(&data, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
