/* The try view: what settings gained when they were tried, beside what was forecast.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/analysis/trial_figures.h"
#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/try_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIGURE = 32, LINE = TRY_VIEW_RESULT_MAX };

/* A gain in percent of the time of the unchanged program. */
static double percent(const struct trial_row *tried, double gain_s)
{
  return tried->base_s > 0 ? 100 * gain_s / tried->base_s : 0;
}

/* Whether what runs with the setting have printed was compared: they ended well, and so did unchanged ones. */
static bool compared(const struct trial_row *tried)
{
  return tried->pairs && !tried->ended;
}

/* ---- table ---- */

static void fill(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const struct trial_row *tried = row;
  bool ran = tried->verdict != VERDICT_NOT_TRIED, measured = trial_row_measured(tried);
  uint32_t threads = report->totals->threads_max;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/try.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/try.def"
};
#undef COLUMN
static const struct schema try_schema = SCHEMA(columns, fill);

REPORT_EACH(each_tried, report->trial.figures->rows, report->trial.figures->count)

void try_view_table(const struct report *report, struct table *table)
{
  table->each = each_tried;
  table->source = report;
  table_add(table, &try_schema, report);
}

/* ---- text ---- */

/* The figures below a setting, and their headings. */
static const char row_format[] = "%9s %8s  %-18s %10s  %s\n";

static void ended_text(const struct trial *trial, const struct trial_run *run, char out[LINE])
{
  if (run->end == TRIAL_TIMED_OUT)
    snprintf(out, LINE, "timed out after %.3g s", (double)trial->limit_ns / 1e9);
  else if (run->end == TRIAL_FAILED)
    snprintf(out, LINE, "fails: cannot be run");
  else if (run->end == TRIAL_KILLED)
    snprintf(out, LINE, "fails: signal %" PRIu32, run->code);
  else
    snprintf(out, LINE, "fails: exit status %" PRIu32, run->code);
}

static void verdict_text(const struct trial *trial, const struct trial_row *tried, char out[LINE])
{
  double most = fmax(fabs(percent(tried, tried->low_s)), fabs(percent(tried, tried->high_s)));
  if (tried->ended)
    ended_text(trial, tried->ended, out);
  else if (tried->verdict == VERDICT_NO_DIFFERENCE)
    snprintf(out, LINE, "no difference above %.1f %%", most);
  else
    snprintf(out, LINE, "%s", trial_verdict_name(tried->verdict));
}

void try_view_result(const struct trial *trial, const struct trial_row *tried, char out[TRY_VIEW_RESULT_MAX])
{
  double low = percent(tried, tried->low_s), high = percent(tried, tried->high_s);
  bool perhaps = tried->verdict == VERDICT_PERHAPS_GAINS || tried->verdict == VERDICT_PERHAPS_COSTS;
  const char *doubt = perhaps ? "perhaps " : "";
  if (tried->verdict == VERDICT_GAINS || tried->verdict == VERDICT_PERHAPS_GAINS)
    snprintf(out, LINE, "%sgained %.3f s (%.1f to %.1f %% of the time)", doubt, tried->gain_s, low, high);
  else if (tried->verdict == VERDICT_COSTS || tried->verdict == VERDICT_PERHAPS_COSTS)
    snprintf(out, LINE, "%scost %.3f s (%.1f to %.1f %% of the time)", doubt, -tried->gain_s, -high, -low);
  else if (tried->verdict == VERDICT_UNKNOWN && trial_row_measured(tried))
    snprintf(out, LINE, "not known: %.1f to %.1f %%; try longer with --try-time", low, high);
  else
    verdict_text(trial, tried, out);
}

/* Prints the figures of a setting below its text. */
static void print_row(const struct report *report, const struct terminal *terminal, const struct trial_row *tried)
{
  const struct trial *trial = report->trial.record;
  char gain[FIGURE] = "-", part[FIGURE] = "-", range[2 * FIGURE] = "-", forecast[FIGURE] = "-", verdict[LINE];
  if (trial_row_measured(tried)) {
    snprintf(gain, sizeof gain, "%.3f", tried->gain_s);
    snprintf(part, sizeof part, "%.1f", percent(tried, tried->gain_s));
    snprintf(range, sizeof range, "%.1f to %.1f", percent(tried, tried->low_s), percent(tried, tried->high_s));
  }
  if (tried->setting->forecast)
    snprintf(forecast, sizeof forecast, "%.3f", tried->setting->gain_s);
  verdict_text(trial, tried, verdict);
  fputs(terminal_bold(terminal), report->stream);
  terminal_wrap(terminal, report->stream, "", "  ", tried->setting->text);
  fputs(terminal_plain(terminal), report->stream);
  fprintf(report->stream, row_format, gain, part, range, forecast, verdict);
}

static const char indent[] = "          ";

