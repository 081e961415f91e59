/* The graph of grains as JSON.  Context: BATCH. */
#include "hpcprof-lite/report/exports/exports.h"

#include "hpcprof-lite/report/exports/graph_attributes.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <inttypes.h>

static void print_node(const struct report *report, const struct graph_scale *scale, uint32_t number)
{
  assert(number < report->grains.graph->nodes_count);
  FILE *stream = report->stream;
  struct graph_cells cells;
  graph_cells_of(report, scale, number, &cells);
  fprintf(stream, "%s\n    {\"id\": %" PRIu32, number ? "," : "", number);
  for (unsigned i = 0; i < GRAPH_ATTRIBUTES; i++) {
    if (!cells.value[i])
      continue;
    fprintf(stream, ", \"%s\": ", graph_attributes[i].name);
    if (graph_attributes[i].type == GRAPH_TEXT)
      row_writer_json_string(stream, cells.value[i]);
    else
      fputs(cells.value[i], stream);
  }
  fputc('}', stream);
}

int graph_json(const struct report *report)
{
  const struct grain_graph *graph = report->grains.graph;
  FILE *stream = report->stream;
  struct graph_scale scale = graph_scale_of(graph);
  char note[GRAPH_NOTE_MAX] = "";
  document_open(report, true);
  if (graph)
    graph_note(report, note, sizeof note);
  fputs("\"note\": ", stream);
  row_writer_json_string(stream, note);
  fputs(",\n  \"nodes\": [", stream);
  for (uint32_t i = 0; graph && i < graph->nodes_count; i++)
    print_node(report, &scale, i);
  fputs("],\n  \"edges\": [", stream);
  for (uint32_t i = 0; graph && i < graph->edges_count; i++) {
    const struct grain_edge *edge = &graph->edges[i];
    fprintf(stream, "%s\n    {\"from\": %" PRIu32 ", \"to\": %" PRIu32 ", \"kind\": \"%s\", \"count\": %" PRIu64,
            i ? "," : "", edge->from, edge->to, graph_edge_kinds[edge->kind], edge->count);
    fprintf(stream, ", \"critical\": %d}", edge->critical);
  }
  fputs("]", stream);
  document_close(report, true);
  return 0;
}
