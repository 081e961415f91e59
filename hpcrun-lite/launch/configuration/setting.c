#include "hpcrun-lite/launch/configuration/setting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/counters.h"

const char *const setting_modes[] = {"off", "online", "log", NULL};
const char *const setting_units[] = {"cpu-time", "instructions", "cycles", "user", NULL};
const char *const setting_traces[] = {"states", "samples", "off", NULL};
const char *const setting_contexts[] = {"region", "creation", NULL};
const char *const setting_parts[] = {"first", "last", NULL};
const char *const setting_runtimes[] = {"auto", "exchange", "keep", NULL};
static const char *const answers[] = {"yes", "no", NULL};
static const char *const levels[] = {"off", "summary", "samples", "states", "all", NULL};

const struct setting_key setting_keys[SETTINGS] = {
    [SETTING_EVENTS] = {"events", "--event", "task-clock@f200", SECTION_MEASURE, .list = true},
    [SETTING_PARALLELISM] = {"parallelism", "--parallelism", "online", SECTION_MEASURE, "mode", setting_modes},
    [SETTING_WORK] = {"work", "--work", "cpu-time", SECTION_MEASURE, "unit", setting_units},
    [SETTING_TRACE] = {"trace", "--trace", "off", SECTION_MEASURE, "kind of trace", setting_traces},
    [SETTING_TASK_CONTEXT] = {"task-context", "--task-context", "region", SECTION_MEASURE, "context", setting_contexts},
    [SETTING_OMP_RUNTIME] = {"omp-runtime", "--omp-runtime", "auto", SECTION_MEASURE, .whole = true},
    [SETTING_OUTPUT] = {"output", "--output", NULL, SECTION_MEASURE, .whole = true},
    [SETTING_OVERWRITE] = {"overwrite", "--overwrite", "no", SECTION_MEASURE, "answer", answers, .whole = true},
    [SETTING_PAUSED] = {"paused", "--paused", "no", SECTION_MEASURE, "answer", answers},
    [SETTING_ARGUMENTS] = {"arguments", "--no-arguments", "yes", SECTION_MEASURE, "answer", answers},
    [SETTING_KEEP_SYMBOLS] = {"keep-symbols", "--keep-symbols", "no", SECTION_MEASURE, "answer", answers},
    [SETTING_LEVEL] = {"level", NULL, "samples", SECTION_MEASURE, "level", levels},
    [SETTING_COUNTERS] = {"counters", "--count", "none", SECTION_MEASURE, .list = true},
    [SETTING_FUNCTIONS] = {"functions", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_MODULES] = {"modules", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_CONSTRUCTS] = {"constructs", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_RANKS] = {"ranks", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_THREADS] = {"threads", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_SKIP_FIRST] = {"skip-first", NULL, NULL, SECTION_FILTER},
    [SETTING_ONLY] = {"only", NULL, NULL, SECTION_FILTER},
    [SETTING_REGIONS] = {"regions", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_MEMORY_LIMIT] = {"memory-limit", "--memory-limit", "none", SECTION_BUFFERS},
    [SETTING_TRACE_LIMIT] = {"trace-limit", "--trace-limit", "1G", SECTION_BUFFERS},
    [SETTING_TRACE_KEEP] = {"trace-keep", "--trace-keep", "first", SECTION_BUFFERS, "part", setting_parts},
    [SETTING_OVERHEAD_LIMIT] = {"overhead-limit", "--overhead-limit", "5", SECTION_MEASURE},
};

enum setting setting_find(const char *name)
{
  enum setting setting = 0;
  while (setting < SETTINGS && strcmp(setting_keys[setting].name, name) != 0)
    setting++;
  return setting;
}

uint64_t setting_size(const char *text)
{
  static const char suffixes[] = "KMG";
  char *end;
  errno = 0;
  unsigned long long size = strtoull(text, &end, 10);
  const char *suffix = *end ? strchr(suffixes, *end) : NULL;
  unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
  bool number = *text >= '0' && *text <= '9' && (suffix ? !end[1] : !*end);
  return number && !errno && size <= UINT64_MAX >> shift ? size << shift : 0;
}

/* ---- levels ---- */

/* What a level implies, where the same place does not say it. */
struct level {
  const char *name, *paused, *trace, *parallelism;
};
static const struct level levels_imply[] = {{"off", "yes", NULL, NULL},
                                            {"summary", "no", "off", NULL},
                                            {"samples", "no", "off", NULL},
                                            {"states", "no", "states", NULL},
                                            {"all", "no", "states", "log"}};

/* Whether a level and a setting beside it contradict each other.  Starting paused goes with every level; samples may be
 * kept in a trace. */
static bool contradicts(const char *level, enum setting setting, const char *implied, const char *given)
{
  if (!implied || !given || !strcmp(implied, given))
    return false;
  if (setting == SETTING_PAUSED)
    return !strcmp(level, "off");
  return setting != SETTING_TRACE || strcmp(level, "samples") != 0 || strcmp(given, "samples") != 0;
}

