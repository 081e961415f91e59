/* Finds tasks that take longer on some NUMA nodes than on others.
 *
 * Context: BATCH.  Pure.  The caller counts the tasks of a graph log by the node on which they began.  Which data they
 * use is not known: other reasons may make tasks of one node longer, so that confidence is low.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_NODES_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_NODES_H

#include "hpcprof-lite/analysis/advice/advice_regions.h"

enum { ADVICE_NODES_MAX = 64 };

/* Tasks of one directive on one node: their number, and sums of their running times and of the squares of these. */
struct advice_node {
  double tasks, exec_s, squares;
};

void advice_node_add(struct advice_node *node, double exec_s);

/* Adds what is found.  nodes: ADVICE_NODES_MAX for each directive of the run; of copies of the same code, all tasks
 * count for the first. */
void advice_nodes_find(const struct advice_input *input, const struct advice_node *nodes, struct advice *advice);

#endif
