#include "hpcrun-lite/launch/viewer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/escape.h"

enum { FOLLOW_MS = 100 }; /* how often new output is shown after the view has ended, and that end is looked for */

/* The stream on which the view is shown: standard output or, if that is not a terminal, standard error. */
static int find_terminal(void)
{
  if (isatty(STDOUT_FILENO))
    return STDOUT_FILENO;
  return isatty(STDERR_FILENO) ? STDERR_FILENO : -1;
}

const char *viewer_refusal(void)
{
  const char *term = getenv("TERM");
  if (find_terminal() < 0)
    return "option --live needs a terminal, but neither standard output nor standard error is one: run hpcprof-lite "
           "--live DIR on a terminal instead";
  if (!term || !*term || !strcmp(term, "dumb"))
    return "option --live needs a terminal that can move its cursor (TERM is 'dumb' or not set): leave it out";
  return NULL;
}

/* ---- the keeper ---- */

/* Becomes the view. */
static void run_view(const struct viewer *viewer, const char *reporter, const char *directory)
{
  const char *const arguments[] = {reporter, "--live", "--view=summary", "--", directory, NULL};
  const int streams[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  const char *name = ttyname(viewer->terminal);
  int fd = name ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
  if (fd < 0) /* terminals of another user: the descriptor may serve for reading, too */
    fd = viewer->terminal;
  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
    dup2(fd, streams[i]);
  execv(reporter, (char *const *)arguments);
  char shown[PATH_MAX];
  int error = errno;
  escape_text(reporter, shown, sizeof shown);
  fprintf(stderr, "hpcrun-lite: cannot run '%s' for --live: %s\n", shown, strerror(error));
  _exit(127);
}

/* Waits for the end of the view; ends it if the launcher writes anything.  Returns whether COMMAND still runs. */
static bool wait_for_view(pid_t view, int command_runs)
{
  assert(view > 0);
  struct pollfd ends[] = {{.fd = (int)syscall(SYS_pidfd_open, view, 0), .events = POLLIN},
                          {.fd = command_runs, .events = POLLIN}};
  int timeout_ms = ends[0].fd < 0 ? FOLLOW_MS : -1; /* a sandbox or an old kernel may lack the call */
  pid_t ended;
  bool runs = true;
  while ((ended = waitpid(view, NULL, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    char byte;
    if (poll(ends, 2, timeout_ms) <= 0 || !ends[1].revents)
      continue;
    if (read(command_runs, &byte, 1) == 1) {
      kill(view, SIGTERM);
      continue;
    }
    runs = false;
    ends[1].fd = -1;
  }
  if (ends[0].fd >= 0)
    close(ends[0].fd);
  return runs;
}

/* Shows what has been added to the file.  Returns false if it cannot be shown. */
static bool copy_output(int file, int terminal, off_t *at)
{
  assert(*at >= 0);
  char block[1 << 16];
  for (;;) {
    ssize_t length = pread(file, block, sizeof block, *at);
    if (length < 0 && errno == EINTR)
      continue;
    if (length <= 0)
      return length == 0;
    for (ssize_t done = 0; done < length;) {
      ssize_t written = write(terminal, block + done, (size_t)(length - done));
      if (written < 0 && errno == EAGAIN) /* another program has made the terminal non-blocking */
        poll(&(struct pollfd){.fd = terminal, .events = POLLOUT}, 1, -1);
      else if (written < 0 && errno != EINTR)
        return false;
      done += written > 0 ? written : 0;
    }
    *at += length;
  }
}

static void keep(const struct viewer *viewer, const char *reporter, const char *directory, int command_runs)
{
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  off_t at = 0;
  pid_t view = fork();
  if (view == 0)
    run_view(viewer, reporter, directory);
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
    signal(ignored[i], SIG_IGN);
  struct pollfd end = {.fd = command_runs, .events = POLLIN};
  bool runs = view < 0 || wait_for_view(view, command_runs);
  while (runs) {
    char byte;
    copy_output(viewer->file, viewer->terminal, &at);
    if (poll(&end, 1, FOLLOW_MS) > 0 && read(command_runs, &byte, 1) == 0)
      runs = false;
  }
  _exit(copy_output(viewer->file, viewer->terminal, &at) ? 0 : 1);
}

/* ---- the launcher ---- */

bool viewer_start(struct viewer *viewer, const char *reporter, const char *directory, char *message, size_t size)
{
  int ends[2];
  *viewer = (struct viewer){.terminal = find_terminal()};
  snprintf(viewer->path, sizeof viewer->path, "%s.output", directory);
  viewer->file = open(viewer->path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (viewer->file < 0) {
    snprintf(message, size, "cannot create '%.600s', for what the program prints while --live has the terminal: %s",
             viewer->path, errno == EEXIST ? "it exists; remove it" : strerror(errno));
    return false;
  }
  bool piped = pipe2(ends, O_CLOEXEC) == 0;
  viewer->keeper = piped ? fork() : -1;
  if (viewer->keeper == 0) {
    close(ends[1]);
    keep(viewer, reporter, directory, ends[0]);
  }
  if (viewer->keeper > 0) {
    close(ends[0]);
    viewer->command_runs = ends[1];
    return true;
  }
  snprintf(message, size, "cannot start a process for --live: %s", strerror(errno));
  unlink(viewer->path);
  return false;
}

void viewer_redirect(const struct viewer *viewer)
{
  assert(viewer->file >= 0);
  int empty = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
  if (empty >= 0)
    dup2(empty, STDIN_FILENO);
  if (isatty(STDOUT_FILENO))
    dup2(viewer->file, STDOUT_FILENO);
  if (isatty(STDERR_FILENO))
    dup2(viewer->file, STDERR_FILENO);
}

void viewer_finish(struct viewer *viewer, bool end)
{
  assert(viewer->keeper > 0 && viewer->file >= 0);
  int status = 0;
  void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* the keeper may have been killed */
  while (end && write(viewer->command_runs, "", 1) < 0 && errno == EINTR)
    ;
  signal(SIGPIPE, before);
  close(viewer->command_runs);
  while (waitpid(viewer->keeper, &status, 0) < 0 && errno == EINTR)
    ;
  close(viewer->file);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    unlink(viewer->path);
}
