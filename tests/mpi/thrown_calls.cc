// Leaves calls of MPI by an exception, which an error handler throws, and works after each.
#include <cstdio>
#include <mpi.h>

#include "burn.h"

static void throw_error(MPI_Comm *, int *, ...)
{
  throw 7;
}

int main(int argc, char **argv)
{
  int caught = 0;
  MPI_Errhandler handler;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_errhandler(throw_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  for (int i = 0; i < 5; i++) {
    try {
      MPI_Send(&i, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    } catch (int error) {
      caught += error;
    }
    burn(0.05);
  }
  std::printf("caught %d\ncalls Init 1\ncalls Send 5\ncalls Finalize 1\n", caught);
  return MPI_Finalize();
}
