#include "hpcprof-lite/timeline/cell_sum.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void cell_sum_weigh(struct cell_amounts *amounts, uint32_t key, uint32_t number, uint64_t ns)
{
  uint32_t found = hash_map_find(&amounts->map, (uint64_t)key + 1);
  if (!found) {
    found = amounts->count + 1;
    xarray_reserve(&amounts->amounts, &amounts->room, found, sizeof *amounts->amounts);
    hash_map_add(&amounts->map, (uint64_t)key + 1, found);
    amounts->amounts[amounts->count++] = (struct cell_amount){.key = key, .number = number};
  }
  struct cell_amount *amount = &amounts->amounts[found - 1];
  model_add(&amount->ns, ns);
}

void cell_sum_add(struct cell_sum *sum, const struct timeline_interval *interval, uint64_t ns)
{
  assert(interval->category < TIMELINE_CATEGORIES && ns);
  sum->ns[interval->category] += ns;
  sum->critical_ns += interval->critical ? ns : 0;
  if (interval->context != MODEL_NONE)
    cell_sum_weigh(&sum->contexts, interval->context, interval->node, ns);
  if (interval->construct != MODEL_NONE)
    cell_sum_weigh(&sum->constructs, interval->construct, interval->record, ns);
}

static void join(struct cell_amounts *amounts, const struct cell_amounts *other)
{
  for (uint32_t i = 0; i < other->count; i++)
    cell_sum_weigh(amounts, other->amounts[i].key, other->amounts[i].number, other->amounts[i].ns);
}

void cell_sum_join(struct cell_sum *sum, const struct cell_sum *other)
{
  assert(sum != other);
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    sum->ns[i] += other->ns[i];
  sum->critical_ns += other->critical_ns;
  join(&sum->contexts, &other->contexts);
  join(&sum->constructs, &other->constructs);
}

struct cell_amount cell_sum_most(const struct cell_amounts *amounts)
{
  struct cell_amount most = {.key = MODEL_NONE};
  for (uint32_t i = 0; i < amounts->count; i++) {
    const struct cell_amount *amount = &amounts->amounts[i];
    if (amount->ns > most.ns || (amount->ns == most.ns && amount->key < most.key))
      most = *amount;
  }
  return most;
}

static void clear(struct cell_amounts *amounts)
{
  hash_map_clear(&amounts->map);
  amounts->count = 0;
}

void cell_sum_clear(struct cell_sum *sum)
{
  memset(sum->ns, 0, sizeof sum->ns);
  sum->critical_ns = 0;
  clear(&sum->contexts);
  clear(&sum->constructs);
}

void cell_sum_release(struct cell_sum *sum)
{
  free(sum->contexts.amounts);
  hash_map_release(&sum->contexts.map);
  free(sum->constructs.amounts);
  hash_map_release(&sum->constructs.map);
  *sum = (struct cell_sum){0};
}
