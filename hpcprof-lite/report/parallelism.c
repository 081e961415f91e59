#include "hpcprof-lite/report/parallelism.h"

#include "hpcprof-lite/report/call_path.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/row_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL = 16, PLACE_MAX = 4200, SENTENCE_PATH = 48, SURE_WIDTH = 9 };

bool parallelism_cut(const struct report *report)
{
  for (uint32_t i = 0; i < report->profile->processes_count; i++) {
    const struct profile_process *process = &report->profile->processes[i];
    if (process->usable && process->unfinished && process->flags & PROCESS_ONLINE && !process->workspan.known)
      return true;
  }
  return false;
}

void parallelism_missing(const struct report *report)
{
  if (parallelism_cut(report)) {
    fprintf(report->stream, report->totals->running
                                ? "The process is still running; work and span are known when it has ended.\n"
                                : "Work and span are not known, because the process was killed.\n");
    return;
  }
  fprintf(report->stream, "Work and span were not computed in this run; measure with\n"
                          "  hpcrun-lite -p online COMMAND\n");
}

/* "for @ solve.c:42 (solve)", without the parts that are not known. */
static void place_text(const struct workspan_row *row, char out[PLACE_MAX])
{
  char place[PLACE_MAX / 2] = "";
  if (*row->file && row->line)
    snprintf(place, sizeof place, " @ %.1000s:%" PRIu32, names_base(row->file), row->line);
  snprintf(out, PLACE_MAX, "%s%s%s%.2000s%s", row->kind, place, *row->name ? " (" : "", row->name,
           *row->name ? ")" : "");
}

void parallelism_sentence(const struct report *report, const struct terminal *terminal,
                          char out[PARALLELISM_SENTENCE_MAX])
{
  const struct workspan *workspan = &report->workspan;
  char path[CALL_PATH_TEXT_MAX] = "", place[PLACE_MAX], what[PLACE_MAX + 32];
  *out = 0;
  if (!workspan->span || workspan->top == MODEL_NONE)
    return;
  const struct workspan_row *top = &workspan->rows[workspan->top];
  place_text(top, place);
  snprintf(what, sizeof what, "%s%s", top->directive ? "in " : "serial code outside any region",
           top->directive ? place : "");
  if (workspan->top_context)
    call_path_text(terminal, report->tree, workspan->top_context, SENTENCE_PATH, path);
  snprintf(out, PARALLELISM_SENTENCE_MAX,
           "On unlimited cores this run could be %.1f times as fast as on one core; %.0f %% of the critical path is "
           "%.3000s%s%.4000s.",
           workspan_parallelism(workspan->work, workspan->span), 100 * (double)top->critical / (double)workspan->span,
           what, *path ? ": " : "", path);
}

static void parallelism_cell(struct row_writer *writer, uint64_t work, uint64_t span)
{
  if (span)
    row_writer_real(writer, workspan_parallelism(work, span), 4);
  else
    row_writer_empty(writer);
}

static void row_cells(const struct report *report, struct row_writer *writer, const struct workspan_row *row)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  row_writer_text(writer, row->kind);
  row_writer_text(writer, row->name);
  row_writer_text(writer, row->file);
  if (row->line)
    row_writer_uint(writer, row->line);
  else
    row_writer_empty(writer);
  row_writer_uint(writer, row->instances);
  row_writer_work(writer, row->work, workspan->is_time);
  row_writer_work(writer, row->span, workspan->is_time);
  parallelism_cell(writer, row->work, row->span);
  row_writer_work(writer, row->critical, workspan->is_time);
  row_writer_percent(writer, row->critical, report->workspan.span);
  if (row->iteration_parallelism > 0)
    row_writer_real(writer, row->iteration_parallelism, 4);
  else
    row_writer_empty(writer);
  if (row->lock_bound)
    row_writer_work(writer, row->lock_bound, workspan->is_time);
  else
    row_writer_empty(writer);
  row_writer_text(writer, workspan->unit);
  row_writer_text(writer, row->note);
}

int parallelism_table(const struct report *report, bool json)
{
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, workspan_columns, WORKSPAN_COLUMNS);
  for (uint32_t i = 0; i < report->workspan.count; i++)
    row_cells(report, &writer, &report->workspan.rows[i]);
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

/* An amount of work in 9 columns. */
static void amount_text(const struct report *report, uint64_t amount, char out[CELL])
{
  if (report->profile->workspan.is_time)
    terminal_seconds(amount, terminal_decimals(report->workspan.work), out);
  else
    terminal_count(amount, out);
}

