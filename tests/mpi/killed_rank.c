/* Rank 1 sends a message and is killed; the others have got it, or wait in MPI_Barrier, until they are killed, too. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  int rank, number = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Send(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    kill(getpid(), SIGKILL);
  } else if (rank == 0) {
    MPI_Recv(&number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
