#include "hpcprof-lite/model/tree.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char tree_guessed[] = "[guessed] ", tree_inferred[] = "[inferred] ";
const char tree_unseen_waiting[] = "[waiting that no sample saw]";
const char *const tree_unseen_causes[] = {"[before the team: asleep]", "[before the team: no core]",
                                          "[between regions: asleep]"};
const char tree_interpreter[] = "[Python interpreter]";

/* Fills *columns with those of the catalog that have COLUMN_OF_WHOLE as it is in `of_whole`. */
static void init_columns(const struct catalog *catalog, uint32_t of_whole, struct tree_columns *columns)
{
  uint32_t order[CATALOG_COLUMNS_MAX];
  *columns = (struct tree_columns){.samples = MODEL_NONE,
                                   .work = MODEL_NONE,
                                   .overhead = MODEL_NONE,
                                   .lockwait = MODEL_NONE,
                                   .idleness = MODEL_NONE,
                                   .critical = MODEL_NONE,
                                   .user_cpu = MODEL_NONE,
                                   .system_cpu = MODEL_NONE,
                                   .page_faults = MODEL_NONE,
                                   .switches = MODEL_NONE,
                                   .created = MODEL_NONE,
                                   .creating = MODEL_NONE,
                                   .blocked = MODEL_NONE,
                                   .blocked_near = MODEL_NONE,
                                   .blocked_bytes = MODEL_NONE,
                                   .mpi = MODEL_NONE,
                                   .met = MODEL_NONE,
                                   .counted_faults = MODEL_NONE};
  uint32_t *const first[COLUMN_ROLES] = {[COLUMN_SAMPLES] = &columns->samples,
                                         [COLUMN_WORK] = &columns->work,
                                         [COLUMN_OVERHEAD] = &columns->overhead,
                                         [COLUMN_LOCKWAIT] = &columns->lockwait,
                                         [COLUMN_IDLENESS] = &columns->idleness,
                                         [COLUMN_CRITICAL] = &columns->critical,
                                         [COLUMN_USER_CPU] = &columns->user_cpu,
                                         [COLUMN_SYSTEM_CPU] = &columns->system_cpu,
                                         [COLUMN_PAGE_FAULTS] = &columns->page_faults,
                                         [COLUMN_SWITCHES] = &columns->switches,
                                         [COLUMN_CREATED] = &columns->created,
                                         [COLUMN_CREATING] = &columns->creating,
                                         [COLUMN_BLOCKED] = &columns->blocked,
                                         [COLUMN_BLOCKED_NEAR] = &columns->blocked_near,
                                         [COLUMN_BLOCKED_BYTES] = &columns->blocked_bytes,
                                         [COLUMN_MPI] = &columns->mpi};
  catalog_column_order(catalog, order);
  for (uint32_t i = 0; i < catalog->columns_count; i++) {
    const struct catalog_column *column = &catalog->columns[order[i]];
    uint32_t role = column->role & ~(uint32_t)COLUMN_OF_WHOLE, at = columns->count;
    if ((column->role & COLUMN_OF_WHOLE) != of_whole)
      continue;
    if (role == COLUMN_MET) {
      columns->met = order[i];
      continue;
    }
    columns->source[at] = order[i];
    columns->columns[columns->count++] = *column;
    uint32_t *column_of = role < COLUMN_ROLES ? first[role] : NULL;
    if (column_of && *column_of == MODEL_NONE)
      *column_of = at;
    else
      columns->events[columns->events_count++] = at;
    if (!strcmp(column->name, "page-faults"))
      columns->counted_faults = at;
  }
}

void tree_columns_init(const struct catalog *catalog, struct tree_columns *columns)
{
  init_columns(catalog, 0, columns);
}

bool tree_columns_of_whole(const struct catalog *catalog, struct tree_columns *columns)
{
  init_columns(catalog, COLUMN_OF_WHOLE, columns);
  return columns->met != MODEL_NONE;
}

