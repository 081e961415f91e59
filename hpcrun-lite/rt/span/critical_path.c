#include "hpcrun-lite/rt/span/critical_path.h"

#include "hpcrun-lite/rt/core/pool.h"

enum { LONG_LIST = 32, KEYS = 4096, BULK = 256 };

struct segment {
  struct pool_item pool;
  uint32_t tail, refs;
  uint32_t length;    /* segments since the list was compacted */
  uint32_t compacted; /* segments that the last compaction produced */
  struct critical_path_item items[CRITICAL_PATH_ITEMS];
};

static struct pool segments;

/* Working memory for compaction: a hash table with open addressing.  An entry holds key + 1, since 0 marks a free
 * entry.
 */
struct compaction {
  uint64_t keys[KEYS], amounts[KEYS];
  uint32_t used[KEYS], count;
};

static struct segment *at(uint32_t index)
{
  return pool_at(&segments, index);
}

void critical_path_start(void)
{
  pool_init(&segments, sizeof(struct segment));
}

/* ---- references ---- */

static struct credit *credit_of(struct thread_state *t, uint32_t index)
{
  struct span_thread *span = span_of(t);
  return &span->critical_path_credits[index %
                                      (sizeof span->critical_path_credits / sizeof *span->critical_path_credits)];
}

/* Returns references to a segment.  If they were the last, frees it and returns its tail, which has lost a reference.
 */
static uint32_t give_back(struct thread_state *t, uint32_t index, uint32_t refs)
{
  if (!refs)
    return 0;
  struct segment *segment = at(index);
  if (__atomic_load_n(&segment->refs, __ATOMIC_ACQUIRE) != refs &&
      __atomic_sub_fetch(&segment->refs, refs, __ATOMIC_ACQ_REL) > 0)
    return 0;
  uint32_t tail = segment->tail;
  pool_put(&segments, &span_of(t)->free_segments, index);
  return tail;
}

void critical_path_drop_tail(struct thread_state *t, uint32_t index)
{
  while (index) {
    if (__atomic_load_n(&at(index)->refs, __ATOMIC_ACQUIRE) == 1) {
      index = give_back(t, index, 1);
      continue;
    }
    struct credit *credit = credit_of(t, index);
    if (credit->index != index) {
      struct credit old = *credit;
      *credit = (struct credit){index, 1};
      index = give_back(t, old.index, old.refs);
      continue;
    }
    if (++credit->refs >= 2 * BULK) {
      credit->refs -= BULK;
      __atomic_sub_fetch(&at(index)->refs, BULK, __ATOMIC_RELEASE);
    }
    return;
  }
}

void critical_path_share_tail(struct thread_state *t, uint32_t index)
{
  struct credit *credit = credit_of(t, index);
  while (credit->index != index && credit->refs) { /* dropping the tail may put another credit in its place */
    struct credit old = *credit;
    *credit = (struct credit){0};
    critical_path_drop_tail(t, give_back(t, old.index, old.refs));
  }
  if (!credit->refs) {
    __atomic_fetch_add(&at(index)->refs, BULK, __ATOMIC_RELAXED);
    *credit = (struct credit){index, BULK};
  }
  credit->refs--;
}

void critical_path_stop_thread(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  for (unsigned i = 0; i < sizeof span->critical_path_credits / sizeof *span->critical_path_credits;) {
    struct credit old = span->critical_path_credits[i];
    span->critical_path_credits[i] = (struct credit){0};
    critical_path_drop_tail(t, give_back(t, old.index, old.refs));
    i += span->critical_path_credits[i].refs == 0; /* a tail may have taken this place */
  }
  pool_flush(&segments, &span->free_segments);
  if (span->compaction_extent)
    arena_free(ARENA_COMPACTION, 0, span->compaction_extent);
  span->compaction_extent = NULL;
}

/* ---- items ---- */

const struct critical_path_item *critical_path_next(struct critical_path_cursor *place)
{
  for (;;) {
    const struct critical_path_item *items;
    if (place->path)
      items = place->path->items;
    else if (place->segment)
      items = at(place->segment)->items;
    else
      return NULL;
    while (place->index < CRITICAL_PATH_ITEMS)
      if (items[place->index++].amount)
        return &items[place->index - 1];
    place->segment = place->path ? place->path->tail : at(place->segment)->tail;
    place->path = NULL;
    place->index = 0;
  }
}

