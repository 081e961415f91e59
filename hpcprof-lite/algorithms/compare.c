#include "hpcprof-lite/algorithms/compare.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/profile.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t compare_list_column(const struct compare_list *list, const char *name)
{
  assert(name);
  for (uint32_t i = 0; i < list->count; i++)
    if (!strcmp(list->columns[i].name, name))
      return i;
  return MODEL_NONE;
}

bool compare_list_is_program(const struct compare_list *list, const struct cell *keys)
{
  return list->kind != MODEL_NONE &&
         !strcmp(compare_list_text(&keys[list->kind]), profile_directive_name(DIRECTIVE_PROGRAM));
}

void compare_begin(struct compare *compare, uint32_t columns, const char *name)
{
  *compare = (struct compare){0};
  for (int side = 0; side < COMPARE_SIDES; side++)
    tree_init(&compare->sides[side].tree, columns, name);
  tree_init(&compare->joined, columns, name);
}

void compare_release(struct compare *compare)
{
  for (int side = 0; side < COMPARE_SIDES; side++) {
    tree_release(&compare->sides[side].tree);
    free(compare->sides[side].squares[0]);
    free(compare->sides[side].squares[1]);
    free(compare->rows[side]);
  }
  tree_release(&compare->joined);
  *compare = (struct compare){0};
}

/* ---- the runs of a side ---- */

/* Finds or adds the side's row for each row of a run. */
static void place_rows(struct tree *tree, const struct tree *run, const struct compare_map *map, uint32_t *row_of)
{
  assert(run->count && run->rows[0].kind == ROW_ROOT);
  row_of[0] = 0;
  for (uint32_t i = 1; i < run->count; i++) {
    struct tree_row row = run->rows[i];
    row.parent = row_of[row.parent];
    if (map->functions && row.function != MODEL_NONE)
      row.function = map->functions[row.function];
    if (map->modules && row.module != MODEL_NONE)
      row.module = map->modules[row.module];
    row.file = names_file(map->names, row.file);
    row_of[i] = tree_add(tree, &row, NULL);
  }
}

/* Adds the values of a run, which several of its rows may share. */
static void add_values(struct compare_side *side, const struct tree *run, const struct compare_map *map,
                       const uint32_t *row_of, bool inclusive)
{
  assert(map->columns || run->columns <= side->tree.columns);
  uint32_t columns = side->tree.columns;
  size_t cells = (size_t)side->tree.count * columns;
  uint64_t *sums = inclusive ? side->tree.incl : side->tree.excl;
  const uint64_t *values = inclusive ? run->incl : run->excl;
  uint64_t *of_run = xcalloc(cells, sizeof *of_run);
  for (uint32_t i = 0; i < run->count; i++) {
    uint64_t *row = &of_run[(size_t)row_of[i] * columns];
    const uint64_t *from = &values[(size_t)i * run->columns];
    for (uint32_t column = 0; column < run->columns; column++) {
      uint32_t common = map->columns ? map->columns[column] : column;
      if (common != MODEL_NONE)
        model_add(&row[common], from[column]);
    }
    for (uint32_t j = 0; j < map->spent_count; j++)
      if (map->spent[j] != MODEL_NONE)
        model_add(&row[columns - 1], from[map->spent[j]]);
  }
  xarray_reserve_zero(&side->squares[inclusive], &side->squares_room[inclusive], cells, sizeof **side->squares);
  for (size_t i = 0; i < cells; i++) {
    model_add(&sums[i], of_run[i]);
    side->squares[inclusive][i] += (unsigned __int128)of_run[i] * of_run[i];
  }
  free(of_run);
}

void compare_add(struct compare *compare, int number, const struct tree *run, const struct compare_map *map)
{
  assert((unsigned)number < COMPARE_SIDES && run->count);
  struct compare_side *side = &compare->sides[number];
  uint32_t *row_of = xmalloc(run->count * sizeof *row_of);
  place_rows(&side->tree, run, map, row_of);
  add_values(side, run, map, row_of, false);
  add_values(side, run, map, row_of, true);
  side->runs++;
  free(row_of);
}

