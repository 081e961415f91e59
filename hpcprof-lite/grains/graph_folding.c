#include "hpcprof-lite/grains/graph_folding.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void folding_release(struct folding *folding)
{
  for (uint32_t i = 1; i < folding->nodes_count; i++)
    free((char *)folding->nodes[i].node.grain.path);
  free(folding->nodes);
  free(folding->edges);
  free(folding->succs);
  free(folding->preds);
  free(folding->succs_at);
  free(folding->preds_at);
  free(folding->order);
  *folding = (struct folding){0};
}

uint32_t folding_node(struct folding *folding, enum grain_node_kind kind)
{
  assert(kind < GRAIN_NODE_KINDS);
  folding->nodes_count += folding->nodes_count == 0;
  *XAPPEND(folding->nodes, folding->nodes_count, folding->nodes_room) =
      (struct folding_node){.node = {.kind = kind, .metric = NAN}};
  folding->alive++;
  return folding->nodes_count - 1;
}

void folding_edge(struct folding *folding, uint32_t from, uint32_t to, enum grain_edge_kind kind)
{
  assert(from < folding->nodes_count && to < folding->nodes_count);
  if (!from || !to)
    return;
  *XAPPEND(folding->edges, folding->edges_count, folding->edges_room) =
      (struct grain_edge){.from = from, .to = to, .kind = kind, .count = 1};
}

uint32_t folding_find(struct folding *folding, uint32_t node)
{
  assert(node && node < folding->nodes_count);
  uint32_t root = node;
  while (folding->nodes[root].into)
    root = folding->nodes[root].into;
  while (folding->nodes[node].into) {
    uint32_t next = folding->nodes[node].into;
    folding->nodes[node].into = root;
    node = next;
  }
  return root;
}

static double mean(double a, uint64_t a_weight, double b, uint64_t b_weight)
{
  if (isnan(a) || isnan(b))
    return isnan(a) ? b : a;
  double sum = (double)a_weight + (double)b_weight;
  return sum > 0 ? (a * (double)a_weight + b * (double)b_weight) / sum : a;
}

/* Adds what another node stands for. */
static void add_node(struct grain_node *into, const struct grain_node *node)
{
  assert(into != node);
  into->metric = mean(into->metric, into->metric_exec, node->metric, node->metric_exec);
  into->metric_exec += node->metric_exec;
  into->grains += node->grains;
  into->forks += node->forks;
  into->joins += node->joins;
  into->exec += node->exec;
  into->critical_exec += node->critical_exec;
  into->longest = MAX(node->longest, into->longest);
  into->create += node->create;
  into->overhead += node->overhead;
  into->created += node->created;
  into->overheads += node->overheads;
  into->problem_grains += node->problem_grains;
  into->problems |= node->problems;
  into->critical |= node->critical;
}

/* Folds a node into another one. */
static void fold(struct folding *folding, uint32_t node, uint32_t into)
{
  assert(node != into && !folding->nodes[node].into && !folding->nodes[into].into && folding->alive > 1);
  struct folding_node *from = &folding->nodes[node], *to = &folding->nodes[into];
  bool grain = to->node.kind == GRAIN_NODE_GRAIN || from->node.kind == GRAIN_NODE_GRAIN;
  add_node(&to->node, &from->node);
  if (grain && to->node.kind != GRAIN_NODE_GRAIN) { /* it stands for the grains now */
    to->node.kind = GRAIN_NODE_GRAIN;
    to->node.grain = from->node.grain;
    to->node.row = from->node.row;
    from->node.grain.path = NULL;
  }
  free((char *)from->node.grain.path);
  from->node.grain.path = NULL;
  from->into = into;
  folding->alive--;
  folding->folded++;
}

/* ---- the graph of one round ---- */

/* Compared so often that the first difference decides at once: COMPARE() takes more instructions. */
static int by_ends(const void *a, const void *b)
{
  const struct grain_edge *x = a, *y = b;
  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  if (x->to != y->to)
    return x->to < y->to ? -1 : 1;
  return COMPARE(x->kind, y->kind);
}

