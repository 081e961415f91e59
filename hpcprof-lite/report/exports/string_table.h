/* Different strings, numbered from 0 in the order in which they are added.  Context: BATCH.  The table refers to the
 * strings, which must outlive it. */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_STRING_TABLE_H
#define HPCPROF_LITE_REPORT_EXPORTS_STRING_TABLE_H

#include "hpcprof-lite/model/hash_map.h"

struct string_table {
  const char **texts;
  uint32_t count;
  size_t room;
  struct hash_map map; /* numbers + 1 by hash */
};

/* Returns the number of a string, which is added if it is new. */
uint32_t string_table_add(struct string_table *table, const char *text);
void string_table_release(struct string_table *table);

#endif
