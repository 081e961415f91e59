#include "hpcprof-lite/report/comparison/compare_view.h"

#include "hpcprof-lite/report/comparison/compare_cells.h"
#include "hpcprof-lite/report/comparison/compare_text.h"
#include "hpcprof-lite/report/comparison/gate_view.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/constructs/regions_view.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL = 16, PLACE_MAX = 32, FUNCTIONS_MAX = 10 };

/* ---- trees and regions ---- */

static bool of_constructs(const struct report *report)
{
  return !strcmp(report->view, "regions") || !strcmp(report->view, "parallelism");
}

/* The name of a row, and the source line at the right edge if there is room for it. */
static void print_name(const struct report *report, const struct terminal *terminal, uint32_t number)
{
  const struct tree_row *row = &report->tree->rows[number];
  unsigned width = terminal_room(terminal, COMPARE_TEXT_WIDTH), most = width / 2;
  char name[TERMINAL_TEXT_MAX], place[TERMINAL_TEXT_MAX], text[CONSTRUCT_TEXT_MAX];
  if (of_constructs(report)) {
    struct construct_place where = {report->names->functions[row->function].file, row->name, row->file, row->line};
    construct_text_name(terminal, &where, width, name);
    fprintf(report->stream, "  %s\n", name);
    return;
  }
  unsigned indent = row->depth < most ? row->depth : most;
  unsigned used = terminal_fit(terminal, row->name, width - indent, name);
  bool own_place = (row->kind == ROW_FUNCTION || row->kind == ROW_INLINED) && row->file[0] && row->line;
  snprintf(text, sizeof text, "%s:%" PRIu32, names_base(row->file), row->line);
  unsigned place_width = own_place ? terminal_fit(terminal, text, PLACE_MAX, place) : 0;
  fprintf(report->stream, "  %*s%s", (int)indent, "", name);
  if (place_width && used + 2 + place_width <= width - indent)
    fprintf(report->stream, "%*s%s%s%s", (int)(width - indent - used - place_width), "", terminal_dim(terminal), place,
            terminal_plain(terminal));
  putc('\n', report->stream);
}

void compare_view_tree(const struct report *report)
{
  const struct compare_result *result = report->comparison;
  const struct tree *tree = report->tree;
  struct terminal terminal;
  struct compare_figure largest = {0};
  terminal_init(&terminal, report->stream);
  compare_text_heading(report);
  for (uint32_t row = 0; row < tree->count; row++) {
    largest.base = fmax(largest.base, result->figures[row].base);
    largest.now = fmax(largest.now, result->figures[row].now);
  }
  char metric[TERMINAL_TEXT_MAX];
  terminal_fit(&terminal, result->metric, terminal_room(&terminal, COMPARE_TEXT_WIDTH + 12), metric);
  fprintf(report->stream, "%s%10s%10s%10s%9s    %s (%s)%s\n", terminal_bold(&terminal), "Base", "New", "Diff", "Change",
          of_constructs(report) ? "Construct" : "Name", metric, terminal_plain(&terminal));
  for (uint32_t i = of_constructs(report); i < tree->count; i++) {
    uint32_t row = tree->order[i];
    if (!report->shown[row])
      continue;
    compare_text_figure(report, &result->figures[row], result->unit, compare_text_decimals(&largest));
    print_name(report, &terminal, row);
  }
  compare_text_legend(report);
  legend_omitted(report);
}

/* A figure of a construct, or nothing if no run knows it. */
static void construct_cells(struct row_writer *writer, const struct tree *tree, uint32_t row, uint32_t column)
{
  uint64_t value = tree_excl(tree, row, column);
  bool counts = column == COMPARE_EXECUTIONS ||
                (column < CONSTRUCT_COLUMNS && construct_column_counts((enum construct_column)column));
  if (!tree_excl(tree, row, COMPARE_CONSTRUCT_COLUMNS + column))
    row_writer_empty(writer);
  else if (counts)
    row_writer_uint(writer, value);
  else
    row_writer_ns(writer, value);
}

