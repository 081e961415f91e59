#include "hpcprof-lite/report/timeline/timeline_tiles.h"

#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/timeline/state_chart.h"
#include "hpcprof-lite/report/timeline/timeline_counters.h"
#include "hpcprof-lite/report/timeline/timeline_rows.h"

static void write_tile(const struct report *report, struct row_writer *writer, const struct timeline_cell *cell,
                       bool critical_known)
{
  bool context = cell->context < report->tree->count && report->lanes == TIMELINE_THREADS;
  bool construct = cell->construct < report->constructs->count && report->lanes == TIMELINE_THREADS;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    row_writer_ns(writer, cell->ns[i]);
  if (critical_known)
    row_writer_ns(writer, cell->critical_ns);
  else
    row_writer_empty(writer);
  row_writer_optional(writer, context, context ? report->tree->rows[cell->context].id : 0);
  row_writer_text(writer, context ? report->tree->rows[cell->context].name : "");
  row_writer_optional(writer, construct, construct ? report->constructs->entries[cell->construct].region : 0);
  row_writer_text(writer, construct ? report->constructs->entries[cell->construct].name : "");
}

static bool alive(const struct timeline_cell *cell)
{
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    if (cell->ns[i])
      return true;
  return false;
}

/* One more array: what the program has marked. */
static void write_marks(const struct report *report)
{
  static const char *const columns[] = {"process", "rank", "thread", "kind", "name", "start_s", "end_s"};
  struct row_writer writer;
  row_writer_begin_array(&writer, report->stream, "marks", columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->marks->count; i++) {
    const struct run_mark *mark = &report->marks->marks[i];
    const struct profile_process *process = &report->profile->processes[mark->process];
    row_writer_uint(&writer, process->pid);
    row_writer_optional(&writer, process->rank >= 0, (uint64_t)process->rank);
    row_writer_uint(&writer, mark->thread);
    row_writer_text(&writer, mark->phase ? "phase" : "mark");
    row_writer_text(&writer, mark->name);
    row_writer_ns(&writer, mark->start_ns);
    row_writer_ns(&writer, mark->end_ns);
  }
  row_writer_end(&writer);
}

struct counts {
  const struct report *report;
  struct row_writer writer;
};

static int write_count(void *context, uint32_t lane, const struct timeline_count *count)
{
  struct counts *counts = context;
  struct row_writer *writer = &counts->writer;
  const struct timeline_lane *of = &counts->report->timeline->lanes[lane];
  const struct profile_process *process = &counts->report->profile->processes[of->process];
  row_writer_uint(writer, process->pid);
  row_writer_optional(writer, process->rank >= 0, (uint64_t)process->rank);
  row_writer_uint(writer, process->threads[of->thread].index);
  row_writer_text(writer, count->name);
  row_writer_ns(writer, count->start_ns);
  row_writer_ns(writer, count->end_ns);
  row_writer_uint(writer, count->value);
  return ferror(writer->stream) ? ERR_INPUT : 0;
}

/* And one of what was counted, if anything was. */
static int write_counters(const struct report *report)
{
  static const char *const columns[] = {"process", "rank", "thread", "name", "start_s", "end_s", "value"};
  struct counts counts = {.report = report};
  bool any;
  int status = timeline_counters_any(report, &any);
  if (status || !any)
    return status;
  row_writer_begin_array(&counts.writer, report->stream, "counters", columns, sizeof columns / sizeof *columns);
  status = timeline_counters_each(report, write_count, &counts);
  row_writer_end(&counts.writer);
  return status;
}

int timeline_tiles(const struct report *report)
{
  static const char *const columns[] = {"host",       "process",     "rank",       "thread",      "start_s",
                                        "end_s",      "work_s",      "overhead_s", "lock_wait_s", "idle_s",
                                        "blocked_s",  "core_wait_s", "tool_s",     "gap_s",       "critical_s",
                                        "context_id", "context",     "construct",  "name"};
  struct terminal terminal;
  struct timeline_rows rows;
  struct row_writer writer;
  terminal_init(&terminal, report->stream);
  int status = timeline_rows_read(report, terminal.width, &rows);
  document_open(report, true);
  row_writer_begin(&writer, report->stream, true, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < rows.count && !status; i++)
    for (uint32_t j = 0; j < rows.columns; j++) {
      if (!alive(&rows.rows[i].cells[j]))
        continue;
      timeline_rows_who(report, &writer, rows.rows[i].lane, report->lanes);
      row_writer_ns(&writer, timeline_cell_start(rows.from_ns, rows.to_ns, rows.columns, j));
      row_writer_ns(&writer, timeline_cell_start(rows.from_ns, rows.to_ns, rows.columns, j + 1));
      write_tile(report, &writer, &rows.rows[i].cells[j], rows.rows[i].critical_known);
    }
  row_writer_end(&writer);
  status = status ? status : state_chart_json(report, &rows);
  write_marks(report);
  status = status ? status : write_counters(report);
  document_close(report, true);
  timeline_rows_release(&rows);
  return status;
}
