#include "hpcprof-lite/report/grains_view.h"

#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/constructs/count_columns.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CELL = 16, PATH_MAX_BYTES = 4200, FIGURES_WIDTH = 47 };

/* ---- cells ---- */

static void construct_cells(struct row_writer *writer, const struct workspan_row *row)
{
  row_writer_text(writer, row->kind);
  row_writer_text(writer, row->name);
  row_writer_text(writer, row->file);
  if (row->line)
    row_writer_uint(writer, row->line);
  else
    row_writer_empty(writer);
}

static void amount_cell(const struct report *report, struct row_writer *writer, uint64_t amount)
{
  if (amount == GRAIN_UNKNOWN)
    row_writer_empty(writer);
  else
    row_writer_work(writer, amount, report->profile->workspan.is_time);
}

static void uint_cell(struct row_writer *writer, uint64_t value, bool known)
{
  if (known)
    row_writer_uint(writer, value);
  else
    row_writer_empty(writer);
}

static void metric_cell(struct row_writer *writer, double value)
{
  if (isnan(value))
    row_writer_empty(writer);
  else if (value == floor(value) && value < 0x1p53)
    row_writer_uint(writer, (uint64_t)value);
  else if (value < 1e12)
    row_writer_decimal(writer, (uint64_t)(value * 1e4 + 0.5), 4);
  else
    row_writer_real(writer, value, 4);
}

/* ---- single grains ---- */

static const char *const grain_columns[] = {"id",
                                            "path",
                                            "kind",
                                            "parent_id",
                                            "child_number",
                                            "sync_number",
                                            "construct",
                                            "name",
                                            "file",
                                            "line",
                                            "context_id",
                                            "thread",
                                            "cpu",
                                            "node",
                                            "exec_s",
                                            "create_s",
                                            "chunk_overhead_s",
                                            "sync_overhead_s",
                                            "create_instant_s",
                                            "first",
                                            "last",
                                            "parallel_benefit",
                                            "instantaneous_parallelism",
                                            "scatter",
                                            "memory_utilisation",
                                            "work_deviation",
                                            "load_balance",
                                            "critical",
                                            "slack_s",
                                            "problems",
                                            "sync_parent_id",
                                            "sync_instant_s",
                                            "chunks"};

struct printer {
  const struct report *report;
  struct row_writer writer;
  struct count_columns columns;
};

static int print_grain(void *context, const struct grain_row *row)
{
  struct printer *printer = context;
  struct row_writer *writer = &printer->writer;
  const struct grain *grain = row->grain;
  char path[PATH_MAX_BYTES], problems[GRAIN_PROBLEM_NAMES];
  if (*row->prefix)
    snprintf(path, sizeof path, "%s%s", row->prefix, grain->path);
  row_writer_uint(writer, row->first_id + grain->id);
  row_writer_text(writer, *row->prefix ? path : grain->path);
  row_writer_text(writer, grain_kind_names[grain->kind]);
  uint_cell(writer, row->first_id + grain->parent, grain->parent);
  uint_cell(writer, grain->child_number, grain->parent);
  uint_cell(writer, grain->sync_number, grain->sync_number);
  construct_cells(writer, &printer->report->workspan.rows[row->directive]);
  uint_cell(writer, row->context, row->context != UINT32_MAX);
  row_writer_uint(writer, grain->thread);
  uint_cell(writer, grain->cpu, grain->cpu != GRAIN_NO_CPU);
  uint_cell(writer, grain->node, grain->node != GRAIN_NO_CPU);
  amount_cell(printer->report, writer, row->exec);
  amount_cell(printer->report, writer, row->create);
  amount_cell(printer->report, writer, row->chunk_overhead);
  amount_cell(printer->report, writer, row->sync_overhead);
  amount_cell(printer->report, writer, row->create_instant);
  if (grain->first == GRAIN_UNKNOWN)
    row_writer_empty(writer);
  else
    row_writer_int(writer, (int64_t)grain->first);
  if (grain->last == GRAIN_UNKNOWN)
    row_writer_empty(writer);
  else
    row_writer_int(writer, (int64_t)grain->last);
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    metric_cell(writer, row->metric[i]);
  row_writer_uint(writer, grain->critical);
  amount_cell(printer->report, writer, row->slack);
  grain_problem_names(row->problems, problems);
  row_writer_text(writer, problems);
  uint_cell(writer, row->first_id + grain->sync_grain, grain->sync_number);
  amount_cell(printer->report, writer, row->sync_instant);
  uint_cell(writer, grain->siblings.chunks, grain->siblings.chunks);
  count_columns_grain(&printer->columns, writer, row->counts);
  return ferror(writer->stream) ? -1 : 0;
}

