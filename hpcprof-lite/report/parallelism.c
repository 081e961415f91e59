#include "hpcprof-lite/report/parallelism.h"

#include "hpcprof-lite/report/path.h"
#include "hpcprof-lite/report/record.h"
#include "hpcprof-lite/report/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL = 16, PLACE_MAX = 4200, SENTENCE_PATH = 48, SURE_WIDTH = 9 };

bool parallelism_cut(const struct report *report)
{
  for (uint32_t i = 0; i < report->profile->processes_count; i++) {
    const struct profile_process *process = &report->profile->processes[i];
    if (process->usable && process->unfinished && process->flags & PROCESS_ONLINE && !process->graph.known)
      return true;
  }
  return false;
}

void parallelism_missing(const struct report *report)
{
  if (parallelism_cut(report)) {
    fprintf(report->stream, report->run->running
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

void parallelism_sentence(const struct report *report, const struct screen *screen, char out[PARALLELISM_SENTENCE_MAX])
{
  const struct workspan *workspan = &report->workspan;
  char path[PATH_TEXT_MAX] = "", place[PLACE_MAX], what[PLACE_MAX + 32];
  *out = 0;
  if (!workspan->span || workspan->lead == PROFILE_NONE)
    return;
  const struct workspan_row *lead = &workspan->rows[workspan->lead];
  place_text(lead, place);
  snprintf(what, sizeof what, "%s%s", lead->directive ? "in " : "serial code outside any region",
           lead->directive ? place : "");
  if (workspan->lead_context)
    path_text(screen, report->tree, workspan->lead_context, SENTENCE_PATH, path);
  snprintf(out, PARALLELISM_SENTENCE_MAX,
           "With unlimited cores this run could be %.1f times as fast as on one; %.0f %% of the critical path is "
           "%.3000s%s%.4000s.",
           workspan_parallelism(workspan->work, workspan->span), 100 * (double)lead->critical / (double)workspan->span,
           what, *path ? ": " : "", path);
}

static void parallelism_cell(struct record *record, uint64_t work, uint64_t span)
{
  if (span)
    record_real(record, workspan_parallelism(work, span), 4);
  else
    record_empty(record);
}

static void row_cells(const struct report *report, struct record *record, const struct workspan_row *row)
{
  const struct profile_graph *graph = &report->profile->graph;
  record_text(record, row->kind);
  record_text(record, row->name);
  record_text(record, row->file);
  if (row->line)
    record_uint(record, row->line);
  else
    record_empty(record);
  record_uint(record, row->instances);
  record_work(record, row->work, graph->is_time);
  record_work(record, row->span, graph->is_time);
  parallelism_cell(record, row->work, row->span);
  record_work(record, row->critical, graph->is_time);
  record_percent(record, row->critical, report->workspan.span);
  if (row->iteration_parallelism > 0)
    record_real(record, row->iteration_parallelism, 4);
  else
    record_empty(record);
  if (row->lock_bound)
    record_work(record, row->lock_bound, graph->is_time);
  else
    record_empty(record);
  record_text(record, graph->unit);
  record_text(record, row->note);
}

void parallelism_table(const struct report *report, bool json)
{
  struct record record;
  table_open(report, json);
  record_begin(&record, report->stream, json, workspan_columns, WORKSPAN_COLUMNS);
  for (uint32_t i = 0; i < report->workspan.count; i++)
    row_cells(report, &record, &report->workspan.rows[i]);
  record_end(&record);
  table_close(report, json);
}

/* Prints a text of any length, broken at spaces. */
static void print_wrapped(const struct report *report, const struct screen *screen, const char *before,
                          const char *text)
{
  char fitted[SCREEN_TEXT_MAX], line[SCREEN_TEXT_MAX];
  size_t length = strlen(text);
  while (length) {
    size_t room = screen->width - strlen(before), take = length;
    if (take > room) {
      for (take = room; take > 0 && text[take] != ' ';)
        take--;
      take = take ? take : room;
    }
    snprintf(line, sizeof line, "%s%.*s", before, (int)take, text);
    screen_fit(screen, line, screen->width, fitted);
    fprintf(report->stream, "%s\n", fitted);
    for (text += take, length -= take; length && *text == ' '; length--)
      text++;
  }
}

/* An amount in 9 columns. */
static void amount_text(const struct report *report, uint64_t amount, char out[CELL])
{
  if (report->profile->graph.is_time)
    screen_seconds(amount, screen_decimals(report->workspan.work), out);
  else
    screen_count(amount, out);
}

static void print_row(const struct report *report, const struct screen *screen, const struct workspan_row *row)
{
  char work[CELL], span[CELL], parallelism[CELL] = "-", percent[CELL], place[PLACE_MAX], fitted[SCREEN_TEXT_MAX];
  char kind[SCREEN_TEXT_MAX], text[256], amount[CELL];
  amount_text(report, row->work, work);
  amount_text(report, row->span, span);
  if (row->span)
    snprintf(parallelism, sizeof parallelism, "%.5g", workspan_parallelism(row->work, row->span));
  screen_percent(row->critical, report->workspan.span, percent);
  if (row->directive)
    place_text(row, place);
  else
    snprintf(place, sizeof place, "program");
  screen_fit(screen, place, screen->width - 37, fitted);
  screen_fit(screen, row->kind, 11, kind);
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
static void print_notes(const struct report *report, const struct screen *screen)
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
      print_wrapped(report, screen, "", text);
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
  struct screen screen;
  char sentence[PARALLELISM_SENTENCE_MAX], unit[SCREEN_TEXT_MAX];
  screen_init(&screen, report->stream);
  if (!report->profile->graph.known) {
    parallelism_missing(report);
    return;
  }
  parallelism_sentence(report, &screen, sentence);
  print_wrapped(report, &screen, "", *sentence ? sentence : "No work was recorded: nothing to say.");
  fprintf(report->stream, "\n%s%9s %9s %8s %6s  %s%s\n", screen_bold(&screen), "work", "span", "parallel", "path%",
          "construct", screen_plain(&screen));
  for (uint32_t i = 0; i < report->workspan.count; i++)
    print_row(report, &screen, &report->workspan.rows[i]);
  screen_fit(&screen, report->profile->graph.is_time ? "seconds" : report->profile->graph.unit, 20, unit);
  fprintf(report->stream,
          "work, span in %s: all that is done, and the longest chain of it;\n"
          "parallel: work / span; path%%: share of the program's span that is the\n"
          "construct's own\n",
          unit);
  print_limits(report);
  print_notes(report, &screen);
  if (report->left_out)
    fprintf(report->stream, "%" PRIu32 " rows left out\n", report->left_out);
}

/* An amount that a factor has divided. */
static void real_work(struct record *record, double amount, bool is_time)
{
  if (is_time)
    record_real(record, amount / 1e9, 9);
  else
    record_real(record, amount, 4);
}

void parallelism_whatif(const struct report *report, bool json)
{
  static const char *const columns[] = {"scenario",    "selector",           "factor",   "work",      "span",
                                        "parallelism", "span_reduction_pct", "span_low", "span_high", "note"};
  const struct profile_graph *graph = &report->profile->graph;
  struct record record;
  table_open(report, json);
  record_begin(&record, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->whatif.count; i++) {
    const struct whatif_row *row = &report->whatif.rows[i];
    record_uint(&record, row->scenario);
    record_text(&record, row->selector);
    if (row->factor > 0)
      record_real(&record, row->factor, fmod(row->factor, 1) < 1e-9 ? 0 : 4);
    else
      record_empty(&record);
    record_work(&record, graph->work, graph->is_time);
    real_work(&record, row->span, graph->is_time);
    if (row->span > 0)
      record_real(&record, (double)graph->work / row->span, 4);
    else
      record_empty(&record);
    record_real(&record, graph->span ? 100 - 100 * row->span / (double)graph->span : 0, 4);
    real_work(&record, row->span_low, graph->is_time);
    real_work(&record, row->span_high, graph->is_time);
    record_text(&record, row->note);
  }
  record_end(&record);
  table_close(report, json);
}

static void span_text(const struct profile_graph *graph, double span, char out[CELL])
{
  if (graph->is_time)
    screen_seconds(profile_rounded(span), screen_decimals(graph->span), out);
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

static void print_scenario(const struct report *report, const struct screen *screen, const struct whatif_row *row)
{
  const struct profile_graph *graph = &report->profile->graph;
  char span[CELL], factor[CELL] = "", parallelism[CELL] = "-", what[SCREEN_TEXT_MAX], sure[CELL] = "";
  span_text(graph, row->span, span);
  if (report->whatif.replayed && !row->exact)
    span_text(graph, (row->span_high - row->span_low) / 2, sure);
  else if (report->whatif.replayed)
    snprintf(sure, sizeof sure, "exact");
  if (row->factor > 0)
    snprintf(factor, sizeof factor, "%.6g", row->factor);
  if (row->span > 0)
    snprintf(parallelism, sizeof parallelism, "%.5g", (double)graph->work / row->span);
  unsigned sure_width = report->whatif.replayed ? SURE_WIDTH : 0;
  screen_fit(screen, row->selector, screen->width - 37 - sure_width, what);
  fprintf(report->stream, "%9s%*s %9.1f %8s %6s  %s\n", span, (int)sure_width, sure,
          graph->span ? 100 - 100 * row->span / (double)graph->span : 0, parallelism, factor, what);
}

void parallelism_whatif_text(const struct report *report)
{
  const struct profile_graph *graph = &report->profile->graph;
  struct screen screen;
  char span[CELL], text[256];
  screen_init(&screen, report->stream);
  if (!graph->known) {
    parallelism_missing(report);
    return;
  }
  if (graph->is_time)
    screen_seconds(graph->span, screen_decimals(graph->span), span);
  else
    screen_count(graph->span, span);
  snprintf(text, sizeof text, "Span now: %s %.20s, parallelism %.5g. %s", span, graph->unit,
           graph->span ? (double)graph->work / (double)graph->span : 0,
           report->whatif.automatic ? "What would shorten it most, and what pays in pairs:" : "Under each scenario:");
  print_wrapped(report, &screen, "", text);
  bool replayed = report->whatif.replayed;
  fprintf(report->stream, "%s%9s%*s %9s %8s %6s  %s%s\n", screen_bold(&screen), "span", replayed ? SURE_WIDTH : 0,
          replayed ? "+-" : "", "shorter%", "parallel", "factor", "what runs faster", screen_plain(&screen));
  for (uint32_t i = 0; i < report->whatif.count; i++)
    print_scenario(report, &screen, &report->whatif.rows[i]);
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

static void speedup_cell(struct record *record, double value)
{
  if (value > 0)
    record_real(record, value, 4);
  else
    record_empty(record);
}

void parallelism_speedup(const struct report *report, bool json)
{
  static const char *const columns[] = {
      "cores",           "speedup_lower", "speedup_upper", "speedup_estimate", "speedup_burdened", "speedup_simulated",
      "speedup_measured"};
  struct record record;
  table_open(report, json);
  record_begin(&record, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->speedup.count; i++) {
    const struct speedup_row *row = &report->speedup.rows[i];
    record_uint(&record, row->cores);
    speedup_cell(&record, row->lower);
    speedup_cell(&record, row->upper);
    speedup_cell(&record, row->estimate);
    speedup_cell(&record, row->burdened);
    speedup_cell(&record, row->simulated);
    speedup_cell(&record, row->measured);
  }
  record_end(&record);
  table_close(report, json);
}

void parallelism_speedup_text(const struct report *report)
{
  struct screen screen;
  screen_init(&screen, report->stream);
  if (!report->profile->graph.known) {
    parallelism_missing(report);
    return;
  }
  bool simulated = false;
  for (uint32_t i = 0; i < report->speedup.count; i++)
    simulated = simulated || report->speedup.rows[i].simulated > 0;
  fprintf(report->stream, "Speedup over one core, from work and span%s:\n",
          report->speedup.count ? "" : ": no work was recorded");
  fprintf(report->stream, "%s%7s %9s %9s %9s %9s%s %9s%s\n", screen_bold(&screen), "cores", "lower", "estimate",
          "upper", "burdened", simulated ? " simulated" : "", "measured", screen_plain(&screen));
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
