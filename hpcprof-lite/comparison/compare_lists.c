#include "hpcprof-lite/comparison/compare_lists.h"

#include "common/xalloc.h"
#include "hpcprof-lite/comparison/amounts.h"
#include "hpcprof-lite/comparison/metric_choice.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A view that is a list. */
struct listed {
  enum options_view view;
  const char *keys;   /* names of the columns that identify a row; behind a file stands its line */
  const char *metric; /* compared by default */
  const char *weight; /* the column by which rows are heavy; NULL: rows are in the order of their keys, and all figures
                         are compared */
  const char *lacks;  /* what was not measured if there is no list */
};

static const struct listed *find(enum options_view view)
{
  static const struct listed lists[] = {
      {OPTIONS_REGIONS, " kind name file thread ", "exec_s", "exec_s", "times of constructs"},
      {OPTIONS_OVERHEADS, " kind name file ", "total_s", "total_s", "times of constructs"},
      {OPTIONS_TASKS, " kind name file ", "exec_s", "exec_s", "times of constructs"},
      {OPTIONS_PARALLELISM, " kind name file unit ", "span", "work", "work and span"},
      {OPTIONS_THREADS, " rank process thread ", "cpu_s", NULL, NULL}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (lists[i].view == view)
      return &lists[i];
  return NULL;
}

bool compare_lists_has(enum options_view view)
{
  return find(view);
}

/* ---- runs ---- */

/* Whether a run has measured what the view lists. */
static bool is_measured(const struct job *run)
{
  switch (run->options.view) {
  case OPTIONS_PARALLELISM:
    return run->profile.workspan.known;
  case OPTIONS_OVERHEADS:
    return run->report.overheads.count;
  case OPTIONS_REGIONS:
  case OPTIONS_TASKS:
    return run->report.constructs->count;
  default:
    return true;
  }
}

int compare_lists_load(struct job *run, view_pipeline *pipeline)
{
  run->options.format = OPTIONS_CSV; /* with all rows */
  run->options.limits.percent = 0;
  run->options.limits.rows = 0;
  int status = pipeline(run);
  for (uint32_t i = 0; i < run->construct_list.count; i++)
    run->construct_list.entries[i].lines_count = 0; /* sums over threads are compared */
  if (status || is_measured(run))
    return status;
  job_print_error("view '%s' cannot be compared: %s was measured without %s; see hpcrun-lite -p",
                  run->options.view_name, run->options.input.directories[0], find(run->options.view)->lacks);
  return EXIT_INPUT;
}

/* ---- columns ---- */

bool compare_lists_is_number(const struct table_column *column)
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

/* Adds the columns of a table that the list lacks. */
static void add_columns(struct compare_list *list, const char *keys, const struct table *table)
{
  for (uint32_t i = 0; i < table->columns_count; i++) {
    const struct table_column *column = table_column(table, i);
    uint32_t number = compare_list_column(list, column->name);
    size_t needed = (size_t)list->count + 1;
    if (number == MODEL_NONE) {
      xarray_reserve(&list->columns, &list->columns_room, needed, sizeof *list->columns);
      xarray_reserve_zero(&list->about, &list->about_room, needed, sizeof *list->about);
      number = list->count++;
      list->columns[number] = *column;
      list->about[number].number = compare_lists_is_number(column);
      list->about[number].key = table_names(keys, column->name);
    }
    list->about[number].runs++;
  }
}

void compare_lists_columns(struct job *job, struct comparison *comparison)
{
  assert(find(job->options.view));
  struct compare_list *list = &comparison->list;
  const struct listed *about = find(job->options.view);
  *list = (struct compare_list){.all_figures = !about->weight};
  comparison->result.list = list;
  for (int side = 0; side < COMPARE_SIDES; side++) {
    comparison->tables[side] = xcalloc(comparison->counts[side], sizeof **comparison->tables);
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      comparison->make(&comparison->runs[side][i].report, &comparison->tables[side][i]);
      add_columns(list, about->keys, &comparison->tables[side][i]);
    }
  }
  list->kind = compare_list_column(list, "kind");
  list->name = compare_list_column(list, "name");
  list->file = compare_list_column(list, "file");
  list->process = compare_list_column(list, "process");
  uint32_t runs = comparison->counts[COMPARE_BASE] + comparison->counts[COMPARE_NEW];
  for (uint32_t i = 0; i < list->count; i++) /* pauses that a run does not have are 0 */
    list->about[i].number &= list->all_figures || list->about[i].runs == runs;
  uint32_t weight = about->weight ? compare_list_column(list, about->weight) : MODEL_NONE;
  tree_columns_init(&job->profile.catalog, &job->columns); /* the catalog is empty */
  job->columns.count = list->all_figures ? list->count : 2 * list->count;
  job->columns.work = weight;
}

