/* Repeating parts of a sequence: loops, and loops within loops.
 *
 * Context: BATCH.  The sequence is divided into items from left to right.  An item is a run of one symbol, which stands
 * for itself however often it repeats, or a loop: at least REPEATS_LEAST times the same unit, which consists of items.
 * How often the items inside a unit repeat may differ from time to time.  Short units are found before the longer ones
 * that contain them.
 *
 * Time: linear in the length of the sequence, for each level of loops within loops, of which there are few.  Memory: 40
 * bytes for each element at most, and the loops with their units.
 */
#ifndef HPCPROF_LITE_ALGORITHMS_REPEATS_H
#define HPCPROF_LITE_ALGORITHMS_REPEATS_H

#include "hpcprof-lite/model/model.h"

enum { REPEATS_LEAST = 3, REPEATS_UNIT_MAX = 1024 }; /* items of a unit */

#define REPEATS_BEGINS 0x80000000u

/* A symbol below repeats.plain is one of the sequence, others are loops[symbol - repeats.plain]. */
struct repeats_item {
  uint32_t symbol, first; /* first element */
};

struct repeats_loop {
  uint32_t first, length;     /* its unit is units[first], ... */
  uint32_t leaves;            /* symbols of the sequence in its unit, with those of loops in it */
  uint64_t runs, repetitions; /* how often it was met, and repeated altogether */
};

struct repeats {
  uint32_t plain;
  struct repeats_item *items;
  uint32_t count;
  struct repeats_loop *loops;
  uint32_t *units;
  uint32_t *leaves; /* [element] which symbol of its item's unit it is; REPEATS_BEGINS: it begins a repetition */
};

/* Divides a sequence of fewer than 2^31 symbols, all of which are less than `plain`. */
void repeats_find(const uint32_t *symbols, uint32_t count, uint32_t plain, struct repeats *repeats);
void repeats_release(struct repeats *repeats);

/* The first element after an item; the number of leaves of a symbol. */
uint32_t repeats_end(const struct repeats *repeats, uint32_t item);
uint32_t repeats_leaves(const struct repeats *repeats, uint32_t symbol);

#endif
