#include "hpcprof-lite/analysis/causes.h"

enum { HIGH = 10 }; /* a figure is high from one part in so many */

/* Keeps a row if it is among the largest so far; equal ones stay in the order of the flat tree. */
static void keep(struct causes_finding worst[CAUSES_WORST], uint32_t *count, struct causes_finding found)
{
  uint32_t place = *count;
  while (place && worst[place - 1].cost_ns < found.cost_ns)
    place--;
  if (place == CAUSES_WORST)
    return;
  *count += *count < CAUSES_WORST;
  for (uint32_t i = *count - 1; i > place; i--)
    worst[i] = worst[i - 1];
  worst[place] = found;
}

/* The top-down row of that function to which most of the column is charged. */
static uint32_t heaviest(const struct tree *tree, const struct tree_row *function, uint32_t column)
{
  uint32_t best = 0;
  uint64_t most = 0;
  for (uint32_t i = 1; i < tree->count; i++) {
    uint32_t row = tree->order[i];
    uint64_t cost = tree_excl(tree, row, column);
    if (cost <= most || !tree_same_function(&tree->rows[row], function))
      continue;
    best = row;
    most = cost;
  }
  return best;
}

/* What is high in a region, by its figures with all that it calls. */
static enum causes_verdict judge_region(const struct tree *tree, const struct tree_columns *columns, uint32_t region)
{
  uint64_t work = tree_incl(tree, region, columns->work), overhead = tree_incl(tree, region, columns->overhead);
  uint64_t idle = tree_incl(tree, region, columns->idleness), all = tree_weight(tree, columns, region, true);
  bool much_overhead = overhead && overhead >= profile_sum(work, overhead) / HIGH, much_idle = idle >= all / HIGH;
  if (much_overhead)
    return much_idle ? CAUSES_RETHINK : CAUSES_COARSER;
  if (!much_idle)
    return CAUSES_MODERATE;
  return idle > work ? CAUSES_INSUFFICIENT : CAUSES_IMBALANCE;
}

static enum causes_verdict judge(const struct tree *tree, const struct tree_columns *columns, uint32_t context,
                                 bool locks)
{
  bool partial = false;
  uint32_t up = context;
  for (; up && up != PROFILE_NONE && tree->rows[up].kind != ROW_PARALLEL; up = tree->rows[up].parent)
    partial = partial || tree->rows[up].kind == ROW_PARTIAL;
  bool region = up && up != PROFILE_NONE;
  if (locks) {
    uint32_t around = region ? up : 0;
    return tree_incl(tree, around, columns->lockwait) > tree_incl(tree, around, columns->work) ? CAUSES_LOCKED
                                                                                               : CAUSES_CONTENTION;
  }
  if (region)
    return judge_region(tree, columns, up);
  if (partial)
    return CAUSES_UNKNOWN;
  return tree->rows[context].kind == ROW_RUNTIME ? CAUSES_RUNTIME : CAUSES_SERIAL;
}

uint32_t causes_worst(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                      uint32_t column, struct causes_finding worst[CAUSES_WORST])
{
  uint32_t count = 0;
  uint64_t least = tree_weight(flat, columns, 0, true) / 100;
  for (uint32_t row = flat->rows[0].first_child; row != PROFILE_NONE; row = flat->rows[row].next) {
    uint64_t cost = tree_excl(flat, row, column);
    if (cost && cost >= least)
      keep(worst, &count, (struct causes_finding){.flat = row, .cost_ns = cost});
  }
  for (uint32_t i = 0; i < count; i++) {
    worst[i].context = heaviest(tree, &flat->rows[worst[i].flat], column);
    worst[i].verdict = judge(tree, columns, worst[i].context, column == columns->lockwait);
  }
  return count;
}
