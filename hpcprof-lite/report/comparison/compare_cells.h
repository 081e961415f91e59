/* The last columns of a table of compared figures.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_COMPARE_CELLS_H
#define HPCPROF_LITE_REPORT_COMPARISON_COMPARE_CELLS_H

#include "hpcprof-lite/algorithms/compare.h"
#include "hpcprof-lite/report/row_writer.h"

enum { COMPARE_CELLS = 5 };

/* Writes the names of the columns to headers[COMPARE_CELLS], and returns their number. */
size_t compare_cells_headers(const char **headers);

/* Writes their cells. */
void compare_cells(struct row_writer *writer, const struct compare_figure *figure);

#endif