static void print_row(const struct report *report, const struct terminal *terminal, const struct workspan_row *row)
{
  char work[CELL], span[CELL], parallelism[CELL] = "-", percent[CELL], place[PLACE_MAX], fitted[TERMINAL_TEXT_MAX];
  char kind[TERMINAL_TEXT_MAX], text[256], amount[CELL];
  amount_text(report, row->work, work);
  amount_text(report, row->span, span);
  if (row->span)
    snprintf(parallelism, sizeof parallelism, "%.5g", workspan_parallelism(row->work, row->span));
  terminal_percent(row->critical, report->workspan.span, percent);
  if (row->directive)
    place_text(row, place);
  else
    snprintf(place, sizeof place, "program");
  terminal_fit(terminal, place, terminal->width - 37, fitted);
  terminal_fit(terminal, row->kind, 11, kind);
  fprintf(report->stream, "%9s %9s %8s %6s  %s\n", work, span, parallelism, percent, fitted);
  if (row->iteration_parallelism > 0) {
    snprintf(text, sizeof text, "about %.5g if every iteration were a chunk (estimate)", row->iteration_parallelism);
    fprintf(report->stream, "%19s %s\n", "", text);
  }
  if (row->lock_bound) {
    amount_text(report, row->lock_bound, amount);
    fprintf(report->stream, "%9s %9s at least, because one thread at a time holds the lock\n", "", amount);
  }
}

/* Prints each note of the rows once. */
static void print_notes(const struct report *report, const struct terminal *terminal)
{
  const struct workspan *workspan = &report->workspan;
  for (uint32_t i = 0; i < workspan->count; i++) {
    const struct workspan_row *row = &workspan->rows[i];
    bool known = !*row->note;
    for (uint32_t j = 0; j < i && !known; j++)
      known = !strcmp(workspan->rows[j].note, row->note);
    char text[1024];
    snprintf(text, sizeof text, "%.30s: %.900s", row->kind, row->note);
    if (!known)
      terminal_wrap(terminal, report->stream, "", "", text);
  }
}

static bool has_kind(const struct workspan *workspan, const char *kind)
{
  for (uint32_t i = 0; i < workspan->count; i++)
    if (!strcmp(workspan->rows[i].kind, kind))
      return true;
  return false;
}

/* Prints what limits the figures of some kinds of constructs: the runtime does not tell schedules and clauses. */
static void print_limits(const struct report *report)
{
  const struct workspan *workspan = &report->workspan;
  if (has_kind(workspan, "for"))
    fprintf(report->stream, "for: with a static schedule, all iterations of one thread count as one chunk.\n");
  if (has_kind(workspan, "for") || has_kind(workspan, "sections") || has_kind(workspan, "single"))
    fprintf(report->stream, "After nowait, a loop, sections or single construct begins when the thread that\n"
                            "runs it arrives, so that figures can differ from run to run.\n");
}

void parallelism_text(const struct report *report)
{
  struct terminal terminal;
  char sentence[PARALLELISM_SENTENCE_MAX], unit[TERMINAL_TEXT_MAX];
  terminal_init(&terminal, report->stream);
  if (!report->profile->workspan.known) {
    parallelism_missing(report);
    return;
  }
  parallelism_sentence(report, &terminal, sentence);
  terminal_wrap(&terminal, report->stream, "", "", *sentence ? sentence : "No work was recorded.");
  fprintf(report->stream, "\n%s%9s %9s %8s %6s  %s%s\n", terminal_bold(&terminal), "Work", "Span", "Parallel", "Crit%",
          "Construct", terminal_plain(&terminal));
  for (uint32_t i = 0; i < report->workspan.count; i++)
    print_row(report, &terminal, &report->workspan.rows[i]);
  terminal_fit(&terminal, report->profile->workspan.is_time ? "seconds" : report->profile->workspan.unit, 20, unit);
  char line[128], full[512];
  snprintf(line, sizeof line, "Work and span in %.20s; Parallel = work / span; see --legend\n", unit);
  snprintf(full, sizeof full,
           "Work: all that the construct and its contents do, in %.20s; Span: their\n"
           "longest chain of dependent work; Parallel: work / span, the speedup on\n"
           "unlimited cores.\n"
           "Crit%%: share of the program's span that the construct itself contributes.\n",
           unit);
  legend_print(report, line, full);
  print_limits(report);
  print_notes(report, &terminal);
  if (report->left_out)
    fprintf(report->stream, "%" PRIu32 " row%s omitted.\n", report->left_out, report->left_out == 1 ? "" : "s");
}

/* Writes an amount that was divided by a factor, so that it is not a whole number. */
static void real_work(struct row_writer *writer, double amount, bool is_time)
{
  if (is_time)
    row_writer_real(writer, amount / 1e9, 9);
  else
    row_writer_real(writer, amount, 4);
}

int parallelism_whatif(const struct report *report, bool json)
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

/* Marks a report whose problems were printed on standard error. */
static void print_doubt(const struct report *report)
{
  if (report->log_differs)
    fprintf(report->stream, "The graph log differs from the measurement or is incomplete: results that were\n"
                            "computed from it may be wrong.\n");
}

