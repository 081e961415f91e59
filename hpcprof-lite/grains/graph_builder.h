/* Makes the graph of grains that is drawn (model/grain.h) from grains and events, as grains_each() delivers them.
 *
 * Context: BATCH.  The graph is built backwards: a new node leads to nodes that exist.  In the reduced graph a grain is
 * one node, followed by a fork node for all that it has created before its next synchronisation, a join node for that,
 * and so on; nodes are folded (graph_folding.h) whenever they are many.  In the unreduced graph each fragment is a
 * node, and each creation a fork node.
 *
 * Memory: live grains, and nodes in number of the limit; of the unreduced graph all nodes.  Dependences are remembered
 * in a table of limited size: an edge whose other end is not in there any more is left out, and counted.
 */
#ifndef HPCPROF_LITE_GRAINS_GRAPH_BUILDER_H
#define HPCPROF_LITE_GRAINS_GRAPH_BUILDER_H

#include "hpcprof-lite/model/grain.h"

struct graph_builder;

/* An unreduced graph may have so many nodes. */
enum { GRAPH_BUILDER_UNREDUCED_MAX = 1000000 };

/* most: nodes that may be left, unless unreduced; metric: by which nodes are coloured. */
struct graph_builder *graph_builder_new(uint32_t most, bool unreduced, enum grain_metric metric);
void graph_builder_free(struct graph_builder *builder); /* NULL is allowed */

/* Take what grains_each() delivers; amounts as they are to be shown.  Ids and names of events belong to one process:
 * all of a process is delivered before the next one.  graph_builder_grain() returns 0, or ERR_INPUT if the unreduced
 * graph has too many nodes. */
void graph_builder_event(struct graph_builder *builder, const struct grain_event *event);
int graph_builder_grain(struct graph_builder *builder, const struct grain_row *row);

/* Whether the unreduced graph has too many nodes. */
bool graph_builder_full(const struct graph_builder *builder);

/* The next process begins. */
void graph_builder_process(struct graph_builder *builder);

/* All was delivered: makes the graph, which the caller releases. */
void graph_builder_end(struct graph_builder *builder, struct grain_graph *graph);

#endif
