#include "hpcprof-lite/report/speedup_view.h"

#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

#include <inttypes.h>

enum { CELL = 16 };

static void speedup_cell(struct row_writer *writer, double value)
{
  if (value > 0)
    row_writer_real(writer, value, 4);
  else
    row_writer_empty(writer);
}

int speedup_view_table(const struct report *report, bool json)
{
  static const char *const columns[] = {
      "cores",           "speedup_lower", "speedup_upper", "speedup_estimate", "speedup_burdened", "speedup_simulated",
      "speedup_measured"};
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, columns, sizeof columns / sizeof *columns);
  for (uint32_t i = 0; i < report->speedup.count; i++) {
    const struct speedup_row *row = &report->speedup.rows[i];
    row_writer_uint(&writer, row->cores);
    speedup_cell(&writer, row->lower);
    speedup_cell(&writer, row->upper);
    speedup_cell(&writer, row->estimate);
    speedup_cell(&writer, row->burdened);
    speedup_cell(&writer, row->simulated);
    speedup_cell(&writer, row->measured);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

void speedup_view_text(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  if (!report->profile->workspan.known) {
    parallelism_missing(report, "Work and span", "online");
    return;
  }
  bool simulated = false;
  for (uint32_t i = 0; i < report->speedup.count; i++)
    simulated = simulated || report->speedup.rows[i].simulated > 0;
  fprintf(report->stream, "Speedup over one core with the same tasks and chunks, from work and span%s:\n",
          report->speedup.count ? "" : ": no work was recorded");
  fprintf(report->stream, "%s%7s %9s %9s %9s %9s%s %9s%s\n", terminal_bold(&terminal), "Cores", "Lower", "Estimate",
          "Upper", "Burdened", simulated ? " Simulated" : "", "Measured", terminal_plain(&terminal));
  for (uint32_t i = 0; i < report->speedup.count; i++) {
    const struct speedup_row *row = &report->speedup.rows[i];
    char measured[CELL] = "", schedule[CELL] = "";
    if (row->measured > 0)
      snprintf(measured, sizeof measured, " %9.2f", row->measured);
    if (row->simulated > 0)
      snprintf(schedule, sizeof schedule, " %9.2f", row->simulated);
    else if (simulated && *measured)
      snprintf(schedule, sizeof schedule, " %9s", "-");
    fprintf(report->stream, "%7" PRIu64 " %9.2f %9.2f %9.2f %9.2f%s%s\n", row->cores, row->lower, row->estimate,
            row->upper, row->burdened, schedule, measured);
  }
  legend_print(report, "Estimate: the work off the critical path is spread evenly; see --legend\n",
               "Lower, Upper: bounds for schedules that leave no core idle while there is work.\n"
               "A lock has one holder at a time.  Only a graph log (hpcrun-lite -p log) shows\n"
               "waiting for several locks: without one, Lower can be too high then.\n"
               "Estimate: the work off the critical path is spread evenly over the cores.\n"
               "Burdened: the same with the cost of forks, tasks and joins on the path.\n"
               "Simulated: a list schedule of the recorded task graph, oldest work first, with\n"
               "one holder of a lock at a time, without the runtime's own cost.\n"
               "Measured: work / elapsed time of this run.\n");
  parallelism_chunks_note(report);
  parallelism_log_warning(report);
}
