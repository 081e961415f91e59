#include "hpcrun-lite/rt/span/doacross.h"

#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/key_map.h"

enum { RUN_BITS = 5, RUN = 1 << RUN_BITS, SLOT_BITS = 4, BLOCK = (1 << SLOT_BITS) - 1 };
enum { SOURCE_BLOCKS_MAX = 1 << 18, MOVED_BITS = 42 }; /* about four million clocks */

/* The iterations whose vectors differ only in the last RUN_BITS of the last coordinate.  A source is the index of a
 * block, a slot of that, and how far the clock there has moved on; 0: not announced.  The thread that announces it
 * stores it with release. */
struct run {
  struct key_item item;
  uint64_t sources[RUN];
};

/* Clocks of one thread in the order in which it has announced them.  paths: a bit for each clock whose critical path
 * has segments. */
struct block {
  struct pool_item pool;
  uint32_t index, paths;
  struct block *more;
  struct join clocks[BLOCK];
};

static struct pool runs, blocks;

void doacross_start(void)
{
  pool_init(&runs, sizeof(struct run));
  pool_init(&blocks, sizeof(struct block));
}

void doacross_stop_thread(struct thread_state *t)
{
  pool_flush(&runs, &span_of(t)->free_runs);
  pool_flush(&blocks, &span_of(t)->free_source_blocks);
}

/* Two coordinates below 2^32: every run has a key of its own.  Otherwise two runs have the same key once in 2^64. */
static inline uint64_t key_of(struct doacross_vector vector, uint32_t *position)
{
  const uint64_t *value = vector.values;
  uint64_t key = 0;
  for (uint32_t i = 1; i < vector.count; i++, value += vector.step)
    key = (key ^ *value) * 0x9e3779b97f4a7c15ULL + 1;
  *position = *value % RUN;
  return key ^ *value >> RUN_BITS;
}

/* Finds or adds a run.  NULL without memory. */
static struct run *run_of(struct thread_state *t, struct doacross *loop, uint64_t key)
{
  uint32_t index = key_map_find(&runs, &loop->runs, key);
  if (index)
    return pool_at(&runs, index);
  uint32_t made = pool_get(&runs, &span_of(t)->free_runs);
  if (!made)
    return NULL;
  struct run *run = pool_at(&runs, made);
  run->item.key = key;
  __builtin_memset(run->sources, 0, sizeof run->sources);
  index = key_map_add(t, &runs, &loop->runs, made);
  if (index != made)
    pool_put(&runs, &span_of(t)->free_runs, made);
  return index ? pool_at(&runs, index) : NULL;
}

/* Begins another block of the thread.  Returns false without memory. */
static bool block_begin(struct thread_state *t, struct doacross_cursor *own)
{
  void *item;
  uint32_t index = pool_take(&blocks, &span_of(t)->free_source_blocks, &item);
  if (!index)
    return false;
  if (index >= SOURCE_BLOCKS_MAX) {
    pool_return(&blocks, &span_of(t)->free_source_blocks, index, item);
    return false;
  }
  struct block *block = item;
  block->index = index;
  block->paths = 0;
  block->more = __atomic_load_n(&own->loop->blocks, __ATOMIC_RELAXED);
  while (
      !__atomic_compare_exchange_n(&own->loop->blocks, &block->more, block, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
  own->block = block;
  own->used = 0;
  return true;
}

/* Writes a clock that the following sources refer to.  Returns false without memory. */
static bool clock_begin(struct thread_state *t, struct doacross_cursor *own, const struct clock *clock, uint64_t within,
                        uint64_t name)
{
  if ((!own->block || own->used == BLOCK) && !block_begin(t, own))
    return false;
  struct join *join = &own->block->clocks[own->used];
  *join = (struct join){.latest = clock_copy(t, clock), .within = within};
  if (clock->path.tail)
    own->block->paths |= 1u << own->used;
  own->used++;
  graph_log_offer(t, name, join);
  return true;
}

/* Has only the distance from the thread's last clock changed?  The log has a name for each source. */
static inline bool goes_on(const struct doacross_cursor *own, const struct clock *clock, uint64_t within)
{
  if (!own->used || graph_log_on())
    return false;
  const struct join *last = &own->block->clocks[own->used - 1];
  uint64_t moved = clock->base - last->latest.base;
  return within - last->within == moved && moved >> MOVED_BITS == 0 && clock_moved_on(&last->latest, clock);
}

void doacross_source(struct thread_state *t, struct doacross_cursor *own, struct doacross_vector vector,
                     const struct clock *clock, uint64_t within, uint64_t name)
{
  uint32_t position;
  uint64_t key = key_of(vector, &position);
  own->dimensions = vector.count;
  if (!own->source || own->source->item.key != key)
    own->source = run_of(t, own->loop, key);
  if (!own->source || (!goes_on(own, clock, within) && !clock_begin(t, own, clock, within, name))) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return;
  }
  uint32_t slot = own->used - 1;
  uint64_t at = (uint64_t)own->block->index << SLOT_BITS | slot;
  uint64_t moved = clock->base - own->block->clocks[slot].latest.base;
  __atomic_store_n(&own->source->sources[position], at << MOVED_BITS | moved, __ATOMIC_RELEASE);
}

/* The source at this position of the run of that key; 0: it is not announced. */
static inline uint64_t source_at(struct doacross_cursor *own, uint64_t key, uint32_t position)
{
  struct run *run = own->sink && own->sink->item.key == key ? own->sink : own->source;
  if (!run || run->item.key != key) {
    uint32_t index = key_map_find(&runs, &own->loop->runs, key);
    if (!index)
      return 0;
    run = own->sink = pool_at(&runs, index);
  }
  return __atomic_load_n(&run->sources[position], __ATOMIC_ACQUIRE);
}

struct doacross_clock doacross_sink(struct doacross_cursor *own, struct doacross_vector vector)
{
  uint32_t position;
  uint64_t key = key_of(vector, &position), source = own->found;
  own->found = 0;
  own->dimensions = vector.count;
  if (!source || own->found_key != key || own->found_position != position)
    source = source_at(own, key, position);
  if (!source)
    return (struct doacross_clock){0};
  const struct block *block = pool_at(&blocks, (uint32_t)(source >> (MOVED_BITS + SLOT_BITS)));
  return (struct doacross_clock){&block->clocks[(source >> MOVED_BITS) % (1 << SLOT_BITS)],
                                 source & ((1ull << MOVED_BITS) - 1)};
}

bool doacross_is_announced(struct doacross_cursor *own, struct doacross_vector vector)
{
  uint32_t position;
  uint64_t key = key_of(vector, &position), source = source_at(own, key, position);
  own->found = source;
  own->found_key = key;
  own->found_position = position;
  return source;
}

static void release_run(struct thread_state *t, uint32_t index, void *context)
{
  (void)context;
  pool_put(&runs, &span_of(t)->free_runs, index);
}

void doacross_clear(struct thread_state *t, struct doacross *loop)
{
  struct block *block = loop->blocks, *more;
  loop->blocks = NULL;
  key_map_clear(t, &loop->runs, release_run, NULL);
  for (; block; block = more) {
    more = block->more;
    for (uint32_t left = block->paths; left; left &= left - 1)
      critical_path_drop(t, &block->clocks[__builtin_ctz(left)].latest.path);
    pool_return(&blocks, &span_of(t)->free_source_blocks, block->index, block);
  }
}
