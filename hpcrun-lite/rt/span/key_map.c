#include "hpcrun-lite/rt/span/key_map.h"

enum { BITS = 4, SLOTS = 1 << BITS };

/* An entry (a map's word, a slot) is 0, the index of an item, or IS_NODE and the index of a node. */
static const uint32_t IS_NODE = 1u << 31;

/* All keys below a node are equal to `key` above its digit, the BITS bits at `shift`.  They differ in the digit. */
struct node {
  struct pool_item pool;
  uint64_t key;
  uint32_t shift, slots[SLOTS];
};

static struct pool nodes;

void key_map_start(void)
{
  pool_init(&nodes, sizeof(struct node));
}

void key_map_stop_thread(struct thread_state *t)
{
  pool_flush(&nodes, &span_of(t)->free_key_nodes);
}

static struct node *node_of(uint32_t entry)
{
  return pool_at(&nodes, entry & ~IS_NODE);
}

static const struct key_item *item_of(const struct pool *items, uint32_t entry)
{
  return pool_at(items, entry);
}

static inline bool is_below(const struct node *node, uint64_t key)
{
  return (key ^ node->key) >> node->shift < SLOTS;
}

static inline uint32_t *slot_of(struct node *node, uint64_t key)
{
  return &node->slots[(key >> node->shift) % SLOTS];
}

uint32_t key_map_find(const struct pool *items, const uint32_t *map, uint64_t key)
{
  uint32_t entry = __atomic_load_n(map, __ATOMIC_ACQUIRE);
  while (entry & IS_NODE)
    entry = __atomic_load_n(slot_of(node_of(entry), key), __ATOMIC_ACQUIRE);
  return entry && item_of(items, entry)->key == key ? entry : 0;
}

/* Puts a node in the place of an entry, with the entry and an item of another key below it. */
static bool add_node(struct thread_state *t, uint32_t *position, uint32_t entry, uint64_t other, uint32_t item,
                     uint64_t key, bool *added)
{
  void *made;
  uint32_t index = pool_take(&nodes, &span_of(t)->free_key_nodes, &made);
  if (!index)
    return false;
  struct node *node = made;
  node->key = key;
  node->shift = (63 - (uint32_t)__builtin_clzll(key ^ other)) / BITS * BITS;
  __builtin_memset(node->slots, 0, sizeof node->slots);
  *slot_of(node, other) = entry;
  *slot_of(node, key) = item;
  *added = __atomic_compare_exchange_n(position, &entry, index | IS_NODE, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  if (!*added) /* another thread was faster */
    pool_return(&nodes, &span_of(t)->free_key_nodes, index, node);
  return true;
}

/* A place is empty, then an item, then nodes with higher and higher digits; that bounds the tries. */
uint32_t key_map_add(struct thread_state *t, const struct pool *items, uint32_t *map, uint32_t item)
{
  uint64_t key = item_of(items, item)->key;
  uint32_t *position = map;
  for (bool added = false;;) {
    uint32_t entry = __atomic_load_n(position, __ATOMIC_ACQUIRE);
    if (!entry) {
      if (__atomic_compare_exchange_n(position, &entry, item, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return item;
      continue;
    }
    if (entry & IS_NODE && is_below(node_of(entry), key)) {
      position = slot_of(node_of(entry), key);
      continue;
    }
    uint64_t other = entry & IS_NODE ? node_of(entry)->key : item_of(items, entry)->key;
    if (other == key) /* an item: a key is below the nodes of that key */
      return entry;
    if (!add_node(t, position, entry, other, item, key, &added))
      return 0;
    if (added)
      return item;
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
  pool_put(&nodes, &span_of(t)->free_key_nodes, entry & ~IS_NODE);
}

void key_map_clear(struct thread_state *t, uint32_t *map, void (*release)(struct thread_state *, uint32_t, void *),
                   void *context)
{
  uint32_t entry = *map;
  *map = 0;
  clear(t, entry, release, context);
}
