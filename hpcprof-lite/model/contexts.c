#include "hpcprof-lite/model/contexts.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/catalog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_FIRST = 1024, STRIDE_STEP = 4 };

void contexts_init(struct contexts *contexts)
{
  *contexts = (struct contexts){0};
  *XAPPEND(contexts->nodes, contexts->count, contexts->room) =
      (struct context_node){.parent = MODEL_NONE, .kind = CONTEXT_ROOT};
}

void contexts_release(struct contexts *contexts)
{
  free(contexts->nodes);
  hash_map_release(&contexts->map);
  free(contexts->values);
  free(contexts->shares);
  free(contexts->constructs);
  free(contexts->locks);
  free(contexts->mpi);
  free(contexts->devices);
  *contexts = (struct contexts){0};
}

static uint64_t node_hash(const struct context_node *node)
{
  uint64_t kind = (uint64_t)node->guessed << 32 | (uint64_t)node->kind << 24;
  uint64_t hash = hash_map_key(kind | node->module, node->offset);
  return hash_map_key(hash, node->parent);
}

static bool same_node(const struct context_node *a, const struct context_node *b)
{
  return a->parent == b->parent && a->offset == b->offset && a->kind == b->kind && a->module == b->module &&
         a->guessed == b->guessed;
}

/* Returns the node with that identity, 0 if there is none: the root is never searched for. */
static uint32_t find_node(const struct contexts *contexts, const struct context_node *wanted, uint64_t hash)
{
  return HASH_MAP_FIND(&contexts->map, hash, i, same_node(&contexts->nodes[i], wanted));
}

uint32_t contexts_add(struct contexts *contexts, const struct context_node *identity)
{
  assert(identity->parent < contexts->count && identity->kind > CONTEXT_ROOT && identity->kind < CONTEXT_KINDS);
  struct context_node node = *identity;
  uint64_t hash = node_hash(&node);
  uint32_t found = find_node(contexts, &node, hash);
  if (found)
    return found;
  node.value = 0;
  hash_map_add(&contexts->map, hash, contexts->count);
  *XAPPEND(contexts->nodes, contexts->count, contexts->room) = node;
  return contexts->count - 1;
}

uint32_t contexts_find(const struct contexts *contexts, const struct context_node *identity)
{
  assert(identity->parent < contexts->count);
  uint32_t found = find_node(contexts, identity, node_hash(identity));
  return found ? found : MODEL_NONE;
}

bool contexts_is(const struct contexts *contexts, uint32_t node, const struct context_node *identity)
{
  return node && node < contexts->count && same_node(&contexts->nodes[node], identity);
}

/* Widens every value record to at least `columns` columns. */
static void grow_stride(struct contexts *contexts, uint32_t columns)
{
  assert(columns > contexts->stride);
  uint32_t stride = (columns + STRIDE_STEP - 1) / STRIDE_STEP * STRIDE_STEP;
  size_t room = contexts->values_room ? contexts->values_room : VALUES_FIRST;
  uint64_t *values = xcalloc(room * stride, sizeof *values);
  for (uint32_t i = 0; i < contexts->values_count; i++)
    memcpy(values + (size_t)i * stride, contexts->values + (size_t)i * contexts->stride,
           contexts->stride * sizeof *values);
  free(contexts->values);
  contexts->values = values;
  contexts->values_room = room;
  contexts->stride = stride;
  if (!contexts->values_count)
    contexts->values_count = 1;
}

static void new_value(struct contexts *contexts, uint32_t node)
{
  assert(node < contexts->count && !contexts->nodes[node].value && contexts->stride);
  xarray_reserve(&contexts->values, &contexts->values_room, (size_t)contexts->values_count + 1,
                 contexts->stride * sizeof *contexts->values);
  memset(contexts->values + (size_t)contexts->values_count * contexts->stride, 0, contexts->stride * sizeof(uint64_t));
  contexts->nodes[node].value = contexts->values_count++;
}

