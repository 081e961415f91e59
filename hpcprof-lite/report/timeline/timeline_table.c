#include "hpcprof-lite/report/timeline/timeline_table.h"

#include "hpcprof-lite/report/views.h"
#include "hpcprof-lite/report/timeline/timeline_counters.h"

/* A row: what a thread did in an interval, what the program has marked, or what was counted. */
struct event {
  const struct profile_process *process;
  uint32_t thread;
  uint64_t start_ns, end_ns;
  const char *kind, *category, *name;
  const struct construct_entry *construct; /* NULL: none, or not known */
  uint32_t context, wait_for;              /* rows of the tree, or MODEL_NONE */
  struct cell critical, value;
};

static void fill(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const struct event *event = row;
  const struct construct_entry *construct = event->construct;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_table.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/timeline/timeline_table.def"

#include <assert.h>
};
#undef COLUMN
static const struct schema timeline_schema = SCHEMA(columns, fill);

/* ---- rows ---- */

/* What takes the rows, and how many marks it has got. */
struct taker {
  const struct report *report;
  table_take *take;
  void *to;
  uint32_t marks;
};

/* Gives the marks and user phases that begin until that time. */
static int give_marks(struct taker *taker, uint64_t until_ns)
{
  const struct run_marks *marks = taker->report->time.marks;
  int status = 0;
  while (marks && taker->marks < marks->count && marks->marks[taker->marks].start_ns <= until_ns && !status) {
    const struct run_mark *mark = &marks->marks[taker->marks++];
    struct event event = {.process = &taker->report->profile->processes[mark->process],
                          .thread = mark->thread,
                          .start_ns = mark->start_ns,
                          .end_ns = mark->end_ns,
                          .kind = mark->user_phase ? "phase" : "mark",
                          .name = mark->name,
                          .context = MODEL_NONE,
                          .wait_for = MODEL_NONE};
    status = taker->take(taker->to, &event);
  }
  return status;
}

/* What happened in a lane. */
static struct event event_in(const struct report *report, uint32_t number, uint64_t start_ns, uint64_t end_ns)
{
  assert(number < report->time.timeline->lanes_count && start_ns <= end_ns);
  const struct timeline_lane *lane = &report->time.timeline->lanes[number];
  const struct profile_process *process = &report->profile->processes[lane->process];
  return (struct event){.process = process,
                        .thread = process->threads[lane->thread].index,
                        .start_ns = start_ns,
                        .end_ns = end_ns,
                        .context = MODEL_NONE,
                        .wait_for = MODEL_NONE};
}

static int give_count(void *context, uint32_t lane, const struct timeline_count *count)
{
  struct taker *taker = context;
  struct event event = event_in(taker->report, lane, count->start_ns, count->end_ns);
  event.kind = "counter";
  event.name = count->name;
  event.value = cell_count(count->value);
  return taker->take(taker->to, &event);
}

static int give_interval(void *context, const struct timeline_interval *interval)
{
  struct taker *taker = context;
  const struct report *report = taker->report;
  struct event event = event_in(report, interval->lane, interval->start_ns, interval->end_ns);
  event.category = timeline_category_name((enum timeline_category)interval->category);
  event.context = interval->context;
  event.wait_for = interval->wait_for;
  event.critical = cell_optional(report->time.timeline->lanes[interval->lane].critical_known, interval->critical);
  if (interval->construct < report->constructs->count) {
    event.construct = &report->constructs->entries[interval->construct];
    event.kind = profile_directive_name(event.construct->kind);
    event.name = event.construct->name;
  }
  if (interval->category == TIMELINE_GAP)
    event.kind = "gap";
  int status = give_marks(taker, interval->start_ns);
  if (status)
    return status;
  return taker->take(taker->to, &event);
}

static int each_mark(const void *source, table_take *take, void *to)
{
  struct taker taker = {source, take, to, 0};
  return give_marks(&taker, UINT64_MAX);
}

static int each_count(const void *source, table_take *take, void *to)
{
  struct taker taker = {source, take, to, 0};
  return timeline_counters_each(source, give_count, &taker);
}

static int each_event(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  struct taker taker = {report, take, to, 0};
  int status = report->time.timeline->each(report->time.timeline->source, MODEL_NONE, give_interval, &taker);
  if (!status)
    status = give_marks(&taker, UINT64_MAX);
  if (!status)
    status = each_count(source, take, to);
  return status;
}

/* ---- tables ---- */

void timeline_table(const struct report *report, struct table *table)
{
  table->each = each_event;
  table->source = report;
  table_add(table, &timeline_schema, report);
  if (!report->time.timeline || !timeline_counters_any(report)) /* only --columns shows the values */
    table_select(table, table->selected, table->selected_count - 1);
}

/* Adds some columns of the events as an array.  names: ends in NULL. */
static void add_array(const struct report *report, struct table *table, const char *name,
                      int (*each)(const void *source, table_take *take, void *to), const char *const *names)
{
  uint32_t numbers[sizeof columns / sizeof *columns], count = 0;
  struct table *array = table_further(table, name);
  table_add(array, &timeline_schema, report);
  array->each = each;
  array->source = report;
  for (; names[count]; count++)
    numbers[count] = table_number(array, names[count]);
  table_select(array, numbers, count);
}

void timeline_table_further(const struct report *report, struct table *table)
{
  static const char *const of_marks[] = {"process", "rank", "thread", "kind", "name", "start_s", "end_s", NULL};
  static const char *const of_counts[] = {"process", "rank", "thread", "name", "start_s", "end_s", "value", NULL};
  add_array(report, table, "marks", each_mark, of_marks);
  if (timeline_counters_any(report))
    add_array(report, table, "counters", each_count, of_counts);
}
