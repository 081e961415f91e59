#include "hpcprof-lite/report/parallelism.h"

#include "hpcprof-lite/report/call_path.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/document.h"

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
                                ? "The process still runs: work and span are known at its end.\n"
                                : "The process was killed: it ended before work and span were known.\n");
    return;
  }
  fprintf(report->stream, "Work and span were not computed in this run: measure with\n"
                          "  hpcrun-lite -p online COMMAND\n");
}

/* "for @ solve.c:42 (solve)", as much of it as is known. */
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
  if (!workspan->span || workspan->lead == PROFILE_NONE)
    return;
  const struct workspan_row *lead = &workspan->rows[workspan->lead];
  place_text(lead, place);
  snprintf(what, sizeof what, "%s%s", lead->directive ? "in " : "serial code outside any region",
           lead->directive ? place : "");
  if (workspan->lead_context)
    call_path_text(terminal, report->tree, workspan->lead_context, SENTENCE_PATH, path);
  snprintf(out, PARALLELISM_SENTENCE_MAX,
           "With unlimited cores this run could be %.1f times as fast as on one; %.0f %% of the critical path is "
           "%.3000s%s%.4000s.",
           workspan_parallelism(workspan->work, workspan->span), 100 * (double)lead->critical / (double)workspan->span,
           what, *path ? ": " : "", path);
}

static void parallelism_cell(struct row_writer *row_writer, uint64_t work, uint64_t span)
{
  if (span)
    row_writer_real(row_writer, workspan_parallelism(work, span), 4);
  else
    row_writer_empty(row_writer);
}

static void row_cells(const struct report *report, struct row_writer *row_writer, const struct workspan_row *row)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  row_writer_text(row_writer, row->kind);
  row_writer_text(row_writer, row->name);
  row_writer_text(row_writer, row->file);
  if (row->line)
    row_writer_uint(row_writer, row->line);
  else
    row_writer_empty(row_writer);
  row_writer_uint(row_writer, row->instances);
  row_writer_work(row_writer, row->work, workspan->is_time);
  row_writer_work(row_writer, row->span, workspan->is_time);
  parallelism_cell(row_writer, row->work, row->span);
  row_writer_work(row_writer, row->critical, workspan->is_time);
  row_writer_percent(row_writer, row->critical, report->workspan.span);
  if (row->iteration_parallelism > 0)
    row_writer_real(row_writer, row->iteration_parallelism, 4);
  else
    row_writer_empty(row_writer);
  if (row->lock_bound)
    row_writer_work(row_writer, row->lock_bound, workspan->is_time);
  else
    row_writer_empty(row_writer);
  row_writer_text(row_writer, workspan->unit);
  row_writer_text(row_writer, row->note);
}

int parallelism_table(const struct report *report, bool json)
{
  struct row_writer row_writer;
  document_open(report, json);
  row_writer_begin(&row_writer, report->stream, json, workspan_columns, WORKSPAN_COLUMNS);
  for (uint32_t i = 0; i < report->workspan.count; i++)
    row_cells(report, &row_writer, &report->workspan.rows[i]);
  row_writer_end(&row_writer);
  document_close(report, json);
  return 0;
}

/* Prints a text of any length, broken at spaces. */
static void print_wrapped(const struct report *report, const struct terminal *terminal, const char *before,
                          const char *text)
{
  char fitted[TERMINAL_TEXT_MAX], line[TERMINAL_TEXT_MAX];
  size_t length = strlen(text);
  while (length) {
    size_t room = terminal->width - strlen(before), take = length;
    if (take > room) {
      for (take = room; take > 0 && text[take] != ' ';)
        take--;
      take = take ? take : room;
    }
    snprintf(line, sizeof line, "%s%.*s", before, (int)take, text);
    terminal_fit(terminal, line, terminal->width, fitted);
    fprintf(report->stream, "%s\n", fitted);
    for (text += take, length -= take; length && *text == ' '; length--)
      text++;
  }
}

/* An amount in 9 columns. */
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
    fprintf(report->stream, "%9s %9s at least, with one holder at a time\n", "", amount);
  }
}

/* The notes of the rows, each once. */
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
      print_wrapped(report, terminal, "", text);
  }
}

static bool has_kind(const struct workspan *workspan, const char *kind)
{
  for (uint32_t i = 0; i < workspan->count; i++)
    if (!strcmp(workspan->rows[i].kind, kind))
      return true;
  return false;
}

/* What holds for rows of a kind, whichever schedule or clause they have: the runtime does not tell. */
static void print_limits(const struct report *report)
{
  const struct workspan *workspan = &report->workspan;
  if (has_kind(workspan, "for"))
    fprintf(report->stream, "for: with a static schedule, what a thread runs of it counts as one chunk\n");
  if (has_kind(workspan, "for") || has_kind(workspan, "sections") || has_kind(workspan, "single"))
    fprintf(report->stream, "after nowait, a loop, sections or single begins with the thread that runs it:\n"
                            "where threads arrive unequally, figures differ from run to run\n");
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
  print_wrapped(report, &terminal, "", *sentence ? sentence : "No work was recorded: nothing to say.");
  fprintf(report->stream, "\n%s%9s %9s %8s %6s  %s%s\n", terminal_bold(&terminal), "work", "span", "parallel", "path%",
          "construct", terminal_plain(&terminal));
  for (uint32_t i = 0; i < report->workspan.count; i++)
    print_row(report, &terminal, &report->workspan.rows[i]);
  terminal_fit(&terminal, report->profile->workspan.is_time ? "seconds" : report->profile->workspan.unit, 20, unit);
  fprintf(report->stream,
          "work, span in %s: all that is done, and the longest chain of it;\n"
          "parallel: work / span; path%%: share of the program's span that is the\n"
          "construct's own\n",
          unit);
  print_limits(report);
  print_notes(report, &terminal);
  if (report->left_out)
    fprintf(report->stream, "%" PRIu32 " rows left out\n", report->left_out);
}

