#include "hpcprof-lite/report/exports/graph_attributes.h"

#include "common/order.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The attributes: ATTRIBUTE(enumerator, name, type).  Those of the metrics are in the order of enum grain_metric. */
#define ATTRIBUTES(ATTRIBUTE)                                                                                          \
  ATTRIBUTE(KIND, "kind", TEXT)                                                                                        \
  ATTRIBUTE(LABEL, "label", TEXT)                                                                                      \
  ATTRIBUTE(GRAIN_ID, "grain_id", WHOLE)                                                                               \
  ATTRIBUTE(PATH, "path", TEXT)                                                                                        \
  ATTRIBUTE(GRAIN_KIND, "grain_kind", TEXT)                                                                            \
  ATTRIBUTE(PARENT_ID, "parent_id", WHOLE)                                                                             \
  ATTRIBUTE(CHILD_NUMBER, "child_number", WHOLE)                                                                       \
  ATTRIBUTE(SYNC_NUMBER, "sync_number", WHOLE)                                                                         \
  ATTRIBUTE(CONSTRUCT, "construct", TEXT)                                                                              \
  ATTRIBUTE(NAME, "name", TEXT)                                                                                        \
  ATTRIBUTE(FILE_NAME, "file", TEXT)                                                                                   \
  ATTRIBUTE(LINE, "line", WHOLE)                                                                                       \
  ATTRIBUTE(CONTEXT_ID, "context_id", WHOLE)                                                                           \
  ATTRIBUTE(THREAD, "thread", WHOLE)                                                                                   \
  ATTRIBUTE(CPU, "cpu", WHOLE)                                                                                         \
  ATTRIBUTE(NUMA_NODE, "node", WHOLE)                                                                                  \
  ATTRIBUTE(EXEC, "exec_s", REAL)                                                                                      \
  ATTRIBUTE(CREATE, "create_s", REAL)                                                                                  \
  ATTRIBUTE(CHUNK_OVERHEAD, "chunk_overhead_s", REAL)                                                                  \
  ATTRIBUTE(SYNC_OVERHEAD, "sync_overhead_s", REAL)                                                                    \
  ATTRIBUTE(CREATE_INSTANT, "create_instant_s", REAL)                                                                  \
  ATTRIBUTE(FIRST, "first", WHOLE)                                                                                     \
  ATTRIBUTE(LAST, "last", WHOLE)                                                                                       \
  ATTRIBUTE(PARALLEL_BENEFIT, "parallel_benefit", REAL)                                                                \
  ATTRIBUTE(PARALLELISM, "instantaneous_parallelism", REAL)                                                            \
  ATTRIBUTE(SCATTER, "scatter", REAL)                                                                                  \
  ATTRIBUTE(MEMORY, "memory_utilisation", REAL)                                                                        \
  ATTRIBUTE(WORK_DEVIATION, "work_deviation", REAL)                                                                    \
  ATTRIBUTE(LOAD_BALANCE, "load_balance", REAL)                                                                        \
  ATTRIBUTE(CRITICAL, "critical", WHOLE)                                                                               \
  ATTRIBUTE(SLACK, "slack_s", REAL)                                                                                    \
  ATTRIBUTE(PROBLEMS, "problems", TEXT)                                                                                \
  ATTRIBUTE(SYNC_PARENT_ID, "sync_parent_id", WHOLE)                                                                   \
  ATTRIBUTE(SYNC_INSTANT, "sync_instant_s", REAL)                                                                      \
  ATTRIBUTE(CHUNKS, "chunks", WHOLE)                                                                                   \
  ATTRIBUTE(GRAINS, "grains", WHOLE)                                                                                   \
  ATTRIBUTE(PROBLEM_GRAINS, "problem_grains", WHOLE)                                                                   \
  ATTRIBUTE(FORKS, "forks", WHOLE)                                                                                     \
  ATTRIBUTE(JOINS, "joins", WHOLE)                                                                                     \
  ATTRIBUTE(CRITICAL_EXEC, "critical_exec_s", REAL)                                                                    \
  ATTRIBUTE(WIDTH, "width", REAL)                                                                                      \
  ATTRIBUTE(HEIGHT, "height", REAL)                                                                                    \
  ATTRIBUTE(RED, "r", WHOLE)                                                                                           \
  ATTRIBUTE(GREEN, "g", WHOLE)                                                                                         \
  ATTRIBUTE(BLUE, "b", WHOLE)

