/* Memory of RT: extents of the measurement format, and tables that grow by extents.
 *
 * Context: RT and CTL.  Any thread may allocate at any time, also in a handler: nothing is locked, but of threads that
 * need a new block at the same time, one maps it, and the others wait for a bounded time.  Extents are cut from large
 * blocks of mapped memory.  Every extent has the header of common/format.h, so a block can be walked from its start to
 * its end, and a block in the process's live file is a valid measurement file at every moment.
 *
 * Tables are cut from blocks that are mapped from the live file, so they survive a killed program.  Where the file is
 * missing or cannot grow, they are cut from anonymous memory, and the loss is counted.  Extents with table FORMAT_FREE
 * are not tables, and are always anonymous: a reader has no use for them.
 *
 * The arena owns all memory.  A freed extent is kept in a list of its class and step and handed out again; nothing is
 * returned to the system before arena_reset().  On failure a function returns NULL or false, and the caller counts the
 * loss. */
#ifndef HPCRUN_LITE_RT_CORE_ARENA_H
#define HPCRUN_LITE_RT_CORE_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/format.h"

/* What an extent is used for.  All extents of one class and step have the same size. */
enum arena_class {
  ARENA_NODES,
  ARENA_LINKS,
  ARENA_VALUES,
  ARENA_THREAD,
  ARENA_RECORD,
  ARENA_FRAMES,
  ARENA_WALK,
  ARENA_STACKS,
  ARENA_COMPACTION,
  ARENA_HANDLER,
  ARENA_TOTALS,
  ARENA_WAITS,
  ARENA_SHARES,
  ARENA_LOCKS,
  ARENA_MPI,
  ARENA_MPI_SITES,
  ARENA_CONSTRUCTS,
  ARENA_TASKS,
  ARENA_OPEN,
  ARENA_USER_COUNTS,
  ARENA_USER_HEADS,
  ARENA_COUNTS,
  ARENA_SHARED,
  ARENA_CLASSES
};

enum { TABLE_STEPS = 20 };

/* A growing table of records with 32-bit indices.  Step k holds 1 << (first_shift + k) records, so one bit scan maps an
 * index to its extent, and records never move.  One writer at a time: the owning thread, or the holder of the table's
 * lock.  `count` is stored with release after the record and the address of its extent; other threads load it with
 * acquire and may read all records below it. */
struct table {
  struct format_extent *extents[TABLE_STEPS];
  uintptr_t origins[TABLE_STEPS]; /* where record 0 would lie if the extent's records began with it */
  enum format_table table;
  enum arena_class class;
  uint32_t owner;
  uint32_t record_size; /* bytes: a multiple of 8, or 1 */
  uint32_t first_shift; /* step 0 holds 1 << first_shift records */
  uint32_t count;       /* published records */
};

/* Returns a zeroed extent for `capacity` records with its header filled in, or NULL without memory.  The payload is
 * visible to readers of the mapping as soon as its count is raised. */
struct format_extent *arena_new(enum arena_class class, unsigned step, enum format_table table, uint32_t owner,
                                uint32_t record_size, uint32_t capacity);

/* Puts an extent back into the list of its class and step.  The caller must not use it afterwards. */
void arena_free(enum arena_class class, unsigned step, struct format_extent *extent);

/* Returns all memory to the system and starts anew.  Only for a forked child, where no other thread exists. */
void arena_reset(void);

/* CTL: announces a live file at that path.  The file is not made before arena_create_live_file(). */
void arena_keep(const char *path);

/* Makes the live file and moves all tables into it; does nothing if that has happened or no file was announced.  The
 * caller must be the only thread: called at the start of the command's first process, and in others at the first
 * sample, when an OpenMP runtime begins, and before a second thread begins.  Most child processes of a shell end before
 * any of these and never get a file. */
void arena_create_live_file(void);

/* CTL, when a second thread begins: gives up the live file if it has not been made yet, and counts the loss. */
void arena_waive(void);

/* CTL: removes the live file; the tables stay in memory.  arena_restore() makes the file again with the contents of all
 * tables; no thread may write to them meanwhile. */
void arena_remove(void);
void arena_restore(void);
bool arena_kept(void); /* whether there is a live file */

/* The payload of an extent. */
static inline void *arena_data(struct format_extent *extent)
{
  return extent + 1;
}

/* Makes the table empty.  Allocates nothing. */
void table_init(struct table *table, enum format_table kind, enum arena_class class, uint32_t owner,
                uint32_t record_size, uint32_t first_capacity); /* first_capacity: a power of two */

/* Returns the next record, zeroed and not yet published, and sets its index.  NULL without memory. */
void *table_next(struct table *table, uint32_t *index);

/* Adds zeroed records until the table has one of that index.  Any thread may call it with the lock of that table.
 * Returns false without memory, or if the lock cannot be taken in a bounded time. */
bool table_reach(struct table *table, atomic_flag *lock, uint32_t index);

/* Publishes the record that table_next() returned. */
void table_publish(struct table *table);

/* Like table_next() and table_publish() for `records` consecutive records within one extent.  If the current extent is
 * too small for them, its remaining records are published as zeros. */
void *table_next_many(struct table *table, uint32_t records, uint32_t *index);
void table_publish_many(struct table *table, uint32_t records);

/* Frees all extents and makes the table empty. */
void table_release(struct table *table);

/* The step that holds a record, the index of a step's first record, and the address of a record.  The record must
 * exist.  The address takes few instructions, because callbacks look up tens of records. */
static inline uint32_t table_step(const struct table *table, uint32_t index)
{
  return 31u ^ (uint32_t)__builtin_clz((index >> table->first_shift) + 1);
}

static inline uint32_t table_first(const struct table *table, uint32_t step)
{
  return ((1u << step) - 1) << table->first_shift;
}

static inline void *table_at(const struct table *table, uint32_t index)
{
  return (void *)(table->origins[table_step(table, index)] + (uint64_t)index * table->record_size);
}

#endif
