/* Maps an address to the innermost range that contains it.
 *
 * Context: BATCH.  Ranges may nest, repeat or overlap.  Once all are added, they are turned into a sorted list of
 * disjoint pieces, in which a look-up is a binary search.  The caller owns the structure, and
 * symbols_ranges_release() frees its arrays.
 */
#ifndef COMMON_SYMBOLS_SYMBOLS_RANGES_H
#define COMMON_SYMBOLS_SYMBOLS_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_NONE UINT32_MAX

struct symbols_range {
  uint64_t low, high; /* [low, high), low < high                          */
  uint32_t value;     /* returned by a look-up                            */
  uint32_t depth;     /* of equal ranges, the deeper one is the inner one */
};

struct symbols_piece {
  uint64_t start; /* the piece ends at the start of the next one */
  uint32_t value; /* SYMBOLS_NONE: a gap                           */
};

/* Initialised to zero by the caller. */
struct symbols_ranges {
  struct symbols_range *ranges; /* until symbols_ranges_build() */
  size_t count, room;
  struct symbols_piece *pieces;
  size_t piece_count;
};

/* Adds a range, unless it is empty. */
void symbols_ranges_add(struct symbols_ranges *r, struct symbols_range range);

/* Turns the ranges into pieces; of equal ranges of equal depth the one with the smallest value is kept. */
void symbols_ranges_build(struct symbols_ranges *r);

/* Returns the value of the innermost range that contains the address, SYMBOLS_NONE if there is none. */
uint32_t symbols_ranges_find(const struct symbols_ranges *r, uint64_t address);

/* Adds the starts of all pieces to an array that grows (common/array.h). */
void symbols_ranges_starts(const struct symbols_ranges *r, uint64_t **starts, size_t *count, size_t *room);

void symbols_ranges_release(struct symbols_ranges *r);

#endif
