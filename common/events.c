#include "common/glibc_names.h"
#include "common/events.h"

#include "common/words.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_FREQUENCY 200
#define FREQUENCY_MAX 100000
#define TIME_PERIOD_MIN_US 10
#define TIME_PERIOD_MAX_US (3600ULL * 1000000)
#define COUNT_PERIOD_MAX (1ULL << 62)
#define NS_PER_SECOND 1000000000ULL

struct known_event {
  const char *name;
  const char *canonical; /* NULL: the name itself */
  enum event_clock clock;
  uint32_t type;
  uint64_t config;
};

#define HARDWARE(name, canonical, config)                                                                              \
  {                                                                                                                    \
    name, canonical, EVENT_COUNT, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config                                           \
  }
#define SOFTWARE(name, canonical, config)                                                                              \
  {                                                                                                                    \
    name, canonical, EVENT_COUNT, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config                                           \
  }

static const struct known_event known_events[] = {
    {"task-clock", NULL, EVENT_CPU_TIME, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"CPUTIME", "task-clock", EVENT_CPU_TIME, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"cpu-clock", NULL, EVENT_CPU_TIME, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"wall", NULL, EVENT_WALL_TIME, 0, 0},
    {"REALTIME", "wall", EVENT_WALL_TIME, 0, 0},
    HARDWARE("cycles", NULL, CPU_CYCLES),
    HARDWARE("cpu-cycles", "cycles", CPU_CYCLES),
    HARDWARE("instructions", NULL, INSTRUCTIONS),
    HARDWARE("cache-references", NULL, CACHE_REFERENCES),
    HARDWARE("cache-misses", NULL, CACHE_MISSES),
    HARDWARE("branches", NULL, BRANCH_INSTRUCTIONS),
    HARDWARE("branch-instructions", "branches", BRANCH_INSTRUCTIONS),
    HARDWARE("branch-misses", NULL, BRANCH_MISSES),
    HARDWARE("bus-cycles", NULL, BUS_CYCLES),
    HARDWARE("ref-cycles", NULL, REF_CPU_CYCLES),
    HARDWARE("stalled-cycles-frontend", NULL, STALLED_CYCLES_FRONTEND),
    HARDWARE("idle-cycles-frontend", "stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
    HARDWARE("stalled-cycles-backend", NULL, STALLED_CYCLES_BACKEND),
    HARDWARE("idle-cycles-backend", "stalled-cycles-backend", STALLED_CYCLES_BACKEND),
    SOFTWARE("page-faults", NULL, PAGE_FAULTS),
    SOFTWARE("faults", "page-faults", PAGE_FAULTS),
    SOFTWARE("minor-faults", NULL, PAGE_FAULTS_MIN),
    SOFTWARE("major-faults", NULL, PAGE_FAULTS_MAJ),
    SOFTWARE("context-switches", NULL, CONTEXT_SWITCHES),
    SOFTWARE("cs", "context-switches", CONTEXT_SWITCHES),
    SOFTWARE("cpu-migrations", NULL, CPU_MIGRATIONS),
    SOFTWARE("migrations", "cpu-migrations", CPU_MIGRATIONS),
    SOFTWARE("alignment-faults", NULL, ALIGNMENT_FAULTS),
    SOFTWARE("emulation-faults", NULL, EMULATION_FAULTS),
};

struct cache_word {
  const char *word;
  uint64_t code;
};

static const struct cache_word caches[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I}, {"LLC", PERF_COUNT_HW_CACHE_LL},
    {"dTLB", PERF_COUNT_HW_CACHE_DTLB},     {"iTLB", PERF_COUNT_HW_CACHE_ITLB},     {"branch", PERF_COUNT_HW_CACHE_BPU},
    {"node", PERF_COUNT_HW_CACHE_NODE},
};

