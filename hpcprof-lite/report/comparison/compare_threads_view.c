#include "hpcprof-lite/report/comparison/compare_threads_view.h"

#include "hpcprof-lite/report/comparison/compare_cells.h"
#include "hpcprof-lite/report/comparison/compare_text.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/views/thread_order.h"

#include <inttypes.h>
#include <math.h>

enum {
  COLUMNS = COMPARE_THREAD_COLUMNS,
  ALL_COLUMNS_MAX = 16, /* threads: of more, text shows one column */
  MORE_CELLS = 3,       /* base, difference, ratio of each column */
  HEADER = 32,
  TABLE_COLUMNS = THREAD_ORDER_COLUMNS + COMPARE_CELLS + COLUMNS * MORE_CELLS
};

static const char *column_name(uint32_t column)
{
  return thread_order_columns[THREAD_ORDER_FIGURES + column];
}

static const struct compare_figure *figures_of(const struct compare_result *result, uint32_t i)
{
  return &result->figures[(size_t)result->threads[i].row * COLUMNS];
}

static bool is_known(const struct compare_result *result, uint32_t column)
{
  return result->threads_known >> column & 1;
}

/* How many columns the table has: the last one only where it is known. */
static uint32_t columns_of(const struct compare_result *result)
{
  return COLUMNS - !is_known(result, COMPARE_THREAD_PAUSED);
}

/* Whether any process has more than one number in its rank. */
static bool has_processes(const struct compare_result *result)
{
  for (uint32_t i = 0; i < result->threads_count; i++)
    if (result->threads[i].process)
      return true;
  return false;
}

static void print_place(FILE *stream, const struct compare_thread *thread, bool process)
{
  if (thread->rank >= 0)
    fprintf(stream, "rank %" PRId32 ", ", thread->rank);
  if (process)
    fprintf(stream, "process %" PRIu32 ", ", thread->process + 1);
  fprintf(stream, "thread %" PRIu32 "\n", thread->thread);
}

static void print_column(const struct report *report, const struct compare_figure *figure, uint32_t column,
                         unsigned decimals)
{
  compare_text_figure(report, figure, compare_thread_counts(column) ? "" : "s", decimals);
  fputs("  ", report->stream);
}

/* A line for each column that is not 0 on both sides. */
static void print_all_columns(const struct report *report, uint32_t i, unsigned decimals)
{
  const struct compare_figure *figures = figures_of(report->comparison, i);
  for (uint32_t column = 0; column < COLUMNS; column++) {
    if (!is_known(report->comparison, column) || (figures[column].base == 0 && figures[column].now == 0))
      continue;
    print_column(report, &figures[column], column, decimals);
    fprintf(report->stream, "  %s\n", column_name(column));
  }
}

/* The decimals of all times that are shown. */
static unsigned decimals_of(const struct compare_result *result, bool all)
{
  struct compare_figure largest = {0};
  for (uint32_t i = 0; i < result->threads_count; i++)
    for (uint32_t column = 0; column < COLUMNS; column++) {
      if (compare_thread_counts(column) || (!all && column != result->thread_column))
        continue;
      largest.base = fmax(largest.base, figures_of(result, i)[column].base);
      largest.now = fmax(largest.now, figures_of(result, i)[column].now);
    }
  return compare_text_decimals(&largest);
}

void compare_threads_view_text(const struct report *report)
{
  const struct compare_result *result = report->comparison;
  bool all = !result->metric_chosen && result->threads_count <= ALL_COLUMNS_MAX, process = has_processes(result);
  unsigned decimals = decimals_of(result, all);
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  compare_text_heading(report);
  fprintf(report->stream, "%s%10s%10s%10s%9s    Thread", terminal_bold(&terminal), "Base", "New", "Diff", "Change");
  if (!all)
    fprintf(report->stream, " (%s)", result->metric);
  fprintf(report->stream, "%s\n", terminal_plain(&terminal));
  for (uint32_t i = 0; i < result->threads_count; i++) {
    if (all) {
      fprintf(report->stream, "%*s", COMPARE_TEXT_WIDTH, "");
      print_place(report->stream, &result->threads[i], process);
      print_all_columns(report, i, decimals);
    } else {
      print_column(report, &figures_of(result, i)[result->thread_column], result->thread_column, decimals);
      print_place(report->stream, &result->threads[i], process);
    }
  }
  compare_text_legend(report);
  legend_omitted(report);
}

/* The columns of the view, those of every comparison, and what each column was before. */
static size_t table_headers(const struct compare_result *result, const char *headers[TABLE_COLUMNS],
                            char more[COLUMNS][MORE_CELLS][HEADER])
{
  static const char *const endings[MORE_CELLS] = {"base", "difference", "ratio"};
  size_t count = 0;
  while (count < THREAD_ORDER_FIGURES + columns_of(result)) {
    headers[count] = thread_order_columns[count];
    count++;
  }
  count += compare_cells_headers(headers + count);
  for (uint32_t column = 0; column < columns_of(result); column++)
    for (size_t i = 0; i < MORE_CELLS; i++) {
      snprintf(more[column][i], HEADER, "%s_%s", column_name(column), endings[i]);
      headers[count++] = more[column][i];
    }
  return count;
}

/* The new side's figures. */
static void new_cells(const struct compare_result *result, struct row_writer *writer,
                      const struct compare_figure *figures)
{
  for (uint32_t column = 0; column < columns_of(result); column++)
    if (!is_known(result, column))
      row_writer_empty(writer);
    else if (compare_thread_counts(column))
      row_writer_uint(writer, model_rounded(figures[column].now));
    else
      row_writer_real(writer, figures[column].now, 9);
}

static void more_cells(const struct compare_result *result, struct row_writer *writer,
                       const struct compare_figure *figures)
{
  for (uint32_t column = 0; column < columns_of(result); column++) {
    const struct compare_figure *figure = &figures[column];
    if (!is_known(result, column)) {
      for (int i = 0; i < MORE_CELLS; i++)
        row_writer_empty(writer);
      continue;
    }
    row_writer_real(writer, figure->base, 9);
    row_writer_real(writer, figure->now - figure->base, 9);
    if (figure->base > 0)
      row_writer_real(writer, figure->now / figure->base, 6);
    else
      row_writer_empty(writer);
  }
}

int compare_threads_view_table(const struct report *report, bool json)
{
  const struct compare_result *result = report->comparison;
  const char *headers[TABLE_COLUMNS];
  char more[COLUMNS][MORE_CELLS][HEADER];
  struct row_writer writer;
  document_open(report, json);
  size_t count = table_headers(result, headers, more);
  row_writer_begin(&writer, report->stream, json, headers, count);
  for (uint32_t i = 0; i < result->threads_count; i++) {
    const struct compare_thread *thread = &result->threads[i];
    const struct compare_figure *figures = figures_of(result, i);
    row_writer_uint(&writer, thread->process + 1);
    row_writer_optional(&writer, thread->rank >= 0, (uint64_t)thread->rank);
    row_writer_uint(&writer, thread->thread);
    row_writer_empty(&writer); /* host */
    new_cells(result, &writer, figures);
    compare_cells(&writer, &figures[result->thread_column]);
    more_cells(result, &writer, figures);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}
