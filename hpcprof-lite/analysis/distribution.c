#include "hpcprof-lite/analysis/distribution.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

uint64_t distribution_value(const struct profile_thread *thread, enum distribution_figure figure)
{
  switch (figure) {
  case DISTRIBUTION_WORK:
    return thread->work_ns;
  case DISTRIBUTION_OVERHEAD:
    return thread->overhead_ns;
  case DISTRIBUTION_LOCKWAIT:
    return thread->lockwait_ns;
  case DISTRIBUTION_IDLE:
    return thread->idle_ns;
  case DISTRIBUTION_BLOCKED:
    return thread->blocked_ns;
  case DISTRIBUTION_CPU:
    return thread->cpu_ns;
  case DISTRIBUTION_WALL:
    return thread->wall_ns;
  case DISTRIBUTION_SAMPLES:
    return thread->samples;
  case DISTRIBUTION_DROPPED:
    return profile_sum(thread->lost[LOSS_MEMORY], thread->lost[LOSS_REFUSED]);
  case DISTRIBUTION_PARTIAL:
    return thread->lost[LOSS_PARTIAL];
  case DISTRIBUTION_FIGURES:
    break;
  }
  return 0;
}

const char *distribution_name(enum distribution_figure figure)
{
  static const char *const names[DISTRIBUTION_FIGURES] = {
      [DISTRIBUTION_WORK] = "work s", [DISTRIBUTION_OVERHEAD] = "ovhd s", [DISTRIBUTION_LOCKWAIT] = "lock s",
      [DISTRIBUTION_IDLE] = "idle s", [DISTRIBUTION_BLOCKED] = "block s", [DISTRIBUTION_CPU] = "cpu s",
      [DISTRIBUTION_WALL] = "wall s", [DISTRIBUTION_SAMPLES] = "samples", [DISTRIBUTION_DROPPED] = "drop",
      [DISTRIBUTION_PARTIAL] = "part"};
  return names[figure];
}

struct attribution_entry {
  uint64_t value, who;
  uint32_t place; /* in the order */
};

static int by_value(const void *a, const void *b)
{
  const struct attribution_entry *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static void fill(const struct profile *profile, const uint64_t *order, uint32_t count, enum distribution_figure figure,
                 struct attribution_entry *entries)
{
  for (uint32_t i = 0; i < count; i++) {
    const struct profile_thread *thread = &profile->processes[order[i] >> 32].threads[(uint32_t)order[i]];
    entries[i] = (struct attribution_entry){.value = distribution_value(thread, figure), .who = order[i], .place = i};
  }
  qsort(entries, count, sizeof *entries, by_value);
}

static void take_places(const struct attribution_entry *entries, uint32_t count, uint64_t places[DISTRIBUTION_PLACES],
                        uint64_t *mean)
{
  static const uint64_t percent[DISTRIBUTION_PLACES] = {
      [DISTRIBUTION_P5] = 5,   [DISTRIBUTION_P25] = 25, [DISTRIBUTION_MEDIAN] = 50,
      [DISTRIBUTION_P75] = 75, [DISTRIBUTION_P95] = 95, [DISTRIBUTION_MOST] = 100};
  uint64_t sum = 0;
  for (int i = 0; i < DISTRIBUTION_PLACES; i++) {
    uint64_t rank = (percent[i] * count + 99) / 100;
    places[i] = entries[rank ? rank - 1 : 0].value;
  }
  for (uint32_t i = 0; i < count; i++)
    sum = profile_sum(sum, entries[i].value);
  *mean = sum / count;
}

static void take_bins(const struct attribution_entry *entries, uint32_t count, struct distribution *distribution)
{
  uint64_t least = entries[0].value, range = entries[count - 1].value - least;
  distribution->bin_width = range ? range / DISTRIBUTION_BINS + 1 : 0;
  for (uint32_t i = 0; i < count; i++)
    distribution->bins[range ? (entries[i].value - least) / distribution->bin_width : 0]++;
}

/* The last of the sorted entries; of equals, the first of the order come first. */
static uint32_t take_most(const struct attribution_entry *entries, uint32_t count, bool positive,
                          uint64_t most[DISTRIBUTION_SHOWN])
{
  uint32_t taken = 0;
  for (uint32_t end = count; end && taken < DISTRIBUTION_SHOWN;) {
    uint32_t from = end - 1;
    while (from && entries[from - 1].value == entries[end - 1].value)
      from--;
    if (positive && !entries[from].value)
      break;
    for (uint32_t i = from; i < end && taken < DISTRIBUTION_SHOWN; i++)
      most[taken++] = entries[i].who;
    end = from;
  }
  return taken;
}

static int count_places(const struct profile *profile, struct distribution *distribution)
{
  const char **hosts = calloc((size_t)profile->processes_count + 1, sizeof *hosts);
  if (!hosts)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    if (profile->processes[i].usable)
      hosts[distribution->processes++] = profile->processes[i].host;
  qsort(hosts, distribution->processes, sizeof *hosts, array_by_text);
  for (uint32_t i = 0; i < distribution->processes; i++)
    distribution->hosts += !i || strcmp(hosts[i], hosts[i - 1]) != 0;
  free(hosts);
  return 0;
}

int distribution_compute(const struct profile *profile, const uint64_t *order, uint32_t count, bool has_time,
                         struct distribution *distribution)
{
  *distribution = (struct distribution){.threads = count, .by = has_time ? DISTRIBUTION_WORK : DISTRIBUTION_CPU};
  struct attribution_entry *entries = calloc((size_t)count + 1, sizeof *entries);
  if (!entries || count_places(profile, distribution)) {
    free(entries);
    return ERR_NOMEM;
  }
  for (enum distribution_figure figure = 0; figure < DISTRIBUTION_FIGURES; figure++) {
    fill(profile, order, count, figure, entries);
    take_places(entries, count, distribution->places[figure], &distribution->mean[figure]);
    if (figure == DISTRIBUTION_DROPPED)
      distribution->lossy_count = take_most(entries, count, true, distribution->lossy);
    if (figure != distribution->by)
      continue;
    take_bins(entries, count, distribution);
    take_most(entries, count, false, distribution->most);
    for (uint32_t i = 0; i < DISTRIBUTION_SHOWN; i++)
      distribution->least[i] = entries[i].who;
  }
  free(entries);
  return 0;
}
