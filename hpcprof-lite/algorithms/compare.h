/* Compares two sides of one or more runs each: joins their rows by name and tests which figures differ.
 *
 * Context: BATCH.  Pure: runs, names and modules are only read, and must live as long as the comparison, which owns its
 * trees.
 *
 * All runs are first translated to common numbers of functions, modules and columns (struct compare_map).  The runs of
 * one side are of one build: their rows are the same if the translated rows are.  Rows of the two sides are joined from
 * the root on: children of joined rows are the same row if they have the same name and file (without directories).
 * Regions, tasks and lines of one build must also have the same line; in another build they have the same distance from
 * the beginning of their function, or else the same order.
 *
 * A figure of a side is the mean over its runs; a run that lacks the row counts as 0.  With one run on each side,
 * sampled figures are tested by their numbers of samples, exact ones are not tested; with repeated runs, all are tested
 * by their variance.  Figures of fewer than MODEL_FEW_SAMPLES samples, and those that are 0 on both sides, are not
 * tested.
 */
#ifndef HPCPROF_LITE_ALGORITHMS_COMPARE_H
#define HPCPROF_LITE_ALGORITHMS_COMPARE_H

#include "hpcprof-lite/algorithms/condition.h"
#include "hpcprof-lite/algorithms/significance.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/table.h"
#include "hpcprof-lite/model/tree.h"

enum { COMPARE_BASE, COMPARE_NEW, COMPARE_SIDES };

/* How a figure was found: counted by samples; exact, but distributed over rows by samples; exact. */
enum compare_basis { COMPARE_COUNTED, COMPARE_DISTRIBUTED, COMPARE_EXACT };

/* Common numbers of what a run refers to. */
struct compare_map {
  const uint32_t *functions, *modules, *columns; /* MODEL_NONE: a column that is not compared; NULL: they are common */
  struct names *names;                           /* common ones, for file names */
  const uint32_t *spent;                         /* columns of the run whose sum is the last column of the sides */
  uint32_t spent_count;
};

/* The runs of one side, added up. */
struct compare_side {
  struct tree tree;              /* sums over the runs */
  unsigned __int128 *squares[2]; /* [row * columns + column] of the runs' exclusive and inclusive values */
  size_t squares_room[2];
  uint32_t runs;
};

struct compare {
  bool is_list; /* set after compare_begin(): constructs stand below the root, which tells nothing about where they are
                 */
  struct compare_side sides[COMPARE_SIDES];
  struct tree joined;
  uint32_t *rows[COMPARE_SIDES]; /* [joined row] row of the side, or MODEL_NONE */
  size_t rows_room[COMPARE_SIDES];
};

/* A column of the trees as it is compared. */
struct compare_metric {
  uint32_t column;
  bool inclusive;
  enum compare_basis basis;
  double sample[COMPARE_SIDES]; /* of a counted one: the amount that a sample stands for */
  uint32_t samples;             /* column of the numbers of samples, MODEL_NONE if there is none */
};

/* One figure of both sides, in its unit. */
struct compare_figure {
  double base, now;
  double probability; /* of such a difference by chance; NAN: not tested */
};

/* A figure of the run, or of a function. */
struct compare_item {
  const char *section, *name, *unit; /* unit: "s", "ratio", or "" for counts */
  const char *file;                  /* of a function, else "" */
  struct compare_figure figure;
};

/* A view that is a list, joined as a tree of two levels.  The tree has a column for the numbers of each of the list,
 * without their decimals, and unless all figures are compared as many more that count the runs in which they are known.
 */
struct compare_list {
  struct table_column *columns; /* of all runs */
  struct compare_list_column {
    bool key;     /* it identifies rows */
    bool number;  /* which all runs have */
    bool unknown; /* it was not measured in a run */
    uint8_t decimals;
    uint32_t runs; /* that have it */
  } * about;
  uint32_t count, metric;             /* metric: the column that is compared */
  uint32_t kind, name, file, process; /* columns with these names, or MODEL_NONE */
  bool chosen;                        /* by --metric */
  bool all_figures;                   /* all columns are compared; what a run lacks is 0, and shown as such */
  const char *shown;                  /* names of the columns that text shows */
  struct cell *keys;                  /* [function of a row * count + column] cells that identify rows */
  struct compare_figure *figures;     /* [row * count + column] */
  size_t columns_room, about_room, keys_room;
};

