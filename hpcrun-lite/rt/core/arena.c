#include "hpcrun-lite/rt/core/arena.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hpcrun-lite/rt/core/budget.h"
#include "hpcrun-lite/rt/core/mapped.h"
#include "hpcrun-lite/rt/core/rt_process.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/core/touch.h"

/* A handle names an extent in 32 bits: block << 16 | offset in units of FORMAT_UNIT bytes.  Handle 0 means "none". */
enum {
  UNIT = FORMAT_UNIT,
  BLOCK_SIZE = 1 << 20,
  KEPT_FIRST = 64 << 10,
  LIMIT_BLOCKS = 16, /* a memory limit has room for so many blocks at least */
  BLOCKS_MAX = 1 << 14,
  MAPPER_TRIES = 100000,
  PAGE = 4096
};

struct block {
  _Atomic(uint8_t *) base;
  size_t size;
  atomic_size_t used;
  bool keep; /* for tables */
};

/* The thread that has taken a number from block_count writes the block's size and keep, and publishes them by storing
 * base with release; other threads load base with acquire.  `used` only grows, by compare-and-exchange.  `newest` (by
 * keep) is the block that extents are cut from.  `mapper` (by keep) is the thread that maps the next one, by an address
 * that only it has: threads that find the newest block full at the same time need no more than one. */
static struct block blocks[BLOCKS_MAX];
static atomic_uint newest[2];
static _Atomic uintptr_t mapper[2];
static atomic_uint block_count = 1; /* block 0 is never used, so no handle is 0 */
static struct mapped_file file;

/* State of the live file: none; announced, tables are still in anonymous memory; made.  Only a process's single thread
 * changes WAITING to SETTLED. */
static _Atomic enum { KEEP_NOTHING, KEEP_WAITING, KEEP_IN_FILE } keeping;
static atomic_uint table_size; /* size of the next block for tables */

/* Free extents by class and step: tag << 32 | handle of the first one.  Each push and pop changes the tag, which solves
 * the ABA problem: a pop that has read reserved[0] of an extent that another thread has taken meanwhile fails.  Pushed
 * with release and popped with acquire, so the new owner sees everything that was done to the extent. */
static _Atomic uint64_t free_lists[ARENA_CLASSES][TABLE_STEPS];

static uint8_t *handle_address(uint32_t handle)
{
  return atomic_load_explicit(&blocks[handle >> 16].base, memory_order_acquire) + (size_t)(handle & 0xffff) * UNIT;
}

/* The size of a new block.  Blocks for tables start small, since most programs need no more. */
static size_t block_size(size_t least, bool keep)
{
  unsigned usual = keep ? atomic_load(&table_size) : 0;
  if (!usual)
    usual = BLOCK_SIZE;
  else if (usual < BLOCK_SIZE)
    atomic_store(&table_size, 2 * usual);
  size_t share = budget_limit() / LIMIT_BLOCKS / PAGE * PAGE;
  if (share && usual > share)
    usual = (unsigned)share;
  return least > usual ? (least + PAGE - 1) / PAGE * PAGE : usual;
}

/* Counts a block of tables that is not in the live file, and stores the count in the process's record at once: if the
 * program is killed, a reader of the file then knows why parts of tables are missing. */
static void count_unkept(void)
{
  atomic_fetch_add_explicit(&rt.lost[FORMAT_LOST_UNKEPT], 1, memory_order_relaxed);
  struct format_process *process = atomic_load(&rt.record);
  if (process)
    __atomic_store_n(&process->lost[FORMAT_LOST_UNKEPT], atomic_load(&rt.lost[FORMAT_LOST_UNKEPT]), __ATOMIC_RELEASE);
}

/* Maps a block from the live file.  Returns NULL if there is no file, or if the file cannot grow; then the
 * loss is counted. */
static uint8_t *map_kept(size_t size)
{
  if (atomic_load(&keeping) != KEEP_IN_FILE)
    return NULL;
  uint64_t offset;
  uint8_t *base = mapped_part(&file, size, &offset);
  if (!base)
    count_unkept();
  return base;
}

/* Maps a new block of that size, which is block_size().  Returns its number, 0 without memory. */
static unsigned map_block(size_t size, bool keep)
{
  unsigned number = atomic_load(&block_count);
  do {
    if (number >= BLOCKS_MAX)
      return 0;
  } while (!atomic_compare_exchange_weak(&block_count, &number, number + 1));
  struct block *block = &blocks[number];
  block->size = size;
  block->keep = keep;
  uint8_t *base = keep ? map_kept(block->size) : NULL;
  if (!base && (base = sys_map(block->size)))
    touch_pages(base, block->size);
  if (!base) /* the number stays used: after BLOCKS_MAX failures no further block is tried */
    return 0;
  atomic_store(&block->used, 0);
  atomic_store_explicit(&block->base, base, memory_order_release);
  return number;
}