int compare_view_regions_table(const struct report *report, bool json)
{
  const struct tree *tree = report->tree;
  struct row_writer writer;
  const char *headers[64];
  size_t count = 0;
  for (uint32_t i = 0; i < regions_schema.count; i++)
    if (!regions_schema.columns[i].text_only)
      headers[count++] = regions_schema.columns[i].name;
  count += compare_cells_headers(headers + count);
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, headers, count);
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct tree_row *row = &tree->rows[tree->order[i]];
    char region[CELL];
    if (!report->shown[tree->order[i]])
      continue;
    snprintf(region, sizeof region, "R%" PRIu32, row->id);
    row_writer_text(&writer, region);
    row_writer_text(&writer, report->names->functions[row->function].file);
    row_writer_text(&writer, row->name);
    row_writer_text(&writer, row->file);
    construct_text_number(&writer, row->line ? row->line : MODEL_NONE);
    row_writer_empty(&writer);
    row_writer_text(&writer, "SUM");
    for (uint32_t column = 0; column < COMPARE_CONSTRUCT_COLUMNS; column++)
      construct_cells(&writer, tree, tree->order[i], column);
    row_writer_empty(&writer);
    compare_cells(&writer, &report->comparison->figures[tree->order[i]]);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

/* An amount of work, or nothing if no run knows it. */
static void work_cell(const struct report *report, struct row_writer *writer, uint32_t row, uint32_t column)
{
  if (tree_excl(report->tree, row, COMPARE_PARALLELISM_COLUMNS + column))
    row_writer_work(writer, tree_excl(report->tree, row, column), report->profile->workspan.is_time);
  else
    row_writer_empty(writer);
}

static void parallelism_cells(const struct report *report, struct row_writer *writer, uint32_t row, uint64_t span)
{
  const struct tree *tree = report->tree;
  uint64_t critical = tree_excl(tree, row, COMPARE_CRITICAL_PATH);
  row_writer_uint(writer, tree_excl(tree, row, COMPARE_INSTANCES));
  work_cell(report, writer, row, COMPARE_WORK);
  work_cell(report, writer, row, COMPARE_SPAN);
  row_writer_real(writer, workspan_parallelism(tree_excl(tree, row, COMPARE_WORK), tree_excl(tree, row, COMPARE_SPAN)),
                  4);
  work_cell(report, writer, row, COMPARE_CRITICAL_PATH);
  row_writer_percent(writer, critical, span);
  row_writer_empty(writer); /* iteration_parallelism */
  work_cell(report, writer, row, COMPARE_LOCK_BOUND);
  row_writer_text(writer, report->profile->workspan.unit);
}

int compare_view_parallelism_table(const struct report *report, bool json)
{
  enum { LAST = 13, COLUMNS_MAX = 32 }; /* LAST: the columns from here on are not compared */
  const struct tree *tree = report->tree;
  const uint32_t columns = parallelism_schema.count;
  const char *headers[COLUMNS_MAX + COMPARE_CELLS];
  struct row_writer writer;
  uint64_t span = 0;
  assert(columns <= COLUMNS_MAX);
  for (uint32_t i = 0; i < columns; i++)
    headers[i] = parallelism_schema.columns[i].name;
  for (uint32_t row = 1; row < tree->count; row++)
    span = model_sum(span, tree_excl(tree, row, COMPARE_CRITICAL_PATH));
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, headers, columns + compare_cells_headers(headers + columns));
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct tree_row *row = &tree->rows[tree->order[i]];
    if (!report->shown[tree->order[i]])
      continue;
    row_writer_text(&writer, report->names->functions[row->function].file);
    row_writer_text(&writer, *row->name ? row->name : report->totals->command);
    row_writer_text(&writer, row->file);
    construct_text_number(&writer, row->line ? row->line : MODEL_NONE);
    parallelism_cells(report, &writer, tree->order[i], span);
    for (uint32_t column = LAST; column < columns; column++)
      row_writer_empty(&writer);
    compare_cells(&writer, &report->comparison->figures[tree->order[i]]);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

/* ---- summary ---- */

static bool is_function(const struct compare_item *item)
{
  return !strcmp(item->section, "function");
}

