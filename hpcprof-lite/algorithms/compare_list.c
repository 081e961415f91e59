#include "hpcprof-lite/algorithms/compare_list.h"

#include "common/array.h"
#include "hpcprof-lite/model/profile.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In how many runs a column is, and in how many of them it was not measured. */
struct compare_list_state {
  uint32_t present, unknown;
};

/* A row of a run. */
struct compare_entry {
  struct cell *cells;          /* [column], as many as were known when it was added */
  uint32_t count, run, number; /* number: among all entries */
  uint32_t line;               /* of both sides */
  int side;
};

/* ---- the rows of runs ---- */

static struct cell cell_of(const struct compare_entry *entry, uint32_t column)
{
  return column < entry->count ? entry->cells[column] : cell_empty();
}

static bool is_number(const struct cell *cell)
{
  return cell->kind == CELL_NUMBER || cell->kind == CELL_SIGNED || cell->kind == CELL_REAL ||
         cell->kind == CELL_PERCENT;
}

uint32_t compare_list_column(const struct compare_list *list, const char *name)
{
  for (uint32_t i = 0; i < list->count; i++)
    if (!strcmp(list->columns[i].name, name))
      return i;
  return MODEL_NONE;
}

/* Finds the list's number of each column of a table, and adds those that it lacks. */
static int map_columns(struct compare_list *list, const struct table *table, uint32_t *map)
{
  for (uint32_t i = 0; i < table->columns_count; i++) {
    const struct table_column *column = table_column(table, i);
    size_t needed = (size_t)list->count + 1;
    map[i] = compare_list_column(list, column->name);
    if (map[i] == MODEL_NONE) {
      if (!array_reserve(&list->columns, &list->columns_room, needed, sizeof *list->columns) ||
          !array_reserve_zero(&list->states, &list->states_room, needed, sizeof *list->states) ||
          !array_reserve_zero(&list->samples, &list->samples_room, needed, sizeof *list->samples))
        return ERR_NOMEM;
      map[i] = list->count++;
      list->columns[map[i]] = *column;
    }
    list->states[map[i]].present++;
  }
  return 0;
}

/* The rows of a run that are being added. */
struct adding {
  struct compare_list *list;
  const struct table *table;
  const uint32_t *map; /* [column of the table] that of the list */
  bool *measured;      /* [column of the list] */
  int side;
};

static int add_row(void *to, const struct cell *cells)
{
  const struct adding *adding = to;
  struct compare_list *list = adding->list;
  size_t number = list->entries_count;
  struct cell *own = calloc((size_t)list->count + 1, sizeof *own);
  if (!own || !array_reserve(&list->entries, &list->entries_room, number + 1, sizeof *list->entries)) {
    free(own);
    return ERR_NOMEM;
  }
  for (uint32_t i = 0; i < adding->table->columns_count; i++) {
    own[adding->map[i]] = cells[i];
    adding->measured[adding->map[i]] |= cells[i].kind != CELL_UNKNOWN;
  }
  list->entries[list->entries_count++] = (struct compare_entry){
      own, list->count, list->runs[adding->side], .number = (uint32_t)number, .line = MODEL_NONE, .side = adding->side};
  return 0;
}

static void find_keys(struct compare_list *list)
{
  list->keys_count = 0;
  for (const char *at = list->keys; *at; at += strspn(at, " ")) {
    size_t length = strcspn(at, " ");
    for (uint32_t i = 0; i < list->count; i++)
      if (strlen(list->columns[i].name) == length && !memcmp(list->columns[i].name, at, length)) {
        assert(list->keys_count < COMPARE_KEYS_MAX);
        list->key[list->keys_count++] = i;
      }
    at += length;
  }
}

/* Numbers in ascending order, rows without one first. */
static int by_number(const struct cell *a, const struct cell *b)
{
  bool x = a->kind == CELL_NUMBER, y = b->kind == CELL_NUMBER;
  return x && y ? (a->whole > b->whole) - (a->whole < b->whole) : x - y;
}

