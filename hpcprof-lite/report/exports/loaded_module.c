#include "hpcprof-lite/report/exports/loaded_module.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const void *loaded_module_open(const struct loaded_module *module, char *message, size_t size)
{
  assert(message && size);
  char path[2 * PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
  if (slash && strlen(module->path) < PATH_MAX)
    strcpy(slash + 1, module->path);
  if (!slash || access(path, F_OK) != 0) {
    snprintf(message, size, "this build has no %s (install %s, then meson setup -D%s=enabled)", module->name,
             module->package, module->option);
    return NULL;
  }
  void *loaded = dlopen(path, RTLD_NOW);
  const void *table = loaded ? dlsym(loaded, module->symbol) : NULL;
  if (!table)
    snprintf(message, size, "the %s library cannot be loaded: %s", module->name, dlerror());
  return table;
}
