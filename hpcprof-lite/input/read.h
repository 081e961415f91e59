/* Reads one measurement file: what its records mean.
 *
 * Context: BATCH.  An open file belongs to its caller and to one thread at a time, apart from read_another(); strings
 * and build ids that it returns live until read_close().  The tables of the process are decoded when the file is
 * opened.  The trees and values of threads are decoded on demand, one at a time, so that memory does not grow with the
 * number of threads.
 *
 * All input is hostile.  Sizes and strings are checked by file_tables.c, which decodes the chunks; the indices inside
 * nodes (parents, links) by node_map.c.  Whatever is damaged is left out and reported in `problems`.  log_reader.c
 * decodes graph logs.
 */
#ifndef HPCPROF_LITE_INPUT_READ_H
#define HPCPROF_LITE_INPUT_READ_H

#include "hpcprof-lite/model/problems.h"
#include "hpcprof-lite/model/profile.h"

#define READ_SUFFIX ".hpcrun"
#define READ_LIVE_SUFFIX ".live"        /* of a process that runs, or did not end in order */
#define READ_SNAPSHOT_MARKER "snapshot" /* in a directory that was copied while processes ran */
#define READ_SNAPSHOT_TITLE "hpcrun-lite snapshot on " /* how it begins */
#define READ_PART_SUFFIX ".part"        /* the threads of such a process that have ended   */
#define READ_LAUNCH "launch"            /* the file that identifies the run of a directory */

/* Whether the file is one of a measurement, as its first bytes say. */
bool read_is_measured(const char *path);

/* See struct format_node. */
enum { READ_NODE_WHAT_MAX = (1 << 24) - 1 };

struct read_node {
  uint32_t parent;
  uint32_t what : 24, kind : 8; /* kind: enum context_kind, CONTEXT_FREE if it is unknown */
  uint32_t offset;
  uint32_t value; /* index of the value record, 0 = none */
};

struct read_module {
  const char *path;
  const uint8_t *build_id;
  uint32_t build_id_size, flags;
};

struct read_column {
  const char *name, *unit;
  uint32_t role;
  bool counted; /* by -c: an event that was counted, not sampled */
  uint64_t period;
};

/* The context that created a parallel region: known only if `linked`. */
struct read_region {
  bool linked, open;
  uint32_t owner, link_node; /* thread index, node of its tree */
};

/* A construct.  Amounts are in the unit of the process. */
struct read_directive {
  uint32_t kind, module, flags; /* module: the file's number, 0 if unknown */
  const char *name;
  uint64_t offset, instances, work, span, iterations, lock_bound;
};

/* What a construct contributes to the span of the process, in one context. */
struct read_contribution {
  uint32_t directive, thread, node; /* thread 0: without a context */
  uint64_t amount;
};

struct read_file;

/* Returns the length of a path without the suffix of a measurement file, or of the whole path if it has none. */
size_t read_stem(const char *path);

/* Opens the file into *out and fills in *process, whose `unfinished` the caller has set.  `path` must live as long as
 * the file.  The strings and threads of *process belong to the caller also after a failure, all else to the file.
 * Returns 0, ERR_INPUT if no part of the file is usable, or ERR_NOMEM. */
int read_open(const char *path, struct problems *problems, struct profile_process *process, struct read_file **out);

/* Opens a file whose process has been read before.  Returns the same. */
int read_open_again(const char *path, struct problems *problems, struct read_file **out);
void read_close(struct read_file *file); /* NULL is allowed */

/* Returns another reader of an open file, for another thread, which has a budget of its own for damaged files; NULL
 * without memory.  The caller frees it with free() before read_close(). */
struct read_file *read_another(const struct read_file *file);

/* Returns whether the process was killed before all of its tables were on the disk.  Records that are missing for that
 * reason are counted among its losses and not reported as damage. */
bool read_incomplete(const struct read_file *file);

uint32_t read_columns_count(const struct read_file *file);
struct read_column read_column(const struct read_file *file, uint32_t column);
uint32_t read_modules_count(const struct read_file *file);
struct read_module read_module(const struct read_file *file, uint32_t module);
const char *read_string(const struct read_file *file, uint32_t offset); /* "" if the offset is invalid */
uint32_t read_regions_count(const struct read_file *file);
struct read_region read_region(const struct read_file *file, uint32_t region);

uint32_t read_directives_count(const struct read_file *file);
struct read_directive read_directive(const struct read_file *file, uint32_t directive);
uint32_t read_contributions_count(const struct read_file *file);
struct read_contribution read_contribution(const struct read_file *file, uint32_t contribution);

/* Decodes the tree of the thread with that index into *nodes, which the caller frees; *count is 0 if the file has none.
 * Returns 0 or ERR_NOMEM. */