/* By the key in which the numbers of another one begin again. */
static int by_group(const void *a, const void *b, void *column)
{
  const struct compare_entry *x = a, *y = b;
  struct cell left = cell_of(x, *(uint32_t *)column), right = cell_of(y, *(uint32_t *)column);
  int order = by_number(&left, &right);
  return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Replaces the numbers in the key before the last one, which name something in one run only: for each value of the key
 * before it, they count from 1 on. */
static void number_again(struct compare_list *list, size_t first)
{
  size_t count = list->entries_count - first;
  struct compare_entry *entries = list->entries + first;
  assert(list->keys_count > 2);
  uint32_t group = list->key[0], column = list->key[1], last = list->key[2];
  uint64_t number = 0, before = 0;
  if (count)
    qsort_r(entries, count, sizeof *entries, by_group, &group);
  for (size_t i = 0; i < count; i++) {
    struct cell *cell = &entries[i].cells[column];
    uint64_t own = cell->whole;
    if (!i || by_number(&entries[i - 1].cells[group], &entries[i].cells[group]))
      number = 1;
    else if (own != before || by_number(&entries[i - 1].cells[last], &entries[i].cells[last]) >= 0)
      number++;
    before = own;
    cell->whole = number;
  }
}

int compare_list_add(struct compare_list *list, int side, const struct table *table)
{
  uint32_t *map = calloc((size_t)table->columns_count + 1, sizeof *map);
  int status = map ? map_columns(list, table, map) : ERR_NOMEM;
  size_t first = list->entries_count;
  bool *measured = calloc((size_t)list->count + 1, sizeof *measured);
  if (!measured)
    status = ERR_NOMEM;
  if (!status)
    status = table_each(table, add_row, &(struct adding){list, table, map, measured, side});
  for (uint32_t i = 0; i < table->columns_count && !status; i++)
    list->states[map[i]].unknown += first < list->entries_count && !measured[map[i]];
  find_keys(list);
  if (list->numbered && !status)
    number_again(list, first);
  list->shown = table->shown;
  list->runs[side] += !status;
  free(map);
  free(measured);
  return status;
}

bool compare_list_is_number(const struct table_column *column)
{
  switch (column->type) {
  case COLUMN_COUNT:
  case COLUMN_SECONDS:
  case COLUMN_AMOUNT:
  case COLUMN_PERCENT:
  case COLUMN_RATIO:
    return !column->text_only;
  default:
    return false;
  }
}

bool compare_list_is_figure(const struct compare_list *list, uint32_t column)
{
  const struct compare_list_state *state = &list->states[column];
  bool measured =
      list->complete ? !state->unknown : state->present == list->runs[COMPARE_BASE] + list->runs[COMPARE_NEW];
  return measured && compare_list_is_number(&list->columns[column]);
}

/* ---- which rows are the same ---- */

static bool is_program(const struct compare_list *list, const struct cell *first_key)
{
  return table_is_text(&list->columns[list->key[0]]) && first_key->kind == CELL_TEXT &&
         !strcmp(first_key->text, profile_directive_name(DIRECTIVE_PROGRAM));
}

bool compare_list_is_program(const struct compare_list *list, const struct compare_line *line)
{
  return is_program(list, &line->cells[list->key[0]]);
}

static const char *text_of(const struct cell *cell)
{
  return cell->kind == CELL_TEXT ? cell->text : "";
}

static int by_key(const struct compare_list *list, const struct compare_entry *a, const struct compare_entry *b)
{
  int order = 0;
  for (uint32_t i = 0; i < list->keys_count && !order; i++) {
    enum column_type type = list->columns[list->key[i]].type;
    struct cell x = cell_of(a, list->key[i]), y = cell_of(b, list->key[i]);
    if (type == COLUMN_ID)
      order = by_number(&x, &y);
    else if (type == COLUMN_FILE)
      order = strcmp(names_base(text_of(&x)), names_base(text_of(&y)));
    else
      order = strcmp(text_of(&x), text_of(&y));
    if (!order && !i && is_program(list, &x)) /* its name is that of the executable */
      break;
  }
  return order;
}

/* By the line behind a file, and then by its directory. */
static int by_place(const struct compare_list *list, const struct compare_entry *a, const struct compare_entry *b)
{
  for (uint32_t i = 0; i < list->keys_count; i++) {
    uint32_t column = list->key[i];
    if (list->columns[column].type != COLUMN_FILE)
      continue;
    struct cell x = cell_of(a, column), y = cell_of(b, column), x_line = cell_of(a, column + 1);
    struct cell y_line = cell_of(b, column + 1);
    int order = by_number(&x_line, &y_line);
    return order ? order : strcmp(text_of(&x), text_of(&y));
  }
  return 0;
}

static int by_identity(const void *a, const void *b, void *list)
{
  const struct compare_entry *x = a, *y = b;
  int order = by_key(list, x, y);
  if (!order)
    order = (x->side > y->side) - (x->side < y->side);
  if (!order)
    order = by_place(list, x, y);
  return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int by_line(const void *a, const void *b)
{
  const struct compare_entry *x = a, *y = b;
  int order = (x->line > y->line) - (x->line < y->line);
  if (!order)
    order = (x->side > y->side) - (x->side < y->side);
  return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* The rows of a side that have the same names. */
struct children {
  struct compare_child *list;
  uint32_t count;
  size_t room;
};

/* Collects the different rows among entries of one side, which stand in the order of their lines. */
static int collect(const struct compare_list *list, size_t first, size_t end, struct children *children)
{
  children->count = 0;
  for (size_t i = first; i < end; i++) {
    if (i > first && !by_place(list, &list->entries[i - 1], &list->entries[i]))
      continue;
    if (!array_reserve(&children->list, &children->room, (size_t)children->count + 1, sizeof *children->list))
      return ERR_NOMEM;
    struct cell line = cell_empty();
    for (uint32_t j = 0; j < list->keys_count; j++)
      if (list->columns[list->key[j]].type == COLUMN_FILE)
        line = cell_of(&list->entries[i], list->key[j] + 1);
    children->list[children->count++] = (struct compare_child){
        .row = (uint32_t)i, .line = line.kind == CELL_NUMBER ? (uint32_t)line.whole : 0, .partner = MODEL_NONE};
  }
  return 0;
}

/* Gives the entries of a row of a side the number of a line. */
static void set_line(struct compare_list *list, const struct children *children, uint32_t child, size_t end)
{
  size_t last = child + 1 < children->count ? children->list[child + 1].row : end;
  for (size_t i = children->list[child].row; i < last; i++)
    list->entries[i].line = list->lines_count;
}

/* Joins entries of the same names, those of the base first. */
static int join_group(struct compare_list *list, size_t first, size_t end, bool one_build,
                      struct children sides[COMPARE_SIDES])
{
  size_t middle = first;
  while (middle < end && list->entries[middle].side == COMPARE_BASE)
    middle++;
  if (collect(list, first, middle, &sides[COMPARE_BASE]) || collect(list, middle, end, &sides[COMPARE_NEW]))
    return ERR_NOMEM;
  compare_pair_constructs((struct compare_child *[]){sides[COMPARE_BASE].list, sides[COMPARE_NEW].list},
                          (uint32_t[COMPARE_SIDES]){0, 0},
                          (uint32_t[COMPARE_SIDES]){sides[COMPARE_BASE].count, sides[COMPARE_NEW].count}, one_build);
  for (uint32_t i = 0; i < sides[COMPARE_NEW].count; i++, list->lines_count++) {
    uint32_t partner = sides[COMPARE_NEW].list[i].partner;
    set_line(list, &sides[COMPARE_NEW], i, end);
    if (partner != MODEL_NONE)
      set_line(list, &sides[COMPARE_BASE], partner, middle);
  }
  for (uint32_t i = 0; i < sides[COMPARE_BASE].count; i++)
    if (sides[COMPARE_BASE].list[i].partner == MODEL_NONE) {
      set_line(list, &sides[COMPARE_BASE], i, middle);
      list->lines_count++;
    }
  return 0;
}

static int number_lines(struct compare_list *list, bool one_build)
{
  struct children sides[COMPARE_SIDES] = {{0}};
  int status = 0;
  for (size_t first = 0, end; first < list->entries_count && !status; first = end) {
    for (end = first + 1; end < list->entries_count && !by_key(list, &list->entries[first], &list->entries[end]);)
      end++;
    status = join_group(list, first, end, one_build, sides);
  }
  free(sides[COMPARE_BASE].list);
  free(sides[COMPARE_NEW].list);
  return status;
}

/* ---- figures ---- */

/* The cells of a line in one column. */
struct gathered {
  double *values[COMPARE_SIDES]; /* [run] without decimals */
  bool known[COMPARE_SIDES];
  struct cell cell; /* the last one that is known */
  uint32_t cells;   /* of the new side that are known */
};

/* The value of a number without its decimals, so that sums are exact, and what it must be multiplied with. */
static double number_of(const struct cell *cell)
{
  return cell->kind == CELL_NUMBER ? (double)cell->whole : cell_value(cell);
}

static double scale_of(const struct cell *cell)
{
  return cell->kind == CELL_NUMBER && cell->decimals ? 1e-9 : 1;
}

static void gather(const struct compare_list *list, const struct compare_entry *first, const struct compare_entry *end,
                   uint32_t column, struct gathered *gathered)
{
  for (int side = 0; side < COMPARE_SIDES; side++)
    memset(gathered->values[side], 0, list->runs[side] * sizeof **gathered->values);
  *gathered = (struct gathered){.values = {gathered->values[COMPARE_BASE], gathered->values[COMPARE_NEW]}};
  for (const struct compare_entry *entry = first; entry < end; entry++) {
    struct cell cell = cell_of(entry, column);
    if (!is_number(&cell))
      continue;
    assert(cell.kind != CELL_NUMBER || !cell.decimals || cell.decimals == 9);
    gathered->values[entry->side][entry->run] += number_of(&cell);
    gathered->known[entry->side] = true;
    gathered->cell = cell;
    gathered->cells += entry->side == COMPARE_NEW;
  }
}

/* The cell of the new side: the mean over its runs. */
static struct cell mean_cell(const struct compare_list *list, const struct gathered *gathered, double mean)
{
  const struct cell *cell = &gathered->cell;
  if (!gathered->known[COMPARE_NEW] && !(list->complete && gathered->known[COMPARE_BASE]))
    return cell_empty();
  if (list->runs[COMPARE_NEW] == 1 && gathered->cells == 1)
    return *cell;
  return cell->decimals ? cell_real(mean, cell->decimals) : cell_count(model_rounded(mean));
}

static void compare_column(const struct compare_list *list, uint32_t column, const struct gathered *gathered,
                           struct compare_line *line)
{
  const double *sample = list->samples[column];
  struct compare_values sides[COMPARE_SIDES];
  for (int side = 0; side < COMPARE_SIDES; side++)
    sides[side] = (struct compare_values){gathered->values[side], list->runs[side], .sample = sample[side]};
  bool sampled = sample[COMPARE_BASE] > 0 && sample[COMPARE_NEW] > 0;
  struct compare_figure *figure = &line->figures[column];
  *figure = compare_values(&sides[COMPARE_BASE], &sides[COMPARE_NEW], sampled ? COMPARE_COUNTED : COMPARE_EXACT);
  double scale = scale_of(&gathered->cell);
  figure->base *= scale;
  figure->now *= scale;
  line->cells[column] = mean_cell(list, gathered, figure->now);
}

/* Fills a line from its entries, of which the last one is of the newest run that has it. */
static void fill_line(const struct compare_list *list, const struct compare_entry *first,
                      const struct compare_entry *end, struct gathered *gathered, struct compare_line *line)
{
  for (uint32_t column = 0; column < list->count; column++) {
    line->figures[column].probability = NAN;
    if (!compare_list_is_figure(list, column))
      continue;
    gather(list, first, end, column, gathered);
    compare_column(list, column, gathered, line);
  }
  for (uint32_t i = 0; i < list->keys_count; i++) {
    uint32_t column = list->key[i];
    line->cells[column] = cell_of(end - 1, column);
    if (list->columns[column].type == COLUMN_FILE)
      line->cells[column + 1] = cell_of(end - 1, column + 1);
  }
}

static int fill_lines(struct compare_list *list)
{
  size_t cells = (size_t)list->lines_count * list->count + 1;
  struct gathered gathered = {.values = {calloc((size_t)list->runs[COMPARE_BASE] + 1, sizeof(double)),
                                         calloc((size_t)list->runs[COMPARE_NEW] + 1, sizeof(double))}};
  list->lines = calloc((size_t)list->lines_count + 1, sizeof *list->lines);
  list->cells = calloc(cells, sizeof *list->cells);
  list->figures = calloc(cells, sizeof *list->figures);
  bool fits =
      gathered.values[COMPARE_BASE] && gathered.values[COMPARE_NEW] && list->lines && list->cells && list->figures;
  for (size_t first = 0, end; first < list->entries_count && fits; first = end) {
    uint32_t number = list->entries[first].line;
    for (end = first + 1; end < list->entries_count && list->entries[end].line == number;)
      end++;
    struct compare_line *line = &list->lines[number];
    *line =
        (struct compare_line){list->cells + (size_t)number * list->count, list->figures + (size_t)number * list->count};
    fill_line(list, &list->entries[first], &list->entries[end], &gathered, line);
  }
  free(gathered.values[COMPARE_BASE]);
  free(gathered.values[COMPARE_NEW]);
  return fits ? 0 : ERR_NOMEM;
}

int compare_list_join(struct compare_list *list, bool one_build)
{
  if (list->entries_count)
    qsort_r(list->entries, list->entries_count, sizeof *list->entries, by_identity, list);
  int status = number_lines(list, one_build);
  if (list->entries_count && !status)
    qsort(list->entries, list->entries_count, sizeof *list->entries, by_line);
  return status ? status : fill_lines(list);
}

void compare_list_release(struct compare_list *list)
{
  for (size_t i = 0; i < list->entries_count; i++)
    free(list->entries[i].cells);
  free(list->entries);
  free(list->columns);
  free(list->states);
  free(list->samples);
  free(list->lines);
  free(list->cells);
  free(list->figures);
  *list = (struct compare_list){0};
}
