#include "hpcrun-lite/rt/span/doacross.h"

#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/key_map.h"

enum { RUN_BITS = 4, RUN = 1 << RUN_BITS, BLOCK_BITS = 4, BLOCK = (1 << BLOCK_BITS) - 1 };
enum { SOURCE_BLOCKS_MAX = 1 << 18 }; /* about eight million sources */

/* The iterations whose vectors differ only in the last RUN_BITS of the last coordinate.  A source is named by its block
 * and its place in the block; the thread that announces it stores its name with release. */
struct run {
  struct key_item item;
  uint32_t sources[RUN];
};

/* Sources of one thread in the order in which it has announced them.  paths: a bit for each source whose critical path
 * has segments. */
struct block {
  struct pool_item pool;
  uint32_t more, paths;
  struct join sources[BLOCK];
};

static struct pool runs, blocks;

static struct block *block_at(uint32_t index)
{
  return pool_at(&blocks, index);
}

void doacross_start(void)
{
  pool_init(&runs, sizeof(struct run));
  pool_init(&blocks, sizeof(struct block));
}

void doacross_stop_thread(struct thread_state *t)
{
  pool_flush(&runs, &t->free_runs);
  pool_flush(&blocks, &t->free_source_blocks);
}

/* Two coordinates: every run has a key of its own.  More: two runs have the same key once in 2^64. */
static inline uint64_t key_of(const ompt_dependence_t *vector, int count, uint32_t *place)
{
  uint64_t key = 0, last = vector[count - 1].variable.value;
  for (int i = 0; i < count - 1; i++)
    key = (key ^ vector[i].variable.value) * 0x9e3779b97f4a7c15ULL + 1;
  *place = last % RUN;
  return key ^ last >> RUN_BITS;
}

/* Finds or adds a run.  NULL without memory. */
static struct run *run_of(struct thread_state *t, struct doacross *loop, uint64_t key)
{
  uint32_t index = key_map_find(&runs, &loop->runs, key);
  if (index)
    return pool_at(&runs, index);
  uint32_t made = pool_get(&runs, &t->free_runs);
  if (!made)
    return NULL;
  struct run *run = pool_at(&runs, made);
  run->item.key = key;
  __builtin_memset(run->sources, 0, sizeof run->sources);
  index = key_map_add(t, &runs, &loop->runs, made);
  if (index != made)
    pool_put(&runs, &t->free_runs, made);
  return index ? pool_at(&runs, index) : NULL;
}

/* Begins another block of the thread.  Returns false without memory. */
static bool block_begin(struct thread_state *t, struct doacross *loop, struct doacross_cursor *own)
{
  uint32_t index = pool_get(&blocks, &t->free_source_blocks);
  if (!index)
    return false;
  if (index >= SOURCE_BLOCKS_MAX) {
    pool_put(&blocks, &t->free_source_blocks, index);
    return false;
  }
  struct block *block = block_at(index);
  block->paths = 0;
  block->more = __atomic_load_n(&loop->blocks, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&loop->blocks, &block->more, index, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
  own->block = index;
  own->used = 0;
  return true;
}

void doacross_source(struct thread_state *t, struct doacross *loop, struct doacross_cursor *own,
                     const ompt_dependence_t *vector, int count, const struct clock *clock, uint64_t name)
{
  uint32_t place;
  uint64_t key = key_of(vector, count, &place);
  if (!own->source || own->source->item.key != key)
    own->source = run_of(t, loop, key);
  if (!own->source || ((!own->block || own->used == BLOCK) && !block_begin(t, loop, own))) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return;
  }
  struct block *block = block_at(own->block);
  struct join *source = &block->sources[own->used];
  *source = (struct join){.latest = clock_copy(t, clock)};
  if (source->latest.path.tail)
    block->paths |= 1u << own->used;
  graph_log_offer(t, name, source);
  __atomic_store_n(&own->source->sources[place], own->block << BLOCK_BITS | own->used, __ATOMIC_RELEASE);
  own->used++;
}

const struct join *doacross_sink(const struct doacross *loop, struct doacross_cursor *own,
                                 const ompt_dependence_t *vector, int count)
{
  uint32_t place;
  uint64_t key = key_of(vector, count, &place);
  struct run *run = own->sink && own->sink->item.key == key ? own->sink : own->source;
  if (!run || run->item.key != key) {
    uint32_t index = key_map_find(&runs, &loop->runs, key);
    if (!index)
      return NULL;
    run = own->sink = pool_at(&runs, index);
  }
  uint32_t source = __atomic_load_n(&run->sources[place], __ATOMIC_ACQUIRE);
  return source ? &block_at(source >> BLOCK_BITS)->sources[source & BLOCK] : NULL;
}

static void release_run(struct thread_state *t, uint32_t index, void *context)
{
  (void)context;
  pool_put(&runs, &t->free_runs, index);
}

void doacross_clear(struct thread_state *t, struct doacross *loop)
{
  key_map_clear(t, &loop->runs, release_run, NULL);
  for (uint32_t index = loop->blocks, more; index; index = more) {
    struct block *block = block_at(index);
    more = block->more;
    for (uint32_t left = block->paths; left; left &= left - 1)
      join_clear(t, &block->sources[__builtin_ctz(left)]);
    pool_return(&blocks, &t->free_source_blocks, index, block);
  }
  loop->blocks = 0;
}