/* What became of a --fail-if. */
struct compare_gate {
  const struct condition *condition;
  const char *unit;
  struct compare_figure figure; /* without a base: only `now` */
  bool exact;                   /* not sampled */
  double smallest;              /* change that so many samples would show, 0: not known */
  bool few;                     /* too few samples to be tested */
  bool beyond;                  /* the figure is beyond the limit */
  bool other_filter;            /* the runs were not measured with the same filter */
  bool failed;                  /* and significantly so, where that is asked for */
};

/* What reports show of a comparison; the pipeline owns it. */
struct compare_result {
  bool has_base; /* false: only conditions were checked */
  const char *directory[COMPARE_SIDES];
  uint32_t runs[COMPARE_SIDES];
  char filtered[COMPARE_SIDES][PROFILE_FILTERED_MAX]; /* what the measurement of the first run left out; "": nothing */
  double without_core[COMPARE_SIDES], stolen[COMPARE_SIDES]; /* the most of a run: see totals_missing_cores() */
  const char *metric;                                        /* the column of the figures */
  const char *unit;
  struct compare_figure *figures; /* [row of the report's tree] */
  size_t compared;                /* number of figures that were tested */
  struct compare_item *items;
  uint32_t items_count;
  const struct compare_list *list; /* in a view that is a list; else NULL */
  struct compare_gate *gates;
  uint32_t gates_count;
};

/* The number of a column of a list, or MODEL_NONE. */
uint32_t compare_list_column(const struct compare_list *list, const char *name);

/* Whether a column can be compared. */
static inline bool compare_list_is_figure(const struct compare_list *list, uint32_t column)
{
  return list->about[column].number && !list->about[column].unknown;
}

/* The cells that identify a row. */
static inline const struct cell *compare_list_keys(const struct compare_list *list, const struct tree_row *row)
{
  return &list->keys[(size_t)row->function * list->count];
}

/* The text of such a cell, "" without one. */
static inline const char *compare_list_text(const struct cell *cell)
{
  return cell->kind == CELL_TEXT ? cell->text : "";
}

/* Whether such cells are those of the program, whose name is that of the executable. */
bool compare_list_is_program(const struct compare_list *list, const struct cell *keys);

/* Begins with empty sides, whose trees have that many columns. */
void compare_begin(struct compare *compare, uint32_t columns, const char *name);

/* Adds a run to a side.  The tree has incl and excl values; its rows' names must live as long as the comparison. */
void compare_add(struct compare *compare, int side, const struct tree *run, const struct compare_map *map);

/* Joins the sides: fills the rows of `joined`.  modules: the common ones; same_program: both executables are of one
 * build. */
void compare_join(struct compare *compare, const struct names *names, const struct catalog_module *modules,
                  bool same_program);

/* Sets the values of `joined` to the sums of both sides' means (COMPARE_BASE), or to the new side's (COMPARE_NEW). */
void compare_show(struct compare *compare, int from);

/* Returns a figure of a joined row, in the unit of the column. */
struct compare_figure compare_row(const struct compare *compare, uint32_t row, const struct compare_metric *metric);

/* The same of single values: of each run of a side, with the number of samples of all runs of the side. */
struct compare_values {
  const double *values;
  uint32_t runs;
  double sample;    /* the amount that a sample stands for */
  uint64_t samples; /* of a distributed one: its samples */
  uint64_t all;     /* samples of the runs, of which those of the figure are a part; 0: not known */
};
struct compare_figure compare_values(const struct compare_values *base, const struct compare_values *now,
                                     enum compare_basis basis);

/* The samples of a figure with that mean. */
struct significance_part compare_part(const struct compare_values *values, enum compare_basis basis, double mean);

/* Allows for the number of figures.  Returns how many were tested.  `stride`: the size of the structures that hold the
 * figures. */
size_t compare_correct(struct compare_figure *first, size_t count, size_t stride);

/* Whether a figure's difference is significant. */
bool compare_is_significant(const struct compare_figure *figure);

/* Returns new / base - 1; NAN if the base is 0 and the new figure is, too. */
double compare_change(const struct compare_figure *figure);

/* Returns a key that is the larger, the earlier a figure stands when sorted by a column that a comparison adds: base,
 * new, difference, ratio or significance.  NAN for other columns. */
double compare_sort_key(const struct compare_figure *figure, const char *column);

void compare_release(struct compare *compare);

#endif
