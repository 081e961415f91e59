#include "hpcprof-lite/analysis/distribution.h"

#include "common/array.h"
#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  size_t offset; /* of the figure in a thread */
} figures[DISTRIBUTION_FIGURES] = {
    [DISTRIBUTION_WORK] = {"Work s", offsetof(struct profile_thread, work_ns)},
    [DISTRIBUTION_OVERHEAD] = {"Ovhd s", offsetof(struct profile_thread, overhead_ns)},
    [DISTRIBUTION_LOCKWAIT] = {"Lock s", offsetof(struct profile_thread, lockwait_ns)},
    [DISTRIBUTION_IDLE] = {"Idle s", offsetof(struct profile_thread, idle_ns)},
    [DISTRIBUTION_BLOCKED] = {"Block s", offsetof(struct profile_thread, blocked_ns)},
    [DISTRIBUTION_CPU] = {"CPU s", offsetof(struct profile_thread, cpu_ns)},
    [DISTRIBUTION_WALL] = {"Wall s", offsetof(struct profile_thread, wall_ns)},
    [DISTRIBUTION_SAMPLES] = {"Samples", offsetof(struct profile_thread, samples)},
    [DISTRIBUTION_DROPPED] = {"Lost", offsetof(struct profile_thread, lost[LOSS_MEMORY])}, /* and those in the tool */
    [DISTRIBUTION_PARTIAL] = {"Part", offsetof(struct profile_thread, lost[LOSS_PARTIAL])},
};

uint64_t distribution_value(const struct profile_thread *thread, enum distribution_figure figure)
{
  assert(figure < DISTRIBUTION_FIGURES);
  const uint64_t *value = (const uint64_t *)((const char *)thread + figures[figure].offset);
  return figure == DISTRIBUTION_DROPPED ? model_sum(*value, thread->lost[LOSS_IN_TOOL]) : *value;
}

const char *distribution_name(enum distribution_figure figure)
{
  assert(figure < DISTRIBUTION_FIGURES);
  return figures[figure].name;
}

struct thread_value {
  uint64_t value;
  uint64_t thread;   /* element of the order */
  uint32_t position; /* in the order */
};

ORDER(by_value, struct thread_value, COMPARE(x->value, y->value) ?: COMPARE(x->position, y->position))

/* Fills values[] with a figure of each thread, in ascending order. */
static void fill_values(const struct profile *profile, const uint64_t *order, uint32_t count,
                        enum distribution_figure figure, struct thread_value *values)
{
  for (uint32_t i = 0; i < count; i++) {
    const struct profile_thread *thread = &profile->processes[order[i] >> 32].threads[(uint32_t)order[i]];
    values[i] = (struct thread_value){.value = distribution_value(thread, figure), .thread = order[i], .position = i};
  }
  qsort(values, count, sizeof *values, by_value);
}

static void take_quantiles(const struct thread_value *values, uint32_t count,
                           uint64_t quantiles[DISTRIBUTION_QUANTILES], uint64_t *mean)
{
  assert(count);
  static const uint64_t percent[DISTRIBUTION_QUANTILES] = {
      [DISTRIBUTION_P5] = 5,   [DISTRIBUTION_P25] = 25, [DISTRIBUTION_MEDIAN] = 50,
      [DISTRIBUTION_P75] = 75, [DISTRIBUTION_P95] = 95, [DISTRIBUTION_MOST] = 100};
  uint64_t sum = 0;
  for (int i = 0; i < DISTRIBUTION_QUANTILES; i++) {
    uint64_t rank = (percent[i] * count + 99) / 100;
    quantiles[i] = values[rank ? rank - 1 : 0].value;
  }
  for (uint32_t i = 0; i < count; i++)
    model_add(&sum, values[i].value);
  *mean = sum / count;
}

static void take_bins(const struct thread_value *values, uint32_t count, struct distribution *distribution)
{
  assert(count && values[0].value <= values[count - 1].value);
  uint64_t least = values[0].value, range = values[count - 1].value - least;
  distribution->bin_width = range ? range / DISTRIBUTION_BINS + 1 : 0;
  for (uint32_t i = 0; i < count; i++)
    distribution->bins[range ? (values[i].value - least) / distribution->bin_width : 0]++;
}

/* Fills most[] with the threads of the largest values, of equal ones in the order of threads; with `positive`, only
 * those above 0.  Returns their number. */
static uint32_t take_most(const struct thread_value *values, uint32_t count, bool positive,
                          uint64_t most[DISTRIBUTION_SHOWN])
{
  uint32_t taken = 0;
  for (uint32_t end = count; end && taken < DISTRIBUTION_SHOWN;) {
    uint32_t from = end - 1;
    while (from && values[from - 1].value == values[end - 1].value)
      from--;
    if (positive && !values[from].value)
      break;
    for (uint32_t i = from; i < end && taken < DISTRIBUTION_SHOWN; i++)
      most[taken++] = values[i].thread;
    end = from;
  }
  return taken;
}

static void count_processes(const struct profile *profile, struct distribution *distribution)
{
  const char **hosts = xcalloc(profile->processes_count, sizeof *hosts);
  for (uint32_t i = 0; i < profile->processes_count; i++)
    if (profile->processes[i].usable)
      hosts[distribution->processes++] = profile->processes[i].host;
  qsort(hosts, distribution->processes, sizeof *hosts, array_by_text);
  for (uint32_t i = 0; i < distribution->processes; i++)
    distribution->hosts += !i || strcmp(hosts[i], hosts[i - 1]) != 0;
  free(hosts);
}

void distribution_compute(const struct profile *profile, const uint64_t *order, uint32_t count, bool has_time,
                          struct distribution *distribution)
{
  assert(order && count);
  *distribution = (struct distribution){.threads = count, .by = has_time ? DISTRIBUTION_WORK : DISTRIBUTION_CPU};
  struct thread_value *values = xcalloc(count, sizeof *values);
  count_processes(profile, distribution);
  for (enum distribution_figure figure = 0; figure < DISTRIBUTION_FIGURES; figure++) {
    fill_values(profile, order, count, figure, values);
    take_quantiles(values, count, distribution->quantiles[figure], &distribution->mean[figure]);
    if (figure == DISTRIBUTION_DROPPED)
      distribution->lossy_count = take_most(values, count, true, distribution->lossy);
    if (figure != distribution->by)
      continue;
    take_bins(values, count, distribution);
    take_most(values, count, false, distribution->most);
    for (uint32_t i = 0; i < DISTRIBUTION_SHOWN; i++)
      distribution->least[i] = values[i].thread;
  }
  free(values);
}
