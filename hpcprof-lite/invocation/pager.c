#include "hpcprof-lite/invocation/pager.h"

#include "common/escape.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A command with one of these is given to the shell; the list is that of git's run-command.c. */
static const char shell_characters[] = "|&;<>()$`\\\"' \t\n*?[#~=%";

enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

/* Whether standard output is a terminal that somebody looks at: under mpirun, ranks have terminals without a size. */
static bool is_terminal(void)
{
  struct winsize size;
  return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col;
}

/* Returns the environment with LESS=FRX unless LESS is set: no pager for less than a screen, colours, and the report
 * stays on the screen.  The caller frees the array, not the strings. */
static char **make_environment(void)
{
  size_t count = 0;
  while (environ[count])
    count++;
  char **list = xcalloc(count + 2, sizeof *list);
  memcpy(list, environ, count * sizeof *list);
  if (!getenv("LESS"))
    list[count] = (char *)"LESS=FRX";
  return list;
}

/* Starts the command with its input from a pipe, and the signals' default actions.  Returns 0 or errno. */
static int spawn(const char *command, int input, pid_t *pid)
{
  assert(*command && input >= 0);
  char *plain[] = {(char *)command, NULL}, *shell[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
  char **arguments = strpbrk(command, shell_characters) ? shell : plain, **environment = make_environment();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGQUIT);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  int error = posix_spawnp(pid, arguments[0], &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  free(environment);
  return error;
}

static void ignore_keys(struct pager *pager)
{
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGINT, &ignore, &pager->interrupt);
  sigaction(SIGQUIT, &ignore, &pager->quit);
}

static void restore_keys(const struct pager *pager)
{
  sigaction(SIGINT, &pager->interrupt, NULL);
  sigaction(SIGQUIT, &pager->quit, NULL);
}

bool pager_start(struct pager *pager)
{
  const char *wanted = getenv("PAGER");
  int ends[2];
  *pager = (struct pager){.command = wanted ? wanted : "less"};
  if (!*pager->command || !strcmp(pager->command, "cat") || !is_terminal() || pipe2(ends, O_CLOEXEC))
    return false;
  ignore_keys(pager);
  int error = spawn(pager->command, ends[0], &pager->pid);
  close(ends[0]);
  if (!error)
    pager->stream = fdopen(ends[1], "w");
  if (pager->stream) {
    terminal_behind(ends[1], STDOUT_FILENO);
    return true;
  }
  close(ends[1]);
  if (!error)
    waitpid(pager->pid, NULL, 0);
  restore_keys(pager);
  if (wanted) {
    char shown[PATH_MAX];
    escape_text(wanted, shown, sizeof shown);
    fprintf(stderr, "hpcprof-lite: cannot run the pager '%s': %s; change PAGER, or use --no-pager\n", shown,
            strerror(error ? error : ENOMEM));
  }
  return false;
}

bool pager_finish(struct pager *pager)
{
  assert(pager->stream);
  int status = 0;
  fclose(pager->stream);
  while (waitpid(pager->pid, &status, 0) < 0 && errno == EINTR)
    ;
  restore_keys(pager);
  bool missing =
      WIFEXITED(status) && (WEXITSTATUS(status) == STATUS_NOT_EXECUTABLE || WEXITSTATUS(status) == STATUS_NOT_FOUND);
  if (missing) {
    char shown[PATH_MAX];
    escape_text(pager->command, shown, sizeof shown);
    fprintf(stderr, "hpcprof-lite: the pager '%s' could not be run: change PAGER, or use --no-pager\n", shown);
  }
  return !missing;
}

void pager_abandon(const struct pager *pager)
{
  close(fileno_unlocked(pager->stream));
  while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
    ;
}
