/* A program that loads plugins which use OpenMP, and unloads them: awkward_plugins HOW COUNT PLUGIN... $RUNTIME is
 * loaded before and stays loaded, because libgomp cannot be unloaded.  With -DPLUGIN it is the plugin. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leaf_work.h"

#ifdef PLUGIN

int plugin_region(double seconds)
{
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    sum += leaf_work(seconds) > 0;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 20; i++)
      sum++;
#pragma omp single
#pragma omp task
    leaf_work(seconds);
  }
  return sum;
}

#else

static void *load(const char *how, const char *path)
{
  if (!strcmp(how, "deepbind"))
    return dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  if (!strcmp(how, "namespace"))
    return dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
  return dlopen(path, strcmp(how, "global") ? RTLD_NOW : RTLD_NOW | RTLD_GLOBAL);
}

int main(int argc, char **argv)
{
  int sum = 0, closed = 0;
  if (getenv("RUNTIME") && !dlopen(getenv("RUNTIME"), RTLD_NOW))
    return 3;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; argc > 3 && i < atoi(argv[2]); i++) {
    void *plugin = load(argv[1], argv[3 + i % (argc - 3)]);
    if (!plugin) {
      puts(dlerror());
      return 1;
    }
    int (*region)(double) = (int (*)(double))dlsym(plugin, "plugin_region");
    sum += region(0.005);
    if (strcmp(argv[1], "kept") && strcmp(argv[1], "namespace"))
      closed += dlclose(plugin) == 0;
  }
  printf("sum %d, closed %d\n", sum, closed);
  return 0;
}

#endif
