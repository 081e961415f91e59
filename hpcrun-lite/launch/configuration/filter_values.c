#include "hpcrun-lite/launch/configuration/filter_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_MAX = 512, NUMBER_MAX = 999999, SECONDS_MAX = 1000000000 };

/* ---- lists ---- */

bool filter_values_next(const char **at, char *item, size_t size)
{
  static const char spaces[] = " \t";
  if (!*at)
    return false;
  const char *begin = *at + strspn(*at, spaces);
  size_t length = strcspn(begin, ",");
  *at = begin[length] ? begin + length + 1 : NULL;
  while (length && strchr(spaces, begin[length - 1]))
    length--;
  snprintf(item, size, "%.*s", (int)length, begin);
  return true;
}

/* ---- items ---- */

static bool check_range(const char *item, char *message, size_t size)
{
  char *end;
  bool digit = *item >= '0' && *item <= '9';
  unsigned long from = strtoul(item, &end, 10), to = from;
  if (digit && *end == '-') {
    digit = end[1] >= '0' && end[1] <= '9';
    to = strtoul(end + 1, &end, 10);
  }
  if (!digit || *end || from > NUMBER_MAX || to > NUMBER_MAX) {
    snprintf(message, size, "'%.60s' is neither a number up to %d nor a range; write, for example, 0-3,8", item,
             NUMBER_MAX);
    return false;
  }
  if (from > to)
    snprintf(message, size, "range '%.60s' is empty; write the smaller number first", item);
  return from <= to;
}

static bool check_construct(const char *item, char *message, size_t size)
{
  static const char *const kinds[] = {"parallel", "for",       "sections",   "single",  "masked",    "task",
                                      "taskloop", "taskgroup", "taskwait",   "barrier", "critical",  "lock",
                                      "ordered",  "teams",     "distribute", "atomic",  "task-exec", "user-region"};
  const char *colon = strrchr(item, ':');
  size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
  if (colon && colon > item && digits && digits < 9 && !colon[1 + digits] && atoi(colon + 1) > 0)
    return true;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(item, kinds[i]))
      return true;
  snprintf(
      message, size,
      "unknown construct '%.60s'; write FILE:LINE or one of parallel, for, sections, single, masked, task, taskloop, "
      "taskgroup, taskwait, barrier, critical, lock, ordered, teams, distribute, atomic, task-exec, user-region",
      item);
  return false;
}

/* One item of a list of what is measured; with '!' before it, of what is not. */
static bool check_pattern(enum setting setting, const char *item, char *message, size_t size)
{
  const char *pattern = item + (*item == '!');
  if (*item == '!' && setting == SETTING_REGIONS)
    snprintf(message, size, "'%.60s': '!' excludes functions, modules and constructs only; remove it", item);
  else if (!*pattern)
    snprintf(message, size, "nothing stands behind '!'; write, for example, !init*");
  else if (setting == SETTING_CONSTRUCTS)
    return check_construct(pattern, message, size);
  return *pattern && (*item != '!' || setting != SETTING_REGIONS);
}

static bool check_item(enum setting setting, const char *item, char *message, size_t size)
{
  if (!*item) {
    snprintf(message, size, "the list has an empty item; remove the comma before or behind it");
    return false;
  }
  if (strlen(item) >= ITEM_MAX - 1) {
    snprintf(message, size, "an item is longer than %d bytes; use a pattern with *", ITEM_MAX - 2);
    return false;
  }
  if (setting == SETTING_RANKS || setting == SETTING_THREADS)
    return check_range(item, message, size);
  return check_pattern(setting, item, message, size);
}

/* ---- times ---- */

/* Reads a time such as "10 s", "1.5 min" or "250ms".  Returns nanoseconds, or 0 if it is none. */
static uint64_t read_time(const char *text)
{
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
  size_t length = strspn(text, "0123456789.");
  char number[32], *end;
  snprintf(number, sizeof number, "%.*s", (int)length, text);
  double value = strtod(number, &end);
  if (!length || length >= sizeof number || *end)
    return 0;
  const char *unit = text + length + strspn(text + length, " ");
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (!strcmp(unit, units[i].name) && value * units[i].ns <= SECONDS_MAX * 1e9)
      return (uint64_t)(value * units[i].ns + 0.5);
  return 0;
}

/* ---- settings ---- */

static bool is_time(enum setting setting)
{
  return setting == SETTING_SKIP_FIRST || setting == SETTING_ONLY;
}

bool filter_values_check(enum setting setting, const char *text, char *message, size_t message_size)
{
  char item[ITEM_MAX];
  if (is_time(setting)) {
    if (!read_time(text))
      snprintf(message, message_size, "'%.60s' is no time above 0; write, for example, 10 s, 250 ms or 1.5 min", text);
    return read_time(text);
  }
  while (filter_values_next(&text, item, sizeof item))
    if (!check_item(setting, item, message, message_size))
      return false;
  return true;
}

/* Appends a list without the spaces around its commas. */
static void append_list(char *text, size_t size, const char *list)
{
  char item[ITEM_MAX];
  for (bool first = true; filter_values_next(&list, item, sizeof item); first = false) {
    size_t at = strlen(text);
    snprintf(text + at, size - at, "%s%s", first ? "" : ",", item);
  }
}

bool filter_values_text(const struct setting_layer *layer, char *text, size_t size)
{
  text[0] = '\0';
  for (enum setting setting = 0; setting < SETTINGS; setting++) {
    const char *value = layer->text[setting];
    size_t at = strlen(text);
    if (setting_keys[setting].section != SECTION_FILTER || !value)
      continue;
    snprintf(text + at, size - at, "%s%s ", at ? "\n" : "", setting_keys[setting].name);
    at = strlen(text);
    if (is_time(setting))
      snprintf(text + at, size - at, "%llu", (unsigned long long)read_time(value));
    else
      append_list(text, size, value);
  }
  return strlen(text) + 1 < size;
}

enum setting filter_values_longest(const struct setting_layer *layer)
{
  enum setting longest = SETTING_FUNCTIONS;
  size_t length = 0;
  for (enum setting setting = 0; setting < SETTINGS; setting++) {
    const char *value = setting_keys[setting].section == SECTION_FILTER ? layer->text[setting] : NULL;
    if (value && strlen(value) > length) {
      length = strlen(value);
      longest = setting;
    }
  }
  return longest;
}
