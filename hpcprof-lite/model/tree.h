/* Rows of a report: a tree of named rows with the values of each.
 *
 * Context: BATCH.  topdown.c makes the top-down tree, derived.c derives the others from it, reports only read.  A row
 * is found or added by (parent, kind, function), rows that stand for no function by (parent, kind, file, line). Strings
 * belong to `names` or to the profile; rows to the tree. Invariants: row 0 is the root; a row's parent has a smaller
 * number.  In a top-down tree incl(row) = excl(row) + sum of incl(children), so that the sum of excl over all rows =
 * incl(root).
 */
#ifndef HPCPROF_LITE_MODEL_TREE_H
#define HPCPROF_LITE_MODEL_TREE_H

#include "hpcprof-lite/model/catalog.h"

enum tree_kind {
  ROW_ROOT,
  ROW_FUNCTION,
  ROW_INLINED,
  ROW_LINE,
  ROW_PARALLEL,
  ROW_TASK,
  ROW_PARTIAL,
  ROW_RUNTIME,
  ROW_USER_REGION, /* `file` is its name, too: rows without a function are told apart by it */
};

struct tree_row {
  uint32_t parent;
  uint32_t first_child, next; /* PROFILE_NONE = none */
  uint32_t depth, id;         /* valid after tree_finish(); id: of the complete top-down tree, else of this view */
  enum tree_kind kind;
  uint32_t function; /* PROFILE_NONE for rows that are none */
  uint32_t module;   /* PROFILE_NONE for rows in none       */
  const char *name;
  const char *file; /* interned, "" if unknown: where the function or construct is declared; of a line, itself */
  uint32_t line;
};

struct tree {
  struct tree_row *rows;
  uint32_t count;
  size_t room;
  struct index index;    /* rows by the hash of their key; the root is not in it */
  uint64_t *excl, *incl; /* [row × columns + column] */
  size_t excl_room, incl_room;
  uint32_t columns;
  uint32_t *order; /* rows in depth-first order, after tree_finish() */
  uint32_t *end;   /* [position in order] position behind the row's last descendant */
  bool cut;        /* some rows were left out for want of room */
};

/* What the columns of a tree mean: numbers of columns, PROFILE_NONE where the measurements have none. */
struct tree_columns {
  struct profile_column columns[CATALOG_COLUMNS_MAX]; /* in canonical order, the catalog's strings */
  uint32_t source[CATALOG_COLUMNS_MAX];               /* number in the catalog */
  uint32_t count, samples, work, overhead, lockwait, idleness, critical;
  uint32_t events[CATALOG_COLUMNS_MAX], events_count;
};

/* What rows are sorted by, the largest first; text the other way round. */
enum tree_sort {
  SORT_WEIGHT_INCL,
  SORT_WEIGHT_EXCL,
  SORT_SPENT_EXCL,
  SORT_RELATIVE, /* idleness in the row's own time */
  SORT_INCL,
  SORT_EXCL,
  SORT_NAME,
  SORT_KIND,
  SORT_MODULE,
  SORT_FILE,
  SORT_ID
};

struct tree_order {
  enum tree_sort by;
  uint32_t column; /* of SORT_INCL and SORT_EXCL */
  const struct tree_columns *columns;
  const struct profile_module *modules;
};

void tree_columns_init(const struct catalog *catalog, struct tree_columns *columns);

/* A tree with a root of that name. */
int tree_init(struct tree *tree, uint32_t columns, const char *name);
void tree_release(struct tree *tree);

/* The row with the key of `wanted`, added as it is where it is missing; *added (may be
 * NULL) says which.  PROFILE_NONE without memory. */
uint32_t tree_add(struct tree *tree, const struct tree_row *wanted, bool *added);

void tree_value(struct tree *tree, uint32_t row, uint32_t column, uint64_t amount);

/* Sets incl from excl, for a tree in which time is inclusive of the rows below. */
void tree_inclusive(struct tree *tree);

/* Sorts siblings, then sets depth, order and end, and ids unless keep_ids.  0, or ERR_NOMEM. */
int tree_finish(struct tree *tree, const struct tree_order *order, bool keep_ids);

/* Whether an event that is a time was measured: then there are the four categories of time. */
bool tree_has_time(const struct tree_columns *columns);

/* What a row weighs: the four categories, that is its work and overhead and what it cost others in lock wait and
 * idleness, where there is a time event; else the first event, else samples. */
uint64_t tree_weight(const struct tree *tree, const struct tree_columns *columns, uint32_t row, bool inclusive);

/* What threads spent in the row themselves: work + overhead where there is a time event, else as tree_weight(). */
uint64_t tree_spent(const struct tree *tree, const struct tree_columns *columns, uint32_t row, bool inclusive);

/* One cell, 0 for column PROFILE_NONE. */
uint64_t tree_incl(const struct tree *tree, uint32_t row, uint32_t column);
uint64_t tree_excl(const struct tree *tree, uint32_t row, uint32_t column);

const char *tree_kind_name(enum tree_kind kind);

/* Whether a row of the top-down tree belongs to that row of the flat view. */
bool tree_same_function(const struct tree_row *row, const struct tree_row *flat);

#endif