static int print_grains(const struct report *report, bool json)
{
  struct printer printer = {.report = report};
  count_columns_init(&printer.columns, report->profile, COUNT_COLUMNS_GRAIN, grain_columns,
                     sizeof grain_columns / sizeof *grain_columns);
  row_writer_begin(&printer.writer, report->stream, json, printer.columns.all, printer.columns.count);
  int status = report->grains.each ? report->grains.each(report->grains.context, print_grain, &printer) : 0;
  row_writer_end(&printer.writer);
  return status;
}

/* ---- groups ---- */

static const char *const group_columns[] = {"kind",
                                            "construct",
                                            "name",
                                            "file",
                                            "line",
                                            "creator",
                                            "creator_name",
                                            "creator_file",
                                            "creator_line",
                                            "context_id",
                                            "grains",
                                            "exec_s",
                                            "exec_least_s",
                                            "exec_q25_s",
                                            "exec_median_s",
                                            "exec_q75_s",
                                            "exec_longest_s",
                                            "problem_grains",
                                            "problem_exec_s",
                                            "critical_grains",
                                            "critical_exec_s",
                                            "parallel_benefit",
                                            "instantaneous_parallelism",
                                            "scatter",
                                            "memory_utilisation",
                                            "work_deviation",
                                            "load_balance"};

static void print_group_row(const struct report *report, struct row_writer *writer, const struct count_columns *columns,
                            const struct grain_group *group)
{
  bool is_time = report->profile->workspan.is_time;
  row_writer_text(writer, grain_kind_names[group->kind]);
  construct_cells(writer, &report->workspan.rows[group->directive]);
  construct_cells(writer, &report->workspan.rows[group->creator]);
  uint_cell(writer, group->context, group->context != UINT32_MAX);
  row_writer_uint(writer, group->count);
  row_writer_work(writer, group->exec, is_time);
  row_writer_work(writer, group->least, is_time);
  for (unsigned i = 0; i < GRAIN_GROUPS_QUANTILES; i++)
    row_writer_work(writer, group->quantiles[i], is_time);
  row_writer_work(writer, group->longest, is_time);
  row_writer_uint(writer, group->problem_count);
  row_writer_work(writer, group->problem_exec, is_time);
  row_writer_uint(writer, group->critical_count);
  row_writer_work(writer, group->critical_exec, is_time);
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    row_writer_uint(writer, group->problems[i]);
  count_columns_group(columns, writer, group);
}

/* The parallelism over the span, as one more array of the JSON. */
static void print_curve_array(const struct report *report)
{
  static const char *const columns[] = {"part", "most", "least"};
  struct row_writer writer;
  row_writer_begin_array(&writer, report->stream, "curve", columns, sizeof columns / sizeof *columns);
  for (unsigned i = 0; i < GRAIN_CURVE_SLOTS; i++) {
    row_writer_uint(&writer, i);
    row_writer_uint(&writer, report->grain_curve->touching[i]);
    row_writer_uint(&writer, report->grain_curve->covering[i]);
  }
  row_writer_end(&writer);
}

