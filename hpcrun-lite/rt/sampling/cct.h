/* A thread's calling-context tree: find or add a child, metric slots, moving subtrees.
 *
 * Context: RT, by the owning thread inside rt_enter() (after the end of measuring: by the writer).  Nodes and values
 * are tables of the measurement format; the links that make lookups fast are private to the running side.  Without
 * memory, functions return CCT_NONE and the caller counts the loss.
 */
#ifndef HPCRUN_LITE_RT_SAMPLING_CCT_H
#define HPCRUN_LITE_RT_SAMPLING_CCT_H

#include "hpcrun-lite/rt/core/rt.h"

enum { CCT_ROOT = 0 };
#define CCT_NONE UINT32_MAX

struct cct_key {
  enum format_kind kind;
  uint32_t what, offset;
};

/* Prepares the tables of a new thread and adds the root.  False without memory. */
bool cct_init(struct thread_state *t);
void cct_release(struct thread_state *t);

/* The child of parent with that key, added if there is none. */
uint32_t cct_child(struct thread_state *t, uint32_t parent, struct cct_key key);

/* Adds to a metric of the node.  False without memory. */
bool cct_add(struct thread_state *t, uint32_t node, unsigned metric, uint64_t amount);

/* Turns node into one with another key.  If its parent has a child with that key already, node's subtree is merged into
 * that one and freed, or leads to it (FORMAT_KIND_LINK) where critical paths may name it: moved(context, from, to) is
 * called for every node that ceases to exist. */
void cct_rekey(struct thread_state *t, uint32_t node, struct cct_key key,
               void (*moved)(struct thread_state *t, uint32_t from, uint32_t to));

/* The node's ancestor that is a child of the root; for the root itself, the root. */
uint32_t cct_top(const struct thread_state *t, uint32_t node);

static inline struct format_node *cct_node(const struct thread_state *t, uint32_t node)
{
  return table_at(&t->nodes, node);
}

static inline enum format_kind cct_kind(const struct thread_state *t, uint32_t node)
{
  return (enum format_kind)(cct_node(t, node)->kind_what >> 24);
}

#endif
