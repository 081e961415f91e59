/* The marks view: what the program has marked, and its phases, in the order of time.  The user-counters view: what it
 * has counted.  Neither needs a trace.
 *
 * Context: BATCH.
 */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/report/text_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks ---- */

static void fill_mark(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const struct run_mark *mark = row;
  const struct profile_process *process = &report->profile->processes[mark->process];
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/marks.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column mark_columns[] = {
#include "hpcprof-lite/report/marks.def"
};
#undef COLUMN
static const struct schema marks_schema = SCHEMA(mark_columns, fill_mark);

REPORT_EACH(each_mark, report->time.marks->marks, report->time.marks->count)

void marks_view_table(const struct report *report, struct table *table)
{
  table->each = each_mark;
  table->source = report;
  table->hidden = report->profile->processes_usable > 1 ? NULL : "process";
  table_add(table, &marks_schema, report);
}

void marks_view_text(const struct report *report)
{
  enum { DECIMALS = 6 };
  struct text_table text;
  text_table_init(&text, report, marks_view_table);
  text.decimals = DECIMALS;
  text_table_heading(&text);
  for (uint32_t i = 0; i < report->time.marks->count; i++)
    text_table_row(&text, &report->time.marks->marks[i]);
  text_table_release(&text);
}

/* ---- counters ---- */

/* What a thread has counted by a counter; or what all have: then there is no process, and `count` has their sums. */
struct counted {
  const char *name;
  const struct profile_process *process;
  const struct profile_user_count *count;
  uint64_t least_sum, most_sum; /* of a thread */
  uint32_t threads;
};

static void fill_count(const void *context, const void *which, struct cell *cell)
{
  static const struct profile_process none = {.rank = -1};
  (void)context;
  const struct counted *row = which;
  const struct profile_process *process = row->process ? row->process : &none;
  const struct profile_user_count *count = row->count;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/user_counters.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column counter_columns[] = {
#include "hpcprof-lite/report/user_counters.def"
};
#undef COLUMN
static const struct schema user_counters_schema = SCHEMA(counter_columns, fill_count);

/* By counter, then in the order of processes and threads. */
ORDER(by_name, struct counted,
      strcmp(x->name, y->name) ?: COMPARE(x->process, y->process) ?: COMPARE(x->count, y->count))

/* Lists the counts of all threads, followed by one without a name, in an array for free(). */
static struct counted *list_counts(const struct report *report)
{
  assert(report->profile->processes_usable <= report->profile->processes_count);
  size_t all = 0, at = 0;
  for (uint32_t i = 0; i < report->profile->processes_usable; i++)
    all += report->profile->processes[i].marks.counts_count;
  struct counted *list = xcalloc(all + 1, sizeof *list);
  for (uint32_t i = 0; i < report->profile->processes_usable; i++) {
    const struct profile_process *process = &report->profile->processes[i];
    const struct profile_marks *marks = &process->marks;
    for (uint32_t k = 0; k < marks->counts_count; k++)
      list[at++] =
          (struct counted){.name = marks->text + marks->counts[k].name, .process = process, .count = &marks->counts[k]};
  }
  qsort(list, at, sizeof *list, by_name);
  return list;
}

/* Sets what all threads have counted by a counter, of which there is at least one. */
static void sum_up(const struct counted *first, struct profile_user_count *sums, struct counted *all)
{
  assert(first->name);
  *sums = (struct profile_user_count){.least = UINT64_MAX};
  *all = (struct counted){.name = first->name, .count = sums, .least_sum = UINT64_MAX};
  for (const struct counted *at = first; at->name && !strcmp(at->name, first->name); at++) {
    const struct profile_user_count *count = at->count;
    model_add(&sums->count, count->count);
    model_add(&sums->sum, count->sum);
    sums->least = MIN(count->least, sums->least);
    sums->most = MAX(count->most, sums->most);
    all->least_sum = MIN(count->sum, all->least_sum);
    all->most_sum = MAX(count->sum, all->most_sum);
    all->threads++;
  }
}

/* Gives the rows of all threads together and, unless brief, each followed by those of single threads. */
static int each_counter(const struct report *report, bool brief, table_take *take, void *to)
{
  struct counted *list = list_counts(report), all;
  struct profile_user_count sums;
  int status = 0;
  for (const struct counted *at = list; !status && at->name; at += all.threads) {
    sum_up(at, &sums, &all);
    status = take(to, &all);
    for (uint32_t i = 0; i < all.threads && !brief && !status; i++)
      status = take(to, &at[i]);
  }
  free(list);
  return status;
}

static int each_count(const void *report, table_take *take, void *to)
{
  return each_counter(report, false, take, to);
}

void user_counters_table(const struct report *report, struct table *table)
{
  table->each = each_count;
  table->source = report;
  table_add(table, &user_counters_schema, NULL);
}

static int print_counter(void *text, const void *row)
{
  text_table_row(text, row);
  return 0;
}

void user_counters_text(const struct report *report)
{
  struct text_table text;
  text_table_init(&text, report, user_counters_table);
  text_table_heading(&text);
  each_counter(report, true, print_counter, &text);
  if (!report->chosen_count)
    terminal_wrap(&text.terminal, report->stream, "", "",
                  "Sum min, Sum max: of a thread. By context: columns NAME_incl, NAME_excl of topdown -f csv");
  text_table_release(&text);
}
