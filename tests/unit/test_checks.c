/* Checks of whole structures: each holds for a small structure, and fails once that is broken. */
#include "common/xalloc.h"
#include "hpcprof-lite/model/checks.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/replay/task_graph_check.h"
#include "tests/support/unit.h"

/* Sets something in a structure, sees that the check fails, and sets it back. */
#define BREAKS(check, place, value)                                                                                    \
  do {                                                                                                                 \
    __typeof__(place) kept_ = (place);                                                                                 \
    assert_true(check);                                                                                                \
    (place) = (value);                                                                                                 \
    assert_false(check);                                                                                               \
    (place) = kept_;                                                                                                   \
    assert_true(check);                                                                                                \
  } while (0)

static void test_a_hash_map(void **state)
{
  (void)state;
  struct hash_map map = {0};
  for (uint32_t i = 1; i <= 20; i++)
    hash_map_add(&map, hash_map_key(1, i), i);
  uint32_t slot = 0;
  while (!map.keys[slot])
    slot++;
  BREAKS(check_hash_map(&map), map.count, 19);
  BREAKS(check_hash_map(&map), map.numbers[slot], 0);
  BREAKS(check_hash_map(&map), map.keys[slot], 0);
  hash_map_release(&map);
}

static void test_contexts(void **state)
{
  (void)state;
  struct contexts contexts;
  contexts_init(&contexts);
  contexts.stride = 1;
  uint32_t outer = contexts_add(&contexts, &(struct context_node){.kind = CONTEXT_FRAME, .offset = 1});
  uint32_t inner = contexts_add(&contexts, &(struct context_node){outer, .kind = CONTEXT_FRAME, .offset = 2});
  contexts_value(&contexts, outer, 0, 1);
  contexts_value(&contexts, inner, 0, 1);
  contexts_add_construct(&contexts, &(struct context_construct){0, 0, inner});
  contexts_add_share(&contexts, &(struct context_share){.context = outer});
  BREAKS(check_contexts(&contexts), contexts.nodes[outer].parent, inner);
  BREAKS(check_contexts(&contexts), contexts.nodes[inner].offset, 3);
  BREAKS(check_contexts(&contexts), contexts.nodes[outer].value, contexts.nodes[inner].value);
  BREAKS(check_contexts(&contexts), contexts.nodes[outer].value, 9);
  BREAKS(check_contexts(&contexts), contexts.nodes[0].parent, 0);
  BREAKS(check_contexts(&contexts), contexts.constructs[0].context, 9);
  BREAKS(check_contexts(&contexts), contexts.shares[0].context, 9);
  contexts_release(&contexts);
}

static void test_rows(void **state)
{
  (void)state;
  struct tree tree;
  struct tree_columns columns = {.count = 1};
  tree_init(&tree, 1, "all");
  struct tree_row row = tree_plain_row(0, ROW_TASK, "a", "", 1);
  uint32_t outer = tree_add(&tree, &row, NULL);
  row = tree_plain_row(outer, ROW_TASK, "b", "", 2);
  uint32_t inner = tree_add(&tree, &row, NULL);
  tree_value(&tree, outer, 0, 3);
  tree_value(&tree, inner, 0, 4);
  BREAKS(check_tree(&tree), tree.rows[outer].parent, inner);
  BREAKS(check_tree(&tree), tree.rows[outer].first_child, MODEL_NONE);
  BREAKS(check_tree(&tree), tree.rows[inner].next, inner);
  BREAKS(check_tree(&tree), tree.rows[inner].kind, ROW_ROOT);
  BREAKS(check_tree(&tree), tree.rows[inner].name, NULL);
  assert_false(check_finished_tree(&tree)); /* it has no order yet */
  tree_inclusive(&tree);
  BREAKS(check_tree_sums(&tree), tree.incl[outer], 3);
  BREAKS(check_tree_sums(&tree), tree.excl[inner], 3);
  tree_finish(&tree, &(struct tree_order){.by = SORT_INCL, .column = 0, .columns = &columns}, false);
  BREAKS(check_finished_tree(&tree), tree.order[1], tree.order[2]);
  BREAKS(check_finished_tree(&tree), tree.order[0], 1);
  BREAKS(check_finished_tree(&tree), tree.end[0], 2);
  BREAKS(check_finished_tree(&tree), tree.end[1], 1);
  BREAKS(check_finished_tree(&tree), tree.rows[inner].depth, 1);
  tree_release(&tree);
}

