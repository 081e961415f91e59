/* Work, span and parallelism of the program and its constructs, as a table and as text.  Context: BATCH. */
#include "common/order.h"
#include "hpcprof-lite/report/views.h"
#include "hpcprof-lite/report/call_path.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/text_table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { CELL = 16, FIGURE = 32, PLACE_MAX = 4200, SENTENCE_CONTEXT = 48, SENTENCE_MAX = 8192, PLENTY = 10 };

/* ---- the table ---- */

static const char job_kind[] = "job"; /* kind of the row of a job */

static void fill(const void *context, const void *which, struct cell *cell)
{
  const struct report *report = context;
  const struct workspan_row *row = which;
  const struct profile_workspan *workspan = &report->profile->workspan;
  bool time = workspan->is_time, job = row->kind == job_kind;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/parallelism.def"
#undef COLUMN
}

/* Writes "for @ solve.c:42 (solve)", without the parts that are not known.  Returns `out`. */
static const char *place_text(const struct workspan_row *row, char out[CONSTRUCT_TEXT_MAX])
{
  if (!row->directive)
    return row->kind;
  construct_text_place(row->kind, row->name, row->file, row->line, out);
  return out;
}

static void fill_place(const void *room, const void *which, struct cell *cell)
{
  char *context = (char *)room;
  const struct workspan_row *row = which;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/parallelism_place.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/constructs/parallelism.def"
};
static const struct table_column columns_place[] = {
#include "hpcprof-lite/report/constructs/parallelism_place.def"
};
#undef COLUMN
static const struct schema parallelism_schema = SCHEMA(columns, fill);
static const struct schema place_schema = SCHEMA(columns_place, fill_place);

/* The job, of several ranks that call MPI.  Its span is only known from a log of messages. */
static struct workspan_row job_row(const struct report *report)
{
  bool known = report->profile->span_of_job;
  return (struct workspan_row){
      .kind = job_kind,
      .name = report->totals->command,
      .file = "",
      .instances = report->efficiency.job.ranks,
      .executions = 1,
      .work = report->spans.workspan.work,
      .device_time = report->spans.workspan.count ? report->spans.workspan.rows[0].device_time : 0,
      .span = known ? report->spans.workspan.span : 0,
      .note = known ? "instances: ranks"
                    : "instances: ranks; the span of a job is not known without a graph log of "
                      "each rank, on hosts whose clocks are related"};
}

static int each_row(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  const struct workspan *workspan = &report->spans.workspan;
  struct workspan_row job = job_row(report);
  int status = workspan->count && report->efficiency.job.known ? take(to, &job) : 0;
  for (uint32_t i = 0; i < workspan->count && !status; i++)
    status = take(to, &workspan->rows[i]);
  return status;
}

void parallelism_table(const struct report *report, struct table *table)
{
  char *place = table_memory(table, CONSTRUCT_TEXT_MAX);
  table->each = each_row;
  table->source = report;
  table->hidden = report->spans.workspan.executions_known ? NULL : "executions";
  table_add(table, &parallelism_schema, report);
  table_add(table, &place_schema, place);
}

/* ---- text ---- */

/* "in the construct 'for' at solve.c:42 (solve)", without the parts that are not known. */
static void top_text(const struct workspan_row *row, char out[PLACE_MAX])
{
  assert(row->kind && row->file);
  char place[PLACE_MAX / 2] = "";
  bool region = !strcmp(row->kind, profile_directive_name(DIRECTIVE_USER_REGION));
  if (*row->file && row->line)
    snprintf(place, sizeof place, " at %.1000s:%" PRIu32, names_base(row->file), row->line);
  if (!row->directive)
    snprintf(out, PLACE_MAX, "outside all regions");
  else if (region)
    snprintf(out, PLACE_MAX, "in the user region '%.2000s'", row->name);
  else if (*row->name)
    snprintf(out, PLACE_MAX, "in the construct '%s'%s (%.2000s)", row->kind, place, row->name);
  else
    snprintf(out, PLACE_MAX, "in the construct '%s'%s", row->kind, place);
}

/* The longest time for which one lock is held, over all its constructs: no number of cores makes the run shorter. */
static uint64_t lock_bound(const struct workspan *workspan, uint32_t left_out)
{
  uint64_t bound = 0;
  for (uint32_t i = 0; i < workspan->count + left_out; i++)
    bound = MAX(workspan->rows[i].lock_bound, bound);
  return bound;
}

/* Returns the part of the work, in ns, that samples show in the OpenMP runtime (and in this tool's callbacks), since a
 * fragment of work ends with a callback; 0 if that is no more than sampling explains: two standard errors of the n =
 * work / period samples, 2 sqrt(work period). */