/* ---- joining ---- */

enum child_class { CHILD_FUNCTION, CHILD_CONSTRUCT, CHILD_LINE, CHILD_OTHER };

/* A child of a joined row, on one side. */
struct child {
  uint32_t row, line; /* line: from the beginning of its function on, if that is known */
  uint32_t module;
  enum child_class class;
  enum tree_kind kind; /* functions: ROW_FUNCTION, also inlined ones */
  const char *name, *file;
  uint32_t partner; /* position among the other side's children, MODEL_NONE */
};

struct children {
  struct child *list;
  uint32_t count;
  size_t room;
};

/* What the joining of one pair of rows needs. */
struct joiner {
  struct compare *compare;
  const struct names *names;
  const struct catalog_module *modules;
  bool same_program;
  struct children children[COMPARE_SIDES];
};

static bool is_construct(enum tree_kind kind)
{
  return kind == ROW_PARALLEL || kind == ROW_TASK;
}

/* The name of the function that contains a construct, "" if it is not known; *line: where that begins. */
static const char *container(const struct names *names, uint32_t number, uint32_t *line)
{
  assert(number == MODEL_NONE || number < names->functions_count);
  if (number == MODEL_NONE)
    return "";
  const struct names_function *function = &names->functions[number];
  if (function->outline == OUTLINE_NONE)
    return function->name;
  if (function->origin == MODEL_NONE)
    return "";
  *line = names->functions[function->origin].line;
  return names->functions[function->origin].name;
}

static struct child describe(const struct joiner *joiner, const struct tree *tree, uint32_t number)
{
  assert(number && number < tree->count);
  const struct tree_row *row = &tree->rows[number], *parent = &tree->rows[row->parent];
  struct child child = {.row = number,
                        .line = row->line,
                        .module = row->module,
                        .class = CHILD_OTHER,
                        .kind = row->kind == ROW_INLINED ? ROW_FUNCTION : row->kind,
                        .name = row->name,
                        .file = names_base(row->file),
                        .partner = MODEL_NONE};
  uint32_t begin = parent->kind == ROW_FUNCTION || parent->kind == ROW_INLINED ? parent->line : 0;
  if (child.kind == ROW_FUNCTION) {
    child.class = CHILD_FUNCTION;
    begin = 0;
  } else if (is_construct(row->kind)) {
    child.class = CHILD_CONSTRUCT;
    child.name = container(joiner->names, row->function, &begin);
  } else if (row->kind == ROW_LINE) {
    child.class = CHILD_LINE;
    child.name = "";
  }
  child.line -= begin <= child.line ? begin : 0;
  return child;
}

/* Compares the names of two children; loosely: without the file of a function and the function of a construct. */
static int by_key(const struct child *a, const struct child *b, bool loose)
{
  int order = COMPARE(a->kind, b->kind);
  if (!order && !(loose && a->class == CHILD_CONSTRUCT))
    order = strcmp(a->name, b->name);
  if (!order && !(loose && a->class == CHILD_FUNCTION))
    order = strcmp(a->file, b->file);
  return order;
}

static int by_key_and_line(const void *a, const void *b, void *loose)
{
  const struct child *x = a, *y = b;
  return by_key(x, y, *(bool *)loose) ?: COMPARE(x->line, y->line) ?: COMPARE(x->row, y->row);
}

/* Whether the code of two rows is of one build. */
static bool same_build(const struct joiner *joiner, const struct child *a, const struct child *b)
{
  if (a->module == MODEL_NONE || b->module == MODEL_NONE)
    return joiner->same_program;
  const struct catalog_module *x = &joiner->modules[a->module], *y = &joiner->modules[b->module];
  return x->build_id_size && x->build_id_size == y->build_id_size &&
         !memcmp(x->build_id, y->build_id, x->build_id_size);
}

/* Pairs two children, unless one of them has a partner. */
static void pair(const struct joiner *joiner, uint32_t base, uint32_t now)
{
  assert(base < joiner->children[COMPARE_BASE].count && now < joiner->children[COMPARE_NEW].count);
  joiner->children[COMPARE_BASE].list[base].partner = now;
  joiner->children[COMPARE_NEW].list[now].partner = base;
}

