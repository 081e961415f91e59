/* One measurement file: checked, and decoded as far as needed.  read.c is the only file that knows the format.
 *
 * Context: BATCH.  A file belongs to the thread that opened it.  The tables of the process are decoded at once; the
 * trees and values of threads only on demand, one at a time, so that memory does not grow with the number of threads.
 * All input is hostile: sizes and strings are checked here; the indices inside nodes (parents, links) by stitch.c.
 */
#ifndef HPCPROF_LITE_INPUT_READ_H
#define HPCPROF_LITE_INPUT_READ_H

#include "hpcprof-lite/model/problems.h"
#include "hpcprof-lite/model/profile.h"

#define READ_SUFFIX ".hpcrun"
#define READ_LIVE_SUFFIX ".live" /* of a process that did not end orderly, with what its ended threads have left: */
#define READ_PART_SUFFIX ".part"

struct read_node {
  uint32_t parent;
  uint32_t what : 24, kind : 8; /* kind: enum context_kind, CONTEXT_FREE where it is none that we know */
  uint32_t offset;
  uint32_t value;
};

struct read_module {
  const char *path;
  const uint8_t *build_id;
  uint32_t build_id_size, flags;
};

struct read_column {
  const char *name, *unit;
  uint32_t role;
  uint64_t period;
};

/* Creation context of a parallel region: known only if `linked`. */
struct read_region {
  bool linked;
  uint32_t owner, link_node;
};

/* A construct; module: the file's number, 0 if not known. */
struct read_directive {
  uint32_t kind, module, flags;
  const char *name;
  uint64_t offset, instances, work, span, iterations, lock_bound;
};

/* A part of the process's span; thread 0: no context. */
struct read_contribution {
  uint32_t directive, thread, node;
  uint64_t amount;
};

struct read_file;

/* Length of a path without the suffix of a measurement; of all of it where it has none. */
size_t read_stem(const char *path);

/* Reads the file and its process tables into *out and *process; whatever is unsound is left out and named in problems.
 * Strings of *process belong to the caller (profile_process), all else to the file.  0, ERR_INPUT if there is nothing
 * of use, or ERR_NOMEM. */
int read_open(const char *path, struct problems *problems, struct profile_process *process, struct read_file **out);
/* The same for a file whose process is known already: only what threads' trees need.  0, ERR_INPUT or ERR_NOMEM. */
int read_open_again(const char *path, struct problems *problems, struct read_file **out);
void read_close(struct read_file *file);

/* The process was killed, and could not keep all of its tables on the disk: that parts are missing is no damage, but
 * among its losses. */
bool read_incomplete(const struct read_file *file);

uint32_t read_columns_count(const struct read_file *file);
struct read_column read_column(const struct read_file *file, uint32_t column);
uint32_t read_modules_count(const struct read_file *file);
struct read_module read_module(const struct read_file *file, uint32_t module);
const char *read_string(const struct read_file *file, uint32_t offset); /* "" where there is none */
uint32_t read_regions_count(const struct read_file *file);
struct read_region read_region(const struct read_file *file, uint32_t region);

uint32_t read_directives_count(const struct read_file *file);
struct read_directive read_directive(const struct read_file *file, uint32_t directive);
uint32_t read_contributions_count(const struct read_file *file);
struct read_contribution read_contribution(const struct read_file *file, uint32_t contribution);

/* Decodes the tree of a thread into *nodes (free()), *count 0 where the file has none.  0, or ERR_NOMEM. */
int read_nodes(struct read_file *file, uint32_t thread, struct problems *problems, struct read_node **nodes,
               uint32_t *count);

/* Decodes a thread's values: *count records of read_columns_count() columns (free()).  0, or ERR_NOMEM. */
int read_values(struct read_file *file, uint32_t thread, struct problems *problems, uint64_t **values, uint32_t *count);

#endif
