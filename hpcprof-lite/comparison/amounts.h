/* What the columns of a run mean where runs are compared: their units, and what their figures rest on.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_COMPARISON_AMOUNTS_H
#define HPCPROF_LITE_COMPARISON_AMOUNTS_H

#include "hpcprof-lite/job.h"

struct amounts_column {
  const char *unit; /* "s", or "" for counts */
  double scale;     /* from the stored amount to the unit */
  enum compare_basis basis;
  double sample; /* of a counted one: the stored amount that a sample stands for */
};

/* A column of the run's trees. */
struct amounts_column amounts_of(const struct job *run, uint32_t column);

/* All samples of the run, of which those of a column's rows are a part. */
uint64_t amounts_samples(const struct job *run, uint32_t column);

/* A view that lists constructs: its columns by number, named as in CSV. */
struct amounts_list {
  const char *const *names;
  uint32_t count, standard, weight; /* standard: what is compared by default; weight: by which rows are heavy */
  uint32_t counts;                  /* bits: columns that are no amounts of time */
};

/* Returns the list of a view, NULL for trees. */
const struct amounts_list *amounts_list(enum options_view view);

/* Returns the number of a column by its name, or MODEL_NONE. */
uint32_t amounts_list_column(const struct amounts_list *list, const char *name);

/* Whether a column is a count. */
bool amounts_list_counts(const struct amounts_list *list, uint32_t column);

/* Sets *value to a construct's sum over its threads in a column of regions; false if it has none. */
bool amounts_construct_value(const struct construct_entry *entry, uint32_t column, uint64_t *value);

#endif
