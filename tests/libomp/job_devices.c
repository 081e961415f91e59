/* Ranks of an MPI job that wait for devices of their own, on waiting_runtime.c.  What they do is counted.
 * Usage: job_devices FORM */
#include <mpi.h>
#include <string.h>

#include "hpcrun-lite.h"
#include "waiting_runtime.h"

enum { COPY = 4, KERNEL = 10 };

/* Each rank begins when the one before it has ended. */
static void chain(int rank, int ranks)
{
  int token = 0;
  if (rank)
    MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  hpcrun_lite_add_work(5);
  runtime_counted_target(COPY, KERNEL); /* @ chain */
  if (rank + 1 < ranks)
    MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

/* All wait for the last rank, whose device needs most. */
static void slowest(int rank, int ranks)
{
  (void)ranks;
  runtime_counted_target(COPY, KERNEL * (rank + 1)); /* @ slowest */
  MPI_Barrier(MPI_COMM_WORLD);
  hpcrun_lite_add_work(3);
}

int main(int count, char **arguments)
{
  int rank, ranks;
  runtime_start("gfx90a");
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  (count > 1 && !strcmp(arguments[1], "chain") ? chain : slowest)(rank, ranks);
  MPI_Finalize();
  return 0;
}