static void print_items(const struct report *report, const struct terminal *terminal, bool functions)
{
  const struct compare_result *result = report->comparison;
  struct compare_figure largest = {0};
  uint32_t shown = 0;
  for (uint32_t i = 0; i < result->items_count; i++)
    if (is_function(&result->items[i]) == functions && *result->items[i].unit == 's') {
      largest.base = fmax(largest.base, result->items[i].figure.base);
      largest.now = fmax(largest.now, result->items[i].figure.now);
    }
  for (uint32_t i = 0; i < result->items_count; i++) {
    const struct compare_item *item = &result->items[i];
    char name[TERMINAL_TEXT_MAX], text[4200];
    if (is_function(item) != functions || (functions && shown++ >= FUNCTIONS_MAX))
      continue;
    compare_text_figure(report, &item->figure, item->unit, compare_text_decimals(&largest));
    const char *base = names_base(item->file);
    snprintf(text, sizeof text, "%s%s%s%s", item->name, *item->unit == 's' && !functions ? " s" : "", *base ? "  " : "",
             base);
    for (char *at = text; !functions && *at; at++)
      *at = *at == '_' ? ' ' : *at;
    terminal_fit(terminal, text, terminal_room(terminal, COMPARE_TEXT_WIDTH), name);
    fprintf(report->stream, "  %s\n", name);
  }
  if (shown > FUNCTIONS_MAX)
    fprintf(report->stream, "%" PRIu32 " more functions: --view flat\n", shown - FUNCTIONS_MAX);
}

static void print_gates(const struct report *report, const struct terminal *terminal)
{
  const struct compare_result *result = report->comparison;
  if (result->gates_count)
    fprintf(report->stream, "\n%sConditions of --fail-if%s\n", terminal_bold(terminal), terminal_plain(terminal));
  for (uint32_t i = 0; i < result->gates_count; i++) {
    char text[GATE_TEXT_MAX], line[4200];
    gate_view_text(&result->gates[i], text);
    snprintf(line, sizeof line, "%s: %s: %s", gate_view_state(&result->gates[i]), result->gates[i].condition->text,
             text);
    terminal_wrap(terminal, report->stream, "  ", "    ", line);
  }
}

void compare_view_summary(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  compare_text_heading(report);
  fprintf(report->stream, "\n%s%10s%10s%10s%9s    Figure%s\n", terminal_bold(&terminal), "Base", "New", "Diff",
          "Change", terminal_plain(&terminal));
  print_items(report, &terminal, false);
  const struct compare_result *result = report->comparison;
  if (result->items_count && is_function(&result->items[result->items_count - 1])) {
    char metric[TERMINAL_TEXT_MAX];
    terminal_fit(&terminal, result->metric, terminal_room(&terminal, COMPARE_TEXT_WIDTH), metric);
    fprintf(report->stream, "\n%sFunctions that changed most (%s)%s\n", terminal_bold(&terminal), metric,
            terminal_plain(&terminal));
    print_items(report, &terminal, true);
  }
  print_gates(report, &terminal);
  putc('\n', report->stream);
  compare_text_legend(report);
}

static void text_cells(struct row_writer *writer, const char *section, const char *item)
{
  row_writer_text(writer, section);
  row_writer_text(writer, item);
}

int compare_view_summary_table(const struct report *report, bool json)
{
  const struct compare_result *result = report->comparison;
  const char *headers[5 + COMPARE_CELLS] = {"section", "item", "value", "unit", "note"};
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, headers, 5 + compare_cells_headers(headers + 5));
  for (uint32_t i = 0; i < result->items_count; i++) {
    const struct compare_item *item = &result->items[i];
    text_cells(&writer, item->section, item->name);
    row_writer_real(&writer, item->figure.now, 9);
    row_writer_text(&writer, item->unit);
    row_writer_text(&writer, item->file);
    compare_cells(&writer, &item->figure);
  }
  for (uint32_t i = 0; i < result->gates_count; i++) {
    const struct compare_gate *gate = &result->gates[i];
    text_cells(&writer, "condition", gate->condition->text);
    row_writer_real(&writer, gate->figure.now, 9);
    row_writer_text(&writer, gate->unit);
    row_writer_text(&writer, gate_view_state(gate));
    compare_cells(&writer, &gate->figure);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}
