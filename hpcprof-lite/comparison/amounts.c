#include "hpcprof-lite/comparison/amounts.h"

#include <string.h>

/* The time of a sample: what all samples stand for, divided by their number, but at least the period. */
static double time_of_sample(const struct job *run, uint32_t column)
{
  double period = (double)run->columns.columns[column].period;
  uint64_t samples = tree_incl(&run->tree, 0, run->columns.samples);
  double mean = samples ? (double)tree_spent(&run->tree, &run->columns, 0, true) / (double)samples : 0;
  return mean > period ? mean : period;
}

struct amounts_column amounts_of(const struct job *run, uint32_t column)
{
  const struct catalog_column *about = &run->columns.columns[column];
  bool time = !strcmp(about->unit, "ns");
  struct amounts_column result = {
      .unit = time ? "s" : "", .scale = time ? 1e-9 : 1, .basis = COMPARE_COUNTED, .sample = (double)about->period};
  if (column == run->columns.samples)
    result.sample = 1;
  else if (column == run->columns.work || column == run->columns.overhead)
    result.sample = time_of_sample(run, column);
  else if (column == run->columns.lockwait || column == run->columns.idleness)
    result.basis = COMPARE_DISTRIBUTED;
  else if (column == run->columns.critical) {
    result.basis = COMPARE_DISTRIBUTED;
    result.unit = run->profile.workspan.is_time ? "s" : "";
    result.scale = run->profile.workspan.is_time ? 1e-9 : 1;
  }
  result.sample = result.sample > 0 ? result.sample : 1;
  return result;
}

uint64_t amounts_samples(const struct job *run, uint32_t column)
{
  uint64_t all = tree_incl(&run->tree, 0, run->columns.samples);
  uint64_t counted = model_rounded((double)tree_incl(&run->tree, 0, column) / amounts_of(run, column).sample);
  return counted > all ? counted : all;
}

static const char *const construct_names[COMPARE_CONSTRUCT_COLUMNS] = {[CONSTRUCT_EXEC] = "exec_s",
                                                                       [CONSTRUCT_COUNT] = "exec_count",
                                                                       [CONSTRUCT_BODY] = "body_s",
                                                                       [CONSTRUCT_ENTER] = "enter_s",
                                                                       [CONSTRUCT_EXIT] = "exit_s",
                                                                       [CONSTRUCT_EXIT_BARRIER] = "exit_barrier_s",
                                                                       [CONSTRUCT_STARTUP] = "startup_s",
                                                                       [CONSTRUCT_SHUTDOWN] = "shutdown_s",
                                                                       [CONSTRUCT_TASK] = "task_s",
                                                                       [CONSTRUCT_SECTION] = "section_s",
                                                                       [CONSTRUCT_SECTION_COUNT] = "section_count",
                                                                       [CONSTRUCT_SINGLE] = "single_s",
                                                                       [CONSTRUCT_SINGLE_COUNT] = "single_count",
                                                                       [COMPARE_EXECUTIONS] = "executions",
                                                                       [COMPARE_GAIN] = "gain_s"};

static const char *const parallelism_names[COMPARE_PARALLELISM_COLUMNS] = {[COMPARE_INSTANCES] = "instances",
                                                                           [COMPARE_WORK] = "work",
                                                                           [COMPARE_SPAN] = "span",
                                                                           [COMPARE_CRITICAL_PATH] = "critical_path",
                                                                           [COMPARE_LOCK_BOUND] = "lock_bound"};

static const struct amounts_list regions = {.names = construct_names,
                                            .count = COMPARE_CONSTRUCT_COLUMNS,
                                            .standard = CONSTRUCT_EXEC,
                                            .weight = CONSTRUCT_EXEC,
                                            .counts = 1u << CONSTRUCT_COUNT | 1u << CONSTRUCT_SECTION_COUNT |
                                                      1u << CONSTRUCT_SINGLE_COUNT | 1u << COMPARE_EXECUTIONS};

static const struct amounts_list parallelism = {.names = parallelism_names,
                                                .count = COMPARE_PARALLELISM_COLUMNS,
                                                .standard = COMPARE_SPAN,
                                                .weight = COMPARE_WORK,
                                                .counts = 1u << COMPARE_INSTANCES};

const struct amounts_list *amounts_list(enum options_view view)
{
  return view == OPTIONS_REGIONS ? &regions : view == OPTIONS_PARALLELISM ? &parallelism : NULL;
}

uint32_t amounts_list_column(const struct amounts_list *list, const char *name)
{
  for (uint32_t i = 0; i < list->count; i++)
    if (!strcmp(name, list->names[i]))
      return i;
  return MODEL_NONE;
}

bool amounts_list_counts(const struct amounts_list *list, uint32_t column)
{
  return list->counts >> column & 1;
}

bool amounts_construct_value(const struct construct_entry *entry, uint32_t column, uint64_t *value)
{
  if (column < CONSTRUCT_COLUMNS)
    return construct_cell(entry, &entry->sum, (enum construct_column)column, value);
  *value = column == COMPARE_GAIN ? entry->gain_ns : entry->sum.executions;
  return entry->kind != DIRECTIVE_PROGRAM;
}
