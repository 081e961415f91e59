/* Growth of arrays.
 *
 * Context: BATCH.  An array is a pointer from malloc(), NULL at first, with the number of elements
 * that it has room for; its owner frees it.
 */
#ifndef COMMON_ARRAY_H
#define COMMON_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `needed` elements of `size` bytes in the array whose pointer is at `array`; room at least doubles, so
 * that appending takes constant time on average.  More than UINT32_MAX elements are refused, because elements are
 * numbered by 32 bits; bytes (size 1) are not numbered.  Returns false without memory; the array is then unchanged. */
bool array_reserve(void *array, size_t *room, size_t needed, size_t size);

/* The same; new elements are zero. */
bool array_reserve_zero(void *array, size_t *room, size_t needed, size_t size);

/* The order of an array of strings, for qsort(). */
int array_by_text(const void *a, const void *b);

#endif