int grains_view_table(const struct report *report, bool json)
{
  int status = 0;
  document_open(report, json);
  if (report->grain_groups) {
    struct row_writer writer;
    struct count_columns columns;
    count_columns_init(&columns, report->profile, COUNT_COLUMNS_EACH, group_columns,
                       sizeof group_columns / sizeof *group_columns);
    row_writer_begin(&writer, report->stream, json, columns.all, columns.count);
    for (uint32_t i = 0; i < report->grain_groups->count; i++)
      print_group_row(report, &writer, &columns, &report->grain_groups->groups[i]);
    row_writer_end(&writer);
    if (json && report->grain_curve)
      print_curve_array(report);
  } else {
    status = print_grains(report, json);
  }
  document_close(report, json);
  return status;
}

/* ---- text ---- */

/* An amount of work: a time with its unit, or a count. */
static void amount_text(const struct report *report, uint64_t amount, char out[CELL])
{
  if (report->profile->workspan.is_time)
    terminal_short_time(amount, out);
  else
    terminal_count(amount, out);
}

/* Prints "chunk of for @ solve.c:42 (solve)", cut to the remaining width, and a newline. */
static void print_construct(const struct report *report, const struct terminal *terminal, const char *before,
                            uint32_t directive)
{
  const struct workspan_row *row = &report->workspan.rows[directive];
  char kind[128], name[TERMINAL_TEXT_MAX];
  snprintf(kind, sizeof kind, "%s%.100s", before, row->directive ? row->kind : "the program");
  struct construct_place place = {kind, row->directive ? row->name : "", row->file, row->line};
  construct_text_name(terminal, &place, terminal_room(terminal, FIGURES_WIDTH), name);
  fprintf(report->stream, "%s\n", name);
}

static void print_group(const struct report *report, const struct terminal *terminal, const struct grain_group *group)
{
  static const char *const before[GRAIN_KINDS] = {[GRAIN_CHUNK] = "chunk of ", [GRAIN_IMPLICIT] = "threads of "};
  char count[CELL], exec[CELL], percent[CELL], median[CELL], longest[CELL];
  terminal_count(group->count, count);
  amount_text(report, group->exec, exec);
  amount_text(report, group->quantiles[1], median);
  amount_text(report, group->longest, longest);
  terminal_percent(group->problem_exec, report->profile->workspan.work, percent);
  fprintf(report->stream, "%8s %8s %6s %9s %9s  ", count, exec, percent, median, longest);
  if (group->kind == GRAIN_INITIAL)
    fputs("serial code\n", report->stream);
  else
    print_construct(report, terminal, before[group->kind] ? before[group->kind] : "", group->directive);
  if (group->kind == GRAIN_TASK || (group->kind == GRAIN_CHUNK && group->creator != group->directive)) {
    fprintf(report->stream, "%*s", FIGURES_WIDTH, "");
    print_construct(report, terminal, "in ", group->creator);
  }
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    if (group->problems[i])
      fprintf(report->stream, "%*" PRIu64 " grain%s: %s\n", FIGURES_WIDTH - 1, group->problems[i],
              group->problems[i] == 1 ? "" : "s", grain_metric_names[i]);
  count_columns_group_text(&report->profile->constructs.counters, group, terminal, report->stream);
}

/* One digit or letter for each slot: 0 for none, otherwise 1 + the binary logarithm. */
static void print_curve(const struct report *report, const char *name, const uint64_t slots[GRAIN_CURVE_SLOTS])
{
  char line[GRAIN_CURVE_SLOTS + 1];
  for (unsigned i = 0; i < GRAIN_CURVE_SLOTS; i++) {
    unsigned digits = slots[i] ? 64 - (unsigned)__builtin_clzll(slots[i]) : 0;
    line[i] = (char)(digits < 10 ? '0' + digits : 'a' + digits - 10);
  }
  line[GRAIN_CURVE_SLOTS] = '\0';
  fprintf(report->stream, "%-6s %s\n", name, line);
}

