/* An MPI program whose ranks have two OpenMP threads each.  The work of each rank is known; an argument chooses how it
 * ends. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"

enum { UNIT_MS = 40 };

static NOINLINE void rank_work(int units)
{
  burn(units * UNIT_MS / 1e3);
}

static void die(const char *how)
{
  if (strcmp(how, "kill") == 0)
    raise(SIGKILL);
  if (strcmp(how, "abort") == 0)
    abort();
  if (strcmp(how, "fault") == 0)
    *(volatile int *)8 = 1;
  if (strcmp(how, "mpi-abort") == 0)
    MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(how, "exit") == 0)
    exit(3);
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  int rank, size, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel num_threads(2)
  rank_work(rank + 1);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d ranks, sum %d\n", size, sum);
    fflush(stdout);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1)
    die(how);
  if (*how && strcmp(how, "unfinished") != 0)
    for (;;) /* until mpirun ends it */
      pause();
  if (strcmp(how, "unfinished") == 0)
    exit(0);
  MPI_Finalize();
  return 0;
}
