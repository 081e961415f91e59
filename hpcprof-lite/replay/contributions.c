#include "hpcprof-lite/replay/contributions.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

enum { LINK_ITEMS = 6, FOLD_LENGTH = 32, LINKS_MAX = 4 << 20 };

struct link {
  uint32_t tail, refs;
  uint32_t count;  /* items in use */
  uint32_t length; /* number of links since the list was folded */
  uint32_t folded; /* number of links after it was folded */
  uint32_t keys[LINK_ITEMS];
  double amounts[LINK_ITEMS];
};

static struct link *link_at(const struct contributions *contributions, uint32_t index)
{
  assert(index);
  return object_pool_at(&contributions->links, index);
}

void contributions_init(struct contributions *contributions, uint32_t keys)
{
  assert(keys);
  *contributions = (struct contributions){0};
  contributions_reserve(contributions, keys);
  object_pool_init(&contributions->links, sizeof(struct link), LINKS_MAX);
}

void contributions_reserve(struct contributions *contributions, uint32_t keys)
{
  if (keys <= contributions->keys)
    return;
  xarray_reserve_zero(&contributions->sums, &contributions->sums_room, keys, sizeof *contributions->sums);
  xarray_reserve_zero(&contributions->used, &contributions->used_room, keys, sizeof *contributions->used);
  contributions->keys = keys;
}

void contributions_release(struct contributions *contributions)
{
  object_pool_release(&contributions->links);
  free(contributions->sums);
  free(contributions->used);
  *contributions = (struct contributions){0};
}

uint32_t contributions_share(struct contributions *contributions, uint32_t list)
{
  assert(!list || link_at(contributions, list)->refs);
  if (list)
    link_at(contributions, list)->refs++;
  return list;
}

void contributions_drop(struct contributions *contributions, uint32_t list)
{
  while (list && --link_at(contributions, list)->refs == 0) {
    uint32_t tail = link_at(contributions, list)->tail;
    object_pool_put(&contributions->links, list);
    list = tail;
  }
}

void contributions_sum(const struct contributions *contributions, uint32_t list, double *sums)
{
  for (; list; list = link_at(contributions, list)->tail) {
    const struct link *link = link_at(contributions, list);
    for (uint32_t i = 0; i < link->count; i++)
      sums[link->keys[i]] += link->amounts[i];
  }
}

/* Returns a new link in front of a tail, and takes over the caller's ownership of the tail.  Returns 0 if there is no
 * room; the caller then still owns the tail. */
static uint32_t link_new(struct contributions *contributions, uint32_t tail)
{
  assert(!tail || link_at(contributions, tail)->refs);
  uint32_t index = object_pool_get(&contributions->links);
  if (!index)
    return 0;
  *link_at(contributions, index) = (struct link){.tail = tail,
                                                 .refs = 1,
                                                 .length = tail ? link_at(contributions, tail)->length + 1 : 0,
                                                 .folded = tail ? link_at(contributions, tail)->folded : 0};
  return index;
}

/* Sets `used` to the keys of a list, each once, and `sums` to their sums, and returns the number of keys.  All amounts
 * are above 0. */
static uint32_t sum_by_key(struct contributions *contributions, uint32_t list)
{
  uint32_t count = 0;
  for (; list; list = link_at(contributions, list)->tail) {
    const struct link *link = link_at(contributions, list);
    for (uint32_t i = 0; i < link->count; i++) {
      if (contributions->sums[link->keys[i]] == 0)
        contributions->used[count++] = link->keys[i];
      contributions->sums[link->keys[i]] += link->amounts[i];
    }
  }
  return count;
}

/* Replaces a list by one with one item for each key.  Leaves it as it is if there is no room. */
static void fold(struct contributions *contributions, uint32_t *list)
{
  uint32_t count = sum_by_key(contributions, *list), links = 0, top = 0;
  bool complete = true;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t key = contributions->used[i];
    if (complete && (!top || link_at(contributions, top)->count == LINK_ITEMS)) {
      uint32_t more = link_new(contributions, top);
      complete = more != 0;
      if (more)
        top = more;
      links++;
    }
    if (complete) {
      struct link *link = link_at(contributions, top);
      link->keys[link->count] = key;
      link->amounts[link->count++] = contributions->sums[key];
    }
    contributions->sums[key] = 0;
  }
  if (!complete || !top) {
    contributions_drop(contributions, top);
    return;
  }
  link_at(contributions, top)->length = 0;
  link_at(contributions, top)->folded = links;
  contributions_drop(contributions, *list);
  *list = top;
}

void contributions_add(struct contributions *contributions, uint32_t *list, uint32_t key, double amount)
{
  assert(key < contributions->keys);
  if (!(amount > 0))
    return;
  struct link *top = *list ? link_at(contributions, *list) : NULL;
  if (top && top->refs == 1) {
    for (uint32_t i = 0; i < top->count; i++)
      if (top->keys[i] == key) {
        top->amounts[i] += amount;
        return;
      }
    if (top->count < LINK_ITEMS) {
      top->keys[top->count] = key;
      top->amounts[top->count++] = amount;
      return;
    }
  }
  if (top && top->length >= FOLD_LENGTH && top->length >= top->folded)
    fold(contributions, list);
  uint32_t index = link_new(contributions, *list);
  if (!index) {
    contributions->lost++;
    return;
  }
  struct link *link = link_at(contributions, index);
  link->keys[0] = key;
  link->amounts[0] = amount;
  link->count = 1;
  *list = index;
}
