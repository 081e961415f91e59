#include "hpcrun-lite/rt/path.h"

#include "hpcrun-lite/rt/pool.h"

enum { ITEMS = 6, LONG = 32, FOLD = 4096 };

struct segment {
  struct pool_record pool;
  uint32_t tail, refs;
  uint16_t count, length; /* segments since it was folded */
  uint32_t folded;        /* segments that the last folding left */
  struct path_item items[ITEMS];
};

static struct pool segments;

/* Room for folding: open addressing, by key; key 0 cannot be free, so keys are kept plus one. */
struct fold {
  uint64_t keys[FOLD], amounts[FOLD];
  uint32_t used[FOLD], count;
};

static struct segment *at(uint32_t index)
{
  return pool_at(&segments, index);
}

void path_start(void)
{
  pool_init(&segments, sizeof(struct segment));
}

void path_stop_thread(struct thread_state *t)
{
  pool_give(&segments, &t->free_segments);
  if (t->fold_chunk)
    arena_free(ARENA_FOLD, 0, t->fold_chunk);
  t->fold_chunk = NULL;
}

uint32_t path_share(uint32_t path)
{
  if (path)
    __atomic_fetch_add(&at(path)->refs, 1, __ATOMIC_RELAXED);
  return path;
}

void path_drop(struct thread_state *t, uint32_t path)
{
  while (path) {
    struct segment *segment = at(path);
    if (__atomic_load_n(&segment->refs, __ATOMIC_ACQUIRE) > 1 &&
        __atomic_sub_fetch(&segment->refs, 1, __ATOMIC_ACQ_REL) > 0)
      return;
    uint32_t tail = segment->tail;
    pool_put(&segments, &t->free_segments, path);
    path = tail;
  }
}

const struct path_item *path_next(uint32_t *place, uint32_t *index)
{
  while (*place) {
    const struct segment *segment = at(*place);
    if (*index < segment->count)
      return &segment->items[(*index)++];
    *place = segment->tail;
    *index = 0;
  }
  return NULL;
}

static uint32_t segment_new(struct thread_state *t, uint32_t tail)
{
  uint32_t index = pool_get(&segments, &t->free_segments);
  if (!index)
    return 0;
  struct segment *segment = at(index);
  segment->tail = tail;
  segment->refs = 1;
  segment->count = 0;
  segment->length = tail ? (uint16_t)(at(tail)->length + 1) : 0;
  segment->folded = tail ? at(tail)->folded : 0;
  return index;
}

/* Adds to a folding's sums.  Where it is full, contexts are left out: their directive gets the amount. */
static void fold_add(struct fold *fold, uint64_t key, uint64_t amount)
{
  bool full = fold->count > FOLD / 2;
  for (;;) {
    uint64_t wanted = key + 1;
    uint32_t slot = (uint32_t)((wanted * 0x9e3779b97f4a7c15ULL) >> 52) % FOLD;
    while (fold->keys[slot] && fold->keys[slot] != wanted)
      slot = (slot + 1) % FOLD;
    if (!fold->keys[slot] && full && key << 16) {
      key = key >> 48 << 48;
      continue;
    }
    if (!fold->keys[slot])
      fold->used[fold->count++] = slot;
    fold->keys[slot] = wanted;
    fold->amounts[slot] += amount;
    return;
  }
}

static void path_fold(struct thread_state *t, uint32_t *path)
{
  if (!t->fold_chunk)
    t->fold_chunk = arena_new(ARENA_FOLD, 0, FORMAT_FREE, t->index, sizeof(struct fold), 1);
  if (!t->fold_chunk)
    return;
  struct fold *fold = arena_data(t->fold_chunk);
  uint32_t place = *path, index = 0, made = 0, top = 0;
  const struct path_item *item;
  fold->count = 0;
  while ((item = path_next(&place, &index)))
    fold_add(fold, item->key, item->amount);
  for (uint32_t i = 0; i < fold->count; i++) {
    uint32_t slot = fold->used[i];
    if (!top || at(top)->count == ITEMS) {
      uint32_t more = segment_new(t, top);
      if (!more)
        break;
      top = more;
      made++;
    }
    at(top)->items[at(top)->count++] = (struct path_item){fold->keys[slot] - 1, fold->amounts[slot]};
  }
  bool whole = !fold->count || (top && made == (fold->count + ITEMS - 1) / ITEMS);
  for (uint32_t i = 0; i < fold->count; i++)
    fold->keys[fold->used[i]] = fold->amounts[fold->used[i]] = 0;
  if (!whole) {
    path_drop(t, top);
    return;
  }
  if (top) {
    at(top)->length = 0;
    at(top)->folded = made;
  }
  path_drop(t, *path);
  *path = top;
}

void path_add(struct thread_state *t, uint32_t *path, uint64_t key, uint64_t amount)
{
  if (!amount)
    return;
  struct segment *top = *path ? at(*path) : NULL;
  if (top && __atomic_load_n(&top->refs, __ATOMIC_ACQUIRE) == 1) {
    for (unsigned i = 0; i < top->count; i++)
      if (top->items[i].key == key) {
        top->items[i].amount += amount;
        return;
      }
    if (top->count < ITEMS) {
      top->items[top->count++] = (struct path_item){key, amount};
      return;
    }
  }
  if (top && top->length >= LONG && top->length >= top->folded)
    path_fold(t, path);
  uint32_t index = segment_new(t, *path);
  if (!index) {
    rt_lost(t, FORMAT_LOST_PATHS);
    return;
  }
  at(index)->items[at(index)->count++] = (struct path_item){key, amount};
  *path = index;
}
