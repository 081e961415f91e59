/* The rows of a report: a tree of named rows with exclusive and inclusive values.
 *
 * Context: BATCH.  views/topdown.h makes the top-down tree, views/derived.h derives others from it, analyses and
 * reports only read.  One thread at a time may change a tree.  A row is identified by (parent, kind, function, mark),
 * by (parent, kind, file, line) if it has no function, and by all of these if it is a region or task.  The tree owns
 * its rows and values; strings belong to struct names or to the profile.
 *
 * Invariants: row 0 is the root; a row's parent has a smaller number.  In a top-down tree, incl(row) = excl(row) + sum
 * of incl(children), and therefore the sum of excl over all rows = incl(root).
 */
#ifndef HPCPROF_LITE_MODEL_TREE_H
#define HPCPROF_LITE_MODEL_TREE_H

#include "hpcprof-lite/model/catalog.h"
#include "hpcprof-lite/model/table.h"

enum tree_kind {
  ROW_ROOT,
  ROW_FUNCTION,
  ROW_INLINED,
  ROW_LINE,
  ROW_PARALLEL,
  ROW_TASK,
  ROW_PARTIAL,
  ROW_RUNTIME,
  ROW_USER_REGION, /* `file` is also the region's name, because it identifies rows without a function */
  ROW_FILTERED,    /* what a filter of the measurement has left out */
  ROW_MPI          /* a call of the function of MPI with that name, with all that happens in it */
};

struct tree_row {
  uint32_t parent;
  uint32_t first_child, next; /* MODEL_NONE = none */
  uint32_t depth, id;         /* set by tree_finish(); id: in the complete top-down tree of the whole run, or in a flat
                               or bottom-up view */
  enum tree_kind kind;
  uint32_t function; /* MODEL_NONE if it has none */
  uint32_t module;   /* MODEL_NONE if it has none */
  const char *name;  /* with the mark */
  const char *mark;  /* what is uncertain about a function in the path: tree_guessed or tree_inferred; else NULL */
  const char *file;  /* interned: where the function or construct is declared, or the file of a line; "" if not known */
  uint32_t line;
};

struct tree {
  struct tree_row *rows;
  uint32_t count;
  size_t room;
  struct hash_map map;   /* rows by the hash of their identity, without the root */
  uint64_t *excl, *incl; /* [row × columns + column] */
  size_t excl_room, incl_room;
  uint32_t columns;
  uint32_t *order; /* rows in depth-first order, after tree_finish() */
  uint32_t *end;   /* [position in order] position after the row's last descendant */
  bool truncated;  /* rows were left out because there were too many */
};

/* The columns of a tree, and which column holds what: MODEL_NONE if the measurements do not contain it. */
struct tree_columns {
  struct catalog_column columns[CATALOG_COLUMNS_MAX]; /* sorted; strings belong to the catalog */
  uint32_t source[CATALOG_COLUMNS_MAX];               /* [column] number in the catalog */
  uint32_t count, samples, work, overhead, lockwait, idleness, critical;
  uint32_t user_cpu, system_cpu, page_faults, switches, created, creating, blocked, blocked_near, blocked_bytes, mpi;
  uint32_t met; /* number in the catalog of the column that is not 0 in the contexts to which these apply; MODEL_NONE:
                   to all */
  uint32_t events[CATALOG_COLUMNS_MAX], events_count;
  uint32_t counted_faults; /* the event of -c page-faults; MODEL_NONE: not counted */
};

/* What rows are sorted by: figures with the largest first, places in ascending order. */
enum tree_sort {
  SORT_WEIGHT_INCL,
  SORT_WEIGHT_EXCL,
  SORT_SPENT_EXCL,
  SORT_INCL,
  SORT_EXCL,
  SORT_FILE, /* and line */
  SORT_KEYS
};

struct tree_order {
  enum tree_sort by;
  uint32_t column; /* for SORT_INCL and SORT_EXCL */
  const struct tree_columns *columns;
  const struct table_keys *keys; /* [row] for SORT_KEYS; rows that are equal in numbers that name something are sorted
                                    by their IDs */
};

/* A row that has no function and no module. */
static inline struct tree_row tree_plain_row(uint32_t parent, enum tree_kind kind, const char *name, const char *file,
                                             uint32_t line)
{
  return (struct tree_row){.parent = parent,
                           .first_child = MODEL_NONE,
                           .next = MODEL_NONE,
                           .kind = kind,
                           .function = MODEL_NONE,
                           .module = MODEL_NONE,
                           .name = name,
                           .file = file,
                           .line = line};
}