static void print_scenario(const struct report *report, const struct terminal *terminal, const struct whatif_row *row)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  char span[CELL], factor[CELL] = "", parallelism[CELL] = "-", what[TERMINAL_TEXT_MAX], sure[CELL] = "";
  span_text(workspan, row->span, span);
  if (report->whatif.replayed && !row->exact)
    span_text(workspan, (row->span_high - row->span_low) / 2, sure);
  else if (report->whatif.replayed)
    snprintf(sure, sizeof sure, "exact");
  if (row->factor > 0)
    snprintf(factor, sizeof factor, "%.6g", row->factor);
  if (row->span > 0)
    snprintf(parallelism, sizeof parallelism, "%.5g", (double)workspan->work / row->span);
  unsigned sure_width = report->whatif.replayed ? SURE_WIDTH : 0;
  terminal_fit(terminal, row->selector, terminal->width - 37 - sure_width, what);
  fprintf(report->stream, "%9s%*s %9.1f %8s %6s  %s\n", span, (int)sure_width, sure,
          workspan->span ? 100 - 100 * row->span / (double)workspan->span : 0, parallelism, factor, what);
}

void parallelism_whatif_text(const struct report *report)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  struct terminal terminal;
  char span[CELL], text[256];
  terminal_init(&terminal, report->stream);
  if (!workspan->known) {
    parallelism_missing(report);
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
  terminal_wrap(&terminal, report->stream, "", "", text);
  bool replayed = report->whatif.replayed;
  fprintf(report->stream, "%s%9s%*s %9s %8s %6s  %s%s\n", terminal_bold(&terminal), "Span", replayed ? SURE_WIDTH : 0,
          replayed ? "+-" : "", "Shorter%", "Parallel", "Factor", "What runs faster", terminal_plain(&terminal));
  for (uint32_t i = 0; i < report->whatif.count; i++)
    print_scenario(report, &terminal, &report->whatif.rows[i]);
  if (!report->whatif.count)
    fprintf(report->stream, "No function has 1 %% of the critical path or more in itself.\n");
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
    print_doubt(report);
}

static void speedup_cell(struct row_writer *writer, double value)
{
  if (value > 0)
    row_writer_real(writer, value, 4);
  else
    row_writer_empty(writer);
}

int parallelism_speedup(const struct report *report, bool json)
{
  static const char *const columns[] = {
      "cores",           "speedup_lower", "speedup_upper", "speedup_estimate", "speedup_burdened", "speedup_simulated",
      "speedup_measured"};
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->speedup.count; i++) {
    const struct speedup_row *row = &report->speedup.rows[i];
    row_writer_uint(&writer, row->cores);
    speedup_cell(&writer, row->lower);
    speedup_cell(&writer, row->upper);
    speedup_cell(&writer, row->estimate);
    speedup_cell(&writer, row->burdened);
    speedup_cell(&writer, row->simulated);
    speedup_cell(&writer, row->measured);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

void parallelism_speedup_text(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  if (!report->profile->workspan.known) {
    parallelism_missing(report);
    return;
  }
  bool simulated = false;
  for (uint32_t i = 0; i < report->speedup.count; i++)
    simulated = simulated || report->speedup.rows[i].simulated > 0;
  fprintf(report->stream, "Speedup over one core, computed from work and span%s:\n",
          report->speedup.count ? "" : ": no work was recorded");
  fprintf(report->stream, "%s%7s %9s %9s %9s %9s%s %9s%s\n", terminal_bold(&terminal), "Cores", "Lower", "Estimate",
          "Upper", "Burdened", simulated ? " Simulated" : "", "Measured", terminal_plain(&terminal));
  for (uint32_t i = 0; i < report->speedup.count; i++) {
    const struct speedup_row *row = &report->speedup.rows[i];
    char measured[CELL] = "", schedule[CELL] = "";
    if (row->measured > 0)
      snprintf(measured, sizeof measured, " %9.2f", row->measured);
    if (row->simulated > 0)
      snprintf(schedule, sizeof schedule, " %9.2f", row->simulated);
    else if (simulated && *measured)
      snprintf(schedule, sizeof schedule, " %9s", "-");
    fprintf(report->stream, "%7" PRIu64 " %9.2f %9.2f %9.2f %9.2f%s%s\n", row->cores, row->lower, row->estimate,
            row->upper, row->burdened, schedule, measured);
  }
  legend_print(report, "Estimate: the work off the critical path is spread evenly; see --legend\n",
               "Lower, Upper: bounds for schedules that leave no core idle while there is work,\n"
               "if no thread waits for a lock.\n"
               "Estimate: the work off the critical path is spread evenly over the cores.\n"
               "Burdened: the same with the cost of forks, tasks and joins on the path.\n"
               "Simulated: a list schedule of the recorded task graph, oldest work first, with\n"
               "one holder of a lock at a time, without the runtime's own cost.\n"
               "Measured: work / elapsed time of this run.\n");
  print_doubt(report);
}
