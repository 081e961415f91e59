#include "hpcrun-lite/launch/control/control_command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpcrun-lite/launch/control/commander.h"
#include "hpcrun-lite/launch/control/level_setting.h"
#include "hpcrun-lite/launch/control/snapshot.h"
#include "hpcrun-lite/launch/control/targets.h"

enum { LINE_BYTES = 1024 };

struct control {
  struct targets targets;
  struct reply *replies;
  const char *which;  /* DIR or PID, as given */
  char *const *words; /* COMMAND and its arguments */
  char command[64];   /* for the processes */
  bool failed;
};

static void print_failure(const char *text)
{
  fprintf(stderr, "hpcrun-lite: %s\n", text);
}

/* ---- commands ---- */

/* The figure of that name in the answer. */
static double figure(const char *text, const char *name)
{
  const char *at = strstr(text, name);
  return at ? strtod(at + strlen(name), NULL) : 0;
}

static void print_status(const char *text, char *line, size_t size)
{
  bool paused = figure(text, "paused=") > 0;
  double since_s = figure(text, " since_ns=") / 1e9, elapsed_s = figure(text, " elapsed_ns=") / 1e9;
  snprintf(line, size, "%s for %.1f s of %.1f s, level %s, %.0f thread%s, %.0f samples, %.0f lost",
           paused ? "paused" : "running", since_s, elapsed_s,
           paused                          ? "off"
           : figure(text, " summary=") > 0 ? "summary"
                                           : "samples",
           figure(text, " threads="), figure(text, " threads=") == 1 ? "" : "s", figure(text, " samples="),
           figure(text, " lost="));
}

/* How a change of the mode went: whether it was one, and how many threads could not take part. */
static void print_change(const char *done, const char *text, char *line, size_t size)
{
  double missing = figure(text, "threads=");
  if (strstr(text, "filtered"))
    snprintf(line, size, "%s as soon as the filter's skip-first and only allow it", done);
  else if (!strcmp(text, "already"))
    snprintf(line, size, "%s already", done);
  else if (missing > 0)
    snprintf(line, size, "%s; threads that do not take part yet, because they block the signal: %.0f", done, missing);
  else
    snprintf(line, size, "%s", done);
}

static void print_flush(const struct reply *reply, char *line, size_t size)
{
  if (reply->state == CONTROL_PENDING)
    snprintf(line, size, "samples can be read now; work and span follow at the next parallel region");
  else if (!strcmp(reply->text, "written"))
    snprintf(line, size, "everything until now can be read");
  else
    snprintf(line, size, "everything until now can be read; work and span are not computed (%s)",
             !strcmp(reply->text, "no OpenMP") ? "no OpenMP until now" : "-p off");
}

static void print_done(const struct control *control, const struct reply *reply, char *line, size_t size)
{
  const char *command = control->command, *level = control->command + strlen("level ");
  char done[64];
  if (!strcmp(command, "status")) {
    print_status(reply->text, line, size);
  } else if (!strcmp(command, "flush")) {
    print_flush(reply, line, size);
  } else {
    snprintf(done, sizeof done, "%s%s",
             !strcmp(command, "start")  ? "running"
             : !strcmp(command, "stop") ? "paused"
                                        : "level ",
             strncmp(command, "level ", strlen("level ")) ? "" : level);
    print_change(done, reply->text, line, size);
  }
}

/* Prints what each process of this host has answered. */
static void print_replies(struct control *control)
{
  for (size_t i = 0; i < control->targets.count; i++) {
    const struct target *target = &control->targets.items[i];
    const struct reply *reply = &control->replies[i];
    char line[LINE_BYTES];
    if (!target->here)
      continue;
    if (reply->state == CONTROL_DONE || reply->state == CONTROL_PENDING) {
      print_done(control, reply, line, sizeof line);
      printf("process %ld: %s\n", (long)target->pid, line);
      continue;
    }
    snprintf(line, sizeof line, "process %ld %s%s", (long)target->pid,
             reply->state == CONTROL_REFUSED ? "refuses: " : "", reply->text);
    print_failure(line);
    control->failed = true;
  }
}