void tree_columns_keep_critical(struct tree_columns *columns)
{
  columns->samples = columns->work = columns->overhead = columns->lockwait = columns->idleness = MODEL_NONE;
  columns->user_cpu = columns->system_cpu = columns->page_faults = columns->switches = MODEL_NONE;
  columns->created = columns->creating = columns->counted_faults = MODEL_NONE;
  columns->blocked = columns->blocked_near = columns->blocked_bytes = columns->mpi = MODEL_NONE;
  columns->events_count = 0;
}

/* Whether a name is that of a figure, then _incl or _excl, then its unit. */
static bool names_figure(const char *name, const char *figure, const char *unit, bool *inclusive)
{
  static const char incl[] = "_incl", excl[] = "_excl";
  size_t length = strlen(figure), part = sizeof incl - 1;
  if (strncmp(name, figure, length) != 0)
    return false;
  *inclusive = !strncmp(name + length, incl, part);
  return (*inclusive || !strncmp(name + length, excl, part)) && !strcmp(name + length + part, unit);
}

bool tree_columns_find(const struct tree_columns *columns, const char *name, uint32_t *column, bool *inclusive)
{
  const struct {
    const char *name, *unit;
    uint32_t column;
  } figures[] = {{"work", "_s", columns->work},
                 {"overhead", "_s", columns->overhead},
                 {"lockwait", "_s", columns->lockwait},
                 {"idleness", "_s", columns->idleness},
                 {"critical_path", "", columns->critical},
                 {"user", "_s", columns->user_cpu},
                 {"system", "_s", columns->system_cpu},
                 {"page_faults", "", columns->page_faults},
                 {"switches", "", columns->switches},
                 {"threads_created", "", columns->created},
                 {"create", "_s", columns->creating},
                 {"blocked", "_s", columns->blocked},
                 {"blocked_near", "_s", columns->blocked_near},
                 {"blocked_bytes", "", columns->blocked_bytes},
                 {"mpi", "_s", columns->mpi}};
  *column = MODEL_NONE;
  for (size_t i = 0; i < sizeof figures / sizeof *figures && *column == MODEL_NONE; i++)
    if (names_figure(name, figures[i].name, figures[i].unit, inclusive))
      *column = figures[i].column;
  for (uint32_t i = 0; i < columns->events_count && *column == MODEL_NONE; i++)
    if (names_figure(name, columns->columns[columns->events[i]].name, "", inclusive))
      *column = columns->events[i];
  if (!strcmp(name, "samples")) {
    *inclusive = true;
    *column = columns->samples;
  }
  return *column != MODEL_NONE;
}

/* Makes room for one more row, whose values are zero. */
static void reserve_row(struct tree *tree)
{
  size_t needed = (size_t)tree->count + 1, width = MAX(tree->columns, 1), size = width * sizeof *tree->excl;
  xarray_reserve(&tree->rows, &tree->room, needed, sizeof *tree->rows);
  xarray_reserve(&tree->excl, &tree->excl_room, needed, size);
  xarray_reserve(&tree->incl, &tree->incl_room, needed, size);
  memset(tree->excl + tree->count * width, 0, size);
  memset(tree->incl + tree->count * width, 0, size);
}

void tree_init(struct tree *tree, uint32_t columns, const char *name)
{
  assert(name);
  *tree = (struct tree){.columns = columns};
  reserve_row(tree);
  tree->rows[0] = tree_plain_row(MODEL_NONE, ROW_ROOT, name, "", 0);
  tree->count = 1;
}

void tree_release(struct tree *tree)
{
  free(tree->rows);
  hash_map_release(&tree->map);
  free(tree->excl);
  free(tree->incl);
  free(tree->order);
  free(tree->end);
  *tree = (struct tree){0};
}

/* Whether rows that are identified by their place are the same.  The name of a line follows from its place. */
static bool same_place(const struct tree_row *a, const struct tree_row *b)
{
  return a->line == b->line && a->file == b->file && (a->kind == ROW_LINE || !strcmp(a->name, b->name));
}

/* Whether a row's place is part of its identity.  Name, file and line of a function are only shown; compilers can make
 * one function of equal constructs. */
static bool has_place(const struct tree_row *row)
{
  return row->function == MODEL_NONE || row->kind == ROW_PARALLEL || row->kind == ROW_TASK;
}

