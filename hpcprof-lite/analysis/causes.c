#include "hpcprof-lite/analysis/causes.h"

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
  for (uint32_t i = 0; i < count; i++)
    worst[i].context = heaviest_context(tree, &flat->rows[worst[i].flat], column);
  return count;
}
