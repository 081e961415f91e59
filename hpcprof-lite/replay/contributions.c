#include "hpcprof-lite/replay/contributions.h"

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

static struct link *at(const struct contributions *contributions, uint32_t index)
{
  return object_pool_at(&contributions->links, index);
}

int contributions_init(struct contributions *contributions, uint32_t keys)
{
  *contributions = (struct contributions){.keys = keys};
  contributions->sums = calloc((size_t)keys + 1, sizeof *contributions->sums);
  contributions->used = calloc((size_t)keys + 1, sizeof *contributions->used);
  int status = object_pool_init(&contributions->links, sizeof(struct link), LINKS_MAX);
  return contributions->sums && contributions->used ? status : ERR_NOMEM;
}

void contributions_release(struct contributions *contributions)
{
  object_pool_release(&contributions->links);
  free(contributions->sums);
  free(contributions->used);
  *contributions = (struct contributions){0};
}

uint32_t contributions_share(struct contributions *contributions, uint32_t contribution)
{
  if (contribution)
    at(contributions, contribution)->refs++;
  return contribution;
}

void contributions_drop(struct contributions *contributions, uint32_t contribution)
{
  while (contribution && --at(contributions, contribution)->refs == 0) {
    uint32_t tail = at(contributions, contribution)->tail;
    object_pool_put(&contributions->links, contribution);
    contribution = tail;
  }
}

void contributions_sum(const struct contributions *contributions, uint32_t contribution, double *sums)
{
  for (; contribution; contribution = at(contributions, contribution)->tail) {
    const struct link *link = at(contributions, contribution);
    for (uint32_t i = 0; i < link->count; i++)
      sums[link->keys[i]] += link->amounts[i];
  }
}

/* A new link before that tail, whose owner it becomes; 0 without room, which leaves the tail to the caller. */
static uint32_t link_new(struct contributions *contributions, uint32_t tail)
{
  uint32_t index = object_pool_get(&contributions->links);
  if (!index)
    return 0;
  *at(contributions, index) = (struct link){.tail = tail,
                                            .refs = 1,
                                            .length = tail ? at(contributions, tail)->length + 1 : 0,
                                            .folded = tail ? at(contributions, tail)->folded : 0};
  return index;
}

/* The keys of a trail, each once, in trails->used; their sums in trails->sums.  Amounts are above 0. */
static uint32_t collect(struct contributions *contributions, uint32_t contribution)
{
  uint32_t count = 0;
  for (; contribution; contribution = at(contributions, contribution)->tail) {
    const struct link *link = at(contributions, contribution);
    for (uint32_t i = 0; i < link->count; i++) {
      if (contributions->sums[link->keys[i]] == 0)
        contributions->used[count++] = link->keys[i];
      contributions->sums[link->keys[i]] += link->amounts[i];
    }
  }
  return count;
}

static void fold(struct contributions *contributions, uint32_t *contribution)
{
  uint32_t count = collect(contributions, *contribution), made = 0, top = 0;
  bool whole = true;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t key = contributions->used[i];
    if (whole && (!top || at(contributions, top)->count == ITEMS)) {
      uint32_t more = link_new(contributions, top);
      whole = more != 0;
      top = more ? more : top;
      made++;
    }
    if (whole) {
      struct link *link = at(contributions, top);
      link->keys[link->count] = key;
      link->amounts[link->count++] = contributions->sums[key];
    }
    contributions->sums[key] = 0;
  }
  if (!whole || !top) {
    contributions_drop(contributions, top);
    return;
  }
  at(contributions, top)->length = 0;
  at(contributions, top)->folded = made;
  contributions_drop(contributions, *contribution);
  *contribution = top;
}

void contributions_add(struct contributions *contributions, uint32_t *contribution, uint32_t key, double amount)
{
  if (!(amount > 0))
    return;
  struct link *top = *contribution ? at(contributions, *contribution) : NULL;
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
    fold(contributions, contribution);
  uint32_t index = link_new(contributions, *contribution);
  if (!index) {
    contributions->lost++;
    return;
  }
  struct link *link = at(contributions, index);
  link->keys[0] = key;
  link->amounts[0] = amount;
  link->count = 1;
  *contribution = index;
}
