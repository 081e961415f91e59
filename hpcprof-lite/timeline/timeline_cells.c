#include "hpcprof-lite/timeline/timeline_cells.h"

#include "hpcprof-lite/timeline/cell_sum.h"

#include <assert.h>

struct row {
  uint64_t from_ns, to_ns;
  uint32_t count;
  struct timeline_cell *cells;
  uint32_t open; /* the cell that `sum` is about */
  struct cell_sum sum;
};

static uint64_t start_of(const struct row *row, uint32_t cell)
{
  assert(cell <= row->count);
  return timeline_cell_start(row->from_ns, row->to_ns, row->count, cell);
}

static void close_cell(struct row *row)
{
  assert(row->open < row->count);
  struct timeline_cell *cell = &row->cells[row->open];
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    cell->ns[i] = row->sum.ns[i];
  cell->critical_ns = row->sum.critical_ns;
  cell->context = cell_sum_most(&row->sum.contexts).key;
  cell->construct = cell_sum_most(&row->sum.constructs).key;
  cell_sum_clear(&row->sum);
  row->open++;
}

static int add_interval(void *context, const struct timeline_interval *interval)
{
  struct row *row = context;
  uint64_t at_ns = MAX(interval->start_ns, row->from_ns);
  uint64_t end_ns = MIN(interval->end_ns, row->to_ns);
  while (at_ns < end_ns) {
    uint64_t until_ns = start_of(row, row->open + 1);
    if (until_ns <= at_ns) {
      close_cell(row);
      continue;
    }
    until_ns = MIN(until_ns, end_ns);
    cell_sum_add(&row->sum, interval, until_ns - at_ns);
    at_ns = until_ns;
  }
  return 0;
}

void timeline_cells_read(const struct timeline *timeline, uint32_t lane, uint64_t from_ns, uint64_t to_ns,
                         uint32_t count, struct timeline_cell *cells)
{
  assert(lane < timeline->lanes_count && count && from_ns <= to_ns);
  struct row row = {.from_ns = from_ns, .to_ns = to_ns, .count = count, .cells = cells};
  timeline->each(timeline->source, lane, add_interval, &row);
  while (row.open < count)
    close_cell(&row);
  cell_sum_release(&row.sum);
}