/* ---- rows ---- */

enum { NUMBER_TEXT = 24 };

/* The rows of a run. */
struct adding {
  struct job *job;
  struct compare_list *list;
  const struct report *run;
  const struct table *table;
  struct tree tree;
  struct cell *cells; /* [column of the list] */
  bool *measured;     /* the same */
  uint32_t *map;      /* [column of the table] that of the list */
  char *key;
  size_t key_room;
  uint32_t rows, process, process_number;
};

/* Numbers processes of equal ranks from 1 on, in their order, as their own numbers differ between runs. */
static uint32_t number_process(struct adding *adding)
{
  assert(adding->run->list.threads);
  const struct profile *profile = adding->run->profile;
  uint32_t process = (uint32_t)(adding->run->list.threads[adding->rows] >> 32);
  if (adding->process_number && process == adding->process)
    return adding->process_number;
  adding->process = process;
  adding->process_number = 1;
  for (uint32_t i = 0; i < process; i++)
    adding->process_number +=
        profile->processes[i].usable && profile->processes[i].rank == profile->processes[process].rank;
  return adding->process_number;
}

/* Makes the name under which rows are the same, but for their files and lines; that of the program is its kind. */
static const char *key_text(struct adding *adding, bool program)
{
  assert(adding->cells);
  size_t size = 0;
  for (uint32_t i = 0; i < adding->list->count; i++) {
    const struct cell *cell = &adding->cells[i];
    if (!adding->list->about[i].key || i == adding->list->file)
      continue;
    const char *text = compare_list_text(cell);
    size_t needed = size + strlen(text) + NUMBER_TEXT;
    xarray_reserve(&adding->key, &adding->key_room, needed, 1);
    char *at = adding->key + size;
    if (cell->kind == CELL_NUMBER)
      size += (size_t)snprintf(at, NUMBER_TEXT, "%010" PRIu64 " ", cell->whole);
    else
      size += (size_t)sprintf(at, "%s ", text);
    if (program)
      break;
  }
  return names_own(&adding->job->names, xstrdup(adding->key));
}

/* Adds the row of the cells to the tree.  Returns its number. */
static uint32_t add_key(struct adding *adding)
{
  struct compare_list *list = adding->list;
  struct names *names = &adding->job->names;
  bool program = compare_list_is_program(list, adding->cells);
  const char *text = key_text(adding, program);
  struct names_function function = {.name = text, .raw = text, .file = "", .module = MODEL_NONE};
  struct tree_row row = {.kind = ROW_PARALLEL,
                         .function = names_function(names, &function),
                         .module = MODEL_NONE,
                         .name = program ? "" : text,
                         .file = ""};
  if (list->name != MODEL_NONE && !program)
    row.name = compare_list_text(&adding->cells[list->name]);
  if (list->file != MODEL_NONE && !program) {
    row.file = compare_list_text(&adding->cells[list->file]);
    row.line = (uint32_t)adding->cells[list->file + 1].whole;
  }
  size_t needed = ((size_t)row.function + 1) * list->count;
  xarray_reserve_zero(&list->keys, &list->keys_room, needed, sizeof *list->keys);
  memcpy(list->keys + needed - list->count, adding->cells, list->count * sizeof *list->keys);
  return tree_add(&adding->tree, &row, NULL);
}

