/* The processes view as text, and its table.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/text_table.h"

#include <inttypes.h>

/* A row is an element of the report's order of processes. */
static void fill(const void *context, const void *row, struct cell *cell)
{
  const struct report *report = context;
  const struct profile_process *process = &report->profile->processes[*(const uint32_t *)row];
  struct profile_thread sum = {0};
  uint32_t threads = 0;
  bool time = tree_has_time(report->columns);
  for (uint32_t i = 0; i < process->threads_count; i++) {
    threads += !(process->threads[i].flags & THREAD_HELPER);
    model_add(&sum.work_ns, process->threads[i].work_ns);
    model_add(&sum.overhead_ns, process->threads[i].overhead_ns);
    model_add(&sum.lockwait_ns, process->threads[i].lockwait_ns);
    model_add(&sum.idle_ns, process->threads[i].idle_ns);
    model_add(&sum.blocked_ns, process->threads[i].blocked_ns);
  }
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/processes.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/processes.def"
};
#undef COLUMN
static const struct schema processes_schema = SCHEMA(columns, fill);

REPORT_EACH(each_process, report->list.rows, report->list.count)

void processes_table(const struct report *report, struct table *table)
{
  bool ranks = false, memory = false;
  table->each = each_process;
  table->source = report;
  table_add(table, &processes_schema, report);
  for (uint32_t i = 0; i < report->profile->processes_usable; i++) {
    ranks |= report->profile->processes[i].rank >= 0;
    memory |= report->profile->processes[i].peak_memory_bytes > 0;
  }
  table->hidden = table_name(table, "%s %s", ranks ? "" : "rank", memory ? "" : "peak_memory_bytes");
}

void processes_text(const struct report *report)
{
  struct text_table text;
  text_table_init(&text, report, processes_table);
  text_table_heading(&text);
  for (uint32_t i = 0; i < report->list.count; i++)
    text_table_row(&text, &report->list.rows[i]);
  legend_print(report, "Times are sums over the threads of a process; see --legend\n",
               "Times are sums over the threads of a process, as in --view threads, but for CPU,\n"
               "its CPU time, and Wall, the time from its start to its end.\n"
               "Peak B: most memory in use at once, with that of the tool, in bytes.\n");
  if (report->limits.left_out)
    fprintf(report->stream, "%" PRIu32 " process%s omitted.\n", report->limits.left_out,
            report->limits.left_out == 1 ? "" : "es");
  text_table_release(&text);
}
