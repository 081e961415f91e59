/* A thread's calling-context tree: finding and adding children, metrics, moving subtrees.
 *
 * Context: RT, by the owning thread inside rt_enter(); CTL after the thread or measuring has ended.  Nodes and values
 * are tables of the measurement format and lie in the live file, so a charged sample is stored; the links that make
 * lookups fast are private.  All memory is the arena's.  Without memory a function returns CCT_NONE or false, and the
 * caller counts the loss. */
#ifndef HPCRUN_LITE_RT_SAMPLING_CCT_H
#define HPCRUN_LITE_RT_SAMPLING_CCT_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"

enum { CCT_ROOT = 0 };
#define CCT_NONE UINT32_MAX

struct cct_key {
  enum format_kind kind;
  uint32_t what, offset;
};

/* Sets up the tables of a new thread, with the root.  Returns false without memory.  cct_release() frees them. */
bool cct_init(struct thread_state *t);
void cct_release(struct thread_state *t);

/* CTL, defined with assertions only: each node is in the list of its parent, and of no other one. */
void cct_check(const struct thread_state *t);

/* The child of a node with that key, added if it is missing. */
uint32_t cct_child(struct thread_state *t, uint32_t parent, struct cct_key key);

/* Adds to a metric of a node.  Returns false without memory. */
bool cct_add(struct thread_state *t, uint32_t node, unsigned metric, uint64_t amount);

/* Adds to the node's share in the waiting at a site of the thread.  Returns false without memory. */
bool cct_add_share(struct thread_state *t, uint32_t node, uint32_t wait, uint64_t ns);

/* Gives a node another key.  If its parent already has a child with that key, the node's subtree is merged into that
 * child, and moved(t, from, to) is called for each node that disappears.  Such a node is freed; if critical paths may
 * name it, it becomes a link (FORMAT_KIND_LINK) instead. */
void cct_rekey(struct thread_state *t, uint32_t node, struct cct_key key,
               void (*moved)(struct thread_state *t, uint32_t from, uint32_t to));

/* The ancestor of a node that is a child of the root; the root itself for the root. */
uint32_t cct_top(const struct thread_state *t, uint32_t node);

static inline struct format_node *cct_node(const struct thread_state *t, uint32_t node)
{
  return table_at(&sampling_of(t)->nodes, node);
}

static inline enum format_kind cct_kind(const struct thread_state *t, uint32_t node)
{
  return (enum format_kind)(cct_node(t, node)->kind_what >> 24);
}

#endif
