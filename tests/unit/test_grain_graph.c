/* The graph of grains: nodes, edges and what is folded, from events as the log's second pass delivers them. */
#include "hpcprof-lite/grains/graph_builder.h"
#include "hpcprof-lite/grains/graph_folding.h"
#include "hpcprof-lite/model/model.h"
#include "tests/support/unit.h"

#include <math.h>
#include <stdlib.h>

static void event(struct graph_builder *builder, enum grain_event_kind kind, uint64_t grain, uint64_t other,
                  uint64_t number)
{
  const struct grain_event event = {.kind = kind, .grain = grain, .other = other, .number = number, .amount = number};
  graph_builder_event(builder, &event);
}

static void grain(struct graph_builder *builder, uint64_t id, uint64_t exec, uint32_t problems)
{
  const struct grain described = {.id = id, .kind = id == 1 ? GRAIN_INITIAL : GRAIN_TASK, .path = "0", .exec = exec};
  struct grain_row row = {.grain = &described,
                          .prefix = "",
                          .exec = exec,
                          .create = GRAIN_UNKNOWN,
                          .chunk_overhead = GRAIN_UNKNOWN,
                          .context = MODEL_NONE,
                          .problems = problems};
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    row.metric[i] = id % 3 ? NAN : (double)id;
  assert_int_equal(graph_builder_grain(builder, &row), 0);
}

/* A grain that does nothing but work, and is joined by a synchronisation of grain 1. */
static void leaf(struct graph_builder *builder, uint64_t id, uint64_t sync, uint64_t exec, uint32_t problems)
{
  event(builder, GRAIN_END, id, 1, sync);
  event(builder, GRAIN_FRAGMENT, id, 0, exec);
  event(builder, GRAIN_FORK, 1, id, 0);
  grain(builder, id, exec, problems);
}

static struct grain_graph finish(struct graph_builder *builder)
{
  struct grain_graph graph;
  graph_builder_end(builder, &graph);
  graph_builder_free(builder);
  for (uint32_t i = 0; i < graph.edges_count; i++) /* no cycle */
    assert_true(graph.edges[i].from < graph.edges[i].to && graph.edges[i].to < graph.nodes_count);
  return graph;
}

static uint32_t count(const struct grain_graph *graph, enum grain_node_kind kind)
{
  uint32_t found = 0;
  for (uint32_t i = 0; i < graph->nodes_count; i++)
    found += graph->nodes[i].kind == kind;
  return found;
}

/* A program without tasks is a single node, without any edge to sort. */
static void one_grain(void **state)
{
  (void)state;
  struct graph_builder *builder = graph_builder_new(100, false, GRAIN_BALANCE);
  event(builder, GRAIN_FRAGMENT, 1, 0, 7);
  grain(builder, 1, 7, 0);
  struct grain_graph graph = finish(builder);
  assert_int_equal(graph.nodes_count, 1);
  assert_int_equal(graph.edges_count, 0);
  grain_graph_release(&graph);
}

/* Grain 1 runs 1, creates two grains, waits for them, and runs 2. */
static struct grain_graph fork_and_join(bool unreduced)
{
  struct graph_builder *builder = graph_builder_new(100, unreduced, GRAIN_BALANCE);
  assert_non_null(builder);
  event(builder, GRAIN_FRAGMENT, 1, 0, 2);
  event(builder, GRAIN_SYNC, 1, 0, 1);
  leaf(builder, 3, 1, 30, 0);
  leaf(builder, 2, 1, 20, 0);
  event(builder, GRAIN_FRAGMENT, 1, 0, 1);
  grain(builder, 1, 3, 0);
  return finish(builder);
}

static void reduced(void **unused)
{
  (void)unused;
  struct grain_graph graph = fork_and_join(false);
  assert_int_equal(count(&graph, GRAIN_NODE_GRAIN), 3);
  assert_int_equal(count(&graph, GRAIN_NODE_FORK), 1);
  assert_int_equal(count(&graph, GRAIN_NODE_JOIN), 1);
  assert_int_equal(graph.edges_count, 6);
  assert_int_equal(graph.exec, 53);
  assert_int_equal(graph.folded, 0);
  assert_int_equal(graph.lost, 0);
  grain_graph_release(&graph);
}

static void unreduced(void **unused)
{
  (void)unused;
  struct grain_graph graph = fork_and_join(true);
  assert_int_equal(count(&graph, GRAIN_NODE_FRAGMENT), 4);
  assert_int_equal(count(&graph, GRAIN_NODE_FORK), 2);
  assert_int_equal(graph.exec, 53);
  assert_int_equal(graph.longest, 33);
  uint64_t grains = 0;
  for (uint32_t i = 0; i < graph.nodes_count; i++)
    grains += graph.nodes[i].grains;
  assert_int_equal(grains, 3);
  grain_graph_release(&graph);
}

