#include "hpcprof-lite/views/derived.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t bottomup_rows_max = 4u << 20;

static uint32_t append_copy(struct tree *into, const struct tree *from, uint32_t row, uint32_t parent)
{
  assert(row < from->count && into->columns == from->columns);
  struct tree_row wanted = from->rows[row];
  wanted.parent = parent;
  uint32_t copy = tree_add(into, &wanted, NULL);
  for (uint32_t column = 0; column < from->columns; column++)
    tree_value(into, copy, column, tree_excl(from, row, column));
  return copy;
}

void derived_part(const struct tree *tree, const struct names *names, const struct selector *selector,
                  const char *root_name, struct tree *part, uint32_t *matches, uint32_t *copy_of)
{
  assert(tree->order && copy_of);
  tree_init(part, tree->columns, root_name);
  *matches = 0;
  memset(copy_of, 0xff, tree->count * sizeof *copy_of);
  for (uint32_t i = 0; i < tree->count; i++) {
    uint32_t row = tree->order[i];
    const struct tree_row *here = &tree->rows[row];
    uint32_t parent = row ? copy_of[here->parent] : MODEL_NONE;
    bool outermost = parent == MODEL_NONE && selector_matches(names, selector, here);
    if (!outermost && parent == MODEL_NONE)
      continue;
    *matches += outermost;
    if (row == 0) /* the root matches: the part is the whole tree */
      copy_of[0] = 0;
    else
      copy_of[row] = append_copy(part, tree, row, outermost ? 0 : parent);
  }
}

/* Whether two rows stand for the same function, region or task. */
static bool same_code(const struct tree_row *a, const struct tree_row *b)
{
  enum tree_kind kind_a = a->kind == ROW_INLINED ? ROW_FUNCTION : a->kind;
  enum tree_kind kind_b = b->kind == ROW_INLINED ? ROW_FUNCTION : b->kind;
  bool placed = kind_a == ROW_PARALLEL || kind_a == ROW_TASK;
  return a->function != MODEL_NONE && a->function == b->function && kind_a == kind_b &&
         (kind_a == ROW_FUNCTION || placed) && (!placed || (a->line == b->line && !strcmp(a->file, b->file)));
}

void derived_collapsed(const struct tree *tree, struct tree *collapsed, uint32_t *copy_of)
{
  assert(tree->order && copy_of);
  tree_init(collapsed, tree->columns, tree->rows[0].name);
  copy_of[0] = 0;
  for (uint32_t i = 0; i < tree->count; i++) {
    uint32_t row = tree->order[i], parent = row ? copy_of[tree->rows[row].parent] : 0, same = parent;
    while (same && !same_code(&collapsed->rows[same], &tree->rows[row]))
      same = collapsed->rows[same].parent;
    if (row && !same) {
      copy_of[row] = append_copy(collapsed, tree, row, parent);
      continue;
    }
    copy_of[row] = same;
    for (uint32_t column = 0; column < tree->columns; column++)
      tree_value(collapsed, same, column, tree_excl(tree, row, column));
  }
}

/* Finds or adds the row below `parent` for a row of the tree: a function has the same row whether it is inlined or not,
 * and at the top whether it is marked or not.
 */
static uint32_t flat_row(const struct tree *tree, uint32_t row, uint32_t parent, struct tree *flat)
{
  struct tree_row wanted = tree->rows[row];
  wanted.parent = parent;
  if (wanted.kind == ROW_INLINED)
    wanted.kind = ROW_FUNCTION;
  if (wanted.mark && !parent) { /* which is about its place in a path */
    wanted.name = tree_unmarked_name(&wanted);
    wanted.mark = NULL;
  }
  return tree_add(flat, &wanted, NULL);
}

static bool any_value(const struct tree *tree, uint32_t row)
{
  for (uint32_t column = 0; column < tree->columns; column++)
    if (tree_excl(tree, row, column))
      return true;
  return false;
}

static void init_links(struct derived_links *links, const struct tree *tree)
{
  if (!links)
    return;
  links->first = xcalloc(tree->count, sizeof *links->first);
  links->count = xcalloc(tree->count, sizeof *links->count);
}

void derived_release_links(struct derived_links *links)
{
  free(links->first);
  free(links->count);
  free(links->into);
  *links = (struct derived_links){0};
}

