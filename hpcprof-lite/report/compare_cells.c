#include "hpcprof-lite/report/compare_cells.h"

#include <assert.h>
#include <math.h>

/* Where the figures of rows come from. */
struct compared {
  compare_cells_of *figure_of;
  const struct report *report;
};

static void fill(const void *context, const void *row, struct cell *cell)
{
  const struct compared *compared = context;
  const struct compare_figure *figure = compared->figure_of(compared->report, row);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/compare_cells.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/compare_cells.def"
};
#undef COLUMN
const struct schema compare_cells_schema = SCHEMA(columns, fill);

void compare_cells_add(struct table *table, compare_cells_of *figure_of, const struct report *report)
{
  assert(figure_of);
  struct compared *compared = table_memory(table, sizeof *compared);
  *compared = (struct compared){figure_of, report};
  table_add(table, &compare_cells_schema, compared);
}
