#include "hpcprof-lite/timeline/timeline_index.h"

#include "common/format.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/stream_extents.h"
#include "hpcprof-lite/timeline/cell_sum.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* FINER: cells of the index that a wanted one is made of at least, where there are any. */
enum { FINER = 64, SHIFT_MAX = 62 };

struct timeline_index {
  struct stream_extents file;
  struct format_index head;
  uint64_t offset_ns;
};

/* ---- reading ---- */

static const struct stream_extent *find_extent(const struct stream_extents *file, uint32_t owner, uint32_t first)
{
  size_t number = stream_extents_find(file, owner, first);
  const struct stream_extent *found = number < file->count ? &file->extents[number] : NULL;
  return found && found->owner == owner && found->first == first ? found : NULL;
}

/* Returns false if there is no such extent, or it is damaged. */
static bool decode(const struct timeline_index *index, const struct stream_extent *extent, size_t most, uint8_t **bytes,
                   size_t *size)
{
  char message[256];
  return extent && !stream_extents_decode(&index->file, extent, most, bytes, size, message);
}

static bool read_head(struct timeline_index *index, const struct timeline_index_key *key)
{
  uint8_t *bytes;
  size_t size;
  if (!decode(index, find_extent(&index->file, 0, 0), sizeof index->head, &bytes, &size))
    return false;
  if (size == sizeof index->head)
    memcpy(&index->head, bytes, size);
  free(bytes);
  return size == sizeof index->head && index->head.digest == key->digest && index->head.levels &&
         index->head.shift + (uint64_t)index->head.levels <= SHIFT_MAX + 1 &&
         index->head.cell_size == sizeof(struct timeline_index_cell);
}

struct timeline_index *timeline_index_open(const struct timeline_index_key *key)
{
  struct timeline_index *index = xcalloc(1, sizeof *index);
  struct problems ignored = {0};
  index->offset_ns = key->offset_ns;
  int status = stream_extents_open(key->measurement, FORMAT_INDEX_SUFFIX, FORMAT_INDEX, &ignored, &index->file);
  bool whole = !status && !ignored.count;
  problems_release(&ignored);
  if (whole && read_head(index, key))
    return index;
  timeline_index_close(index);
  return NULL;
}

void timeline_index_close(struct timeline_index *index)
{
  if (!index)
    return;
  stream_extents_release(&index->file);
  free(index);
}

uint8_t *timeline_index_more(const struct timeline_index *index, uint32_t part, size_t *size)
{
  if (!index || part == UINT32_MAX)
    return NULL;
  uint8_t *bytes;
  const struct stream_extent *extent = find_extent(&index->file, 0, part + 1);
  return decode(index, extent, STREAM_EXTENTS_MAX, &bytes, size) ? bytes : NULL;
}

bool timeline_index_check(const struct timeline_index *index)
{
  for (size_t i = 0; i < index->file.count; i++) {
    uint8_t *bytes;
    size_t size;
    if (!decode(index, &index->file.extents[i], STREAM_EXTENTS_MAX, &bytes, &size))
      return false;
    free(bytes);
  }
  return true;
}

bool timeline_index_critical(const struct timeline_index *index)
{
  return index->head.critical_known;
}

/* ---- cells ---- */

struct reading {
  const struct timeline_index *index;
  uint32_t level, count;
  uint64_t from_ns, to_ns; /* since the start of the run */
  const struct timeline_index_lane *lane;
  struct timeline_index_cell *cells;
  uint32_t open; /* the cell that `sum` is about */
  bool in_parts; /* times of cells at the ends of the range are divided, not left out */
  struct cell_sum sum;
};

_Static_assert((int)FORMAT_INDEX_CATEGORIES == (int)TIMELINE_CATEGORIES, "cells are stored as they are");

/* Whether a cell tells all of the lane's life that lies in it. */
static bool plausible(const struct timeline_index_cell *cell, uint64_t life_ns)
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    model_add(&sum, cell->ns[i]);
  return sum == life_ns && cell->critical_ns <= sum && cell->node_ns <= sum && cell->record_ns <= sum;
}

/* The part of an amount between two moments of a cell, so that all parts add up to it. */
static uint64_t part_of(uint64_t amount, uint64_t from, uint64_t to, uint64_t length)
{
  assert(length && from <= to && to <= length);
  return (uint64_t)((__uint128_t)amount * to / length) - (uint64_t)((__uint128_t)amount * from / length);
}

