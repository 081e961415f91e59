/* The comparison of views that are lists: threads, and those of constructs.
 *
 * Context: BATCH.  A row of their tables is one of the report's tree, a struct tree_row.
 */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/compare_cells.h"
#include "hpcprof-lite/report/comparison/compare_text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
  ALL_FIGURES_MAX = 16, /* more threads than that have one figure each in text */
  MORE_CELLS = 3,
  REGION_TEXT = 16
};

/* ---- the table ---- */

/* What the cells of a row are filled from. */
struct filling {
  const struct report *report;
  char region[REGION_TEXT]; /* the number of the row that was filled last */
};

/* A number of the new side; nothing if no run knows it. */
static struct cell number(const struct report *report, const struct tree_row *row, uint32_t column)
{
  assert(column < report->comparison->list->count && row >= report->tree->rows &&
         row < report->tree->rows + report->tree->count);
  const struct compare_list *list = report->comparison->list;
  uint32_t at = (uint32_t)(row - report->tree->rows);
  if (!compare_list_is_figure(list, column) ||
      (!list->all_figures && !tree_excl(report->tree, at, list->count + column)))
    return cell_empty();
  return (struct cell){
      .kind = CELL_NUMBER, .decimals = list->about[column].decimals, .whole = tree_excl(report->tree, at, column)};
}

static void fill(const void *context, const void *from, struct cell *cells)
{
  struct filling *filling = (struct filling *)context;
  const struct compare_list *list = filling->report->comparison->list;
  const struct tree_row *row = from;
  bool root = row->function == MODEL_NONE;
  const struct cell *keys = root ? NULL : compare_list_keys(list, row);
  snprintf(filling->region, sizeof filling->region, "R%" PRIu32, row->id);
  for (uint32_t i = 0; i < list->count; i++) {
    cells[i] = cell_empty();
    if (root)
      continue;
    if (list->about[i].key)
      cells[i] = keys[i];
    else if (list->file != MODEL_NONE && i == list->file + 1)
      cells[i] = cell_optional(row->line, row->line);
    else if (list->about[i].number)
      cells[i] = number(filling->report, row, i);
    else if (!strcmp(list->columns[i].name, "region") && !strcmp(filling->report->view, "regions"))
      cells[i] = cell_label(filling->region, row->id);
  }
}

static const struct compare_figure *figures_of(const struct report *report, const struct tree_row *row)
{
  assert(row >= report->tree->rows && row < report->tree->rows + report->tree->count &&
         report->comparison->list->figures);
  const struct compare_list *list = report->comparison->list;
  return &list->figures[(size_t)(row - report->tree->rows) * list->count];
}

static const struct compare_figure *compared_figure(const struct report *report, const void *row)
{
  return &figures_of(report, row)[report->comparison->list->metric];
}

/* Base, difference and ratio of each number. */
static void fill_more(const void *context, const void *row, struct cell *cells)
{
  const struct report *report = context;
  const struct compare_list *list = report->comparison->list;
  const struct compare_figure *figures = figures_of(report, row);
  for (uint32_t i = 0; i < list->count; i++) {
    bool known = compare_list_is_figure(list, i), positive = known && figures[i].base > 0;
    if (!list->about[i].number)
      continue;
    *cells++ = cell_optional_real(known, figures[i].base, 9);
    *cells++ = cell_optional_real(known, figures[i].now - figures[i].base, 9);
    *cells++ = cell_optional_real(positive, positive ? figures[i].now / figures[i].base : 0, 6);
  }
}

static void add_more(const struct report *report, struct table *table)
{
  static const struct {
    const char *ending, *help;
  } more[MORE_CELLS] = {{"base", "the figure in the base"},
                        {"difference", "new minus base of the figure"},
                        {"ratio", "new / base of the figure"}};
  const struct compare_list *list = report->comparison->list;
  uint32_t count = 0;
  struct table_column *columns = table_memory(table, (size_t)MORE_CELLS * list->count * sizeof *columns);
  for (uint32_t i = 0; i < list->count; i++)
    for (size_t j = 0; j < MORE_CELLS && list->about[i].number; j++)
      columns[count++] =
          (struct table_column){.name = table_name(table, "%s_%s", list->columns[i].name, more[j].ending),
                                .type = COLUMN_RATIO,
                                .help = more[j].help};
  table_add(table, &(struct schema){columns, count, fill_more}, report);
}

