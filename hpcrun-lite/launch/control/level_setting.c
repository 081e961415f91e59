#include "hpcrun-lite/launch/control/level_setting.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

/* Settings that a process has for its whole run, and the reason. */
static const struct {
  const char *key, *why;
} fixed[] = {{"events", "the columns of a process's tables are those of its events, from its start on"},
             {"event", "the columns of a process's tables are those of its events, from its start on"},
             {"counters", "the columns of a process's tables are those of its counters, from its start on"},
             {"parallelism", "work and span need the task graph from the start of the process on"},
             {"work", "the unit of work is one for the whole run"},
             {"trace", "a timeline needs the states of threads from their starts on; give -t at the start"},
             {"task-context", "contexts of tasks are one kind for the whole run"},
             {"output", "the files of a process are named at its start"}};

/* The line without comment and blanks at both ends. */
static char *trimmed(char *line)
{
  line[strcspn(line, "#;\n")] = '\0';
  while (isspace((unsigned char)*line))
    line++;
  for (size_t length = strlen(line); length && isspace((unsigned char)line[length - 1]);)
    line[--length] = '\0';
  return line;
}

static const char *why_not(const char *key)
{
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    if (!strcmp(fixed[i].key, key))
      return fixed[i].why;
  return NULL;
}

static bool is_level(const char *value)
{
  return !strcmp(value, "off") || !strcmp(value, "summary") || !strcmp(value, "samples");
}

/* Takes one line.  Returns NULL, or what is wrong with it; *key is then its key. */
static const char *take_line(char *line, char **key, char *level, size_t size)
{
  char *value = strchr(line, '=');
  *key = line;
  if (!*line || !strcmp(line, "[measure]"))
    return NULL;
  if (*line == '[')
    return "a running process takes settings of [measure] only";
  if (!value)
    return "is no setting; write: level = off, summary or samples";
  *value++ = '\0';
  *key = trimmed(line);
  value = trimmed(value);
  if (strcmp(*key, "level"))
    return why_not(*key) ? why_not(*key) : "is no setting that a running process can take; it takes: level";
  if (!strcmp(value, "states") || !strcmp(value, "all"))
    return "states need -t from the start of the process on; a running one takes off, summary or samples";
  if (!is_level(value) || strlen(value) >= size)
    return "takes off, summary or samples";
  strcpy(level, value);
  return NULL;
}

bool level_setting_read(const char *path, char *level, size_t size, char *message, size_t message_size)
{
  char line[LINE_BYTES], *key;
  FILE *file = fopen(path, "re");
  const char *wrong = NULL;
  int number = 0;
  *level = '\0';
  if (!file) {
    snprintf(message, message_size, "cannot read '%.400s': %s", path, strerror(errno));
    return false;
  }
  while (!wrong && fgets(line, sizeof line, file)) {
    number++;
    bool whole = strchr(line, '\n') || feof(file);
    key = line;
    wrong = whole ? take_line(trimmed(line), &key, level, size) : "the line is too long";
    if (wrong)
      snprintf(message, message_size, "%.400s:%d: %.40s: %s", path, number, key, wrong);
  }
  if (!wrong && ferror(file))
    snprintf(message, message_size, "cannot read '%.400s': %s", path, strerror(errno));
  else if (!wrong && !*level)
    snprintf(message, message_size, "%.400s: holds no setting; write: level = off, summary or samples", path);
  bool read = !wrong && !ferror(file) && *level;
  fclose(file);
  return read;
}
