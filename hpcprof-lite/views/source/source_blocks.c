#include "hpcprof-lite/views/source/source_blocks.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* The rows of the lines, in the order of the blocks that they belong to. */
struct choice {
  const struct source_request *request;
  struct source_blocks *blocks;
  bool by_file;
  bool *matched; /* [function] it is selected, or the function that stands for it */
  uint32_t *rows, rows_count;
};

static const struct tree_row *line_row(const struct source_blocks *blocks, uint32_t row)
{
  return &blocks->lines.tree.rows[row];
}

/* Sorts lines by file and function, then by their number. */
static int by_place(const void *a, const void *b, void *argument)
{
  const struct choice *choice = argument;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const struct tree_row *x = line_row(choice->blocks, i), *y = line_row(choice->blocks, j);
  int order = strcmp(x->file, y->file);
  if (!order && !choice->by_file)
    order = strcmp(choice->blocks->lines.name[i], choice->blocks->lines.name[j]);
  if (order)
    return order;
  return COMPARE(x->line, y->line) ?: COMPARE(i, j);
}

static bool same_block(const struct choice *choice, uint32_t i, uint32_t j)
{
  const struct source_lines *lines = &choice->blocks->lines;
  return !strcmp(lines->tree.rows[i].file, lines->tree.rows[j].file) &&
         (choice->by_file || !strcmp(lines->name[i], lines->name[j]));
}

/* The heaviest first, parts of files in the order of their paths. */
static int by_weight(const void *a, const void *b, void *argument)
{
  const struct source_block *x = a, *y = b;
  const struct choice *choice = argument;
  if (choice->by_file)
    return strcmp(x->file, y->file);
  return COMPARE(y->weight, x->weight) ?: strcmp(x->file, y->file) ?: strcmp(x->name, y->name);
}

/* Marks the functions that the selector names.  Returns whether there are any. */
static bool match_functions(struct choice *choice)
{
  const struct names *names = choice->request->names;
  const uint32_t *same = choice->blocks->lines.same;
  bool any = false;
  for (uint32_t i = 0; i < names->functions_count; i++) {
    struct tree_row row = {.kind = ROW_FUNCTION, .function = i, .name = names->functions[i].name, .file = ""};
    if (!selector_matches(names, choice->request->root, &row))
      continue;
    choice->matched[i] = choice->matched[same[i]] = true;
    any = true;
  }
  return any;
}

static bool is_selected(const struct choice *choice, const struct selector *lines, uint32_t row)
{
  const struct source_lines *all = &choice->blocks->lines;
  if (!source_lines_shown(all, row))
    return false;
  if (lines)
    return selector_matches_line(lines, line_row(choice->blocks, row)->file, line_row(choice->blocks, row)->line);
  return !choice->request->root || (all->function[row] != MODEL_NONE && choice->matched[all->function[row]]);
}

/* Selects lines: those that the selector names or, if it names no function, those of the file with that name. */
static void select_rows(struct choice *choice)
{
  const struct selector *root = choice->request->root, *lines = NULL;
  struct selector file;
  if (root && root->is_lines)
    lines = root;
  if (root && !root->is_lines && !match_functions(choice)) {
    file = (struct selector){.is_lines = true, .file = root->text, .file_length = strlen(root->text)};
    file.from = 0; /* with the time whose line is not known */
    file.to = UINT32_MAX;
    lines = &file;
  }
  choice->by_file = lines != NULL;
  for (uint32_t i = 1; i < choice->blocks->lines.tree.count; i++) {
    choice->blocks->selected[i] = is_selected(choice, lines, i);
    if (choice->blocks->selected[i])
      choice->rows[choice->rows_count++] = i;
  }
}

static struct source_block *add_block(struct source_blocks *blocks)
{
  struct source_block *block = XAPPEND(blocks->blocks, blocks->count, blocks->room);
  *block = (struct source_block){.source = MODEL_NONE, .code = {.module = MODEL_NONE}};
  return block;
}

static void add_shown(struct source_blocks *blocks, uint32_t line, uint32_t row)
{
  *XAPPEND(blocks->shown, blocks->shown_count, blocks->shown_room) = (struct source_shown){line, row};
}