static bool same_identity(const struct tree_row *a, const struct tree_row *b)
{
  if (a->parent != b->parent || a->kind != b->kind || a->function != b->function || a->mark != b->mark)
    return false;
  return !has_place(a) || same_place(a, b);
}

static uint64_t row_hash(const struct tree_row *row)
{
  uint64_t hash = hash_map_key((uint64_t)row->parent << 32 | row->function, row->kind);
  if (row->mark)
    hash = hash_map_key(hash, (uint64_t)(uintptr_t)row->mark);
  if (has_place(row))
    hash = hash_map_key(hash ^ row->line, (uint64_t)(uintptr_t)row->file);
  return hash;
}

/* Returns the row with the identity of `wanted`, 0 if there is none. */
static uint32_t find_row(const struct tree *tree, const struct tree_row *wanted, uint64_t hash)
{
  return HASH_MAP_FIND(&tree->map, hash, i, same_identity(&tree->rows[i], wanted));
}

uint32_t tree_append(struct tree *tree, const struct tree_row *wanted)
{
  assert(wanted->parent < tree->count);
  uint32_t number = tree->count;
  reserve_row(tree);
  hash_map_add(&tree->map, row_hash(wanted), number);
  struct tree_row *row = &tree->rows[number];
  *row = *wanted;
  row->first_child = MODEL_NONE;
  row->next = tree->rows[row->parent].first_child;
  tree->rows[row->parent].first_child = number;
  tree->count++;
  return number;
}

uint32_t tree_add(struct tree *tree, const struct tree_row *wanted, bool *added)
{
  uint32_t number = find_row(tree, wanted, row_hash(wanted));
  if (added)
    *added = !number;
  return number ? number : tree_append(tree, wanted);
}

void tree_value(struct tree *tree, uint32_t row, uint32_t column, uint64_t amount)
{
  assert(row < tree->count && column < tree->columns);
  uint64_t *cell = &tree->excl[(size_t)row * tree->columns + column];
  model_add(cell, amount);
}

void tree_inclusive(struct tree *tree)
{
  if (tree->columns)
    memcpy(tree->incl, tree->excl, (size_t)tree->count * tree->columns * sizeof *tree->incl);
  for (uint32_t row = tree->count; row-- > 1;) {
    const uint64_t *from = &tree->incl[(size_t)row * tree->columns];
    uint64_t *into = &tree->incl[(size_t)tree->rows[row].parent * tree->columns];
    for (uint32_t column = 0; column < tree->columns; column++)
      model_add(&into[column], from[column]);
  }
}

uint64_t tree_incl(const struct tree *tree, uint32_t row, uint32_t column)
{
  assert(row < tree->count && (column == MODEL_NONE || column < tree->columns));
  return column == MODEL_NONE ? 0 : tree->incl[(size_t)row * tree->columns + column];
}

uint64_t tree_excl(const struct tree *tree, uint32_t row, uint32_t column)
{
  assert(row < tree->count && (column == MODEL_NONE || column < tree->columns));
  return column == MODEL_NONE ? 0 : tree->excl[(size_t)row * tree->columns + column];
}

bool tree_has_time(const struct tree_columns *columns)
{
  return columns->work != MODEL_NONE || columns->overhead != MODEL_NONE;
}

uint64_t tree_spent(const struct tree *tree, const struct tree_columns *columns, uint32_t row, bool inclusive)
{
  uint64_t (*cell)(const struct tree *, uint32_t, uint32_t) = inclusive ? tree_incl : tree_excl;
  if (tree_has_time(columns))
    return model_sum(cell(tree, row, columns->work), cell(tree, row, columns->overhead));
  return cell(tree, row, columns->events_count ? columns->events[0] : columns->samples);
}

uint64_t tree_weight(const struct tree *tree, const struct tree_columns *columns, uint32_t row, bool inclusive)
{
  uint64_t (*cell)(const struct tree *, uint32_t, uint32_t) = inclusive ? tree_incl : tree_excl;
  uint64_t spent = tree_spent(tree, columns, row, inclusive);
  if (!tree_has_time(columns))
    return spent;
  uint64_t caused = model_sum(cell(tree, row, columns->lockwait), cell(tree, row, columns->idleness));
  return model_sum(model_sum(spent, caused), cell(tree, row, columns->mpi));
}

