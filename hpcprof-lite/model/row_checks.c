#include "hpcprof-lite/model/row_checks.h"

#include "hpcprof-lite/model/checks.h"

#include <stdlib.h>

/* ---- rows of reports ---- */

/* How many children a row has; more than there are rows if one of them is another row's, or the list has no end. */
static uint32_t count_children(const struct tree *tree, uint32_t row)
{
  uint32_t count = 0, child = tree->rows[row].first_child;
  for (; child != MODEL_NONE && count <= tree->count; child = tree->rows[child].next) {
    if (child >= tree->count || tree->rows[child].parent != row)
      return tree->count + 1;
    count++;
  }
  return count;
}

bool check_tree(const struct tree *tree)
{
  uint64_t children = 0;
  if (!tree->count || tree->rows[0].kind != ROW_ROOT || tree->rows[0].parent != MODEL_NONE)
    return false;
  if (tree->map.count != tree->count - 1 || !check_hash_map(&tree->map))
    return false;
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct tree_row *row = &tree->rows[i];
    if ((i && (row->parent >= i || row->kind == ROW_ROOT)) || row->kind > ROW_MPI || !row->name || !row->file)
      return false;
    children += count_children(tree, i);
  }
  return children == tree->count - 1;
}

bool check_finished_tree(const struct tree *tree)
{
  if (!check_tree(tree) || !tree->order || !tree->end || tree->order[0])
    return false;
  uint32_t *position = model_nones(tree->count);
  bool fine = tree->end[0] == tree->count && !tree->rows[0].depth;
  for (uint32_t i = 0; i < tree->count && fine; i++) {
    uint32_t row = tree->order[i];
    fine = row < tree->count && position[row] == MODEL_NONE && tree->end[i] > i && tree->end[i] <= tree->count;
    if (!fine)
      break;
    position[row] = i;
    uint32_t parent = row ? position[tree->rows[row].parent] : 0; /* not yet placed: MODEL_NONE */
    fine = !row || (parent != MODEL_NONE && tree->end[i] <= tree->end[parent] &&
                    tree->rows[row].depth == tree->rows[tree->order[parent]].depth + 1);
  }
  free(position);
  return fine;
}

bool check_tree_sums(const struct tree *tree)
{
  for (uint32_t column = 0; column < tree->columns; column++)
    for (uint32_t row = 0; row < tree->count; row++) {
      uint64_t sum = tree_excl(tree, row, column);
      for (uint32_t child = tree->rows[row].first_child; child != MODEL_NONE; child = tree->rows[child].next)
        model_add(&sum, tree_incl(tree, child, column));
      if (sum != tree_incl(tree, row, column))
        return false;
    }
  return true;
}

/* ---- tables ---- */

/* Names differ within a part: those of events come from files, and any other column may have such a name. */
static bool check_column(const struct table *table, const struct table_part *part, uint32_t number, uint32_t within)
{
  const struct table_column *column = &part->columns[within];
  if (!column->name)
    return false;
  uint32_t first = table_number(table, column->name);
  if (first < number && first >= number - within)
    return false;
  if (column->passing && !table_is_text(column))
    return false;
  return column->type != COLUMN_FILE || within + 1 < part->count; /* the line is in the same part */
}

bool check_table(const struct table *table)
{
  uint32_t first = 0;
  for (uint32_t i = 0; i < table->parts_count; first += table->parts[i++].count)
    for (uint32_t j = 0; j < table->parts[i].count; j++)
      if (!table->parts[i].fill || !check_column(table, &table->parts[i], first + j, j))
        return false;
  for (uint32_t i = 0; i < table->selected_count; i++)
    if (table->selected[i] >= table->columns_count)
      return false;
  return first == table->columns_count && (!table->further || check_table(table->further));
}
