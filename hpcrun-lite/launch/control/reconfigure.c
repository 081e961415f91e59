#define _GNU_SOURCE
#include "hpcrun-lite/launch/control/reconfigure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/events.h"
#include "common/filter_text.h"
#include "common/safe_file.h"
#include "hpcrun-lite/launch/configuration/configuration.h"
#include "hpcrun-lite/launch/configuration/filter_values.h"
#include "hpcrun-lite/launch/control/target_code.h"
#include "hpcrun-lite/launch/events/count_events.h"

static struct configuration configuration;

/* What is worked out for one process. */
struct work {
  const struct targets *targets;
  const struct target *target;
  const char *in_force;
  struct setting_values values;
  struct change *change;
  char *message;
  size_t message_size;
};

bool reconfigure_read(const char *path, char *message, size_t message_size)
{
  return configuration_read(path, false, &configuration, message, message_size);
}

/* ---- what is in force ---- */

/* Copies the value of the next line with that key, from *at on. */
static bool next_value(const char **at, const char *key, char *value, size_t size)
{
  size_t length = strlen(key);
  while (**at) {
    const char *line = *at, *end = strchrnul(line, '\n');
    *at = *end ? end + 1 : end;
    if (strncmp(line, key, length) == 0 && line[length] == ' ') {
      snprintf(value, size, "%.*s", (int)(end - line - (ptrdiff_t)length - 1), line + length + 1);
      return true;
    }
  }
  return false;
}

static bool value_of(const struct work *work, const char *key, char *value, size_t size)
{
  const char *at = work->in_force;
  *value = '\0';
  return next_value(&at, key, value, size);
}

/* ---- refusals ---- */

static bool is_given(const struct work *work, enum setting setting)
{
  return work->values.of.line[setting] > 0;
}

/* Refuses a setting of the file; the level, if that implies it. */
static bool refuse(const struct work *work, enum setting setting, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(const struct work *work, enum setting setting, const char *format, ...)
{
  int line = work->values.of.line[setting];
  bool implied = is_given(work, SETTING_LEVEL) && work->values.of.line[SETTING_LEVEL] == line;
  int length = snprintf(work->message, work->message_size, "%.400s:%d: %s: process %ld ", configuration.path, line,
                        setting_keys[implied ? SETTING_LEVEL : setting].name, (long)work->target->pid);
  va_list arguments;
  va_start(arguments, format);
  if (length > 0 && (size_t)length < work->message_size)
    vsnprintf(work->message + length, work->message_size - (size_t)length, format, arguments);
  va_end(arguments);
  return false;
}

static bool refuse_fixed(const struct work *work, enum setting setting, const char *in_force, const char *why)
{
  return refuse(work, setting, "has %s = %.300s, and stays so: %s; remove the line", setting_keys[setting].name,
                in_force, why);
}

/* A setting that holds for the whole run. */
static bool check_fixed(const struct work *work, enum setting setting, const char *in_force, const char *why)
{
  return !strcmp(work->values.of.text[setting], in_force) || refuse_fixed(work, setting, in_force, why);
}

static bool check_modes(const struct work *work)
{
  static const struct {
    enum setting setting;
    const char *why;
  } fixed[] = {
      {SETTING_PARALLELISM, "work and span need the task graph from the start on: give -p at the start"},
      {SETTING_WORK, "the unit of work is one for the whole run"},
      {SETTING_OVERHEAD_LIMIT,
       "the limit cannot change while a program is measured: give --overhead-limit when you start it"},
      {SETTING_TRACE, "a timeline needs the threads' states from their starts on: give -t at the start"},
      {SETTING_TASK_CONTEXT, "contexts of tasks are of one kind for the whole run"},
      {SETTING_ARGUMENTS, "the command line is stored at the start"},
      {SETTING_KEEP_SYMBOLS, "the executable is copied at the start: give --keep-symbols at the start"},
  };
  char value[64];
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
    enum setting setting = fixed[i].setting;
    bool implied_off = setting == SETTING_TRACE &&
                       work->values.of.line[setting] == work->values.of.line[SETTING_LEVEL] &&
                       setting_is(&work->values, setting, "off");
    if (!is_given(work, setting) || implied_off) /* a level below that of the trace pauses, or takes no samples */
      continue;
    value_of(work, setting_keys[setting].name, value, sizeof value);
    if (!check_fixed(work, setting, value, fixed[i].why))
      return false;
  }
  return true;
}

