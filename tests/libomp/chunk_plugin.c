/* A loop in a library that is loaded late: PROGRAM HOW PLUGIN... */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "hpcrun-lite.h"

#ifdef PLUGIN
void run(void)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
  for (int i = 0; i < 10; i++)
    hpcrun_lite_add_work(4);
}
#else
int main(int argc, char **argv)
{
  for (int i = 2; i < argc; i++) {
    void *plugin = dlopen(argv[i], RTLD_NOW | (strcmp(argv[1], "deepbind") ? RTLD_LOCAL : RTLD_DEEPBIND));
    void (*run)(void);
    *(void **)&run = plugin ? dlsym(plugin, "run") : NULL;
    if (!run)
      return 1;
    run();
  }
  puts("done");
  return 0;
}
#endif