#define ENTRY(id, name, type) {name, GRAPH_##type},
#define NUMBER(id, ...) id,
const struct graph_attribute graph_attributes[GRAPH_ATTRIBUTES] = {ATTRIBUTES(ENTRY)};
enum attribute { ATTRIBUTES(NUMBER) ATTRIBUTES_COUNT, METRICS = PARALLEL_BENEFIT };
_Static_assert((int)ATTRIBUTES_COUNT == (int)GRAPH_ATTRIBUTES, "room for the attributes");
_Static_assert((int)LOAD_BALANCE - (int)METRICS == (int)GRAIN_METRICS - 1, "an attribute for each metric");

const char *const graph_node_kinds[] = {[GRAIN_NODE_GRAIN] = "grain",
                                        [GRAIN_NODE_FORK] = "fork",
                                        [GRAIN_NODE_JOIN] = "join",
                                        [GRAIN_NODE_BOOKKEEPING] = "bookkeeping",
                                        [GRAIN_NODE_FRAGMENT] = "fragment"};
const char *const graph_edge_kinds[] = {[GRAIN_EDGE_CREATION] = "creation",
                                        [GRAIN_EDGE_JOIN] = "join",
                                        [GRAIN_EDGE_CONTINUATION] = "continuation",
                                        [GRAIN_EDGE_DEPENDENCE] = "dependence"};

static bool is_grain(const struct grain_node *node)
{
  return node->kind == GRAIN_NODE_GRAIN || node->kind == GRAIN_NODE_FRAGMENT;
}

/* ---- scale ---- */

struct graph_scale graph_scale_of(const struct grain_graph *graph)
{
  struct graph_scale scale = {.lowest = NAN, .highest = NAN};
  for (uint32_t i = 0; graph && i < graph->nodes_count; i++) {
    const struct grain_node *node = &graph->nodes[i];
    scale.longest = MAX(scale.longest, node->exec);
    scale.lowest = fmin(scale.lowest, node->metric); /* of which one may be NAN */
    scale.highest = fmax(scale.highest, node->metric);
  }
  return scale;
}

/* ---- looks ---- */

static void amount_text(const struct report *report, uint64_t amount, char text[32])
{
  static const struct {
    double least;
    const char *unit;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {0, "ns"}};
  if (!report->profile->workspan.is_time) {
    snprintf(text, 32, "%" PRIu64, amount);
    return;
  }
  unsigned i = 0;
  while ((double)amount < units[i].least)
    i++;
  snprintf(text, 32, "%.3g %s", (double)amount / (units[i].least > 0 ? units[i].least : 1), units[i].unit);
}

/* The end of a file's name, and the line, or the construct's name. */
static void place_text(const struct workspan_row *row, char *text, size_t size)
{
  if (row->file && *row->file && row->line)
    snprintf(text, size, "%s %.40s:%" PRIu32, row->kind, names_base(row->file), row->line);
  else
    snprintf(text, size, "%s %.40s", row->kind, row->name ? row->name : "");
}

static void label_of(const struct report *report, const struct grain_node *node, char label[160])
{
  char place[80], amount[32], count[32] = "";
  uint64_t several = node->kind == GRAIN_NODE_JOIN ? node->joins : node->forks;
  if (!is_grain(node)) {
    label[0] = '\0';
    if (several > 1)
      snprintf(label, 160, "%" PRIu64, several);
    return;
  }
  if (node->grains > 1)
    snprintf(count, sizeof count, "%" PRIu64 " grains, ", node->grains);
  place_text(&report->spans.workspan.rows[node->row.directive], place, sizeof place);
  amount_text(report, node->exec, amount);
  snprintf(label, 160, "%s\n%s%s", node->grain.kind == GRAIN_INITIAL ? "program" : place, count, amount);
}

struct colour {
  unsigned char red, green, blue;
};

/* From a weak figure to a strong one. */
static struct colour shade(double part)
{
  static const struct colour weak = {255, 247, 188}, strong = {217, 72, 1};
  part = MAX(0, MIN(part, 1));
  return (struct colour){(unsigned char)(weak.red + (strong.red - weak.red) * part),
                         (unsigned char)(weak.green + (strong.green - weak.green) * part),
                         (unsigned char)(weak.blue + (strong.blue - weak.blue) * part)};
}

/* How bad a figure is, from 0 to 1.  Low figures of three metrics are bad, and high figures of the others. */
static double badness(const struct report *report, const struct graph_scale *scale, double metric)
{
  assert(report->grains.colour < GRAIN_METRICS);
  bool low = report->grains.colour == GRAIN_PARALLEL_BENEFIT || report->grains.colour == GRAIN_PARALLELISM ||
             report->grains.colour == GRAIN_MEMORY;
  double lowest = log1p(scale->lowest), highest = log1p(scale->highest);
  double part = highest > lowest ? (log1p(metric) - lowest) / (highest - lowest) : 0;
  return low ? 1 - part : part;
}

