#include "hpcprof-lite/report/comparison/compare_cells.h"

#include <math.h>

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
