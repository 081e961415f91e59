#include "hpcrun-lite/rt/sampling/cct.h"

#include "hpcrun-lite/rt/core/assertion.h"
#include "hpcrun-lite/rt/core/modules.h"

enum { NODES_FIRST = 256, VALUES_FIRST = 128, SHARES_FIRST = 64 };

/* The children of a node form a list; the one found last is first.  Invariant: each node in use except the root is in
 * exactly one list, its parent's.  A freed node is in the list of free nodes, by `next`; a node that has become a link
 * (node_merged()) is in no list. */
struct cct_link {
  uint32_t child, next; /* 0: none, since the root is not a child */
};

static struct cct_link *link_of(const struct thread_state *t, uint32_t node)
{
  return table_at(&sampling_of(t)->links, node);
}

static uint32_t kind_what(struct cct_key key)
{
  return (uint32_t)key.kind << 24 | (key.what & FORMAT_WHAT_MAX);
}

/* Changes the key of a published node with one store. */
static void set_key(struct format_node *node, struct cct_key key)
{
  uint64_t word = (uint64_t)key.offset << 32 | kind_what(key);
  __atomic_store_n((uint64_t *)(void *)node, word, __ATOMIC_RELEASE);
}

/* A new or recycled node.  Its key is set before it becomes visible. */
static uint32_t node_new(struct thread_state *t, uint32_t parent, struct cct_key key)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint32_t node = sampling->free_nodes;
  if (key.kind == FORMAT_KIND_FRAME)
    modules_sampled(key.what & ~FORMAT_WHAT_GUESSED, key.offset);
  if (node) {
    sampling->free_nodes = link_of(t, node)->next;
    *link_of(t, node) = (struct cct_link){0};
    cct_node(t, node)->parent = parent; /* a recycled node may have metrics; they are zero */
    set_key(cct_node(t, node), key);
    return node;
  }
  uint32_t same;
  struct cct_link *link = table_next(&sampling->links, &same);
  struct format_node *fresh = link ? table_next(&sampling->nodes, &node) : NULL;
  if (!fresh)
    return CCT_NONE;
  *fresh = (struct format_node){.kind_what = kind_what(key), .offset = key.offset, .parent = parent};
  table_publish(&sampling->links);
  table_publish(&sampling->nodes);
  return node;
}

bool cct_init(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint32_t index;
  table_init(&sampling->nodes, FORMAT_NODES, ARENA_NODES, t->index, sizeof(struct format_node), NODES_FIRST);
  table_init(&sampling->links, FORMAT_FREE, ARENA_LINKS, t->index, sizeof(struct cct_link), NODES_FIRST);
  table_init(&sampling->values, FORMAT_VALUES, ARENA_VALUES, t->index, sampling_process.metric_count * 8, VALUES_FIRST);
  table_init(&sampling->shares, FORMAT_SHARES, ARENA_SHARES, t->index, sizeof(struct format_share), SHARES_FIRST);
  sampling->free_nodes = sampling->free_shares = 0;
  if (node_new(t, 0, (struct cct_key){FORMAT_KIND_ROOT, 0, 0}) != CCT_ROOT || !table_next(&sampling->values, &index))
    return false;
  table_publish(&sampling->values); /* record 0 means "none" */
  return true;
}

#ifdef RT_ASSERTIONS
/* Whether the node must be in the list of its parent; a link may be. */
static bool must_be_listed(const struct thread_state *t, uint32_t node)
{
  uint32_t kind = cct_node(t, node)->kind_what >> 24;
  return kind != FORMAT_KIND_ROOT && kind != FORMAT_KIND_FREE && kind != FORMAT_KIND_LINK;
}

/* Returns how many children of a node must be in its list, and are. */
static uint32_t check_children(const struct thread_state *t, uint32_t parent)
{
  uint32_t found = 0, listed = 0, nodes = sampling_of(t)->nodes.count;
  for (uint32_t child = link_of(t, parent)->child; child; child = link_of(t, child)->next) {
    RT_ASSERT(child < nodes && cct_node(t, child)->parent == parent && found < nodes);
    found++;
    listed += must_be_listed(t, child);
  }
  return listed;
}

void cct_check(const struct thread_state *t)
{
  uint32_t nodes = sampling_of(t)->nodes.count, wanted = 0, listed = 0;
  for (uint32_t node = 0; node < nodes; node++) {
    RT_ASSERT(cct_node(t, node)->parent < nodes);
    wanted += must_be_listed(t, node);
    listed += check_children(t, node);
  }
  RT_ASSERT(wanted == listed);
}
#endif

