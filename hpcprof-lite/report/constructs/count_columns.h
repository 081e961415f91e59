/* Columns and lines of counted events (-c) in the views of constructs and grains.
 *
 * Context: BATCH.  Without counters there are no columns.
 */
#ifndef HPCPROF_LITE_REPORT_CONSTRUCTS_COUNT_COLUMNS_H
#define HPCPROF_LITE_REPORT_CONSTRUCTS_COUNT_COLUMNS_H

#include "hpcprof-lite/analysis/grain_groups.h"
#include "hpcprof-lite/analysis/task_figures.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/table.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/terminal.h"

/* Of each event: the sum, and over the threads the least, mean and greatest; inclusive and exclusive; or the sum. */
enum count_columns_kind { COUNT_COLUMNS_EACH, COUNT_COLUMNS_TREE, COUNT_COLUMNS_SUM };

/* What the rows of a table are, and with it what it has of each event. */
enum counted_rows {
  COUNTED_LINES,      /* struct construct_line: the sum, and over the threads the least, mean and greatest */
  COUNTED_TREE_LINES, /* the same: with the constructs in it, and without */
  COUNTED_TASKS,      /* struct task_row: the sum */
  COUNTED_GRAINS,     /* struct grain_row: its count */
  COUNTED_GROUPS      /* struct grain_group: the sum, and over the grains the least, mean and greatest */
};

/* Adds the columns of counted events to a table, if there are any.  Returns 0 or ERR_NOMEM. */
int count_columns_add(struct table *table, const struct profile *profile, enum counted_rows rows);

enum { COUNT_COLUMNS_FIXED_MAX = 40, COUNT_COLUMNS_MAX = COUNT_COLUMNS_FIXED_MAX + 5 * COUNTERS_MAX + 1 };

struct count_columns {
  const struct counter_names *counters;
  enum count_columns_kind kind;
  bool unknown; /* figures are those of a part of the run: cells are empty */
  struct counter_ratio ratios[COUNTER_RATIOS_MAX];
  uint32_t ratios_count;
  char own[4 * COUNTERS_MAX][COUNTER_NAME_MAX + 8];
  const char *all[COUNT_COLUMNS_MAX]; /* the view's own columns, then these */
  size_t count, before;               /* before: the view's own */
};

void count_columns_init(struct count_columns *columns, const struct profile *profile, enum count_columns_kind kind,
                        const char *const *fixed, size_t fixed_count);

/* The cells of a row: of the sum over the threads where line is NULL. */
void count_columns_cells(const struct count_columns *columns, struct row_writer *writer,
                         const struct construct_entry *entry, const struct construct_row *line);

/* Those of a row that has sums only, of the counters that are present.  all_ns: its time; unread_ns: that of which the
 * counts are estimated. */
void count_columns_sums(const struct count_columns *columns, struct row_writer *writer, const uint64_t *counts,
                        const struct counters_present *present, uint64_t all_ns, uint64_t unread_ns);

/* Prints the counts of a group in words, if there are any. */
void count_columns_group_text(const struct counter_names *counters, const struct grain_group *group,
                              const struct terminal *terminal, FILE *stream);

/* Prints the counts in words below a row of text, if there are any. */
void count_columns_text(const struct counter_names *counters, const uint64_t *counts,
                        const struct counters_present *present, bool estimated, const struct terminal *terminal,
                        FILE *stream);

#endif
