/* The graph of grains as it is drawn: nodes and edges.  grains/graph_builder.h makes it, report/exports write it.
 *
 * Context: BATCH.  Nodes are numbered from 0 in an order in which every edge leads to a higher number.  Amounts are in
 * ns, or counts.  The structure owns its memory.
 */
#ifndef HPCPROF_LITE_MODEL_GRAIN_GRAPH_H
#define HPCPROF_LITE_MODEL_GRAIN_GRAPH_H

#include "hpcprof-lite/model/grain.h"

enum grain_node_kind {
  GRAIN_NODE_GRAIN,
  GRAIN_NODE_FORK,
  GRAIN_NODE_JOIN,
  GRAIN_NODE_BOOKKEEPING, /* hands out the chunks of a loop to a thread */
  GRAIN_NODE_FRAGMENT,    /* a part of a grain */
  GRAIN_NODE_KINDS
};

enum grain_edge_kind { GRAIN_EDGE_CREATION, GRAIN_EDGE_JOIN, GRAIN_EDGE_CONTINUATION, GRAIN_EDGE_DEPENDENCE };

/* A node, or several that were folded into one.  Sums are over all of them. */
struct grain_node {
  enum grain_node_kind kind;
  struct grain grain;   /* of a grain or fragment; of several grains one of them.  path: owned, NULL: none */
  struct grain_row row; /* the same; directive is that of forks, too, creator that in which a grain was created */
  uint64_t grains, forks, joins;
  uint64_t exec, critical_exec; /* critical_exec: on the critical path */
  uint64_t longest;             /* longest execution of a grain */
  uint64_t create, overhead;    /* of the grains for which they are known */
  uint64_t created, overheads;  /* how many those are */
  uint64_t problem_grains;      /* how many of the grains have a problem */
  uint32_t problems;            /* which ones, as the caller numbers them */
  double metric;                /* by which the node is coloured: the grains' mean, NaN: not known */
  bool critical;                /* on the critical path */
};

struct grain_edge {
  uint32_t from, to;
  enum grain_edge_kind kind;
  uint64_t count; /* edges folded into this one */
  bool critical;
};

struct grain_graph {
  struct grain_node *nodes;
  struct grain_edge *edges;
  uint32_t nodes_count, edges_count;
  uint64_t exec;    /* of all nodes */
  uint64_t longest; /* path: of the nodes' exec */
  uint64_t folded;  /* nodes that were folded into others */
  uint64_t lost;    /* synchronisations and dependences of which only one end is known */
};

void grain_graph_release(struct grain_graph *graph);

#endif