static void test_names(void **state)
{
  (void)state;
  struct names_function function = {.name = "f", .raw = "f", .file = "", .origin = MODEL_NONE};
  struct names_frame frame = {.file = ""};
  struct names_address address = {.count = 1};
  uint32_t address_of[] = {MODEL_NONE, 0};
  struct names names = {.functions = &function,
                        .functions_count = 1,
                        .frames = &frame,
                        .frames_count = 1,
                        .addresses = &address,
                        .addresses_count = 1,
                        .address_of = address_of,
                        .modules_count = 1};
  BREAKS(check_names(&names, 2), function.module, 1);
  BREAKS(check_names(&names, 2), function.origin, 1);
  BREAKS(check_names(&names, 2), frame.function, 1);
  BREAKS(check_names(&names, 2), address.count, 2);
  BREAKS(check_names(&names, 2), address.first, 1);
  BREAKS(check_names(&names, 2), address_of[1], 1);
}

static void test_construct_times(void **state)
{
  (void)state;
  struct construct_node nodes[] = {{.parent = MODEL_NONE}, {.parent = 0, .kind = DIRECTIVE_PARALLEL}};
  struct construct_row rows[] = {{.node = 0, .thread = 0}, {.node = 0, .thread = 1}, {.node = 1, .thread = 0}};
  struct construct_tasks tasks[] = {{.directive = 1}, {.directive = 2}};
  struct construct_times times = {
      .nodes = nodes, .nodes_count = 2, .rows = rows, .rows_count = 3, .tasks = tasks, .tasks_count = 2};
  BREAKS(check_construct_times(&times, 2), nodes[1].parent, 1);
  BREAKS(check_construct_times(&times, 2), rows[1].thread, 0);
  BREAKS(check_construct_times(&times, 2), rows[1].node, 2);
  BREAKS(check_construct_times(&times, 2), rows[2].node, 2);
  BREAKS(check_construct_times(&times, 2), tasks[1].directive, 1);
}

static void test_a_construct_tree(void **state)
{
  (void)state;
  struct construct_row line = {.figures = {.count = 2}};
  struct construct_entry entries[] = {
      {.end = 2, .name = "all", .file = ""},
      {.end = 2, .depth = 1, .name = "a", .file = "", .lines = &line, .lines_count = 1, .sum = {.count = 2}}};
  struct construct_tree tree = {.entries = entries, .count = 2, .threads_count = 1};
  BREAKS(check_construct_tree(&tree), entries[1].parent, 1);
  BREAKS(check_construct_tree(&tree), entries[1].depth, 2);
  BREAKS(check_construct_tree(&tree), entries[1].end, 1);
  BREAKS(check_construct_tree(&tree), entries[0].end, 1);
  BREAKS(check_construct_tree(&tree), entries[1].sum.count, 3);
  BREAKS(check_construct_tree(&tree), line.thread, 1);
}

static void test_a_profile(void **state)
{
  (void)state;
  struct profile_process processes[2] = {{.usable = true}, {.usable = false}};
  struct profile profile = {.processes = processes, .processes_count = 2, .processes_usable = 1};
  BREAKS(check_profile(&profile), processes[0].usable, false);
  BREAKS(check_profile(&profile), processes[1].usable, true);
  BREAKS(check_profile(&profile), profile.processes_usable, 3);
}

static void fill(const void *context, const void *row, struct cell *cells)
{
  (void)context, (void)row, (void)cells;
}