void cct_release(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  table_release(&sampling->nodes);
  table_release(&sampling->links);
  table_release(&sampling->values);
  table_release(&sampling->shares);
}

static uint32_t child_find(struct thread_state *t, uint32_t parent, struct cct_key key)
{
  uint32_t wanted = kind_what(key), before = 0;
  struct cct_link *top = link_of(t, parent);
  for (uint32_t child = top->child; child; child = link_of(t, child)->next) {
    const struct format_node *node = cct_node(t, child);
    if (node->offset == key.offset && node->kind_what == wanted) {
      if (before) {
        link_of(t, before)->next = link_of(t, child)->next;
        link_of(t, child)->next = top->child;
        top->child = child;
      }
      return child;
    }
    before = child;
  }
  return 0;
}

static void child_attach(struct thread_state *t, uint32_t parent, uint32_t child)
{
  RT_ASSERT(child != parent && cct_node(t, child)->parent == parent && !link_of(t, child)->next);
  link_of(t, child)->next = link_of(t, parent)->child;
  link_of(t, parent)->child = child;
}

static void child_detach(struct thread_state *t, uint32_t parent, uint32_t child)
{
  uint32_t *at = &link_of(t, parent)->child;
  while (*at && *at != child)
    at = &link_of(t, *at)->next;
  if (*at)
    *at = link_of(t, child)->next;
  link_of(t, child)->next = 0;
}

uint32_t cct_child(struct thread_state *t, uint32_t parent, struct cct_key key)
{
  uint32_t child = child_find(t, parent, key);
  if (child)
    return child;
  child = node_new(t, parent, key);
  if (child != CCT_NONE)
    child_attach(t, parent, child);
  return child;
}

bool cct_add(struct thread_state *t, uint32_t node, unsigned metric, uint64_t amount)
{
  struct sampling_thread *sampling = sampling_of(t);
  struct format_node *at = cct_node(t, node);
  uint32_t value = at->value;
  if (!value) {
    if (!table_next(&sampling->values, &value))
      return false;
    table_publish(&sampling->values);
    __atomic_store_n(&at->value, value, __ATOMIC_RELEASE);
  }
  uint64_t *sums = table_at(&sampling->values, value);
  __atomic_store_n(&sums[metric], sums[metric] + amount, __ATOMIC_RELAXED);
  return true;
}

static struct format_share *share_at(const struct thread_state *t, uint64_t share)
{
  return table_at(&sampling_of(t)->shares, (uint32_t)share);
}

/* Returns a new record, not yet part of a list; 0 without memory. */
static uint32_t share_new(struct thread_state *t, uint32_t wait)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint32_t index = sampling->free_shares;
  if (index) {
    sampling->free_shares = share_at(t, index)->next;
    *share_at(t, index) = (struct format_share){.wait = wait};
    return index;
  }
  if (!sampling->shares.count && table_next(&sampling->shares, &index))
    table_publish(&sampling->shares); /* record 0 means "none" */
  struct format_share *share = sampling->shares.count ? table_next(&sampling->shares, &index) : NULL;
  if (!share)
    return 0;
  share->wait = wait;
  table_publish(&sampling->shares);
  return index;
}