static struct colour colour_of(const struct report *report, const struct graph_scale *scale,
                               const struct grain_node *node)
{
  static const struct colour kinds[GRAIN_NODE_KINDS] = {[GRAIN_NODE_FORK] = {116, 196, 118},
                                                        [GRAIN_NODE_JOIN] = {253, 174, 107},
                                                        [GRAIN_NODE_BOOKKEEPING] = {102, 194, 194}};
  static const struct colour dim[GRAIN_KINDS] = {[GRAIN_INITIAL] = {235, 235, 235},
                                                 [GRAIN_IMPLICIT] = {235, 235, 235},
                                                 [GRAIN_TASK] = {222, 235, 247},
                                                 [GRAIN_CHUNK] = {229, 245, 224}};
  if (!is_grain(node))
    return kinds[node->kind];
  bool problem = node->problems >> report->grains.colour & 1;
  if (!problem || isnan(node->metric))
    return dim[node->grain.kind];
  return shade(0.4 + 0.6 * badness(report, scale, node->metric));
}

void graph_look_of(const struct report *report, const struct graph_scale *scale, uint32_t number,
                   struct graph_look *look)
{
  assert(number < report->grains.graph->nodes_count);
  static const char *const shapes[GRAIN_NODE_KINDS] = {[GRAIN_NODE_GRAIN] = "box",
                                                       [GRAIN_NODE_FORK] = "triangle",
                                                       [GRAIN_NODE_JOIN] = "invtriangle",
                                                       [GRAIN_NODE_BOOKKEEPING] = "diamond",
                                                       [GRAIN_NODE_FRAGMENT] = "box"};
  const double smallest = 0.2, tallest = 2;
  const struct grain_node *node = &report->grains.graph->nodes[number];
  struct colour colour = colour_of(report, scale, node);
  *look = (struct graph_look){.shape = shapes[node->kind],
                              .red = colour.red,
                              .green = colour.green,
                              .blue = colour.blue,
                              .width = smallest,
                              .height = smallest,
                              .folded = node->grains > 1,
                              .problem = node->problem_grains || (is_grain(node) && node->problems)};
  label_of(report, node, look->label);
  if (!is_grain(node))
    return;
  double part = scale->longest ? (double)node->exec / (double)scale->longest : 0;
  look->width = 0.5 + part;
  look->height = smallest + tallest * part;
}

/* ---- attributes ---- */

static void whole(struct graph_cells *cells, enum attribute attribute, uint64_t value, bool known)
{
  assert(attribute < ATTRIBUTES_COUNT);
  if (!known)
    return;
  snprintf(cells->text[attribute], sizeof cells->text[attribute], "%" PRIu64, value);
  cells->value[attribute] = cells->text[attribute];
}

static void signed_whole(struct graph_cells *cells, enum attribute attribute, uint64_t value)
{
  if (value == GRAIN_UNKNOWN)
    return;
  snprintf(cells->text[attribute], sizeof cells->text[attribute], "%" PRId64, (int64_t)value);
  cells->value[attribute] = cells->text[attribute];
}

static void real(struct graph_cells *cells, enum attribute attribute, double value)
{
  assert(attribute < ATTRIBUTES_COUNT);
  if (isnan(value))
    return;
  snprintf(cells->text[attribute], sizeof cells->text[attribute], "%.9g", value);
  cells->value[attribute] = cells->text[attribute];
}

static void work(const struct report *report, struct graph_cells *cells, enum attribute attribute, uint64_t amount)
{
  if (amount == GRAIN_UNKNOWN)
    return;
  char *text = cells->text[attribute];
  if (report->profile->workspan.is_time)
    snprintf(text, sizeof cells->text[attribute], "%" PRIu64 ".%09" PRIu64, amount / 1000000000, amount % 1000000000);
  else
    snprintf(text, sizeof cells->text[attribute], "%" PRIu64, amount);
  cells->value[attribute] = text;
}