/* The same for at least that size, within the memory limit. */
static unsigned block_new(size_t least, bool keep)
{
  size_t size = block_size(least, keep);
  if (!budget_take(size))
    return 0;
  unsigned number = map_block(size, keep);
  if (!number)
    budget_give(size);
  return number;
}

static uint8_t *block_cut(unsigned number, size_t size, uint32_t *handle)
{
  struct block *block = &blocks[number];
  uint8_t *base = atomic_load_explicit(&block->base, memory_order_acquire);
  if (!base)
    return NULL;
  size_t used = atomic_load(&block->used);
  do {
    if (used + size > block->size)
      return NULL;
  } while (!atomic_compare_exchange_weak(&block->used, &used, used + size));
  *handle = number << 16 | (uint32_t)(used / UNIT);
  return base + used;
}

static uint8_t *cut_newest(size_t size, bool keep, uint32_t *handle)
{
  unsigned number = atomic_load(&newest[keep]);
  return number ? block_cut(number, size, handle) : NULL;
}

/* Cuts from a new block. */
static uint8_t *cut_new(size_t size, bool keep, uint32_t *handle)
{
  unsigned fresh = block_new(size, keep);
  if (!fresh)
    return NULL;
  uint8_t *memory = block_cut(fresh, size, handle);
  if (size < blocks[fresh].size / 2)
    atomic_store(&newest[keep], fresh);
  return memory;
}

/* The newest block is full: cuts from a new one, unless another thread has mapped one meanwhile. */
static uint8_t *cut_as_mapper(size_t size, bool keep, uintptr_t self, uint32_t *handle)
{
  uint8_t *memory = cut_newest(size, keep, handle);
  if (!memory)
    memory = cut_new(size, keep, handle);
  atomic_compare_exchange_strong(&mapper[keep], &self, 0);
  return memory;
}

/* A thread waits while another one maps a block, for a bounded time: then it takes that thread's place, which may have
 * been cancelled.  Where a handler of the program has interrupted the mapper, it does not wait for its own thread. */
static uint8_t *cut(size_t size, bool keep, uint32_t *handle)
{
  uintptr_t self = (uintptr_t)__builtin_thread_pointer();
  for (int tries = 0;; tries++) {
    uint8_t *memory = cut_newest(size, keep, handle);
    if (memory)
      return memory;
    uintptr_t other = 0;
    bool own = atomic_compare_exchange_strong(&mapper[keep], &other, self) || other == self;
    if (own || (tries >= MAPPER_TRIES && atomic_compare_exchange_strong(&mapper[keep], &other, self)))
      return cut_as_mapper(size, keep, self, handle);
    sys_yield();
  }
}

static struct format_extent *pop(enum arena_class class, unsigned step)
{
  _Atomic uint64_t *list = &free_lists[class][step];
  uint64_t head = atomic_load_explicit(list, memory_order_acquire);
  for (;;) {
    uint32_t handle = (uint32_t)head;
    if (!handle)
      return NULL;
    struct format_extent *extent = (struct format_extent *)handle_address(handle);
    uint64_t next = __atomic_load_n(&extent->reserved[0], __ATOMIC_RELAXED);
    if (atomic_compare_exchange_weak(list, &head, ((head >> 32) + 1) << 32 | next))
      return extent;
  }
}

void arena_free(enum arena_class class, unsigned step, struct format_extent *extent)
{
  _Atomic uint64_t *list = &free_lists[class][step];
  extent->table = FORMAT_FREE;
  uint64_t head = atomic_load(list), fresh;
  do {
    __atomic_store_n(&extent->reserved[0], (uint32_t)head, __ATOMIC_RELAXED);
    fresh = ((head >> 32) + 1) << 32 | extent->reserved[1];
  } while (!atomic_compare_exchange_weak_explicit(list, &head, fresh, memory_order_release, memory_order_relaxed));
}

struct format_extent *arena_new(enum arena_class class, unsigned step, enum format_table table, uint32_t owner,
                                uint32_t record_size, uint32_t capacity)
{
  size_t size = (sizeof(struct format_extent) + (size_t)record_size * capacity + UNIT - 1) / UNIT * UNIT;
  struct format_extent *extent = pop(class, step);
  if (extent) {
    __builtin_memset(arena_data(extent), 0, size - sizeof *extent);
  } else {
    uint32_t handle;
    extent = (struct format_extent *)cut(size, table != FORMAT_FREE, &handle);
    if (!extent)
      return NULL;
    extent->reserved[1] = handle;
  }
  extent->version = FORMAT_VERSION;
  extent->flags = FORMAT_LIVE;
  extent->owner = owner;
  extent->first = extent->count = 0;
  extent->record_size = record_size;
  extent->stored_size = size - sizeof *extent;
  __atomic_store_n(&extent->reserved[0], 0,
                   __ATOMIC_RELAXED); /* a thread that is about to fail in pop() may still read it */
  __atomic_store_n(&extent->magic, FORMAT_MAGIC, __ATOMIC_RELEASE);
  __atomic_store_n(&extent->table, (uint16_t)table, __ATOMIC_RELEASE);
  return extent;
}

