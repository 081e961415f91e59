/* Loads a library that uses MPI, privately, and calls it. */
#include <dlfcn.h>

int main(int argc, char **argv)
{
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
  void (*communicate)(void) = library ? (void (*)(void))dlsym(library, "communicate") : 0;
  if (!communicate)
    return 1;
  communicate();
  return 0;
}