/* The next child without a partner in a group, or its end. */
static uint32_t next_free(const struct children *children, uint32_t at, uint32_t end)
{
  while (at < end && children->list[at].partner != MODEL_NONE)
    at++;
  return at;
}

/* Pairs children of equal names, which are sorted by their lines: those of equal lines, or all in their order. */
static void pair_group(const struct joiner *joiner, const uint32_t first[], const uint32_t end[], bool by_line)
{
  assert(first[COMPARE_BASE] < end[COMPARE_BASE] && first[COMPARE_NEW] < end[COMPARE_NEW]);
  const struct children *base = &joiner->children[COMPARE_BASE], *now = &joiner->children[COMPARE_NEW];
  uint32_t i = next_free(base, first[COMPARE_BASE], end[COMPARE_BASE]);
  uint32_t j = next_free(now, first[COMPARE_NEW], end[COMPARE_NEW]);
  while (i < end[COMPARE_BASE] && j < end[COMPARE_NEW]) {
    uint32_t a = base->list[i].line, b = now->list[j].line;
    bool skip = by_line && a != b;
    if (!skip)
      pair(joiner, i, j);
    if (!skip || a < b)
      i = next_free(base, i + 1, end[COMPARE_BASE]);
    if (!skip || b < a)
      j = next_free(now, j + 1, end[COMPARE_NEW]);
  }
}

static void match_group(const struct joiner *joiner, const uint32_t first[], const uint32_t end[], bool loose)
{
  const struct child *a = &joiner->children[COMPARE_BASE].list[first[COMPARE_BASE]];
  const struct child *b = &joiner->children[COMPARE_NEW].list[first[COMPARE_NEW]];
  bool one_build = same_build(joiner, a, b);
  bool same_count = end[COMPARE_BASE] - first[COMPARE_BASE] == end[COMPARE_NEW] - first[COMPARE_NEW];
  bool by_lines = a->class == CHILD_LINE || (a->class == CHILD_CONSTRUCT && (one_build || !same_count));
  if (loose && (a->class == CHILD_LINE || one_build || (a->class == CHILD_FUNCTION && *a->file && *b->file)))
    return;
  if (by_lines)
    pair_group(joiner, first, end, true);
  if (!by_lines || (a->class == CHILD_CONSTRUCT && !one_build))
    pair_group(joiner, first, end, false);
}

/* The end of the group of equal names that begins there. */
static uint32_t group_end(const struct children *children, uint32_t first, bool loose)
{
  assert(first < children->count);
  uint32_t end = first + 1;
  while (end < children->count && !by_key(&children->list[first], &children->list[end], loose))
    end++;
  return end;
}

static void drop_pairs(struct children *children)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < children->count; i++)
    if (children->list[i].partner == MODEL_NONE)
      children->list[kept++] = children->list[i];
  children->count = kept;
}

/* Matches the groups of both sides. */
static void match(struct joiner *joiner, bool loose)
{
  struct children *children = joiner->children;
  uint32_t first[COMPARE_SIDES] = {0}, end[COMPARE_SIDES];
  for (int side = 0; side < COMPARE_SIDES; side++)
    if (children[side].count)
      qsort_r(children[side].list, children[side].count, sizeof *children[side].list, by_key_and_line, &loose);
  while (first[0] < children[0].count && first[1] < children[1].count) {
    int order = by_key(&children[0].list[first[0]], &children[1].list[first[1]], loose);
    for (int side = 0; side < COMPARE_SIDES; side++)
      end[side] = group_end(&children[side], first[side], loose);
    if (!order)
      match_group(joiner, first, end, loose);
    if (order <= 0)
      first[0] = end[0];
    if (order >= 0)
      first[1] = end[1];
  }
}

/* Notes which rows of the sides a joined row stands for. */
static void set_rows(struct compare *compare, uint32_t joined, uint32_t base, uint32_t now)
{
  assert(joined < compare->joined.count);
  const uint32_t rows[COMPARE_SIDES] = {base, now};
  for (int side = 0; side < COMPARE_SIDES; side++) {
    xarray_reserve(&compare->rows[side], &compare->rows_room[side], (size_t)joined + 1, sizeof **compare->rows);
    compare->rows[side][joined] = rows[side];
  }
}

