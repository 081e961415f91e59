#include "hpcprof-lite/analysis/causes.h"

#include <assert.h>

/* Returns the top-down row of a function to which most of the column is charged. */
static uint32_t heaviest_context(const struct tree *tree, const struct tree_row *function, uint32_t column)
{
  assert(tree->order && column < tree->columns);
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
  assert(tree->order && flat->order);
  uint32_t rows[CAUSES_WORST];
  uint64_t least = tree_weight(flat, columns, 0, true) / 100;
  uint32_t count = tree_largest(flat, column, least, NULL, CAUSES_WORST, rows);
  for (uint32_t i = 0; i < count; i++)
    worst[i] = (struct causes_finding){.flat = rows[i],
                                       .context = heaviest_context(tree, &flat->rows[rows[i]], column),
                                       .cost_ns = tree_excl(flat, rows[i], column)};
  return count;
}
