#include "hpcprof-lite/report/whatif_view.h"

#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

#include <math.h>

enum { CELL = 16, ERROR_WIDTH = 9 };

/* Writes an amount that was divided by a factor, so that it is not a whole number. */
static void real_work(struct row_writer *writer, double amount, bool is_time)
{
  if (is_time)
    row_writer_real(writer, amount / 1e9, 9);
  else
    row_writer_real(writer, amount, 4);
}

int whatif_view_table(const struct report *report, bool json)
{
  static const char *const columns[] = {"scenario",    "selector",           "factor",   "work",      "span",
                                        "parallelism", "span_reduction_pct", "span_low", "span_high", "note"};
  const struct profile_workspan *workspan = &report->profile->workspan;
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->whatif.count; i++) {
    const struct whatif_row *row = &report->whatif.rows[i];
    row_writer_uint(&writer, row->scenario);
    row_writer_text(&writer, row->selector);
    if (row->factor > 0)
      row_writer_real(&writer, row->factor, fmod(row->factor, 1) < 1e-9 ? 0 : 4);
    else
      row_writer_empty(&writer);
    row_writer_work(&writer, workspan->work, workspan->is_time);
    real_work(&writer, row->span, workspan->is_time);
    if (row->span > 0)
      row_writer_real(&writer, (double)workspan->work / row->span, 4);
    else
      row_writer_empty(&writer);
    row_writer_real(&writer, workspan->span ? 100 - 100 * row->span / (double)workspan->span : 0, 4);
    real_work(&writer, row->span_low, workspan->is_time);
    real_work(&writer, row->span_high, workspan->is_time);
    row_writer_text(&writer, row->note);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

static void span_text(const struct profile_workspan *workspan, double span, char out[CELL])
{
  if (workspan->is_time)
    terminal_seconds(model_rounded(span), terminal_decimals(workspan->span), out);
  else
    snprintf(out, CELL, "%.5g", span);
}

static void print_scenario(const struct report *report, const struct terminal *terminal, const struct whatif_row *row)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  char span[CELL], factor[CELL] = "", parallelism[CELL] = "-", what[TERMINAL_TEXT_MAX], error[CELL] = "";
  span_text(workspan, row->span, span);
  if (report->whatif.replayed && !row->exact)
    span_text(workspan, (row->span_high - row->span_low) / 2, error);
  else if (report->whatif.replayed)
    snprintf(error, sizeof error, "exact");
  if (row->factor > 0)
    snprintf(factor, sizeof factor, "%.6g", row->factor);
  if (row->span > 0)
    snprintf(parallelism, sizeof parallelism, "%.5g", (double)workspan->work / row->span);
  unsigned error_width = report->whatif.replayed ? ERROR_WIDTH : 0;
  terminal_fit(terminal, row->selector, terminal->width - 37 - error_width, what);
  fprintf(report->stream, "%9s%*s %9.1f %8s %6s  %s\n", span, (int)error_width, error,
          workspan->span ? 100 - 100 * row->span / (double)workspan->span : 0, parallelism, factor, what);
}

void whatif_view_text(const struct report *report)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  struct terminal terminal;
  char span[CELL], text[256];
  terminal_init(&terminal, report->stream);
  if (!workspan->known) {
    parallelism_missing(report, "Work and span", "online");
    return;
  }
  if (workspan->is_time)
    terminal_seconds(workspan->span, terminal_decimals(workspan->span), span);
  else
    terminal_count(workspan->span, span);
  snprintf(text, sizeof text, "Span now: %s %.20s, parallelism %.5g. %s", span, workspan->unit,
           workspan->span ? (double)workspan->work / (double)workspan->span : 0,
           report->whatif.automatic ? "Functions and pairs of functions that would shorten it most:"
                                    : "In each scenario:");
  if (!report->whatif.count)
    snprintf(text, sizeof text,
             "Span now: %s %.20s, parallelism %.5g. No function of the program has 1 %% of the critical path or more "
             "in itself.",
             span, workspan->unit, workspan->span ? (double)workspan->work / (double)workspan->span : 0);
  terminal_wrap(&terminal, report->stream, "", "", text);
  parallelism_chunks_note(report);
  if (!report->whatif.count)
    return;
  bool replayed = report->whatif.replayed;
  fprintf(report->stream, "%s%9s%*s %9s %8s %6s  %s%s\n", terminal_bold(&terminal), "Span", replayed ? ERROR_WIDTH : 0,
          replayed ? "+-" : "", "Shorter%", "Parallel", "Factor", "What runs faster", terminal_plain(&terminal));
  for (uint32_t i = 0; i < report->whatif.count; i++)
    print_scenario(report, &terminal, &report->whatif.rows[i]);
  if (replayed)
    legend_print(report, "Replayed from the graph log; +- is two standard errors; see --legend\n",
                 "Replayed from the graph log.  +-: two standard errors, where samples decide\n"
                 "which work runs faster; scenarios of constructs and user regions are exact.\n"
                 "The amount of work stays the same; only the span becomes shorter.\n");
  else
    legend_print(report, "Best cases: at worst the span stays as it is; see --legend\n",
                 "These are best cases: when part of the critical path gets shorter, another path\n"
                 "may become the longest.  At worst the span stays as it is.  A run measured with\n"
                 "hpcrun-lite -p log gives the span itself.  The amount of work stays the same.\n");
  if (replayed)
    parallelism_log_warning(report);
}