struct sorter {
  const struct tree *tree;
  const struct tree_order *order;
  const uint64_t *own; /* [row] exclusive weight, including that of the row's lines */
};

static int descending(uint64_t a, uint64_t b)
{
  return COMPARE(b, a);
}

static int by_place(const struct tree_row *x, const struct tree_row *y)
{
  return strcmp(x->file, y->file) ?: COMPARE(x->line, y->line);
}

static int by_keys(const struct sorter *sorter, uint32_t a, uint32_t b)
{
  assert(sorter->order->keys);
  const struct table_keys *keys = sorter->order->keys;
  int order = table_keys_compare(keys, a, b);
  if (order || keys->type != COLUMN_ID)
    return order;
  return COMPARE(sorter->tree->rows[a].id, sorter->tree->rows[b].id);
}

static int by_column(const struct sorter *sorter, uint32_t a, uint32_t b)
{
  assert(a < sorter->tree->count && b < sorter->tree->count);
  const struct tree *tree = sorter->tree;
  const struct tree_order *order = sorter->order;
  switch (order->by) {
  case SORT_WEIGHT_INCL:
    return descending(tree_weight(tree, order->columns, a, true), tree_weight(tree, order->columns, b, true));
  case SORT_WEIGHT_EXCL:
    return descending(sorter->own[a], sorter->own[b]);
  case SORT_SPENT_EXCL:
    return descending(tree_spent(tree, order->columns, a, false), tree_spent(tree, order->columns, b, false));
  case SORT_INCL:
    return descending(tree_incl(tree, a, order->column), tree_incl(tree, b, order->column));
  case SORT_EXCL:
    return descending(tree_excl(tree, a, order->column), tree_excl(tree, b, order->column));
  case SORT_FILE:
    return by_place(&tree->rows[a], &tree->rows[b]);
  case SORT_KEYS:
    return by_keys(sorter, a, b);
  }
  return 0;
}

/* A total order: by the requested column, then weight, name and file.  Rows are added in a reproducible order, so that
 * their number can decide last. */
static int by_order(const void *a, const void *b, void *argument)
{
  const struct sorter *sorter = argument;
  const struct tree *tree = sorter->tree;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const struct tree_columns *columns = sorter->order->columns;
  return by_column(sorter, x, y)
             ?: descending(tree_weight(tree, columns, x, true), tree_weight(tree, columns, y, true))
             ?: strcmp(tree->rows[x].name, tree->rows[y].name)
             ?: strcmp(tree->rows[x].file, tree->rows[y].file)
             ?: COMPARE(x, y);
}

static void weigh_own(const struct tree *tree, const struct tree_columns *columns, uint64_t *own)
{
  assert(tree->count);
  for (uint32_t row = tree->count; row-- > 0;) {
    uint64_t weight = tree_weight(tree, columns, row, false);
    model_add(&own[row], weight);
    if (tree->rows[row].kind == ROW_LINE)
      model_add(&own[tree->rows[row].parent], weight);
  }
}

/* Sorts the list of children of every row. */
static void sort_children(struct tree *tree, const struct tree_order *order, const uint64_t *own, uint32_t *scratch)
{
  struct sorter sorter = {.tree = tree, .order = order, .own = own};
  for (uint32_t row = 0; row < tree->count; row++) {
    uint32_t count = 0;
    for (uint32_t child = tree->rows[row].first_child; child != MODEL_NONE; child = tree->rows[child].next)
      scratch[count++] = child;
    if (count < 2)
      continue;
    qsort_r(scratch, count, sizeof *scratch, by_order, &sorter);
    tree->rows[row].first_child = scratch[0];
    for (uint32_t i = 0; i < count; i++)
      tree->rows[scratch[i]].next = i + 1 < count ? scratch[i + 1] : MODEL_NONE;
  }
}

/* Walks the tree depth-first without a stack: to the first child or, without one, to the next sibling of the row or of
 * its nearest ancestor that has one. */
