#include "hpcprof-lite/replay/trail.h"

#include "hpcprof-lite/model/profile.h"

#include <stdlib.h>

enum { ITEMS = 6, LONG = 32, LINKS_MAX = 4 << 20 };

struct link {
  uint32_t tail, refs;
  uint32_t count, length; /* length: links since the trail was folded */
  uint32_t folded;        /* links that the last folding left         */
  uint32_t keys[ITEMS];
  double amounts[ITEMS];
};

static struct link *at(const struct trails *trails, uint32_t index)
{
  return slab_at(&trails->links, index);
}

int trails_init(struct trails *trails, uint32_t keys)
{
  *trails = (struct trails){.keys = keys};
  trails->sums = calloc((size_t)keys + 1, sizeof *trails->sums);
  trails->used = calloc((size_t)keys + 1, sizeof *trails->used);
  int status = slab_init(&trails->links, sizeof(struct link), LINKS_MAX);
  return trails->sums && trails->used ? status : ERR_NOMEM;
}

void trails_release(struct trails *trails)
{
  slab_release(&trails->links);
  free(trails->sums);
  free(trails->used);
  *trails = (struct trails){0};
}

uint32_t trail_share(struct trails *trails, uint32_t trail)
{
  if (trail)
    at(trails, trail)->refs++;
  return trail;
}

void trail_drop(struct trails *trails, uint32_t trail)
{
  while (trail && --at(trails, trail)->refs == 0) {
    uint32_t tail = at(trails, trail)->tail;
    slab_put(&trails->links, trail);
    trail = tail;
  }
}

void trail_sum(const struct trails *trails, uint32_t trail, double *sums)
{
  for (; trail; trail = at(trails, trail)->tail) {
    const struct link *link = at(trails, trail);
    for (uint32_t i = 0; i < link->count; i++)
      sums[link->keys[i]] += link->amounts[i];
  }
}

/* A new link before that tail, whose owner it becomes; 0 without room, which leaves the tail to the caller. */
static uint32_t link_new(struct trails *trails, uint32_t tail)
{
  uint32_t index = slab_get(&trails->links);
  if (!index)
    return 0;
  *at(trails, index) = (struct link){.tail = tail,
                                     .refs = 1,
                                     .length = tail ? at(trails, tail)->length + 1 : 0,
                                     .folded = tail ? at(trails, tail)->folded : 0};
  return index;
}

/* The keys of a trail, each once, in trails->used; their sums in trails->sums.  Amounts are above 0. */
static uint32_t collect(struct trails *trails, uint32_t trail)
{
  uint32_t count = 0;
  for (; trail; trail = at(trails, trail)->tail) {
    const struct link *link = at(trails, trail);
    for (uint32_t i = 0; i < link->count; i++) {
      if (trails->sums[link->keys[i]] == 0)
        trails->used[count++] = link->keys[i];
      trails->sums[link->keys[i]] += link->amounts[i];
    }
  }
  return count;
}

static void fold(struct trails *trails, uint32_t *trail)
{
  uint32_t count = collect(trails, *trail), made = 0, top = 0;
  bool whole = true;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t key = trails->used[i];
    if (whole && (!top || at(trails, top)->count == ITEMS)) {
      uint32_t more = link_new(trails, top);
      whole = more != 0;
      top = more ? more : top;
      made++;
    }
    if (whole) {
      struct link *link = at(trails, top);
      link->keys[link->count] = key;
      link->amounts[link->count++] = trails->sums[key];
    }
    trails->sums[key] = 0;
  }
  if (!whole || !top) {
    trail_drop(trails, top);
    return;
  }
  at(trails, top)->length = 0;
  at(trails, top)->folded = made;
  trail_drop(trails, *trail);
  *trail = top;
}

void trail_add(struct trails *trails, uint32_t *trail, uint32_t key, double amount)
{
  if (!(amount > 0))
    return;
  struct link *top = *trail ? at(trails, *trail) : NULL;
  if (top && top->refs == 1) {
    for (uint32_t i = 0; i < top->count; i++)
      if (top->keys[i] == key) {
        top->amounts[i] += amount;
        return;
      }
    if (top->count < ITEMS) {
      top->keys[top->count] = key;
      top->amounts[top->count++] = amount;
      return;
    }
  }
  if (top && top->length >= LONG && top->length >= top->folded)
    fold(trails, trail);
  uint32_t index = link_new(trails, *trail);
  if (!index) {
    trails->lost++;
    return;
  }
  struct link *link = at(trails, index);
  link->keys[0] = key;
  link->amounts[0] = amount;
  link->count = 1;
  *trail = index;
}