/* The caller adds all links of a row before those of the next row. */
static void add_link(struct derived_links *links, uint32_t row, uint32_t target)
{
  assert(!links->count[row] || links->first[row] + links->count[row] == links->into_count);
  if (!links->count[row]++)
    links->first[row] = links->into_count;
  *XAPPEND(links->into, links->into_count, links->into_room) = target;
}

/* Adds a row's values to a row of the view.  The caller passes rows in depth-first order.  A row whose position is
 * before *counted_end lies below the last row whose inclusive values were added, and these include its own (recursion).
 */
static void accumulate(const struct tree *tree, uint32_t row, uint32_t position, struct tree *into, uint32_t target,
                       uint32_t *counted_end, struct derived_links *links)
{
  assert(position < tree->count && tree->order[position] == row && target < into->count);
  bool outermost = position >= *counted_end;
  if (outermost)
    *counted_end = tree->end[position];
  uint64_t *excl = &into->excl[(size_t)target * into->columns], *incl = &into->incl[(size_t)target * into->columns];
  for (uint32_t column = 0; column < tree->columns; column++) {
    model_add(&excl[column], tree_excl(tree, row, column));
    if (outermost)
      model_add(&incl[column], tree_incl(tree, row, column));
  }
  if (outermost && links)
    add_link(links, row, target);
}

/* Sets map[row of the tree] to its flat row and adds the values. */
static void fill_flat(const struct tree *tree, struct tree *flat, uint32_t *map, struct derived_links *links)
{
  uint32_t *counted_end = NULL; /* [flat row] see accumulate() */
  size_t room = 0;
  for (uint32_t i = 0; i < tree->count; i++) {
    uint32_t row = tree->order[i];
    const struct tree_row *here = &tree->rows[row];
    map[row] = 0;
    if (row)
      map[row] = flat_row(tree, row, here->kind == ROW_LINE ? map[here->parent] : 0, flat);
    xarray_reserve_zero(&counted_end, &room, flat->count, sizeof *counted_end);
    accumulate(tree, row, i, flat, map[row], &counted_end[map[row]], links);
  }
  free(counted_end);
}

void derived_flat(const struct tree *tree, const struct tree_columns *columns, struct tree *flat,
                  struct derived_links *links)
{
  assert(tree->order && columns->count == tree->columns);
  uint32_t *map = xcalloc(tree->count, sizeof *map);
  tree_init(flat, columns->count, tree->rows[0].name);
  init_links(links, tree);
  fill_flat(tree, flat, map, links);
  free(map);
}

struct bottomup {
  const struct tree *tree;
  struct tree *view;
  struct derived_links *links;
  uint32_t *counted_end; /* [row of the view] see accumulate() */
  size_t counted_room;
};

/* Adds one row of the tree, with its callers. */
static void add_callers(struct bottomup *bottomup, uint32_t row, uint32_t position)
{
  const struct tree *tree = bottomup->tree;
  struct tree *view = bottomup->view;
  uint32_t target = 0, levels = 0;
  for (uint32_t up = row; up && levels <= DERIVED_CALLERS_MAX; up = tree->rows[up].parent, levels++) {
    if (view->count >= bottomup_rows_max && levels) {
      view->truncated = true;
      return;
    }
    target = flat_row(tree, up, target, view);
    xarray_reserve_zero(&bottomup->counted_end, &bottomup->counted_room, view->count, sizeof *bottomup->counted_end);
    accumulate(tree, row, position, view, target, &bottomup->counted_end[target], bottomup->links);
  }
}

void derived_bottomup(const struct tree *tree, const struct tree_columns *columns, struct tree *bottomup,
                      struct derived_links *links)
{
  assert(tree->order && columns->count == tree->columns);
  struct tree flat;
  uint32_t *map = xcalloc(tree->count, sizeof *map), root_end = 0;
  struct bottomup state = {.tree = tree, .view = bottomup, .links = links};
  tree_init(bottomup, columns->count, tree->rows[0].name);
  tree_init(&flat, columns->count, "");
  init_links(links, tree);
  fill_flat(tree, &flat, map, NULL);
  accumulate(tree, 0, 0, bottomup, 0, &root_end, links);
  for (uint32_t i = 1; i < tree->count; i++)
    if (any_value(&flat, map[tree->order[i]]))
      add_callers(&state, tree->order[i], i);
  free(state.counted_end);
  free(map);
  tree_release(&flat);
}
