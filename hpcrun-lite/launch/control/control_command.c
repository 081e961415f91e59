#include "hpcrun-lite/launch/control/control_command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "hpcrun-lite/launch/control/commander.h"
#include "hpcrun-lite/launch/control/reconfigure.h"
#include "hpcrun-lite/launch/control/snapshot.h"
#include "hpcrun-lite/launch/control/targets.h"

enum { LINE_BYTES = 1024, SHOWN_BYTES = 2 * (LINE_BYTES + CONTROL_TEXT_MAX) };

struct control {
  struct targets targets;
  struct reply *replies;
  const char **commands;  /* for each process; NULL: none */
  struct change *changes; /* of config, in each process */
  char *const *words;     /* COMMAND and its arguments */
  char command[512];      /* for all processes */
  bool failed;
};

static void print_failure(const char *text)
{
  char line[SHOWN_BYTES];
  escape_text(text, line, sizeof line);
  fprintf(stderr, "hpcrun-lite: %s\n", line);
}

/* ---- commands ---- */

/* The figure of that name in the answer. */
static double figure(const char *text, const char *name)
{
  const char *at = strstr(text, name);
  return at ? strtod(at + strlen(name), NULL) : 0;
}

/* Why measuring is paused: bits of enum rt_pause_reason. */
static const char *pause_reason(unsigned by)
{
  if (by & 4)
    return " by the filter of ranks";
  if (by & 2)
    return " by skip-first or only";
  return by & 1 ? " by a command, an option or the program" : "";
}