int read_nodes(struct read_file *file, uint32_t thread, struct problems *problems, struct read_node **nodes,
               uint32_t *count);

/* Decodes the values of the thread with that index: *count records of read_columns_count() numbers, which the caller
 * frees.  Returns 0 or ERR_NOMEM. */
int read_values(struct read_file *file, uint32_t thread, struct problems *problems, uint64_t **values, uint32_t *count);

/* Why a thread waited: see enum format_wait_kind. */
enum read_wait_kind { READ_WAIT_PARKED, READ_WAIT_REGION_END, READ_WAIT_BARRIER, READ_WAIT_TASKS, READ_WAIT_LOCK };

/* A place at which a thread waited: see struct format_wait.  Times in ticks. */
struct read_wait {
  uint32_t kind, module, node;
  uint64_t offset, count, idle, runtime, since, shared_ns, tool_ns;
};

struct read_share {
  uint32_t wait, next;
  uint64_t ns;
};

/* A construct of a thread, and its figures of a task construct: see struct format_construct, struct format_tasks. Times
 * in ticks. */
struct read_construct {
  uint32_t parent, kind, directive;
  bool linked, in_wait;
  uint32_t owner, link, node;
  uint64_t count, chosen, unended, ticks[CONSTRUCT_TIMES], wait_own, wait_spare;
  bool cut; /* only a part of its executions: chosen, unended, and the body of a lock are not known */
};

struct read_tasks {
  uint32_t directive;
  uint64_t created, undeferred, untied, dependent, created_at, create_ticks, create_timed;
  uint64_t started, started_at, elsewhere, ended, ticks, shortest, longest, suspended;
  uint32_t histogram[CONSTRUCT_TASK_BUCKETS];
  bool cut; /* only a part of them: nothing but created, started and ticks is known */
};

/* Decode the tables of constructs and of tasks of the thread with that index, which the caller frees.  Return 0 or
 * ERR_NOMEM. */
int read_constructs(struct read_file *file, uint32_t thread, struct problems *problems,
                    struct read_construct **constructs, uint32_t *count);
int read_tasks(struct read_file *file, uint32_t thread, struct problems *problems, struct read_tasks **tasks,
               uint32_t *count);

/* Sets names[] to the events that the process has counted, and returns their number. */
unsigned read_counters(const struct read_file *file, const char *names[COUNTERS_MAX]);

/* Decodes the counts of the thread's constructs, which the caller frees: *count records of 2 * counters + 1 numbers,
 * see doc/format.md.  Returns 0 or ERR_NOMEM. */
int read_counts(struct read_file *file, uint32_t thread, struct problems *problems, uint64_t **counts, uint32_t *count);

/* Decode the waiting places and the shares of the thread with that index, which the caller frees.  Return 0 or
 * ERR_NOMEM. */
int read_waits(struct read_file *file, uint32_t thread, struct problems *problems, struct read_wait **waits,
               uint32_t *count);
int read_shares(struct read_file *file, uint32_t thread, struct problems *problems, struct read_share **shares,
                uint32_t *count);

/* What the program marked, in the order of time.  name: for read_string(), 0: none. */
enum read_mark_kind { READ_MARK, READ_PHASE };
struct read_mark {
  uint64_t ticks;
  uint32_t thread, kind, name;
};
uint32_t read_marks_count(const struct read_file *file);
struct read_mark read_mark(const struct read_file *file, uint32_t mark);

/* What the thread counted in a context: see struct format_user_count. */
struct read_user_count {
  uint32_t node, name;
  uint64_t count, sum, least, most;
};

/* Decodes the counters' sums of the thread with that index, which the caller frees.  Returns 0 or ERR_NOMEM. */
int read_user_counts(struct read_file *file, uint32_t thread, struct problems *problems,
                     struct read_user_count **counts, uint32_t *count);

/* ---- a part of the run ---- */

/* Columns of a file that parts have: those before the first number, and those from the second one on. */
struct read_columns {
  uint32_t before, from;
};

/* Tables of a thread that take the place of those in the file. */
struct read_part {
  uint32_t thread; /* index */
  uint64_t *values;
  struct read_wait *waits;
  struct read_share *shares;
  struct read_construct *constructs;
  struct read_tasks *tasks;
  struct read_user_count *user_counts;
  struct read_node *nodes; /* these are appended to the thread's tree */
  uint32_t values_count, waits_count, shares_count, constructs_count, tasks_count, user_counts_count, nodes_count;
};

/* From now on the tables are those of the parts, sorted by thread, and values have only these columns.  The parts
 * belong to the caller and must stay. */
void read_replace(struct read_file *file, const struct read_part *parts, uint32_t count, struct read_columns columns);
bool read_replaced(const struct read_file *file);
void read_part_release(struct read_part *part);

#endif
