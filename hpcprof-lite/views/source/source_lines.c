#include "hpcprof-lite/views/source/source_lines.h"

#include "hpcprof-lite/model/row_checks.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CONSTRUCT_KINDS <= 32, "a bit for each kind");

/* A function of a line: its number, or only its name. */
struct owner {
  uint32_t function;
  const char *name;
};

struct build {
  const struct profile *profile;
  struct names *names;
  const struct tree_columns *columns;
  const struct tree *contexts;
  struct source_lines *lines;
  struct owner *owners; /* [row of contexts] its function */
  size_t directives_room;
};

/* Finds or adds a row, for which there is then an element of `directives`. */
static uint32_t add_row(struct build *build, const struct tree_row *wanted)
{
  struct source_lines *lines = build->lines;
  uint32_t row = tree_add(&lines->tree, wanted, NULL);
  xarray_reserve_zero(&lines->directives, &build->directives_room, lines->tree.count, sizeof *lines->directives);
  return row;
}

/* Finds or adds the row of a line, or of the time of a function without lines. */
static uint32_t add_line(struct build *build, const char *file, uint32_t line, const struct owner *owner)
{
  struct tree_row wanted = tree_plain_row(0, ROW_LINE, "", file, line);
  if (!*file || !line) {
    bool named = owner->function != MODEL_NONE;
    wanted = tree_plain_row(0, ROW_FUNCTION, named ? "" : owner->name, "", 0);
    wanted.function = owner->function;
    if (named)
      wanted.file = build->names->functions[owner->function].file;
  }
  return add_row(build, &wanted);
}

/* Finds or adds the row of a function below that of a line. */
static uint32_t add_owner(struct build *build, uint32_t line, const struct owner *owner)
{
  struct tree_row wanted = tree_plain_row(line, ROW_FUNCTION, owner->name, "", 0);
  wanted.function = owner->function;
  return add_row(build, &wanted);
}

/* The function that contains a construct: that of its place, as the user wrote it. */
static struct owner directive_owner(const struct build *build, uint32_t number)
{
  const struct names *names = build->names;
  const struct names_directive *directive = &names->directives[number];
  uint32_t function = names_innermost(names, names->directive_at[number])->function;
  if (names->functions[function].outline != OUTLINE_NONE)
    function = names->functions[function].origin;
  for (uint32_t i = 0; i < names->functions_count && function == MODEL_NONE; i++)
    if (names->functions[i].name == directive->name)
      function = i;
  return (struct owner){function, function == MODEL_NONE ? directive->name : names->functions[function].name};
}

/* Adds the lines of all constructs that are known by their places. */
static void add_directives(struct build *build)
{
  const struct profile_workspan *workspan = &build->profile->workspan;
  for (uint32_t i = 0; i < workspan->directives_count; i++) {
    const struct names_directive *directive = &build->names->directives[i];
    uint32_t kind = workspan->directives[i].kind;
    if (kind == DIRECTIVE_PROGRAM || kind == DIRECTIVE_USER_REGION || kind >= CONSTRUCT_KINDS || !*directive->file ||
        !directive->line || build->names->directive_at[i] == MODEL_NONE)
      continue;
    struct owner owner = directive_owner(build, i);
    uint32_t line = add_line(build, directive->file, directive->line, &owner);
    add_owner(build, line, &owner);
    build->lines->directives[line] |= 1u << kind;
  }
}

static bool is_construct(const struct tree_row *row)
{
  return row->kind == ROW_PARALLEL || row->kind == ROW_TASK;
}

/* The first function that was found in a line, or `otherwise`. */
static struct owner first_owner(const struct build *build, uint32_t line, struct owner otherwise)
{
  const struct tree *tree = &build->lines->tree;
  uint32_t first = MODEL_NONE; /* children are in descending order until the tree is finished */
  for (uint32_t child = tree->rows[line].first_child; child != MODEL_NONE; child = tree->rows[child].next)
    first = child;
  if (first == MODEL_NONE)
    return otherwise;
  return (struct owner){tree->rows[first].function, tree_unmarked_name(&tree->rows[first])};
}

/* Marks the line of a region or task, and returns its function: that from which the compiler made its code, or the one
 * that is known to contain a construct of that line; else that of the row above. */
static void construct_owner(struct build *build, uint32_t number, struct owner *owner)
{
  const struct tree_row *row = &build->contexts->rows[number];
  const struct names_function *outlined = row->function == MODEL_NONE ? NULL : &build->names->functions[row->function];
  if (outlined && outlined->outline == OUTLINE_NONE)
    *owner = (struct owner){row->function, outlined->name};
  if (outlined && outlined->origin != MODEL_NONE)
    *owner = (struct owner){outlined->origin, build->names->functions[outlined->origin].name};
  if (!*row->file || !row->line)
    return;
  uint32_t line = add_line(build, row->file, row->line, owner);
  if (!outlined || outlined->origin == MODEL_NONE)
    *owner = first_owner(build, line, *owner);
  if (is_construct(row))
    build->lines->directives[line] |= 1u << (row->kind == ROW_TASK ? DIRECTIVE_TASK : DIRECTIVE_PARALLEL);
  add_owner(build, line, owner);
}

/* Sets the function of each row of the top-down tree. */
static void find_owners(struct build *build)
{
  const struct tree *contexts = build->contexts;
  build->owners = xcalloc(contexts->count, sizeof *build->owners);
  build->owners[0] = (struct owner){MODEL_NONE, contexts->rows[0].name};
  for (uint32_t i = 1; i < contexts->count; i++) {
    const struct tree_row *row = &contexts->rows[i];
    struct owner *owner = &build->owners[i];
    *owner = build->owners[row->parent];
    if (row->kind == ROW_FUNCTION || row->kind == ROW_INLINED)
      *owner = (struct owner){row->function, tree_unmarked_name(row)};
    else if (!row->parent && row->kind != ROW_LINE)
      *owner = (struct owner){MODEL_NONE, row->name};
    if (is_construct(row) || row->kind == ROW_PARTIAL)
      construct_owner(build, i, owner);
  }
}

