#include "hpcrun-lite/launch/program/installation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#ifndef LIBRARY_FROM_LAUNCHER
#error "LIBRARY_FROM_LAUNCHER: path of the library's directory relative to the launcher's"
#endif

const char *installation_launcher(void)
{
  static char path[PATH_MAX];
  if (!*path && !realpath((const char *)getauxval(AT_EXECFN), path))
    *path = '\0';
  return path;
}

void installation_program(const char *name, char path[INSTALLATION_PATH])
{
  const char *self = installation_launcher(), *slash = strrchr(self, '/');
  snprintf(path, INSTALLATION_PATH, "%.*s/%s", slash ? (int)(slash - self) : 0, self, name);
}

void installation_library(const char *name, char path[INSTALLATION_PATH])
{
  char below[PATH_MAX];
  snprintf(below, sizeof below, "%s/%s", LIBRARY_FROM_LAUNCHER, name);
  installation_program(below, path);
}
