#include "hpcrun-lite/launch/configuration/setting.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/events.h"
#include "hpcrun-lite/launch/configuration/filter_values.h"

const struct setting_key setting_keys[SETTINGS] = {
    [SETTING_EVENTS] = {"events", "--event", "task-clock@f200", SECTION_MEASURE, .list = true},
    [SETTING_PARALLELISM] = {"parallelism", "--parallelism", "online", SECTION_MEASURE},
    [SETTING_WORK] = {"work", "--work", "cpu-time", SECTION_MEASURE},
    [SETTING_TRACE] = {"trace", "--trace", "off", SECTION_MEASURE},
    [SETTING_TASK_CONTEXT] = {"task-context", "--task-context", "region", SECTION_MEASURE},
    [SETTING_OMP_RUNTIME] = {"omp-runtime", "--omp-runtime", "auto", SECTION_MEASURE, .whole = true},
    [SETTING_OUTPUT] = {"output", "--output", NULL, SECTION_MEASURE, .whole = true},
    [SETTING_OVERWRITE] = {"overwrite", "--overwrite", "no", SECTION_MEASURE, .whole = true},
    [SETTING_PAUSED] = {"paused", "--paused", "no", SECTION_MEASURE},
    [SETTING_LEVEL] = {"level", NULL, "samples", SECTION_MEASURE},
    [SETTING_COUNTERS] = {"counters", NULL, NULL, SECTION_MEASURE, .unavailable = true},
    [SETTING_FUNCTIONS] = {"functions", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_MODULES] = {"modules", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_CONSTRUCTS] = {"constructs", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_RANKS] = {"ranks", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_THREADS] = {"threads", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_SKIP_FIRST] = {"skip-first", NULL, NULL, SECTION_FILTER},
    [SETTING_ONLY] = {"only", NULL, NULL, SECTION_FILTER},
    [SETTING_REGIONS] = {"regions", NULL, NULL, SECTION_FILTER, .list = true},
    [SETTING_TRACE_LIMIT] = {"trace-limit", "--trace-limit", "1G", SECTION_BUFFERS},
    [SETTING_TRACE_KEEP] = {"trace-keep", "--trace-keep", "first", SECTION_BUFFERS},
};

enum setting setting_find(const char *name)
{
  enum setting setting = 0;
  while (setting < SETTINGS && strcmp(setting_keys[setting].name, name) != 0)
    setting++;
  return setting;
}

/* ---- checks ---- */

struct check {
  const char *subject, *text;
  char *message;
  size_t size;
};

static bool refuse(const struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const struct check *check, const char *format, ...)
{
  int length = snprintf(check->message, check->size, "%s: ", check->subject);
  va_list arguments;
  va_start(arguments, format);
  if (length > 0 && (size_t)length < check->size)
    vsnprintf(check->message + length, check->size - (size_t)length, format, arguments);
  va_end(arguments);
  return false;
}

/* Accepts one of the words; they end in NULL. */
static bool check_word(const struct check *check, const char *what, const char *const *words)
{
  char all[128] = "";
  for (; *words && strcmp(*words, check->text) != 0; words++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", all[0] ? ", " : "", *words);
  return *words || refuse(check, "unknown %s '%.100s' (%s)", what, check->text, all);
}

static bool check_events(const struct check *check)
{
  struct event events[EVENTS_MAX];
  char reason[512];
  if (!*check->text)
    return refuse(check, "an event is needed: see hpcrun-lite(1) for names");
  return events_parse_list(check->text, events, reason, sizeof reason) > 0 || refuse(check, "%s", reason);
}

/* Reads a size: a number that may end in K, M or G.  Returns 0 if it is none that fits. */
uint64_t setting_size(const char *text)
{
  static const char suffixes[] = "KMG";
  char *end;
  unsigned long long size = strtoull(text, &end, 10);
  const char *suffix = *end ? strchr(suffixes, *end) : NULL;
  unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
  bool number = *text >= '0' && *text <= '9' && (suffix ? !end[1] : !*end);
  return number && size <= UINT64_MAX >> shift ? size << shift : 0;
}

static bool check_trace_limit(const struct check *check)
{
  enum { LEAST = 64 << 10 };
  return setting_size(check->text) >= LEAST ||
         refuse(check, "'%.100s' is not a size of at least 64K, such as 500M", check->text);
}

static bool check_filter(enum setting setting, const struct check *check)
{
  char reason[512] = "";
  return filter_values_check(setting, check->text, reason, sizeof reason) || refuse(check, "%s", reason);
}

bool setting_check(enum setting setting, const char *subject, const char *text, char *message, size_t message_size)
{
  static const char *const modes[] = {"off", "online", "log", NULL};
  static const char *const units[] = {"cpu-time", "instructions", "cycles", "user", NULL};
  static const char *const traces[] = {"states", "samples", "off", NULL};
  static const char *const contexts[] = {"region", "creation", NULL};
  static const char *const answers[] = {"yes", "no", NULL};
  static const char *const levels[] = {"off", "summary", "samples", "states", "all", NULL};
  static const char *const parts[] = {"first", "last", NULL};
  const struct check check = {subject, text, message, message_size};
  switch (setting) {
  case SETTING_EVENTS:
    return check_events(&check);
  case SETTING_PARALLELISM:
    return check_word(&check, "mode", modes);
  case SETTING_WORK:
    return check_word(&check, "unit", units);
  case SETTING_TRACE:
    return check_word(&check, "kind of trace", traces);
  case SETTING_TASK_CONTEXT:
    return check_word(&check, "context", contexts);
  case SETTING_OMP_RUNTIME:
    return *text || refuse(&check, "auto, exchange, keep or a library is needed");
  case SETTING_OUTPUT:
    return *text || refuse(&check, "a directory is needed");
  case SETTING_OVERWRITE:
  case SETTING_PAUSED:
    return check_word(&check, "answer", answers);
  case SETTING_LEVEL:
    return check_word(&check, "level", levels);
  case SETTING_COUNTERS:
    return refuse(&check, "not built yet: this version counts no events; remove the line");
  case SETTING_TRACE_LIMIT:
    return check_trace_limit(&check);
  case SETTING_TRACE_KEEP:
    return check_word(&check, "part", parts);
  default:
    return check_filter(setting, &check);
  }
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

/* Options may contradict a file's level: it becomes the one that says what is in force. */
static void adapt_level(struct setting_values *values)
{
  const char **level = &values->of.text[SETTING_LEVEL], *was = *level;
  bool asks_samples = values->source[SETTING_EVENTS] == SOURCE_OPTION || setting_is(values, SETTING_TRACE, "samples");
  bool states = setting_is(values, SETTING_TRACE, "states"), log = setting_is(values, SETTING_PARALLELISM, "log");
  bool stays = (!strcmp(was, "off") && setting_is(values, SETTING_PAUSED, "yes")) ||
               (!strcmp(was, "summary") && !asks_samples && !states);
  if (!stays)
    *level = states && log ? "all" : states ? "states" : "samples";
  if (strcmp(*level, was) != 0)
    values->source[SETTING_LEVEL] = SOURCE_DERIVED;
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
  adapt_level(values);
}
