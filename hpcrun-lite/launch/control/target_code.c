#define _GNU_SOURCE
#include "hpcrun-lite/launch/control/target_code.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hpcrun-lite/launch/program/code_filter.h"
#include "hpcrun-lite/launch/control/targets.h"

/* The path of the executable.  Returns false if it cannot be known. */
static bool find_executable(pid_t pid, char *path, size_t size)
{
  char link[64];
  snprintf(link, sizeof link, "/proc/%ld/exe", (long)pid);
  ssize_t length = readlink(link, path, size - 1);
  path[length > 0 ? length : 0] = '\0';
  return path[0] == '/';
}

/* Adds a path once. */
static void add(struct program *program, const char *path)
{
  for (size_t i = 0; i < program->module_count; i++)
    if (!strcmp(program->modules[i], path))
      return;
  char *copy = program->module_count < PROGRAM_MODULES_MAX ? strdup(path) : NULL;
  if (copy)
    program->modules[program->module_count++] = copy;
}

/* Adds a library by the names under which the process may have loaded it: libx.so.1.2 as libx.so.1, too. */
static void add_library(struct program *program, const char *path)
{
  char name[PATH_MAX], *dot;
  struct stat mapped, named;
  if (strstr(path, "/libhpcrun-lite.so") || stat(path, &mapped) != 0)
    return;
  add(program, path);
  snprintf(name, sizeof name, "%s", path);
  while ((dot = strrchr(name, '.')) && strstr(name, ".so.") && strcmp(dot, ".so") != 0) {
    *dot = '\0';
    if (stat(name, &named) == 0 && named.st_dev == mapped.st_dev && named.st_ino == mapped.st_ino)
      add(program, name);
  }
}

/* Adds what is mapped with the right to execute it. */
static void add_mapped(struct program *program, char *maps)
{
  char *rest = NULL;
  for (char *line = strtok_r(maps, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    const char *path = strchr(line, '/'), *rights = strchr(line, ' ');
    if (path && rights && rights[3] == 'x' && strstr(path, ".so"))
      add_library(program, path);
  }
}

bool target_code_resolve(pid_t pid, const char *filter, char **text, char *message, size_t message_size)
{
  static struct program program;
  static char last_path[PATH_MAX], *last_filter, *last_text;
  char path[PATH_MAX];
  size_t size;
  bool known = find_executable(pid, path, sizeof path);
  message[0] = '\0';
  if (last_text && !strcmp(path, last_path) && !strcmp(filter, last_filter))
    return (*text = strdup(last_text)) != NULL;
  program.modules = calloc(PROGRAM_MODULES_MAX, sizeof *program.modules);
  char *maps = target_file(pid, "maps", &size);
  if (program.modules && maps) {
    snprintf(program.path, sizeof program.path, "%s", path);
    add(&program, path);
    add_mapped(&program, maps);
  }
  free(maps);
  struct code_filter code;
  bool found = code_filter_find(&program, filter, &code, message, message_size) == LAUNCH_OK &&
               (*text = code_filter_text(&code, NULL, message, message_size)) != NULL;
  code_filter_release(&code);
  if (found && !known) /* the process has just ended: nothing can be found in it, and nothing is missing */
    message[0] = '\0';
  for (size_t i = 0; i < program.module_count; i++)
    free(program.modules[i]);
  free(program.modules);
  program = (struct program){0};
  free(last_filter);
  free(last_text);
  snprintf(last_path, sizeof last_path, "%s", path);
  last_filter = strdup(filter);
  last_text = found && last_filter ? strdup(*text) : NULL;
  return found;
}