/* Moves the path's own items into a new segment at the head of its list.  Returns false without memory. */
static bool spill(struct thread_state *t, struct critical_path *path)
{
  uint32_t index = pool_get(&segments, &span_of(t)->free_segments);
  if (!index)
    return false;
  struct segment *segment = at(index);
  if (path->tail && path->borrowed)
    critical_path_share_tail(t, path->tail);
  path->borrowed = false;
  segment->tail = path->tail;
  segment->refs = 1;
  segment->length = path->tail ? at(path->tail)->length + 1 : 0;
  segment->compacted = path->tail ? at(path->tail)->compacted : 0;
  for (int i = 0; i < CRITICAL_PATH_ITEMS; i++) {
    segment->items[i] = path->items[i];
    path->items[i] = (struct critical_path_item){0};
  }
  path->tail = index;
  return true;
}

/* Adds an amount to a sum.  When the table is half full, new contexts are not added and their amount goes to the
 * directive; when it is nearly full, the amount of new directives goes to the program (key 0). */
static void compaction_add(struct compaction *sums, uint64_t key, uint64_t amount)
{
  bool full = sums->count > KEYS / 2, nearly_full = sums->count > KEYS / 8 * 7;
  for (;;) {
    uint64_t wanted = key + 1;
    uint32_t slot = (uint32_t)((wanted * 0x9e3779b97f4a7c15ULL) >> 52) % KEYS;
    while (sums->keys[slot] && sums->keys[slot] != wanted)
      slot = (slot + 1) % KEYS;
    if (!sums->keys[slot] && full && (key << 16 || (nearly_full && key))) {
      key = key << 16 && !nearly_full ? key >> 48 << 48 : 0;
      continue;
    }
    if (!sums->keys[slot])
      sums->used[sums->count++] = slot;
    sums->keys[slot] = wanted;
    sums->amounts[slot] += amount;
    return;
  }
}

/* Adds the sums to a path whose own items are unused.  Returns false without memory; the path then holds only a part of
 * them.  *made: the segments that it has got. */
static bool add_sums(struct thread_state *t, const struct compaction *sums, struct critical_path *path, uint32_t *made)
{
  uint32_t items = 0;
  *made = 0;
  for (uint32_t i = 0; i < sums->count; i++) {
    uint32_t slot = sums->used[i];
    if (!sums->amounts[slot])
      continue;
    if (items && items % CRITICAL_PATH_ITEMS == 0 && (++*made, !spill(t, path)))
      return false;
    path->items[items++ % CRITICAL_PATH_ITEMS] = (struct critical_path_item){sums->keys[slot] - 1, sums->amounts[slot]};
  }
  return true;
}

/* The thread's working memory, with no sums; NULL without memory. */
static struct compaction *begin_sums(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  if (!span->compaction_extent)
    span->compaction_extent = arena_new(ARENA_COMPACTION, 0, FORMAT_FREE, t->index, sizeof(struct compaction), 1);
  struct compaction *sums = span->compaction_extent ? arena_data(span->compaction_extent) : NULL;
  if (sums)
    sums->count = 0;
  return sums;
}

static void end_sums(struct compaction *sums)
{
  for (uint32_t i = 0; i < sums->count; i++)
    sums->keys[sums->used[i]] = sums->amounts[sums->used[i]] = 0;
}

void critical_path_make_room(struct thread_state *t, struct critical_path *path)
{
  struct critical_path_item first = path->items[0];
  if (!path->items[1].amount)
    return;
  path->items[0] = (struct critical_path_item){0};
  spill(t, path); /* without memory the item stays */
  path->items[0] = first;
}

/* Only the items that the path does not share with others can change. */
void critical_path_move(struct critical_path *path, uint32_t from_row, uint32_t to_row, uint64_t amount)
{
  struct critical_path_item *from = &path->items[1], *to = &path->items[0];
  if (to->key >> 48 != to_row || from->key >> 48 != from_row || to->key << 16 != from->key << 16)
    return;
  amount = amount < from->amount ? amount : from->amount;
  from->amount -= amount;
  to->amount += amount;
}

/* Adds up the list by key.  Without memory the path stays as it is. */
static void critical_path_compact(struct thread_state *t, struct critical_path *path)
{
  struct compaction *sums = begin_sums(t);
  if (!sums)
    return;
  struct critical_path_cursor place = {.path = path};
  struct critical_path compacted = {0};
  const struct critical_path_item *item;
  uint32_t made;
  while ((item = critical_path_next(&place)))
    compaction_add(sums, item->key, item->amount);
  bool whole = add_sums(t, sums, &compacted, &made);
  if (whole && compacted.tail) {
    at(compacted.tail)->length = 0;
    at(compacted.tail)->compacted = made;
  }
  end_sums(sums);
  critical_path_drop(t, whole ? path : &compacted);
  if (whole)
    *path = compacted;
}

