#include "hpcrun-lite/rt/span/key_map.h"

enum { BITS = 4, SLOTS = 1 << BITS };

/* An entry (a map's word, a slot) is 0, the index of an item, or IS_NODE and the index of a node. */
static const uint32_t IS_NODE = 1u << 31;

struct node {
  struct pool_item pool;
  uint32_t slots[SLOTS];
};

static struct pool nodes;

void key_map_start(void)
{
  pool_init(&nodes, sizeof(struct node));
}

void key_map_stop_thread(struct thread_state *t)
{
  pool_flush(&nodes, &t->free_key_nodes);
}

static struct node *node_of(uint32_t entry)
{
  return pool_at(&nodes, entry & ~IS_NODE);
}

static const struct key_item *item_of(const struct pool *items, uint32_t entry)
{
  return pool_at(items, entry);
}

/* Different keys have different paths. */
static uint64_t path_of(uint64_t key)
{
  uint64_t mixed = key * 0x9e3779b97f4a7c15ULL;
  return mixed ^ mixed >> 32;
}

uint32_t key_map_find(const struct pool *items, const uint32_t *map, uint64_t key)
{
  uint64_t path = path_of(key);
  uint32_t entry = __atomic_load_n(map, __ATOMIC_ACQUIRE);
  for (; entry & IS_NODE; path >>= BITS)
    entry = __atomic_load_n(&node_of(entry)->slots[path % SLOTS], __ATOMIC_ACQUIRE);
  return entry && item_of(items, entry)->key == key ? entry : 0;
}

/* Replaces an item in its place by a node that contains it.  depth: bits of its path that lead to the node. */
static bool add_node(struct thread_state *t, uint32_t *place, uint32_t entry, uint64_t key, unsigned depth)
{
  uint32_t index = pool_get(&nodes, &t->free_key_nodes);
  if (!index)
    return false;
  struct node *node = node_of(index);
  __builtin_memset(node->slots, 0, sizeof node->slots);
  node->slots[(path_of(key) >> depth) % SLOTS] = entry;
  if (!__atomic_compare_exchange_n(place, &entry, index | IS_NODE, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    pool_put(&nodes, &t->free_key_nodes, index); /* another thread has added one */
  return true;
}

/* A place changes at most twice, from empty to an item and to a node; that bounds the tries. */
uint32_t key_map_add(struct thread_state *t, const struct pool *items, uint32_t *map, uint32_t item)
{
  uint64_t key = item_of(items, item)->key, path = path_of(key);
  uint32_t *place = map;
  for (unsigned depth = 0;;) {
    uint32_t entry = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (entry & IS_NODE) {
      place = &node_of(entry)->slots[(path >> depth) % SLOTS];
      depth += BITS;
    } else if (!entry) {
      if (__atomic_compare_exchange_n(place, &entry, item, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return item;
    } else if (item_of(items, entry)->key == key) {
      return entry;
    } else if (!add_node(t, place, entry, item_of(items, entry)->key, depth)) {
      return 0;
    }
  }
}

/* Recursion: as deep as the trie, at most 64 / BITS. */
static void clear(struct thread_state *t, uint32_t entry, void (*release)(struct thread_state *, uint32_t, void *),
                  void *context)
{
  if (!(entry & IS_NODE)) {
    if (entry)
      release(t, entry, context);
    return;
  }
  for (int i = 0; i < SLOTS; i++)
    clear(t, node_of(entry)->slots[i], release, context);
  pool_put(&nodes, &t->free_key_nodes, entry & ~IS_NODE);
}

void key_map_clear(struct thread_state *t, uint32_t *map, void (*release)(struct thread_state *, uint32_t, void *),
                   void *context)
{
  uint32_t entry = *map;
  *map = 0;
  clear(t, entry, release, context);
}
