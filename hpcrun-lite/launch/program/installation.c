#include "hpcrun-lite/launch/program/installation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#ifndef LIBRARY_FROM_LAUNCHER
#error "LIBRARY_FROM_LAUNCHER: path of the library's directory relative to the launcher's"
#endif

void installation_launcher(char path[PATH_MAX])
{
  if (!realpath((const char *)getauxval(AT_EXECFN), path))
    path[0] = '\0';
}

void installation_program(const char *name, char path[INSTALLATION_PATH])
{
  char self[PATH_MAX];
  installation_launcher(self);
  char *slash = strrchr(self, '/');
  if (slash)
    *slash = '\0';
  snprintf(path, INSTALLATION_PATH, "%s/%s", self, name);
}

void installation_library(const char *name, char path[INSTALLATION_PATH])
{
  char below[PATH_MAX];
  snprintf(below, sizeof below, "%s/%s", LIBRARY_FROM_LAUNCHER, name);
  installation_program(below, path);
}