/* Marks of functions whose frames the stack does not show: callers that were guessed, without call frame information;
 * functions that left no frame and must have been called in between.  Their names begin with the mark. */
extern const char tree_guessed[], tree_inferred[];

/* Name of the top-down row of waiting whose context is not known because no sample saw it. */
extern const char tree_unseen_waiting[];

/* The same where it is known why, by enum profile_unseen: what the initial thread did, for which others waited. */
extern const char *const tree_unseen_causes[];

/* Name of the function that stands for all functions of the Python interpreter. */
extern const char tree_interpreter[];

/* Fills *columns from the catalog, in the order of catalog_column_order(). */
void tree_columns_init(const struct catalog *catalog, struct tree_columns *columns);

/* The same of the columns of the whole run, beside those of a part.  Returns whether there are any. */
bool tree_columns_of_whole(const struct catalog *catalog, struct tree_columns *columns);

/* Makes all columns unknown but the critical path.  The values in trees stay. */
void tree_columns_keep_critical(struct tree_columns *columns);

/* Finds the column that a column of CSV shows, work_excl_s for example, and whether inclusive.  Returns whether there
 * is one. */
bool tree_columns_find(const struct tree_columns *columns, const char *name, uint32_t *column, bool *inclusive);

/* Makes a tree that consists of a root with that name, for tree_release(). */
void tree_init(struct tree *tree, uint32_t columns, const char *name);
void tree_release(struct tree *tree);

/* Finds the row with the identity of `wanted`, or adds a copy of `wanted`; sets *added, unless NULL, accordingly.
 * Returns its number. */
uint32_t tree_add(struct tree *tree, const struct tree_row *wanted, bool *added);

/* Adds a copy of `wanted`, even if there is a row with its identity.  Returns the same. */
uint32_t tree_append(struct tree *tree, const struct tree_row *wanted);

/* Adds an amount to an exclusive value. */
void tree_value(struct tree *tree, uint32_t row, uint32_t column, uint64_t amount);

/* Computes all inclusive values of a top-down tree from the exclusive ones. */
void tree_inclusive(struct tree *tree);

/* Sorts siblings, then sets depth, order and end, and IDs unless keep_ids. */
void tree_finish(struct tree *tree, const struct tree_order *order, bool keep_ids);

/* Gives each row the ID of the same row of another tree, whose strings are the same, and rows that it lacks higher
 * ones. Both are finished. */
void tree_take_ids(struct tree *tree, const struct tree *from);

/* Returns whether time was sampled, so that the four categories of time exist. */
bool tree_has_time(const struct tree_columns *columns);

/* Returns the weight of a row.  If time was sampled, this is the sum of the four categories: the row's work and
 * overhead, and the lock wait and idleness that it caused in other threads; and of its time in MPI.  Otherwise it is
 * the first event, or else the samples.
 */
uint64_t tree_weight(const struct tree *tree, const struct tree_columns *columns, uint32_t row, bool inclusive);

/* Returns what threads spent in the row itself: work + overhead if time was sampled, otherwise as tree_weight(). */
uint64_t tree_spent(const struct tree *tree, const struct tree_columns *columns, uint32_t row, bool inclusive);

/* Return one value, 0 for column MODEL_NONE. */
uint64_t tree_incl(const struct tree *tree, uint32_t row, uint32_t column);
uint64_t tree_excl(const struct tree *tree, uint32_t row, uint32_t column);

/* Whether a row of a flat tree may be one of the largest of a column. */
typedef bool tree_fit(const struct tree *flat, uint32_t row, uint32_t column);

/* Fills rows[] with the `most` rows of a flat tree that have the largest exclusive values of a column, the largest
 * first, equal ones in the order of the tree.  Left out are values of 0 and below `least`, and rows that do not fit;
 * fits: NULL if all do.  Returns their number. */
uint32_t tree_largest(const struct tree *flat, uint32_t column, uint64_t least, tree_fit *fits, uint32_t most,
                      uint32_t rows[]);

/* Returns the static name of a kind, as reports show it. */
const char *tree_kind_name(enum tree_kind kind);

/* Returns the name of a row without its mark. */
const char *tree_unmarked_name(const struct tree_row *row);

/* Returns whether a row of the top-down tree is counted in that row of the flat view. */
bool tree_same_function(const struct tree_row *row, const struct tree_row *flat);

#endif
