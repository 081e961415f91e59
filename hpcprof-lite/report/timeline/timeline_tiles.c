/* The timeline as tiles: what each lane did in parts of time of equal length, as many as the text view has columns.
 *
 * Context: BATCH.  Further arrays have the time in each category, and what the program has marked and counted.
 */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/timeline/state_chart.h"
#include "hpcprof-lite/report/timeline/timeline_rows.h"
#include "hpcprof-lite/report/timeline/timeline_table.h"

struct tile {
  const struct timeline_row *row;
  const struct timeline_cell *cell;
  uint64_t start_ns, end_ns;
};

static void fill(const void *source, const void *row, struct cell *cell)
{
  const struct report *report = source;
  const struct tile *tile = row;
  const struct timeline_lane *lane = &report->time.timeline->lanes[tile->row->lane];
  const struct profile_process *process = &report->profile->processes[lane->process];
  const struct tree_row *context = NULL;
  const struct construct_entry *construct = NULL;
  const uint64_t *ns = tile->cell->ns;
  enum timeline_grouping level = report->time.lanes;
  if (level == TIMELINE_THREADS && tile->cell->context < report->tree->count)
    context = &report->tree->rows[tile->cell->context];
  if (level == TIMELINE_THREADS && tile->cell->construct < report->constructs->count)
    construct = &report->constructs->entries[tile->cell->construct];
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_tiles.def"
#undef COLUMN
}

static void fill_mpi(const void *context, const void *row, struct cell *cell)
{
  const struct tile *tile = row;
  const uint64_t *ns = tile->cell->ns;
  bool timed = true;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_mpi.def"
#undef COLUMN
}

static void fill_device(const void *context, const void *row, struct cell *cell)
{
  const struct tile *tile = row;
  const uint64_t *ns = tile->cell->ns;
  bool timed = true;
  (void)context;
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/timeline/timeline_device.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/timeline/timeline_tiles.def"
};
static const struct table_column columns_mpi[] = {
#include "hpcprof-lite/report/timeline/timeline_mpi.def"
};
static const struct table_column columns_device[] = {
#include "hpcprof-lite/report/timeline/timeline_device.def"
};
#undef COLUMN
static const struct schema timeline_tiles_schema = SCHEMA(columns, fill);
static const struct schema mpi_schema = SCHEMA(columns_mpi, fill_mpi);
static const struct schema device_schema = SCHEMA(columns_device, fill_device);

/* Gives the tiles in which a lane was alive. */
static int each_tile(const void *source, table_take *take, void *to)
{
  const struct timeline_rows *rows = source;
  int status = 0;
  for (uint32_t i = 0; i < rows->count; i++)
    for (uint32_t j = 0; j < rows->columns && !status; j++) {
      struct tile tile = {.row = &rows->rows[i],
                          .cell = &rows->rows[i].cells[j],
                          .start_ns = timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, j),
                          .end_ns = timeline_cell_start(rows->from_ns, rows->to_ns, rows->columns, j + 1)};
      if (category_sum(tile.cell->ns))
        status = take(to, &tile);
    }
  return status;
}

/* Reads rows, which belong to the table. */
static struct timeline_rows *read_rows(const struct report *report, struct table *table)
{
  struct timeline_rows *rows = table_memory(table, sizeof *rows);
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  timeline_rows_read(report, terminal.width, rows);
  table_own(table, rows->rows);
  table_own(table, rows->cells);
  table_own(table, rows->times);
  table_own(table, rows->lane_times);
  return rows;
}

void timeline_tiles_table(const struct report *report, struct table *table)
{
  table->each = each_tile;
  table_add(table, &timeline_tiles_schema, report);
  if (report->mpi)
    table_add(table, &mpi_schema, report);
  if (report->awaits)
    table_add(table, &device_schema, report);
  if (!report->time.timeline)
    return;
  struct timeline_rows *rows = read_rows(report, table);
  table->source = rows;
  state_chart_further(rows, table);
  timeline_table_further(report, table);
}