/* Appends a row to the joined tree: of both sides, or of one. */
static void append(struct compare *compare, uint32_t parent, uint32_t base, uint32_t now)
{
  assert(base != MODEL_NONE || now != MODEL_NONE);
  struct tree_row row;
  if (now != MODEL_NONE)
    row = compare->sides[COMPARE_NEW].tree.rows[now];
  else
    row = compare->sides[COMPARE_BASE].tree.rows[base];
  row.parent = parent;
  set_rows(compare, tree_append(&compare->joined, &row), base, now);
}

static void collect(struct joiner *joiner, int side, uint32_t parent)
{
  const struct tree *tree = &joiner->compare->sides[side].tree;
  struct children *children = &joiner->children[side];
  uint32_t child = parent == MODEL_NONE ? MODEL_NONE : tree->rows[parent].first_child;
  for (children->count = 0; child != MODEL_NONE; child = tree->rows[child].next) {
    *XAPPEND(children->list, children->count, children->room) = describe(joiner, tree, child);
  }
}

/* Appends the pairs of children that a pass has found. */
static void append_pairs(struct joiner *joiner, uint32_t parent)
{
  const struct children *children = joiner->children;
  for (uint32_t i = 0; i < children[COMPARE_NEW].count; i++) {
    const struct child *now = &children[COMPARE_NEW].list[i];
    if (now->partner != MODEL_NONE)
      append(joiner->compare, parent, children[COMPARE_BASE].list[now->partner].row, now->row);
  }
  drop_pairs(&joiner->children[COMPARE_BASE]);
  drop_pairs(&joiner->children[COMPARE_NEW]);
}

static void join_children(struct joiner *joiner, uint32_t row)
{
  struct compare *compare = joiner->compare;
  assert(row < compare->joined.count);
  for (int side = 0; side < COMPARE_SIDES; side++)
    collect(joiner, side, compare->rows[side][row]);
  for (int loose = 0; loose < 2 - compare->is_list; loose++) {
    match(joiner, loose);
    append_pairs(joiner, row);
  }
  for (uint32_t i = 0; i < joiner->children[COMPARE_NEW].count; i++)
    append(compare, row, MODEL_NONE, joiner->children[COMPARE_NEW].list[i].row);
  for (uint32_t i = 0; i < joiner->children[COMPARE_BASE].count; i++)
    append(compare, row, joiner->children[COMPARE_BASE].list[i].row, MODEL_NONE);
}

/* The sum of a value over the runs of a side, in a row of the side. */
static uint64_t sum_of(const struct compare_side *side, uint32_t row, uint32_t column, bool inclusive)
{
  if (inclusive)
    return tree_incl(&side->tree, row, column);
  return tree_excl(&side->tree, row, column);
}

/* The mean of a value over the runs of a side, rounded. */
static uint64_t mean(const struct compare *compare, int side, uint32_t joined, uint32_t column, bool inclusive)
{
  assert(joined < compare->joined.count);
  const struct compare_side *runs = &compare->sides[side];
  uint32_t row = compare->rows[side][joined];
  if (row == MODEL_NONE || !runs->runs)
    return 0;
  uint64_t sum = sum_of(runs, row, column, inclusive);
  return sum / runs->runs + (sum % runs->runs * 2 >= runs->runs && runs->runs > 1);
}

void compare_show(struct compare *compare, int from)
{
  assert(compare->rows[COMPARE_BASE] && compare->rows[COMPARE_NEW] && from < COMPARE_SIDES);
  struct tree *tree = &compare->joined;
  for (uint32_t row = 0; row < tree->count; row++)
    for (uint32_t column = 0; column < tree->columns; column++) {
      size_t cell = (size_t)row * tree->columns + column;
      tree->excl[cell] = tree->incl[cell] = 0;
      for (int side = from; side < COMPARE_SIDES; side++) {
        model_add(&tree->excl[cell], mean(compare, side, row, column, false));
        model_add(&tree->incl[cell], mean(compare, side, row, column, true));
      }
    }
}

