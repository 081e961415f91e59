/* Sorts more records than memory holds, by way of a temporary file.
 *
 * Context: BATCH.  A record is one to three numbers, and is sorted by the first of them, which is its key.  Records are
 * added, then read in ascending order.  Memory: EXTERNAL_SORT_BYTES, whatever the number of records.
 */
#ifndef HPCPROF_LITE_GRAINS_EXTERNAL_SORT_H
#define HPCPROF_LITE_GRAINS_EXTERNAL_SORT_H

#include "hpcprof-lite/grains/scratch_file.h"

enum { EXTERNAL_SORT_WIDTH_MAX = 3, EXTERNAL_SORT_BYTES = 24 << 20 };

struct external_sort;

/* width: numbers of a record. */
struct external_sort *external_sort_new(unsigned width, struct problems *problems);
void external_sort_free(struct external_sort *sort); /* NULL is allowed */

/* Adds a record.  Returns 0, or ERR_INPUT, which external_sort_rewind() then returns, too. */
int external_sort_add(struct external_sort *sort, const uint64_t *record);

/* Starts reading at the first record; may be called again.  Nothing is added afterwards.  Returns 0 or ERR_INPUT. */
int external_sort_rewind(struct external_sort *sort);

/* Returns the next record, which is valid until the next call; NULL after the last one or if the file cannot be read,
 * which external_sort_failed() tells apart. */
const uint64_t *external_sort_next(struct external_sort *sort);
bool external_sort_failed(const struct external_sort *sort);

#endif