/* Adds the part of a cell between two moments of it.  counts: also its categories. */
static void add_part(struct cell_sum *sum, const struct timeline_index_cell *cell, uint64_t from, uint64_t to,
                     uint64_t length, bool counts)
{
  assert(from < to && to <= length);
  for (unsigned i = 0; i < TIMELINE_CATEGORIES && counts; i++)
    model_add(&sum->ns[i], part_of(cell->ns[i], from, to, length));
  model_add(&sum->critical_ns, part_of(cell->critical_ns, from, to, length));
  if (cell->node_ns)
    cell_sum_weigh(&sum->contexts, cell->node, cell->node, part_of(cell->node_ns, from, to, length));
  if (cell->record_ns)
    cell_sum_weigh(&sum->constructs, cell->record, cell->record, part_of(cell->record_ns, from, to, length));
}

static uint64_t start_of(const struct reading *reading, uint32_t i)
{
  assert(i <= reading->count);
  return timeline_cell_start(reading->from_ns, reading->to_ns, reading->count, i);
}

static void close_cell(struct reading *reading)
{
  assert(reading->open < reading->count);
  struct timeline_index_cell *cell = &reading->cells[reading->open++];
  struct cell_amount node = cell_sum_most(&reading->sum.contexts), record = cell_sum_most(&reading->sum.constructs);
  memcpy(cell->ns, reading->sum.ns, sizeof cell->ns);
  cell->critical_ns = reading->sum.critical_ns;
  cell->node = node.number;
  cell->node_ns = node.ns;
  cell->record = record.number;
  cell->record_ns = record.ns;
  cell_sum_clear(&reading->sum);
}

/* Divides a cell of the index among those that are wanted. */
static void divide(struct reading *reading, const struct timeline_index_cell *cell, uint64_t start_ns,
                   uint64_t length_ns)
{
  uint64_t end_ns = start_ns + length_ns;
  bool counts = reading->in_parts || (start_ns >= reading->from_ns && end_ns <= reading->to_ns);
  while (reading->open < reading->count) {
    uint64_t from_ns = start_of(reading, reading->open), to_ns = start_of(reading, reading->open + 1);
    if (from_ns >= end_ns)
      break;
    from_ns = MAX(from_ns, start_ns);
    if (from_ns < to_ns)
      add_part(&reading->sum, cell, from_ns - start_ns, MIN(to_ns, end_ns) - start_ns, length_ns, counts);
    if (to_ns > end_ns)
      break;
    close_cell(reading);
  }
}

/* Reads the cells of a block.  Returns false if it is damaged. */
static bool read_block(struct reading *reading, uint64_t block, uint64_t first, uint64_t end)
{
  assert(first < end);
  struct timeline_index_cell cells[TIMELINE_INDEX_BLOCK];
  uint8_t *bytes;
  size_t size;
  uint64_t length_ns = UINT64_C(1) << (reading->index->head.shift + reading->level);
  const struct stream_extent *extent = NULL;
  if (!(block >> TIMELINE_INDEX_LEVEL_SHIFT))
    extent = find_extent(&reading->index->file, reading->lane->thread,
                         reading->level << TIMELINE_INDEX_LEVEL_SHIFT | (uint32_t)block);
  if (!decode(reading->index, extent, sizeof cells, &bytes, &size)) /* there must be one: the thread lived then */
    return false;
  if (size == sizeof cells)
    memcpy(cells, bytes, sizeof cells);
  free(bytes);
  if (size != sizeof cells)
    return false;
  uint64_t begin = block * TIMELINE_INDEX_BLOCK;
  for (uint64_t i = first > begin ? first - begin : 0; i < TIMELINE_INDEX_BLOCK && begin + i < end; i++) {
    uint64_t start_ns = model_sum(reading->index->offset_ns, (begin + i) * length_ns);
    uint64_t end_ns = model_sum(start_ns, length_ns);
    start_ns = MAX(start_ns, reading->lane->start_ns);
    end_ns = MIN(end_ns, reading->lane->end_ns);
    if (start_ns >= end_ns || !plausible(&cells[i], end_ns - start_ns))
      return false;
    divide(reading, &cells[i], start_ns, end_ns - start_ns);
  }
  return true;
}

/* Whether the last level holds a life in one cell, as it must: otherwise reading would take as long as there are cells.
 */
static bool holds_life(const struct timeline_index *index, const struct timeline_index_lane *lane)
{
  assert(lane->start_ns < lane->end_ns && index->head.levels);
  return lane->start_ns >= index->offset_ns &&
         (lane->end_ns - 1 - index->offset_ns) >> (index->head.shift + index->head.levels - 1) == 0;
}

/* The level of the longest cells that are short enough.  Returns false if there is none, or the life is not held. */
static bool choose_level(const struct timeline_index *index, const struct timeline_index_lane *lane, uint64_t wanted_ns,
                         uint32_t *level)
{
  assert(index->head.levels);
  unsigned shift = index->head.shift;
  if (wanted_ns >> shift == 0 || !holds_life(index, lane))
    return false;
  for (*level = 0; *level + 1 < index->head.levels; ++*level)
    if ((wanted_ns / FINER) >> (shift + *level + 1) == 0)
      break;
  return true;
}

