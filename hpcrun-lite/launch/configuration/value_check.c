#include "hpcrun-lite/launch/configuration/value_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/events.h"
#include "common/words.h"
#include "hpcrun-lite/launch/configuration/filter_values.h"
#include "hpcrun-lite/launch/events/count_events.h"

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

static bool check_word(const struct check *check, const struct setting_key *key)
{
  char all[128];
  words_list(key->words, ", ", all, sizeof all);
  return words_find(key->words, check->text) >= 0 ||
         refuse(check, "unknown %s '%.100s'; write one of %s", key->what, check->text, all);
}

static bool check_events(const struct check *check)
{
  struct event events[EVENTS_MAX];
  char reason[512];
  if (!*check->text)
    return refuse(check, "an event is needed: see hpcrun-lite(1) for names");
  return events_parse_list(check->text, events, reason, sizeof reason) > 0 || refuse(check, "%s", reason);
}

static bool check_counters(const struct check *check)
{
  struct count_list list = {0};
  char reason[512];
  return count_events_add(&list, check->text, reason, sizeof reason) || refuse(check, "%s", reason);
}

static bool check_trace_limit(const struct check *check)
{
  enum { LEAST = 64 << 10 };
  return setting_size(check->text) >= LEAST ||
         refuse(check, "'%.100s' is not a size of at least 64K, such as 500M", check->text);
}

static bool check_memory_limit(const struct check *check)
{
  enum { LEAST = 2 << 20 };
  return !strcmp(check->text, "none") || setting_size(check->text) >= LEAST ||
         refuse(check, "'%.100s' is neither a size of at least 2M, such as 64M, nor 'none'", check->text);
}

static bool check_overhead_limit(const struct check *check)
{
  const char *text = check->text;
  size_t digits = strspn(text, "0123456789");
  bool percent = digits && !text[digits] && digits <= 3 && atoi(text) <= 100;
  return percent || refuse(check, "'%.100s' is not a whole percentage from 0 to 100", text);
}

static bool check_filter(enum setting setting, const struct check *check)
{
  char reason[512] = "";
  return filter_values_check(setting, check->text, reason, sizeof reason) || refuse(check, "%s", reason);
}

bool value_check(enum setting setting, const char *subject, const char *text, char *message, size_t message_size)
{
  const struct check check = {subject, text, message, message_size};
  if (setting_keys[setting].words)
    return check_word(&check, &setting_keys[setting]);
  switch (setting) {
  case SETTING_EVENTS:
    return check_events(&check);
  case SETTING_OMP_RUNTIME:
    return *text || refuse(&check, "auto, exchange, keep or a library is needed");
  case SETTING_OUTPUT:
    return *text || refuse(&check, "a directory is needed");
  case SETTING_COUNTERS:
    return check_counters(&check);
  case SETTING_MEMORY_LIMIT:
    return check_memory_limit(&check);
  case SETTING_TRACE_LIMIT:
    return check_trace_limit(&check);
  case SETTING_OVERHEAD_LIMIT:
    return check_overhead_limit(&check);
  default:
    return check_filter(setting, &check);
  }
}