void contexts_value(struct contexts *contexts, uint32_t node, uint32_t column, uint64_t amount)
{
  assert(node < contexts->count && column < CATALOG_COLUMNS_MAX);
  if (!amount)
    return;
  if (column >= contexts->stride)
    grow_stride(contexts, column + 1);
  if (!contexts->nodes[node].value)
    new_value(contexts, node);
  uint64_t *cell = &contexts->values[(size_t)contexts->nodes[node].value * contexts->stride + column];
  model_add(cell, amount);
}

uint64_t contexts_get(const struct contexts *contexts, uint32_t node, uint32_t column)
{
  assert(node < contexts->count);
  uint32_t value = contexts->nodes[node].value;
  return value && column < contexts->stride ? contexts->values[(size_t)value * contexts->stride + column] : 0;
}

void contexts_add_share(struct contexts *contexts, const struct context_share *share)
{
  assert(share->context == MODEL_NONE || share->context < contexts->count);
  *XAPPEND(contexts->shares, contexts->shares_count, contexts->shares_room) = *share;
}

void contexts_add_construct(struct contexts *contexts, const struct context_construct *mark)
{
  assert(mark->context < contexts->count);
  *XAPPEND(contexts->constructs, contexts->constructs_count, contexts->constructs_room) = *mark;
}

void contexts_add_lock(struct contexts *contexts, const struct context_lock *lock)
{
  assert(lock->context == MODEL_NONE || lock->context < contexts->count);
  *XAPPEND(contexts->locks, contexts->locks_count, contexts->locks_room) = *lock;
}

void contexts_add_mpi(struct contexts *contexts, const struct context_mpi *calls)
{
  assert(calls->context == MODEL_NONE || calls->context < contexts->count);
  *XAPPEND(contexts->mpi, contexts->mpi_count, contexts->mpi_room) = *calls;
}

void contexts_add_device(struct contexts *contexts, const struct context_device *idle)
{
  assert(idle->context < contexts->count);
  *XAPPEND(contexts->devices, contexts->devices_count, contexts->devices_room) = *idle;
}

bool contexts_in_region(const struct contexts *contexts, uint32_t context)
{
  assert(context == MODEL_NONE || context < contexts->count);
  for (; context != MODEL_NONE && context; context = contexts->nodes[context].parent)
    if (contexts->nodes[context].kind == CONTEXT_PARALLEL)
      return true;
  return false;
}

void contexts_merge(struct contexts *into, const struct contexts *from)
{
  assert(into != from);
  uint32_t *map = xcalloc(from->count, sizeof *map); /* [node of `from`] node of `into` */
  for (uint32_t i = 0; i < from->count; i++) {
    const struct context_node *node = &from->nodes[i];
    struct context_node identity = *node;
    if (i)
      identity.parent = map[node->parent];
    map[i] = i ? contexts_add(into, &identity) : 0;
    for (uint32_t column = 0; node->value && column < from->stride; column++)
      contexts_value(into, map[i], column, contexts_get(from, i, column));
  }
  for (uint32_t i = 0; i < from->shares_count; i++) {
    struct context_share share = from->shares[i];
    if (share.context != MODEL_NONE)
      share.context = map[share.context];
    contexts_add_share(into, &share);
  }
  for (uint32_t i = 0; i < from->constructs_count; i++) {
    struct context_construct mark = from->constructs[i];
    mark.context = map[mark.context];
    contexts_add_construct(into, &mark);
  }
  for (uint32_t i = 0; i < from->locks_count; i++) {
    struct context_lock lock = from->locks[i];
    if (lock.context != MODEL_NONE)
      lock.context = map[lock.context];
    contexts_add_lock(into, &lock);
  }
  for (uint32_t i = 0; i < from->mpi_count; i++) {
    struct context_mpi calls = from->mpi[i];
    if (calls.context != MODEL_NONE)
      calls.context = map[calls.context];
    contexts_add_mpi(into, &calls);
  }
  for (uint32_t i = 0; i < from->devices_count; i++) {
    struct context_device idle = from->devices[i];
    idle.context = map[idle.context];
    contexts_add_device(into, &idle);
  }
  free(map);
}