void compare_join(struct compare *compare, const struct names *names, const struct catalog_module *modules,
                  bool same_program)
{
  assert(compare->joined.count == 1);
  struct joiner joiner = {.compare = compare, .names = names, .modules = modules, .same_program = same_program};
  set_rows(compare, 0, 0, 0);
  for (uint32_t row = 0; row < compare->joined.count; row++)
    join_children(&joiner, row);
  free(joiner.children[COMPARE_BASE].list);
  free(joiner.children[COMPARE_NEW].list);
}

/* ---- figures ---- */

/* Mean and variance of a side's runs in a row. */
static struct significance_runs over_runs(const struct compare *compare, int number, uint32_t joined,
                                          const struct compare_metric *metric)
{
  assert(joined < compare->joined.count);
  const struct compare_side *side = &compare->sides[number];
  struct significance_runs result = {.runs = side->runs};
  uint32_t row = compare->rows[number][joined];
  if (row == MODEL_NONE || metric->column == MODEL_NONE || !side->runs)
    return result;
  uint64_t sum = sum_of(side, row, metric->column, metric->inclusive);
  result.mean = (double)sum / side->runs;
  unsigned __int128 squares =
      side->squares[metric->inclusive][(size_t)row * side->tree.columns + metric->column] * side->runs;
  unsigned __int128 square = (unsigned __int128)sum * sum;
  if (side->runs > 1 && squares > square)
    result.variance = (double)(squares - square) / side->runs / (side->runs - 1.0);
  return result;
}

/* The samples of a side, of which those of a row are a part. */
static uint64_t all_samples(const struct compare *compare, int side, const struct compare_metric *metric)
{
  const struct tree *tree = &compare->sides[side].tree;
  uint64_t all = 0, counted = 0;
  if (metric->samples != MODEL_NONE)
    all = tree_incl(tree, 0, metric->samples);
  if (metric->sample[side] > 0 && metric->column != MODEL_NONE)
    counted = model_rounded((double)tree_incl(tree, 0, metric->column) / metric->sample[side]);
  return MAX(counted, all);
}

/* The samples on which a row's figure rests, over all runs of a side. */
static uint64_t row_samples(const struct compare *compare, int side, uint32_t joined,
                            const struct compare_metric *metric, double mean)
{
  uint32_t row = compare->rows[side][joined];
  if (metric->basis == COMPARE_COUNTED)
    return model_rounded(metric->sample[side] > 0 ? mean * compare->sides[side].runs / metric->sample[side] : 0);
  return row == MODEL_NONE ? 0 : sum_of(&compare->sides[side], row, metric->samples, metric->inclusive);
}

/* Tests a figure.  parts: the samples of all runs of each side. */
static double test(const struct significance_runs *base, const struct significance_runs *now, enum compare_basis basis,
                   const struct significance_part parts[COMPARE_SIDES], const double sample[COMPARE_SIDES])
{
  const uint64_t samples[COMPARE_SIDES] = {parts[COMPARE_BASE].samples, parts[COMPARE_NEW].samples};
  bool few = samples[COMPARE_BASE] < MODEL_FEW_SAMPLES && samples[COMPARE_NEW] < MODEL_FEW_SAMPLES;
  bool nothing = base->mean == 0 && now->mean == 0; /* there is nothing to compare */
  if (nothing || (basis != COMPARE_EXACT && few))
    return NAN;
  if (base->runs > 1 || now->runs > 1)
    return significance_of_runs(base, now);
  if (basis == COMPARE_COUNTED && samples[COMPARE_BASE] >= SIGNIFICANCE_PARTS_MIN &&
      samples[COMPARE_NEW] >= SIGNIFICANCE_PARTS_MIN)
    return significance_of_parts(&parts[COMPARE_BASE], &parts[COMPARE_NEW]);
  if (basis == COMPARE_COUNTED)
    return significance_of_counts(samples[COMPARE_BASE], samples[COMPARE_NEW],
                                  sample[COMPARE_NEW] / (sample[COMPARE_BASE] + sample[COMPARE_NEW]));
  if (basis == COMPARE_DISTRIBUTED)
    return significance_of_amounts(base->mean, samples[COMPARE_BASE], now->mean, samples[COMPARE_NEW]);
  return NAN;
}

