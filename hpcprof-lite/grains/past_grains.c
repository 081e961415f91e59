#include "hpcprof-lite/grains/past_grains.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Longer paths are cut off and end in their hash. */
enum { LEVELS_MAX = 48 };

void past_grains_release(struct past_grains *past)
{
  free(past->grains);
  free(past->counts);
  free(past->loops);
}

static bool is_team_path(const struct past_grain *grain)
{
  return grain->construct || grain->flags & LIVE_GRAIN_OF_LOOP;
}

/* ---- hashes ---- */

static void hash_path(struct past_grains *past, struct past_grain *grain)
{
  const struct past_grain *parent = past_grain(past, grain->parent);
  uint64_t above = is_team_path(grain) ? parent->team_hash : parent->hash;
  uint64_t first, last;
  grain->depth = parent->depth + 1;
  grain->prefix = parent->depth == LEVELS_MAX ? grain->parent : parent->prefix;
  if (grain->construct)
    above = hash_map_key(above, grain->construct << 1 | (grain->flags & LIVE_GRAIN_MASKED ? 1 : 0));
  if (grain->flags & LIVE_GRAIN_RANGE) {
    past_grains_iterations(past, grain, &first, &last);
    uint64_t loop = past->loops[grain->loop].number;
    uint64_t more = grain->iterations ? grain->iterations : past->placements[grain->placement].thread;
    above =
        hash_map_key(hash_map_key(hash_map_key(above, ~loop), grain->iterations ? first : grain->chunk), last ^ more);
  } else {
    above = hash_map_key(above, grain->number);
  }
  bool with_thread = (grain->flags & LIVE_GRAIN_KIND) == GRAIN_IMPLICIT || grain->flags & LIVE_GRAIN_FURTHER;
  grain->team_hash = above;
  grain->hash = with_thread ? hash_map_key(above, ~(uint64_t)grain->thread) : above;
}

/* ---- records ---- */

void past_grains_open(struct past_grains *past, const struct tape_record *record)
{
  const uint64_t *operand = record->operand;
  uint64_t index = operand[0], parent = operand[1];
  xarray_reserve_zero(&past->grains, &past->grains_room, MAX(index, parent) + 1, sizeof *past->grains);
  struct past_grain *grain = past_grain(past, index);
  uint32_t kind = (uint32_t)operand[3] & LIVE_GRAIN_KIND;
  *grain = (struct past_grain){.id = past->next_id,
                               .flags = (uint32_t)operand[3],
                               .parent = (uint32_t)parent,
                               .root = kind >= GRAIN_TASK ? past_grain(past, parent)->root : (uint32_t)index,
                               .row = (uint32_t)operand[4],
                               .creator_row = (uint32_t)operand[5],
                               .number = operand[6],
                               .construct = operand[7],
                               .joins = (uint32_t)operand[8],
                               .clock = (uint32_t)operand[9],
                               .placement = (uint32_t)operand[10],
                               .thread = past->placements[operand[10]].thread,
                               .parallelism = GRAIN_UNKNOWN};
  past->next_id -= tape_unzigzag(operand[2]);
  if (index < past->counts_room)
    past->counts[index] = (struct past_counts){0};
  if (!(grain->flags & LIVE_GRAIN_RANGE)) /* otherwise that follows */
    hash_path(past, grain);
}

void past_grains_member(struct past_grains *past, const struct tape_record *record)
{
  struct past_grain *grain = past_grain(past, record->operand[0]);
  grain->thread = (uint32_t)record->operand[1];
  hash_path(past, grain);
}

void past_grains_created(struct past_grains *past, const struct tape_record *record)
{
  struct past_grain *grain = past_grain(past, record->operand[0]);
  grain->instant = record->operand[1];
  grain->create = record->operand[2];
}

void past_grains_range(struct past_grains *past, const struct tape_record *record)
{
  struct past_grain *grain = past_grain(past, record->operand[0]);
  grain->loop = (uint32_t)record->operand[1];
  grain->start = record->operand[2];
  grain->iterations = past->loops[grain->loop].partial ? 0 : record->operand[3]; /* it has those of others, too */
  grain->overhead = record->operand[4];
  grain->chunk = record->operand[5];
  hash_path(past, grain);
}

void past_grains_loop(struct past_grains *past, const struct tape_record *record)
{
  assert(record->operand[0]);
  const uint64_t *operand = record->operand;
  xarray_reserve_zero(&past->loops, &past->loops_room, operand[0] + 1, sizeof *past->loops);
  past->loops[operand[0]] = (struct past_loop){.number = operand[1],
                                               .increment = operand[2],
                                               .threads = operand[3],
                                               .exec = operand[4],
                                               .longest = operand[5],
                                               .scatter = operand[6],
                                               .partial = operand[7]};
}