static void print_curves(const struct report *report, const struct terminal *terminal)
{
  char text[256];
  snprintf(text, sizeof text,
           "How many grains could run at once on unlimited cores, from the begin to the end of the longest chain, "
           "in %d equal parts.  0=none, 1=one, 2=2-3, 3=4-7, 4=8-15 ... 9=256-511, a=512-1023, b=1024-2047 ...",
           GRAIN_CURVE_SLOTS);
  fputs("\n", report->stream);
  terminal_wrap(terminal, report->stream, "", "", text);
  print_curve(report, "most", report->grain_curve->touching);
  print_curve(report, "least", report->grain_curve->covering);
}

static void print_legend(const struct report *report, const struct terminal *terminal)
{
  const struct profile_workspan *workspan = &report->profile->workspan;
  char unit[TERMINAL_TEXT_MAX], line[256], full[2048];
  terminal_fit(terminal, workspan->is_time ? "CPU time" : workspan->unit, 20, unit);
  snprintf(line, sizeof line, "Exec: %.20s of all; Prob%%: of all work, in grains with problems; see --legend\n", unit);
  snprintf(full, sizeof full,
           "Exec: %.20s that the grains have taken, without what they waited;\n"
           "Median, Longest: of one grain.\n"
           "Prob%%: share of all work of the run that is in the row's grains with problems.\n"
           "Threads of a region: what they run outside tasks and chunks.\n"
           "Problems, and how many grains have them:\n"
           "  parallel_benefit: shorter than its creation and its share of the wait that\n"
           "    joins it\n"
           "  instantaneous_parallelism: at some time while it runs, fewer grains could run\n"
           "    than the run has threads\n"
           "  scatter: its siblings ran on distant NUMA nodes\n"
           "  memory_utilisation: its cycles were stalled more often than not\n"
           "  work_deviation: longer than in the reference run\n"
           "  load_balance: it or one of its siblings, or of its loop's threads, is longer\n"
           "    than their mean by a third; all of them count\n"
           "--grain-limit sets what is a problem; -f csv shows single grains.\n",
           unit);
  legend_print(report, line, full);
}

static void print_summary(const struct report *report, const struct terminal *terminal)
{
  const struct grain_groups *groups = report->grain_groups;
  uint64_t count[GRAIN_KINDS] = {0}, work = 0, problems = 0;
  char text[512], percent[CELL];
  for (uint32_t i = 0; i < groups->count; i++) {
    count[groups->groups[i].kind] += groups->groups[i].count;
    work += groups->groups[i].exec;
    problems += groups->groups[i].problem_exec;
  }
  terminal_percent(problems, work, percent);
  snprintf(text, sizeof text,
           "%" PRIu64 " tasks, %" PRIu64 " chunks, %" PRIu64 " implicit and %" PRIu64
           " initial tasks; grains with problems hold %s %% of the work.",
           count[GRAIN_TASK], count[GRAIN_CHUNK], count[GRAIN_IMPLICIT], count[GRAIN_INITIAL],
           percent + strspn(percent, " "));
  terminal_wrap(terminal, report->stream, "", "", text);
}

void grains_view_text(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  if (!report->grain_groups) {
    parallelism_missing(report, "Grains", "log");
    return;
  }
  print_summary(report, &terminal);
  fprintf(report->stream, "\n%s%8s %8s %6s %9s %9s  %s%s\n", terminal_bold(&terminal), "Grains", "Exec", "Prob%",
          "Median", "Longest", "Construct", terminal_plain(&terminal));
  for (uint32_t i = 0; i < report->grain_groups->count; i++)
    print_group(report, &terminal, &report->grain_groups->groups[i]);
  if (report->grain_curve)
    print_curves(report, &terminal);
  print_legend(report, &terminal);
  parallelism_chunks_note(report);
  parallelism_log_warning(report);
}
