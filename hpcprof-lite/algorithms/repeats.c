#include "hpcprof-lite/algorithms/repeats.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/hash_map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* CANDIDATES: how often a unit may contain what it begins with.  ROUNDS: more than loops in loops need. */
enum { CANDIDATES = 16, ROUNDS = 40 };

/* Rounds look for units up to a length, where as many items as `alike` occur again. */
static const struct level {
  uint32_t most, alike;
} levels[] = {{4, 1}, {16, 2}, {64, 8}, {256, 32}, {REPEATS_UNIT_MAX, 128}};

struct finder {
  struct repeats *repeats;
  struct hash_map known; /* hash of a unit → number of the loop + 1 */
  size_t loops_room, units_room;
  uint32_t loops_count, units_count;
  uint32_t *next;     /* [item] the next one from which the same items follow, 0: none */
  uint32_t *first_of; /* hash table: the first of the items that were seen from the right + 1 */
  uint32_t slots;
  uint64_t *hashes;                          /* [item] of all items before it */
  uint64_t powers[2 * REPEATS_UNIT_MAX + 1]; /* of the factor of hashes */
};

uint32_t repeats_end(const struct repeats *repeats, uint32_t item)
{
  assert(item < repeats->count);
  return repeats->items[item + 1].first;
}

uint32_t repeats_leaves(const struct repeats *repeats, uint32_t symbol)
{
  return symbol < repeats->plain ? 1 : repeats->loops[symbol - repeats->plain].leaves;
}

/* The first items: runs of one symbol, and one that marks the end. */
static void divide_into_runs(struct repeats *repeats, const uint32_t *symbols, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    if (!i || symbols[i] != symbols[i - 1])
      repeats->items[repeats->count++] = (struct repeats_item){.symbol = symbols[i], .first = i};
  repeats->items[repeats->count] = (struct repeats_item){.first = count};
}

/* The hash of `length` items. */
static uint64_t hash_of(const struct finder *finder, uint32_t from, uint32_t length)
{
  assert(length <= 2 * REPEATS_UNIT_MAX && from + length <= finder->repeats->count);
  return finder->hashes[from + length] - finder->hashes[from] * finder->powers[length];
}

static void prepare_round(struct finder *finder, uint32_t alike)
{
  const struct repeats *repeats = finder->repeats;
  finder->hashes[0] = 0;
  for (uint32_t i = 0; i < repeats->count; i++)
    finder->hashes[i + 1] = finder->hashes[i] * finder->powers[1] + repeats->items[i].symbol + 1;
  memset(finder->first_of, 0, finder->slots * sizeof *finder->first_of);
  memset(finder->next, 0, repeats->count * sizeof *finder->next);
  for (uint32_t i = repeats->count >= alike ? repeats->count - alike + 1 : 0; i-- > 0;) {
    uint64_t hash = hash_of(finder, i, alike);
    uint32_t slot = (uint32_t)(hash_map_key(0, hash) & (finder->slots - 1)), found;
    while ((found = finder->first_of[slot]) && hash_of(finder, found - 1, alike) != hash)
      slot = (slot + 1) & (finder->slots - 1);
    finder->next[i] = found ? found - 1 : 0;
    finder->first_of[slot] = i + 1;
  }
}

/* How often the `period` items from that one on follow each other. */
static uint32_t repetitions(const struct repeats *repeats, uint32_t from, uint32_t period)
{
  assert(period && from + period <= repeats->count);
  uint32_t end = from + period;
  while (end < repeats->count && repeats->items[end].symbol == repeats->items[end - period].symbol)
    end++;
  return (end - from) / period;
}

/* Finds the shortest unit that repeats from an item on.  Returns its length, or 0. */
static uint32_t find_unit(const struct finder *finder, uint32_t from, uint32_t most, uint32_t *times)
{
  assert(from < finder->repeats->count && most <= REPEATS_UNIT_MAX);
  const struct repeats *repeats = finder->repeats;
  uint32_t other = from;
  for (unsigned i = 0; i < CANDIDATES; i++) {
    other = finder->next[other];
    uint32_t period = other - from;
    if (!other || period > most || (uint64_t)from + REPEATS_LEAST * (uint64_t)period > repeats->count)
      return 0;
    if (hash_of(finder, from, 2 * period) != hash_of(finder, other, 2 * period))
      continue;
    *times = repetitions(repeats, from, period);
    if (*times >= REPEATS_LEAST)
      return period;
  }
  return 0;
}

static bool same_unit(const struct finder *finder, const struct repeats_loop *loop, uint32_t from, uint32_t length)
{
  if (loop->length != length)
    return false;
  for (uint32_t i = 0; i < length; i++)
    if (finder->repeats->units[loop->first + i] != finder->repeats->items[from + i].symbol)
      return false;
  return true;
}

