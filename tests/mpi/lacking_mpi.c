/* Looks up a function of MPI by its name, and calls it twice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  int (*function)(int, void *, void *) = argc > 1 ? (int (*)(int, void *, void *))dlsym(RTLD_DEFAULT, argv[1]) : 0;
  for (int i = 0; i < 2; i++)
    printf("%s\n", !function ? "not there" : function(0, NULL, NULL) ? "failed" : "succeeded");
  return 0;
}