/* Each edge once, between nodes that are alive. */
static void tidy_edges(struct folding *folding)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < folding->edges_count; i++) {
    struct grain_edge edge = folding->edges[i];
    edge.from = folding_find(folding, edge.from);
    edge.to = folding_find(folding, edge.to);
    if (edge.from != edge.to)
      folding->edges[count++] = edge;
  }
  folding->edges_count = 0;
  if (!count)
    return;
  qsort(folding->edges, count, sizeof *folding->edges, by_ends);
  for (uint32_t i = 0; i < count; i++) {
    struct grain_edge *last = folding->edges + folding->edges_count - 1, *edge = &folding->edges[i];
    if (folding->edges_count && last->from == edge->from && last->to == edge->to)
      last->count += edge->count;
    else
      folding->edges[folding->edges_count++] = *edge;
  }
}

/* Makes room in a list, whose numbers are not kept. */
static void reserve(uint32_t **list, size_t room)
{
  free(*list);
  *list = xmalloc(room * sizeof **list);
}

static void reserve_lists(struct folding *folding)
{
  size_t nodes = (size_t)folding->nodes_count + 2, edges = (size_t)folding->edges_count + 1;
  if (nodes > folding->work_room) {
    folding->work_room = 2 * nodes;
    reserve(&folding->succs_at, folding->work_room);
    reserve(&folding->preds_at, folding->work_room);
    reserve(&folding->order, folding->work_room);
  }
  if (edges > folding->lists_room) {
    folding->lists_room = 2 * edges;
    reserve(&folding->succs, folding->lists_room);
    reserve(&folding->preds, folding->lists_room);
  }
}

/* Successors and predecessors of each node, in ascending order. */
static void make_lists(struct folding *folding)
{
  tidy_edges(folding);
  reserve_lists(folding);
  uint32_t nodes = folding->nodes_count, *preds_at = folding->preds_at, *succs_at = folding->succs_at;
  memset(preds_at, 0, ((size_t)nodes + 2) * sizeof *preds_at);
  memset(succs_at, 0, ((size_t)nodes + 2) * sizeof *succs_at);
  for (uint32_t i = 0; i < folding->edges_count; i++) {
    succs_at[folding->edges[i].from + 1]++;
    preds_at[folding->edges[i].to + 2]++;
  }
  for (uint32_t i = 1; i <= nodes + 1; i++) {
    succs_at[i] += succs_at[i - 1];
    preds_at[i] += preds_at[i - 1];
  }
  for (uint32_t i = 0; i < folding->edges_count; i++) { /* they are sorted by `from` */
    folding->succs[i] = folding->edges[i].to;
    folding->preds[preds_at[folding->edges[i].to + 1]++] = folding->edges[i].from;
  }
}

static uint32_t preds_of(const struct folding *folding, uint32_t node, const uint32_t **preds)
{
  assert(node < folding->nodes_count && folding->preds_at);
  *preds = folding->preds + folding->preds_at[node];
  return folding->preds_at[node + 1] - folding->preds_at[node];
}

static uint32_t succs_of(const struct folding *folding, uint32_t node, const uint32_t **succs)
{
  assert(node < folding->nodes_count && folding->succs_at);
  *succs = folding->succs + folding->succs_at[node];
  return folding->succs_at[node + 1] - folding->succs_at[node];
}

/* Sets `order` to the nodes that are alive, each before its successors.  Returns how many they are. */
static uint32_t sort_nodes(struct folding *folding, uint32_t *waits)
{
  assert(folding->order && waits);
  uint32_t count = 0;
  const uint32_t *list;
  for (uint32_t i = 1; i < folding->nodes_count; i++)
    if (!folding->nodes[i].into && (waits[i] = preds_of(folding, i, &list)) == 0)
      folding->order[count++] = i;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t succs = succs_of(folding, folding->order[i], &list);
    for (uint32_t k = 0; k < succs; k++)
      if (--waits[list[k]] == 0)
        folding->order[count++] = list[k];
  }
  return count;
}

/* A log that contradicts itself can make a cycle.  What is in it or behind it becomes one node. */
static void fold_unsorted(struct folding *folding, const uint32_t *waits)
{
  uint32_t into = 0;
  for (uint32_t i = 1; i < folding->nodes_count; i++) {
    if (folding->nodes[i].into || !waits[i])
      continue;
    if (into)
      fold(folding, i, into);
    else
      into = i;
  }
}

