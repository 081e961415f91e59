/* The tables of one measurement file: their records as stored, put together from the extents of the file.
 *
 * Context: BATCH.  The tables of the process are decoded when the file is opened; those of threads on demand.  The
 * structure belongs to its caller and to one thread at a time.  A copy of it serves another thread as long as the
 * original is open, and has a budget of its own.
 *
 * All input is hostile.  Sizes are checked here; what is damaged, repeated or more than any run has is left out and
 * reported in `problems`.  What the records mean is not known here (read.h).
 */
#ifndef HPCPROF_LITE_INPUT_FILE_TABLES_H
#define HPCPROF_LITE_INPUT_FILE_TABLES_H

#include "common/format.h"
#include "hpcprof-lite/input/load.h"

#include <stdbool.h>

/* The records of one table; records that no extent holds are zero. */
struct file_table {
  uint8_t *data;
  uint32_t count, room;
  uint32_t gap_first, gap_end; /* the first gap; gap_end 0: none */
};

/* An extent of a table of a thread, which is decoded later. */
struct extent_ref {
  uint32_t owner, table;
  size_t offset;
};

struct file_tables {
  const char *path; /* the caller's */
  struct load load;
  uint64_t budget_bytes;                   /* that may still be decompressed */
  size_t live_size;                        /* bytes of the live file; 0: not a live file */
  size_t flush_end;                        /* its last flush follows up to there, then the file of its ended threads */
  struct file_table tables[FORMAT_TABLES]; /* of the process, and the records of threads */
  struct extent_ref *refs;                 /* sorted by owner, table, offset */
  size_t refs_count, refs_room;
};

/* Loads a file and decodes the tables of its process.  part: for a live file, that of its ended threads, which need not
 * exist; else NULL.  The caller has set the structure to zero.  Returns 0, or ERR_INPUT if no part of the file is
 * usable; file_tables_release() in any case. */
int file_tables_open(struct file_tables *tables, const char *path, const char *flush, const char *part,
                     struct problems *problems);
void file_tables_release(struct file_tables *tables);

/* Bytes of a record, or of a number in it. */
size_t file_tables_record_size(enum format_table table);

/* Returns the string at that offset, "" if the offset is invalid. */
const char *file_tables_string(const struct file_tables *tables, uint32_t offset);

/* Decodes one table of one thread into *table, which the caller has set to zero.  numbers: in a record, of values and
 * counts, else 1.  The caller frees table->data. */
void file_tables_of_thread(struct file_tables *tables, uint32_t thread, enum format_table which, size_t numbers,
                           struct problems *problems, struct file_table *table);

#endif
