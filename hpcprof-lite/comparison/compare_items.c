#include "hpcprof-lite/comparison/compare_items.h"

#include "common/xalloc.h"
#include "hpcprof-lite/comparison/amounts.h"
#include "hpcprof-lite/report/comparison/run_figures.h"
#include "hpcprof-lite/comparison/run_map.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Adds a figure of the run unless a run does not know it. */
static void add_figure(struct comparison *comparison, uint32_t figure)
{
  assert(figure < RUN_FIGURES);
  struct compare_values sides[COMPARE_SIDES];
  double *values[COMPARE_SIDES];
  bool known = figure != RUN_FIGURE_SPAN || run_map_one_unit(comparison);
  bool sampled = figure == RUN_FIGURE_WORK || figure == RUN_FIGURE_OVERHEAD;
  for (int side = 0; side < COMPARE_SIDES; side++) {
    uint32_t count = comparison->counts[side];
    values[side] = xcalloc(count, sizeof **values);
    for (uint32_t i = 0; i < count; i++) {
      values[side][i] = run_figure_value(&comparison->runs[side][i].report, figure);
      known = known && !isnan(values[side][i]);
    }
    const struct job *run = &comparison->runs[side][0];
    uint32_t column = figure == RUN_FIGURE_WORK ? run->columns.work : run->columns.overhead;
    sides[side] = (struct compare_values){.values = values[side], .runs = count, .sample = 1};
    if (!sampled || column == MODEL_NONE)
      continue;
    sides[side].sample = amounts_of(run, column).sample / 1e9;
    sides[side].all = amounts_samples(run, column); /* used only if there is one run */
  }
  struct compare_result *result = &comparison->result;
  struct compare_item *item = &result->items[result->items_count];
  const struct run_figure about = run_figure(figure);
  *item = (struct compare_item){.section = about.section,
                                .name = about.name,
                                .unit = run_figure_unit(&comparison->runs[COMPARE_NEW][0].report, figure),
                                .file = ""};
  item->figure = compare_values(&sides[COMPARE_BASE], &sides[COMPARE_NEW], sampled ? COMPARE_COUNTED : COMPARE_EXACT);
  result->items_count += known;
  free(values[COMPARE_BASE]);
  free(values[COMPARE_NEW]);
}

void compare_items(struct comparison *comparison)
{
  assert(comparison->compare.joined.order && !comparison->result.items);
  struct compare_result *result = &comparison->result;
  const struct tree *flat = &comparison->compare.joined;
  result->items = xcalloc((size_t)RUN_FIGURES + flat->count, sizeof *result->items);
  for (uint32_t i = 0; i < RUN_FIGURES; i++)
    if (i != RUN_FIGURE_WITH_CORES || result->without_core[COMPARE_BASE] > 0 || result->without_core[COMPARE_NEW] > 0)
      add_figure(comparison, i);
  for (uint32_t i = 1; i < flat->count; i++) {
    const struct tree_row *row = &flat->rows[flat->order[i]];
    const struct compare_figure *figure = &result->figures[flat->order[i]];
    if (row->kind != ROW_LINE && (figure->base > 0 || figure->now > 0))
      result->items[result->items_count++] =
          (struct compare_item){"function", row->name, result->unit, row->file, *figure};
  }
  result->compared = compare_correct(&result->items->figure, result->items_count, sizeof *result->items);
}
