#include "hpcprof-lite/report/comparison/run_figures.h"

#include "hpcprof-lite/report/views.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct run_figure run_figure(uint32_t number)
{
  static const struct run_figure figures[RUN_FIGURE_EFFICIENCY] = {
      [RUN_FIGURE_ELAPSED] = {"run", "elapsed", "s", false},
      [RUN_FIGURE_WITH_CORES] = {"cores", "elapsed_with_cores", "s", false},
      [RUN_FIGURE_CPU] = {"run", "cpu", "s", false},
      [RUN_FIGURE_WORK] = {"categories", "work", "s", true},
      [RUN_FIGURE_OVERHEAD] = {"categories", "overhead", "s", true},
      [RUN_FIGURE_LOCKWAIT] = {"categories", "lock wait", "s", true},
      [RUN_FIGURE_IDLE] = {"categories", "idle", "s", true},
      [RUN_FIGURE_SPAN] = {"parallelism", "span", "s", false},
      [RUN_FIGURE_PARALLELISM] = {"parallelism", "parallelism", "ratio", false}};
  assert(number < RUN_FIGURES);
  if (number < RUN_FIGURE_EFFICIENCY)
    return figures[number];
  if (number == RUN_FIGURE_MPI)
    return (struct run_figure){"categories", "mpi", "s", false};
  if (number >= RUN_FIGURE_JOB)
    return (struct run_figure){"job", efficiency_job_name(number - RUN_FIGURE_JOB), "ratio", false};
  return (struct run_figure){"efficiency", efficiency_name(number - RUN_FIGURE_EFFICIENCY), "ratio", false};
}

double run_figure_value(const struct report *run, uint32_t number)
{
  const struct totals *totals = run->totals;
  const struct profile_workspan *workspan = &run->profile->workspan;
  double unit = workspan->is_time ? 1e9 : 1;
  bool time = tree_has_time(run->columns);
  switch (number) {
  case RUN_FIGURE_ELAPSED:
    return (double)totals->elapsed_ns / 1e9;
  case RUN_FIGURE_WITH_CORES:
    return totals->with_cores_ns ? (double)totals->with_cores_ns / 1e9 : NAN;
  case RUN_FIGURE_CPU:
    return (double)totals->cpu_ns / 1e9;
  case RUN_FIGURE_WORK:
    return time ? (double)totals->work_ns / 1e9 : NAN;
  case RUN_FIGURE_OVERHEAD:
    return time ? (double)totals->overhead_ns / 1e9 : NAN;
  case RUN_FIGURE_LOCKWAIT:
    return (double)totals->lockwait_ns / 1e9;
  case RUN_FIGURE_IDLE:
    return (double)totals->idle_ns / 1e9;
  case RUN_FIGURE_SPAN:
    return workspan->known ? (double)workspan->span / unit : NAN;
  case RUN_FIGURE_PARALLELISM:
    return workspan->known ? workspan_parallelism(workspan->work, workspan->span) : NAN;
  case RUN_FIGURE_MPI:
    return run->mpi ? (double)totals->mpi_ns / 1e9 : NAN;
  default:
    if (number >= RUN_FIGURE_JOB)
      return run->efficiency.job.known ? run->efficiency.job.value[number - RUN_FIGURE_JOB] : NAN;
    return run->efficiency.known ? run->efficiency.value[number - RUN_FIGURE_EFFICIENCY] : NAN;
  }
}

const char *run_figure_unit(const struct report *run, uint32_t number)
{
  return number == RUN_FIGURE_SPAN && !run->profile->workspan.is_time ? "" : run_figure(number).unit;
}

/* Adds the columns of a schema that are times or counts. */
static uint32_t add_columns(const struct schema *schema, enum condition_scope scope, struct condition_metric *metrics,
                            uint32_t count)
{
  for (uint32_t i = 0; i < schema->count; i++) {
    enum column_type type = schema->columns[i].type;
    if (schema->columns[i].text_only || (type != COLUMN_COUNT && type != COLUMN_SECONDS && type != COLUMN_AMOUNT))
      continue;
    assert(count < RUN_METRICS_MAX);
    metrics[count++] = (struct condition_metric){schema->columns[i].name, schema->columns[i].name, scope, false};
  }
  return count;
}

uint32_t run_figure_metrics(struct condition_metric metrics[RUN_METRICS_MAX])
{
  uint32_t count = 0;
  const char *efficiency = efficiency_name(EFFICIENCY_PARALLEL);
  metrics[count++] = (struct condition_metric){"efficiency", efficiency, CONDITION_RUN, true};
  for (uint32_t i = 0; i < RUN_FIGURES; i++) {
    const struct run_figure figure = run_figure(i);
    if (!figure.of_contexts)
      metrics[count++] = (struct condition_metric){figure.name, figure.name, CONDITION_RUN,
                                                   !strcmp(figure.unit, "ratio") && i != RUN_FIGURE_PARALLELISM};
  }
  count = add_columns(&tree_view_schema, CONDITION_CONTEXTS, metrics, count);
  count = add_columns(&tree_view_mpi_schema, CONDITION_CONTEXTS, metrics, count);
  return add_columns(&regions_schema, CONDITION_CONSTRUCTS, metrics, count);
}
