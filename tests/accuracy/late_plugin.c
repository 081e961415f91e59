/* A program without OpenMP that loads plugins with it: late_plugin LOCAL ROUNDS PLUGIN...  The first LOCAL plugins keep
 * their symbols to themselves.  With -DPLUGIN it is the plugin: its first thread works twice as long as the others.
 * Each plugin sets a number of threads of its own, which tells whether its calls reach the runtime that the loader has
 * chosen. */
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

/* Returns the number of threads, and adds how long they waited for the last one. */
int plugin_region(double seconds, double *idle)
{
  int count = 0;
  double arrived = 0;
#pragma omp parallel
  {
    plugin_work(omp_get_thread_num() ? seconds : 2 * seconds);
#pragma omp critical
    {
      count++;
      arrived += wall_clock();
    }
  }
  *idle += count * wall_clock() - arrived;
  return count;
}

#else

enum { MOST = 4 };

typedef int region_function(double, double *);

NOINLINE static int call_plugin(region_function *region, double *idle)
{
  return region(0.02, idle) + 1; /* not a tail call */
}

int main(int argc, char **argv)
{
  region_function *regions[MOST];
  double idle = 0;
  int count = argc - 3;
  if (count < 1 || count > MOST)
    return 2;
  for (int i = 0; i < count; i++) {
    void *plugin = dlopen(argv[i + 3], RTLD_NOW | (i >= atoi(argv[1]) ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!plugin) {
      puts(dlerror());
      return 1;
    }
    regions[i] = (region_function *)dlsym(plugin, "plugin_region");
    ((void (*)(int))dlsym(plugin, "plugin_threads"))(i + 2);
  }
  for (int round = 0; round < atoi(argv[2]); round++)
    for (int i = 0; i < count; i++)
      printf("%d%c", call_plugin(regions[i], &idle) - 1, i + 1 < count ? ' ' : '\n');
  fflush(stdout);
  fprintf(stderr, "idle %.6f\n", idle);
  return 0;
}

#endif
