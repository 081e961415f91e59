#include "hpcrun-lite/rt/span/doacross.h"

#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/key_map.h"

enum { RUN_BITS = 4, RUN = 1 << RUN_BITS, BLOCK = 15 };
enum { SOURCE_BLOCKS_MAX = 1 << 18 }; /* about four million sources */

/* The iterations whose vectors differ only in the last RUN_BITS of the last coordinate.  The thread that announces a
 * source stores its address with release. */
struct run {
  struct key_item item;
  struct join *sources[RUN];
};

/* Sources of one thread in the order in which it has announced them.  paths: a bit for each source whose critical path
 * has segments. */
struct block {
  struct pool_item pool;
  uint32_t index, paths;
  struct block *more;
  struct join sources[BLOCK];
};

static struct pool runs, blocks;

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

/* Two coordinates below 2^32: every run has a key of its own.  Otherwise two runs have the same key once in 2^64. */
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
static bool block_begin(struct thread_state *t, struct doacross_cursor *own)
{
  void *item;
  uint32_t index = pool_take(&blocks, &t->free_source_blocks, &item);
  if (!index)
    return false;
  if (index >= SOURCE_BLOCKS_MAX) {
    pool_return(&blocks, &t->free_source_blocks, index, item);
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

void doacross_source(struct thread_state *t, struct doacross_cursor *own, const ompt_dependence_t *vector, int count,
                     const struct clock *clock, uint64_t within, uint64_t name)
{
  uint32_t place;
  uint64_t key = key_of(vector, count, &place);
  if (!own->source || own->source->item.key != key)
    own->source = run_of(t, own->loop, key);
  if (!own->source || ((!own->block || own->used == BLOCK) && !block_begin(t, own))) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return;
  }
  struct join *source = &own->block->sources[own->used];
  *source =
      (struct join){.latest = {clock->base, clock->burdened, critical_path_copy(t, &clock->path)}, .within = within};
  if (clock->path.tail)
    own->block->paths |= 1u << own->used;
  own->used++;
  graph_log_offer(t, name, source);
  __atomic_store_n(&own->source->sources[place], source, __ATOMIC_RELEASE);
}

const struct join *doacross_sink(struct doacross_cursor *own, const ompt_dependence_t *vector, int count)
{
  uint32_t place;
  uint64_t key = key_of(vector, count, &place);
  struct run *run = own->sink && own->sink->item.key == key ? own->sink : own->source;
  if (!run || run->item.key != key) {
    uint32_t index = key_map_find(&runs, &own->loop->runs, key);
    if (!index)
      return NULL;
    run = own->sink = pool_at(&runs, index);
  }
  return __atomic_load_n(&run->sources[place], __ATOMIC_ACQUIRE);
}

static void release_run(struct thread_state *t, uint32_t index, void *context)
{
  (void)context;
  pool_put(&runs, &t->free_runs, index);
}

void doacross_clear(struct thread_state *t, struct doacross *loop)
{
  struct block *block = loop->blocks, *more;
  loop->blocks = NULL;
  key_map_clear(t, &loop->runs, release_run, NULL);
  for (; block; block = more) {
    more = block->more;
    for (uint32_t left = block->paths; left; left &= left - 1)
      critical_path_drop(t, &block->sources[__builtin_ctz(left)].latest.path);
    pool_return(&blocks, &t->free_source_blocks, block->index, block);
  }
}
