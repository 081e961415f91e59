#include "hpcprof-lite/analysis/grain_metrics.h"

#include <assert.h>
#include <math.h>

struct grain_limits grain_limits_of(const struct grain_limits *limits, const struct profile_process *process)
{
  assert(process->usable);
  enum { OWN_NODE = 10 }; /* the distance of a node from itself, in the tables of all systems */
  bool fewer = process->threads_max && process->threads_max < process->cpus;
  const double defaults[GRAIN_METRICS] = {
      [GRAIN_PARALLEL_BENEFIT] = 1, [GRAIN_PARALLELISM] = fewer ? process->threads_max : process->cpus,
      [GRAIN_SCATTER] = OWN_NODE,   [GRAIN_MEMORY] = 0.5,
      [GRAIN_DEVIATION] = 2,        [GRAIN_BALANCE] = 0.25};
  struct grain_limits result;
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    result.limit[i] = isnan(limits->limit[i]) ? defaults[i] : limits->limit[i];
  return result;
}

static double benefit(const struct grain_row *row)
{
  const struct grain *grain = row->grain;
  double cost = NAN;
  if (grain->siblings.threads && row->chunk_overhead != GRAIN_UNKNOWN)
    cost = (double)row->chunk_overhead;
  else if (!grain->siblings.threads && row->create != GRAIN_UNKNOWN && row->sync_overhead != GRAIN_UNKNOWN &&
           grain->siblings.count)
    cost = (double)row->create + (double)row->sync_overhead / (double)grain->siblings.count;
  return cost > 0 ? (double)row->exec / cost : NAN;
}

/* The members of a loop are its threads. */
static double balance(const struct grain_siblings *siblings)
{
  double longest = (double)siblings->longest;
  if (siblings->count < 2 || !siblings->longest)
    return NAN;
  return (longest - (double)siblings->exec / (double)siblings->count) / longest;
}

/* Cycles that were not stalled, for each that was. */
static double memory(const struct counter_names *counters, const struct grain_row *row)
{
  assert(counters->count <= COUNTERS_MAX);
  uint32_t cycles = counter_names_find(counters, "cycles");
  uint32_t stalled = counter_names_find(counters, "stalled-cycles-backend");
  if (cycles == counters->count || stalled == counters->count || row->counts[cycles] == GRAIN_UNKNOWN ||
      row->counts[stalled] == GRAIN_UNKNOWN || !row->counts[stalled])
    return NAN;
  return fmax((double)row->counts[cycles] / (double)row->counts[stalled] - 1, 0);
}

void grain_metrics_compute(const struct grain_limits *limits, double reference, const struct counter_names *counters,
                           struct grain_row *row)
{
  assert(row->grain);
  static const bool low_is_bad[GRAIN_METRICS] = {
      [GRAIN_PARALLEL_BENEFIT] = true, [GRAIN_PARALLELISM] = true, [GRAIN_MEMORY] = true};
  const struct grain *grain = row->grain;
  row->metric[GRAIN_PARALLEL_BENEFIT] = benefit(row);
  row->metric[GRAIN_PARALLELISM] = grain->parallelism == GRAIN_UNKNOWN ? NAN : (double)grain->parallelism;
  row->metric[GRAIN_SCATTER] = grain->siblings.scatter < 0 ? NAN : grain->siblings.scatter;
  row->metric[GRAIN_MEMORY] = memory(counters, row);
  row->metric[GRAIN_DEVIATION] = reference > 0 ? (double)row->exec / reference : NAN;
  row->metric[GRAIN_BALANCE] = balance(&grain->siblings);
  row->problems = 0;
  for (unsigned i = 0; i < GRAIN_METRICS; i++) {
    double value = row->metric[i], limit = limits->limit[i];
    if (!isnan(value) && (low_is_bad[i] ? value < limit : value > limit))
      row->problems |= 1u << i;
  }
}