/* Many siblings become one node; those with a problem another one. */
static void siblings(void **unused)
{
  enum { GRAINS = UNIT_SANITIZED ? 6000 : 60000, EACH = 1000 };
  (void)unused;
  struct graph_builder *builder = graph_builder_new(20, false, GRAIN_BALANCE);
  event(builder, GRAIN_SYNC, 1, 0, 1);
  for (uint64_t id = GRAINS + 1; id > 1; id--)
    leaf(builder, id, 1, id % 7, id % EACH == 0);
  grain(builder, 1, 5, 0);
  struct grain_graph graph = finish(builder);
  uint64_t work = 5, plain = 0, problems = 0;
  for (uint64_t id = 2; id <= GRAINS + 1; id++)
    work += id % 7;
  for (uint32_t i = 0; i < graph.nodes_count; i++) {
    plain = graph.nodes[i].grains > plain ? graph.nodes[i].grains : plain;
    problems += graph.nodes[i].problem_grains;
  }
  assert_true(graph.nodes_count <= 20);
  assert_int_equal(graph.exec, work);
  assert_int_equal(plain, GRAINS - GRAINS / EACH);
  assert_int_equal(problems, GRAINS / EACH);
  grain_graph_release(&graph);
}

/* No graph is too small for the largest limit. */
static void no_limit(void **unused)
{
  enum { GRAINS = UNIT_SANITIZED ? 2000 : 20000 };
  (void)unused;
  struct graph_builder *builder = graph_builder_new(UINT32_MAX, false, GRAIN_BALANCE);
  event(builder, GRAIN_SYNC, 1, 0, 1);
  for (uint64_t id = GRAINS + 1; id > 1; id--)
    leaf(builder, id, 1, 1, 0);
  grain(builder, 1, 5, 0);
  struct grain_graph graph = finish(builder);
  assert_int_equal(graph.nodes_count, GRAINS + 3);
  grain_graph_release(&graph);
}

/* Each grain creates the next one and waits for it: no node can be folded before the first grain has begun.  Steps in
 * number of the square of the levels would take minutes. */
static void many_levels(void **unused)
{
  enum { LEVELS = UNIT_SANITIZED ? 6000 : 60000 };
  (void)unused;
  struct graph_builder *builder = graph_builder_new(20, false, GRAIN_BALANCE);
  for (uint64_t id = 1; id < LEVELS; id++) {
    event(builder, GRAIN_SYNC, id, 0, 1);
    event(builder, GRAIN_END, id + 1, id, 1);
  }
  for (uint64_t id = LEVELS; id > 1; id--) {
    event(builder, GRAIN_FORK, id - 1, id, 0);
    grain(builder, id, 1, 0);
  }
  grain(builder, 1, 1, 0);
  struct grain_graph graph = finish(builder);
  assert_true(graph.nodes_count <= 20);
  assert_int_equal(graph.exec, LEVELS);
  grain_graph_release(&graph);
}

/* Many dependences between two grains by one join. */
static struct grain_graph dependences(int takes, int offers, uint64_t *edges)
{
  struct graph_builder *builder = graph_builder_new(20, false, GRAIN_BALANCE);
  event(builder, GRAIN_SYNC, 1, 0, 1);
  event(builder, GRAIN_END, 3, 1, 1);
  for (int i = 0; i < takes; i++)
    event(builder, GRAIN_TAKE, 3, 101, 0);
  event(builder, GRAIN_END, 2, 1, 1);
  for (int i = 0; i < offers; i++)
    event(builder, GRAIN_OFFER, 2, 101, 0);
  event(builder, GRAIN_FORK, 1, 3, 0);
  grain(builder, 3, 1, 0);
  event(builder, GRAIN_FORK, 1, 2, 0);
  grain(builder, 2, 1, 0);
  grain(builder, 1, 1, 0);
  struct grain_graph graph = finish(builder);
  *edges = 0;
  for (uint32_t i = 0; i < graph.edges_count; i++)
    *edges += graph.edges[i].kind == GRAIN_EDGE_DEPENDENCE ? graph.edges[i].count : 0;
  return graph;
}

/* The takes that were first are forgotten.  As above. */
static void many_takes(void **unused)
{
  enum { TAKES = 600000, REMEMBERED = 1 << 18 };
  (void)unused;
  uint64_t edges;
  struct grain_graph graph = dependences(TAKES, 1, &edges);
  assert_int_equal(edges, REMEMBERED);
  assert_int_equal(graph.lost, TAKES - REMEMBERED);
  grain_graph_release(&graph);
}

/* There are as many edges as takes times offers, up to a limit. */
static void many_offers(void **unused)
{
  enum { TAKES = 2000, OFFERS = 3000, EDGES = 4 << 20 };
  (void)unused;
  uint64_t edges;
  struct grain_graph graph = dependences(TAKES, 10, &edges);
  assert_int_equal(edges, 10 * TAKES);
  assert_int_equal(graph.lost, 0);
  grain_graph_release(&graph);
  graph = dependences(TAKES, OFFERS, &edges);
  assert_true(edges > EDGES - 10 && edges <= EDGES);
  assert_true(graph.lost >= OFFERS - EDGES / TAKES - 1);
  grain_graph_release(&graph);
}

