/* Asks whether there is MPI: by weak references, and by looking a name up. */
#include <dlfcn.h>
#include <stdio.h>

extern int MPI_Initialized(int *flag) __attribute__((weak));
extern int PMPI_Barrier(int comm) __attribute__((weak));

int main(void)
{
  printf("MPI is %s\n", MPI_Initialized || PMPI_Barrier || dlsym(RTLD_DEFAULT, "MPI_Send") ? "there" : "not there");
  return 0;
}
