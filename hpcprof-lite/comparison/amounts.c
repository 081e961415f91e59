#include "hpcprof-lite/comparison/amounts.h"

#include "common/order.h"

#include <assert.h>
#include <string.h>

/* The time of a sample: what all samples stand for, divided by their number, but at least the period. */
static double time_of_sample(const struct job *run, uint32_t column)
{
  assert(column < run->columns.count);
  double period = (double)run->columns.columns[column].period;
  uint64_t samples = tree_incl(&run->tree, 0, run->columns.samples);
  double mean = samples ? (double)tree_spent(&run->tree, &run->columns, 0, true) / (double)samples : 0;
  return MAX(mean, period);
}

struct amounts_column amounts_of(const struct job *run, uint32_t column)
{
  assert(column < run->columns.count);
  const struct catalog_column *about = &run->columns.columns[column];
  bool time = !strcmp(about->unit, "ns");
  struct amounts_column result = {.unit = "", .scale = 1, .basis = COMPARE_COUNTED, .sample = (double)about->period};
  if (column == run->columns.samples)
    result.sample = 1;
  else if (column == run->columns.work || column == run->columns.overhead)
    result.sample = time_of_sample(run, column);
  else if (column == run->columns.lockwait || column == run->columns.idleness)
    result.basis = COMPARE_DISTRIBUTED;
  else if (column == run->columns.critical) {
    result.basis = COMPARE_DISTRIBUTED;
    time = run->profile.workspan.is_time;
  }
  if (time) {
    result.unit = "s";
    result.scale = 1e-9;
  }
  if (!(result.sample > 0))
    result.sample = 1;
  return result;
}

uint64_t amounts_samples(const struct job *run, uint32_t column)
{
  uint64_t all = tree_incl(&run->tree, 0, run->columns.samples);
  uint64_t counted = model_rounded((double)tree_incl(&run->tree, 0, column) / amounts_of(run, column).sample);
  return MAX(counted, all);
}
