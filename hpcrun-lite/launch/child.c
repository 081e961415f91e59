#include "hpcrun-lite/launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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

/* ---- a child that the launcher waits for ---- */

enum { SIGNALS = 65 }; /* on Linux; SIGRTMAX is a call */

static volatile sig_atomic_t receiver; /* process id, 0: none */
static volatile sig_atomic_t ending;   /* see child_ending_signal() */
static struct sigaction before_first[SIGNALS];
static bool changed; /* the launcher has changed its handlers */

/* What the kernel sends because of the terminal goes to the whole foreground group. */
static void pass_on(int number, siginfo_t *info, void *context)
{
  (void)context;
  int error = errno;
  if (number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM)
    ending = number;
  if (info->si_code <= 0 && receiver)
    kill(receiver, number);
  errno = error;
}

/* Whether a signal is meant for the program: faults and the end of children are the launcher's own, and job control
 * stops each process by itself. */
static bool is_passed_on(int number)
{
  static const int own[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,  SIGTRAP,
                            SIGSYS,  SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGURG};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (number == own[i])
      return false;
  return true;
}

static void pass_signals_on(void)
{
  struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
  struct sigaction standard = {.sa_handler = SIG_DFL};
  if (changed)
    return;
  changed = true;
  sigfillset(&action.sa_mask);
  sigaction(SIGCHLD, &standard, &before_first[SIGCHLD]); /* ignored, it would discard the status of children */
  for (int number = 1; number < SIGNALS; number++)
    if (is_passed_on(number))
      sigaction(number, &action, &before_first[number]); /* fails for those of libc */
}

/* In a later child: all signals as they were in the first one. */
static void restore_signals(void)
{
  for (int number = 1; number < SIGNALS && changed; number++)
    if (is_passed_on(number) || number == SIGCHLD)
      sigaction(number, &before_first[number], NULL);
}

int child_ending_signal(void)
{
  return ending;
}

int child_fork(struct child *child)
{
  sigset_t all, before;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return -1;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  child->pid = fork();
  if (child->pid > 0) {
    receiver = child->pid;
    pass_signals_on();
  } else if (child->pid == 0) {
    receiver = 0;
    restore_signals();
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  close(ends[child->pid ? 1 : 0]);
  child->failure = ends[child->pid ? 0 : 1];
  if (child->pid < 0)
    close(child->failure);
  return child->pid < 0 ? -1 : child->pid > 0;
}

void child_fail(const struct child *child, int status)
{
  char byte = 0;
  while (write(child->failure, &byte, 1) < 0 && errno == EINTR)
    ;
  _exit(status);
}

int child_wait(const struct child *child, bool *executed)
{
  int status = 0;
  char byte;
  ssize_t length;
  while ((length = read(child->failure, &byte, 1)) < 0 && errno == EINTR)
    ;
  *executed = length == 0;
  close(child->failure);
  siginfo_t ended;
  while (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT) && errno == EINTR)
    ;
  receiver = 0; /* while its process id is still taken */
  while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
    ;
  return status;
}

int child_end_alike(int status)
{
  if (!WIFSIGNALED(status))
    return WEXITSTATUS(status);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, WTERMSIG(status));
  prctl(PR_SET_DUMPABLE, 0);
  signal(WTERMSIG(status), SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status); /* the signal's default action has not ended the launcher */
}