/* Makes a block of each group of rows; shown[] has the rows. */
static void group_rows(struct choice *choice)
{
  struct source_blocks *blocks = choice->blocks;
  const struct tree *tree = &blocks->lines.tree;
  struct source_block *block = NULL;
  for (uint32_t i = 0; i < choice->rows_count; i++) {
    uint32_t row = choice->rows[i];
    if (!block || !same_block(choice, choice->rows[i - 1], row)) {
      block = add_block(blocks);
      block->name = choice->by_file ? NULL : blocks->lines.name[row];
      block->file = tree->rows[row].file;
      block->first = i;
    }
    block->count++;
    if (!block->from)
      block->from = tree->rows[row].line;
    block->to = tree->rows[row].line;
    model_add(&block->weight, tree_weight(tree, choice->request->columns, row, true));
    model_add(&block->spent, tree_spent(tree, choice->request->columns, row, true));
    add_shown(blocks, tree->rows[row].line, row);
  }
}

/* Adds blocks without rows for measured files whose selected lines have no figures. */
static void add_plain_files(struct choice *choice)
{
  const struct selector *root = choice->request->root;
  const struct names *names = choice->request->names;
  for (uint32_t i = 0; root && root->is_lines && i < names->files_count; i++) {
    bool known = !selector_matches_line(root, names->files[i], root->from);
    for (uint32_t j = 0; j < choice->blocks->count && !known; j++)
      known = !strcmp(choice->blocks->blocks[j].file, names->files[i]);
    if (!known)
      add_block(choice->blocks)->file = names->files[i];
  }
}

void source_blocks_choose(const struct source_request *request, struct source_blocks *blocks)
{
  struct choice choice = {.request = request, .blocks = blocks};
  blocks->selected = xcalloc(blocks->lines.tree.count, sizeof *blocks->selected);
  choice.rows = xcalloc(blocks->lines.tree.count, sizeof *choice.rows);
  choice.matched = xcalloc(request->names->functions_count, sizeof *choice.matched);
  xarray_reserve(&blocks->shown, &blocks->shown_room, 1, sizeof *blocks->shown);
  select_rows(&choice);
  qsort_r(choice.rows, choice.rows_count, sizeof *choice.rows, by_place, &choice);
  group_rows(&choice);
  add_plain_files(&choice);
  if (blocks->count)
    qsort_r(blocks->blocks, blocks->count, sizeof *blocks->blocks, by_weight, &choice);
  free(choice.rows);
  free(choice.matched);
}

/* The lines of one block while they are arranged. */
struct layout {
  struct source_blocks *into;
  uint32_t last; /* line of the file; 0: its text is not known */
  uint64_t next; /* line that follows the last one that was added */
};

/* Adds the lines from `from` on, if they have not been added, to before `end`. */
static void add_plain(struct layout *layout, uint64_t from, uint64_t end)
{
  for (from = MAX(from, layout->next); from < end && from <= layout->last; from++) {
    add_shown(layout->into, (uint32_t)from, MODEL_NONE);
    layout->next = from + 1;
  }
}

/* Adds a line with figures, and `context` lines before it.  A gap of one line is closed. */
static void add_figures(struct layout *layout, const struct source_shown *here, uint32_t context)
{
  uint64_t from = here->line > context ? here->line - context : 1;
  if (layout->next > 1 && from == layout->next + 1)
    from = layout->next;
  add_plain(layout, from, here->line);
  add_shown(layout->into, here->line, here->row);
  layout->next = (uint64_t)here->line + 1;
}

/* The line in which the function of a block is declared, if it is before the lines with figures; else 0. */
static uint32_t declared_at(const struct source_request *request, const struct source_blocks *blocks,
                            const struct source_block *block, const struct source_shown *shown)
{
  uint32_t number = block->name && block->count ? blocks->lines.function[shown->row] : MODEL_NONE;
  if (number == MODEL_NONE)
    return 0;
  const struct names_function *function = &request->names->functions[number];
  return !strcmp(function->file, block->file) && function->line < block->from ? function->line : 0;
}

/* Adds the lines with figures, and those around them. */
static void arrange_figures(struct layout *layout, const struct source_shown *figures, uint32_t count, bool range)
{
  for (uint32_t i = 0; i < count; i++) {
    uint64_t next = i + 1 < count ? figures[i + 1].line : UINT64_MAX, end = (uint64_t)figures[i].line + 1;
    add_figures(layout, &figures[i], range ? UINT32_MAX : SOURCE_CONTEXT);
    if (!range)
      add_plain(layout, layout->next, MIN(end + SOURCE_CONTEXT, next));
  }
}

/* Adds the lines of a block: of a range all, else those with figures and some before and after them.  Time without a
 * line comes first. */
