/* The columns that words of options mean.
 *
 * Context: BATCH.  Pure.  A word is the name of a column, the heading that text prints above it, or a part of either;
 * neither case, spaces nor underscores matter.  Where several columns fit equally well, the first one that the view
 * shows is meant; of names that differ in "_incl" and "_excl" only, the one that the view prefers.  A share is meant by
 * a word with "%" or "pct", or if nothing else fits as well.
 */
#ifndef HPCPROF_LITE_INVOCATION_COLUMN_CHOICE_H
#define HPCPROF_LITE_INVOCATION_COLUMN_CHOICE_H

#include "hpcprof-lite/model/table.h"

struct column_choice {
  uint32_t column; /* MODEL_NONE: no column fits */
  bool several;    /* others fit equally well */
  char *names;     /* of those that fit, or of all columns if none does, separated by commas */
};

/* Fills *choice, whose names the caller frees.  exclusive: the view prefers "_excl". */
void column_choice_find(const struct table *table, const char *word, bool exclusive, struct column_choice *choice);

#endif
