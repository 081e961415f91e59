/* Memory of RT: chunks of the measurement format, cut from large mappings.
 *
 * Context: RT and CTL.  Lock-free: any thread may allocate at any time, also in a handler.  Every allocation is a chunk
 * with the header of common/format.h, so that a mapping can be walked from its start to its end and is, as it stands, a
 * measurement file.  Tables are cut from mappings of the process's live file, so that they outlive a killed program;
 * where the file cannot be had, from anonymous memory, which is counted.  Memory that is no table carries table
 * FORMAT_FREE, and is anonymous: it is of no use to a reader.  Freed chunks are kept by class and handed out again;
 * nothing goes back to the system before arena_reset().  Failure is NULL or 0: the caller counts the loss.
 */
#ifndef HPCRUN_LITE_RT_CORE_ARENA_H
#define HPCRUN_LITE_RT_CORE_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/format.h"

/* What a chunk is for.  Chunks of one class and step have one size. */
enum arena_class {
  ARENA_NODES,
  ARENA_LINKS,
  ARENA_VALUES,
  ARENA_THREAD,
  ARENA_RECORD,
  ARENA_FRAMES,
  ARENA_WALK,
  ARENA_STACKS,
  ARENA_FOLD,
  ARENA_TOTALS,
  ARENA_SHARED,
  ARENA_CLASSES
};

enum { TABLE_STEPS = 20 };

/* A growing table of records with 32-bit indices.  Step k holds 1 << (first_shift + k) records, so an index gives its
 * chunk by one bit scan and records never move.  One writer at a time, its thread or who holds its lock; `count` is
 * stored with release after the record and its chunk's address, and loaded with acquire by others, who may look up any
 * record below it meanwhile. */
struct table {
  struct format_chunk *chunks[TABLE_STEPS];
  enum format_table table;
  enum arena_class class;
  uint32_t owner;
  uint32_t record_size; /* bytes, a multiple of 8, or 1 */
  uint32_t first_shift; /* the first chunk holds 1 << first_shift records */
  uint32_t count;       /* records added                */
};

struct format_chunk *arena_new(enum arena_class class, unsigned step, enum format_table table, uint32_t owner,
                               uint32_t record_size, uint32_t capacity);
void arena_free(enum arena_class class, unsigned step, struct format_chunk *chunk);

/* Gives everything back to the system and starts anew (a forked child: other threads do not exist). */
void arena_reset(void);

/* CTL: tables are to be kept in a new file of that name, once it is worth one. */
void arena_keep(const char *path);

/* The file is made, and what there is of tables moves into it.  No other thread may have come yet: called at the first
 * sample, and before a second thread begins.  Most processes of a shell's end before either, and never have a file. */
void arena_settle(void);

/* CTL: another thread is there already.  If that is too late for the file, there is none. */
void arena_waive(void);

/* CTL: the file is removed; tables live on in memory.  Then arena_restore() makes it again with all that is in them,
 * while no thread writes to them. */
void arena_remove(void);
void arena_restore(void);
bool arena_kept(void); /* is there a file? */

static inline void *arena_data(struct format_chunk *chunk)
{
  return chunk + 1;
}

void table_init(struct table *table, enum format_table kind, enum arena_class class, uint32_t owner,
                uint32_t record_size, uint32_t first_capacity); /* first_capacity: a power of two */

/* The next record, zeroed and not yet published, and its index.  NULL without memory. */
void *table_next(struct table *table, uint32_t *index);

/* Adds records until there is one of that index; any thread may, with a lock of the table's own.  False without memory.
 */
bool table_reach(struct table *table, atomic_flag *lock, uint32_t index);

/* Makes the record that table_next() gave visible to readers of the mapping. */
void table_publish(struct table *table);

/* Like table_next() for `records` consecutive records that share a chunk; table_publish_many() publishes them.  Records
 * skipped to get there are zero. */
void *table_next_many(struct table *table, uint32_t records, uint32_t *index);
void table_publish_many(struct table *table, uint32_t records);

void table_release(struct table *table);

static inline uint32_t table_step(const struct table *table, uint32_t index)
{
  return 31u - (uint32_t)__builtin_clz((index >> table->first_shift) + 1);
}

/* Index of a chunk's first record. */
static inline uint32_t table_first(const struct table *table, uint32_t step)
{
  return ((1u << step) - 1) << table->first_shift;
}

static inline void *table_at(const struct table *table, uint32_t index)
{
  uint32_t step = table_step(table, index), first = table_first(table, step);
  return (uint8_t *)arena_data(table->chunks[step]) + (uint64_t)(index - first) * table->record_size;
}

#endif
