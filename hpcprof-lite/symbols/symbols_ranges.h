/* Address → innermost range.  BATCH.  Ranges that may nest, repeat or overlap are turned once into a sorted list of
 * disjoint segments; a look-up is a binary search.  Memory is the caller's to release with symbols_ranges_release().
 * */
#ifndef HPCPROF_LITE_SYMBOLS_SYMBOLS_RANGES_H
#define HPCPROF_LITE_SYMBOLS_SYMBOLS_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_NONE UINT32_MAX

struct symbols_range {
  uint64_t low, high; /* [low, high), low < high                                   */
  uint32_t value;     /* what a look-up returns                                    */
  uint32_t depth;     /* of ranges that are equal, the deeper one is the inner one */
};

struct symbols_segment {
  uint64_t start; /* up to the next segment's start   */
  uint32_t value; /* SYMBOLS_NONE: a gap              */
};

struct symbols_ranges {
  struct symbols_range *ranges; /* collected; gone once they are built  */
  size_t count, room;
  struct symbols_segment *segments;
  size_t segment_count;
};

/* Appends one range; empty ones are dropped.  False: no memory. */
bool symbols_ranges_add(struct symbols_ranges *r, struct symbols_range range);

/* Turns what was collected into segments; of equal ranges of equal depth the smallest value stays.  False: no memory.
 * */
bool symbols_ranges_build(struct symbols_ranges *r);

/* The value of the innermost range that holds address, SYMBOLS_NONE without. */
uint32_t symbols_ranges_find(const struct symbols_ranges *r, uint64_t address);

void symbols_ranges_release(struct symbols_ranges *r);

#endif
