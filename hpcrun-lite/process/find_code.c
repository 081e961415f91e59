#define _GNU_SOURCE
#include "hpcrun-lite/process/find_code.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/filter_text.h"
#include "common/hash.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/message.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/core/sys.h"

/* ---- what is to find ---- */

/* Whether the filter names functions or lines, which the launcher has not looked for in this executable. */
static bool is_needed(const char *text, const char *executable)
{
  struct filter_line line;
  struct filter_item item;
  bool names = false;
  while (filter_text_next(&text, &line)) {
    names |= line.key == FILTER_KEY_FUNCTIONS;
    if (line.key == FILTER_KEY_CONSTRUCTS)
      while (filter_list_item(&line.value, &item))
        names |= filter_text_kind(item.part) < 0;
    if (line.key == FILTER_KEY_CODE_OF && strlen(executable) == line.value.length &&
        !memcmp(executable, line.value.text, line.value.length))
      return false;
  }
  return names;
}

/* Copies what the user has set.  Returns the length. */
static size_t copy_settings(const char *text, char *to, size_t size)
{
  struct filter_line line;
  size_t at = 0;
  while (filter_text_next(&text, &line))
    if (filter_key_is_users(line.key) && at < size)
      at += (size_t)snprintf(to + at, size - at, "%.*s\n", (int)line.whole.length, line.whole.text);
  return at;
}

/* The file of this version of the executable and this filter. */
static void name_file(const char *executable, const char *settings, char *path, size_t size)
{
  struct stat status = {0};
  stat(executable, &status);
  uint64_t hash = hash_bytes(HASH_START, executable, strlen(executable) + 1);
  hash = hash_bytes(hash, &status.st_mtim, sizeof status.st_mtim);
  hash = hash_bytes(hash, settings, strlen(settings));
  snprintf(path, size, FILTER_CODE_FILE, config.directory, hash);
}

/* ---- the helper ---- */

struct helper {
  const char *executable, *path;
  char **environment;
  sigset_t mask;
  int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
               char *const[]);
  pid_t (*wait)(pid_t, int *, int);
};

/* The process between: starts the helper and waits for it. */
static int run_helper(void *argument)
{
  struct helper *helper = argument;
  char *arguments[] = {(char *)config.launcher, (char *)"--find-code", (char *)helper->executable, (char *)helper->path,
                       NULL};
  posix_spawnattr_t attributes;
  pid_t pid;
  int status;
  if (posix_spawnattr_init(&attributes))
    return 1;
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &helper->mask);
  if (!helper->spawn(&pid, config.launcher, NULL, &attributes, arguments, helper->environment))
    helper->wait(pid, &status, 0);
  return 0;
}

/* The environment without what is preloaded, and with the filter.  NULL: not enough memory. */
static char **helper_environment(const char *setting)
{
  static const char preload[] = "LD_PRELOAD=", filter[] = "HPCRUN_LITE_FILTER=";
  size_t count = 0, kept = 0;
  while (environ[count])
    count++;
  char **environment = sys_map((count + 2) * sizeof *environment);
  for (size_t i = 0; environment && i < count; i++)
    if (strncmp(environ[i], preload, sizeof preload - 1) && strncmp(environ[i], filter, sizeof filter - 1))
      environment[kept++] = environ[i];
  if (environment)
    environment[kept] = (char *)setting;
  return environment;
}

/* Starts the helper and waits until it has ended. */
static void start_helper(const char *executable, const char *path, const char *setting)
{
  enum { STACK_BYTES = 256 << 10 };
  struct helper helper = {.executable = executable, .path = path, .environment = helper_environment(setting)};
  char *stack = sys_map(STACK_BYTES);
  sigset_t all;
  *(void **)&helper.spawn = libc_real(LIBC_posix_spawn);
  *(void **)&helper.wait = libc_real(LIBC_waitpid);
  if (!helper.environment || !stack)
    return;
  sigfillset(&all);
  libc_sigmask(SIG_SETMASK, &all, &helper.mask);
  pid_t pid = clone(run_helper, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, &helper); /* no signal at its end */
  if (pid > 0)
    helper.wait(pid, NULL, __WALL);
  libc_sigmask(SIG_SETMASK, &helper.mask, NULL);
  sys_unmap(stack, STACK_BYTES);
}

const char *find_code(const char *text)
{
  static const char variable[] = "HPCRUN_LITE_FILTER=";
  enum { NAME = sizeof variable - 1 };
  char executable[PATH_MAX], path[PATH_MAX + 64];
  if (!process_find_executable(executable, sizeof executable) ||
      !is_needed(text, executable)) /* without /proc, only what the launcher has found is known */
    return text;
  size_t size = NAME + strlen(text) + sizeof path + 32;
  char *copy = sys_map(size), *settings = copy + NAME;
  if (!copy)
    return text;
  memcpy(copy, variable, NAME);
  size_t at = copy_settings(text, settings, size - NAME);
  name_file(executable, settings, path, sizeof path);
  if (*config.launcher && access(path, R_OK))
    start_helper(executable, path, copy);
  if (access(path, R_OK))
    message_print("filter: functions and lines of %.300s could not be looked for (the helper %.300s did not run)",
                  executable, *config.launcher ? config.launcher : "hpcrun-lite");
  else
    snprintf(settings + at, size - NAME - at, "code-file %s\n", path);
  return settings;
}
