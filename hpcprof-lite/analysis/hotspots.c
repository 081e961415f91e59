#include "hpcprof-lite/analysis/hotspots.h"

#include <assert.h>

uint32_t hotspots_find(const struct tree *tree, const struct tree *flat, const struct tree_columns *columns,
                       struct hotspot hot[HOTSPOTS_MAX])
{
  assert(tree->order && flat->count);
  uint32_t count = 0;
  for (uint32_t row = flat->rows[0].first_child; row != MODEL_NONE && count < HOTSPOTS_MAX; row = flat->rows[row].next)
    if (tree_spent(flat, columns, row, false) * 200 >= tree_spent(flat, columns, 0, true) &&
        tree_spent(flat, columns, row, false))
      hot[count++] = (struct hotspot){.flat = row};
  for (uint32_t i = 0; i < tree->count; i++) {
    uint32_t row = tree->order[i];
    for (uint32_t j = 0; j < count; j++)
      if (row && tree_same_function(&tree->rows[row], &flat->rows[hot[j].flat]) &&
          tree_spent(tree, columns, row, false) >
              (hot[j].context ? tree_spent(tree, columns, hot[j].context, false) : 0))
        hot[j].context = row;
  }
  return count;
}

uint32_t hotspots_critical(const struct tree *flat, const struct tree_columns *columns,
                           uint32_t path[HOTSPOTS_CRITICAL_MAX])
{
  uint64_t least = tree_incl(flat, 0, columns->critical) / 100;
  return tree_largest(flat, columns->critical, least, NULL, HOTSPOTS_CRITICAL_MAX, path);
}