void arena_reset(void)
{
  unsigned count = atomic_load(&block_count);
  for (unsigned i = 1; i < count; i++) {
    uint8_t *base = atomic_load(&blocks[i].base);
    if (base)
      sys_unmap(base, blocks[i].size);
    atomic_store(&blocks[i].base, NULL);
  }
  budget_reset();
  atomic_store(&block_count, 1);
  for (int keep = 0; keep < 2; keep++) {
    atomic_store(&newest[keep], 0);
    atomic_store(&mapper[keep], 0);
  }
  atomic_store(&keeping, KEEP_NOTHING);
  atomic_store(&table_size, 0);
  for (unsigned class = 0; class < ARENA_CLASSES; class ++)
    for (unsigned step = 0; step < TABLE_STEPS; step++)
      atomic_store(&free_lists[class][step], 0);
}

void arena_keep(const char *path)
{
  if (!mapped_start(&file, path))
    return;
  atomic_store(&table_size, KEPT_FIRST);
  atomic_store(&keeping, KEEP_WAITING);
}

void arena_create_live_file(void)
{
  if (atomic_load_explicit(&keeping, memory_order_relaxed) != KEEP_WAITING)
    return;
  unsigned count = atomic_load(&block_count);
  for (unsigned i = 1; i < count; i++) {
    uint8_t *base = atomic_load(&blocks[i].base);
    if (base && blocks[i].keep && !mapped_adopt(&file, base, blocks[i].size))
      count_unkept();
  }
  atomic_store(&keeping, KEEP_IN_FILE);
}

void arena_waive(void)
{
  if (atomic_load(&keeping) != KEEP_WAITING)
    return;
  atomic_store(&keeping, KEEP_NOTHING);
  count_unkept();
}

bool arena_kept(void)
{
  return mapped_made(&file);
}

void arena_remove(void)
{
  mapped_remove(&file);
}

void arena_restore(void)
{
  if (atomic_load(&keeping) != KEEP_IN_FILE)
    return;
  mapped_renew(&file);
  atomic_store(&keeping, KEEP_WAITING);
  arena_create_live_file();
}

void table_init(struct table *table, enum format_table kind, enum arena_class class, uint32_t owner,
                uint32_t record_size, uint32_t first_capacity)
{
  *table = (struct table){.table = kind,
                          .class = class,
                          .owner = owner,
                          .record_size = record_size,
                          .first_shift = (uint32_t)__builtin_ctz(first_capacity)};
}

void *table_next_many(struct table *table, uint32_t records, uint32_t *index)
{
  for (;;) {
    uint32_t step = table_step(table, table->count), first = table_first(table, step);
    uint32_t capacity = 1u << (table->first_shift + step);
    if (step >= TABLE_STEPS)
      return NULL;
    if (!table->extents[step]) {
      struct format_extent *extent =
          arena_new(table->class, step, table->table, table->owner, table->record_size, capacity);
      if (!extent)
        return NULL;
      if (step) /* the first one may be large for what a thread needs */
        touch_part(extent, sizeof *extent + extent->stored_size);
      extent->first = first;
      table->origins[step] = (uintptr_t)arena_data(extent) - (uintptr_t)first * table->record_size;
      __atomic_store_n(&table->extents[step], extent, __ATOMIC_RELEASE);
    }
    if (table->count - first + records <= capacity) {
      *index = table->count;
      return table_at(table, table->count);
    }
    table_publish_many(table, capacity - (table->count - first));
  }
}

void table_publish_many(struct table *table, uint32_t records)
{
  struct format_extent *extent = table->extents[table_step(table, table->count)];
  __atomic_store_n(&extent->count, extent->count + records, __ATOMIC_RELEASE);
  __atomic_store_n(&table->count, table->count + records, __ATOMIC_RELEASE);
}

void *table_next(struct table *table, uint32_t *index)
{
  return table_next_many(table, 1, index);
}

void table_publish(struct table *table)
{
  table_publish_many(table, 1);
}

bool table_reach(struct table *table, atomic_flag *lock, uint32_t index)
{
  enum { TRIES = 100000 };
  uint32_t added;
  int tries = 0;
  while (__atomic_load_n(&table->count, __ATOMIC_ACQUIRE) <= index) {
    if (atomic_flag_test_and_set_explicit(lock, memory_order_acquire)) {
      if (++tries > TRIES)
        return false;
      sys_yield();
      continue;
    }
    bool room = table->count > index || table_next(table, &added);
    if (room && table->count <= index)
      table_publish(table);
    atomic_flag_clear_explicit(lock, memory_order_release);
    if (!room)
      return false;
  }
  return true;
}

void table_release(struct table *table)
{
  for (unsigned step = 0; step < TABLE_STEPS; step++)
    if (table->extents[step])
      arena_free(table->class, step, table->extents[step]);
  table_init(table, table->table, table->class, table->owner, table->record_size, 1u << table->first_shift);
}
