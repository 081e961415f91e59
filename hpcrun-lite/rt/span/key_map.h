/* Maps from 64-bit keys to items of a pool.
 *
 * Context: RT, in callbacks.  A map is a word, 0 when empty; it belongs to the structure that contains it.  It is a
 * trie over the key's digits of four bits, without the digits in which all keys agree: a search takes at most 16 steps,
 * five for a million adjacent keys.  Adjacent keys share nodes, and no addition moves others.  Any thread may search
 * and add at any time, without locks; only the owner clears the map, when no other thread uses it.  Nodes come from a
 * pool.  Without memory key_map_add() returns 0, and the caller counts the loss. */
#ifndef HPCRUN_LITE_RT_SPAN_KEY_MAP_H
#define HPCRUN_LITE_RT_SPAN_KEY_MAP_H

#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/span/span_thread.h"

/* The first member of every item.  The key does not change while the item is in a map. */
struct key_item {
  struct pool_item pool;
  uint64_t key;
};

/* CTL: starts the pool of a new process.  key_map_stop_thread() returns a thread's free nodes. */
void key_map_start(void);
void key_map_stop_thread(struct thread_state *t);

/* Returns the item with that key, 0 if there is none.  items: the pool of all items of the map. */
uint32_t key_map_find(const struct pool *items, const uint32_t *map, uint64_t key);

/* Adds an item.  If another thread has added one with the same key meanwhile, returns that one. */
uint32_t key_map_add(struct thread_state *t, const struct pool *items, uint32_t *map, uint32_t item);

/* Empties the map and releases its items. */
void key_map_clear(struct thread_state *t, uint32_t *map, void (*release)(struct thread_state *, uint32_t, void *),
                   void *context);

#endif
