#include "hpcrun-lite/launch/configuration/program_settings.h"

#include <stdio.h>
#include <string.h>

#include "hpcrun-lite/launch/configuration/filter_values.h"
#include "hpcrun-lite/launch/events/count_events.h"

/* The value that the measured process reads. */
static const char *value_of(const struct setting_values *values, enum setting setting, char buffer[32])
{
  static struct count_list counted;
  char unused[512]; /* plan_work_out() reports what cannot be counted */
  if (setting == SETTING_COUNTERS) {
    counted = (struct count_list){0};
    if (!count_events_add(&counted, values->of.text[setting], unused, sizeof unused) ||
        !count_events_check(&counted, unused, sizeof unused))
      counted.text[0] = '\0';
    return counted.text;
  }
  if (setting == SETTING_PAUSED)
    return setting_is(values, setting, "yes") ? "1" : "0";
  if (setting != SETTING_TRACE_LIMIT && setting != SETTING_MEMORY_LIMIT)
    return values->of.text[setting];
  snprintf(buffer, 32, "%llu", (unsigned long long)setting_size(values->of.text[setting]));
  return buffer;
}

/* Writes the section of one program.  Returns whether it fits. */
static bool write_section(const struct setting_values *all, const struct setting_values *own, const char *name,
                          char text[PROGRAM_SETTINGS_BYTES])
{
  static const struct {
    enum setting setting;
    const char *variable;
  } variables[] = {{SETTING_EVENTS, "EVENTS"},
                   {SETTING_TASK_CONTEXT, "TASKS"},
                   {SETTING_PARALLELISM, "PARALLELISM"},
                   {SETTING_COUNTERS, "COUNT"},
                   {SETTING_WORK, "WORK"},
                   {SETTING_OVERHEAD_LIMIT, "OVERHEAD_LIMIT"},
                   {SETTING_TRACE, "TRACE"},
                   {SETTING_MEMORY_LIMIT, "MEMORY_LIMIT"},
                   {SETTING_TRACE_LIMIT, "TRACE_LIMIT"},
                   {SETTING_TRACE_KEEP, "TRACE_KEEP"},
                   {SETTING_PAUSED, "PAUSED"},
                   {SETTING_ARGUMENTS, "ARGUMENTS"},
                   {SETTING_KEEP_SYMBOLS, "KEEP_SYMBOLS"},
                   {SETTING_LEVEL, "LEVEL"}};
  static char common_filter[PROGRAM_SETTINGS_BYTES], filter[PROGRAM_SETTINGS_BYTES];
  size_t size = PROGRAM_SETTINGS_BYTES, at = (size_t)snprintf(text, size, "program %s\n", name);
  char buffer[32];
  for (size_t i = 0; i < sizeof variables / sizeof *variables && at < size; i++) {
    enum setting setting = variables[i].setting;
    if (strcmp(own->of.text[setting], all->of.text[setting]) != 0)
      at += (size_t)snprintf(text + at, size - at, "%s=%s\n", variables[i].variable, value_of(own, setting, buffer));
  }
  bool fits = filter_values_text(&own->of, filter, sizeof filter);
  if (at < size &&
      (!filter_values_text(&all->of, common_filter, sizeof common_filter) || strcmp(filter, common_filter)))
    at += (size_t)snprintf(text + at, size - at, "FILTER=%s\n", filter);
  return fits && at < size;
}

bool program_settings_text(const struct setting_layer *options, const struct configuration *configuration, char *text,
                           size_t size, char *message, size_t message_size)
{
  struct setting_values all, own;
  setting_resolve(options, NULL, &configuration->common, &all);
  text[0] = '\0';
  for (unsigned i = 0; i < configuration->program_count; i++) {
    char section[PROGRAM_SETTINGS_BYTES];
    const struct configuration_program *program = &configuration->programs[i];
    size_t at = strlen(text);
    setting_resolve(options, &program->layer, &configuration->common, &own);
    if (!write_section(&all, &own, program->name, section) || at + strlen(section) >= size) {
      enum setting longest = filter_values_longest(&own.of);
      snprintf(message, message_size,
               "%.400s:%d: %s: [program %s] has more than %d bytes of settings; use patterns with * or shorter lists",
               configuration->path, own.of.line[longest], setting_keys[longest].name, program->name,
               PROGRAM_SETTINGS_BYTES);
      return false;
    }
    strcpy(text + at, section);
  }
  return true;
}