/* An amount that a factor has divided. */
static void real_work(struct row_writer *row_writer, double amount, bool is_time)
{
  if (is_time)
    row_writer_real(row_writer, amount / 1e9, 9);
  else
    row_writer_real(row_writer, amount, 4);
}

int parallelism_whatif(const struct report *report, bool json)
{
  static const char *const columns[] = {"scenario",    "selector",           "factor",   "work",      "span",
                                        "parallelism", "span_reduction_pct", "span_low", "span_high", "note"};
  const struct profile_workspan *workspan = &report->profile->workspan;
  struct row_writer row_writer;
  document_open(report, json);
  row_writer_begin(&row_writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->whatif.count; i++) {
    const struct whatif_row *row = &report->whatif.rows[i];
    row_writer_uint(&row_writer, row->scenario);
    row_writer_text(&row_writer, row->selector);
    if (row->factor > 0)
      row_writer_real(&row_writer, row->factor, fmod(row->factor, 1) < 1e-9 ? 0 : 4);
    else
      row_writer_empty(&row_writer);
    row_writer_work(&row_writer, workspan->work, workspan->is_time);
    real_work(&row_writer, row->span, workspan->is_time);
    if (row->span > 0)
      row_writer_real(&row_writer, (double)workspan->work / row->span, 4);
    else
      row_writer_empty(&row_writer);
    row_writer_real(&row_writer, workspan->span ? 100 - 100 * row->span / (double)workspan->span : 0, 4);
    real_work(&row_writer, row->span_low, workspan->is_time);
    real_work(&row_writer, row->span_high, workspan->is_time);
    row_writer_text(&row_writer, row->note);
  }
  row_writer_end(&row_writer);
  document_close(report, json);
  return 0;
}

static void span_text(const struct profile_workspan *workspan, double span, char out[CELL])
{
  if (workspan->is_time)
    terminal_seconds(profile_rounded(span), terminal_decimals(workspan->span), out);
  else
    snprintf(out, CELL, "%.5g", span);
}

/* Where an answer is marked: problems were printed beside the report. */
static void print_doubt(const struct report *report)
{
  if (report->log_differs)
    fprintf(report->stream, "The log of the graph differs from the measurement or is not complete: what is\n"
                            "said from it may be wrong.\n");
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
           report->whatif.automatic ? "What would shorten it most, and what pays in pairs:" : "Under each scenario:");
  print_wrapped(report, &terminal, "", text);
  bool replayed = report->whatif.replayed;
  fprintf(report->stream, "%s%9s%*s %9s %8s %6s  %s%s\n", terminal_bold(&terminal), "span", replayed ? SURE_WIDTH : 0,
          replayed ? "+-" : "", "shorter%", "parallel", "factor", "what runs faster", terminal_plain(&terminal));
  for (uint32_t i = 0; i < report->whatif.count; i++)
    print_scenario(report, &terminal, &report->whatif.rows[i]);
  if (!report->whatif.count)
    fprintf(report->stream, "no function has 1 %% of the critical path of its own\n");
  if (replayed) {
    fprintf(report->stream, "Replayed from the log of the graph: +- is 2 sigma where samples say what runs\n"
                            "faster; constructs and user regions are exact. The work is counted unchanged.\n");
    print_doubt(report);
    return;
  }
  fprintf(report->stream, "These are best cases: when this part gets shorter, another path may become the\n"
                          "longest. At worst the span stays as it is. The work is counted unchanged.\n");
}

static void speedup_cell(struct row_writer *row_writer, double value)
{
  if (value > 0)
    row_writer_real(row_writer, value, 4);
  else
    row_writer_empty(row_writer);
}

int parallelism_speedup(const struct report *report, bool json)
{
  static const char *const columns[] = {
      "cores",           "speedup_lower", "speedup_upper", "speedup_estimate", "speedup_burdened", "speedup_simulated",
      "speedup_measured"};
  struct row_writer row_writer;
  document_open(report, json);
  row_writer_begin(&row_writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->speedup.count; i++) {
    const struct speedup_row *row = &report->speedup.rows[i];
    row_writer_uint(&row_writer, row->cores);
    speedup_cell(&row_writer, row->lower);
    speedup_cell(&row_writer, row->upper);
    speedup_cell(&row_writer, row->estimate);
    speedup_cell(&row_writer, row->burdened);
    speedup_cell(&row_writer, row->simulated);
    speedup_cell(&row_writer, row->measured);
  }
  row_writer_end(&row_writer);
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
  fprintf(report->stream, "Speedup over one core, from work and span%s:\n",
          report->speedup.count ? "" : ": no work was recorded");
  fprintf(report->stream, "%s%7s %9s %9s %9s %9s%s %9s%s\n", terminal_bold(&terminal), "cores", "lower", "estimate",
          "upper", "burdened", simulated ? " simulated" : "", "measured", terminal_plain(&terminal));
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
  fprintf(report->stream, "lower, upper: bounds for schedules that leave no core idle while there is work,\n"
                          "as if locks kept nobody waiting\n"
                          "estimate: all but the critical path spread evenly; burdened: the same, with the\n"
                          "cost of forks, tasks and joins on the path; measured: work / elapsed time\n");
  if (simulated)
    fprintf(report->stream, "simulated: a schedule of the recorded graph, the oldest work first, one holder\n"
                            "of a lock at a time, without the runtime's own cost\n");
  print_doubt(report);
}
