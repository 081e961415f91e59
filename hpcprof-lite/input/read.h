/* Reads one measurement file: what its records mean.  They are those of common/format.h.
 *
 * Context: BATCH.  An open file belongs to its caller and to one thread at a time, apart from read_another(); strings
 * and build ids that it returns live until read_close().  The tables of the process are decoded when the file is
 * opened.  The trees and values of threads are decoded on demand, one at a time, so that memory does not grow with the
 * number of threads.
 *
 * All input is hostile.  Sizes and strings are checked by file_tables.c, which decodes the extents; the indices inside
 * nodes (parents, links) by node_map.c.  Whatever is damaged is left out and reported in `problems`.  log_reader.c
 * decodes graph logs.
 */
#ifndef HPCPROF_LITE_INPUT_READ_H
#define HPCPROF_LITE_INPUT_READ_H

#include "common/format.h"
#include "hpcprof-lite/model/problems.h"
#include "hpcprof-lite/model/profile.h"

#define READ_LAUNCH "launch" /* the file that identifies the run of a directory */

/* Whether the file is one of a measurement, as its first bytes say. */
bool read_is_measured(const char *path);

/* struct format_node, with the parts of `kind_what`. */
struct read_node {
  uint32_t what : 24, kind : 8; /* kind: enum context_kind, CONTEXT_FREE if it is unknown */
  uint32_t offset, parent, value;
};

struct read_column {
  const char *name, *unit;
  uint32_t role;
  bool counted; /* by -c: an event that was counted, not sampled */
  uint64_t period;
};

struct read_file;

/* Returns the length of a path without the suffix of a measurement file, or of the whole path if it has none. */
size_t read_stem(const char *path);

/* Opens the file into *out and fills in *process, whose `unfinished` the caller has set.  `path` must live as long as
 * the file.  The strings and threads of *process belong to the caller also after a failure, all else to the file.
 * Returns 0, or ERR_INPUT if no part of the file is usable. */
int read_open(const char *path, struct problems *problems, struct profile_process *process, struct read_file **out);

/* The same without the process, which has been read before. */
int read_open_again(const char *path, struct problems *problems, struct read_file **out);
void read_close(struct read_file *file); /* NULL is allowed */

/* Returns another reader of an open file, for another thread, which has a budget of its own for damaged files.
 * The caller frees it with free() before read_close(). */
struct read_file *read_another(const struct read_file *file);

/* Returns whether the process was killed before all of its tables were on the disk.  Records that are missing for that
 * reason are counted among its losses and not reported as damage. */
bool read_incomplete(const struct read_file *file);

uint32_t read_columns_count(const struct read_file *file);
struct read_column read_column(const struct read_file *file, uint32_t column);

/* Returns the number of the first column with that role, MODEL_NONE if there is none. */
uint32_t read_column_of(const struct read_file *file, enum column_role role);

/* Returns the period of the samples of a column, 0 of MODEL_NONE. */
uint64_t read_period(const struct read_file *file, uint32_t column);

const char *read_string(const struct read_file *file, uint32_t offset); /* "" if the offset is invalid */

/* The records of a table of the process. */
uint32_t read_count(const struct read_file *file, enum format_table table);
const void *read_records(const struct read_file *file, enum format_table table);

/* Whether the context that created a region is known. */
static inline bool read_region_linked(const struct format_region *region)
{
  return region->state == FORMAT_REGION_PROVISIONAL || region->state == FORMAT_REGION_FINAL;
}

/* Decodes a table of the thread with that index: *count records, which the caller frees.  Those of FORMAT_NODES are
 * struct read_node; of FORMAT_VALUES read_columns_count() numbers, of FORMAT_COUNTS 2 * counters + 1, see
 * doc/format.md.  Never NULL. */
void *read_table(struct read_file *file, uint32_t thread, enum format_table table, struct problems *problems,
                 uint32_t *count);

/* Sets names[] to the events that the process has counted, and returns their number. */
unsigned read_counters(const struct read_file *file, const char *names[COUNTERS_MAX]);

/* A flag of a construct, of which only a part of its executions is known: chosen, unended, and the body of a lock are
 * not.  The same in `reserved` of tasks: nothing but created, started and ticks is known.  No file has it. */
#define READ_CUT (1u << 31)

static inline bool read_is_link(const struct format_construct *construct)
{
  return construct->flags & FORMAT_CONSTRUCT_LINK;
}

/* ---- a part of the run ---- */

/* Columns of a file that parts have: those before the first number, and those from the second one on. */
struct read_columns {
  uint32_t before, from;
};

/* Tables of a thread that take the place of those in the file; FORMAT_NODES are appended to them. */
struct read_part {
  uint32_t thread; /* index */
  struct {
    void *records; /* from malloc() */
    uint32_t count;
  } tables[FORMAT_TABLES];
};

/* From now on the tables are those of the parts, sorted by thread, and values have only these columns.  The parts
 * belong to the caller and must stay. */
void read_replace(struct read_file *file, const struct read_part *parts, uint32_t count, struct read_columns columns);
bool read_replaced(const struct read_file *file);
void read_part_release(struct read_part *part);

#endif
