#include "hpcprof-lite/views/construct_order.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/checks.h"

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
    return COMPARE(i, j);
  return COMPARE(x->parent, y->parent) ?: table_keys_compare(sort->keys, i, j) ?: COMPARE(i, j);
}

/* Puts the entries into *sorted: after each one, what is below it.  order[] has siblings in their new order. */
static void arrange(const struct construct_tree *tree, const uint32_t *order, struct construct_entry *sorted,
                    uint32_t *place)
{
  assert(!order[0]);
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

void construct_order(struct construct_tree *tree, const struct table_keys *keys)
{
  struct sort sort = {tree, keys};
  assert(keys->cells);
  if (!tree->count)
    return;
  uint32_t *order = xcalloc(tree->count, sizeof *order), *place = xcalloc(tree->count, sizeof *place);
  struct construct_entry *sorted = xcalloc(tree->count, sizeof *sorted);
  for (uint32_t i = 0; i < tree->count; i++)
    order[i] = i;
  qsort_r(order, tree->count, sizeof *order, by_parent, &sort);
  arrange(tree, order, sorted, place);
  free(tree->entries);
  tree->entries = sorted;
  free(order);
  free(place);
  assert(check_construct_tree(tree));
}

struct candidate {
  uint64_t weight;
  uint32_t entry;
};

ORDER(heaviest_first, struct candidate, COMPARE(y->weight, x->weight) ?: COMPARE(x->entry, y->entry))

void construct_order_limit(const struct construct_tree *tree, const struct construct_limits *limits, bool **shown,
                           uint32_t *left_out)
{
  struct candidate *candidates = xcalloc(tree->count, sizeof *candidates);
  uint64_t *weights = xcalloc(tree->count, sizeof *weights);
  uint32_t count = 0;
  *left_out = 0;
  *shown = xcalloc(tree->count, sizeof **shown);
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    weights[i] = construct_exec(&entry->sum);
    if (i) /* workers of inner regions can make that longer than the outer one */
      weights[i] = MIN(weights[i], weights[entry->parent]);
    bool light = i && (double)weights[i] < (double)weights[0] * limits->percent / 100;
    bool deep = limits->depth && entry->depth > limits->depth;
    (*shown)[i] = !light && !deep && (!i || (*shown)[entry->parent]);
    if (i && (*shown)[i])
      candidates[count++] = (struct candidate){limits->in_order ? 0 : weights[i], i};
  }
  if (limits->rows) {
    qsort(candidates, count, sizeof *candidates, heaviest_first);
    for (uint32_t i = limits->rows; i < count; i++)
      (*shown)[candidates[i].entry] = false;
    for (uint32_t i = 1; i < tree->count; i++) /* after a sort, a light entry may precede its parent's equals */
      (*shown)[i] = (*shown)[i] && (*shown)[tree->entries[i].parent];
  }
  for (uint32_t i = 0; i < tree->count; i++)
    *left_out += !(*shown)[i];
  free(candidates);
  free(weights);
}
