/* The last columns of a table of compared figures.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARE_CELLS_H
#define HPCPROF_LITE_REPORT_COMPARE_CELLS_H

#include "hpcprof-lite/algorithms/compare.h"
#include "hpcprof-lite/report/report.h"

/* Returns the compared figure of a row of the report's table. */
typedef const struct compare_figure *compare_cells_of(const struct report *report, const void *row);

extern const struct schema compare_cells_schema;

/* Adds these columns to a table. */
void compare_cells_add(struct table *table, compare_cells_of *figure_of, const struct report *report);

#endif