static void number_rows(struct tree *tree, uint32_t *position, bool keep_ids)
{
  assert(tree->count && tree->order && tree->end);
  uint32_t count = 0, row = 0;
  tree->rows[0].depth = 0;
  while (row != MODEL_NONE) {
    struct tree_row *here = &tree->rows[row];
    if (row)
      here->depth = tree->rows[here->parent].depth + 1;
    if (!keep_ids)
      here->id = count;
    position[row] = count;
    tree->order[count++] = row;
    uint32_t next = here->first_child;
    while (next == MODEL_NONE && row != MODEL_NONE) {
      tree->end[position[row]] = count;
      next = tree->rows[row].next;
      row = row ? tree->rows[row].parent : MODEL_NONE;
    }
    row = next;
  }
}

void tree_finish(struct tree *tree, const struct tree_order *order, bool keep_ids)
{
  assert(tree->count && order->columns && (order->by != SORT_KEYS || order->keys));
  uint32_t *scratch = xmalloc(tree->count * sizeof *scratch);
  uint64_t *own = xcalloc(tree->count, sizeof *own);
  free(tree->order);
  free(tree->end);
  tree->order = xcalloc(tree->count, sizeof *tree->order);
  tree->end = xcalloc(tree->count, sizeof *tree->end);
  weigh_own(tree, order->columns, own);
  sort_children(tree, order, own, scratch);
  number_rows(tree, scratch, keep_ids);
  free(scratch);
  free(own);
}

void tree_take_ids(struct tree *tree, const struct tree *from)
{
  assert(tree != from && tree->order && from->order);
  uint32_t *same = xcalloc(tree->count, sizeof *same), next = from->count; /* [row] that of `from`; 0: none */
  for (uint32_t row = 1; row < tree->count; row++) {
    struct tree_row wanted = tree->rows[row];
    bool known = !wanted.parent || same[wanted.parent];
    wanted.parent = same[wanted.parent];
    same[row] = known ? find_row(from, &wanted, row_hash(&wanted)) : 0;
  }
  for (uint32_t i = 1; i < tree->count; i++) {
    uint32_t row = tree->order[i];
    tree->rows[row].id = same[row] ? from->rows[same[row]].id : next++;
  }
  free(same);
}

uint32_t tree_largest(const struct tree *flat, uint32_t column, uint64_t least, tree_fit *fits, uint32_t most,
                      uint32_t rows[])
{
  assert(flat->count && (column == MODEL_NONE || column < flat->columns));
  uint32_t count = 0;
  for (uint32_t row = flat->rows[0].first_child; row != MODEL_NONE; row = flat->rows[row].next) {
    uint64_t own = tree_excl(flat, row, column);
    uint32_t position = count;
    if (!own || own < least || (fits && !fits(flat, row, column)))
      continue;
    while (position && tree_excl(flat, rows[position - 1], column) < own)
      position--;
    if (position == most)
      continue;
    count += count < most;
    memmove(rows + position + 1, rows + position, (count - 1 - position) * sizeof *rows);
    rows[position] = row;
  }
  return count;
}

const char *tree_kind_name(enum tree_kind kind)
{
  assert(kind <= ROW_MPI);
  static const char *const names[] = {[ROW_ROOT] = "root",
                                      [ROW_FUNCTION] = "function",
                                      [ROW_INLINED] = "inlined",
                                      [ROW_LINE] = "line",
                                      [ROW_PARALLEL] = "parallel",
                                      [ROW_TASK] = "task",
                                      [ROW_PARTIAL] = "partial",
                                      [ROW_RUNTIME] = "runtime",
                                      [ROW_USER_REGION] = "user-region",
                                      [ROW_FILTERED] = "filtered",
                                      [ROW_MPI] = "mpi"};
  return names[kind];
}

const char *tree_unmarked_name(const struct tree_row *row)
{
  return row->mark ? row->name + strlen(row->mark) : row->name;
}

bool tree_same_function(const struct tree_row *row, const struct tree_row *flat)
{
  assert(row->file && flat->file);
  bool kinds = row->kind == flat->kind || (row->kind == ROW_INLINED && flat->kind == ROW_FUNCTION);
  if (!kinds || row->function != flat->function)
    return false;
  return row->function != MODEL_NONE || same_place(row, flat);
}