void folding_sort(struct folding *folding)
{
  assert(folding->nodes_count);
  uint32_t *waits = xcalloc(folding->nodes_count, sizeof *waits);
  make_lists(folding);
  if (sort_nodes(folding, waits) < folding->alive) {
    fold_unsorted(folding, waits);
    make_lists(folding);
    sort_nodes(folding, waits);
  }
  free(waits);
}

/* ---- the rules ---- */

static uint64_t amount_of(const struct folding_node *node)
{
  return node->node.exec ? node->node.exec : 1;
}

static bool may_fold(const struct folding *folding, const struct folding_node *node)
{
  return !node->fixed && (folding->problems || !node->node.problem_grains);
}

/* A candidate of the first rule, by a hash of its neighbours and its key; later the first one of `count` siblings. */
struct sibling {
  uint64_t hash;
  uint32_t node, count;
};

/* COMPARE() takes more instructions here, too. */
static int by_hash(const void *a, const void *b)
{
  const struct sibling *x = a, *y = b;
  if (x->hash != y->hash)
    return x->hash < y->hash ? -1 : 1;
  return COMPARE(x->node, y->node);
}

static uint64_t hash_list(uint64_t hash, const uint32_t *list, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    hash = hash_map_key(hash, list[i]);
  return hash_map_key(hash, ~(uint64_t)count);
}

static bool same_key(const struct grain_node *a, const struct grain_node *b)
{
  return a->kind == b->kind && a->grain.kind == b->grain.kind && a->row.directive == b->row.directive &&
         a->row.creator == b->row.creator && a->problems == b->problems && a->critical == b->critical;
}

static bool same_list(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
  return a_count == b_count && memcmp(a, b, a_count * sizeof *a) == 0;
}

static bool are_siblings(const struct folding *folding, uint32_t a, uint32_t b)
{
  const uint32_t *a_list, *b_list;
  uint32_t a_count = preds_of(folding, a, &a_list), b_count = preds_of(folding, b, &b_list);
  if (!same_key(&folding->nodes[a].node, &folding->nodes[b].node) || !same_list(a_list, a_count, b_list, b_count))
    return false;
  a_count = succs_of(folding, a, &a_list);
  b_count = succs_of(folding, b, &b_list);
  return same_list(a_list, a_count, b_list, b_count);
}

static uint32_t find_siblings(const struct folding *folding, struct sibling *found)
{
  uint32_t count = 0;
  const uint32_t *preds, *succs;
  for (uint32_t i = 1; i < folding->nodes_count; i++) {
    const struct folding_node *node = &folding->nodes[i];
    if (node->into || !may_fold(folding, node))
      continue;
    uint32_t preds_count = preds_of(folding, i, &preds), succs_count = succs_of(folding, i, &succs);
    if (!preds_count || !succs_count)
      continue;
    uint64_t hash = hash_map_key(hash_list(hash_list(node->node.kind, preds, preds_count), succs, succs_count),
                                 (uint64_t)node->node.problems << 32 | node->node.row.directive);
    found[count++] = (struct sibling){.hash = hash + node->node.critical, .node = i, .count = 1};
  }
  qsort(found, count, sizeof *found, by_hash);
  return count;
}

ORDER(by_count, struct sibling, COMPARE(y->count, x->count) ?: by_hash(x, y))

/* Links siblings by folding_node.next, and moves the first ones to the beginning, the most siblings first.  Returns how
 * many groups there are. */
static uint32_t group_siblings(struct folding *folding, struct sibling *found, uint32_t count)
{
  uint32_t groups = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct sibling *group = groups ? &found[groups - 1] : NULL;
    folding->nodes[found[i].node].next = 0;
    if (group && group->hash == found[i].hash && are_siblings(folding, group->node, found[i].node)) {
      folding->nodes[found[i].node].next = folding->nodes[group->node].next;
      folding->nodes[group->node].next = found[i].node;
      group->count++;
    } else {
      found[groups++] = found[i];
    }
  }
  qsort(found, groups, sizeof *found, by_count);
  return groups;
}