static int each_row(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  const struct tree *tree = report->tree;
  int status = 0;
  for (uint32_t i = 1; i < tree->count && !status; i++) /* the root is not shown */
    if (report->shown[tree->order[i]])
      status = take(to, &tree->rows[tree->order[i]]);
  return status;
}

void compare_list_view_table(const struct report *report, struct table *table)
{
  assert(report->comparison->list);
  const struct compare_list *list = report->comparison->list;
  struct filling *filling = table_memory(table, sizeof *filling);
  table->each = each_row;
  table->source = report;
  filling->report = report;
  table_add(table, &(struct schema){list->columns, list->count, fill}, filling);
  compare_cells_add(table, compared_figure, report);
  if (list->all_figures)
    add_more(report, table);
}

/* ---- threads as text ---- */

static bool is_time(const struct compare_list *list, uint32_t column)
{
  assert(column < list->count);
  return list->columns[column].type == COLUMN_SECONDS;
}

/* How the threads are shown. */
struct showing {
  bool all, processes;
  struct compare_figure largest; /* of all times that are shown */
};

static void look(struct showing *showing, const struct report *report, const struct tree_row *row)
{
  const struct compare_list *list = report->comparison->list;
  const struct compare_figure *figures = figures_of(report, row);
  showing->processes |= compare_list_keys(list, row)[list->process].whole > 1;
  for (uint32_t column = 0; column < list->count; column++)
    if (is_time(list, column) && (showing->all || column == list->metric)) {
      showing->largest.base = fmax(showing->largest.base, figures[column].base);
      showing->largest.now = fmax(showing->largest.now, figures[column].now);
    }
}

static void print_figure(const struct showing *showing, const struct report *report, const struct tree_row *row,
                         uint32_t column)
{
  compare_text_figure(report, &figures_of(report, row)[column], is_time(report->comparison->list, column) ? "s" : "",
                      compare_text_decimals(&showing->largest));
  fputs("  ", report->stream);
}

static void print_thread(const struct showing *showing, const struct report *report, const struct tree_row *row)
{
  const struct compare_list *list = report->comparison->list;
  const struct cell *keys = compare_list_keys(list, row), *rank = &keys[compare_list_column(list, "rank")];
  const struct compare_figure *figures = figures_of(report, row);
  if (showing->all)
    fprintf(report->stream, "%*s", COMPARE_TEXT_WIDTH, "");
  else
    print_figure(showing, report, row, list->metric);
  if (rank->kind == CELL_NUMBER)
    fprintf(report->stream, "rank %" PRIu64 ", ", rank->whole);
  if (showing->processes)
    fprintf(report->stream, "process %" PRIu64 ", ", keys[list->process].whole);
  fprintf(report->stream, "thread %" PRIu64 "\n", keys[compare_list_column(list, "thread")].whole);
  for (uint32_t i = 0; showing->all && i < list->count; i++) {
    if (!compare_list_is_figure(list, i) || (figures[i].base == 0 && figures[i].now == 0))
      continue;
    print_figure(showing, report, row, i);
    fprintf(report->stream, "  %s\n", list->columns[i].name);
  }
}

void compare_list_view_threads(const struct report *report)
{
  const struct compare_result *result = report->comparison;
  const struct tree *tree = report->tree;
  struct showing showing = {.all =
                                !result->list->chosen && tree->count - 1 - report->limits.left_out <= ALL_FIGURES_MAX};
  struct terminal terminal;
  for (uint32_t i = 1; i < tree->count; i++)
    if (report->shown[tree->order[i]])
      look(&showing, report, &tree->rows[tree->order[i]]);
  compare_text_begin(report, &terminal, "Thread", showing.all ? NULL : result->metric);
  for (uint32_t i = 1; i < tree->count; i++)
    if (report->shown[tree->order[i]])
      print_thread(&showing, report, &tree->rows[tree->order[i]]);
  compare_text_end(report);
}
