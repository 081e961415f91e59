#include "common/symbols/symbols_ranges.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <stdlib.h>

void symbols_ranges_add(struct symbols_ranges *r, struct symbols_range range)
{
  if (range.low >= range.high)
    return;
  *XAPPEND(r->ranges, r->count, r->room) = range;
}

/* Sorts outer ranges before inner ones: by start, then the longer first, then the less deep first. */
ORDER(compare_ranges, struct symbols_range,
      COMPARE(x->low, y->low)
          ?: COMPARE(y->high, x->high) ?: COMPARE(x->depth, y->depth) ?: COMPARE(x->value, y->value))

/* Begins a piece, unless the last one has the same value. */
static void emit(struct symbols_ranges *r, uint64_t start, uint32_t value)
{
  struct symbols_piece *last = r->piece_count ? &r->pieces[r->piece_count - 1] : NULL;
  if (last && last->start == start) {
    last->value = value;
  } else if (!last || last->value != value) {
    last = &r->pieces[r->piece_count++];
    last->start = start;
    last->value = value;
  }
}

/* Closes the ranges on the stack that end at or before address; returns the depth of the stack.  Invariant: a range on
 * the stack ends no later than the one below it. */
static size_t close_until(struct symbols_ranges *r, const uint32_t *stack, size_t depth, uint64_t address)
{
  while (depth && r->ranges[stack[depth - 1]].high <= address) {
    uint64_t end = r->ranges[stack[--depth]].high;
    emit(r, end, depth ? r->ranges[stack[depth - 1]].value : SYMBOLS_NONE);
  }
  return depth;
}

/* Turns the sorted ranges into pieces: each range adds at most two.  A range that begins inside another one and
 * ends beyond it is damaged, and is cut at that end. */
static void sweep(struct symbols_ranges *r, uint32_t *stack)
{
  size_t depth = 0;
  for (size_t i = 0; i < r->count; i++) {
    struct symbols_range *range = &r->ranges[i];
    depth = close_until(r, stack, depth, range->low);
    if (depth) {
      const struct symbols_range *top = &r->ranges[stack[depth - 1]];
      if (top->low == range->low && top->high == range->high && top->depth == range->depth)
        continue;
      range->high = MIN(range->high, top->high);
    }
    stack[depth++] = (uint32_t)i;
    emit(r, range->low, range->value);
  }
  close_until(r, stack, depth, UINT64_MAX);
}

void symbols_ranges_build(struct symbols_ranges *r)
{
  uint32_t *stack = xmalloc(r->count * sizeof *stack);
  r->pieces = xcalloc(2 * r->count, sizeof *r->pieces); /* zero, because padding is written out, too */
  if (r->count)
    qsort(r->ranges, r->count, sizeof *r->ranges, compare_ranges);
  sweep(r, stack);
  free(stack);
  free(r->ranges);
  r->ranges = NULL;
  r->count = r->room = 0;
}

uint32_t symbols_ranges_find(const struct symbols_ranges *r, uint64_t address)
{
  size_t above = FIRST_WHERE(i, r->piece_count, r->pieces[i].start > address);
  return above ? r->pieces[above - 1].value : SYMBOLS_NONE;
}

void symbols_ranges_starts(const struct symbols_ranges *r, uint64_t **starts, size_t *count, size_t *room)
{
  xarray_reserve(starts, room, *count + r->piece_count, sizeof **starts);
  for (size_t i = 0; i < r->piece_count; i++)
    (*starts)[(*count)++] = r->pieces[i].start;
}

void symbols_ranges_release(struct symbols_ranges *r)
{
  free(r->ranges);
  free(r->pieces);
  *r = (struct symbols_ranges){0};
}
