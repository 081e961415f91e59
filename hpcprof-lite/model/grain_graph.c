#include "hpcprof-lite/model/grain_graph.h"

#include <stdlib.h>

void grain_graph_release(struct grain_graph *graph)
{
  for (uint32_t i = 0; i < graph->nodes_count; i++)
    free((char *)graph->nodes[i].grain.path);
  free(graph->nodes);
  free(graph->edges);
  *graph = (struct grain_graph){0};
}