/* Prints once for each other host what is to be run there. */
static void print_others(struct control *control)
{
  const char *before = "";
  for (size_t i = 0; i < control->targets.count; i++) {
    const struct target *target = &control->targets.items[i];
    char line[PATH_MAX + LINE_BYTES];
    if (target->here || !strcmp(before, target->host))
      continue;
    snprintf(line, sizeof line, "processes on host %s hear commands only there: hpcrun-lite --control %s %s",
             target->host, control->targets.directory, control->words[0]);
    print_failure(line);
    control->failed = true;
    before = target->host;
  }
}

static bool is_snapshot(const struct control *control)
{
  return !strcmp(control->words[0], "snapshot");
}

/* Copies the directory, of which the processes have just written what they could. */
static void copy_directory(struct control *control)
{
  char name[PATH_MAX + 64], message[LINE_BYTES];
  const char *given = control->words[1];
  if (!given)
    snapshot_default_name(control->targets.directory, name, sizeof name);
  const char *copy = given ? given : name;
  if (snapshot_take(control->targets.directory, copy, message, sizeof message)) {
    printf("snapshot: %s; read it with: hpcprof-lite %s\n", copy, copy);
    return;
  }
  print_failure(message);
  control->failed = true;
}

static int run(struct control *control)
{
  control->replies = calloc(control->targets.count, sizeof *control->replies);
  if (!control->replies || !commander_send(&control->targets, control->command, control->replies)) {
    print_failure("not enough memory");
    return 1;
  }
  print_replies(control);
  print_others(control);
  if (is_snapshot(control))
    copy_directory(control);
  if (fflush(stdout) != 0)
    print_failure("cannot write to standard output");
  return control->failed || ferror(stdout);
}

/* ---- the command line ---- */

static const struct {
  const char *name;
  int least, most; /* arguments */
  const char *what;
} commands[] = {{"status", 0, 0, ""},
                {"start", 0, 0, ""},
                {"stop", 0, 0, ""},
                {"flush", 0, 0, ""},
                {"snapshot", 0, 1, " [NEWDIR]"},
                {"config", 1, 1, " FILE"}};
enum { COMMANDS = sizeof commands / sizeof *commands };

bool control_command_check(char *const *words, char *message, size_t message_size)
{
  int count = 0;
  while (words[0] && words[count + 1])
    count++;
  for (unsigned i = 0; words[0] && i < COMMANDS; i++) {
    if (strcmp(words[0], commands[i].name) != 0)
      continue;
    if (count >= commands[i].least && count <= commands[i].most && (!count || *words[1]))
      return true;
    snprintf(message, message_size, "option --control: wrong arguments; use: hpcrun-lite --control DIR|PID %s%s",
             commands[i].name, commands[i].what);
    return false;
  }
  snprintf(message, message_size,
           "option --control needs a command (status, start, stop, flush, snapshot [NEWDIR], config FILE)%s%.40s%s",
           words[0] ? "; there is no '" : "", words[0] ? words[0] : "", words[0] ? "'" : "");
  return false;
}

int control_command(const char *which, char *const *words)
{
  static struct control control;
  char message[LINE_BYTES] = "", level[32];
  control.which = which;
  control.words = words;
  if (!strcmp(words[0], "config")) {
    if (!level_setting_read(words[1], level, sizeof level, message, sizeof message)) {
      print_failure(message);
      return 1;
    }
    snprintf(control.command, sizeof control.command, "level %s", level);
  } else {
    snprintf(control.command, sizeof control.command, "%s", is_snapshot(&control) ? "flush" : words[0]);
  }
  int status = 1;
  if (targets_find(&control.targets, which, message, sizeof message))
    status = run(&control);
  else
    print_failure(message);
  free(control.replies);
  targets_release(&control.targets);
  return status;
}
