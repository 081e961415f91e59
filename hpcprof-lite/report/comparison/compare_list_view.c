#include "hpcprof-lite/report/comparison/compare_list_view.h"

#include "hpcprof-lite/algorithms/compare_list.h"
#include "hpcprof-lite/report/comparison/compare_cells.h"
#include "hpcprof-lite/report/comparison/compare_text.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/legend.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ALL_FIGURES_MAX = 16 /* threads: of more, text shows one figure */, MORE_CELLS = 3 };

/* ---- the table ---- */

static void fill(const void *context, const void *row, struct cell *cells)
{
  const struct compare_list *list = context;
  const struct compare_line *line = row;
  memcpy(cells, line->cells, list->count * sizeof *cells);
}

static const struct compare_figure *compared_figure(const struct report *report, const void *row)
{
  const struct compare_line *line = row;
  return &line->figures[report->comparison->list_column];
}

/* Base, difference and ratio of each column that formats other than text show. */
static void fill_more(const void *context, const void *row, struct cell *cells)
{
  const struct compare_list *list = context;
  const struct compare_line *line = row;
  for (uint32_t i = 0; i < list->count; i++) {
    const struct compare_figure *figure = &line->figures[i];
    bool known = compare_list_is_figure(list, i), positive = known && figure->base > 0;
    if (!compare_list_is_number(&list->columns[i]))
      continue;
    *cells++ = cell_optional_real(known, figure->base, 9);
    *cells++ = cell_optional_real(known, figure->now - figure->base, 9);
    *cells++ = cell_optional_real(positive, positive ? figure->now / figure->base : 0, 6);
  }
}

static int add_more(struct table *table, const struct compare_list *list)
{
  static const struct {
    const char *ending, *help;
  } more[MORE_CELLS] = {{"base", "the figure in the base"},
                        {"difference", "new minus base of the figure"},
                        {"ratio", "new / base of the figure"}};
  uint32_t count = 0;
  struct table_column *columns = table_memory(table, (size_t)MORE_CELLS * list->count * sizeof *columns);
  if (!columns)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < list->count; i++)
    for (size_t j = 0; j < MORE_CELLS && compare_list_is_number(&list->columns[i]); j++) {
      const char *name = table_name(table, "%s_%s", list->columns[i].name, more[j].ending);
      if (!name)
        return ERR_NOMEM;
      columns[count++] = (struct table_column){.name = name, .type = COLUMN_RATIO, .help = more[j].help};
    }
  return table_add(table, &(struct schema){columns, count, fill_more}, list);
}

REPORT_EACH(each_line, report->comparison->list->lines, report->comparison->list->lines_count)

int compare_list_view_table(const struct report *report, struct table *table)
{
  const struct compare_list *list = report->comparison->list;
  table->each = each_line;
  table->source = report;
  table->shown = list->shown;
  int status = table_add(table, &(struct schema){list->columns, list->count, fill}, list);
  if (!status)
    status = compare_cells_add(table, compared_figure, report);
  return status || !report->comparison->all_figures ? status : add_more(table, list);
}

/* ---- text ---- */

static bool is_time(const struct compare_list *list, uint32_t column)
{
  return list->columns[column].type == COLUMN_SECONDS;
}

/* The decimals of all times that are shown. */
static unsigned decimals_of_times(const struct compare_result *result, bool all)
{
  const struct compare_list *list = result->list;
  struct compare_figure largest = {0};
  for (uint32_t i = 0; i < list->lines_count; i++)
    for (uint32_t column = 0; column < list->count; column++) {
      if (!is_time(list, column) || (!all && column != result->list_column))
        continue;
      largest.base = fmax(largest.base, list->lines[i].figures[column].base);
      largest.now = fmax(largest.now, list->lines[i].figures[column].now);
    }
  return compare_text_decimals(&largest);
}

static const char *text_of(const struct compare_list *list, const struct compare_line *line, const char *name)
{
  const struct cell *cell = &line->cells[compare_list_column(list, name)];
  return cell->kind == CELL_TEXT ? cell->text : "";
}

void compare_list_view_constructs(const struct report *report)
{
  const struct compare_result *result = report->comparison;
  const struct compare_list *list = result->list;
  struct terminal terminal;
  unsigned decimals = compare_text_decimals(&result->largest);
  compare_text_begin(report, &terminal, "Construct", result->metric);
  for (uint32_t i = 0; i < list->lines_count; i++) {
    const struct compare_line *line = &list->lines[i];
    char name[TERMINAL_TEXT_MAX];
    bool program = compare_list_is_program(list, line);
    const struct construct_place place = {text_of(list, line, "kind"), program ? "" : text_of(list, line, "name"),
                                          program ? "" : text_of(list, line, "file"),
                                          (uint32_t)line->cells[compare_list_column(list, "line")].whole};
    construct_text_name(&terminal, &place, terminal_room(&terminal, COMPARE_TEXT_WIDTH), name);
    compare_text_figure(report, &line->figures[result->list_column], result->unit, decimals);
    fprintf(report->stream, "  %s\n", name);
  }
  compare_text_end(report);
}

static void print_thread(FILE *stream, const struct cell *rank, uint64_t process, uint64_t thread)
{
  if (rank->kind == CELL_NUMBER)
    fprintf(stream, "rank %" PRIu64 ", ", rank->whole);
  if (process)
    fprintf(stream, "process %" PRIu64 ", ", process);
  fprintf(stream, "thread %" PRIu64 "\n", thread);
}

static void print_figure(const struct report *report, const struct compare_line *line, uint32_t column,
                         unsigned decimals)
{
  compare_text_figure(report, &line->figures[column], is_time(report->comparison->list, column) ? "s" : "", decimals);
  fputs("  ", report->stream);
}

/* A line for each figure that is not 0 on both sides. */
static void print_all_figures(const struct report *report, const struct compare_line *line, unsigned decimals)
{
  const struct compare_list *list = report->comparison->list;
  for (uint32_t i = 0; i < list->count; i++) {
    if (!compare_list_is_figure(list, i) || (line->figures[i].base == 0 && line->figures[i].now == 0))
      continue;
    print_figure(report, line, i, decimals);
    fprintf(report->stream, "  %s\n", list->columns[i].name);
  }
}

void compare_list_view_threads(const struct report *report)
{
  const struct compare_result *result = report->comparison;
  const struct compare_list *list = result->list;
  uint32_t rank = compare_list_column(list, "rank"), process = compare_list_column(list, "process");
  uint32_t thread = compare_list_column(list, "thread");
  bool all = !result->metric_chosen && list->lines_count <= ALL_FIGURES_MAX, processes = false;
  unsigned decimals = decimals_of_times(result, all);
  struct terminal terminal;
  for (uint32_t i = 0; i < list->lines_count; i++)
    processes |= list->lines[i].cells[process].whole > 1;
  compare_text_begin(report, &terminal, "Thread", all ? NULL : result->metric);
  for (uint32_t i = 0; i < list->lines_count; i++) {
    const struct compare_line *line = &list->lines[i];
    if (all)
      fprintf(report->stream, "%*s", COMPARE_TEXT_WIDTH, "");
    else
      print_figure(report, line, result->list_column, decimals);
    print_thread(report->stream, &line->cells[rank], processes ? line->cells[process].whole : 0,
                 line->cells[thread].whole);
    if (all)
      print_all_figures(report, line, decimals);
  }
  compare_text_end(report);
}
