/* A binary heap of numbers, such as those of streams: the first one is that which comes before all others.
 *
 * Context: BATCH.  The array belongs to the caller and has room for all numbers.  `before` says whether one number
 * comes before another; `context` is passed to it.  The functions are inlined, so that the comparison is, too.
 */
#ifndef HPCPROF_LITE_MODEL_HEAP_H
#define HPCPROF_LITE_MODEL_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct heap {
  uint32_t *items;
  uint32_t count;
};

typedef bool heap_before(const void *context, uint32_t a, uint32_t b);

/* Restores the heap after the number at a place has moved back in the order. */
static inline void heap_sift(const struct heap *heap, uint32_t position, heap_before *before, const void *context)
{
  assert(position < heap->count);
  uint32_t *items = heap->items, moved = items[position];
  for (uint32_t child; (child = 2 * position + 1) < heap->count; position = child) {
    if (child + 1 < heap->count && before(context, items[child + 1], items[child]))
      child++;
    if (!before(context, items[child], moved))
      break;
    items[position] = items[child];
  }
  items[position] = moved;
}

static inline void heap_push(struct heap *heap, uint32_t number, heap_before *before, const void *context)
{
  uint32_t *items = heap->items, position = heap->count++;
  for (; position && before(context, number, items[(position - 1) / 2]); position = (position - 1) / 2)
    items[position] = items[(position - 1) / 2];
  items[position] = number;
}

/* Makes a heap of numbers in any order. */
static inline void heap_make(const struct heap *heap, heap_before *before, const void *context)
{
  for (uint32_t i = heap->count / 2; i-- > 0;)
    heap_sift(heap, i, before, context);
}

/* Restores the heap after the first number has been taken: if there is more of it, it moves back in the order; else it
 * is removed. */
static inline void heap_next(struct heap *heap, bool more, heap_before *before, const void *context)
{
  assert(heap->count);
  if (!more)
    heap->items[0] = heap->items[--heap->count];
  if (heap->count)
    heap_sift(heap, 0, before, context);
}

#endif
