/* A library whose functions end in a jump to MPI: the calls of MPI return to what calls this library. */
#include <mpi.h>
#include <stdio.h>

int first(void);
int first(void)
{
  return MPI_Init(NULL, NULL);
}

int last(void);
int last(void)
{
  return MPI_Finalize();
}

__attribute__((destructor)) static void unloaded(void)
{
  printf("unloaded\n");
}