static void test_a_table(void **state)
{
  (void)state;
  struct table_column columns[] = {{.name = "a"}, {.name = "b", .type = COLUMN_TEXT}};
  struct schema schema = SCHEMA(columns, fill);
  struct table table = {0};
  table_add(&table, &schema, NULL);
  table_select(&table, (const uint32_t[]){1}, 1);
  BREAKS(check_table(&table), columns[1].name, "a");
  BREAKS(check_table(&table), columns[0].passing, true);
  BREAKS(check_table(&table), columns[1].type, COLUMN_FILE);
  BREAKS(check_table(&table), table.selected[0], 2);
  BREAKS(check_table(&table), table.columns_count, 3);
  BREAKS(check_table(&table), table.parts[0].fill, NULL);
  table_release(&table);
}

/* ---- timelines ---- */

static struct timeline_interval intervals[] = {{.start_ns = 0, .end_ns = 5}, {.start_ns = 5, .end_ns = 9}};

static int each_interval(void *source, uint32_t lane, timeline_visit *visit, void *context)
{
  (void)source, (void)lane;
  int status = 0;
  for (size_t i = 0; i < 2 && !status; i++)
    status = visit(context, &intervals[i]);
  return status;
}

static void test_a_timeline(void **state)
{
  (void)state;
  struct timeline_lane lane = {.end_ns = 9};
  struct timeline timeline = {.lanes = &lane, .lanes_count = 1, .each = each_interval};
  BREAKS(check_timeline(&timeline), intervals[1].start_ns, 6);
  BREAKS(check_timeline(&timeline), intervals[0].end_ns, 0);
  BREAKS(check_timeline(&timeline), intervals[1].lane, 1);
  BREAKS(check_timeline(&timeline), intervals[1].category, TIMELINE_CATEGORIES);
  BREAKS(check_timeline(&timeline), lane.end_ns, 10);
}

static void test_a_graph_of_grains(void **state)
{
  (void)state;
  struct grain_node nodes[] = {{.exec = 2}, {.exec = 3}};
  struct grain_edge edge = {.from = 0, .to = 1, .count = 1};
  struct grain_graph graph = {
      .nodes = nodes, .nodes_count = 2, .edges = &edge, .edges_count = 1, .exec = 5, .longest = 4};
  BREAKS(check_grain_graph(&graph), edge.from, 1);
  BREAKS(check_grain_graph(&graph), edge.to, 2);
  BREAKS(check_grain_graph(&graph), edge.count, 0);
  BREAKS(check_grain_graph(&graph), graph.exec, 6);
  BREAKS(check_grain_graph(&graph), graph.longest, 6);
  BREAKS(check_grain_graph(&graph), nodes[1].kind, GRAIN_NODE_KINDS);
}

/* ---- the task graph ---- */

static void test_a_task_graph(void **state)
{
  (void)state;
  struct task_graph graph = {0};
  task_graph_init(&graph, 1);
  uint32_t parent = task_graph_task_new(&graph, task_graph_name(1, 1));
  uint32_t child = task_graph_task_new(&graph, task_graph_name(1, 2));
  task_graph_task(&graph, child)->parent = parent;
  task_graph_task(&graph, parent)->refs++;
  BREAKS(task_graph_check(&graph), task_graph_task(&graph, parent)->refs, 1);
  BREAKS(task_graph_check(&graph), task_graph_task(&graph, child)->parent, 0);
  BREAKS(task_graph_check(&graph), task_graph_task(&graph, child)->parent, child + 1); /* not in use */
  BREAKS(task_graph_check(&graph), task_graph_task(&graph, child)->flags, TASK_GRAPH_ENDED);
  BREAKS(task_graph_check(&graph), graph.tasks.names.count, 1);
  BREAKS(task_graph_check(&graph), graph.streams[0].task, child);
  task_graph_release(&graph);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_hash_map),
      cmocka_unit_test(test_contexts),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_construct_times),
      cmocka_unit_test(test_a_construct_tree),
      cmocka_unit_test(test_a_profile),
      cmocka_unit_test(test_a_table),
      cmocka_unit_test(test_a_timeline),
      cmocka_unit_test(test_a_graph_of_grains),
      cmocka_unit_test(test_a_task_graph),
  };
  return UNIT_RUN(argc, argv, "checks", tests, NULL, NULL);
}
