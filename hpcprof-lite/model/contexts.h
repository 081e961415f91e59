/* A calling-context tree: nodes identified by (parent, kind, module, offset, guessed), each with a sum for every
 * column.
 *
 * Context: BATCH.  One thread at a time may change a tree.  Module and column numbers are those of the catalog.  The
 * tree owns its memory.
 *
 * Invariants: node 0 is the root; a node's parent has a smaller number.  Sums saturate instead of wrapping, so that
 * addition is associative and the result does not depend on the order in which files are read.
 */
#ifndef HPCPROF_LITE_MODEL_CONTEXTS_H
#define HPCPROF_LITE_MODEL_CONTEXTS_H

#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/model.h"

/* Kinds of contexts.  LINK and PLACEHOLDER occur in files only: stitching replaces them by the context to which they
 * refer. */
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
  CONTEXT_OUTSIDE,     /* a worker between two regions */
  CONTEXT_USER_REGION, /* its name is the path of a module with MODULE_USER_REGION */
  CONTEXT_FILTERED,    /* what a filter of the measurement has left out below its parent; it has no children */
  CONTEXT_MPI,         /* a call of the MPI function with the number `offset` (common/mpi_functions.h) */
  CONTEXT_KINDS
};

/* A contribution to a process's span, stored as struct format_contribution: an amount of a directive's work in a
 * merged context. */
struct context_share {
  uint32_t owner; /* number of the process */
  uint32_t directive;
  uint32_t context;  /* MODEL_NONE if not known */
  uint32_t position; /* position in the file: an order that does not depend on which thread read which file */
  uint64_t amount;
};

/* The context in which a process met one of its constructs, see model/construct_figures.h. */
struct context_construct {
  uint32_t owner; /* number of the process */
  uint32_t construct, context;
};

/* What a thread did with a lock: how long it waited for it and how often it acquired it, or how long others waited
 * until it released it in a context. */
struct context_lock {
  uint32_t owner;       /* number of the process */
  uint32_t thread;      /* its position in the process */
  uint32_t context;     /* in which it waited for the lock first, or else acquired it; or released it; MODEL_NONE if not
                           known */
  uint32_t module;      /* in whose data the lock lies, MODEL_NONE: in none */
  uint64_t offset;      /* there */
  uint64_t id;          /* in the process: its address; 0: locks without a record of their own */
  uint64_t kind;        /* enum profile_lock_kind */
  uint64_t waits;       /* of this thread */
  uint64_t wait_ns;     /* in these, with the time in which it had no processor itself */
  uint64_t longest_ns;  /* the longest one */
  uint64_t released_ns; /* of others, until the release; 0: this is no release */
  uint64_t acquired;    /* how often the thread acquired it, if that was counted */
  uint64_t held_ns;     /* how long it held the lock alone after it had waited for it */
};

/* The calls of a function of MPI by a thread in a context. */
struct context_mpi {
  uint32_t owner;    /* number of the process */
  uint32_t thread;   /* its position in the process */
  uint32_t context;  /* MODEL_NONE if not known */
  uint32_t function; /* enum mpi_function (common/mpi_functions.h); 0: not known */
  uint32_t reserved;
  uint64_t calls, ns, longest_ns;   /* with the time in which the thread had no processor */
  uint64_t preempted_ns;            /* that time, of ns */
  uint64_t decoded, sent, received; /* decoded: calls whose bytes are known, which the other two are of */
};

/* What a context has a device wait for: how long it was idle while the context worked, sampled. */
struct context_device {
  uint32_t owner;  /* number of the process */
  uint32_t device; /* number + 1 */
  uint32_t context, reserved;
  uint64_t ns;
};

struct context_node {
  uint32_t parent;
  uint32_t kind : 7;
  uint32_t guessed : 1; /* a FRAME that was guessed as the caller of code without call frame information */
  uint32_t module : 24; /* of a FRAME, TASK or USER_REGION, else 0 */
  uint32_t offset;      /* of a FRAME; of the call that created a TASK, 0 if it is not known; else 0 */
  uint32_t value;       /* index of its record in `values`, 0 = it has none */
};

struct contexts {
  struct context_node *nodes;
  uint32_t count;
  size_t room;
  struct hash_map map; /* nodes by the hash of their identity, without the root */
  uint64_t *values;    /* records of `stride` columns; record 0 is unused       */
  uint32_t values_count, stride;
  size_t values_room;
  struct context_share *shares; /* shares of the spans of all processes, in no order */
  uint32_t shares_count;
  size_t shares_room;
  struct context_construct *constructs; /* of all processes, in no order */
  uint32_t constructs_count;
  size_t constructs_room;
  struct context_lock *locks; /* of all processes, in no order */
  uint32_t locks_count;
  size_t locks_room;
  struct context_mpi *mpi; /* of all processes, in no order */
  uint32_t mpi_count;
  size_t mpi_room;
  struct context_device *devices; /* likewise */
  uint32_t devices_count;
  size_t devices_room;
};

/* Returns whether a node has an address in its module. */
static inline bool contexts_has_address(const struct context_node *node)
{
  return node->kind == CONTEXT_FRAME || (node->kind == CONTEXT_TASK && node->offset);
}

/* Returns whether the module of a node is a number of the catalog. */
static inline bool contexts_has_module(const struct context_node *node)
{
  return contexts_has_address(node) || node->kind == CONTEXT_USER_REGION;
}

/* Makes a tree that consists of the root. */
void contexts_init(struct contexts *contexts);
void contexts_release(struct contexts *contexts);

/* Finds or adds the node with an identity, whatever its value.  Returns its number. */
uint32_t contexts_add(struct contexts *contexts, const struct context_node *identity);

/* Returns the node with an identity, or MODEL_NONE if it does not exist. */
uint32_t contexts_find(const struct contexts *contexts, const struct context_node *identity);

/* Returns whether `node`, which need not exist, has an identity. */
bool contexts_is(const struct contexts *contexts, uint32_t node, const struct context_node *identity);

/* Adds an amount to one column of a node. */
void contexts_value(struct contexts *contexts, uint32_t node, uint32_t column, uint64_t amount);

/* Returns one column of a node, 0 if the node has no values. */
uint64_t contexts_get(const struct contexts *contexts, uint32_t node, uint32_t column);

/* Appends a copy of a share whose context is a node of this tree. */
void contexts_add_share(struct contexts *contexts, const struct context_share *share);

/* The same for a mark. */
void contexts_add_construct(struct contexts *contexts, const struct context_construct *mark);

/* The same for what a thread did with a lock. */
void contexts_add_lock(struct contexts *contexts, const struct context_lock *lock);

/* The same for calls of MPI. */
void contexts_add_mpi(struct contexts *contexts, const struct context_mpi *calls);

/* The same for idle devices. */
void contexts_add_device(struct contexts *contexts, const struct context_device *idle);

/* Whether a context, which may be MODEL_NONE, is in a parallel region. */
bool contexts_in_region(const struct contexts *contexts, uint32_t context);

/* Adds all nodes, values, shares, marks, locks and calls of `from` to `into`. */
void contexts_merge(struct contexts *into, const struct contexts *from);

#endif
