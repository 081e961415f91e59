/* The graph of grains as a drawing for Graphviz.  Context: BATCH. */
#include "hpcprof-lite/report/exports/exports.h"

#include "common/escape.h"
#include "hpcprof-lite/report/exports/graph_attributes.h"

#include <assert.h>
#include <inttypes.h>

/* A string of the DOT language, which drops a backslash that stands alone; hostile names may contain anything. */
static void quoted(FILE *stream, const char *text)
{
  char shown[ESCAPE_MAX];
  fputc('"', stream);
  while (*text) {
    if (*text == '\n') {
      fputs("\\n", stream);
      text++;
      continue;
    }
    text += escape_character(text, true, shown);
    fprintf(stream, "%s%s", *shown == '"' || *shown == '\\' ? "\\" : "", shown);
  }
  fputc('"', stream);
}

static void print_node(const struct report *report, const struct graph_scale *scale, uint32_t number)
{
  assert(number < report->grains.graph->nodes_count);
  FILE *stream = report->stream;
  const struct grain_node *node = &report->grains.graph->nodes[number];
  struct graph_look look;
  graph_look_of(report, scale, number, &look);
  fprintf(stream, "  n%" PRIu32 " [shape=%s, width=%.2f, height=%.2f, fillcolor=\"#%02x%02x%02x\", label=", number,
          look.shape, look.width, look.height, look.red, look.green, look.blue);
  quoted(stream, look.label);
  if (look.folded)
    fputs(", peripheries=2", stream);
  if (look.problem)
    fputs(", penwidth=2", stream);
  if (node->critical)
    fputs(", color=red", stream);
  fputs(", tooltip=", stream);
  quoted(stream, node->grain.path && node->grains <= 1 ? node->grain.path : graph_node_kinds[node->kind]);
  fputs("];\n", stream);
}

static void print_edge(FILE *stream, const struct grain_edge *edge)
{
  assert(edge->kind <= GRAIN_EDGE_DEPENDENCE);
  static const char *const styles[] = {[GRAIN_EDGE_CREATION] = "color=\"#238b45\"",
                                       [GRAIN_EDGE_JOIN] = "color=\"#d95f0e\"",
                                       [GRAIN_EDGE_CONTINUATION] = "color=\"#636363\"",
                                       [GRAIN_EDGE_DEPENDENCE] = "color=\"#6a51a3\", style=dashed"};
  fprintf(stream, "  n%" PRIu32 " -> n%" PRIu32 " [%s", edge->from, edge->to, styles[edge->kind]);
  if (edge->critical)
    fputs(", color=red, penwidth=3", stream);
  fputs("];\n", stream);
}

int dot_write(const struct report *report)
{
  const struct grain_graph *graph = report->grains.graph;
  FILE *stream = report->stream;
  struct graph_scale scale = graph_scale_of(graph);
  char note[GRAPH_NOTE_MAX];
  fputs("digraph grains {\n", stream);
  if (graph) {
    graph_note(report, note, sizeof note);
    fputs("  graph [rankdir=TB, nodesep=0.15, ranksep=0.25, fontname=\"sans-serif\", label=", stream);
    quoted(stream, note);
    fputs("];\n  node [style=filled, fontname=\"sans-serif\", fontsize=10, margin=0.05];\n", stream);
    fputs("  edge [arrowsize=0.5];\n", stream);
    for (uint32_t i = 0; i < graph->nodes_count; i++)
      print_node(report, &scale, i);
    for (uint32_t i = 0; i < graph->edges_count; i++)
      print_edge(stream, &graph->edges[i]);
  }
  fputs("}\n", stream);
  return 0;
}