/* Whether a cell is a number, and *value without its decimals. */
static bool number_of(const struct cell *cell, uint64_t *value)
{
  *value = cell->whole;
  if (cell->kind == CELL_REAL || cell->kind == CELL_PERCENT)
    *value = model_rounded(cell_value(cell) * pow(10, cell->decimals));
  return cell->kind == CELL_NUMBER || cell->kind == CELL_REAL || cell->kind == CELL_PERCENT;
}

static int add_row(void *to, const struct cell *cells)
{
  struct adding *adding = to;
  struct compare_list *list = adding->list;
  for (uint32_t i = 0; i < adding->table->columns_count; i++)
    adding->cells[adding->map[i]] = cells[i];
  if (list->process != MODEL_NONE)
    adding->cells[list->process] = cell_count(number_process(adding));
  adding->rows++;
  uint32_t row = add_key(adding);
  for (uint32_t i = 0; i < list->count; i++) {
    uint64_t value;
    adding->measured[i] |= adding->cells[i].kind != CELL_UNKNOWN;
    if (!list->about[i].number || !number_of(&adding->cells[i], &value))
      continue;
    list->about[i].decimals = adding->cells[i].decimals;
    tree_value(&adding->tree, row, i, value);
    if (!list->all_figures)
      tree_value(&adding->tree, row, list->count + i, UINT32_MAX); /* no mean over runs becomes 0 */
  }
  return 0;
}

/* The whole of which rows are a part: the time of the program, or the sum. */
static uint64_t whole_of(const struct adding *adding, uint32_t weight)
{
  uint64_t sum = 0;
  if (adding->job->options.view == OPTIONS_REGIONS)
    return construct_exec(&adding->run->constructs->entries[0].sum);
  for (uint32_t i = 1; i < adding->tree.count; i++) {
    if (compare_list_is_program(adding->list, compare_list_keys(adding->list, &adding->tree.rows[i])))
      return tree_excl(&adding->tree, i, weight);
    model_add(&sum, tree_excl(&adding->tree, i, weight));
  }
  return sum;
}

static void add_rows(struct adding *adding, struct compare *compare, int side)
{
  assert(adding->cells && adding->measured && adding->map);
  struct compare_list *list = adding->list;
  const struct compare_map map = {.names = &adding->job->names};
  tree_init(&adding->tree, adding->job->columns.count, "");
  for (uint32_t i = 0; i < adding->table->columns_count; i++)
    adding->map[i] = compare_list_column(list, table_column(adding->table, i)->name);
  table_each(adding->table, add_row, adding);
  for (uint32_t i = 0; i < list->count; i++)
    list->about[i].unknown |= list->all_figures && list->about[i].runs && adding->rows && !adding->measured[i];
  if (adding->job->columns.work != MODEL_NONE)
    tree_value(&adding->tree, 0, adding->job->columns.work, whole_of(adding, adding->job->columns.work));
  memcpy(adding->tree.incl, adding->tree.excl, adding->tree.count * (size_t)adding->tree.columns * sizeof(uint64_t));
  compare_add(compare, side, &adding->tree, &map);
}

void compare_lists_add(struct job *job, struct comparison *comparison)
{
  assert(comparison->list.count);
  struct compare_list *list = &comparison->list;
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t i = 0; i < comparison->counts[side]; i++) {
      struct adding adding = {.job = job,
                              .list = list,
                              .run = &comparison->runs[side][i].report,
                              .table = &comparison->tables[side][i],
                              .cells = xcalloc(list->count, sizeof *adding.cells),
                              .measured = xcalloc(list->count, sizeof *adding.measured),
                              .map = xcalloc(list->count, sizeof *adding.map)};
      add_rows(&adding, &comparison->compare, side);
      tree_release(&adding.tree);
      free(adding.cells);
      free(adding.measured);
      free(adding.map);
      free(adding.key);
    }
}

