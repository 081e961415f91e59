/* The view tasks.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "common/words.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/constructs/count_columns.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/text_table.h"

#include <assert.h>
#include <inttypes.h>

/* ---- the table ---- */

static struct construct_place place_of(const struct task_row *row)
{
  return (struct construct_place){profile_directive_name(row->kind), row->name, row->file, row->line};
}

/* The running time of one task. */
static uint64_t mean_ns(const struct task_row *row)
{
  return row->ended ? model_rounded((double)row->exec_ns / (double)row->ended) : 0;
}

/* A row is a struct task_row. */
static void fill(const void *context, const void *of, struct cell *cell)
{
  const struct task_row *row = of;
  const struct construct_place place = place_of(row);
  bool whole = !row->cut, ended = row->ended > 0;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/tasks.def"
#undef COLUMN
}

static void fill_construct(const void *context, const void *of, struct cell *cell)
{
  const struct construct_filling *filling = context;
  const struct construct_place place = place_of(of);
  *cell = construct_text_cell(filling, &place);
}

static const struct table_column columns[] = {
#define COLUMN COLUMN_ENTRY
#include "hpcprof-lite/report/constructs/tasks.def"
#undef COLUMN
};
static const struct schema tasks_schema = SCHEMA(columns, fill);

REPORT_EACH(each_row, report->tasks.rows, report->tasks.count)

void tasks_table(const struct report *report, struct table *table)
{
  table->each = each_row;
  table->source = report;
  construct_text_add(report, table, &tasks_schema, "Construct", fill_construct);
  count_columns_add(table, report->profile, COUNTED_TASKS);
}

/* ---- text ---- */

/* Prints what is known of the creation of tasks and their wait. */
static void print_creation(const struct text_table *table, const struct task_row *row)
{
  assert(row->kind < CONSTRUCT_KINDS);
  char text[256] = "", time[CONSTRUCT_FIGURE];
  if (row->creation_known && row->created) {
    terminal_short_time(row->create_ns / row->created, time);
    words_append(text, sizeof text, "creation: %s each", time);
  }
  if (row->waits_known) {
    terminal_short_time(model_rounded(row->wait_mean_ns), time);
    words_append(text, sizeof text, "wait for a thread: %s%s each", row->untimed ? "about " : "", time);
  }
  if (row->undeferred)
    words_append(text, sizeof text, "undeferred: %" PRIu64, row->undeferred);
  if (*text)
    terminal_wrap(&table->terminal, table->report->stream, "        ", "        ", text);
}

/* Prints that most tasks run for less time than it takes to create or to find them, if they do. */
static void print_short(const struct text_table *table, const struct task_row *row)
{
  char time[CONSTRUCT_FIGURE];
  const char *which = "";
  bool costly = row->cost_ns > 0 && row->below_cost >= 0.5;
  if (!row->ended || (!costly && row->below_1us < 0.5))
    return;
  uint64_t limit_ns = 1000;
  double below = row->below_1us;
  if (costly) {
    limit_ns = model_rounded(row->cost_ns);
    below = row->below_cost;
    which = ", the time from the end of a task to the start of the next";
  }
  if (costly && row->cost_of_creation)
    which = ", which creating one takes";
  terminal_short_time(limit_ns, time);
  terminal_wrapf(&table->terminal, table->report->stream, "        ", "        ",
                 "%.0f %% are shorter than %s%s: make tasks larger", 100 * below, time, which);
}

static void print_rows(struct text_table *table)
{
  const struct report *report = table->report;
  const struct task_figures *tasks = &report->tasks;
  uint64_t largest = 0;
  for (uint32_t i = 0; i < tasks->count; i++)
    largest = MAX(tasks->rows[i].exec_ns, largest);
  table->plain = true;
  table->decimals = construct_text_decimals(largest);
  text_table_heading(table);
  for (uint32_t i = 0; i < tasks->count; i++) {
    const struct task_row *row = &tasks->rows[i];
    text_table_row(table, row);
    if (report->chosen_count)
      continue;
    print_creation(table, row);
    if (!report->profile->range.traced)
      count_columns_text(&report->profile->constructs.counters, row->counted, &row->present, row->unread_ns > 0,
                         &table->terminal, report->stream);
    print_short(table, row);
  }
}

void tasks_view_text(const struct report *report)
{
  struct text_table table;
  if (!report->constructs->count) {
    notes_missing(report, "Times of constructs", "online");
    return;
  }
  if (!report->tasks.count) {
    if (report->filtered && *report->filtered)
      fputs("No explicit tasks were recorded; the filter may have left them out.\n", report->stream);
    else
      fputs("The program created no explicit tasks.\n", report->stream);
    return;
  }
  missing_cores_of_constructs(report);
  text_table_init(&table, report, tasks_table);
  print_rows(&table);
  text_table_release(&table);
  legend_print(report, "Exec: running time of all; Else%: begun by another thread; see --legend\n",
               "Exec: elapsed time of all tasks while they ran, without suspensions and without\n"
               "the tasks that ran inside them; Mean, Median, Longest: of one task; 90 %: nine\n"
               "tenths of the tasks are no longer.  Median and 90 %: error at most 9 %.\n"
               "Else%: tasks that another thread than their creator began.\n"
               "Creation: time of its creator, with -p log; wait for a thread: from then on,\n"
               "until it starts.\n");
  legend_omitted(report);
}
