#include "hpcprof-lite/comparison/compare_items.h"

#include "hpcprof-lite/comparison/amounts.h"
#include "hpcprof-lite/comparison/run_map.h"

#include <math.h>
#include <stdlib.h>

enum run_figure {
  FIGURE_ELAPSED,
  FIGURE_CPU,
  FIGURE_WORK,
  FIGURE_OVERHEAD,
  FIGURE_LOCKWAIT,
  FIGURE_IDLE,
  FIGURE_SPAN,
  FIGURE_PARALLELISM,
  FIGURE_EFFICIENCY, /* and the following */
  FIGURES = FIGURE_EFFICIENCY + EFFICIENCY_COUNT
};

static const struct {
  const char *section, *name, *unit;
} about[FIGURE_EFFICIENCY] = {[FIGURE_ELAPSED] = {"run", "elapsed", "s"},
                              [FIGURE_CPU] = {"run", "cpu", "s"},
                              [FIGURE_WORK] = {"categories", "work", "s"},
                              [FIGURE_OVERHEAD] = {"categories", "overhead", "s"},
                              [FIGURE_LOCKWAIT] = {"categories", "lock wait", "s"},
                              [FIGURE_IDLE] = {"categories", "idle", "s"},
                              [FIGURE_SPAN] = {"parallelism", "span", "s"},
                              [FIGURE_PARALLELISM] = {"parallelism", "parallelism", "ratio"}};

/* A figure of a run in its unit; NAN if it is not known. */
static double run_value(const struct job *run, int figure)
{
  const struct totals *totals = &run->totals;
  const struct profile_workspan *workspan = &run->profile.workspan;
  bool time = tree_has_time(&run->columns);
  switch (figure) {
  case FIGURE_ELAPSED:
    return (double)totals->elapsed_ns / 1e9;
  case FIGURE_CPU:
    return (double)totals->cpu_ns / 1e9;
  case FIGURE_WORK:
    return time ? (double)totals->work_ns / 1e9 : NAN;
  case FIGURE_OVERHEAD:
    return time ? (double)totals->overhead_ns / 1e9 : NAN;
  case FIGURE_LOCKWAIT:
    return (double)totals->lockwait_ns / 1e9;
  case FIGURE_IDLE:
    return (double)totals->idle_ns / 1e9;
  case FIGURE_SPAN:
    return workspan->known ? (double)workspan->span / (workspan->is_time ? 1e9 : 1) : NAN;
  case FIGURE_PARALLELISM:
    return workspan->known ? workspan_parallelism(workspan->work, workspan->span) : NAN;
  default:
    return run->report.efficiency.known ? run->report.efficiency.value[figure - FIGURE_EFFICIENCY] : NAN;
  }
}

/* Adds a figure of the run unless a run does not know it. */
static int add_figure(struct comparison *comparison, int figure)
{
  struct compare_values sides[COMPARE_SIDES] = {0};
  double *values[COMPARE_SIDES] = {0};
  bool known = figure != FIGURE_SPAN || run_map_one_unit(comparison);
  bool sampled = figure == FIGURE_WORK || figure == FIGURE_OVERHEAD;
  for (int side = 0; side < COMPARE_SIDES; side++) {
    uint32_t count = comparison->counts[side];
    values[side] = calloc((size_t)count + 1, sizeof **values);
    if (!values[side]) {
      free(values[COMPARE_BASE]);
      return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
      values[side][i] = run_value(&comparison->runs[side][i], figure);
      known = known && !isnan(values[side][i]);
    }
    const struct job *run = &comparison->runs[side][0];
    uint32_t column = figure == FIGURE_WORK ? run->columns.work : run->columns.overhead;
    sides[side] = (struct compare_values){.values = values[side], .runs = count, .sample = 1};
    if (!sampled || column == MODEL_NONE)
      continue;
    sides[side].sample = amounts_of(run, column).sample / 1e9;
    sides[side].all = amounts_samples(run, column); /* used only if there is one run */
  }
  struct compare_result *result = &comparison->result;
  struct compare_item *item = &result->items[result->items_count];
  bool ratio = figure >= FIGURE_EFFICIENCY;
  *item = (struct compare_item){.section = ratio ? "efficiency" : about[figure].section,
                                .name = ratio ? efficiency_name(figure - FIGURE_EFFICIENCY) : about[figure].name,
                                .unit = ratio ? "ratio" : about[figure].unit,
                                .file = ""};
  if (figure == FIGURE_SPAN && !comparison->runs[COMPARE_NEW][0].profile.workspan.is_time)
    item->unit = "";
  item->figure = compare_values(&sides[COMPARE_BASE], &sides[COMPARE_NEW], sampled ? COMPARE_COUNTED : COMPARE_EXACT);
  result->items_count += known;
  free(values[COMPARE_BASE]);
  free(values[COMPARE_NEW]);
  return 0;
}

int compare_items(struct comparison *comparison)
{
  struct compare_result *result = &comparison->result;
  const struct tree *flat = &comparison->compare.joined;
  result->items = calloc((size_t)FIGURES + flat->count, sizeof *result->items);
  if (!result->items)
    return ERR_NOMEM;
  for (int i = 0; i < FIGURES; i++)
    if (add_figure(comparison, i))
      return ERR_NOMEM;
  for (uint32_t i = 1; i < flat->count; i++) {
    const struct tree_row *row = &flat->rows[flat->order[i]];
    const struct compare_figure *figure = &result->figures[flat->order[i]];
    if (row->kind != ROW_LINE && (figure->base > 0 || figure->now > 0))
      result->items[result->items_count++] =
          (struct compare_item){"function", row->name, result->unit, row->file, *figure};
  }
  result->compared = compare_correct(&result->items->figure, result->items_count, sizeof *result->items);
  return result->compared == SIZE_MAX ? ERR_NOMEM : 0;
}