/* Folds groups of siblings.  Returns whether something was folded. */
static bool fold_siblings(struct folding *folding, uint32_t most)
{
  bool changed = false;
  struct sibling *found = xmalloc((size_t)folding->nodes_count * sizeof *found);
  uint32_t groups = group_siblings(folding, found, find_siblings(folding, found));
  for (uint32_t i = 0; i < groups && found[i].count > 1 && folding->alive > most; i++) {
    uint32_t next = folding->nodes[found[i].node].next;
    for (uint32_t node = next; node; node = next) {
      next = folding->nodes[node].next;
      fold(folding, node, found[i].node);
    }
    changed = true;
  }
  free(found);
  return changed;
}

/* ---- blocks ---- */

ORDER(by_number, uint32_t, COMPARE(*x, *y))

/* Writes the nodes of a list, as they are folded now, each once and in ascending order. */
static uint32_t distinct(struct folding *folding, const uint32_t *list, uint32_t count, uint32_t *out)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    out[i] = folding_find(folding, list[i]);
  qsort(out, count, sizeof *out, by_number);
  for (uint32_t i = 0; i < count; i++)
    if (!kept || out[kept - 1] != out[i])
      out[kept++] = out[i];
  return kept;
}

/* A pass over blocks: nodes that are folded in it have one node by which they are left. */
struct blocks {
  uint32_t *exits;         /* [node] that node, by its number before the pass; 0: the node itself */
  uint32_t *succs, *preds; /* lists */
};

static uint32_t exit_of(const struct blocks *blocks, uint32_t node)
{
  assert(node);
  return blocks->exits[node] ? blocks->exits[node] : node;
}

/* Returns the only node of a list, as it is folded now; 0 if there are none or several. */
static uint32_t only_one(struct folding *folding, const uint32_t *list, uint32_t count)
{
  uint32_t found = count ? folding_find(folding, list[0]) : 0;
  for (uint32_t i = 1; i < count; i++)
    if (folding_find(folding, list[i]) != found)
      return 0;
  return found;
}

/* Whether the node has this predecessor only. */
static bool only_after(struct folding *folding, uint32_t node, uint32_t pred)
{
  const uint32_t *list;
  uint32_t count = preds_of(folding, node, &list);
  return only_one(folding, list, count) == pred;
}

/* Returns the only successor, 0 if there are none or several. */
static uint32_t only_successor(struct folding *folding, const struct blocks *blocks, uint32_t node)
{
  const uint32_t *list;
  uint32_t count = succs_of(folding, exit_of(blocks, node), &list);
  return only_one(folding, list, count);
}

/* Returns the node that joins all that the fork leads to, where that is nothing else; 0: none. */
static uint32_t join_of(struct folding *folding, struct blocks *blocks, uint32_t fork, uint32_t count)
{
  assert(count > 1);
  uint32_t join = 0;
  for (uint32_t i = 0; i < count && !join; i++)
    if (only_after(folding, blocks->succs[i], fork))
      join = only_successor(folding, blocks, blocks->succs[i]);
  if (!join)
    return 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t node = blocks->succs[i];
    if (node != join && (!only_after(folding, node, fork) || only_successor(folding, blocks, node) != join))
      return 0;
  }
  const uint32_t *list;
  uint32_t preds = preds_of(folding, join, &list);
  preds = distinct(folding, list, preds, blocks->preds);
  for (uint32_t i = 0; i < preds; i++)
    if (blocks->preds[i] != fork && !bsearch(&blocks->preds[i], blocks->succs, count, sizeof *blocks->succs, by_number))
      return 0;
  return join;
}

/* Folds what follows a node: its only successor, or all up to the node that joins it.  Returns whether it did. */
static bool fold_block(struct folding *folding, struct blocks *blocks, uint32_t node)
{
  assert(!folding->nodes[node].into);
  const uint32_t *list;
  uint32_t count = succs_of(folding, exit_of(blocks, node), &list);
  uint32_t join = 0;
  if (count)
    count = distinct(folding, list, count, blocks->succs);
  if (count > 1)
    join = join_of(folding, blocks, node, count);
  else if (count && only_after(folding, blocks->succs[0], node))
    join = blocks->succs[0];
  if (!join || !may_fold(folding, &folding->nodes[node]) || !may_fold(folding, &folding->nodes[join]))
    return false;
  uint64_t amount = amount_of(&folding->nodes[node]) + folding->nodes[join].node.exec;
  for (uint32_t i = 0; i < count; i++) {
    if (blocks->succs[i] != join)
      model_add(&amount, amount_of(&folding->nodes[blocks->succs[i]]));
    if (!may_fold(folding, &folding->nodes[blocks->succs[i]]))
      return false;
  }
  if (amount > folding->limit)
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (blocks->succs[i] != join)
      fold(folding, blocks->succs[i], node);
  fold(folding, join, node);
  blocks->exits[node] = exit_of(blocks, join);
  return true;
}

