#include "hpcprof-lite/model/contexts.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_START = 1024, STRIDE_STEP = 4 };

int contexts_init(struct contexts *contexts)
{
  *contexts = (struct contexts){0};
  contexts->nodes = calloc(NODES_START, sizeof *contexts->nodes);
  contexts->slots = calloc((size_t)NODES_START * 2, sizeof *contexts->slots);
  if (!contexts->nodes || !contexts->slots) {
    contexts_release(contexts);
    return ERR_NOMEM;
  }
  contexts->room = NODES_START;
  contexts->slots_count = NODES_START * 2;
  contexts->nodes[0] = (struct context_node){.parent = PROFILE_NONE, .kind = CONTEXT_ROOT};
  contexts->count = 1;
  return 0;
}

void contexts_release(struct contexts *contexts)
{
  free(contexts->nodes);
  free(contexts->slots);
  free(contexts->values);
  free(contexts->shares);
  *contexts = (struct contexts){0};
}

static uint32_t node_hash(const struct context_node *node)
{
  uint64_t hash = ((uint64_t)node->parent << 32 | node->offset) * 0x9e3779b97f4a7c15ULL;
  hash ^= ((uint64_t)node->kind << 24 | node->module) * 0xc2b2ae3d27d4eb4fULL;
  hash ^= hash >> 29;
  return (uint32_t)((hash * 0xbf58476d1ce4e5b9ULL) >> 32);
}

static bool same_node(const struct context_node *a, const struct context_node *b)
{
  return a->parent == b->parent && a->offset == b->offset && a->kind == b->kind && a->module == b->module;
}

static uint32_t node_slot(const struct contexts *contexts, const struct context_node *node)
{
  uint32_t mask = contexts->slots_count - 1;
  uint32_t slot = node_hash(node) & mask;
  while (contexts->slots[slot] && !same_node(&contexts->nodes[contexts->slots[slot]], node))
    slot = (slot + 1) & mask;
  return slot;
}

/* Doubles the room for nodes; the hash table stays at most half full. */
static int grow_nodes(struct contexts *contexts)
{
  if (contexts->room > UINT32_MAX / 8)
    return ERR_NOMEM;
  uint32_t room = contexts->room * 2;
  struct context_node *nodes = reallocarray(contexts->nodes, room, sizeof *nodes);
  if (!nodes)
    return ERR_NOMEM;
  contexts->nodes = nodes;
  uint32_t *slots = calloc((size_t)room * 2, sizeof *slots);
  if (!slots)
    return ERR_NOMEM;
  free(contexts->slots);
  contexts->slots = slots;
  contexts->slots_count = room * 2;
  contexts->room = room;
  for (uint32_t i = 1; i < contexts->count; i++)
    slots[node_slot(contexts, &nodes[i])] = i;
  return 0;
}

uint32_t contexts_add(struct contexts *contexts, uint32_t parent, enum context_kind kind, uint32_t module,
                      uint32_t offset)
{
  struct context_node node = {.parent = parent, .kind = kind, .module = module, .offset = offset};
  uint32_t slot = node_slot(contexts, &node);
  if (contexts->slots[slot])
    return contexts->slots[slot];
  if (contexts->count == contexts->room) {
    if (grow_nodes(contexts))
      return PROFILE_NONE;
    slot = node_slot(contexts, &node);
  }
  contexts->nodes[contexts->count] = node;
  contexts->slots[slot] = contexts->count;
  return contexts->count++;
}

uint32_t contexts_find(const struct contexts *contexts, uint32_t parent, enum context_kind kind, uint32_t module,
                       uint32_t offset)
{
  struct context_node node = {.parent = parent, .kind = kind, .module = module, .offset = offset};
  uint32_t found = contexts->slots[node_slot(contexts, &node)];
  return found ? found : PROFILE_NONE;
}