/* Adds the own values of a row of the top-down tree to its line. */
static void add_values(struct build *build, uint32_t number)
{
  const struct tree_row *row = &build->contexts->rows[number];
  const struct owner *owner = &build->owners[number];
  bool any = false;
  build->lines->line_of[number] = MODEL_NONE;
  for (uint32_t i = 0; i < build->contexts->columns; i++)
    any = any || tree_excl(build->contexts, number, i);
  if (!any)
    return;
  uint32_t line;
  if (row->kind == ROW_LINE || row->kind == ROW_PARTIAL)
    line = add_line(build, row->file, row->line, owner);
  else
    line = add_line(build, "", 0, owner);
  uint32_t own = add_owner(build, line, owner);
  for (uint32_t i = 0; i < build->contexts->columns; i++)
    tree_value(&build->lines->tree, own, i, tree_excl(build->contexts, number, i));
  build->lines->line_of[number] = line;
}

/* Sorts functions that are declared in the same place together, the heaviest one first. */
static int by_declaration(const void *a, const void *b, void *argument)
{
  const struct build *build = ((const void **)argument)[0];
  const uint64_t *weight = ((const void **)argument)[1];
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const struct names_function *x = &build->names->functions[i], *y = &build->names->functions[j];
  return strcmp(x->file, y->file) ?: COMPARE(x->line, y->line) ?: COMPARE(weight[j], weight[i])
             ?: strcmp(x->name, y->name) ?: COMPARE(i, j);
}

/* Finds the function that stands for each function. */
static void find_same(struct build *build)
{
  const struct names *names = build->names;
  const struct tree *tree = &build->lines->tree;
  uint32_t count = names->functions_count, *order = xcalloc(count, sizeof *order);
  uint64_t *weight = xcalloc(count, sizeof *weight);
  uint32_t *same = build->lines->same = xcalloc(count, sizeof *same);
  for (uint32_t i = 1; i < tree->count; i++)
    if (tree->rows[i].parent && tree->rows[i].function != MODEL_NONE)
      weight[tree->rows[i].function] =
          model_sum(weight[tree->rows[i].function], tree_weight(tree, build->columns, i, false));
  for (uint32_t i = 0; i < count; i++)
    order[i] = same[i] = i;
  qsort_r(order, count, sizeof *order, by_declaration, (const void *[]){build, weight});
  for (uint32_t i = 1; i < count; i++) {
    const struct names_function *x = &names->functions[order[i - 1]], *y = &names->functions[order[i]];
    if (*y->file && y->line && x->line == y->line && !strcmp(x->file, y->file))
      same[order[i]] = same[order[i - 1]];
  }
  free(order);
  free(weight);
}

/* Names each line by its heaviest function, of equal ones the first. */
static void name_lines(struct build *build)
{
  struct source_lines *lines = build->lines;
  const struct tree *tree = &lines->tree;
  uint32_t *best = model_nones(tree->count); /* [row] the row of that function */
  lines->function = model_nones(tree->count);
  lines->name = xcalloc(tree->count, sizeof *lines->name);
  for (uint32_t i = 1; i < tree->count; i++) {
    uint32_t line = tree->rows[i].parent;
    if (line && (best[line] == MODEL_NONE ||
                 tree_weight(tree, build->columns, i, false) > tree_weight(tree, build->columns, best[line], false)))
      best[line] = i;
  }
  for (uint32_t i = 1; i < tree->count; i++) {
    if (best[i] == MODEL_NONE)
      continue;
    uint32_t function = tree->rows[best[i]].function;
    lines->function[i] = MODEL_NONE;
    lines->name[i] = tree->rows[best[i]].name;
    if (function != MODEL_NONE) {
      lines->function[i] = lines->same[function];
      lines->name[i] = build->names->functions[lines->function[i]].name;
    }
  }
  free(best);
}

void source_lines_build(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                        const struct tree *contexts, struct source_lines *lines)
{
  struct build build = {.profile = profile, .names = names, .columns = columns, .contexts = contexts, .lines = lines};
  struct tree_order order = {.by = SORT_FILE, .columns = columns};
  *lines = (struct source_lines){.line_of = xcalloc(contexts->count, sizeof *lines->line_of)};
  tree_init(&lines->tree, contexts->columns, contexts->rows[0].name);
  xarray_reserve_zero(&lines->directives, &build.directives_room, 1, sizeof *lines->directives);
  add_directives(&build);
  find_owners(&build);
  for (uint32_t i = 0; i < contexts->count; i++)
    add_values(&build, i);
  free(build.owners);
  find_same(&build);
  name_lines(&build);
  tree_inclusive(&lines->tree);
  assert(check_tree_sums(&lines->tree));
  tree_finish(&lines->tree, &order, false);
  assert(check_finished_tree(&lines->tree));
}

bool source_lines_shown(const struct source_lines *lines, uint32_t row)
{
  if (!row || lines->tree.rows[row].parent)
    return false;
  bool any = lines->directives[row] != 0;
  for (uint32_t i = 0; i < lines->tree.columns && !any; i++)
    any = tree_incl(&lines->tree, row, i) != 0;
  return any;
}

void source_lines_release(struct source_lines *lines)
{
  tree_release(&lines->tree);
  free(lines->directives);
  free(lines->function);
  free(lines->name);
  free(lines->same);
  free(lines->line_of);
  *lines = (struct source_lines){0};
}
