#include "hpcrun-lite/launch/configuration/filter_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/filter_text.h"

enum { SECONDS_MAX = 1000000000 };

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
  static const enum filter_key keys[SETTINGS] = {
      [SETTING_FUNCTIONS] = FILTER_KEY_FUNCTIONS,   [SETTING_MODULES] = FILTER_KEY_MODULES,
      [SETTING_CONSTRUCTS] = FILTER_KEY_CONSTRUCTS, [SETTING_RANKS] = FILTER_KEY_RANKS,
      [SETTING_THREADS] = FILTER_KEY_THREADS,       [SETTING_REGIONS] = FILTER_KEY_REGIONS};
  if (!is_time(setting))
    return filter_text_check_list(keys[setting], (struct filter_part){text, strlen(text)}, message, message_size);
  if (!read_time(text))
    snprintf(message, message_size, "'%.60s' is not a time above 0; write, for example, 10 s, 250 ms or 1.5 min", text);
  return read_time(text);
}

/* Appends a list without the spaces around its commas. */
static void append_list(char *text, size_t size, const char *list)
{
  struct filter_part rest = {list, strlen(list)};
  struct filter_item item;
  for (bool first = true; filter_list_item(&rest, &item); first = false) {
    size_t at = strlen(text);
    snprintf(text + at, size - at, "%s%s%.*s", first ? "" : ",", item.excludes ? "!" : "", (int)item.part.length,
             item.part.text);
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

void filter_values_refuse(const struct setting_layer *layer, const char *path, char *message, size_t message_size)
{
  enum setting longest = filter_values_longest(layer);
  snprintf(message, message_size,
           "%.400s:%d: %s: [filter] has more than %d bytes; use patterns with * or shorter lists", path,
           layer->line[longest], setting_keys[longest].name, FILTER_VALUES_BYTES);
}
