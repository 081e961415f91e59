#include "hpcprof-lite/report/timeline/timeline_table.h"

#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/timeline/timeline_counters.h"
#include "hpcprof-lite/report/timeline/timeline_tiles.h"

struct intervals {
  const struct report *report;
  struct row_writer writer;
  uint32_t marks; /* written */
  bool counters;  /* there is a column for their values */
};

/* Writes the marks and phases that begin until that time. */
static void print_marks(struct intervals *table, uint64_t until_ns)
{
  struct row_writer *writer = &table->writer;
  const struct run_marks *marks = table->report->marks;
  for (; marks && table->marks < marks->count && marks->marks[table->marks].start_ns <= until_ns; table->marks++) {
    const struct run_mark *mark = &marks->marks[table->marks];
    const struct profile_process *process = &table->report->profile->processes[mark->process];
    row_writer_uint(writer, process->pid);
    row_writer_optional(writer, process->rank >= 0, (uint64_t)process->rank);
    row_writer_uint(writer, mark->thread);
    row_writer_ns(writer, mark->start_ns);
    row_writer_ns(writer, mark->end_ns);
    row_writer_text(writer, mark->phase ? "phase" : "mark");
    for (unsigned i = 0; i < 3; i++) /* category, context, construct */
      row_writer_empty(writer);
    row_writer_text(writer, mark->name);
    for (unsigned i = 0; i < 2u + table->counters; i++)
      row_writer_empty(writer);
  }
}

static int print_count(void *context, uint32_t lane, const struct timeline_count *count)
{
  struct intervals *table = context;
  struct row_writer *writer = &table->writer;
  const struct timeline_lane *of = &table->report->timeline->lanes[lane];
  const struct profile_process *process = &table->report->profile->processes[of->process];
  row_writer_uint(writer, process->pid);
  row_writer_optional(writer, process->rank >= 0, (uint64_t)process->rank);
  row_writer_uint(writer, process->threads[of->thread].index);
  row_writer_ns(writer, count->start_ns);
  row_writer_ns(writer, count->end_ns);
  row_writer_text(writer, "counter");
  for (unsigned i = 0; i < 3; i++) /* category, context, construct */
    row_writer_empty(writer);
  row_writer_text(writer, count->name);
  row_writer_empty(writer);
  row_writer_empty(writer);
  row_writer_uint(writer, count->value);
  return ferror(writer->stream) ? ERR_INPUT : 0;
}

static void context_cell(const struct intervals *table, struct row_writer *writer, uint32_t row)
{
  bool known = row < table->report->tree->count;
  row_writer_optional(writer, known, known ? table->report->tree->rows[row].id : 0);
}

static int print_interval(void *context, const struct timeline_interval *interval)
{
  struct intervals *table = context;
  struct row_writer *writer = &table->writer;
  const struct timeline *timeline = table->report->timeline;
  const struct timeline_lane *lane = &timeline->lanes[interval->lane];
  const struct profile_process *process = &table->report->profile->processes[lane->process];
  const struct construct_tree *constructs = table->report->constructs;
  const struct construct_entry *construct =
      interval->construct < constructs->count ? &constructs->entries[interval->construct] : NULL;
  print_marks(table, interval->start_ns);
  row_writer_uint(writer, process->pid);
  row_writer_optional(writer, process->rank >= 0, (uint64_t)process->rank);
  row_writer_uint(writer, process->threads[lane->thread].index);
  row_writer_ns(writer, interval->start_ns);
  row_writer_ns(writer, interval->end_ns);
  row_writer_text(writer, interval->category == TIMELINE_GAP ? "gap"
                          : construct                        ? profile_directive_name(construct->kind)
                                                             : "");
  row_writer_text(writer, timeline_category_name((enum timeline_category)interval->category));
  context_cell(table, writer, interval->context);
  row_writer_optional(writer, construct, construct ? construct->region : 0);
  row_writer_text(writer, construct ? construct->name : "");
  context_cell(table, writer, interval->wait_for);
  row_writer_optional(writer, lane->critical_known, interval->critical);
  if (table->counters)
    row_writer_empty(writer);
  return ferror(writer->stream) ? ERR_INPUT : 0;
}

int timeline_table(const struct report *report, bool json)
{
  static const char *const columns[] = {
      "process",   "rank", "thread",   "start_s",          "end_s", "kind", "category", "context_id",
      "construct", "name", "wait_for", "on_critical_path", "value"};
  struct intervals table = {.report = report};
  if (json)
    return timeline_tiles(report);
  int status = timeline_counters_any(report, &table.counters);
  row_writer_begin(&table.writer, report->stream, false, columns, sizeof columns / sizeof *columns - !table.counters);
  if (!status)
    status = report->timeline->each(report->timeline->source, MODEL_NONE, print_interval, &table);
  print_marks(&table, UINT64_MAX);
  if (!status && table.counters)
    status = timeline_counters_each(report, print_count, &table);
  row_writer_end(&table.writer);
  return status;
}