bool contexts_is(const struct contexts *contexts, uint32_t node, uint32_t parent, enum context_kind kind,
                 uint32_t module, uint32_t offset)
{
  struct context_node wanted = {.parent = parent, .kind = kind, .module = module, .offset = offset};
  return node && node < contexts->count && same_node(&contexts->nodes[node], &wanted);
}

/* Widens every value record to at least `columns`. */
static int grow_stride(struct contexts *contexts, uint32_t columns)
{
  uint32_t stride = (columns + STRIDE_STEP - 1) / STRIDE_STEP * STRIDE_STEP;
  uint32_t room = contexts->values_room ? contexts->values_room : NODES_START;
  uint64_t *values = calloc((size_t)room * stride, sizeof *values);
  if (!values)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < contexts->values_count; i++)
    memcpy(values + (size_t)i * stride, contexts->values + (size_t)i * contexts->stride,
           contexts->stride * sizeof *values);
  free(contexts->values);
  contexts->values = values;
  contexts->values_room = room;
  contexts->stride = stride;
  if (!contexts->values_count)
    contexts->values_count = 1;
  return 0;
}

static int new_value(struct contexts *contexts, uint32_t node)
{
  if (contexts->values_count == contexts->values_room) {
    uint32_t room = contexts->values_room * 2;
    uint64_t *values = reallocarray(contexts->values, (size_t)room * contexts->stride, sizeof *values);
    if (!values)
      return ERR_NOMEM;
    contexts->values = values;
    contexts->values_room = room;
  }
  memset(contexts->values + (size_t)contexts->values_count * contexts->stride, 0, contexts->stride * sizeof(uint64_t));
  contexts->nodes[node].value = contexts->values_count++;
  return 0;
}

int contexts_value(struct contexts *contexts, uint32_t node, uint32_t column, uint64_t amount)
{
  if (!amount)
    return 0;
  if (column >= contexts->stride && grow_stride(contexts, column + 1))
    return ERR_NOMEM;
  if (!contexts->nodes[node].value && new_value(contexts, node))
    return ERR_NOMEM;
  uint64_t *cell = &contexts->values[(size_t)contexts->nodes[node].value * contexts->stride + column];
  *cell = contexts_sum(*cell, amount);
  return 0;
}

uint64_t contexts_get(const struct contexts *contexts, uint32_t node, uint32_t column)
{
  uint32_t value = contexts->nodes[node].value;
  return value && column < contexts->stride ? contexts->values[(size_t)value * contexts->stride + column] : 0;
}

int contexts_share(struct contexts *contexts, const struct profile_share *share)
{
  if (contexts->shares_count == contexts->shares_room) {
    uint32_t room = contexts->shares_room ? contexts->shares_room * 2 : 256;
    struct profile_share *shares =
        room < contexts->shares_room ? NULL : reallocarray(contexts->shares, room, sizeof *shares);
    if (!shares)
      return ERR_NOMEM;
    contexts->shares = shares;
    contexts->shares_room = room;
  }
  contexts->shares[contexts->shares_count++] = *share;
  return 0;
}

int contexts_merge(struct contexts *into, const struct contexts *from)
{
  uint32_t *map = calloc(from->count, sizeof *map);
  if (!map)
    return ERR_NOMEM;
  int status = 0;
  for (uint32_t i = 0; i < from->count && !status; i++) {
    const struct context_node *node = &from->nodes[i];
    map[i] = i ? contexts_add(into, map[node->parent], node->kind, node->module, node->offset) : 0;
    if (map[i] == PROFILE_NONE)
      status = ERR_NOMEM;
    for (uint32_t column = 0; node->value && column < from->stride && !status; column++)
      status = contexts_value(into, map[i], column, contexts_get(from, i, column));
  }
  for (uint32_t i = 0; i < from->shares_count && !status; i++) {
    struct profile_share share = from->shares[i];
    if (share.context != PROFILE_NONE)
      share.context = map[share.context];
    status = contexts_share(into, &share);
  }
  free(map);
  return status;
}