#define CACHE_ACTION(op, result)                                                                                       \
  ((uint64_t)PERF_COUNT_HW_CACHE_OP_##op << 8 | (uint64_t)PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct cache_word cache_actions[] = {
    {"loads", CACHE_ACTION(READ, ACCESS)},          {"load-misses", CACHE_ACTION(READ, MISS)},
    {"stores", CACHE_ACTION(WRITE, ACCESS)},        {"store-misses", CACHE_ACTION(WRITE, MISS)},
    {"prefetches", CACHE_ACTION(PREFETCH, ACCESS)}, {"prefetch-misses", CACHE_ACTION(PREFETCH, MISS)},
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

_Static_assert(LENGTH(known_events) <= EVENTS_NAMES, "events_list() has room for all names and NULL");

void events_list(const char *names[EVENTS_NAMES + 1])
{
  for (size_t i = 0; i < LENGTH(known_events); i++)
    if (!known_events[i].canonical)
      *names++ = known_events[i].name;
  *names = NULL;
}

static bool find_known(const char *name, struct event *event)
{
  for (size_t i = 0; i < LENGTH(known_events); i++) {
    const struct known_event *known = &known_events[i];
    if (strcasecmp(known->name, name) != 0)
      continue;
    snprintf(event->name, sizeof event->name, "%s", known->canonical ? known->canonical : known->name);
    event->clock = known->clock;
    event->perf_type = known->type;
    event->perf_config = known->config;
    return true;
  }
  return false;
}

/* CACHE-ACTION, such as L1-dcache-load-misses. */
static bool find_cache(const char *name, struct event *event)
{
  for (size_t i = 0; i < LENGTH(caches); i++) {
    size_t length = strlen(caches[i].word);
    if (strncasecmp(name, caches[i].word, length) != 0 || name[length] != '-')
      continue;
    for (size_t k = 0; k < LENGTH(cache_actions); k++) {
      if (strcasecmp(name + length + 1, cache_actions[k].word) != 0)
        continue;
      snprintf(event->name, sizeof event->name, "%s-%s", caches[i].word, cache_actions[k].word);
      event->clock = EVENT_COUNT;
      event->perf_type = PERF_TYPE_HW_CACHE;
      event->perf_config = caches[i].code | cache_actions[k].code;
      return true;
    }
  }
  return false;
}

/* rHEX: the processor's own number of an event. */
static bool find_raw(const char *name, struct event *event)
{
  size_t digits = strlen(name) - 1;
  if (name[0] != 'r' || digits < 1 || digits > 16 || strspn(name + 1, "0123456789abcdefABCDEF") != digits)
    return false;
  event->clock = EVENT_COUNT;
  event->perf_type = PERF_TYPE_RAW;
  event->perf_config = strtoull(name + 1, NULL, 16);
  snprintf(event->name, sizeof event->name, "r%llx", (unsigned long long)event->perf_config);
  return true;
}

/* Decimal digits only, and all of the text: no sign, no space, no unit. */
static bool parse_number(const char *text, uint64_t *value)
{
  if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
    return false;
  errno = 0;
  *value = strtoull(text, NULL, 10);
  return errno == 0;
}

static int set_frequency(const char *text, struct event *event, char *message, size_t message_size)
{
  uint64_t frequency;
  if (!parse_number(text, &frequency) || frequency < 1 || frequency > FREQUENCY_MAX) {
    snprintf(message, message_size, "bad frequency 'f%.20s' of event %s: write f1 to f%d (samples a second)", text,
             event->name, FREQUENCY_MAX);
    return -1;
  }
  event->frequency = (uint32_t)frequency;
  event->period = event->clock == EVENT_COUNT ? 0 : NS_PER_SECOND / frequency;
  return 0;
}

static int set_period(const char *text, struct event *event, char *message, size_t message_size)
{
  bool is_time = event->clock != EVENT_COUNT;
  uint64_t least = is_time ? TIME_PERIOD_MIN_US : 1;
  uint64_t most = is_time ? TIME_PERIOD_MAX_US : COUNT_PERIOD_MAX;
  uint64_t period;
  if (!parse_number(text, &period) || period < least || period > most) {
    snprintf(message, message_size, "bad period '%.20s' of event %s: write fN (samples a second), or %llu to %llu (%s)",
             text, event->name, (unsigned long long)least, (unsigned long long)most,
             is_time ? "microseconds" : "counts");
    return -1;
  }
  event->frequency = 0;
  event->period = is_time ? period * 1000 : period;
  return 0;
}

static int unknown_event(const char *name, char *message, size_t message_size)
{
  const char *names[EVENTS_NAMES + 1], *similar;
  events_list(names);
  if (name[0] == '\0')
    snprintf(message, message_size, "empty event name: see hpcrun-lite(1) for names");
  else if (strchr(name, ':'))
    snprintf(message, message_size, "event '%.60s': modifiers after ':' are not supported", name);
  else if ((similar = words_similar(names, name)))
    snprintf(message, message_size, "unknown event '%.60s': did you mean '%s'?", name, similar);
  else
    snprintf(message, message_size,
             "unknown event '%.60s': see hpcrun-lite(1) for names; perf list shows the machine's", name);
  return -1;
}

int events_parse(const char *text, struct event *event, char *message, size_t message_size)
{
  char name[64];
  const char *how = strchr(text, '@');
  size_t length = how ? (size_t)(how - text) : strlen(text);
  memset(event, 0, sizeof *event);
  snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), text);
  if (length >= sizeof name || !(find_known(name, event) || find_cache(name, event) || find_raw(name, event)))
    return unknown_event(name, message, message_size);
  if (!how) {
    event->frequency = DEFAULT_FREQUENCY;
    event->period = event->clock == EVENT_COUNT ? 0 : NS_PER_SECOND / DEFAULT_FREQUENCY;
    return 0;
  }
  if (how[1] == 'f')
    return set_frequency(how + 2, event, message, message_size);
  return set_period(how + 1, event, message, message_size);
}

static bool already_there(const struct event *events, int count, const char *name)
{
  for (int i = 0; i < count; i++)
    if (strcmp(events[i].name, name) == 0)
      return true;
  return false;
}

int events_parse_list(const char *text, struct event *events, char *message, size_t message_size)
{
  for (int count = 0;; count++) {
    char one[128];
    size_t length = strcspn(text, ",");
    if (count == EVENTS_MAX) {
      snprintf(message, message_size, "more than %d events", EVENTS_MAX);
      return -1;
    }
    snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one), text);
    if (events_parse(one, &events[count], message, message_size) != 0)
      return -1;
    if (already_there(events, count, events[count].name)) {
      snprintf(message, message_size, "event '%s' is given twice: leave out one", events[count].name);
      return -1;
    }
    if (text[length] == '\0')
      return count + 1;
    text += length + 1;
  }
}