/* The setting that has no effect at the level "summary", which takes no samples; SETTINGS: none. */
static enum setting without_effect(const struct setting_layer *layer)
{
  static const enum setting of_samples[] = {SETTING_FUNCTIONS, SETTING_MODULES, SETTING_THREADS, SETTING_EVENTS};
  for (size_t i = 0; i < sizeof of_samples / sizeof *of_samples; i++)
    if (layer->text[of_samples[i]])
      return of_samples[i];
  return SETTINGS;
}

bool setting_expand_level(struct setting_layer *layer, const char *file, char *message, size_t message_size)
{
  const char *name = layer->text[SETTING_LEVEL];
  const struct level *level = levels_imply;
  if (!name)
    return true;
  while (strcmp(level->name, name) != 0)
    level++;
  const struct {
    enum setting setting;
    const char *text;
  } implied[] = {
      {SETTING_PAUSED, level->paused}, {SETTING_TRACE, level->trace}, {SETTING_PARALLELISM, level->parallelism}};
  enum setting unused = strcmp(name, "summary") ? SETTINGS : without_effect(layer);
  const char *preset = unused == SETTINGS ? NULL : setting_keys[unused].preset;
  if (unused != SETTINGS && !(preset && !strcmp(layer->text[unused], preset))) { /* --print-config writes the default */
    snprintf(message, message_size,
             "%s:%d: level: 'summary' takes no samples, which %s in line %d is about; remove one of them", file,
             layer->line[SETTING_LEVEL], setting_keys[unused].name, layer->line[unused]);
    return false;
  }
  for (size_t i = 0; i < sizeof implied / sizeof *implied; i++) {
    enum setting setting = implied[i].setting;
    const char *given = layer->text[setting];
    if (contradicts(name, setting, implied[i].text, given)) {
      snprintf(message, message_size, "%s:%d: level: '%s' contradicts %s = %s in line %d; remove one of them", file,
               layer->line[SETTING_LEVEL], name, setting_keys[setting].name, given, layer->line[setting]);
      return false;
    }
    if (!given && implied[i].text) {
      layer->text[setting] = implied[i].text;
      layer->line[setting] = layer->line[SETTING_LEVEL];
    }
  }
  return true;
}

/* ---- the settings in force ---- */

bool setting_is(const struct setting_values *values, enum setting setting, const char *word)
{
  const char *text = values->of.text[setting];
  return text && strcmp(text, word) == 0;
}

/* Options may contradict a file's level, and keys of a program the level of all: it becomes the one that describes what
 * is in force. */
static void adapt_level(struct setting_values *values, const struct setting_layer *program)
{
  const char **level = &values->of.text[SETTING_LEVEL], *was = *level;
  bool program_samples = program && !program->text[SETTING_LEVEL] && without_effect(program) != SETTINGS;
  bool asks_samples = program_samples || values->source[SETTING_EVENTS] == SOURCE_OPTION ||
                      setting_is(values, SETTING_TRACE, "samples");
  bool states = setting_is(values, SETTING_TRACE, "states"), log = setting_is(values, SETTING_PARALLELISM, "log");
  bool stays = (!strcmp(was, "off") && setting_is(values, SETTING_PAUSED, "yes")) ||
               (!strcmp(was, "summary") && !asks_samples && !states);
  if (!stays && states)
    *level = log ? "all" : "states";
  else if (!stays)
    *level = "samples";
  if (strcmp(*level, was) != 0)
    values->source[SETTING_LEVEL] = SOURCE_DERIVED;
}

/* Work and span are taken as a whole where they are asked for by name, unless the same layer or one before it names a
 * limit; and always with a graph log, a trace or counters of events. */
static void adapt_limit(struct setting_values *values, const struct setting_layer *const layers[], size_t count)
{
  bool asked = setting_is(values, SETTING_PARALLELISM, "log") || !setting_is(values, SETTING_TRACE, "off") ||
               !(setting_is(values, SETTING_COUNTERS, "none") || setting_is(values, SETTING_COUNTERS, COUNTERS_LOCKS));
  for (size_t i = 0; i < count && !asked && !(layers[i] && layers[i]->text[SETTING_OVERHEAD_LIMIT]); i++)
    asked = layers[i] && layers[i]->text[SETTING_PARALLELISM] && setting_is(values, SETTING_PARALLELISM, "online");
  if (asked && !setting_is(values, SETTING_OVERHEAD_LIMIT, "100")) {
    values->of.text[SETTING_OVERHEAD_LIMIT] = "100";
    values->source[SETTING_OVERHEAD_LIMIT] = SOURCE_DERIVED;
  }
}

void setting_resolve(const struct setting_layer *options, const struct setting_layer *program,
                     const struct setting_layer *common, struct setting_values *values)
{
  const struct setting_layer *const layers[] = {options, program, common};
  *values = (struct setting_values){0};
  for (enum setting setting = 0; setting < SETTINGS; setting++) {
    values->of.text[setting] = setting_keys[setting].preset;
    for (size_t i = sizeof layers / sizeof *layers; i-- > 0;)
      if (layers[i] && layers[i]->text[setting]) {
        values->of.text[setting] = layers[i]->text[setting];
        values->of.line[setting] = layers[i]->line[setting];
        values->source[setting] = i == 0 ? SOURCE_OPTION : SOURCE_FILE;
      }
  }
  adapt_level(values, program);
  adapt_limit(values, layers, sizeof layers / sizeof *layers);
}
