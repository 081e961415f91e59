/* The graph of grains as GraphML, which networkx, yEd and Gephi read.  Context: BATCH. */
#include "hpcprof-lite/report/exports/exports.h"

#include "hpcprof-lite/report/exports/graph_attributes.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Text of XML 1.0, which has neither control characters nor U+FFFE and U+FFFF. */
static void escaped(FILE *stream, const char *text)
{
  static const char special[] = "<>&\"\n";
  static const char *const written[] = {"&lt;", "&gt;", "&amp;", "&quot;", "\n"};
  while (*text) {
    const char *found = strchr(special, *text);
    if (found) {
      fputs(written[found - special], stream);
      text++;
    } else if (!strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3)) {
      fputc('?', stream);
      text += 3;
    } else {
      text = row_writer_character(stream, text);
    }
  }
}

static void print_keys(FILE *stream)
{
  static const char *const types[] = {[GRAPH_TEXT] = "string", [GRAPH_WHOLE] = "long", [GRAPH_REAL] = "double"};
  for (unsigned i = 0; i < GRAPH_ATTRIBUTES; i++) {
    bool colour = i + 3 >= GRAPH_ATTRIBUTES;
    fprintf(stream, "  <key id=\"%s\" for=\"node\" attr.name=\"%s\" attr.type=\"%s\"/>\n", graph_attributes[i].name,
            graph_attributes[i].name, colour ? "int" : types[graph_attributes[i].type]);
  }
  fputs("  <key id=\"edge_kind\" for=\"edge\" attr.name=\"kind\" attr.type=\"string\"/>\n"
        "  <key id=\"edge_count\" for=\"edge\" attr.name=\"count\" attr.type=\"long\"/>\n"
        "  <key id=\"edge_critical\" for=\"edge\" attr.name=\"critical\" attr.type=\"int\"/>\n"
        "  <key id=\"node_graphics\" for=\"node\" attr.name=\"graphics\" attr.type=\"string\" "
        "yfiles.type=\"nodegraphics\"/>\n"
        "  <key id=\"edge_graphics\" for=\"edge\" attr.name=\"graphics\" attr.type=\"string\" "
        "yfiles.type=\"edgegraphics\"/>\n",
        stream);
}

/* How yEd draws the node. */
static void print_shape(FILE *stream, const struct grain_node *node, const struct graph_look *look)
{
  static const char *const shapes[GRAIN_NODE_KINDS] = {[GRAIN_NODE_GRAIN] = "rectangle",
                                                       [GRAIN_NODE_FORK] = "triangle",
                                                       [GRAIN_NODE_JOIN] = "triangle2",
                                                       [GRAIN_NODE_BOOKKEEPING] = "diamond",
                                                       [GRAIN_NODE_FRAGMENT] = "rectangle"};
  const double points = 72;
  fprintf(stream, "      <data key=\"node_graphics\"><y:ShapeNode><y:Geometry width=\"%.1f\" height=\"%.1f\"/>",
          look->width * points, look->height * points);
  fprintf(stream, "<y:Fill color=\"#%02x%02x%02x\"/><y:BorderStyle color=\"%s\" type=\"line\" width=\"%s\"/>",
          look->red, look->green, look->blue, node->critical ? "#ff0000" : "#000000", look->problem ? "2.0" : "1.0");
  fputs("<y:NodeLabel>", stream);
  escaped(stream, look->label);
  fprintf(stream, "</y:NodeLabel><y:Shape type=\"%s\"/></y:ShapeNode></data>\n", shapes[node->kind]);
}

static void print_node(const struct report *report, const struct graph_scale *scale, uint32_t number)
{
  assert(number < report->grains.graph->nodes_count);
  FILE *stream = report->stream;
  struct graph_cells cells;
  graph_cells_of(report, scale, number, &cells);
  fprintf(stream, "    <node id=\"n%" PRIu32 "\">\n", number);
  for (unsigned i = 0; i < GRAPH_ATTRIBUTES; i++) {
    if (!cells.value[i] || !*cells.value[i])
      continue;
    fprintf(stream, "      <data key=\"%s\">", graph_attributes[i].name);
    escaped(stream, cells.value[i]);
    fputs("</data>\n", stream);
  }
  print_shape(stream, &report->grains.graph->nodes[number], &cells.look);
  fputs("    </node>\n", stream);
}

static void print_edge(FILE *stream, uint32_t number, const struct grain_edge *edge)
{
  assert(edge->kind <= GRAIN_EDGE_DEPENDENCE);
  fprintf(stream, "    <edge id=\"e%" PRIu32 "\" source=\"n%" PRIu32 "\" target=\"n%" PRIu32 "\">\n", number,
          edge->from, edge->to);
  fprintf(stream, "      <data key=\"edge_kind\">%s</data>\n      <data key=\"edge_count\">%" PRIu64 "</data>\n",
          graph_edge_kinds[edge->kind], edge->count);
  fprintf(stream, "      <data key=\"edge_critical\">%d</data>\n", edge->critical);
  fprintf(stream,
          "      <data key=\"edge_graphics\"><y:PolyLineEdge><y:LineStyle color=\"%s\" type=\"%s\" width=\"%s\"/>"
          "<y:Arrows source=\"none\" target=\"standard\"/></y:PolyLineEdge></data>\n    </edge>\n",
          edge->critical ? "#ff0000" : "#636363", edge->kind == GRAIN_EDGE_DEPENDENCE ? "dashed" : "line",
          edge->critical ? "3.0" : "1.0");
}

int graphml_write(const struct report *report)
{
  const struct grain_graph *graph = report->grains.graph;
  FILE *stream = report->stream;
  struct graph_scale scale = graph_scale_of(graph);
  char note[GRAPH_NOTE_MAX];
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:y=\"http://www.yworks.com/xml/graphml\">\n",
        stream);
  print_keys(stream);
  if (graph) {
    graph_note(report, note, sizeof note);
    fputs("  <!-- ", stream);
    for (const char *at = note; *at; at++)
      if (*at != '-' || at[1] != '-') /* "--" ends a comment */
        fputc(*at, stream);
    fputs(" -->\n", stream);
  }
  fputs("  <graph id=\"grains\" edgedefault=\"directed\">\n", stream);
  for (uint32_t i = 0; graph && i < graph->nodes_count; i++)
    print_node(report, &scale, i);
  for (uint32_t i = 0; graph && i < graph->edges_count; i++)
    print_edge(stream, i, &graph->edges[i]);
  fputs("  </graph>\n</graphml>\n", stream);
  return 0;
}