/* The part of a range within the lane's life that whole cells from `first` until before `end` cover; none: its end. */
static struct timeline_index_reach reach_of(const struct reading *reading, uint64_t first, uint64_t end)
{
  unsigned shift = reading->index->head.shift + reading->level;
  const struct timeline_index_lane *lane = reading->lane;
  uint64_t life_from = lane->start_ns - reading->index->offset_ns, life_to = lane->end_ns - reading->index->offset_ns;
  uint64_t from = reading->from_ns > lane->start_ns ? reading->from_ns - reading->index->offset_ns : life_from;
  uint64_t to = reading->to_ns < lane->end_ns ? reading->to_ns - reading->index->offset_ns : life_to;
  struct timeline_index_reach reach = {from, to};
  if (from > life_from && from > first << shift)
    reach.from_ns = (first + 1) << shift;
  if (to < life_to && to < end << shift)
    reach.to_ns = (end - 1) << shift;
  if (reach.from_ns >= reach.to_ns)
    reach.from_ns = reach.to_ns = to;
  reach.from_ns += reading->index->offset_ns;
  reach.to_ns += reading->index->offset_ns;
  return reach;
}

/* Ends reading: the cells that remain are closed, unless the index is damaged.  Returns `whole`. */
static bool finish(struct reading *reading, bool whole)
{
  while (reading->open < reading->count && whole)
    close_cell(reading);
  cell_sum_release(&reading->sum);
  return whole;
}

bool timeline_index_read(const struct timeline_index *index, const struct timeline_index_lane *lane, uint64_t from_ns,
                         uint64_t to_ns, uint32_t count, struct timeline_index_cell *cells,
                         struct timeline_index_reach *reach)
{
  assert(count && from_ns <= to_ns);
  struct reading reading = {
      .index = index, .lane = lane, .from_ns = from_ns, .to_ns = to_ns, .count = count, .cells = cells};
  memset(cells, 0, count * sizeof *cells);
  *reach = (struct timeline_index_reach){from_ns, to_ns};
  if (lane->start_ns >= lane->end_ns)
    return true;
  if (!choose_level(index, lane, (to_ns - from_ns) / count, &reading.level))
    return false;
  unsigned shift = index->head.shift + reading.level;
  uint64_t start_ns = MAX(lane->start_ns, from_ns);
  uint64_t end_ns = MIN(lane->end_ns, to_ns);
  if (start_ns >= end_ns)
    return true;
  uint64_t first = (start_ns - index->offset_ns) >> shift, end = ((end_ns - 1 - index->offset_ns) >> shift) + 1;
  *reach = reach_of(&reading, first, end);
  bool whole = true;
  for (uint64_t block = first / TIMELINE_INDEX_BLOCK; block * TIMELINE_INDEX_BLOCK < end && whole; block++)
    whole = read_block(&reading, block, first, end);
  return finish(&reading, whole);
}

bool timeline_index_sum(const struct timeline_index *index, const struct timeline_index_lane *lane, uint64_t from_ns,
                        uint64_t to_ns, struct timeline_index_cell *cell)
{
  assert(from_ns <= to_ns);
  enum { STEP = 10 }; /* levels: cells of one block are as long as a cell of the next level that is read */
  struct reading reading = {
      .index = index, .lane = lane, .from_ns = from_ns, .to_ns = to_ns, .count = 1, .cells = cell, .in_parts = true};
  uint64_t start_ns = MAX(lane->start_ns, from_ns);
  uint64_t end_ns = MIN(lane->end_ns, to_ns);
  unsigned shift = index->head.shift;
  bool whole = true;
  *cell = (struct timeline_index_cell){0};
  if (start_ns >= end_ns)
    return true;
  if (!holds_life(index, lane))
    return false;
  uint64_t at = (start_ns - index->offset_ns) >> shift, end = ((end_ns - 1 - index->offset_ns) >> shift) + 1;
  while (at < end && whole) {
    unsigned level = 0;
    while (level + STEP < index->head.levels && !(at & ((UINT64_C(1) << (level + STEP)) - 1)) &&
           (end - at) >> (level + STEP))
      level += STEP;
    uint64_t first = at >> level, last = ((first / TIMELINE_INDEX_BLOCK + 1) * TIMELINE_INDEX_BLOCK);
    last = MIN(last, end >> level);
    reading.level = level;
    whole = read_block(&reading, first / TIMELINE_INDEX_BLOCK, first, last);
    at = last << level;
  }
  return finish(&reading, whole);
}