static uint64_t runtime_ns(const struct report *report)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  uint64_t sampled = report->totals->work_ns, period = report_period_ns(report);
  if (!workspan->is_time || !period || workspan->work <= sampled)
    return 0;
  double gap = (double)(workspan->work - sampled), work = (double)workspan->work;
  uint64_t beside = model_sum(report->totals->overhead_ns, report->totals->tool_ns);
  bool differs = gap > work / 50 && gap * gap > 4 * work * (double)period;
  return differs ? MIN(beside, workspan->work - sampled) : 0;
}

/* Where the messages of a job are not known, each rank has a chain of its own. */
static void write_ranks_sentence(const struct report *report, char out[SENTENCE_MAX])
{
  const struct profile *profile = report->profile;
  const struct profile_workspan *longest = &profile->processes[profile->span_process].workspan;
  snprintf(
      out, SENTENCE_MAX,
      "The rank with the longest span could be %.1f times as fast on unlimited cores as on one.  How the ranks wait "
      "for each other is only known with 'hpcrun-lite -p log'.",
      workspan_parallelism(longest->work, longest->span));
}

/* Writes a sentence about how parallel the run or the scenario is, and what its critical path consists of; "" if that
 * is not known. */
static void write_sentence(const struct report *report, const struct terminal *terminal, char out[SENTENCE_MAX])
{
  const struct workspan *workspan = &report->spans.workspan;
  char context[CALL_PATH_TEXT_MAX] = "", place[PLACE_MAX], speedup[512];
  *out = 0;
  const struct workspan_row *top = &workspan->top;
  if (!workspan->span || !top->critical)
    return;
  if (report->efficiency.job.known && !report->profile->span_of_job) {
    write_ranks_sentence(report, out);
    return;
  }
  double critical = 100 * (double)top->critical / (double)workspan->span;
  top_text(top, place);
  if (workspan->top_context)
    call_path_text(terminal, report->tree, workspan->top_context, SENTENCE_CONTEXT, context);
  uint64_t bound = lock_bound(workspan, report->limits.left_out);
  bool locked = bound > workspan->span;
  double times = workspan_parallelism(workspan->work, locked ? bound : workspan->span);
  uint64_t runtime = runtime_ns(report), device_time = workspan->rows[0].device_time;
  char limit[192] = "", seconds[CELL], faster[64];
  terminal_seconds(runtime, terminal_decimals(workspan->work), seconds);
  if (runtime)
    snprintf(limit, sizeof limit, ", counting %s s in the OpenMP runtime and this tool as work", seconds);
  if (device_time)
    strcat(limit, " without its waits for devices");
  if (locked)
    strcat(limit, " (one lock limits it)");
  snprintf(faster, sizeof faster, "could%s be %.1f times as fast",
           report->spans.scenario && report->spans.best_case ? " at best" : "", times);
  bool gain = times >= 1.05;
  const char *than = gain ? "as" : "than";
  if (!gain)
    strcpy(faster, "could not be faster");
  if (report->spans.scenario)
    snprintf(speedup, sizeof speedup,
             "In the scenario %.200s, the program %s on unlimited cores %s this run on one core%s; %.0f %% of its "
             "critical path is",
             report->spans.scenario, faster, than, limit, critical);
  else
    snprintf(
        speedup, sizeof speedup,
        "On unlimited cores,%s with the same tasks and chunks, this run %s %s on one core%s; %.0f %% of the critical "
        "path is",
        report->profile->span_of_job ? " if messages took no time," : "", faster, than, limit, critical);
  if (!report->spans.scenario && report->totals->threads_max && times >= PLENTY * report->totals->threads_max) {
    *strrchr(speedup, ';') = 0;
    snprintf(out, SENTENCE_MAX, "%s. The critical path hardly limits a run with %" PRIu32 " thread%s.", speedup,
             report->totals->threads_max, terminal_plural(report->totals->threads_max));
    return;
  }
  snprintf(out, SENTENCE_MAX, "%s %.3000s%s%.4000s.", speedup, place, *context ? ", the largest part in " : "",
           context);
}

/* A figure with three significant digits; a large one has no exponent. */
static void three_digits(double figure, char out[FIGURE])
{
  assert(figure >= 0);
  double scale = 1;
  while (figure / scale >= 999.5)
    scale *= 10;
  if (scale > 1)
    snprintf(out, FIGURE, "%.0f", (double)model_rounded(figure / scale) * scale);
  else
    snprintf(out, FIGURE, "%.3g", figure);
}

