#include "common/glibc_names.h"
#include "common/counters.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool counters_as_usage(struct counter *counter)
{
  static const uint64_t configs[COUNTER_USAGES] = {
      [COUNTER_PAGE_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS,
      [COUNTER_MINOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MIN,
      [COUNTER_MAJOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
      [COUNTER_CONTEXT_SWITCHES] = PERF_COUNT_SW_CONTEXT_SWITCHES,
  };
  unsigned usage = 0;
  if (counter->usage)
    return true;
  if (counter->user_only || counter->kernel_only || counter->type != PERF_TYPE_SOFTWARE)
    return false;
  while (usage < COUNTER_USAGES && counter->config != configs[usage])
    usage++;
  if (usage == COUNTER_USAGES)
    return false;
  counter->usage = true;
  counter->type = 0;
  counter->config = usage;
  return true;
}

const char *counters_how(const struct counter *counter)
{
  if (counter->usage)
    return " (by getrusage)";
  if (counter->user_only)
    return " (in user mode only)";
  return counter->kernel_only ? " (in kernel mode only)" : "";
}

/* The modes in which it counts, as the text of a list has them. */
static const char *mode_of(const struct counter *counter)
{
  if (counter->user_only)
    return "/user";
  return counter->kernel_only ? "/kernel" : "";
}

bool counters_format(const struct counter *counters, unsigned count, bool locks, char *text, size_t text_size)
{
  size_t used = (size_t)snprintf(text, text_size, "%s", locks ? COUNTERS_LOCKS : "");
  for (unsigned i = 0; i < count && used < text_size; i++) {
    const struct counter *counter = &counters[i];
    char type[16], config1[32] = "";
    snprintf(type, sizeof type, counter->usage ? "usage" : "%x", (unsigned)counter->type);
    if (counter->config1)
      snprintf(config1, sizeof config1, "/%llx", (unsigned long long)counter->config1);
    used += (size_t)snprintf(text + used, text_size - used, "%s%s=%s/%llx%s%s", used ? "," : "", counter->name, type,
                             (unsigned long long)counter->config, config1, mode_of(counter));
  }
  return used < text_size;
}

/* A hexadecimal number, and what follows it: '/' or the end of the entry. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
  char *next;
  if (*at >= end || !strchr("0123456789abcdef", **at))
    return false;
  *number = strtoull(*at, &next, 16);
  if (next > end || (next < end && *next != '/'))
    return false;
  *at = next < end ? next + 1 : end;
  return true;
}

/* "user" or "kernel" at the end of the entry. */
static bool take_mode(const char **at, const char *end, struct counter *counter)
{
  size_t length = (size_t)(end - *at);
  counter->user_only = length == strlen("user") && !strncmp(*at, "user", length);
  counter->kernel_only = length == strlen("kernel") && !strncmp(*at, "kernel", length);
  *at = counter->user_only || counter->kernel_only ? end : *at;
  return *at == end;
}

static bool parse_one(const char *text, const char *end, struct counter *counter)
{
  static const char usage[] = "usage/";
  const char *at = end;
  uint64_t type = 0;
  while (at > text && at[-1] != '=')
    at--;
  if (at - text < 2 || (size_t)(at - text) > sizeof counter->name)
    return false;
  *counter = (struct counter){.usage = !strncmp(at, usage, sizeof usage - 1)};
  memcpy(counter->name, text, (size_t)(at - text) - 1);
  at += counter->usage ? sizeof usage - 1 : 0;
  if (!counter->usage && !take_number(&at, end, &type))
    return false;
  counter->type = (uint32_t)type;
  if (!take_number(&at, end, &counter->config) || (counter->usage && counter->config >= COUNTER_USAGES))
    return false;
  if (take_mode(&at, end, counter))
    return true;
  return take_number(&at, end, &counter->config1) && take_mode(&at, end, counter);
}

unsigned counters_parse(const char *text, struct counter *counters, bool *locks)
{
  unsigned count = 0;
  *locks = false;
  for (; *text; text += *text == ',') {
    size_t length = strcspn(text, ",");
    if (length == strlen(COUNTERS_LOCKS) && !strncmp(text, COUNTERS_LOCKS, length)) {
      *locks = true;
      text += length;
      continue;
    }
    if (count == COUNTERS_MAX || !parse_one(text, text + length, &counters[count]))
      return 0;
    count++;
    text += length;
  }
  return count;
}