void past_grains_count(struct past_grains *past, const struct tape_record *record)
{
  assert(record->operand[1] < COUNTERS_MAX);
  uint64_t index = record->operand[0];
  xarray_reserve_zero(&past->counts, &past->counts_room, index + 1, sizeof *past->counts);
  uint64_t *count = &past->counts[index].at[record->operand[1]];
  model_add(count, record->operand[2]);
}

const uint64_t *past_grains_counts(const struct past_grains *past, const struct past_grain *grain)
{
  assert(grain >= past->grains && grain < past->grains + past->grains_room);
  static const struct past_counts none;
  size_t index = (size_t)(grain - past->grains);
  if (!grain->ran || grain->flags & LIVE_GRAIN_UNCOUNTED)
    return NULL;
  return index < past->counts_room ? past->counts[index].at : none.at;
}

void past_grains_iterations(const struct past_grains *past, const struct past_grain *grain, uint64_t *first,
                            uint64_t *last)
{
  *first = *last = GRAIN_UNKNOWN;
  if (!grain->iterations)
    return;
  *first = grain->start;
  uint64_t increment = past->loops[grain->loop].increment;
  if (increment)
    *last = grain->start + (grain->iterations - 2) * tape_unzigzag(increment - 1);
}

/* ---- paths ---- */

struct text {
  char *at, *end;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
  assert(text->at < text->end);
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text->at, (size_t)(text->end - text->at), format, arguments);
  va_end(arguments);
  text->at = length < text->end - text->at ? text->at + length : text->end - 1;
}

static void add_number(struct text *text, char before, uint64_t number)
{
  assert(text->at < text->end);
  char digits[20];
  unsigned count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  if (text->end - text->at <= (ptrdiff_t)count + 2)
    return;
  if (before)
    *text->at++ = before;
  while (count)
    *text->at++ = digits[--count];
  *text->at = '\0';
}

static void add_chunk(const struct past_grains *past, struct text *text, const struct past_grain *grain)
{
  uint64_t first, last;
  past_grains_iterations(past, grain, &first, &last);
  add(text, "/L%" PRIu64, past->loops[grain->loop].number);
  if (!grain->iterations)
    add(text, "[t%" PRIu32 ".%" PRIu64 "]", past->placements[grain->placement].thread, grain->chunk);
  else if (last == GRAIN_UNKNOWN)
    add(text, "[%" PRId64 "x%" PRIu64 "]", (int64_t)first, grain->iterations - 1);
  else
    add(text, "[%" PRId64 "-%" PRId64 "]", (int64_t)first, (int64_t)last);
}

/* without_thread: below a construct that the team shares. */
static void add_path(struct past_grains *past, struct text *text, const struct past_grain *grain, bool without_thread)
{
  assert(grain->depth);
  uint32_t kind = grain->flags & LIVE_GRAIN_KIND;
  if (grain->depth > LEVELS_MAX + 1) {
    add_path(past, text, past_grain(past, grain->prefix), false);
    add(text, "~%016" PRIx64, grain->hash);
    return;
  }
  if (kind == GRAIN_INITIAL && !(grain->flags & LIVE_GRAIN_FURTHER)) {
    add_number(text, '\0', 0);
    return;
  }
  if (kind == GRAIN_INITIAL) {
    add(text, grain->number > 1 ? "t%" PRIu32 "_%" PRIu64 : "t%" PRIu32, grain->thread, grain->number);
    return;
  }
  if (grain->parent)
    add_path(past, text, past_grain(past, grain->parent), is_team_path(grain));
  if (grain->construct && grain->flags & LIVE_GRAIN_MASKED)
    add(text, ".m%" PRIu64, grain->construct);
  else if (grain->construct)
    add_number(text, '.', grain->construct);
  if (grain->flags & LIVE_GRAIN_RANGE)
    add_chunk(past, text, grain);
  else
    add_number(text, '.', grain->number);
  if (kind == GRAIN_IMPLICIT && !without_thread)
    add(text, ".t%" PRIu32, grain->thread);
}

void past_grains_path(struct past_grains *past, const struct past_grain *grain)
{
  struct text text = {past->path, past->path + sizeof past->path};
  *text.at = '\0';
  add_path(past, &text, grain, false);
}