/* Adds a multiple of what a path has, up to that segment of its list.  Returns whether it has reached it. */
static bool add_multiple(struct compaction *sums, const struct critical_path *path, uint32_t until, uint64_t times)
{
  const struct critical_path_item *items = path->items;
  uint32_t segment = path->tail;
  for (;;) {
    for (int i = 0; i < CRITICAL_PATH_ITEMS; i++)
      if (items[i].amount)
        compaction_add(sums, items[i].key, times * items[i].amount);
    if (segment == until || !segment)
      return segment == until;
    items = at(segment)->items;
    segment = at(segment)->tail;
  }
}

/* Whether no sum is below 0. */
static bool all_positive(const struct compaction *sums)
{
  for (uint32_t i = 0; i < sums->count; i++)
    if (sums->amounts[sums->used[i]] > INT64_MAX)
      return false;
  return true;
}

/* Adds a path so many times, and takes away, `less` times, the one that it goes on from.  Returns whether their common
 * list was found, of which nothing is added then: it was not if the path was compacted since. */
static bool add_growth(struct compaction *sums, const struct critical_path *path, const struct critical_path *from,
                       uint64_t times, uint64_t less)
{
  bool shared = add_multiple(sums, path, from->tail, times);
  add_multiple(sums, from, shared ? from->tail : 0, -less);
  return shared;
}

bool critical_path_repeat(struct thread_state *t, struct critical_path *path, const struct critical_path *from,
                          uint64_t times)
{
  struct compaction *sums = begin_sums(t);
  struct critical_path repeated = {0};
  uint32_t made;
  if (!sums)
    return false;
  bool shared = add_growth(sums, path, from, times + 1, times);
  if (shared && from->tail) {
    critical_path_share_tail(t, from->tail);
    repeated.tail = from->tail;
  }
  bool whole = all_positive(sums) && add_sums(t, sums, &repeated, &made);
  end_sums(sums);
  critical_path_drop(t, whole ? path : &repeated);
  if (whole)
    *path = repeated;
  return whole;
}

/* Adds an amount to the sum of its row.  A row without a place gets that of the smallest sum, if that is smaller. */
static void add_part(struct critical_path_item *parts, uint64_t row, uint64_t amount)
{
  struct critical_path_item *least = parts;
  for (int i = 0; i < CRITICAL_PATH_PARTS; i++) {
    if (parts[i].amount && parts[i].key == row) {
      parts[i].amount += amount;
      return;
    }
    least = parts[i].amount < least->amount ? &parts[i] : least;
  }
  if (amount > least->amount)
    *least = (struct critical_path_item){row, amount};
}

void critical_path_parts(struct thread_state *t, const struct critical_path *path, const struct critical_path *from,
                         uint64_t besides, struct critical_path_item *parts)
{
  struct compaction *sums = begin_sums(t);
  struct critical_path_item found[CRITICAL_PATH_PARTS] = {{0}};
  if (sums) {
    add_growth(sums, path, from, 1, 1);
    bool whole = all_positive(sums);
    for (uint32_t i = 0; i < sums->count && whole; i++) {
      uint64_t key = sums->keys[sums->used[i]] - 1, row = key >> 48 << 48;
      if (row != besides)
        add_part(found, row, sums->amounts[sums->used[i]]);
    }
    end_sums(sums);
  }
  __builtin_memcpy(parts, found, sizeof found);
}

/* The cases that critical_path_add() leaves: the first item is unused, or both are in use for other keys. */
void critical_path_add_other(struct thread_state *t, struct critical_path *path, uint64_t key, uint64_t amount)
{
  const struct segment *tail = path->tail ? at(path->tail) : NULL;
  if (!path->items[0].amount) {
    path->items[0] = (struct critical_path_item){key, amount};
    return;
  }
  if (tail && tail->length >= LONG_LIST && tail->length >= tail->compacted)
    critical_path_compact(t, path);
  if (path->items[0].amount && path->items[1].amount && !spill(t, path)) {
    rt_lost(t, FORMAT_LOST_PATHS);
    return;
  }
  if (path->items[0].amount)
    path->items[1] = path->items[0];
  path->items[0] = (struct critical_path_item){key, amount};
}
