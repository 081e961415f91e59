/* A directed graph without cycles that is kept small: nodes are folded into others.
 *
 * Context: BATCH.  Two rules fold nodes, and neither can make a cycle:
 * - Siblings: nodes with the same predecessors, the same successors and the same key become one.  (A path from one to
 *   the other would lead through a predecessor of the second, which is one of the first: a cycle before.)
 * - Absorption: a node with one predecessor becomes a part of that.  (Another path from the predecessor would need
 *   another predecessor.)
 * So what is folded is always a convex set.  Groups of siblings are folded first, the largest ones before others; then
 * blocks, which are absorbed as a whole: a node and its only successor, or a fork, all that it leads to, and its join.
 * A limit of the work in a block doubles until few enough nodes are left.  Nodes with a problem are folded after
 * others, with those of the same problems, and nodes that are in no block last.
 *
 * Nodes are numbered from 1; numbers of folded nodes stay valid (folding_find()) until folding_compact().  The
 * structure owns its memory.
 */
#ifndef HPCPROF_LITE_GRAINS_GRAPH_FOLDING_H
#define HPCPROF_LITE_GRAINS_GRAPH_FOLDING_H

#include "hpcprof-lite/model/grain.h"

#include <stddef.h>

struct folding_node {
  struct grain_node node;
  uint32_t into;  /* the node that it was folded into; 0: none */
  uint32_t next;  /* sibling, while siblings are folded */
  uint32_t fixed; /* how many wait for further edges to it: until then it is not folded */
};

struct folding {
  struct folding_node *nodes;
  struct grain_edge *edges;
  size_t nodes_room, edges_room;
  uint32_t nodes_count, edges_count; /* nodes_count: with node 0, which is not used */
  uint32_t alive;
  uint64_t folded;
  uint64_t limit; /* amount up to which nodes absorb others now */
  bool problems;  /* nodes with problems are folded, too */
  bool singly;    /* nodes outside blocks are absorbed, too */
  /* for one round, by node */
  uint32_t *succs, *preds, *succs_at, *preds_at, *order;
  size_t work_room, lists_room;
};

void folding_release(struct folding *folding);

/* Add a node, whose number is returned, and an edge; without one of its ends that is left out. */
uint32_t folding_node(struct folding *folding, enum grain_node_kind kind);
void folding_edge(struct folding *folding, uint32_t from, uint32_t to, enum grain_edge_kind kind);

/* Returns the node that the node is part of now. */
uint32_t folding_find(struct folding *folding, uint32_t node);

/* Folds until at most `most` nodes are left, or nothing more can be folded. */
void folding_reduce(struct folding *folding, uint32_t most);

/* Removes the folded nodes.  Returns an array of new numbers by old ones, which the caller frees. */
uint32_t *folding_compact(struct folding *folding);

/* Sets the order of the nodes.  If there is a cycle, which only a damaged log makes, it becomes a node. */
void folding_sort(struct folding *folding);

#endif
