/* Which column of a view --sort means: its name, or a part of it that is enough to identify it.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_INVOCATION_SORT_COLUMN_H
#define HPCPROF_LITE_INVOCATION_SORT_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

struct sort_columns {
  const char *const *names;
  uint32_t count;
  bool exclusive; /* of NAME_incl and NAME_excl, the second is meant */
};

/* Returns the column with that name.  Otherwise the one whose name begins with the word, or else contains it; if there
 * are several, the one that has only its unit, _s, behind the word.  Case does not matter.  Returns NULL if no column
 * or more than one is meant; *choice is then a new string that lists the columns to choose from, or NULL without
 * memory, and *several is whether the word means more than one. */
const char *sort_column_find(const char *word, const struct sort_columns *columns, char **choice, bool *several);

#endif