struct compare_figure compare_row(const struct compare *compare, uint32_t row, const struct compare_metric *metric)
{
  assert(row < compare->joined.count);
  struct significance_runs runs[COMPARE_SIDES];
  struct significance_part parts[COMPARE_SIDES];
  for (int side = 0; side < COMPARE_SIDES; side++) {
    runs[side] = over_runs(compare, side, row, metric);
    parts[side] = (struct significance_part){runs[side].mean, row_samples(compare, side, row, metric, runs[side].mean),
                                             all_samples(compare, side, metric)};
  }
  return (struct compare_figure){runs[COMPARE_BASE].mean, runs[COMPARE_NEW].mean,
                                 test(&runs[COMPARE_BASE], &runs[COMPARE_NEW], metric->basis, parts, metric->sample)};
}

struct significance_part compare_part(const struct compare_values *values, enum compare_basis basis, double mean)
{
  bool counted = basis == COMPARE_COUNTED && values->sample > 0;
  uint64_t samples = counted ? model_rounded(mean * values->runs / values->sample) : values->samples;
  return (struct significance_part){mean, samples, values->all};
}

static struct significance_runs over_values(const struct compare_values *values)
{
  assert(values->values || !values->runs);
  struct significance_runs result = {.runs = values->runs};
  for (uint32_t i = 0; i < values->runs; i++)
    result.mean += values->values[i] / values->runs;
  for (uint32_t i = 0; i < values->runs && values->runs > 1; i++)
    result.variance += (values->values[i] - result.mean) * (values->values[i] - result.mean) / (values->runs - 1.0);
  return result;
}

struct compare_figure compare_values(const struct compare_values *base, const struct compare_values *now,
                                     enum compare_basis basis)
{
  const struct compare_values *both[COMPARE_SIDES] = {base, now};
  struct significance_runs runs[COMPARE_SIDES];
  struct significance_part parts[COMPARE_SIDES];
  double sample[COMPARE_SIDES];
  for (int side = 0; side < COMPARE_SIDES; side++) {
    runs[side] = over_values(both[side]);
    sample[side] = both[side]->sample;
    parts[side] = compare_part(both[side], basis, runs[side].mean);
  }
  return (struct compare_figure){runs[COMPARE_BASE].mean, runs[COMPARE_NEW].mean,
                                 test(&runs[COMPARE_BASE], &runs[COMPARE_NEW], basis, parts, sample)};
}

size_t compare_correct(struct compare_figure *first, size_t count, size_t stride)
{
  assert(stride >= sizeof *first);
  double *probabilities = xmalloc(count * sizeof *probabilities);
  for (size_t i = 0; i < count; i++)
    probabilities[i] = ((struct compare_figure *)((char *)first + i * stride))->probability;
  size_t compared = significance_correct(probabilities, count);
  for (size_t i = 0; i < count; i++)
    ((struct compare_figure *)((char *)first + i * stride))->probability = probabilities[i];
  free(probabilities);
  return compared;
}

bool compare_is_significant(const struct compare_figure *figure)
{
  return figure->probability < SIGNIFICANCE_LEVEL;
}

double compare_change(const struct compare_figure *figure)
{
  if (figure->base == 0 && figure->now == 0)
    return NAN;
  return figure->now / figure->base - 1;
}

double compare_sort_key(const struct compare_figure *figure, const char *column)
{
  assert(column);
  if (!strcmp(column, "difference"))
    return fabs(figure->now - figure->base);
  if (!strcmp(column, "base"))
    return figure->base;
  if (!strcmp(column, "new"))
    return figure->now;
  if (!strcmp(column, "ratio"))
    return figure->base > 0 ? figure->now / figure->base : 0;
  if (!strcmp(column, "significance"))
    return isnan(figure->probability) ? 0 : 2 - figure->probability;
  return NAN;
}
