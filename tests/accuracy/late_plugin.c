/* A program without OpenMP that loads plugins with it: late_plugin HOW ROUNDS PLUGIN...  With -DPLUGIN it is the
 * plugin: its first thread works twice as long as the others.  Each plugin sets a number of threads of its own, which
 * tells whether its calls reach the runtime that it is linked to. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burn.h"

#ifdef PLUGIN

#include <omp.h>

void plugin_threads(int number)
{
  omp_set_num_threads(number);
}

NOINLINE double plugin_work(double seconds)
{
  return burn(seconds) + 1;
}

int plugin_region(double seconds)
{
  int count = 0;
#pragma omp parallel
  {
    plugin_work(omp_get_thread_num() ? seconds : 2 * seconds);
#pragma omp critical
    count++;
  }
  return count;
}

#else

enum { MOST = 4 };

NOINLINE static int call_plugin(int (*region)(double))
{
  return region(0.02) + 1; /* not a tail call */
}

int main(int argc, char **argv)
{
  int (*regions[MOST])(double);
  int count = argc - 3;
  if (count < 1 || count > MOST)
    return 2;
  for (int i = 0; i < count; i++) {
    void *plugin = dlopen(argv[i + 3], RTLD_NOW | (strcmp(argv[1], "global") ? RTLD_LOCAL : RTLD_GLOBAL));
    if (!plugin) {
      puts(dlerror());
      return 1;
    }
    regions[i] = (int (*)(double))dlsym(plugin, "plugin_region");
    ((void (*)(int))dlsym(plugin, "plugin_threads"))(i + 2);
  }
  for (int round = 0; round < atoi(argv[2]); round++)
    for (int i = 0; i < count; i++)
      printf("%d%c", call_plugin(regions[i]) - 1, i + 1 < count ? ' ' : '\n');
  return 0;
}

#endif
