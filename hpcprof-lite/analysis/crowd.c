#include "hpcprof-lite/analysis/crowd.h"

#include <stdlib.h>
#include <string.h>

uint64_t crowd_value(const struct profile_thread *thread, enum crowd_figure figure)
{
  switch (figure) {
  case CROWD_WORK:
    return thread->work_ns;
  case CROWD_OVERHEAD:
    return thread->overhead_ns;
  case CROWD_LOCKWAIT:
    return thread->lockwait_ns;
  case CROWD_IDLE:
    return thread->idle_ns;
  case CROWD_BLOCKED:
    return thread->blocked_ns;
  case CROWD_CPU:
    return thread->cpu_ns;
  case CROWD_WALL:
    return thread->wall_ns;
  case CROWD_SAMPLES:
    return thread->samples;
  case CROWD_DROPPED:
    return contexts_sum(thread->lost[LOSS_MEMORY], thread->lost[LOSS_REFUSED]);
  case CROWD_PARTIAL:
    return thread->lost[LOSS_PARTIAL];
  case CROWD_FIGURES:
    break;
  }
  return 0;
}

const char *crowd_name(enum crowd_figure figure)
{
  static const char *const names[CROWD_FIGURES] = {
      [CROWD_WORK] = "work s", [CROWD_OVERHEAD] = "ovhd s", [CROWD_LOCKWAIT] = "lock s",
      [CROWD_IDLE] = "idle s", [CROWD_BLOCKED] = "block s", [CROWD_CPU] = "cpu s",
      [CROWD_WALL] = "wall s", [CROWD_SAMPLES] = "samples", [CROWD_DROPPED] = "drop",
      [CROWD_PARTIAL] = "part"};
  return names[figure];
}

struct entry {
  uint64_t value, who;
  uint32_t place; /* in the order */
};

static int by_value(const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static void fill(const struct profile *profile, const uint64_t *order, uint32_t count, enum crowd_figure figure,
                 struct entry *entries)
{
  for (uint32_t i = 0; i < count; i++) {
    const struct profile_thread *thread = &profile->processes[order[i] >> 32].threads[(uint32_t)order[i]];
    entries[i] = (struct entry){.value = crowd_value(thread, figure), .who = order[i], .place = i};
  }
  qsort(entries, count, sizeof *entries, by_value);
}

static void take_places(const struct entry *entries, uint32_t count, uint64_t places[CROWD_PLACES], uint64_t *mean)
{
  static const uint64_t percent[CROWD_PLACES] = {
      [CROWD_P5] = 5, [CROWD_P25] = 25, [CROWD_MEDIAN] = 50, [CROWD_P75] = 75, [CROWD_P95] = 95, [CROWD_MOST] = 100};
  uint64_t sum = 0;
  for (int i = 0; i < CROWD_PLACES; i++) {
    uint64_t rank = (percent[i] * count + 99) / 100;
    places[i] = entries[rank ? rank - 1 : 0].value;
  }
  for (uint32_t i = 0; i < count; i++)
    sum = contexts_sum(sum, entries[i].value);
  *mean = sum / count;
}

static void take_bins(const struct entry *entries, uint32_t count, struct crowd *crowd)
{
  uint64_t least = entries[0].value, range = entries[count - 1].value - least;
  crowd->bin_width = range ? range / CROWD_BINS + 1 : 0;
  for (uint32_t i = 0; i < count; i++)
    crowd->bins[range ? (entries[i].value - least) / crowd->bin_width : 0]++;
}

/* The last of the sorted entries; of equals, the first of the order come first. */
static uint32_t take_most(const struct entry *entries, uint32_t count, bool positive, uint64_t most[CROWD_SHOWN])
{
  uint32_t taken = 0;
  for (uint32_t end = count; end && taken < CROWD_SHOWN;) {
    uint32_t from = end - 1;
    while (from && entries[from - 1].value == entries[end - 1].value)
      from--;
    if (positive && !entries[from].value)
      break;
    for (uint32_t i = from; i < end && taken < CROWD_SHOWN; i++)
      most[taken++] = entries[i].who;
    end = from;
  }
  return taken;
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int count_places(const struct profile *profile, struct crowd *crowd)
{
  const char **hosts = calloc((size_t)profile->processes_count + 1, sizeof *hosts);
  if (!hosts)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    if (profile->processes[i].usable)
      hosts[crowd->processes++] = profile->processes[i].host;
  qsort(hosts, crowd->processes, sizeof *hosts, by_text);
  for (uint32_t i = 0; i < crowd->processes; i++)
    crowd->hosts += !i || strcmp(hosts[i], hosts[i - 1]) != 0;
  free(hosts);
  return 0;
}

int crowd_compute(const struct profile *profile, const uint64_t *order, uint32_t count, bool has_time,
                  struct crowd *crowd)
{
  *crowd = (struct crowd){.threads = count, .by = has_time ? CROWD_WORK : CROWD_CPU};
  struct entry *entries = calloc((size_t)count + 1, sizeof *entries);
  if (!entries || count_places(profile, crowd)) {
    free(entries);
    return ERR_NOMEM;
  }
  for (enum crowd_figure figure = 0; figure < CROWD_FIGURES; figure++) {
    fill(profile, order, count, figure, entries);
    take_places(entries, count, crowd->places[figure], &crowd->mean[figure]);
    if (figure == CROWD_DROPPED)
      crowd->lossy_count = take_most(entries, count, true, crowd->lossy);
    if (figure != crowd->by)
      continue;
    take_bins(entries, count, crowd);
    take_most(entries, count, false, crowd->most);
    for (uint32_t i = 0; i < CROWD_SHOWN; i++)
      crowd->least[i] = entries[i].who;
  }
  free(entries);
  return 0;
}
