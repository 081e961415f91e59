#include "hpcrun-lite/launch/series.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpcrun-lite/launch/program/refusal.h"

/* Reads a whole number from 1 to most; *end is where it ends.  Returns 0 if there is none. */
static unsigned parse_number(const char *text, unsigned most, const char **end)
{
  unsigned long number = 0;
  for (*end = text; **end >= '0' && **end <= '9' && number <= most; (*end)++)
    number = 10 * number + (unsigned long)(**end - '0');
  return number <= most ? (unsigned)number : 0;
}

/* ---- the list ---- */

bool series_parse_threads(const char *list, struct series *series, char *message, size_t message_size)
{
  const char *at = list;
  series->count = 0;
  for (;;) {
    const char *end;
    unsigned threads = parse_number(at, SERIES_THREADS_MAX, &end);
    if (!threads || (*end && *end != ','))
      return refuse(message, message_size,
                    "option --scaling needs numbers of threads from 1 to %d, such as 1,2,4, not '%.100s'",
                    SERIES_THREADS_MAX, list);
    for (unsigned i = 0; i < series->count; i++)
      if (series->threads[i] == threads)
        return refuse(message, message_size, "option --scaling: %u is in the list twice; for more runs, use --repeat",
                      threads);
    if (series->count == SERIES_SIZES_MAX)
      return refuse(message, message_size, "option --scaling: more than %d numbers of threads", SERIES_SIZES_MAX);
    series->threads[series->count++] = threads;
    if (!*end)
      return true;
    at = end + 1;
  }
}

bool series_parse_repeat(const char *text, struct series *series, char *message, size_t message_size)
{
  const char *end;
  series->repeat = parse_number(text, SERIES_REPEAT_MAX, &end);
  return (series->repeat && !*end) ||
         refuse(message, message_size, "option --repeat needs a number of runs from 1 to %d, not '%.100s'",
                SERIES_REPEAT_MAX, text);
}

/* The value of --scale-with at that position of the list, and its length; NULL if there is none. */
static const char *value_at(const char *values, unsigned position, size_t *length)
{
  assert(length);
  for (; position && values; position--) {
    values = strchr(values, ',');
    values = values ? values + 1 : NULL;
  }
  *length = values ? strcspn(values, ",") : 0;
  return values;
}

static bool check_values(const struct series *series, char *const *command, char *message, size_t message_size)
{
  assert(series->values && series->count);
  size_t length;
  bool used = false;
  for (unsigned i = 0; i < series->count; i++)
    if (!value_at(series->values, i, &length) || !length)
      return refuse(message, message_size, "option --scale-with needs a value for each of the %u numbers of threads",
                    series->count);
  if (value_at(series->values, series->count, &length))
    return refuse(message, message_size,
                  "option --scale-with has more values than --scaling has numbers of threads (%u)", series->count);
  for (char *const *word = command + 1; command[0] && *word; word++)
    used |= strstr(*word, "{}") != NULL;
  return used || refuse(message, message_size,
                        "option --scale-with: no argument of COMMAND contains {}, which stands for the value");
}

bool series_check(const struct series *series, char *const *command, char *message, size_t message_size)
{
  const char *limit = getenv("OMP_THREAD_LIMIT"), *end;
  if (!series->count && (series->repeat || series->values))
    return refuse(message, message_size, "option %s needs --scaling, which lists the numbers of threads",
                  series->repeat ? "--repeat" : "--scale-with");
  unsigned most = limit ? parse_number(limit, SERIES_THREADS_MAX, &end) : 0;
  for (unsigned i = 0; i < series->count && most; i++)
    if (series->threads[i] > most)
      return refuse(message, message_size, "option --scaling: OMP_THREAD_LIMIT=%u allows no %u threads; unset it", most,
                    series->threads[i]);
  return !series->values || check_values(series, command, message, message_size);
}

/* ---- runs ---- */

unsigned series_runs(const struct series *series)
{
  return series->count * (series->repeat ? series->repeat : 1);
}

void series_run(const struct series *series, unsigned number, struct series_run *run)
{
  assert(number < series_runs(series));
  char again[16] = "";
  run->size = number % series->count;
  run->threads = series->threads[run->size];
  run->repetition = number / series->count + 1;
  if (run->repetition > 1)
    snprintf(again, sizeof again, "-%u", run->repetition);
  snprintf(run->directory, sizeof run->directory, "threads-%u%s", run->threads, again);
  snprintf(run->note, sizeof run->note, "Scaling: %u thread%s, run %u%s", run->threads, run->threads == 1 ? "" : "s",
           run->repetition, series->values ? ", --scale-with" : "");
}

/* Returns a new text in which each `mark` is replaced by that value. */
static char *replace(const char *text, const char *mark, const char *value, size_t length)
{
  assert(*mark && (value || !length));
  size_t marks = 0, mark_length = strlen(mark);
  for (const char *at = text; (at = strstr(at, mark)); at += mark_length)
    marks++;
  char *result = malloc(strlen(text) + marks * length + 1), *to = result;
  for (const char *next; result && (next = strstr(text, mark)); text = next + mark_length) {
    to = mempcpy(to, text, (size_t)(next - text));
    to = mempcpy(to, value, length);
  }
  return result ? (strcpy(to, text), result) : NULL;
}

char **series_command(const struct series *series, const struct series_run *run, char *const *command)
{
  assert(command[0] && run->size < series->count);
  char threads[16];
  size_t count = 0, length;
  const char *value = value_at(series->values, run->size, &length);
  snprintf(threads, sizeof threads, "%u", run->threads);
  while (command[count])
    count++;
  char **result = calloc(count + 1, sizeof *result);
  for (size_t i = 0; i < count && result; i++) {
    char *word = i ? replace(command[i], "{N}", threads, strlen(threads)) : command[i];
    result[i] = i && word && value ? replace(word, "{}", value, length) : word;
    if (!result[i])
      return NULL;
  }
  return result;
}

bool series_set_threads(const struct series_run *run)
{
  assert(run->threads && run->threads <= SERIES_THREADS_MAX);
  const char *before = getenv("OMP_NUM_THREADS");
  const char *inner = before ? strchr(before, ',') : NULL; /* numbers of threads of nested regions stay */
  char *value;
  if (asprintf(&value, "%u%s", run->threads, inner ? inner : "") < 0)
    return false;
  bool set = !setenv("OMP_NUM_THREADS", value, 1) && !setenv("OMP_DYNAMIC", "false", 1);
  free(value);
  return set;
}
