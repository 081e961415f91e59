#include "hpcprof-lite/views/construct_order.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

struct sort {
  const struct construct_tree *tree;
  const struct table_keys *keys;
};

/* Siblings by their keys, then as before. */
static int by_parent(const void *a, const void *b, void *argument)
{
  const struct sort *sort = argument;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const struct construct_entry *x = &sort->tree->entries[i], *y = &sort->tree->entries[j];
  if (!i || !j)
    return (i > 0) - (j > 0);
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  int order = table_keys_compare(sort->keys, i, j);
  return order ? order : (i > j) - (i < j);
}

/* Puts the entries into *sorted: after each one, what is below it.  order[] has siblings in their new order. */
static void arrange(const struct construct_tree *tree, const uint32_t *order, struct construct_entry *sorted,
                    uint32_t *place)
{
  place[0] = 0;
  sorted[0] = tree->entries[0];
  uint32_t parent = 0, next = 0;
  for (uint32_t i = 1; i < tree->count; i++) { /* siblings are next to each other, parents before their children */
    struct construct_entry entry = tree->entries[order[i]];
    if (i == 1 || entry.parent != parent)
      next = place[entry.parent] + 1;
    parent = entry.parent;
    uint32_t size = entry.end - order[i];
    place[order[i]] = next;
    entry.parent = place[parent];
    entry.end = next + size;
    sorted[next] = entry;
    next += size;
  }
}

int construct_order(struct construct_tree *tree, const struct table_keys *keys)
{
  struct sort sort = {tree, keys};
  assert(keys->cells);
  if (!tree->count)
    return 0;
  uint32_t *order = xcalloc(tree->count, sizeof *order), *place = xcalloc(tree->count, sizeof *place);
  struct construct_entry *sorted = xcalloc(tree->count, sizeof *sorted);
  int status = order && place && sorted ? 0 : ERR_NOMEM;
  for (uint32_t i = 0; i < tree->count && order; i++)
    order[i] = i;
  if (!status) {
    qsort_r(order, tree->count, sizeof *order, by_parent, &sort);
    arrange(tree, order, sorted, place);
    free(tree->entries);
    tree->entries = sorted;
    sorted = NULL;
  }
  free(order);
  free(place);
  free(sorted);
  return status;
}

struct candidate {
  uint64_t weight;
  uint32_t entry;
};

static int heaviest_first(const void *a, const void *b)
{
  const struct candidate *x = a, *y = b;
  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return (x->entry > y->entry) - (x->entry < y->entry);
}

int construct_order_limit(const struct construct_tree *tree, const struct construct_limits *limits, bool **shown,
                          uint32_t *left_out)
{
  struct candidate *candidates = xcalloc((size_t)tree->count + 1, sizeof *candidates);
  uint64_t *weights = xcalloc((size_t)tree->count + 1, sizeof *weights);
  uint32_t count = 0;
  *left_out = 0;
  *shown = xcalloc((size_t)tree->count + 1, sizeof **shown);
  int status = candidates && weights && *shown ? 0 : ERR_NOMEM;
  for (uint32_t i = 0; i < tree->count && !status; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    uint64_t exec = construct_exec(&entry->sum), above = weights[entry->parent];
    weights[i] =
        i && above < exec ? above : exec; /* workers of inner regions can make that longer than the outer one */
    bool light = i && (double)weights[i] < (double)weights[0] * limits->percent / 100;
    bool deep = limits->depth && entry->depth > limits->depth;
    (*shown)[i] = !light && !deep && (!i || (*shown)[entry->parent]);
    if (i && (*shown)[i])
      candidates[count++] = (struct candidate){limits->in_order ? 0 : weights[i], i};
  }
  if (!status && limits->rows) {
    qsort(candidates, count, sizeof *candidates, heaviest_first);
    for (uint32_t i = limits->rows; i < count; i++)
      (*shown)[candidates[i].entry] = false;
    for (uint32_t i = 1; i < tree->count; i++) /* after a sort, a light entry may precede its parent's equals */
      (*shown)[i] = (*shown)[i] && (*shown)[tree->entries[i].parent];
  }
  for (uint32_t i = 0; i < tree->count && !status; i++)
    *left_out += !(*shown)[i];
  free(candidates);
  free(weights);
  return status;
}