bool cct_add_share(struct thread_state *t, uint32_t node, uint32_t wait, uint64_t ns)
{
  if (!cct_add(t, node, sampling_process.share_metric, 0))
    return false;
  uint64_t *first =
      (uint64_t *)table_at(&sampling_of(t)->values, cct_node(t, node)->value) + sampling_process.share_metric;
  uint32_t share = (uint32_t)*first;
  while (share && share_at(t, share)->wait != wait)
    share = share_at(t, share)->next;
  if (!share) {
    share = share_new(t, wait);
    if (!share)
      return false;
    share_at(t, share)->next = (uint32_t)*first;
    __atomic_store_n(first, share, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&share_at(t, share)->ns, share_at(t, share)->ns + ns, __ATOMIC_RELAXED);
  return true;
}

/* Adds a list of shares to another one. */
static void shares_move(struct thread_state *t, uint64_t *from, uint64_t *to)
{
  uint32_t share = (uint32_t)*from;
  *from = 0;
  while (share) {
    struct format_share *moved = share_at(t, share);
    uint32_t next = moved->next, same = (uint32_t)*to;
    while (same && share_at(t, same)->wait != moved->wait)
      same = share_at(t, same)->next;
    if (same) {
      share_at(t, same)->ns += moved->ns;
      *moved = (struct format_share){.next = sampling_of(t)->free_shares};
      sampling_of(t)->free_shares = share;
    } else {
      moved->next = (uint32_t)*to;
      *to = share;
    }
    share = next;
  }
}

static void values_move(struct thread_state *t, uint32_t from, uint32_t to)
{
  uint32_t source = cct_node(t, from)->value;
  if (!source)
    return;
  if (!cct_node(t, to)->value) {
    cct_node(t, to)->value = source;
    cct_node(t, from)->value = 0;
    return;
  }
  uint64_t *sums = table_at(&sampling_of(t)->values, source);
  for (unsigned m = 0; m < sampling_process.metric_count; m++) {
    if (m == sampling_process.share_metric) {
      shares_move(t, &sums[m], (uint64_t *)table_at(&sampling_of(t)->values, cct_node(t, to)->value) + m);
      continue;
    }
    cct_add(t, to, m, sums[m]);
    sums[m] = 0;
  }
}

/* Can a critical path, the trace or a counter's sum name the node?  If it was sampled, or the program reports work or
 * counts something. */
static bool may_be_named(const struct thread_state *t, uint32_t node)
{
  bool work = span_process.online && span_process.work_unit == WORK_USER;
  return work || sampling_of(t)->nodes_counted ||
         ((span_process.online || trace_of(t)->on) && cct_node(t, node)->value);
}

/* The node was merged into another one.  Critical paths and traces that may name it cannot be searched, so it then
 * becomes a link to the other node, which the reader follows. */
static void node_merged(struct thread_state *t, uint32_t node, uint32_t other, bool named)
{
  if (named) {
    cct_node(t, node)->parent = CCT_ROOT;
    set_key(cct_node(t, node), (struct cct_key){FORMAT_KIND_LINK, t->index, other});
    return;
  }
  set_key(cct_node(t, node), (struct cct_key){FORMAT_KIND_FREE, 0, 0});
  *link_of(t, node) = (struct cct_link){.next = sampling_of(t)->free_nodes};
  sampling_of(t)->free_nodes = node;
}

/* Merges the subtree of `from`, which is detached already, into `to`, without recursion.  A child that `to` lacks is
 * moved as a whole; one that `to` has is merged in turn.  Each step detaches a node, so the loop ends. */
static void subtree_merge(struct thread_state *t, uint32_t from, uint32_t to,
                          void (*moved)(struct thread_state *t, uint32_t from, uint32_t to))
{
  uint32_t top = from;
  for (;;) {
    uint32_t child = link_of(t, from)->child;
    if (child) {
      const struct format_node *node = cct_node(t, child);
      struct cct_key key = {(enum format_kind)(node->kind_what >> 24), node->kind_what & FORMAT_WHAT_MAX, node->offset};
      uint32_t twin = child_find(t, to, key);
      if (twin) {
        from = child;
        to = twin;
        continue;
      }
      child_detach(t, from, child);
      cct_node(t, child)->parent = to;
      child_attach(t, to, child);
      continue;
    }
    uint32_t parent = cct_node(t, from)->parent, done = from, other = to;
    bool named = may_be_named(t, from);
    values_move(t, from, to);
    moved(t, from, to);
    bool last = from == top;
    if (!last)
      child_detach(t, parent, from);
    from = parent;
    to = cct_node(t, to)->parent;
    node_merged(t, done, other, named);
    if (last)
      return;
  }
}

void cct_rekey(struct thread_state *t, uint32_t node, struct cct_key key,
               void (*moved)(struct thread_state *t, uint32_t from, uint32_t to))
{
  struct format_node *at = cct_node(t, node);
  uint32_t parent = at->parent, twin = child_find(t, parent, key);
  if (twin && twin != node) {
    child_detach(t, parent, node);
    subtree_merge(t, node, twin, moved);
    return;
  }
  set_key(at, key);
}

uint32_t cct_top(const struct thread_state *t, uint32_t node)
{
  while (node != CCT_ROOT && cct_node(t, node)->parent != CCT_ROOT)
    node = cct_node(t, node)->parent;
  return node;
}
