/* Composes small measurement files for tests, valid and invalid ones, with the encoder of the running side.
 *
 * A composition holds the tables of one process; threads are added in the order of their index.  The same calls always
 * make the same bytes, except for compressed ones, which depend on the version of zstd. */
#ifndef TESTS_GOLDEN_COMPOSE_H
#define TESTS_GOLDEN_COMPOSE_H

#include "common/format.h"

#include <stdbool.h>
#include <stdio.h>

enum { COMPOSE_STRINGS = 1024, COMPOSE_RECORDS = 256, COMPOSE_BYTES = 1 << 19 };

enum compose_form { COMPOSE_PACKED, COMPOSE_ZSTD, COMPOSE_LIVE };

struct compose {
  char strings[COMPOSE_STRINGS];
  uint32_t strings_size;
  struct format_process process;
  struct format_thread thread; /* the record of the next thread, except its samples; reset after each thread */
  struct format_metric metrics[16];
  uint32_t metrics_count;
  struct format_module modules[8];
  uint32_t modules_count;
  struct format_region regions[8];
  uint32_t regions_count;
  struct format_directive directives[32]; /* record 0 is the program; without others no table is written */
  uint32_t directives_count;
  struct format_contribution contributions[32];
  uint32_t contributions_count;
  struct format_node nodes[COMPOSE_RECORDS]; /* of the thread being composed */
  uint32_t nodes_count;
  uint64_t values[COMPOSE_RECORDS];
  uint32_t values_count;        /* number of records, with the unused first one */
  struct format_wait waits[16]; /* of the thread; without any, neither of the two tables is written */
  uint32_t waits_count;
  struct format_share shares[32];
  uint32_t shares_count;                  /* with the unused first one */
  struct format_construct constructs[48]; /* of the thread; without any, neither of the two tables is written */
  uint32_t constructs_count;
  struct format_tasks tasks[8];
  uint32_t tasks_count;
  enum compose_form form;
  uint8_t bytes[COMPOSE_BYTES];
  size_t size;
};

/* Begins a process: host "node1", the given pid and command, one second long. */
void compose_begin(struct compose *compose, enum compose_form form, uint32_t pid, const char *command);

uint32_t compose_string(struct compose *compose, const char *text);
void compose_metric(struct compose *compose, const char *name, const char *unit, uint32_t role, uint64_t period);
uint32_t compose_module(struct compose *compose, const char *path, uint32_t flags);
uint32_t compose_region(struct compose *compose, uint32_t owner, uint32_t node, uint32_t state);

/* Gives the root of the current thread's tree values[number of metrics]. */
void compose_root_values(struct compose *compose, const uint64_t *values);

/* Adds a node to the current thread's tree; values[number of metrics] or NULL.  Returns its index. */
uint32_t compose_node(struct compose *compose, uint32_t kind, uint32_t what, uint32_t offset, uint32_t parent,
                      const uint64_t *values);

/* Adds a frame of module 1 with samples and work. */
uint32_t compose_frame(struct compose *compose, uint32_t parent, uint32_t offset, uint64_t samples, uint64_t work_ns);

/* Adds a construct at an offset of a module, with its sums; the caller sets the other fields.  Returns its index. */
uint32_t compose_directive(struct compose *compose, uint32_t kind, uint32_t module, uint64_t offset, uint64_t instances,
                           uint64_t work, uint64_t span);

/* Adds a part of the span, in a node of a thread (0: no context). */
void compose_contribution(struct compose *compose, uint32_t directive, uint32_t thread, uint32_t node, uint64_t amount);

/* Adds a place at which the current thread waits, in a node of its tree; ticks of waiting and of the runtime's work.
 * Returns its index.  The first one is that of parked threads. */
uint32_t compose_wait(struct compose *compose, enum format_wait_kind kind, uint64_t offset, uint32_t node,
                      uint64_t idle, uint64_t runtime);

/* Adds a share in the waiting at a place of the current thread, in front of the list `next`.  Returns its index. */
uint32_t compose_share(struct compose *compose, uint32_t wait, uint64_t ns, uint32_t next);

/* Adds a construct of the current thread, with the executions by it; the caller sets the other fields.  Returns its
 * index.  The first one is what is outside all others. */
uint32_t compose_construct(struct compose *compose, uint32_t parent, uint32_t kind, uint32_t directive, uint64_t count);

/* Adds the thread's figures of a task construct, which the caller sets. */
struct format_tasks *compose_tasks(struct compose *compose, uint32_t directive);

/* Ends the current thread: appends its tree, values, waits, constructs and record.  The next thread's tree is empty. */
void compose_thread(struct compose *compose, uint32_t index);

/* Appends one extent unchanged. */
void compose_extent(struct compose *compose, uint32_t table, uint32_t owner, uint32_t first, uint32_t count,
                    uint32_t record_size, const void *records);

/* Appends the tables of the process. */
void compose_end(struct compose *compose);

/* Writes the bytes to a file; returns false with errno on failure. */
bool compose_write(const struct compose *compose, const char *path);

#endif