static void print_status(const char *text, char *line, size_t size)
{
  bool paused = figure(text, "paused=") > 0;
  double since_s = figure(text, " since_ns=") / 1e9, elapsed_s = figure(text, " elapsed_ns=") / 1e9;
  double threads = figure(text, " threads=");
  const char *mode = "running", *reason = "", *level = figure(text, " summary=") > 0 ? "summary" : "samples";
  if (paused) {
    mode = "paused";
    reason = pause_reason((unsigned)figure(text, " by="));
    level = "off";
  }
  snprintf(line, size, "%s for %.1f s of %.1f s%s, level %s, %.0f thread%s, %.0f samples, %.0f lost", mode, since_s,
           elapsed_s, reason, level, threads, threads == 1 ? "" : "s", figure(text, " samples="),
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

static bool is(const struct control *control, const char *command)
{
  return !strcmp(control->words[0], command);
}

/* What a file has changed in that process. */
static void print_config(const struct change *change, const struct reply *reply, char *line, size_t size)
{
  if (!change->command[0])
    snprintf(line, size, "all that the file says is in force already");
  else if (reply->state == CONTROL_PENDING)
    snprintf(line, size,
             "%s; the filter takes effect at the next parallel region that begins while no other thread is in one",
             change->done);
  else
    print_change(change->done, reply->text, line, size);
}

static void print_done(const struct control *control, size_t i, char *line, size_t size)
{
  const struct reply *reply = &control->replies[i];
  if (is(control, "status"))
    print_status(reply->text, line, size);
  else if (is(control, "config"))
    print_config(&control->changes[i], reply, line, size);
  else if (is(control, "mark"))
    snprintf(line, size, "marked");
  else if (is(control, "start") || is(control, "stop"))
    print_change(is(control, "start") ? "running" : "paused", reply->text, line, size);
  else
    print_flush(reply, line, size);
}

/* What a command comes to in a process that sleeps. */
static void print_asleep(const struct control *control, const struct reply *reply, char *line, size_t size)
{
  const char *waiting = reply->waiting;
  size_t length = (size_t)snprintf(line, size, "asleep in a system call");
  if (is(control, "status"))
    snprintf(line + length, size - length, ", %u thread%s%s%s%s", reply->asleep, reply->asleep == 1 ? "" : "s",
             *waiting ? "; '" : "", waiting, *waiting ? "' takes effect when it wakes" : "");
  else if (reply->deferred)
    snprintf(line + length, size - length, "; the command takes effect when it wakes%s%s%s",
             *waiting ? ", in place of '" : "", waiting, *waiting ? "'" : "");
  else
    snprintf(line + length, size - length, "; what it has recorded can be read, work and span as of its last flush");
}

/* Whether a process of this host runs, or did until it had answered. */
static bool one_runs(const struct control *control)
{
  bool runs = false;
  for (size_t i = 0; i < control->targets.count; i++)
    runs |= control->targets.items[i].here && !control->replies[i].ended;
  return runs;
}

static void print_reply(struct control *control, size_t i)
{
  const struct reply *reply = &control->replies[i];
  long pid = control->targets.items[i].pid;
  char line[LINE_BYTES + CONTROL_TEXT_MAX], shown[SHOWN_BYTES];
  bool asleep = reply->asleep && (reply->deferred || is(control, "status") || !strcmp(control->command, "flush"));
  if (asleep || reply->state == CONTROL_DONE || reply->state == CONTROL_PENDING) {
    if (asleep)
      print_asleep(control, reply, line, sizeof line);
    else
      print_done(control, i, line, sizeof line);
    escape_text(line, shown, sizeof shown);
    printf("process %ld: %s\n", pid, shown);
  } else if (reply->ended && (one_runs(control) || is(control, "snapshot"))) {
    printf("process %ld: has ended\n", pid); /* its whole measurement is in its file */
  } else {
    snprintf(line, sizeof line, "process %ld %s%s", pid, reply->state == CONTROL_REFUSED ? "refuses: " : "",
             reply->text);
    print_failure(line);
    control->failed = true;
  }
}

/* Prints what each process of this host has answered. */
static void print_replies(struct control *control)
{
  for (size_t i = 0; i < control->targets.count; i++)
    if (control->targets.items[i].here)
      print_reply(control, i);
}

/* Prints a word of a command for a shell on standard error, quoted where that is necessary. */
static void print_word(const char *word)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  bool quoted = !*word || word[strspn(word, plain)];
  fputs(quoted ? "'" : "", stderr);
  while (*word) {
    char character[ESCAPE_MAX];
    word += escape_character(word, false, character);
    fputs(*character == '\'' ? "'\\''" : character, stderr);
  }
  fputs(quoted ? "'" : "", stderr);
}

/* Prints once for each other host what is to be run there.  That is a failure if no process runs here: files of other
 * hosts may be those of processes that were killed. */
static void print_others(struct control *control)
{
  const char *before = "";
  for (size_t i = 0; i < control->targets.count; i++) {
    const struct target *target = &control->targets.items[i];
    if (target->here || !strcmp(before, target->host))
      continue;
    char host[2 * sizeof target->host];
    escape_text(target->host, host, sizeof host);
    fprintf(stderr, "hpcrun-lite: processes on host %s hear commands only there: hpcrun-lite --control ", host);
    print_word(control->targets.directory);
    for (char *const *word = control->words; *word; word++) {
      putc(' ', stderr);
      print_word(*word);
    }
    putc('\n', stderr);
    control->failed |= !one_runs(control);
    before = target->host;
  }
}

/* Copies the directory, of which the processes have just written what they could. */
static void copy_directory(struct control *control)
{
  char name[PATH_MAX + 64], message[LINE_BYTES];
  const char *given = control->words[1];
  if (!given)
    snapshot_default_name(control->targets.directory, name, sizeof name);
  const char *copy = given ? given : name;
  if (snapshot_take(&control->targets, copy, message, sizeof message)) {
    char shown[2 * sizeof name];
    escape_text(copy, shown, sizeof shown);
    printf("snapshot: %s; read it with: hpcprof-lite %s\n", shown, shown);
    return;
  }
  print_failure(message);
  control->failed = true;
}

/* Asks the processes what is in force, and works out what changes in each.  Returns false if one refuses: then nothing
 * changes in any. */
static bool work_out_changes(struct control *control)
{
  bool fine = true;
  for (size_t i = 0; i < control->targets.count; i++)
    control->commands[i] = "settings";
  if (!commander_send(&control->targets, control->commands, control->replies))
    return false;
  for (size_t i = 0; i < control->targets.count; i++) {
    const struct target *target = &control->targets.items[i];
    struct change *change = &control->changes[i];
    char message[LINE_BYTES];
    control->commands[i] = NULL;
    if (!target->here || control->replies[i].state != CONTROL_DONE)
      continue;
    if (!reconfigure_work_out(&control->targets, target, control->replies[i].text, change, message, sizeof message)) {
      if (!target_exists(target->pid)) {
        control->replies[i] = (struct reply){.ended = true, .text = "has ended"};
        continue;
      }
      print_failure(message);
      fine = false;
    } else if (change->command[0]) {
      control->commands[i] = change->command;
    }
    if (change->warning[0] && fine)
      print_failure(change->warning);
  }
  return fine;
}

static int run(struct control *control)
{
  size_t count = control->targets.count;
  control->replies = calloc(count, sizeof *control->replies);
  control->commands = calloc(count, sizeof *control->commands);
  control->changes = calloc(count, sizeof *control->changes);
  if (!control->replies || !control->commands || !control->changes) {
    print_failure("not enough memory");
    return 1;
  }
  for (size_t i = 0; i < count; i++)
    control->commands[i] = control->command;
  if (is(control, "config") && !work_out_changes(control))
    return 1;
  if (!commander_send(&control->targets, control->commands, control->replies)) {
    print_failure("not enough memory");
    return 1;
  }
  print_replies(control);
  print_others(control);
  if (is(control, "snapshot"))
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
                {"config", 1, 1, " FILE"},
                {"mark", 1, 1, " NAME"}};
enum { COMMANDS = sizeof commands / sizeof *commands, MARK_MAX = 255 };

static bool check_mark(const char *name, char *message, size_t message_size)
{
  if (strlen(name) > MARK_MAX) {
    snprintf(message, message_size, "option --control: mark: the name has %zu bytes; use at most %d", strlen(name),
             MARK_MAX);
    return false;
  }
  for (const char *at = name; *at; at++)
    if ((unsigned char)*at < ' ' || *at == 127) {
      snprintf(message, message_size, "option --control: mark: byte %zu of the name is a control character; remove it",
               (size_t)(at - name) + 1);
      return false;
    }
  return true;
}

bool control_command_check(char *const *words, char *message, size_t message_size)
{
  int count = 0;
  while (words[0] && words[count + 1])
    count++;
  for (unsigned i = 0; words[0] && i < COMMANDS; i++) {
    if (strcmp(words[0], commands[i].name) != 0)
      continue;
    if (count >= commands[i].least && count <= commands[i].most && (!count || *words[1]))
      return strcmp(words[0], "mark") != 0 || check_mark(words[1], message, message_size);
    snprintf(message, message_size, "option --control: wrong arguments; use: hpcrun-lite --control DIR|PID %s%s",
             commands[i].name, commands[i].what);
    return false;
  }
  snprintf(message, message_size,
           "option --control needs a command (status, start, stop, flush, snapshot [NEWDIR], config FILE, mark "
           "NAME)%s%.40s%s",
           words[0] ? "; there is no '" : "", words[0] ? words[0] : "", words[0] ? "'" : "");
  return false;
}

int control_command(const char *which, char *const *words)
{
  static struct control control;
  char message[LINE_BYTES] = "";
  control.words = words;
  if (!strcmp(words[0], "mark"))
    snprintf(control.command, sizeof control.command, "mark %s", words[1]);
  else
    snprintf(control.command, sizeof control.command, "%s", is(&control, "snapshot") ? "flush" : words[0]);
  int status = 1;
  if ((!is(&control, "config") || reconfigure_read(words[1], message, sizeof message)) &&
      targets_find(&control.targets, which, message, sizeof message))
    status = run(&control);
  else
    print_failure(message);
  free(control.replies);
  free(control.commands);
  reconfigure_release(&control.targets, control.changes);
  targets_release(&control.targets);
  return status;
}