/* Prints a forecast, also in percent of the measured run, for which it was made. */
static void print_forecast(const struct report *report, const struct terminal *terminal,
                           const struct trial_setting *setting)
{
  double measured_s = (double)report->trial.record->measured_ns / 1e9;
  char part[FIGURE * 2] = "";
  if (measured_s > 0)
    snprintf(part, sizeof part, ", %.1f %% of the measured run", 100 * setting->gain_s / measured_s);
  terminal_wrapf(terminal, report->stream, indent, indent, "forecast of the finding %s: %.3f s (%.3f to %.3f s)%s",
                 setting->class, setting->gain_s, setting->low_s, setting->high_s, part);
}

/* Prints what else is known of a setting. */
static void print_notes(const struct report *report, const struct terminal *terminal, const struct trial_row *tried)
{
  const struct trial_setting *setting = tried->setting;
  if (setting->forecast)
    print_forecast(report, terminal, setting);
  else if (*setting->class)
    terminal_wrapf(terminal, report->stream, indent, indent, "suggested by the finding %s, without a forecast",
                   setting->class);
  if (compared(tried) && tried->other_lines)
    terminal_wrapf(terminal, report->stream, indent, indent,
                   "%" PRIu32 " line%s differ%s from the first unchanged run%s", tried->other_lines,
                   terminal_plural(tried->other_lines), tried->other_lines == 1 ? "s" : "",
                   report->trial.figures->other_lines ? "; unchanged runs differ, too" : "");
  if (compared(tried) && tried->number_lines)
    terminal_wrapf(terminal, report->stream, indent, indent, "%" PRIu32 " line%s differ%s in numbers only",
                   tried->number_lines, terminal_plural(tried->number_lines), tried->number_lines == 1 ? "s" : "");
  if (tried->verdict == VERDICT_UNKNOWN && trial_row_measured(tried))
    terminal_wrap(terminal, report->stream, indent, indent, "too few runs to tell: try longer with --try-time");
}

/* Prints that the program is much faster or slower without this tool. */
static void print_perturbed(const struct report *report, const struct terminal *terminal)
{
  static const double much = 1.1;
  double measured_s = (double)report->trial.record->measured_ns / 1e9, base_s = report->trial.figures->base_s;
  bool known = measured_s > 0 && base_s > 0;
  if (known && (measured_s > much * base_s || base_s > much * measured_s))
    terminal_wrapf(terminal, report->stream, "", "",
                   "The measured run took %.3f s, not %.3f s: compare gains and forecasts in percent.", measured_s,
                   base_s);
}

/* Prints what limits the result. */
static void print_limits(const struct report *report, const struct terminal *terminal)
{
  static const char *const stops[TRIAL_STOPS] = {
      [TRIAL_RUNS_ON] = "The runs were cut short: hpcrun-lite was killed, or still runs.",
      [TRIAL_INTERRUPTED] = "The runs were interrupted by a signal.",
      [TRIAL_BASELINE] = "The runs ended because the unchanged program failed or took too long without measurement.",
  };
  const struct trial_figures *figures = report->trial.figures;
  const char *stop = stops[report->trial.record->stop];
  print_perturbed(report, terminal);
  if (stop)
    terminal_wrap(terminal, report->stream, "", "", stop);
  if (figures->others >= 0.1)
    terminal_wrapf(terminal, report->stream, "", "",
                   "Other programs used %.1f cores during the runs: gains may differ on a quiet machine.",
                   figures->others);
}

/* Prints what could be tried. */
static void print_suggestions(const struct report *report, const struct terminal *terminal)
{
  const struct trial_figures *figures = report->trial.figures;
  if (!figures->count) {
    terminal_wrap(terminal, report->stream, "", "",
                  "Nothing was tried, and no finding suggests a setting; hpcrun-lite --try=SETTINGS tries any.");
    return;
  }
  terminal_wrap(terminal, report->stream, "", "",
                "Nothing was tried yet. The findings suggest these settings; hpcrun-lite --try runs the program with "
                "them:");
  for (uint32_t i = 0; i < figures->count; i++) {
    terminal_wrap(terminal, report->stream, "  ", "    ", figures->rows[i].setting->text);
    print_notes(report, terminal, &figures->rows[i]);
  }
}

void try_view_text(const struct report *report)
{
  struct terminal terminal;
  const struct trial_figures *figures = report->trial.figures;
  terminal_init(&terminal, report->stream);
  if (!report->trial.record->runs_count) {
    print_suggestions(report, &terminal);
    return;
  }
  uint32_t runs = report->trial.record->runs_count;
  char base[FIGURE * 3] = "";
  if (figures->runs)
    snprintf(base, sizeof base, " Unchanged, it takes %.3f s (mean of %" PRIu32 " run%s).", figures->base_s,
             figures->runs, terminal_plural(figures->runs));
  terminal_wrapf(&terminal, report->stream, "", "",
                 "What settings gain: the program ran %" PRIu32 " time%s without this tool.%s", runs,
                 terminal_plural(runs), base);
  fputc('\n', report->stream);
  fprintf(report->stream, row_format, "Gain s", "%", "95 % interval, %", "Forecast s", "Verdict");
  for (uint32_t i = 0; i < figures->count; i++) {
    print_row(report, &terminal, &figures->rows[i]);
    print_notes(report, &terminal, &figures->rows[i]);
  }
  print_limits(report, &terminal);
}
