#define _GNU_SOURCE
#include "hpcprof-lite/all_views/view_child.h"

#include "common/order.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void view_child_start(struct view_child *child, int (*run)(void *context, FILE *output), void *context)
{
  assert(run);
  int ends[2];
  *child = (struct view_child){.messages = memfd_create("messages", MFD_CLOEXEC), .pid = -1, .output = -1};
  bool piped = child->messages >= 0 && !pipe2(ends, O_CLOEXEC);
  if (piped)
    child->pid = fork();
  if (child->pid < 0)
    snprintf(child->reason, sizeof child->reason, "no process could be started for it: %s", strerror(errno));
  if (!piped)
    return;
  child->output = ends[0];
  if (child->pid) {
    close(ends[1]);
    return;
  }
  close(ends[0]);
  FILE *output = NULL;
  int status = EXIT_INPUT;
  if (dup2(child->messages, STDERR_FILENO) >= 0)
    output = fdopen(ends[1], "w");
  if (output)
    status = run(context, output);
  if (!status && fflush(output))
    status = EXIT_INPUT;
  _exit(status);
}

void view_child_print_once(struct problems *printed, const char *line)
{
  for (uint32_t i = 0; i < MIN(printed->count, PROBLEMS_MAX); i++)
    if (!strcmp(printed->lines[i], line))
      return;
  problems_add(printed, "%s", line);
  fprintf(stderr, "%s\n", line);
}

/* Keeps the last message as the reason, and prints them all unless `silent`. */
static void read_messages(struct view_child *child, bool silent, struct problems *printed)
{
  static const char prefix[] = "hpcprof-lite: ";
  FILE *stream = fdopen(child->messages, "r");
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  if (!stream)
    return;
  rewind(stream);
  while ((length = getline(&line, &room, stream)) > 0) {
    line[length - (line[length - 1] == '\n')] = '\0';
    bool prefixed = !strncmp(line, prefix, sizeof prefix - 1);
    snprintf(child->reason, sizeof child->reason, "%s", line + (prefixed ? sizeof prefix - 1 : 0));
    if (!silent)
      view_child_print_once(printed, line);
  }
  free(line);
  fclose(stream);
}

void view_child_finish(struct view_child *child, bool complete, bool optional, struct problems *printed)
{
  int status = 0;
  if (child->output >= 0)
    close(child->output);
  while (child->pid > 0 && waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
    ;
  child->failed = child->pid < 0 || !complete || !WIFEXITED(status) || WEXITSTATUS(status);
  read_messages(child, child->failed && optional && !WIFSIGNALED(status), printed);
  if (!child->failed || *child->reason)
    return;
  if (WIFSIGNALED(status))
    snprintf(child->reason, sizeof child->reason, "the process that computed it was ended by signal %d",
             WTERMSIG(status));
  else
    snprintf(child->reason, sizeof child->reason, "the process that computed it ended without a reason");
}
