#include "hpcprof-lite/report/constructs/tasks_view.h"

#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/constructs/count_columns.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"

#include <inttypes.h>

enum { FIGURES_WIDTH = 54 };

static void ns_cell(struct row_writer *writer, bool known, double ns)
{
  if (known)
    row_writer_ns(writer, model_rounded(ns));
  else
    row_writer_empty(writer);
}

static void part_cell(struct row_writer *writer, bool known, double part)
{
  if (known)
    row_writer_real(writer, 100 * part, 4);
  else
    row_writer_empty(writer);
}

static void row_cells(struct row_writer *writer, const struct task_row *row)
{
  bool ended = row->ended > 0;
  construct_text_cells(writer, row->kind, row->name, row->file, row->line);
  construct_text_number(writer, row->context);
  row_writer_uint(writer, row->created);
  row_writer_optional(writer, !row->cut, row->undeferred);
  row_writer_optional(writer, !row->cut, row->untied);
  row_writer_optional(writer, !row->cut, row->dependent);
  row_writer_ns(writer, row->exec_ns);
  ns_cell(writer, ended, ended ? (double)row->exec_ns / (double)row->ended : 0);
  ns_cell(writer, ended, (double)row->shortest_ns);
  ns_cell(writer, ended, (double)row->longest_ns);
  ns_cell(writer, ended, (double)row->median_ns);
  ns_cell(writer, ended, (double)row->p90_ns);
  ns_cell(writer, row->creation_known, (double)row->create_ns);
  ns_cell(writer, row->waits_known, row->wait_mean_ns);
  part_cell(writer, row->started > 0 && !row->cut, row->started ? (double)row->elsewhere / (double)row->started : 0);
  row_writer_optional(writer, !row->cut, row->suspended);
  part_cell(writer, ended, row->below_1us);
  part_cell(writer, ended, row->below_10us);
}

int tasks_view_table(const struct report *report, bool json)
{
  struct row_writer writer;
  struct count_columns columns;
  count_columns_init(&columns, report->profile, COUNT_COLUMNS_SUM, task_figures_columns, TASK_FIGURES_COLUMNS);
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns.all, columns.count);
  for (uint32_t i = 0; i < report->tasks.count; i++) {
    row_cells(&writer, &report->tasks.rows[i]);
    count_columns_sums(&columns, &writer, report->tasks.rows[i].counted, &report->tasks.rows[i].present,
                       report->tasks.rows[i].exec_ns, report->tasks.rows[i].unread_ns);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

/* Prints what is known of the creation of tasks and their wait. */
static void print_creation(const struct report *report, const struct terminal *terminal, const struct task_row *row)
{
  char text[256] = "", time[CONSTRUCT_FIGURE];
  int length = 0;
  if (row->creation_known && row->created) {
    terminal_short_time(row->create_ns / row->created, time);
    length = snprintf(text, sizeof text, "; creation: %s each", time);
  }
  if (row->waits_known) {
    terminal_short_time(model_rounded(row->wait_mean_ns), time);
    length += snprintf(text + length, sizeof text - (size_t)length, "; wait for a thread: %s each", time);
  }
  if (row->undeferred)
    snprintf(text + length, sizeof text - (size_t)length, "; undeferred: %" PRIu64, row->undeferred);
  if (*text)
    terminal_wrap(terminal, report->stream, "        ", "        ", text + 2);
}

/* Prints that most tasks run for less time than it takes to create or to find them, if they do. */
static void print_short(const struct report *report, const struct terminal *terminal, const struct task_row *row)
{
  char text[256], time[CONSTRUCT_FIGURE];
  bool costly = row->cost_ns > 0 && row->below_cost >= 0.5;
  if (!row->ended || (!costly && row->below_1us < 0.5))
    return;
  terminal_short_time(costly ? model_rounded(row->cost_ns) : 1000, time);
  snprintf(text, sizeof text, "%.0f %% are shorter than %s%s: make tasks larger",
           100 * (costly ? row->below_cost : row->below_1us), time,
           !costly                 ? ""
           : row->cost_of_creation ? ", which creating one takes"
                                   : ", the time from the end of a task to the start of the next");
  terminal_wrap(terminal, report->stream, "        ", "        ", text);
}

static void print_row(const struct report *report, const struct terminal *terminal, unsigned decimals,
                      const struct task_row *row)
{
  char text[CONSTRUCT_FIGURE], name[TERMINAL_TEXT_MAX];
  struct construct_place place = {profile_directive_name(row->kind), row->name, row->file, row->line};
  const uint64_t times[] = {row->ended ? row->exec_ns / row->ended : 0, row->median_ns, row->p90_ns, row->longest_ns};
  construct_text_seconds(row->exec_ns, decimals, text);
  fprintf(report->stream, "%7s", text);
  terminal_whole_count(row->created, text);
  fprintf(report->stream, "%7s", text);
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    terminal_short_time(times[i], text);
    fprintf(report->stream, "%8s", row->ended ? text : "-");
  }
  terminal_percent(row->elsewhere, row->cut ? 0 : row->started, text);
  construct_text_name(terminal, &place, terminal_room(terminal, FIGURES_WIDTH), name);
  fprintf(report->stream, "%6s  %s\n", text, name);
  print_creation(report, terminal, row);
  if (!report->profile->range.traced)
    count_columns_text(&report->profile->constructs.counters, row->counted, &row->present, row->unread_ns > 0, terminal,
                       report->stream);
  print_short(report, terminal, row);
}

void tasks_view_text(const struct report *report)
{
  const struct task_figures *tasks = &report->tasks;
  struct terminal terminal;
  if (!report->constructs->count) {
    construct_text_missing(report);
    return;
  }
  if (!tasks->count) {
    fprintf(report->stream, report->filtered && *report->filtered
                                ? "No explicit tasks were recorded; the filter may have left them out.\n"
                                : "The program created no explicit tasks.\n");
    return;
  }
  terminal_init(&terminal, report->stream);
  uint64_t largest = 0;
  for (uint32_t i = 0; i < tasks->count; i++)
    largest = tasks->rows[i].exec_ns > largest ? tasks->rows[i].exec_ns : largest;
  fprintf(report->stream, "%s%7s%7s%8s%8s%8s%8s%6s  %s%s\n", terminal_bold(&terminal), "Exec s", "Tasks", "Mean",
          "Median", "90 %", "Longest", "Else%", "Construct", terminal_plain(&terminal));
  for (uint32_t i = 0; i < tasks->count; i++)
    print_row(report, &terminal, construct_text_decimals(largest), &tasks->rows[i]);
  legend_print(report, "Exec: running time of all; Else%: begun by another thread; see --legend\n",
               "Exec: elapsed time of all tasks while they ran, without suspensions and without\n"
               "the tasks that ran inside them; Mean, Median, Longest: of one task; 90 %: nine\n"
               "tenths of the tasks are no longer.  Median and 90 %: error at most 9 %.\n"
               "Else%: tasks that another thread than their creator began.\n"
               "Creation: time of its creator, with -p log; wait for a thread: from then on,\n"
               "until it starts.\n");
  legend_omitted(report);
}