/* The mean is that of the grains whose metric is known, in any order. */
static void metric_of_a_node(void **unused)
{
  (void)unused;
  for (uint64_t first = 2; first <= 4; first++) {
    struct graph_builder *builder = graph_builder_new(3, false, GRAIN_BALANCE);
    event(builder, GRAIN_SYNC, 1, 0, 1);
    for (uint64_t id = 13; id > 1; id--)
      leaf(builder, id, 1, (id + first) % 5, 0);
    grain(builder, 1, 5, 0);
    struct grain_graph graph = finish(builder);
    double sum = 0, weights = 0;
    for (uint64_t id = 3; id <= 12; id += 3) {
      sum += (double)(id * ((id + first) % 5));
      weights += (double)((id + first) % 5);
    }
    double found = NAN;
    for (uint32_t i = 0; i < graph.nodes_count; i++)
      found = isnan(graph.nodes[i].metric) ? found : graph.nodes[i].metric;
    assert_true(fabs(found - sum / weights) < 1e-9);
    grain_graph_release(&graph);
  }
}

/* a1 -> b -> a2 by dependences, where a1 and a2 are alike: they may not become one node without b. */
static void not_convex(void **unused)
{
  (void)unused;
  for (uint32_t most = 1; most < 8; most++) {
    struct graph_builder *builder = graph_builder_new(most, false, GRAIN_BALANCE);
    event(builder, GRAIN_SYNC, 1, 0, 1);
    event(builder, GRAIN_END, 4, 1, 1);
    event(builder, GRAIN_FRAGMENT, 4, 0, 10);
    event(builder, GRAIN_TAKE, 4, 102, 0);
    event(builder, GRAIN_END, 3, 1, 1);
    event(builder, GRAIN_OFFER, 3, 102, 0);
    event(builder, GRAIN_FRAGMENT, 3, 0, 20);
    event(builder, GRAIN_TAKE, 3, 101, 0);
    event(builder, GRAIN_END, 2, 1, 1);
    event(builder, GRAIN_OFFER, 2, 101, 0);
    event(builder, GRAIN_FRAGMENT, 2, 0, 10);
    event(builder, GRAIN_FORK, 1, 4, 0);
    grain(builder, 4, 10, 0);
    event(builder, GRAIN_FORK, 1, 3, 0);
    grain(builder, 3, 20, 1);
    event(builder, GRAIN_FORK, 1, 2, 0);
    grain(builder, 2, 10, 0);
    grain(builder, 1, 1, 0);
    struct grain_graph graph = finish(builder);
    assert_true(graph.nodes_count <= most);
    assert_int_equal(graph.exec, 41);
    assert_true(graph.longest >= 41);
    grain_graph_release(&graph);
  }
}

/* Any graph without cycles is folded to any number of nodes from 1, and stays without cycles. */
static void random_graphs(void **unused)
{
  enum { GRAPHS = 300, NODES = 40 };
  (void)unused;
  srand(1);
  for (int i = 0; i < GRAPHS; i++) {
    struct folding folding = {0};
    uint32_t nodes = 2 + (uint32_t)rand() % NODES, most = 1 + (uint32_t)rand() % nodes;
    uint64_t work = 0, after = 0;
    for (uint32_t node = 1; node <= nodes; node++) {
      assert_int_equal(folding_node(&folding, (enum grain_node_kind)(rand() % GRAIN_NODE_KINDS)), node);
      work += folding.nodes[node].node.exec = (uint64_t)rand() % 100;
      folding.nodes[node].node.problem_grains = rand() % 5 == 0;
      for (int edge = rand() % 3; node > 1 && edge >= 0; edge--) /* the first node leads to all others */
        folding_edge(&folding, 1 + (uint32_t)rand() % (node - 1), node, GRAIN_EDGE_CREATION);
    }
    folding_reduce(&folding, most);
    assert_true(folding.alive <= most);
    folding_sort(&folding);
    for (uint32_t node = 1; node <= nodes; node++)
      after += folding.nodes[node].into ? 0 : folding.nodes[node].node.exec;
    assert_int_equal(after, work);
    folding_release(&folding);
  }
}

/* What a damaged log may say: a cycle becomes a node. */
static void cycle(void **unused)
{
  (void)unused;
  struct folding folding = {0};
  for (uint32_t node = 1; node <= 4; node++)
    assert_int_equal(folding_node(&folding, GRAIN_NODE_GRAIN), node);
  for (uint32_t node = 1; node < 4; node++)
    folding_edge(&folding, node, node + 1, GRAIN_EDGE_CREATION);
  folding_edge(&folding, 4, 2, GRAIN_EDGE_JOIN);
  folding_sort(&folding);
  assert_int_equal(folding.alive, 2);
  folding_release(&folding);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_grain),   cmocka_unit_test(reduced),          cmocka_unit_test(unreduced),
      cmocka_unit_test(siblings),    cmocka_unit_test(metric_of_a_node), cmocka_unit_test(no_limit),
      cmocka_unit_test(many_levels), cmocka_unit_test(many_takes),       cmocka_unit_test(many_offers),
      cmocka_unit_test(not_convex),  cmocka_unit_test(random_graphs),    cmocka_unit_test(cycle),
  };
  return UNIT_RUN(argc, argv, "grain_graph", tests, NULL, NULL);
}
