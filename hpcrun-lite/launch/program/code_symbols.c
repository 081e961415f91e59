#include "hpcrun-lite/launch/program/code_symbols.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

const struct code_symbols *code_symbols_load(char *message, size_t message_size)
{
  static const struct code_symbols *loaded;
  char self[PATH_MAX], path[2 * PATH_MAX];
  if (loaded)
    return loaded;
  if (!realpath((const char *)getauxval(AT_EXECFN), self))
    self[0] = '\0';
  char *slash = strrchr(self, '/');
  if (slash)
    *slash = '\0';
  snprintf(path, sizeof path, "%s/%s/hpcrun-lite-symbols.so", self, LIBRARY_FROM_LAUNCHER);
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  loaded = module ? dlsym(module, "code_symbols") : NULL;
  if (!loaded)
    snprintf(message, message_size, "filter: incomplete installation: %.700s; install it again", dlerror());
  return loaded;
}
