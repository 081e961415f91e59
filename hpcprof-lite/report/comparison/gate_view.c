#include "hpcprof-lite/report/comparison/gate_view.h"

#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Writes a figure with its unit: "1.234 s", "95.2 %", "1000". */
static void figure_text(double value, const char *unit, char out[GATE_FIGURE])
{
  if (!strcmp(unit, "ratio"))
    snprintf(out, GATE_FIGURE, "%.4g", value);
  else if (*unit)
    snprintf(out, GATE_FIGURE, fabs(value) < 0.1 ? "%.6f s" : "%.3f s", value);
  else
    snprintf(out, GATE_FIGURE, "%.0f", value);
}

void gate_view_change(const struct compare_figure *figure, char out[GATE_FIGURE])
{
  double change = compare_change(figure);
  if (isnan(change))
    snprintf(out, GATE_FIGURE, "-");
  else if (figure->base == 0 || figure->now == 0)
    snprintf(out, GATE_FIGURE, figure->base == 0 ? "new" : "gone");
  else if (change >= 10)
    snprintf(out, GATE_FIGURE, "x %.1f", change + 1);
  else
    snprintf(out, GATE_FIGURE, "%+.1f %%", 100 * change);
}

const char *gate_view_state(const struct compare_gate *gate)
{
  if (gate->failed)
    return "failed";
  return gate->beyond ? "not significant" : "passed";
}

void gate_view_text(const struct compare_gate *gate, char out[GATE_TEXT_MAX])
{
  assert(gate->condition && gate->unit);
  char base[GATE_FIGURE], now[GATE_FIGURE], change[GATE_FIGURE];
  if (gate->condition->unit == CONDITION_PERCENT && !gate->condition->relative && !strcmp(gate->unit, "ratio"))
    snprintf(now, sizeof now, "%.1f %%", 100 * gate->figure.now);
  else
    figure_text(gate->figure.now, gate->unit, now);
  if (!gate->condition->relative) {
    snprintf(out, GATE_TEXT_MAX, "it is %s", now);
    return;
  }
  figure_text(gate->figure.base, gate->unit, base);
  gate_view_change(&gate->figure, change);
  int length = snprintf(out, GATE_TEXT_MAX, "from %s to %s, %s%s", base, now, change,
                        gate->other_filter ? ", measured with different filters" : "");
  size_t left = GATE_TEXT_MAX - (size_t)length;
  if (gate->beyond && !gate->failed && gate->smallest > 0)
    snprintf(out + length, left, "; its samples show only changes beyond %.0f %%", 100 * gate->smallest);
  else if (!isnan(gate->figure.probability))
    snprintf(out + length, left, "; by chance with probability %.2g", gate->figure.probability);
  else if (gate->few)
    snprintf(out + length, left, "; too few samples to tell");
  else
    snprintf(out + length, left, "; one run each");
}

/* ---- Markdown ---- */

/* Writes a text into a cell: a program's names may contain anything. */
static void markdown_text(FILE *stream, const char *text)
{
  while (*text) {
    if (strchr("|\\`*_<>[]&", *text))
      putc('\\', stream);
    text = row_writer_character(stream, text);
  }
}

/* Writes a text as code, which has no escapes. */
static void markdown_code(FILE *stream, const char *text)
{
  static const char *const replacements[UINT8_MAX + 1] = {['`'] = "'"};
  putc('`', stream);
  row_writer_replaced(stream, text, replacements);
  putc('`', stream);
}

static void markdown_item(FILE *stream, const struct compare_item *item)
{
  char base[GATE_FIGURE], now[GATE_FIGURE], change[GATE_FIGURE];
  figure_text(item->figure.base, item->unit, base);
  figure_text(item->figure.now, item->unit, now);
  gate_view_change(&item->figure, change);
  const char *significant = compare_is_significant(&item->figure) ? "yes" : "no";
  if (isnan(item->figure.probability))
    significant = "";
  fputs("| ", stream);
  markdown_text(stream, item->name);
  fprintf(stream, " | %s | %s | %s | %s |\n", base, now, change, significant);
}

