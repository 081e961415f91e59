#include "hpcprof-lite/report/constructs/overheads_view.h"

#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/legend.h"

#include <inttypes.h>

enum { CLASSES = 4, FIGURES_WIDTH = 51 };

static void losses_of(const struct construct_losses *losses, uint64_t out[CLASSES])
{
  out[0] = losses->synchronisation;
  out[1] = losses->imbalance;
  out[2] = losses->limited_parallelism;
  out[3] = losses->management;
}

int overheads_view_table(const struct report *report, bool json)
{
  struct row_writer writer;
  document_open(report, json);
  row_writer_begin(&writer, report->stream, json, overheads_columns, OVERHEADS_COLUMNS);
  for (uint32_t i = 0; i < report->overheads.count; i++) {
    const struct overheads_row *row = &report->overheads.rows[i];
    uint64_t classes[CLASSES];
    char region[CONSTRUCT_FIGURE];
    losses_of(&row->losses, classes);
    snprintf(region, sizeof region, "R%" PRIu32, row->entry->region);
    row_writer_text(&writer, row->entry->region ? region : "program");
    construct_text_cells(&writer, row->entry->kind, row->entry->name, row->entry->file, row->entry->line);
    row_writer_ns(&writer, row->total_ns);
    for (int j = 0; j < CLASSES; j++)
      row_writer_ns(&writer, classes[j]);
    for (int j = 0; j < CLASSES; j++)
      row_writer_percent(&writer, classes[j], row->total_ns);
    row_writer_ns(&writer, row->useful_ns);
    row_writer_ns(&writer, row->gain_ns);
  }
  row_writer_end(&writer);
  document_close(report, json);
  return 0;
}

static void print_row(const struct report *report, const struct terminal *terminal, unsigned decimals,
                      const struct overheads_row *row)
{
  uint64_t classes[CLASSES];
  char text[CONSTRUCT_FIGURE], name[TERMINAL_TEXT_MAX];
  const struct construct_entry *entry = row->entry;
  struct construct_place place = {profile_directive_name(entry->kind), entry->name, entry->file, entry->line};
  losses_of(&row->losses, classes);
  construct_text_seconds(row->total_ns, decimals, text);
  fprintf(report->stream, "%7s", text);
  construct_text_seconds(row->useful_ns, decimals, text);
  fprintf(report->stream, "%7s", text);
  for (int i = 0; i < CLASSES; i++) {
    terminal_percent(classes[i], row->total_ns, text);
    fprintf(report->stream, "%7s", classes[i] ? text : ".");
  }
  construct_text_seconds(row->gain_ns, decimals, text);
  construct_text_name(terminal, &place, terminal_room(terminal, FIGURES_WIDTH), name);
  fprintf(report->stream, "%7s  %s\n", text, entry->region ? name : "program");
}

void overheads_view_text(const struct report *report)
{
  const struct overheads *overheads = &report->overheads;
  struct terminal terminal;
  if (!overheads->count) {
    construct_text_missing(report);
    return;
  }
  terminal_init(&terminal, report->stream);
  uint64_t largest = 0;
  for (uint32_t i = 0; i < overheads->count; i++)
    largest = overheads->rows[i].total_ns > largest ? overheads->rows[i].total_ns : largest;
  fprintf(report->stream, "%s%7s%7s%7s%7s%7s%7s%7s  %s%s\n", terminal_bold(&terminal), "Total s", "Useful", "Sync%",
          "Imbal%", "Limit%", "Mgmt%", "Gain s", "Region", terminal_plain(&terminal));
  for (uint32_t i = 0; i < overheads->count; i++)
    print_row(report, &terminal, construct_text_decimals(largest), &overheads->rows[i]);
  legend_print(report, "Times are sums over all threads; % of the row's total; see --legend\n",
               "Total: time of all threads in the region; of the program, the largest team\n"
               "times the elapsed time: what remains of it is serial code, and threads that\n"
               "smaller regions do not use.\n"
               "Useful: in bodies and tasks, also while the thread slept or had no core;\n"
               "without -p log, also while it created tasks.\n"
               "Percentages are of the row's total.  '.' is 0.\n"
               "Sync: waiting for locks, at explicit barriers, and for tasks.\n"
               "Imbal: waiting at the ends of regions, loops and sections.\n"
               "Limit: waiting while others execute a single, or sections too few for all.\n"
               "Mgmt: start and end of regions, creation of tasks (with -p log), and what\n"
               "barriers take after the last thread has arrived.\n"
               "Gain: these four, divided by the region's threads: the most by which the run\n"
               "could be shorter; of the program, the sum.\n");
  legend_omitted(report);
}
