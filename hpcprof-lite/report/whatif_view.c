/* The spans of scenarios, as a table and as text.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/text_table.h"

#include <math.h>

/* ---- the table ---- */

/* An amount of work that was divided by a factor, so that it is not a whole number. */
static struct cell real_amount(const struct profile_workspan *workspan, double amount)
{
  return workspan->is_time ? cell_real(amount / 1e9, 9) : cell_real(amount, 4);
}

static void fill(const void *context, const void *which, struct cell *cell)
{
  const struct report *report = context;
  const struct whatif_row *row = which;
  const struct profile_workspan *workspan = &report->profile->workspan;
  double shorter = workspan->span ? 100 - 100 * row->span / (double)workspan->span : 0;
  struct cell error = cell_empty();
  if (report->spans.whatif.replayed && row->exact)
    error = cell_text("exact");
  else if (report->spans.whatif.replayed)
    error = real_amount(workspan, (row->span_high - row->span_low) / 2);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/whatif.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/whatif.def"
};
#undef COLUMN
static const struct schema whatif_schema = SCHEMA(columns, fill);

REPORT_EACH(each_row, report->spans.whatif.rows, report->spans.whatif.count)

void whatif_view_table(const struct report *report, struct table *table)
{
  table->each = each_row;
  table->source = report;
  table->hidden = report->spans.whatif.replayed ? NULL : "span_error";
  table_add(table, &whatif_schema, report);
}

/* ---- text ---- */

/* Prints what the span is without any change. */
static void print_now(const struct text_table *text)
{
  const struct report *report = text->report;
  const struct profile_workspan *workspan = &report->profile->workspan;
  const char *below = "In each scenario:";
  char span[16];
  if (!report->spans.whatif.count)
    below = "No function of the program has 1 % of the critical path or more in itself.";
  else if (report->spans.whatif.automatic)
    below = "Functions and pairs of functions that would shorten it most:";
  terminal_amount(workspan->span, workspan->is_time, text->decimals, span);
  terminal_wrapf(&text->terminal, report->stream, "", "", "Span now: %s %.20s, parallelism %.5g. %s", span,
                 workspan->unit, workspan_parallelism(workspan->work, workspan->span), below);
}

static void print_rows(struct text_table *text)
{
  const struct report *report = text->report;
  bool replayed = report->spans.whatif.replayed;
  text_table_heading(text);
  for (uint32_t i = 0; i < report->spans.whatif.count; i++)
    text_table_row(text, &report->spans.whatif.rows[i]);
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
    notes_log_differs(report);
}

void whatif_view_text(const struct report *report)
{
  struct text_table text;
  if (!report->profile->workspan.known) {
    notes_missing(report, "Work and span", "online");
    return;
  }
  text_table_init(&text, report, whatif_view_table);
  text.plain = true;
  text.decimals = terminal_decimals(report->profile->workspan.span);
  print_now(&text);
  notes_chunks(report);
  if (report->spans.whatif.count)
    print_rows(&text);
  notes_estimates(report);
  text_table_release(&text);
}