static void arrange_lines(const struct source_request *request, struct source_blocks *into, struct source_block *block,
                          const struct source_shown *figures)
{
  const struct selector *root = request->root;
  bool part = root && root->is_lines, range = part && root->from < root->to;
  struct layout layout = {.into = into, .last = into->files.files[block->source].lines, .next = 1};
  uint32_t declared = declared_at(request, into, block, figures), first = into->shown_count, i = 0;
  for (; i < block->count && !figures[i].line; i++)
    add_shown(into, 0, figures[i].row);
  if (declared)
    add_plain(&layout, declared, (uint64_t)declared + 1);
  if (range)
    layout.next = root->from;
  arrange_figures(&layout, figures + i, block->count - i, range);
  if (range)
    add_plain(&layout, root->from, (uint64_t)root->to + 1);
  else if (part && !block->count)
    add_plain(&layout, root->from > SOURCE_CONTEXT ? root->from - SOURCE_CONTEXT : 1,
              (uint64_t)root->from + SOURCE_CONTEXT + 1);
  if (part) {
    block->from = root->from;
    block->to = root->to;
  }
  block->first = first;
  block->count = into->shown_count - first;
}

struct heaviness {
  const struct tree *tree;
  const struct tree_columns *columns;
};

static int heaviest(const void *a, const void *b, void *argument)
{
  const struct heaviness *key = argument;
  const struct source_shown *x = a, *y = b;
  uint64_t i = tree_weight(key->tree, key->columns, x->row, true);
  uint64_t j = tree_weight(key->tree, key->columns, y->row, true);
  return COMPARE(j, i) ?: COMPARE(x->line, y->line);
}

ORDER(by_line, struct source_shown, COMPARE(x->line, y->line))

/* Arranges a block so that it takes `most` lines, unless that is 0, with the heaviest ones and what is around them. */
static void arrange_block(const struct source_request *request, struct source_blocks *into, struct source_block *block,
                          struct source_shown *figures, uint32_t most)
{
  enum { AROUND = 2 * SOURCE_CONTEXT + 1 };
  uint32_t first = into->shown_count, all = block->count;
  uint32_t last = all ? figures[all - 1].line : 0;
  source_files_find(&into->files, block->file, last, &block->source);
  arrange_lines(request, into, block, figures);
  if (!most || block->count <= most)
    return;
  struct heaviness key = {&into->lines.tree, request->columns};
  into->shown_count = first;
  block->count = MIN(MAX(most / AROUND, 1), all);
  block->omitted = all - block->count;
  qsort_r(figures, all, sizeof *figures, heaviest, &key);
  qsort(figures, block->count, sizeof *figures, by_line);
  arrange_lines(request, into, block, figures);
}

/* Whether a block is shown although no selector names it. */
static bool weighs(const struct source_request *request, const struct source_blocks *blocks,
                   const struct source_block *block)
{
  uint64_t whole = tree_weight(&blocks->lines.tree, request->columns, 0, true);
  bool heavy = (double)block->weight * 100 >= (double)whole * SOURCE_PERCENT_LEAST;
  return block->weight && (heavy || blocks->count < SOURCE_FUNCTIONS_LEAST);
}

void source_blocks_arrange(const struct source_request *request, struct source_blocks *blocks)
{
  struct source_shown *figures = blocks->shown;
  uint32_t count = blocks->count, most = request->lines_most;
  blocks->shown = NULL;
  blocks->shown_room = blocks->shown_count = 0;
  blocks->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct source_block block = blocks->blocks[i];
    bool full = most && blocks->shown_count >= most;
    if (full || (!request->root && !weighs(request, blocks, &block))) {
      blocks->limited = true;
      break;
    }
    arrange_block(request, blocks, &block, &figures[block.first], most ? most - blocks->shown_count : 0);
    blocks->blocks[blocks->count++] = block;
  }
  free(figures);
}

void source_blocks_read(struct source_blocks *blocks)
{
  const struct tree *tree = &blocks->lines.tree;
  uint32_t number;
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct tree_row *row = &tree->rows[tree->order[i]];
    if (blocks->selected[tree->order[i]] && row->line)
      source_files_find(&blocks->files, row->file, row->line, &number);
  }
}

void source_blocks_release(struct source_blocks *blocks)
{
  source_lines_release(&blocks->lines);
  source_files_release(&blocks->files);
  free(blocks->selected);
  free(blocks->blocks);
  free(blocks->shown);
  *blocks = (struct source_blocks){0};
}
