/* Columns and lines of counted events (-c) in the views of constructs and grains.
 *
 * Context: BATCH.  Without counters, a table has none of these columns.
 */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_COUNT_COLUMNS_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_COUNT_COLUMNS_H

#include "hpcprof-lite/analysis/grain_groups.h"
#include "hpcprof-lite/analysis/task_figures.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/table.h"
#include "hpcprof-lite/report/terminal.h"

/* What the rows of a table are, on which depends what it shows of each event. */
enum counted_rows {
  COUNTED_LINES,      /* struct construct_line: the sum, and over the threads the least, mean and greatest */
  COUNTED_TREE_LINES, /* the same: with the constructs in it, and without */
  COUNTED_TASKS,      /* struct task_row: the sum */
  COUNTED_GRAINS,     /* struct grain_row: its count */
  COUNTED_GROUPS      /* struct grain_group: the sum, and over the grains the least, mean and greatest */
};

/* Adds the columns of counted events to a table, if there are any. */
void count_columns_add(struct table *table, const struct profile *profile, enum counted_rows rows);

/* Prints the counts of a group in words, if there are any. */
void count_columns_group_text(const struct counter_names *counters, const struct grain_group *group,
                              const struct terminal *terminal, FILE *stream);

/* Prints the counts in words below a row of text, if there are any. */
void count_columns_text(const struct counter_names *counters, const uint64_t *counts,
                        const struct counters_present *present, bool estimated, const struct terminal *terminal,
                        FILE *stream);

#endif