/* What only one grain has. */
static void grain_cells(const struct report *report, const struct grain_node *node, struct graph_cells *cells)
{
  const struct grain *grain = &node->grain;
  const struct grain_row *row = &node->row;
  whole(cells, GRAIN_ID, row->first_id + grain->id, true);
  cells->value[PATH] = grain->path;
  whole(cells, PARENT_ID, row->first_id + grain->parent, grain->parent);
  whole(cells, CHILD_NUMBER, grain->child_number, grain->parent);
  whole(cells, SYNC_NUMBER, grain->sync_number, grain->sync_number);
  whole(cells, CONTEXT_ID, row->context, row->context != MODEL_NONE);
  whole(cells, THREAD, grain->thread, true);
  whole(cells, CPU, grain->cpu, grain->cpu != GRAIN_NO_CPU);
  whole(cells, NUMA_NODE, grain->node, grain->node != GRAIN_NO_CPU);
  work(report, cells, SYNC_OVERHEAD, row->sync_overhead);
  work(report, cells, CREATE_INSTANT, row->create_instant);
  signed_whole(cells, FIRST, grain->first);
  signed_whole(cells, LAST, grain->last);
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    real(cells, (enum attribute)(METRICS + i), row->metric[i]);
  work(report, cells, SLACK, row->slack);
  whole(cells, SYNC_PARENT_ID, row->first_id + grain->sync_grain, grain->sync_number);
  work(report, cells, SYNC_INSTANT, row->sync_instant);
  whole(cells, CHUNKS, grain->siblings.chunks, grain->siblings.chunks);
}

void graph_cells_of(const struct report *report, const struct graph_scale *scale, uint32_t number,
                    struct graph_cells *cells)
{
  assert(number < report->grains.graph->nodes_count);
  const struct grain_node *node = &report->grains.graph->nodes[number];
  const struct workspan_row *construct = &report->spans.workspan.rows[node->row.directive];
  const struct graph_look *look = &cells->look;
  graph_look_of(report, scale, number, &cells->look);
  memset(cells->value, 0, sizeof cells->value);
  if (is_grain(node) && node->grains <= 1)
    grain_cells(report, node, cells);
  cells->value[KIND] = graph_node_kinds[node->kind];
  cells->value[LABEL] = look->label[0] ? look->label : NULL;
  cells->value[GRAIN_KIND] = is_grain(node) ? grain_kind_names[node->grain.kind] : NULL;
  if (node->kind != GRAIN_NODE_JOIN) {
    cells->value[CONSTRUCT] = construct->kind;
    cells->value[NAME] = construct->name;
    cells->value[FILE_NAME] = construct->file;
    whole(cells, LINE, construct->line, construct->line);
  }
  work(report, cells, EXEC, node->exec);
  work(report, cells, CREATE, node->created ? node->create : GRAIN_UNKNOWN);
  work(report, cells, CHUNK_OVERHEAD, node->overheads ? node->overhead : GRAIN_UNKNOWN);
  if (node->grains > 1)
    real(cells, (enum attribute)(METRICS + (unsigned)report->grains.colour), node->metric);
  whole(cells, CRITICAL, node->critical, is_grain(node));
  grain_problem_names(node->problems, cells->problems);
  cells->value[PROBLEMS] = cells->problems[0] ? cells->problems : NULL;
  whole(cells, GRAINS, node->grains, true);
  whole(cells, PROBLEM_GRAINS, node->problem_grains, true);
  whole(cells, FORKS, node->forks, true);
  whole(cells, JOINS, node->joins, true);
  work(report, cells, CRITICAL_EXEC, node->critical_exec);
  real(cells, WIDTH, look->width);
  real(cells, HEIGHT, look->height);
  whole(cells, RED, look->red, true);
  whole(cells, GREEN, look->green, true);
  whole(cells, BLUE, look->blue, true);
}

void graph_note(const struct report *report, char *text, size_t size)
{
  assert(text && size);
  const struct grain_graph *graph = report->grains.graph;
  uint64_t grains = 0, problems = 0;
  char amount[32];
  for (uint32_t i = 0; i < graph->nodes_count; i++) {
    grains += graph->nodes[i].grains;
    problems += graph->nodes[i].problem_grains;
  }
  amount_text(report, graph->exec, amount);
  int used = snprintf(text, size, "%" PRIu32 " nodes with %s of work", graph->nodes_count, amount);
  if (grains)
    used +=
        snprintf(text + used, size - (size_t)used, ": %" PRIu64 " grains, %" PRIu64 " with problems", grains, problems);
  if (graph->folded)
    used += snprintf(text + used, size - (size_t)used, "; %" PRIu64 " nodes were folded into others (--max-nodes)",
                     graph->folded);
  if (graph->lost)
    used += snprintf(text + used, size - (size_t)used,
                     "; left out: %" PRIu64 " ends of synchronisations and dependences", graph->lost);
  const char *chunks = profile_chunks_note(report->profile);
  if (chunks)
    snprintf(text + used, size - (size_t)used, ". %s", chunks);
}
