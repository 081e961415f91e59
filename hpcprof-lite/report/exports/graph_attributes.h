/* What the exported graphs of grains have in common: the attributes of nodes, and how nodes look.
 *
 * Context: BATCH.  The report belongs to the caller.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_GRAPH_ATTRIBUTES_H
#define HPCPROF_LITE_REPORT_EXPORTS_GRAPH_ATTRIBUTES_H

#include "hpcprof-lite/report/report.h"

enum graph_type { GRAPH_TEXT, GRAPH_WHOLE, GRAPH_REAL };

struct graph_attribute {
  const char *name;
  enum graph_type type;
};

enum { GRAPH_ATTRIBUTES = 45 };

extern const struct graph_attribute graph_attributes[GRAPH_ATTRIBUTES];
extern const char *const graph_node_kinds[], *const graph_edge_kinds[];

struct graph_look {
  const char *shape; /* of Graphviz */
  unsigned red, green, blue;
  double width, height; /* inches */
  bool folded;          /* several grains */
  bool problem;
  char label[160]; /* lines, separated by '\n' */
};

/* The attributes of a node, in the order of graph_attributes; NULL: not known. */
struct graph_cells {
  const char *value[GRAPH_ATTRIBUTES];
  char text[GRAPH_ATTRIBUTES][32], problems[GRAIN_PROBLEM_NAMES];
  struct graph_look look;
};

/* What the looks of all nodes depend on. */
struct graph_scale {
  uint64_t longest;
  double lowest, highest; /* figures of the metric by which nodes are coloured */
};

enum { GRAPH_NOTE_MAX = 512 };

struct graph_scale graph_scale_of(const struct grain_graph *graph); /* NULL is allowed */

void graph_cells_of(const struct report *report, const struct graph_scale *scale, uint32_t node,
                    struct graph_cells *cells);
void graph_look_of(const struct report *report, const struct graph_scale *scale, uint32_t node,
                   struct graph_look *look);

/* What the graph shows, in a few sentences; size: GRAPH_NOTE_MAX. */
void graph_note(const struct report *report, char *text, size_t size);

#endif