/* Folds blocks, the inner ones first.  Returns whether something was folded. */
static bool fold_blocks(struct folding *folding, uint32_t most)
{
  bool changed = false;
  uint32_t *waits = xcalloc(folding->nodes_count, sizeof *waits);
  struct blocks blocks = {.exits = xcalloc(folding->nodes_count, sizeof *blocks.exits),
                          .succs = xmalloc(folding->edges_count * sizeof *blocks.succs),
                          .preds = xmalloc(folding->edges_count * sizeof *blocks.preds)};
  for (uint32_t i = sort_nodes(folding, waits); i-- > 0 && folding->alive > most;)
    while (!folding->nodes[folding->order[i]].into && fold_block(folding, &blocks, folding->order[i]))
      changed = true;
  free(waits);
  free(blocks.exits);
  free(blocks.succs);
  free(blocks.preds);
  return changed;
}

/* ---- single nodes ---- */

/* Lets nodes absorb what only they lead to, from the ends of the graph on.  Returns whether something was absorbed. */
static bool absorb(struct folding *folding, uint32_t most)
{
  bool changed = false;
  uint32_t *waits = xcalloc(folding->nodes_count, sizeof *waits);
  uint32_t count = sort_nodes(folding, waits);
  free(waits);
  for (uint32_t i = count; i-- > 0 && folding->alive > most;) {
    const uint32_t *preds;
    uint32_t node = folding->order[i];
    if (preds_of(folding, node, &preds) != 1)
      continue;
    struct folding_node *from = &folding->nodes[node], *to = &folding->nodes[preds[0]];
    if (amount_of(from) + amount_of(to) > folding->limit || !may_fold(folding, from) || !may_fold(folding, to))
      continue;
    fold(folding, node, preds[0]);
    changed = true;
  }
  return changed;
}

/* ---- what is folded when ---- */

/* Nothing more can be folded within the limit.  Before nodes with problems are folded, others are up to `small`; single
 * nodes are when no block is left.  Returns false if no limit is left. */
static bool raise_limit(struct folding *folding, uint64_t small, uint64_t total)
{
  if (folding->limit <= (folding->problems ? total : small)) {
    folding->limit = folding->limit ? 2 * folding->limit : 1;
    return true;
  }
  if (folding->singly)
    return false;
  folding->singly = folding->problems;
  folding->problems = true;
  folding->limit = 1;
  return true;
}

void folding_reduce(struct folding *folding, uint32_t most)
{
  assert(most);
  uint64_t total = 2;
  for (uint32_t i = 1; i < folding->nodes_count; i++)
    if (!folding->nodes[i].into)
      model_add(&total, amount_of(&folding->nodes[i]));
  total = MIN(total, UINT64_MAX >> 2);
  while (folding->alive > most) {
    make_lists(folding);
    if (fold_siblings(folding, most) || fold_blocks(folding, most))
      continue;
    if (folding->singly && absorb(folding, most))
      continue;
    if (!raise_limit(folding, total / most, total))
      break;
  }
}

uint32_t *folding_compact(struct folding *folding)
{
  assert(folding->nodes_count);
  uint32_t count = 1, *map = xcalloc(folding->nodes_count, sizeof *map);
  tidy_edges(folding);
  for (uint32_t i = 1; i < folding->nodes_count; i++)
    if (!folding->nodes[i].into)
      map[i] = count++;
  for (uint32_t i = 1; i < folding->nodes_count; i++)
    if (folding->nodes[i].into)
      map[i] = map[folding_find(folding, i)];
  for (uint32_t i = 1; i < folding->nodes_count; i++)
    if (!folding->nodes[i].into)
      folding->nodes[map[i]] = folding->nodes[i];
  for (uint32_t i = 0; i < folding->edges_count; i++) {
    folding->edges[i].from = map[folding->edges[i].from];
    folding->edges[i].to = map[folding->edges[i].to];
  }
  folding->nodes_count = count;
  return map;
}
