/* Loads a library that uses MPI, privately, calls MPI by its functions, and unloads it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
  int (*first)(void) = library ? (int (*)(void))dlsym(library, "first") : 0;
  int (*last)(void) = library ? (int (*)(void))dlsym(library, "last") : 0;
  if (!first || !last)
    return 1;
  printf("results %d", first());
  printf(" %d\n", last());
  dlclose(library);
  printf("closed\ncalls Init 1\ncalls Finalize 1\n");
  return 0;
}
