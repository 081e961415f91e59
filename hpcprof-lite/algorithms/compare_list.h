/* Joins the tables of two sides of one or more runs each, and compares their numbers.
 *
 * Context: BATCH.  Pure: tables are only read, and must live as long as the list, as must the text of the columns that
 * identify rows.  Where memory runs out, functions return ERR_NOMEM; compare_list_release() in every case.
 *
 * Columns are the same by name.  Rows are the same if the columns that identify them are: of files, the name without
 * directories.  Behind a file stands its line: with one build on both sides, it must also be the same; otherwise rows
 * are matched in the order of their lines.  Rows of one run that are the same are added up.
 *
 * A number of a side is the mean over its runs.  A run that lacks the row, or whose cell is empty, counts as 0.
 */
#ifndef HPCPROF_LITE_ALGORITHMS_COMPARE_LIST_H
#define HPCPROF_LITE_ALGORITHMS_COMPARE_LIST_H

#include "hpcprof-lite/algorithms/compare.h"
#include "hpcprof-lite/model/table.h"

enum { COMPARE_KEYS_MAX = 4 };

/* A row of both sides. */
struct compare_line {
  struct cell *cells;             /* [column] what identifies it, and the numbers of the new side */
  struct compare_figure *figures; /* [column] numbers, in the unit of the column */
};

struct compare_list_state;
struct compare_entry;

struct compare_list {
  const char *keys;  /* names of the columns that identify a row, separated by spaces */
  bool numbered;     /* the second of three keys has numbers of one run: rows are numbered again within the first one */
  bool complete;     /* a number that a run lacks is 0, and shown as such */
  const char *shown; /* of the table that was added last */
  struct table_column *columns; /* of all runs */
  struct compare_list_state *states;
  double (*samples)[COMPARE_SIDES]; /* [column] what a sample stands for, in ns or counts; 0: the column is exact */
  uint32_t count, runs[COMPARE_SIDES];
  size_t columns_room, states_room, samples_room;
  uint32_t key[COMPARE_KEYS_MAX], keys_count; /* columns */
  struct compare_entry *entries;              /* rows of runs */
  size_t entries_count, entries_room;
  struct compare_line *lines; /* of both sides, by what identifies them */
  uint32_t lines_count;
  struct cell *cells;
  struct compare_figure *figures; /* those of a line follow those of the one before */
};

/* Adds the table of a run to a side. */
int compare_list_add(struct compare_list *list, int side, const struct table *table);

/* The number of a column, or MODEL_NONE. */
uint32_t compare_list_column(const struct compare_list *list, const char *name);

/* Whether the cells of a column are numbers, and whether all runs have measured them, so that it can be compared. */
bool compare_list_is_number(const struct table_column *column);
bool compare_list_is_figure(const struct compare_list *list, uint32_t column);

/* Fills the lines.  one_build: both sides are of one. */
int compare_list_join(struct compare_list *list, bool one_build);

/* Whether a line is that of the program, which has no place. */
bool compare_list_is_program(const struct compare_list *list, const struct compare_line *line);

void compare_list_release(struct compare_list *list);

#endif
