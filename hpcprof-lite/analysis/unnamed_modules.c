#include "hpcprof-lite/analysis/unnamed_modules.h"

#include <stdlib.h>

static int by_weight(const void *a, const void *b)
{
  const struct unnamed_module *x = a, *y = b;
  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return (x->module > y->module) - (x->module < y->module);
}

int unnamed_modules(const struct tree *tree, const struct tree_columns *columns, const struct names *names,
                    struct unnamed_module modules[UNNAMED_MODULES_MAX], uint32_t *count)
{
  struct unnamed_module *all = calloc(names->modules_count + 1, sizeof *all);
  *count = 0;
  if (!all)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < names->modules_count; i++)
    all[i] = (struct unnamed_module){.module = i, .unnamed = !names->modules[i].named};
  for (uint32_t row = 0; row < tree->count; row++)
    if (tree->rows[row].module != MODEL_NONE) {
      uint64_t *weight = &all[tree->rows[row].module].weight;
      *weight = model_sum(*weight, tree_spent(tree, columns, row, false));
    }
  qsort(all, names->modules_count, sizeof *all, by_weight);
  uint64_t least = tree_spent(tree, columns, 0, true) / 100;
  for (uint32_t i = 0; i < names->modules_count && *count < UNNAMED_MODULES_MAX; i++) {
    const struct names_module *found = &names->modules[all[i].module];
    if (found->looked_up && !found->lined && all[i].weight && all[i].weight >= least)
      modules[(*count)++] = all[i];
  }
  free(all);
  return 0;
}