static bool check_counters(const struct work *work)
{
  struct count_list wanted = {0};
  char value[128], unused[512];
  const char *at = work->in_force;
  if (!is_given(work, SETTING_COUNTERS))
    return true;
  bool same = count_events_add(&wanted, work->values.of.text[SETTING_COUNTERS], unused, sizeof unused);
  for (unsigned i = 0; i < wanted.count && same; i++)
    same = next_value(&at, "counter", value, sizeof value) && strcmp(value, wanted.counters[i].name) == 0;
  if (wanted.locks)
    same = same && next_value(&at, "counter", value, sizeof value) && strcmp(value, COUNTERS_LOCKS) == 0;
  if (same && !next_value(&at, "counter", value, sizeof value))
    return true;
  return refuse(work, SETTING_COUNTERS, "has the columns of its counters from its start on: give -c at the start");
}

/* Refuses another limit than that of the process, in bytes; 0: none. */
static bool check_limit(const struct work *work, enum setting setting, const char *why)
{
  char value[64], in_force[64] = "none";
  value_of(work, setting_keys[setting].name, value, sizeof value);
  uint64_t limit = strtoull(value, NULL, 10);
  if (limit)
    snprintf(in_force, sizeof in_force, "%" PRIu64, limit);
  return !is_given(work, setting) || setting_size(work->values.of.text[setting]) == limit ||
         refuse_fixed(work, setting, in_force, why);
}

/* Settings of the whole launch, and limits. */
static bool check_launch(const struct work *work)
{
  char value[PATH_MAX], real[PATH_MAX];
  if (is_given(work, SETTING_OUTPUT) &&
      (!realpath(work->values.of.text[SETTING_OUTPUT], real) || strcmp(real, work->targets->directory) != 0))
    return refuse(work, SETTING_OUTPUT, "writes to '%.300s', and goes on there; remove the line",
                  work->targets->directory);
  target_variable(work->target->pid, "HPCRUN_LITE_OMP_RUNTIME", value, sizeof value);
  if (is_given(work, SETTING_OMP_RUNTIME) &&
      !check_fixed(work, SETTING_OMP_RUNTIME, value, "its OpenMP runtime is loaded already"))
    return false;
  if (!check_limit(work, SETTING_MEMORY_LIMIT, "the memory that it has taken counts from the start"))
    return false;
  value_of(work, "trace", value, sizeof value);
  if (!strcmp(value, "off")) /* nothing to limit */
    return true;
  value_of(work, "trace-keep", value, sizeof value);
  return check_limit(work, SETTING_TRACE_LIMIT, "the trace's file is shared out at the start") &&
         (!is_given(work, SETTING_TRACE_KEEP) ||
          check_fixed(work, SETTING_TRACE_KEEP, value, "the trace's file is laid out at the start"));
}

/* ---- changes ---- */