/* ---- figures ---- */

static bool is_figure(const void *list, uint32_t column)
{
  return compare_list_is_figure(list, column);
}

int compare_lists_metric(struct job *job, struct comparison *comparison)
{
  assert(find(job->options.view) && comparison->list.count);
  struct compare_result *result = &comparison->result;
  struct compare_list *list = &comparison->list;
  struct table table = {0};
  const struct metric_choice choice = {&table, is_figure, list, false, find(job->options.view)->metric};
  table_add(&table, &(struct schema){list->columns, list->count, NULL}, NULL);
  int status = metric_choice_find(job, &choice, &list->metric);
  table_release(&table);
  if (status)
    return status;
  enum column_type type = list->columns[list->metric].type;
  result->metric = list->columns[list->metric].name;
  list->chosen = job->options.comparison.metric;
  result->unit = "";
  if (type == COLUMN_PERCENT)
    result->unit = "%";
  else if (type == COLUMN_RATIO)
    result->unit = "ratio";
  else if (type == COLUMN_SECONDS || (type == COLUMN_AMOUNT && job->profile.workspan.is_time))
    result->unit = "s";
  return 0;
}

/* Sets what a sample stands for in a column that is sampled. */
static void set_sample(const struct comparison *comparison, const char *name, struct compare_metric *metric)
{
  for (int side = 0; side < COMPARE_SIDES; side++) {
    const struct job *run = &comparison->runs[side][0];
    if (!strcmp(name, "samples"))
      metric->sample[side] = 1;
    else if (!strcmp(name, "work_s") && run->columns.work != MODEL_NONE)
      metric->sample[side] = amounts_of(run, run->columns.work).sample;
    else if (!strcmp(name, "overhead_s") && run->columns.overhead != MODEL_NONE)
      metric->sample[side] = amounts_of(run, run->columns.overhead).sample;
  }
  if (metric->sample[COMPARE_BASE] > 0 && metric->sample[COMPARE_NEW] > 0)
    metric->basis = COMPARE_COUNTED;
}

void compare_lists_test(struct comparison *comparison)
{
  assert(!comparison->list.figures && !comparison->result.figures);
  struct compare_list *list = &comparison->list;
  struct compare_result *result = &comparison->result;
  uint32_t rows = comparison->compare.joined.count;
  list->figures = xcalloc((size_t)rows * list->count, sizeof *list->figures);
  result->figures = xcalloc(rows, sizeof *result->figures);
  for (uint32_t column = 0; column < list->count; column++) {
    struct compare_metric metric = {.column = column, .inclusive = true, .basis = COMPARE_EXACT, .samples = MODEL_NONE};
    double scale = list->about[column].decimals == 9 ? 1e-9 : pow(10, -list->about[column].decimals);
    bool tested = compare_list_is_figure(list, column) && (list->all_figures || column == list->metric);
    set_sample(comparison, list->columns[column].name, &metric);
    for (uint32_t row = 0; row < rows; row++) {
      struct compare_figure *figure = &list->figures[(size_t)row * list->count + column];
      if (tested)
        *figure = compare_row(&comparison->compare, row, &metric);
      figure->base *= scale;
      figure->now *= scale;
      if (!tested || !row) /* the root of a list is not shown */
        figure->probability = NAN;
    }
  }
  result->compared = compare_correct(list->figures, (size_t)rows * list->count, sizeof *list->figures);
  for (uint32_t row = 0; row < rows; row++)
    result->figures[row] = list->figures[(size_t)row * list->count + list->metric];
}

void compare_lists_release(struct comparison *comparison)
{
  struct compare_list *list = &comparison->list;
  for (int side = 0; side < COMPARE_SIDES; side++) {
    for (uint32_t i = 0; i < comparison->counts[side] && comparison->tables[side]; i++)
      table_release(&comparison->tables[side][i]);
    free(comparison->tables[side]);
  }
  free(list->columns);
  free(list->about);
  free(list->keys);
  free(list->figures);
}
