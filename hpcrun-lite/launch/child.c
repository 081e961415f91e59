#include "hpcrun-lite/launch/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool begins_with_any(const char *text, const char *const *starts, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (strncmp(text, starts[i], strlen(starts[i])) == 0)
      return true;
  return false;
}

char **child_environment(const char *const *without, size_t without_count, size_t room, size_t *count)
{
  size_t all = 0;
  while (environ[all])
    all++;
  char **list = calloc(all + room + 1, sizeof *list);
  *count = 0;
  for (size_t i = 0; i < all && list; i++)
    if (!begins_with_any(environ[i], without, without_count))
      list[(*count)++] = environ[i];
  return list;
}

pid_t child_start(char **arguments, char **environment, int *output)
{
  posix_spawn_file_actions_t actions;
  int ends[2];
  pid_t pid = -1;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return -1;
  if (posix_spawn_file_actions_init(&actions) == 0) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, arguments[0], &actions, NULL, arguments, environment) != 0)
      pid = -1;
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  if (pid < 0)
    close(ends[0]);
  *output = ends[0];
  return pid;
}
