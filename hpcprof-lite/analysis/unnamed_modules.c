#include "hpcprof-lite/analysis/unnamed_modules.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

ORDER(by_weight, struct unnamed_module, COMPARE(y->weight, x->weight) ?: COMPARE(x->module, y->module))

void unnamed_modules(const struct tree *tree, const struct tree_columns *columns, const struct names *names,
                     struct unnamed_module modules[UNNAMED_MODULES_MAX], uint32_t *count)
{
  assert(count && modules);
  struct unnamed_module *all = xcalloc(names->modules_count, sizeof *all);
  uint64_t *nameless = xcalloc(names->modules_count, sizeof *nameless); /* weight of functions without a name */
  bool python = names_has_python(names);
  *count = 0;
  for (uint32_t i = 0; i < names->modules_count; i++)
    all[i].module = i;
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct tree_row *row = &tree->rows[i];
    if (row->module == MODEL_NONE || (python && row->name == tree_interpreter))
      continue;
    uint64_t spent = tree_spent(tree, columns, i, false);
    model_add(&all[row->module].weight, spent);
    if (row->name == tree_interpreter)
      all[row->module].what = UNNAMED_PYTHON;
    else if (row->function != MODEL_NONE && names->functions[row->function].unknown)
      model_add(&nameless[row->module], spent);
  }
  for (uint32_t i = 0; i < names->modules_count; i++)
    if (all[i].what != UNNAMED_PYTHON && (!names->modules[i].named || nameless[i] > all[i].weight / 2))
      all[i].what = UNNAMED_FUNCTIONS;
  free(nameless);
  qsort(all, names->modules_count, sizeof *all, by_weight);
  uint64_t least = tree_spent(tree, columns, 0, true) / 100;
  for (uint32_t i = 0; i < names->modules_count && *count < UNNAMED_MODULES_MAX; i++) {
    const struct names_module *found = &names->modules[all[i].module];
    if (found->looked_up && (all[i].what != UNNAMED_LINES || !found->lined) && all[i].weight && all[i].weight >= least)
      modules[(*count)++] = all[i];
  }
  free(all);
}