/* Prints what a row has beside its figures. */
static void print_remarks(const struct report *report, const struct terminal *terminal, const struct workspan_row *row)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  char amount[CELL], figure[FIGURE], unit[TERMINAL_TEXT_MAX];
  const char *indent = "                    ";
  if (row->iteration_parallelism > 0) {
    three_digits(row->iteration_parallelism, figure);
    const char *words = row->chunk_most == 1 ? "%s%s iterations, each of them a chunk already\n"
                                             : "%sabout %s if every iteration were a chunk (estimate)\n";
    fprintf(report->stream, words, indent, figure);
  }
  terminal_fit(terminal, workspan->is_time ? "s" : workspan->unit, 20, unit);
  if (row->device_time) {
    terminal_amount(row->device_time, workspan->is_time, terminal_decimals(report->spans.workspan.work), amount);
    terminal_wrapf(terminal, report->stream, indent, indent, "waits for devices for %s %.80s, which is no work",
                   amount + strspn(amount, " "), unit);
  }
  if (row->lock_bound) {
    terminal_amount(row->lock_bound, workspan->is_time, terminal_decimals(report->spans.workspan.work), amount);
    terminal_wrapf(terminal, report->stream, indent, indent,
                   "every run takes %s %s %.80s, as only one thread at a time can hold the lock",
                   row->light ? "about" : "at least", amount + strspn(amount, " "), unit);
  }
}

/* Prints each note of the rows once. */
static void print_notes(const struct report *report, const struct terminal *terminal)
{
  const struct workspan *workspan = &report->spans.workspan;
  for (uint32_t i = 0; i < workspan->count; i++) {
    const struct workspan_row *row = &workspan->rows[i];
    bool known = !*row->note;
    for (uint32_t j = 0; j < i && !known; j++)
      known = !strcmp(workspan->rows[j].note, row->note);
    if (!known)
      terminal_wrapf(terminal, report->stream, "", "", "%.30s: %.900s", row->kind, row->note);
  }
}

static bool has_kind(const struct workspan *workspan, const char *kind)
{
  for (uint32_t i = 0; i < workspan->count; i++)
    if (!strcmp(workspan->rows[i].kind, kind))
      return true;
  return false;
}

/* Prints what limits the figures of some kinds of constructs: the runtime does not report schedules and clauses. */
static void print_limits(const struct report *report)
{
  const struct workspan *workspan = &report->spans.workspan;
  if (has_kind(workspan, "for") && !(report->profile->workspan.unseen & UNSEEN_INLINED))
    fprintf(report->stream, "for: with a static schedule, all iterations of one thread count as one chunk.\n");
  if (has_kind(workspan, "for") || has_kind(workspan, "sections"))
    fprintf(report->stream, "After nowait, a loop or sections construct begins when the thread that runs it\n"
                            "arrives, so that figures can differ from run to run.\n");
}

static const char job_legend[] = "job: all ranks together.  Its span is the longest chain of work that goes on\n"
                                 "from rank to rank through messages; it needs a graph log of each rank.\n";

static const char device_legend[] = "The span contains waits for devices (column device_time), which are no work.\n";

static void print_legend(const struct text_table *text)
{
  const struct report *report = text->report;
  char unit[TERMINAL_TEXT_MAX], line[128], full[1024];
  terminal_fit(&text->terminal, report->profile->workspan.is_time ? "seconds" : report->profile->workspan.unit, 20,
               unit);
  snprintf(line, sizeof line, "Work and span in %.20s; Parallel = work / span; see --legend\n", unit);
  snprintf(full, sizeof full,
           "Work: all that the construct and its contents do, in %.20s; Span: their\n"
           "longest chain of dependent work; Parallel: work / span, the speedup on\n"
           "unlimited cores.\n"
           "Crit%%: share of the program's span that the construct itself contributes.\n"
           "%s%s%s",
           unit, report->efficiency.job.known ? job_legend : "",
           report->spans.workspan.rows[0].device_time ? device_legend : "",
           text_table_shows(text, "executions") ? "Count: all executions.\n" : "");
  legend_print(report, line, full);
}

static void print_all(struct text_table *text)
{
  const struct report *report = text->report;
  const struct workspan *workspan = &report->spans.workspan;
  char sentence[SENTENCE_MAX];
  text->plain = true;
  text->decimals = terminal_decimals(workspan->work);
  write_sentence(report, &text->terminal, sentence);
  terminal_wrap(&text->terminal, report->stream, "", "", *sentence ? sentence : "No work was recorded.");
  putc('\n', report->stream);
  text_table_heading(text);
  struct workspan_row job = job_row(report);
  if (report->efficiency.job.known)
    text_table_row(text, &job);
  for (uint32_t i = 0; i < workspan->count; i++)
    text_table_expect(text, &workspan->rows[i], 0, "", "");
  for (uint32_t i = 0; i < workspan->count; i++) {
    text_table_row(text, &workspan->rows[i]);
    if (!report->chosen_count)
      print_remarks(report, &text->terminal, &workspan->rows[i]);
  }
  print_legend(text);
  print_limits(report);
  print_notes(report, &text->terminal);
  legend_omitted(report);
}

void parallelism_text(const struct report *report)
{
  struct text_table text;
  if (!report->profile->workspan.known) {
    notes_missing(report, "Work and span", "online");
    return;
  }
  text_table_init(&text, report, parallelism_table);
  print_all(&text);
  text_table_release(&text);
}
