#include "hpcrun-lite/launch/program/code_symbols.h"

#include <dlfcn.h>
#include <stdio.h>

#include "hpcrun-lite/launch/program/installation.h"

const struct code_symbols *code_symbols_load(char *message, size_t message_size)
{
  static const struct code_symbols *loaded;
  char path[INSTALLATION_PATH];
  if (loaded)
    return loaded;
  installation_library("hpcrun-lite-symbols.so", path);
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  loaded = module ? dlsym(module, "code_symbols") : NULL;
  if (!loaded)
    snprintf(message, message_size, "filter: incomplete installation: %.700s; install it again", dlerror());
  return loaded;
}