/* Finds or adds the loop whose unit are those items.  Returns its number. */
static uint32_t loop_of(struct finder *finder, uint32_t from, uint32_t length)
{
  assert(length && from + length <= finder->repeats->count);
  struct repeats *repeats = finder->repeats;
  uint64_t hash = hash_map_key(length, hash_of(finder, from, length));
  uint32_t found = HASH_MAP_FIND(&finder->known, hash, i, same_unit(finder, &repeats->loops[i - 1], from, length));
  if (found)
    return found - 1;
  xarray_reserve(&repeats->units, &finder->units_room, (size_t)finder->units_count + length, sizeof *repeats->units);
  struct repeats_loop *loop = XAPPEND(repeats->loops, finder->loops_count, finder->loops_room);
  *loop = (struct repeats_loop){.first = finder->units_count, .length = length};
  for (uint32_t i = 0; i < length; i++) {
    uint32_t symbol = repeats->items[from + i].symbol;
    repeats->units[finder->units_count++] = symbol;
    loop->leaves += repeats_leaves(repeats, symbol);
  }
  hash_map_add(&finder->known, hash, finder->loops_count);
  return finder->loops_count - 1;
}

/* Numbers the leaves of a loop's items anew. */
static void number_leaves(struct repeats *repeats, uint32_t from, uint32_t length, uint32_t times)
{
  assert(length && (uint64_t)from + (uint64_t)length * times <= repeats->count);
  uint32_t base = 0;
  for (uint32_t i = 0; i < length * times; i++) {
    const struct repeats_item *item = &repeats->items[from + i];
    if (i % length == 0)
      base = 0;
    for (uint32_t element = item->first; element < item[1].first; element++)
      repeats->leaves[element] = base + (repeats->leaves[element] & ~REPEATS_BEGINS);
    if (i % length == 0)
      repeats->leaves[item->first] |= REPEATS_BEGINS;
    base += repeats_leaves(repeats, item->symbol);
  }
}

/* Replaces units by loops.  Returns whether there were any. */
static bool find_loops(struct finder *finder, const struct level *level)
{
  struct repeats *repeats = finder->repeats;
  uint32_t kept = 0, times = 0;
  bool changed = false;
  prepare_round(finder, level->alike);
  for (uint32_t i = 0; i < repeats->count;) {
    uint32_t length = find_unit(finder, i, level->most, &times), first = repeats->items[i].first;
    if (!length) {
      repeats->items[kept++] = repeats->items[i++];
      continue;
    }
    uint32_t loop = loop_of(finder, i, length);
    repeats->loops[loop].runs++;
    repeats->loops[loop].repetitions += times;
    number_leaves(repeats, i, length, times);
    repeats->items[kept++] = (struct repeats_item){.symbol = repeats->plain + loop, .first = first};
    i += length * times;
    changed = true;
  }
  repeats->items[kept] = repeats->items[repeats->count];
  repeats->count = kept;
  return changed;
}

void repeats_find(const uint32_t *symbols, uint32_t count, uint32_t plain, struct repeats *repeats)
{
  size_t room = (size_t)count + 1;
  *repeats = (struct repeats){.plain = plain,
                              .items = xmalloc(room * sizeof *repeats->items),
                              .leaves = xcalloc(room, sizeof *repeats->leaves)};
  struct finder finder = {.repeats = repeats,
                          .next = xmalloc(room * sizeof *finder.next),
                          .hashes = xmalloc(room * sizeof *finder.hashes),
                          .powers = {1}};
  for (uint32_t i = 1; i <= 2 * REPEATS_UNIT_MAX; i++)
    finder.powers[i] = finder.powers[i - 1] * 0x9e3779b97f4a7c15ULL;
  divide_into_runs(repeats, symbols, count);
  for (finder.slots = 2; finder.slots / 2 <= repeats->count;)
    finder.slots *= 2;
  finder.first_of = xmalloc(finder.slots * sizeof *finder.first_of);
  size_t level = 0;
  for (unsigned round = 0; round < ROUNDS && level < sizeof levels / sizeof *levels; round++)
    level = find_loops(&finder, &levels[level]) ? 0 : level + 1; /* a loop may be a part of a short unit */
  hash_map_release(&finder.known);
  free(finder.next);
  free(finder.first_of);
  free(finder.hashes);
}

void repeats_release(struct repeats *repeats)
{
  free(repeats->items);
  free(repeats->leaves);
  free(repeats->loops);
  free(repeats->units);
  *repeats = (struct repeats){0};
}
