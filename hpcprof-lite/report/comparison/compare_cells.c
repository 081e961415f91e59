#include "hpcprof-lite/report/comparison/compare_cells.h"

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
#include "hpcprof-lite/report/comparison/compare_cells.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/comparison/compare_cells.def"
};
#undef COLUMN
const struct schema compare_cells_schema = SCHEMA(columns, fill);

int compare_cells_add(struct table *table, compare_cells_of *figure_of, const struct report *report)
{
  struct compared *compared = table_memory(table, sizeof *compared);
  if (!compared)
    return ERR_NOMEM;
  *compared = (struct compared){figure_of, report};
  return table_add(table, &compare_cells_schema, compared);
}

size_t compare_cells_headers(const char **headers)
{
  static const char *const names[COMPARE_CELLS] = {"base", "new", "difference", "ratio", "significance"};
  for (size_t i = 0; i < COMPARE_CELLS; i++)
    headers[i] = names[i];
  return COMPARE_CELLS;
}

void compare_cells(struct row_writer *writer, const struct compare_figure *figure)
{
  row_writer_real(writer, figure->base, 9);
  row_writer_real(writer, figure->now, 9);
  row_writer_real(writer, figure->now - figure->base, 9);
  if (figure->base > 0)
    row_writer_real(writer, figure->now / figure->base, 6);
  else
    row_writer_empty(writer);
  if (isnan(figure->probability))
    row_writer_empty(writer);
  else
    row_writer_real(writer, figure->probability, 6);
}
