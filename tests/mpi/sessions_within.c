/* Opens sessions while MPI is initialized, one after another. */
#include <mpi.h>
#include <stdio.h>

enum { TIMES = 5 };

int main(int argc, char **argv)
{
  int one = 1, sum;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < TIMES; i++) {
    MPI_Session session;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
  }
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  printf("calls Init 1\ncalls Allreduce %d\ncalls Finalize 1\ncalls Session_init %d\ncalls Session_finalize %d\n",
         TIMES + 1, TIMES, TIMES);
  return 0;
}
