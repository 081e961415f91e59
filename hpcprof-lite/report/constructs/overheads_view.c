/* The view overheads.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "common/order.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/text_table.h"

/* ---- the table ---- */

/* A row is a struct overheads_row. */
static void fill(const void *context, const void *of, struct cell *cell)
{
  const struct construct_filling *filling = context;
  const struct overheads_row *row = of;
  const struct construct_lost *lost = &row->lost;
  const struct construct_place place = construct_place_of(row->entry);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/constructs/overheads.def"
#undef COLUMN
}

static void fill_construct(const void *context, const void *of, struct cell *cell)
{
  const struct construct_filling *filling = context;
  const struct overheads_row *row = of;
  const struct construct_place place = construct_place_of(row->entry);
  *cell = row->entry->region ? construct_text_cell(filling, &place) : cell_text("program");
}

static const struct table_column columns[] = {
#define COLUMN COLUMN_ENTRY
#include "hpcprof-lite/report/constructs/overheads.def"
#undef COLUMN
};
static const struct schema overheads_schema = SCHEMA(columns, fill);

REPORT_EACH(each_row, report->overheads.rows, report->overheads.count)

void overheads_table(const struct report *report, struct table *table)
{
  table->each = each_row;
  table->source = report;
  construct_text_add(report, table, &overheads_schema, "Region", fill_construct);
}

/* ---- text ---- */

void overheads_view_text(const struct report *report)
{
  const struct overheads *overheads = &report->overheads;
  struct text_table text;
  uint64_t largest = 0;
  if (!overheads->count) {
    notes_missing(report, "Times of constructs", "online");
    return;
  }
  missing_cores_of_constructs(report);
  text_table_init(&text, report, overheads_table);
  for (uint32_t i = 0; i < overheads->count; i++)
    largest = MAX(overheads->rows[i].total_ns, largest);
  text.plain = true;
  text.decimals = construct_text_decimals(largest);
  text_table_heading(&text);
  for (uint32_t i = 0; i < overheads->count; i++)
    text_table_expect(&text, &overheads->rows[i], 0, "", "");
  for (uint32_t i = 0; i < overheads->count; i++)
    text_table_row(&text, &overheads->rows[i]);
  text_table_release(&text);
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
  notes_estimates(report);
}