static void markdown_items(FILE *stream, const struct compare_result *result)
{
  enum { FUNCTIONS_MAX = 10 };
  uint32_t functions = 0;
  fprintf(stream, "\n| figure, function | base | new | change | significant |\n|---|---:|---:|---:|---|\n");
  for (uint32_t i = 0; i < result->items_count; i++)
    if (strcmp(result->items[i].section, "function") != 0 || functions++ < FUNCTIONS_MAX)
      markdown_item(stream, &result->items[i]);
  if (functions > FUNCTIONS_MAX)
    fprintf(stream, "\n%" PRIu32 " more functions are omitted; `--view flat` shows all.\n", functions - FUNCTIONS_MAX);
  fputs("\nFunctions: ", stream);
  markdown_code(stream, result->metric);
  fprintf(stream, ". Significant: probability by chance below %g %%, two-sided, for %zu figures.\n",
          100 * SIGNIFICANCE_LEVEL, result->compared);
}

int gate_view_markdown(const struct report *report)
{
  const struct compare_result *result = report->comparison;
  FILE *stream = report->stream;
  fputs("## Performance of ", stream);
  markdown_text(stream, result->directory[COMPARE_NEW]);
  if (result->has_base) {
    fputs(" against ", stream);
    markdown_text(stream, result->directory[COMPARE_BASE]);
    fprintf(stream, "\n\nRuns: %" PRIu32 " new, %" PRIu32 " base.", result->runs[COMPARE_NEW],
            result->runs[COMPARE_BASE]);
  }
  putc('\n', stream);
  if (result->gates_count)
    fputs("\n| condition of --fail-if | result | measured |\n|---|---|---|\n", stream);
  for (uint32_t i = 0; i < result->gates_count; i++) {
    char text[GATE_TEXT_MAX];
    gate_view_text(&result->gates[i], text);
    fputs("| ", stream);
    markdown_text(stream, result->gates[i].condition->text);
    fprintf(stream, " | %s | %s |\n", gate_view_state(&result->gates[i]), text);
  }
  if (result->has_base)
    markdown_items(stream, result);
  return 0;
}

/* ---- JUnit ---- */

static void xml_text(FILE *stream, const char *text)
{
  static const char *const entities[UINT8_MAX + 1] = {
      ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
  row_writer_replaced(stream, text, entities);
}

int gate_view_junit(const struct report *report)
{
  const struct compare_result *result = report->comparison;
  FILE *stream = report->stream;
  uint32_t failed = 0;
  for (uint32_t i = 0; i < result->gates_count; i++)
    failed += result->gates[i].failed;
  fprintf(stream,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<testsuites name=\"hpcprof-lite\" tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" errors=\"0\" time=\"0\">\n"
          "<testsuite name=\"hpcprof-lite\" tests=\"%" PRIu32 "\" failures=\"%" PRIu32
          "\" errors=\"0\" skipped=\"0\" time=\"0\">\n",
          result->gates_count, failed, result->gates_count, failed);
  for (uint32_t i = 0; i < result->gates_count; i++) {
    const struct compare_gate *gate = &result->gates[i];
    char text[GATE_TEXT_MAX];
    gate_view_text(gate, text);
    fputs("<testcase classname=\"hpcprof-lite\" name=\"not ", stream);
    xml_text(stream, gate->condition->text);
    fputs("\" time=\"0\">", stream);
    fputs(gate->failed ? "<failure type=\"condition\" message=\"" : "<system-out>", stream);
    if (gate->beyond && !gate->failed)
      fprintf(stream, "%s: ", gate_view_state(gate));
    xml_text(stream, text);
    fputs(gate->failed ? "\"/></testcase>\n" : "</system-out></testcase>\n", stream);
  }
  fputs("</testsuite>\n</testsuites>\n", stream);
  return 0;
}
