#include "hpcprof-lite/analysis/causes.h"

#include <string.h>

enum { HIGH = 10 }; /* a figure is high from 1 / HIGH on */

/* Inserts a finding if it is among the largest so far.  Equal ones stay in the order of the flat tree. */
static void insert(struct causes_finding worst[CAUSES_WORST], uint32_t *count, struct causes_finding found)
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

/* Returns the top-down row of a function to which most of the column is charged. */
static uint32_t heaviest_context(const struct tree *tree, const struct tree_row *function, uint32_t column)
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

/* Judges a region by its inclusive figures. */
static enum causes_verdict judge_region(const struct tree *tree, const struct tree_columns *columns, uint32_t region)
{
  uint64_t work = tree_incl(tree, region, columns->work), overhead = tree_incl(tree, region, columns->overhead);
  uint64_t idle = tree_incl(tree, region, columns->idleness), all = tree_weight(tree, columns, region, true);
  bool high_overhead = overhead > all / 100 && overhead >= model_sum(work, overhead) / HIGH;
  bool high_idle = idle >= all / HIGH;
  if (high_overhead)
    return high_idle ? CAUSES_RETHINK : CAUSES_COARSER;
  if (!high_idle)
    return CAUSES_MODERATE;
  return idle > work ? CAUSES_INSUFFICIENT : CAUSES_IMBALANCE;
}

static enum causes_verdict judge(const struct tree *tree, const struct tree_columns *columns, uint32_t context,
                                 bool locks)
{
  bool partial = false;
  uint32_t region = context;
  for (; region && region != MODEL_NONE && tree->rows[region].kind != ROW_PARALLEL; region = tree->rows[region].parent)
    partial = partial || tree->rows[region].kind == ROW_PARTIAL;
  bool in_region = region && region != MODEL_NONE;
  if (locks) {
    uint32_t around = in_region ? region : 0;
    return tree_incl(tree, around, columns->lockwait) > tree_incl(tree, around, columns->work) ? CAUSES_LOCKED
                                                                                               : CAUSES_CONTENTION;
  }
  if (in_region)
    return judge_region(tree, columns, region);
  if (partial)
    return strcmp(tree->rows[context].name, tree_unseen_waiting) ? CAUSES_UNKNOWN : CAUSES_UNSEEN;
  return tree->rows[context].kind == ROW_RUNTIME ? CAUSES_RUNTIME : CAUSES_SERIAL;
}

uint32_t causes_worst(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                      uint32_t column, struct causes_finding worst[CAUSES_WORST])
{
  uint32_t count = 0;
  uint64_t least = tree_weight(flat, columns, 0, true) / 100;
  for (uint32_t row = flat->rows[0].first_child; row != MODEL_NONE; row = flat->rows[row].next) {
    uint64_t cost = tree_excl(flat, row, column);
    if (cost && cost >= least)
      insert(worst, &count, (struct causes_finding){.flat = row, .cost_ns = cost});
  }
  for (uint32_t i = 0; i < count; i++) {
    worst[i].context = heaviest_context(tree, &flat->rows[worst[i].flat], column);
    worst[i].verdict = judge(tree, columns, worst[i].context, column == columns->lockwait);
  }
  return count;
}
