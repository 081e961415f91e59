/* The views of a comparison, but for threads; its summary.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "hpcprof-lite/report/compare_cells.h"
#include "hpcprof-lite/report/comparison/compare_text.h"
#include "hpcprof-lite/report/comparison/gate_view.h"
#include "hpcprof-lite/report/constructs/construct_text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PLACE_MAX = 32, FUNCTIONS_MAX = 10 };

/* ---- trees, and lists of constructs ---- */

/* The name of a row, and the source line at the right edge if there is room for it. */
static void print_name(const struct report *report, const struct terminal *terminal, uint32_t number)
{
  assert(number < report->tree->count);
  const struct tree_row *row = &report->tree->rows[number];
  unsigned width = terminal_room(terminal, COMPARE_TEXT_WIDTH), most = width / 2;
  char name[TERMINAL_TEXT_MAX], place[TERMINAL_TEXT_MAX], text[CONSTRUCT_TEXT_MAX];
  const struct compare_list *list = report->comparison->list;
  if (list) {
    const struct cell *keys = compare_list_keys(list, row);
    const struct construct_place where = {compare_list_text(&keys[list->kind]), row->name, row->file, row->line};
    construct_text_name(terminal, &where, width, name);
    fprintf(report->stream, "  %s\n", name);
    return;
  }
  unsigned indent = MIN(row->depth, most);
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
  assert(report->comparison->figures && report->shown);
  const struct compare_result *result = report->comparison;
  const struct tree *tree = report->tree;
  struct terminal terminal;
  struct compare_figure largest = {0};
  for (uint32_t row = 0; row < tree->count; row++) {
    largest.base = fmax(largest.base, result->figures[row].base);
    largest.now = fmax(largest.now, result->figures[row].now);
  }
  compare_text_begin(report, &terminal, result->list ? "Construct" : "Name", result->metric);
  for (uint32_t i = result->list ? 1 : 0; i < tree->count; i++) { /* the root of a list is not shown */
    uint32_t row = tree->order[i];
    if (!report->shown[row])
      continue;
    compare_text_figure(report, &result->figures[row], result->unit, compare_text_decimals(&largest));
    print_name(report, &terminal, row);
  }
  compare_text_end(report);
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
    const char *base = names_base(item->file), *unit = *item->unit == 's' && !functions ? " s" : "";
    snprintf(text, sizeof text, "%s%s%s%s", item->name, unit, *base ? "  " : "", base);
    for (char *at = text; !functions && *at; at++)
      if (*at == '_')
        *at = ' ';
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

/* A fact of the comparison, as one of the summary. */
struct fact {
  const char *section, *item, *unit, *note;
  struct cell value;
  const struct compare_figure *figure;
};

static void fill_fact(const void *context, const void *row, struct cell *cell)
{
  (void)context;
  const struct fact *fact = row;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/summary/summary_facts.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column fact_columns[] = {
#include "hpcprof-lite/report/summary/summary_facts.def"
};
#undef COLUMN
static const struct schema fact_schema = SCHEMA(fact_columns, fill_fact);

static const struct compare_figure *figure_of_fact(const struct report *report, const void *row)
{
  (void)report;
  return ((const struct fact *)row)->figure;
}

static int each_fact(const void *source, table_take *take, void *to)
{
  const struct compare_result *result = ((const struct report *)source)->comparison;
  int status = 0;
  for (uint32_t i = 0; i < result->items_count && !status; i++) {
    const struct compare_item *item = &result->items[i];
    status = take(to, &(struct fact){item->section, item->name, item->unit, item->file, cell_real(item->figure.now, 9),
                                     &item->figure});
  }
  for (uint32_t i = 0; i < result->gates_count && !status; i++) {
    const struct compare_gate *gate = &result->gates[i];
    status = take(to, &(struct fact){"condition", gate->condition->text, gate->unit, gate_view_state(gate),
                                     cell_real(gate->figure.now, 9), &gate->figure});
  }
  return status;
}

void compare_view_summary_table(const struct report *report, struct table *table)
{
  table->each = each_fact;
  table->source = report;
  table_add(table, &fact_schema, NULL);
  compare_cells_add(table, figure_of_fact, report);
}
