#include "hpcrun-lite/launch/program/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
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

void child_describe_end(int status, char *how, size_t size)
{
  assert(size);
  if (WIFSIGNALED(status))
    snprintf(how, size, "was ended by signal %d", WTERMSIG(status));
  else
    snprintf(how, size, "ended with status %d", WEXITSTATUS(status));
}

/* ---- a child that the launcher waits for ---- */

/* What the caller of the launcher had set, which children get back. */
static struct {
  bool saved;
  sigset_t mask;
  struct sigaction on_child;
} before;

static int ending; /* see child_ending_signal() */

/* A process of the launcher's group that blocks all signals: those that are pending in it were sent to the whole group,
 * so that the program has got them, too.  -1: none. */
static pid_t listener = -1;

static void start_listener(void)
{
  pid_t launcher = getpid();
  listener = fork();
  if (listener)
    return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(0, ~0U, 0);
  while (getppid() == launcher)
    pause();
  _exit(0);
}

static void end_listener(void)
{
  if (listener <= 0)
    return;
  kill(listener, SIGKILL);
  while (waitpid(listener, NULL, 0) < 0 && errno == EINTR)
    ;
  listener = -1;
}

/* The signals that are pending in the listener, from bit 0 on. */
static unsigned long long pending_signals(void)
{
  char path[64], line[256];
  unsigned long long pending = 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)listener);
  FILE *status = listener > 0 ? fopen(path, "re") : NULL;
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, "ShdPnd:", 7))
      pending = strtoull(line + 7, NULL, 16);
  if (status)
    fclose(status);
  return pending;
}

/* Whether a signal that has come was sent to the whole group, before or at the same time as to the launcher alone, as
 * timeout(1) does.  Then no more of it is pending in the launcher. */
static bool sent_to_group(int number)
{
  static const struct timespec same_time = {.tv_nsec = 2000000}, none = {0};
  sigset_t one;
  nanosleep(&same_time, NULL);
  if (!(pending_signals() >> (number - 1) & 1))
    return false;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigtimedwait(&one, NULL, &none);
  end_listener();
  start_listener();
  return true;
}

static bool ends(int number)
{
  return number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM;
}

/* What the kernel sends because of the terminal goes to the whole foreground group. */
static void pass_on(pid_t child, const siginfo_t *info)
{
  if (ends(info->si_signo))
    ending = info->si_signo;
  if (!sent_to_group(info->si_signo) && info->si_code <= 0)
    kill(child, info->si_signo);
}

/* Faults are the launcher's own; SIGWINCH and SIGURG have no effect on it. */
static void passed_signals(sigset_t *set)
{
  static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGWINCH, SIGURG};
  sigfillset(set);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    sigdelset(set, own[i]);
}

/* Stops the launcher as the child has stopped, so that a shell takes both for one job.  As SIGTSTP does: not where no
 * shell could continue it. */
static void stop_alike(void)
{
  struct sigaction standard = {.sa_handler = SIG_DFL}, own;
  sigset_t one, pending;
  if (sigpending(&pending) || sigismember(&pending, SIGCONT))
    return;
  sigemptyset(&one);
  sigaddset(&one, SIGTSTP);
  sigaction(SIGTSTP, &standard, &own);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  sigprocmask(SIG_BLOCK, &one, NULL);
  sigaction(SIGTSTP, &own, NULL);
  sent_to_group(SIGTSTP);
}

/* Whether the child has ended.  If it has stopped, the launcher stops likewise. */
static bool has_ended(pid_t child)
{
  for (;;) {
    siginfo_t state = {0};
    if (waitid(P_PID, (id_t)child, &state, WEXITED | WSTOPPED | WNOHANG | WNOWAIT))
      return errno != EINTR;
    if (!state.si_pid)
      return false;
    if (state.si_code != CLD_STOPPED)
      return true;
    waitid(P_PID, (id_t)child, &state, WSTOPPED | WNOHANG);
    stop_alike();
  }
}

int child_ending_signal(void)
{
  static const struct timespec none = {0};
  sigset_t set;
  int number;
  sigemptyset(&set);
  for (number = 1; number <= SIGTERM; number++)
    if (ends(number))
      sigaddset(&set, number);
  while ((number = sigtimedwait(&set, NULL, &none)) > 0) /* what has come since the last child ended */
    ending = number;
  return ending;
}

/* listens: the child stays in the launcher's group. */
static int fork_child(struct child *child, bool listens)
{
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigset_t passed;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return -1;
  passed_signals(&passed);
  if (!before.saved) {
    sigprocmask(SIG_BLOCK, &passed, &before.mask);
    sigaction(SIGCHLD, &standard, &before.on_child); /* ignored, it would discard the status of children */
    before.saved = true;
  }
  if (listens)
    start_listener();
  child->pid = fork();
  if (child->pid >= 0 && !listens)
    setpgid(child->pid, child->pid); /* by both, so that the group is there for either */
  if (child->pid == 0) {
    sigaction(SIGCHLD, &before.on_child, NULL);
    sigprocmask(SIG_SETMASK, &before.mask, NULL);
  }
  close(ends[child->pid ? 1 : 0]);
  child->failure = ends[child->pid ? 0 : 1];
  if (child->pid < 0) {
    close(child->failure);
    end_listener();
  }
  return child->pid < 0 ? -1 : child->pid > 0;
}

int child_fork(struct child *child)
{
  return fork_child(child, true);
}

int child_fork_group(struct child *child)
{
  return fork_child(child, false);
}

void child_fail(const struct child *child, int status)
{
  char byte = 0;
  while (write(child->failure, &byte, 1) < 0 && errno == EINTR)
    ;
  _exit(status);
}

/* Returns whether the child has executed a program, after its end. */
static bool take_executed(const struct child *child)
{
  char byte;
  ssize_t length;
  while ((length = read(child->failure, &byte, 1)) < 0 && errno == EINTR)
    ;
  close(child->failure);
  return length == 0;
}

int child_wait(const struct child *child, bool *executed)
{
  siginfo_t info;
  sigset_t passed;
  int status = 0;
  passed_signals(&passed);
  while (!has_ended(child->pid))
    if (sigwaitinfo(&passed, &info) > 0 && info.si_signo != SIGCHLD)
      pass_on(child->pid, &info);
  end_listener();
  while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
    ;
  *executed = take_executed(child);
  return status;
}

/* ---- a child with a group ---- */

int child_open_signals(void)
{
  sigset_t passed;
  passed_signals(&passed);
  return signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK);
}

static uint64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void stop_group(const struct child *child, uint64_t *stopped_ns)
{
  uint64_t from_ns = now_ns();
  kill(-child->pid, SIGSTOP);
  stop_alike();
  kill(-child->pid, SIGCONT);
  *stopped_ns += now_ns() - from_ns;
}

bool child_group_signals(const struct child *child, int signals, uint64_t *stopped_ns)
{
  struct signalfd_siginfo info;
  while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
    int number = (int)info.ssi_signo;
    if (ends(number))
      ending = number;
    if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
      stop_group(child, stopped_ns);
    else if (number != SIGCHLD && number != SIGCONT)
      kill(-child->pid, number);
  }
  return ending;
}

bool child_group_ended(const struct child *child, int *status, bool *executed, uint64_t *cpu_ns)
{
  struct rusage usage;
  pid_t ended = wait4(child->pid, status, WNOHANG, &usage);
  if (ended != child->pid)
    return false;
  *executed = take_executed(child);
  *cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000U +
            (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000U;
  return true;
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