static void add_command(struct work *work, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_command(struct work *work, const char *format, ...)
{
  char *command = work->change->command;
  size_t at = strlen(command);
  va_list arguments;
  if (!at)
    at = (size_t)snprintf(command, sizeof work->change->command, "config");
  va_start(arguments, format);
  command[at++] = '\n';
  vsnprintf(command + at, sizeof work->change->command - at, format, arguments);
  va_end(arguments);
}

static void add_done(struct work *work, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_done(struct work *work, const char *format, ...)
{
  char *done = work->change->done;
  size_t at = strlen(done), size = sizeof work->change->done;
  va_list arguments;
  if (at && at + 3 < size)
    at += (size_t)snprintf(done + at, size - at, "; ");
  va_start(arguments, format);
  vsnprintf(done + at, size - at, format, arguments);
  va_end(arguments);
}

static void change_level(struct work *work)
{
  char unsampled[8], paused[8];
  value_of(work, "unsampled", unsampled, sizeof unsampled);
  value_of(work, "paused", paused, sizeof paused);
  bool given = is_given(work, SETTING_LEVEL), off = setting_is(&work->values, SETTING_LEVEL, "off");
  const char *summary = setting_is(&work->values, SETTING_LEVEL, "summary") ? "1" : "0";
  const char *pause = setting_is(&work->values, SETTING_PAUSED, "yes") ? "1" : "0";
  bool level = given && !off && strcmp(summary, unsampled) != 0;
  bool pauses = is_given(work, SETTING_PAUSED) && strcmp(pause, paused) != 0;
  if (level)
    add_command(work, "level %s", *summary == '1' ? "summary" : "samples");
  if (pauses)
    add_command(work, "paused %s", pause);
  if (given && (level || pauses))
    add_done(work, "level %s", work->values.of.text[SETTING_LEVEL]);
  if (pauses && !given)
    add_done(work, "%s", *pause == '1' ? "paused" : "running");
}

/* Events of a process stay; their rates change. */
static bool change_rates(struct work *work)
{
  struct event events[EVENTS_MAX];
  char unused[512], value[160], names[512] = "", changed[512] = "";
  const char *at = work->in_force;
  int found = 0, index = 0, i;
  if (!is_given(work, SETTING_EVENTS))
    return true;
  int count = events_parse_list(work->values.of.text[SETTING_EVENTS], events, unused, sizeof unused);
  for (; next_value(&at, "event", value, sizeof value); index++) {
    char *end = strchrnul(value, ' '), *rest = *end ? end + 1 : end;
    *end = '\0';
    uint64_t frequency = strtoull(rest, &rest, 10), period = strtoull(rest, NULL, 10);
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? "," : "", value);
    for (i = 0; i < count && strcmp(events[i].name, value) != 0; i++)
      continue;
    found += i < count;
    if (i == count || (events[i].frequency == frequency && events[i].period == period))
      continue;
    add_command(work, "event %d %" PRIu32 " %" PRIu64, index, events[i].frequency, events[i].period);
    snprintf(changed + strlen(changed), sizeof changed - strlen(changed), "%s%s", *changed ? "," : "", value);
  }
  if (found != index || count != index)
    return refuse(work, SETTING_EVENTS,
                  "has the events %s from its start on, and can change only their rates: write such as %s@f50", names,
                  names);
  if (*changed)
    add_done(work, "events %s", work->values.of.text[SETTING_EVENTS]);
  return true;
}

/* Keeps what counts from the start of the process.  buffer: the text of the setting. */
static bool keep_time(struct work *work, enum setting setting, char buffer[64])
{
  const char *name = setting_keys[setting].name;
  char key[32], value[64], one[96];
  uint64_t ns;
  struct setting_layer layer = {0};
  bool known =
      value_of(work, name, value, sizeof value) && filter_text_ns((struct filter_part){value, strlen(value)}, &ns);
  if (known)
    snprintf(buffer, 64, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
  layer.text[setting] = work->values.of.text[setting];
  snprintf(key, sizeof key, "%s %s", name, value);
  if (is_given(work, setting) && (!known || !filter_values_text(&layer, one, sizeof one) || strcmp(one, key) != 0))
    return refuse(work, setting, "has begun: the time counts from its start; remove the line, use 'stop' and 'start'");
  work->values.of.text[setting] = known ? buffer : NULL;
  return true;
}

/* Whether the filter leaves the process out, because of its rank. */
static bool is_excluded(const struct work *work)
{
  const char *ranks = work->values.of.text[SETTING_RANKS];
  char rank[16];
  return ranks && value_of(work, "rank", rank, sizeof rank) &&
         !filter_list_has((struct filter_part){ranks, strlen(ranks)}, strtoull(rank, NULL, 10));
}

/* Writes the filter to a new file that only the owner of the process may read. */
static bool write_filter(struct work *work, const char *text)
{
  struct change *change = work->change;
  size_t length = strlen(text);
  uid_t user = geteuid();
  gid_t group = getegid();
  bool exists = target_owner(work->target->pid, &user, &group);
  if (exists && user != work->targets->owner)
    return true; /* the process gets no command: commander.c reports why */
  snprintf(change->file, sizeof change->file, CONTROL_PREFIX "%s-%ld-XXXXXX" FILTER_SUFFIX, work->target->host,
           (long)work->target->pid);
  change->fd = safe_file_make(work->targets->at, change->file, strlen(FILTER_SUFFIX));
  errno = change->fd < 0 ? errno : ENOSPC; /* where less was written */
  bool written = change->fd >= 0 && write(change->fd, text, length) == (ssize_t)length &&
                 (!exists || user == geteuid() || fchown(change->fd, user, group) == 0);
  if (!written)
    snprintf(work->message, work->message_size, "cannot write the filter to '%.400s': %s", work->targets->directory,
             strerror(errno));
  if (change->fd < 0)
    change->file[0] = '\0';
  return written;
}

/* Whether the process has that filter already. */
static bool is_in_force(const struct work *work, const char *filter)
{
  char hash[32];
  value_of(work, "filter-hash", hash, sizeof hash);
  return strtoull(hash, NULL, 10) == filter_text_hash(filter);
}

static bool change_filter(struct work *work)
{
  enum { SHOWN = 600 }; /* bytes of the filter, to the user */
  static char wanted[FILTER_VALUES_BYTES];
  char skip[64], only[64], *text = NULL;
  if (!keep_time(work, SETTING_SKIP_FIRST, skip) || !keep_time(work, SETTING_ONLY, only))
    return false;
  if (!filter_values_text(&work->values.of, wanted, sizeof wanted)) {
    filter_values_refuse(&work->values.of, configuration.path, work->message, work->message_size);
    return false;
  }
  if (is_in_force(work, wanted))
    return true;
  bool done = !*wanted || target_code_resolve(work->target->pid, wanted, &text, work->change->warning,
                                              sizeof work->change->warning);
  if (!done)
    snprintf(work->message, work->message_size, "%s", work->change->warning);
  done = done && (!text || write_filter(work, text));
  const char *name = work->change->file;
  add_command(work, "filter %zu %s", text ? strlen(text) : 0, *name ? name : "-");
  add_command(work, "excluded %d", is_excluded(work));
  for (char *newline = wanted; (newline = strchr(newline, '\n')) != NULL; *newline = ',')
    continue;
  add_done(work, *wanted ? "filter: %.*s%s%s" : "filter: none", SHOWN, wanted, strlen(wanted) > SHOWN ? "..." : "",
           is_excluded(work) ? " (paused: its rank is left out)" : "");
  free(text);
  return done;
}

/* ---- all of it ---- */

/* The section of the file for the program that the process executes. */
static const struct setting_layer *own_section(const struct work *work)
{
  char name[NAME_MAX + 1];
  value_of(work, "program", name, sizeof name);
  for (unsigned i = 0; i < configuration.program_count; i++)
    if (!strcmp(configuration.programs[i].name, name))
      return &configuration.programs[i].layer;
  return NULL;
}

bool reconfigure_work_out(const struct targets *targets, const struct target *target, const char *in_force,
                          struct change *change, char *message, size_t message_size)
{
  struct work work = {targets, target, in_force, .change = change, .message = message, .message_size = message_size};
  *change = (struct change){0};
  setting_resolve(NULL, own_section(&work), &configuration.common, &work.values);
  if (!check_modes(&work) || !check_counters(&work) || !check_launch(&work))
    return false;
  change_level(&work);
  return change_rates(&work) && change_filter(&work);
}

void reconfigure_release(const struct targets *targets, struct change *changes)
{
  for (size_t i = 0; changes && i < targets->count; i++)
    if (changes[i].file[0]) {
      safe_file_remove(targets->at, changes[i].file, changes[i].fd);
      close(changes[i].fd);
    }
  free(changes);
  configuration_release(&configuration);
}
