/* The speedup that can be expected on several cores, as a table and as text.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/text_table.h"

/* ---- the table ---- */

/* Empty unless known. */
static struct cell positive(double speedup)
{
  return cell_optional_real(speedup > 0, speedup, 4);
}

static void fill(const void *context, const void *which, struct cell *cell)
{
  (void)context;
  const struct speedup_row *row = which;
  struct cell simulated = positive(row->simulated);
  if (row->measured > 0)
    simulated = cell_known(row->simulated > 0, simulated);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/speedup.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/speedup.def"
};
#undef COLUMN
static const struct schema speedup_schema = SCHEMA(columns, fill);

REPORT_EACH(each_row, report->spans.speedup.rows, report->spans.speedup.count)

void speedup_view_table(const struct report *report, struct table *table)
{
  bool simulated = false;
  for (uint32_t i = 0; i < report->spans.speedup.count; i++)
    simulated |= report->spans.speedup.rows[i].simulated > 0;
  table->each = each_row;
  table->source = report;
  table->hidden = simulated ? NULL : "speedup_simulated";
  table_add(table, &speedup_schema, report);
}

/* ---- text ---- */

void speedup_view_text(const struct report *report)
{
  struct text_table text;
  if (!report->profile->workspan.known) {
    notes_missing(report, "Work and span", "online");
    return;
  }
  text_table_init(&text, report, speedup_view_table);
  text.plain = true;
  fprintf(report->stream, "Speedup over one core with the same tasks and chunks, from work and span%s:\n",
          report->spans.speedup.count ? "" : ": no work was recorded");
  text_table_heading(&text);
  for (uint32_t i = 0; i < report->spans.speedup.count; i++)
    text_table_row(&text, &report->spans.speedup.rows[i]);
  text_table_release(&text);
  legend_print(report, "Estimate: the work off the critical path is spread evenly; see --legend\n",
               "Lower, Upper: bounds for schedules that leave no core idle while there is work.\n"
               "A lock has one holder at a time.  Only a graph log (hpcrun-lite -p log) shows\n"
               "waiting for several locks: without one, Lower can be too high then.\n"
               "Estimate: the work off the critical path is spread evenly over the cores.\n"
               "Burdened: the same with the cost of forks, tasks and joins on the path.\n"
               "Simulated: a list schedule of the recorded task graph, oldest work first, with\n"
               "one holder of a lock at a time, without the runtime's own cost.\n"
               "Measured: work / elapsed time of this run.\n");
  notes_chunks(report);
  notes_estimates(report);
  notes_log_differs(report);
}
