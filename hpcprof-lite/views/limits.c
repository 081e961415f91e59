#include "hpcprof-lite/views/limits.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

struct candidate {
  uint64_t weight;
  uint32_t position, row;
};

ORDER(heaviest_first, struct candidate, COMPARE(y->weight, x->weight) ?: COMPARE(x->position, y->position))

static uint64_t weigh(const struct tree *tree, const struct tree_columns *columns, const struct limits *limits,
                      uint32_t row)
{
  if (limits->critical_path)
    return tree_incl(tree, row, columns->critical);
  return tree_weight(tree, columns, row, !limits->by_excl);
}

/* Whether a cell is below that share of a column's sum. */
static bool is_below(uint64_t cell, uint64_t sum, double percent)
{
  return !cell || (double)cell < (double)sum * percent / 100;
}

/* Whether the weight of a row and its shares of the critical path and of counted events are all below the limit. */
static bool is_light(const struct tree *tree, const struct tree_columns *columns, const struct limits *limits,
                     uint32_t row)
{
  uint64_t (*cell)(const struct tree *, uint32_t, uint32_t) = limits->by_excl ? tree_excl : tree_incl;
  bool light = is_below(cell(tree, row, columns->critical), tree_incl(tree, 0, columns->critical), limits->percent);
  if (limits->critical_path)
    return light;
  for (uint32_t i = 0; i < MIN(columns->count, CATALOG_COLUMNS_MAX) && light; i++) /* lists may have more */
    if (columns->columns[i].role % COLUMN_OF_WHOLE == COLUMN_EVENT)
      light = is_below(cell(tree, row, i), tree_incl(tree, 0, i), limits->percent);
  return light && (double)weigh(tree, columns, limits, row) <
                      (double)tree_weight(tree, columns, 0, true) * limits->percent / 100;
}

static bool follows(const struct tree *tree, const struct limits *limits, uint32_t row)
{
  return limits->lines_follow && tree->rows[row].kind == ROW_LINE;
}

/* Whether nothing was counted in a row and below it. */
static bool is_empty(const struct tree *tree, uint32_t row)
{
  const uint64_t *cells = tree->incl + (size_t)row * tree->columns;
  for (uint32_t i = 0; i < tree->columns; i++)
    if (cells[i])
      return false;
  return true;
}

/* Hides all rows except limits->rows, then the rows below a hidden row. */
static void keep_heaviest(const struct tree *tree, const struct tree_columns *columns, const struct limits *limits,
                          bool *shown)
{
  assert(limits->rows);
  struct candidate *candidates = xcalloc(tree->count, sizeof *candidates);
  uint32_t count = 0;
  for (uint32_t i = 1; i < tree->count; i++) {
    uint32_t row = tree->order[i];
    if (shown[row] && !follows(tree, limits, row))
      candidates[count++] = (struct candidate){
          .weight = limits->in_order ? 0 : weigh(tree, columns, limits, row), .position = i, .row = row};
  }
  qsort(candidates, count, sizeof *candidates, heaviest_first);
  for (uint32_t i = limits->rows; i < count; i++)
    shown[candidates[i].row] = false;
  for (uint32_t i = 1; i < tree->count; i++)
    shown[tree->order[i]] = shown[tree->order[i]] && shown[tree->rows[tree->order[i]].parent];
  free(candidates);
}

void limits_apply(const struct tree *tree, const struct tree_columns *columns, const struct limits *limits,
                  bool **shown, uint32_t *left_out)
{
  assert(tree->order);
  *shown = xcalloc(tree->count, sizeof **shown);
  (*shown)[0] = !limits->critical_path || tree_incl(tree, 0, columns->critical);
  for (uint32_t i = 1; i < tree->count; i++) {
    uint32_t row = tree->order[i];
    const struct tree_row *here = &tree->rows[row];
    bool deep = limits->depth && here->depth > limits->depth;
    bool light = is_light(tree, columns, limits, row);
    bool empty = limits->part && is_empty(tree, row);
    (*shown)[row] = (*shown)[here->parent] && (follows(tree, limits, row) || (!deep && !light && !empty));
  }
  if (limits->rows)
    keep_heaviest(tree, columns, limits, *shown);
  *left_out = 0;
  for (uint32_t i = 0; i < tree->count; i++)
    *left_out += !(*shown)[i] && !(limits->part && is_empty(tree, i));
}
