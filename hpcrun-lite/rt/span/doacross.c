#include "hpcrun-lite/rt/span/doacross.h"

#include "hpcrun-lite/rt/span/graph_log.h"

enum { SOURCE_BLOCKS_MAX = 1 << 18 }; /* about four million clocks */

static struct pool runs;
struct pool doacross_blocks;

void doacross_start(void)
{
  pool_init(&runs, sizeof(struct doacross_run));
  pool_init(&doacross_blocks, sizeof(struct doacross_block));
}

void doacross_stop_thread(struct thread_state *t)
{
  pool_flush(&runs, &span_of(t)->free_runs);
  pool_flush(&doacross_blocks, &span_of(t)->free_source_blocks);
}

struct doacross_run *doacross_run_begin(struct thread_state *t, struct doacross *loop, uint64_t key)
{
  uint32_t index = key_map_find(&runs, &loop->runs, key);
  if (index)
    return pool_at(&runs, index);
  uint32_t made = pool_get(&runs, &span_of(t)->free_runs);
  if (!made)
    return NULL;
  struct doacross_run *run = pool_at(&runs, made);
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
  uint32_t index = pool_take(&doacross_blocks, &span_of(t)->free_source_blocks, &item);
  if (!index)
    return false;
  if (index >= SOURCE_BLOCKS_MAX) {
    pool_return(&doacross_blocks, &span_of(t)->free_source_blocks, index, item);
    return false;
  }
  struct doacross_block *block = item;
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

bool doacross_clock_begin(struct thread_state *t, struct doacross_cursor *own, const struct clock *clock,
                          uint64_t within, uint64_t name)
{
  if ((!own->block || own->used == DOACROSS_BLOCK) && !block_begin(t, own))
    return false;
  uint32_t slot = own->used++;
  struct join *join = &own->block->clocks[slot];
  *join = (struct join){.latest = clock_copy(t, clock), .within = within};
  if (clock->path.tail)
    own->block->paths |= 1u << slot;
  graph_log_offer(t, name, join);
  own->last = join;
  own->place = ((uint64_t)own->block->index << DOACROSS_SLOT_BITS | slot) << DOACROSS_MOVED_BITS;
  return true;
}

struct doacross_run *doacross_find_run(struct doacross_cursor *own, uint64_t key)
{
  uint32_t index = key_map_find(&runs, &own->loop->runs, key);
  return index ? own->sink = pool_at(&runs, index) : NULL;
}

static void release_run(struct thread_state *t, uint32_t index, void *context)
{
  (void)context;
  pool_put(&runs, &span_of(t)->free_runs, index);
}

void doacross_clear(struct thread_state *t, struct doacross *loop)
{
  struct doacross_block *block = loop->blocks, *more;
  loop->blocks = NULL;
  key_map_clear(t, &loop->runs, release_run, NULL);
  for (; block; block = more) {
    more = block->more;
    for (uint32_t left = block->paths; left; left &= left - 1)
      critical_path_drop(t, &block->clocks[__builtin_ctz(left)].latest.path);
    pool_return(&doacross_blocks, &span_of(t)->free_source_blocks, block->index, block);
  }
}
