/* A calling-context tree of many threads: find-or-add by (parent, kind, module, offset), values summed.
 *
 * Context: BATCH.  One thread writes a tree at a time; module and column numbers are the catalog's.  The tree owns its
 * memory. Invariants: node 0 is the root; a node's parent has a smaller number; sums saturate instead of wrapping, so
 * that adding is associative and the result does not depend on the order in which files are read.
 */
#ifndef HPCPROF_LITE_MODEL_CONTEXTS_H
#define HPCPROF_LITE_MODEL_CONTEXTS_H

#include "hpcprof-lite/model/index.h"
#include "hpcprof-lite/model/model.h"

/* Kinds of raw contexts.  LINK and PLACEHOLDER occur in a file only: stitching replaces them by what they stand for. */
enum context_kind {
  CONTEXT_FREE,
  CONTEXT_ROOT,
  CONTEXT_FRAME,
  CONTEXT_PARALLEL,
  CONTEXT_TASK,
  CONTEXT_RUNTIME,
  CONTEXT_PARTIAL,
  CONTEXT_LINK,
  CONTEXT_PLACEHOLDER,
  CONTEXT_OUTSIDE,
  CONTEXT_USER_REGION, /* its name is the path of a module with MODULE_USER_REGION */
  CONTEXT_KINDS
};

/* A part of the span: an amount of a directive's work, in a merged context, PROFILE_NONE where none is known. */
struct profile_share {
  uint32_t owner; /* the process's number */
  uint32_t directive, context;
  uint32_t place; /* in the file: an order that does not depend on how files were dealt to threads */
  uint64_t amount;
};

struct context_node {
  uint32_t parent;
  uint32_t kind : 8, module : 24; /* module: of a FRAME, else 0 */
  uint32_t offset;                /* of a FRAME, else 0         */
  uint32_t value;                 /* record of `values`, 0 = none (record 0 is unused) */
};

struct contexts {
  struct context_node *nodes;
  uint32_t count;
  size_t room;
  struct index index; /* nodes by the hash of their identity; the root is not in it */
  uint64_t *values;   /* records of `stride` columns */
  uint32_t values_count, stride;
  size_t values_room;
  struct profile_share *shares; /* parts of the spans of processes, in no order */
  uint32_t shares_count;
  size_t shares_room;
};

int contexts_init(struct contexts *contexts);
void contexts_release(struct contexts *contexts);

/* The child of parent with that identity, added where it is missing.  PROFILE_NONE without memory. */
uint32_t contexts_add(struct contexts *contexts, uint32_t parent, enum context_kind kind, uint32_t module,
                      uint32_t offset);

/* The same where it is there already, else PROFILE_NONE. */
uint32_t contexts_find(const struct contexts *contexts, uint32_t parent, enum context_kind kind, uint32_t module,
                       uint32_t offset);

/* Whether a node, which need not exist, is the child of parent with that identity. */
bool contexts_is(const struct contexts *contexts, uint32_t node, uint32_t parent, enum context_kind kind,
                 uint32_t module, uint32_t offset);

/* Adds to one column of a node.  0, or ERR_NOMEM. */
int contexts_value(struct contexts *contexts, uint32_t node, uint32_t column, uint64_t amount);

/* A node's column, 0 where it has none. */
uint64_t contexts_get(const struct contexts *contexts, uint32_t node, uint32_t column);

/* Keeps a part of a process's span, its context being a node of this tree.  0, or ERR_NOMEM. */
int contexts_share(struct contexts *contexts, const struct profile_share *share);

/* Adds all of `from` to `into`.  0, or ERR_NOMEM. */
int contexts_merge(struct contexts *into, const struct contexts *from);

#endif
