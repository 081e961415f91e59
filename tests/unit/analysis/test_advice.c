/* Advice: which cause is found in the times of a region, and what it would gain. */
#include "hpcprof-lite/analysis/advice/advice.h"
#include "hpcprof-lite/analysis/advice/advice_nodes.h"
#include "tests/support/unit.h"

#include <math.h>

enum { REGION = 1, INNER, ENTRIES, THREADS = 2 };
static const uint64_t ms = 1000000;
static struct construct_entry entries[ENTRIES];
static struct construct_line lines[ENTRIES][THREADS];
static struct construct_tree constructs;
static struct profile_directive directives[2];
static struct construct_tasks tasks;
static struct profile_process process;
static struct profile profile;
static struct tree tree;
static struct tree_columns columns;
static struct advice_input input;
static struct advice advice;

/* A region of two threads with a construct in it: one works for 700 ms, the other one for 300 ms and waits. */
static int begin(void **state)
{
  (void)state;
  memset(entries, 0, sizeof entries);
  memset(lines, 0, sizeof lines);
  for (uint32_t i = 0; i < ENTRIES; i++) {
    entries[i] = (struct construct_entry){.parent = i ? i - 1 : MODEL_NONE,
                                          .end = ENTRIES,
                                          .depth = i,
                                          .region = i,
                                          .kind = i == REGION ? DIRECTIVE_PARALLEL : DIRECTIVE_FOR,
                                          .directive = i == INNER,
                                          .name = "f",
                                          .file = "a.c",
                                          .line = 10 * i,
                                          .threads = THREADS,
                                          .lines = lines[i],
                                          .lines_count = THREADS};
    lines[i][1].thread = 1;
  }
  entries[REGION].sum = (struct construct_figures){.count = 2, .executions = 1, .own_body = 0, .wait = 400 * ms};
  entries[INNER].sum = (struct construct_figures){.count = 2, .executions = 1, .own_body = 1000 * ms};
  lines[INNER][0].figures.own_body = 700 * ms;
  lines[INNER][1].figures.own_body = 300 * ms;
  lines[REGION][1].figures.wait = 400 * ms;
  constructs = (struct construct_tree){.entries = entries, .count = ENTRIES, .threads_count = THREADS};
  directives[1] = (struct profile_directive){.instances = 1, .iterations = 1000};
  tasks = (struct construct_tasks){.directive = 1};
  process = (struct profile_process){.usable = true, .cpus = 8, .threads_max = 2};
  profile = (struct profile){.processes = &process, .processes_count = 1};
  profile.workspan.known = true;
  profile.workspan.directives = directives;
  profile.workspan.directives_count = 2;
  columns = (struct tree_columns){.idleness = MODEL_NONE, .work = MODEL_NONE, .overhead = MODEL_NONE};
  input = (struct advice_input){.profile = &profile,
                                .tree = &tree,
                                .columns = &columns,
                                .constructs = &constructs,
                                .elapsed_ns = 1000 * ms,
                                .samples = 1000,
                                .openmp_wall_ns = 2000 * ms,
                                .threads = 2,
                                .efficiency = 0.5};
  return tree_init(&tree, 1, "run");
}

static int end(void **state)
{
  (void)state;
  advice_release(&advice);
  tree_release(&tree);
  return 0;
}

static void expect(enum advice_class class, double gain_s, uint32_t line)
{
  advice_release(&advice);
  assert_int_equal(advice_compute(&input, &advice), 0);
  assert_int_equal(advice.found[0].class, class);
  assert_int_equal(advice.found[0].line, line);
  assert_in_range((uint64_t)(advice.found[0].gain_s * 1e6 + 0.5), (uint64_t)(gain_s * 1e6),
                  (uint64_t)(gain_s * 1e6) + 1);
  assert_true(advice.found[0].low_s <= advice.found[0].gain_s && advice.found[0].gain_s <= advice.found[0].high_s);
}

/* The gain on eight cores, of the first finding. */
static void expect_more(double gain_s, bool least)
{
  assert_int_equal(advice.more_cores, 8);
  assert_true(fabs(advice.found[0].more_s - gain_s) < 1e-6);
  assert_int_equal(advice.found[0].more_least, least);
}

static void test_unequal_work(void **state)
{
  (void)state;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  expect_more(0.05, true);
  input.tool_ns = 140 * ms; /* a tenth of the region's 1400 ms: so much of the waiting is this tool's */
  expect(ADVICE_IMBALANCE, 0.18, 20);
  assert_string_equal(advice.found[0].confidence, "high");
  input.core_wait_ns = 300 * ms;
  expect(ADVICE_IMBALANCE, 0.18, 20);
  assert_string_equal(advice.found[0].confidence, "low");
  assert_int_equal(advice.found[advice.count - 1].class, ADVICE_UNFIT);
}

static void test_few_pieces(void **state)
{
  (void)state;
  directives[1].iterations = 3;
  expect(ADVICE_FEW_CHUNKS, 0.2, 20);
  expect_more(1.0 / 3 - 1.0 / 8, true); /* one third of 1 s instead of one eighth */
  directives[1].iterations = 8;         /* four for each thread */
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* In GCC's code, a region with a static loop has no loop. */
static void test_unseen_loop(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_BARRIER;
  entries[INNER].sum = (struct construct_figures){.count = 2, .executions = 1};
  entries[REGION].sum.own_body = 1000 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_null(strstr(advice.found[0].evidence, "collapse(2)"));
  profile.workspan.unseen = UNSEEN_INLINED;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_non_null(strstr(advice.found[0].evidence, "collapse(2)"));
}

/* A runtime that does not count the sections. */
static void test_sections(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_SECTIONS;
  expect(ADVICE_FEW_CHUNKS, 0.2, 20);
  entries[INNER].sum.chosen = 8;
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* One thread runs for 600 ms while the other one waits 400 ms of it. */
static void test_masked(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_MASKED;
  entries[INNER].sum.own_body = 300 * ms;
  expect(ADVICE_SERIAL, 0.15, 20); /* the master's time; the rest is another reason's */
  entries[INNER].sum.own_body = 600 * ms;
  expect(ADVICE_SERIAL, 0.2, 20);
  entries[INNER].sum.own_body = 200 * ms; /* not the most of it */
  expect(ADVICE_IMBALANCE, 0.2, 10);
}

/* The other thread waits as long in another phase. */
static void test_waiting_that_cancels_out(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_BARRIER;
  entries[INNER].sum = (struct construct_figures){.count = 4, .executions = 2, .wait = 400 * ms};
  entries[REGION].sum = (struct construct_figures){.count = 2, .executions = 1, .own_body = 1000 * ms};
  for (uint32_t i = 0; i < THREADS; i++) {
    lines[INNER][i].figures = (struct construct_figures){.wait = 200 * ms};
    lines[REGION][i].figures = (struct construct_figures){.own_body = 500 * ms};
  }
  expect(ADVICE_BARRIER, 0.2, 20);
  assert_true(advice.found[0].more_s < 0); /* not known */
  lines[REGION][0].figures.own_body = 700 * ms;
  lines[REGION][1].figures.own_body = 300 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

static void test_dependences(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_TASK;
  process.constructs.tasks = &tasks;
  process.constructs.tasks_count = 1;
  tasks.created = 10;
  tasks.dependent = 6;
  entries[REGION].directive = 1;
  profile.workspan.is_time = true;
  directives[1].work = 1000 * ms;
  directives[1].span = 800 * ms;
  expect(ADVICE_DEPENDENCES, 0.2, 10);
  expect_more(0.8 - 1.0 / 8, false);
  tasks.dependent = 5;
  advice_release(&advice);
  assert_int_equal(advice_compute(&input, &advice), 0);
  assert_int_not_equal(advice.found[0].class, ADVICE_DEPENDENCES);
}

static void test_locks(void **state)
{
  (void)state;
  entries[INNER].kind = DIRECTIVE_CRITICAL;
  entries[INNER].sum.enter = 600 * ms;
  entries[REGION].sum.wait = 0;
  entries[INNER].sum.body = 500 * ms;
  expect(ADVICE_CONTENTION, 0.3, 20);
  expect_more(0.5 - 1.0 / 8, true); /* one holder at a time, instead of the work of 1 s on eight cores */
}

static void sample(uint64_t work_ns, uint64_t overhead_ns)
{
  struct tree_row row = {.kind = ROW_PARALLEL, .name = "parallel", .file = "a.c", .line = 10};
  tree_release(&tree);
  assert_int_equal(tree_init(&tree, 2, "run"), 0);
  uint32_t at = tree_append(&tree, &row);
  columns.work = 0;
  columns.overhead = 1;
  tree_value(&tree, at, columns.work, work_ns);
  tree_value(&tree, at, columns.overhead, overhead_ns);
  tree_inclusive(&tree);
}

/* The runtime's time belongs to the handing out of iterations, or to the locks if these enter one each. */
static void test_many_entries(void **state)
{
  (void)state;
  struct construct_entry more[ENTRIES + 1];
  memcpy(more, entries, sizeof entries);
  more[ENTRIES] = entries[INNER];
  more[ENTRIES].parent = INNER;
  more[ENTRIES].region = ENTRIES;
  more[ENTRIES].kind = DIRECTIVE_CRITICAL;
  more[ENTRIES].line = 30;
  more[ENTRIES].lines_count = 0;
  more[ENTRIES].sum = (struct construct_figures){.count = 499, .enter = 60 * ms};
  more[0].end = more[REGION].end = more[INNER].end = more[ENTRIES].end = ENTRIES + 1;
  more[REGION].sum.wait = 0;
  constructs.entries = more;
  constructs.count = ENTRIES + 1;
  sample(400 * ms, 300 * ms);
  expect(ADVICE_CHUNK_OVERHEAD, 0.4, 20); /* between 300 and 500 ms of 1060 / 2 without the 30 for the lock */
  more[ENTRIES].sum.count = 501;
  expect(ADVICE_CONTENTION, 0.03, 30);
}

static void test_what_runs_outside(void **state)
{
  (void)state;
  struct profile_thread thread = {.blocked_ns = 400 * ms};
  entries[REGION].sum.wait = 0;
  input.serial_s = 0.3;
  expect(ADVICE_SERIAL, 0.3, 0);
  expect_more(0.6 * 7 / 8, false);
  process.threads = &thread;
  process.threads_count = 1;
  expect(ADVICE_BLOCKING, 0.4, 0); /* half of it was in the serial part's loss */
  assert_int_equal(advice.found[1].class, ADVICE_SERIAL);
  assert_in_range((uint64_t)(advice.found[1].gain_s * 1e6 + 0.5), 100000, 100001);
}

/* What is blocked for longer than everything else takes can only be hidden in part. */
static void test_long_blocking(void **state)
{
  (void)state;
  struct profile_thread thread = {.blocked_ns = 800 * ms};
  process.threads = &thread;
  process.threads_count = 1;
  entries[REGION].sum.wait = 0;
  expect(ADVICE_BLOCKING, 0.2, 0);
  assert_in_range((uint64_t)(advice.found[0].high_s * 1e6 + 0.5), 800000, 800001);
}

static void test_missing_cores(void **state)
{
  (void)state;
  input.core_wait_ns = 210 * ms; /* so long another thread may wait: 105 ms of elapsed time */
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_in_range((uint64_t)(advice.found[0].low_s * 1e6 + 0.5), 55000, 55001);
  input.core_wait_ns = 1000 * ms;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_true(advice.found[0].low_s == 0);
}

static void test_more_threads_than_cores(void **state)
{
  (void)state;
  struct profile_thread thread = {.run_delay_ns = 500 * ms, .cpu_ns = 600 * ms};
  process.threads = &thread;
  process.threads_count = 1;
  process.threads_max = 2;
  process.cpus = 1;
  input.work_ns = 700 * ms;
  expect(ADVICE_OVERSUBSCRIPTION, 0.3, 0);
  assert_int_equal(advice.count, 1); /* a thread that waits leaves its core to the other one */
  thread.cpu_ns = 400 * ms;          /* less than one ready at a time: others took the core */
  expect(ADVICE_IMBALANCE, 0.2, 20);
}

/* Iterations of 10 ns, for each of which this tool takes 50 ns. */
static void test_chunks_that_only_this_tool_sees(void **state)
{
  (void)state;
  struct profile_thread thread = {.cpu_ns = 1200 * ms};
  process.threads = &thread;
  process.threads_count = 1;
  directives[1].iterations = 20000000;
  input.tool_ns = 1000 * ms; /* of the region's 1400 ms: two sevenths are left of the loop's 500 ms on each thread */
  input.samples = 5;
  entries[REGION].sum.wait = 0;
  entries[INNER].sum.own_body = 1400 * ms;
  expect(ADVICE_CHUNK_OVERHEAD, 0.2, 20);
  assert_string_equal(advice.found[0].confidence, "low");
  expect_more(0.05, true);
  input.tool_ns = 300 * ms; /* less than the program needs */
  advice_release(&advice);
  assert_int_equal(advice_compute(&input, &advice), 0);
  assert_int_not_equal(advice.found[0].class, ADVICE_CHUNK_OVERHEAD);
}

/* A schedule of the graph tells that a quarter of the waiting is avoidable, then nothing of it. */
static void test_a_forecast_from_the_graph(void **state)
{
  (void)state;
  expect(ADVICE_IMBALANCE, 0.2, 20);
  assert_string_equal(advice_basis(&advice.found[0]), "times");
  advice_enter(&advice, &advice.found[0], 0.05);
  assert_int_equal(advice_rank(&input, &advice), 0);
  assert_string_equal(advice_basis(&advice.found[0]), "graph");
  assert_true(fabs(advice.found[0].gain_s - 0.05) < 1e-9 && fabs(advice.found[0].low_s - 0.04) < 1e-9);
  expect_more(0.0125, true);
  advice_enter(&advice, &advice.found[0], 3); /* no more than the threads wait */
  assert_true(fabs(advice.found[0].gain_s - 0.05) < 1e-9);
  advice_enter(&advice, &advice.found[0], -1);
  assert_int_equal(advice_rank(&input, &advice), 0);
  assert_int_equal(advice.count, 1);
  assert_int_equal(advice.found[0].class, ADVICE_NONE);
  assert_non_null(strstr(advice.found[0].evidence, "'hpcrun-lite --scaling 1,2 PROGRAM'"));
}

static void test_what_a_change_applies_to(void **state)
{
  (void)state;
  bool selected[2] = {false};
  expect(ADVICE_IMBALANCE, 0.2, 20);
  advice_select(&constructs, &advice.found[0], selected);
  assert_true(selected[1]); /* the loop */
  selected[0] = selected[1] = false;
  entries[INNER].kind = DIRECTIVE_SINGLE;
  advice_select(&constructs, &advice.found[0], selected);
  assert_true(selected[0] && !selected[1]);
  advice.found[0].class = ADVICE_CREATION;
  advice_select(&constructs, &advice.found[0], selected);
  assert_true(selected[1]);
  selected[0] = selected[1] = false;
  advice.found[0].region = INNER;
  advice_select(&constructs, &advice.found[0], selected);
  assert_true(!selected[0] && !selected[1]);
}

/* 30 tasks of 4 ms on node 0, 20 of 6 ms on node 2, 19 of 9 ms, which are too few, on node 1. */
static void test_tasks_far_from_their_data(void **state)
{
  (void)state;
  static struct advice_node nodes[2 * ADVICE_NODES_MAX];
  static const uint32_t node[] = {0, 2, 1}, count[] = {30, 20, 19};
  static const double exec_s[] = {4e-3, 6e-3, 9e-3};
  memset(nodes, 0, sizeof nodes);
  for (int i = 0; i < 3; i++)
    for (uint32_t j = 0; j < count[i]; j++)
      advice_node_add(&nodes[ADVICE_NODES_MAX + node[i]], exec_s[i]);
  entries[REGION].sum.wait = 0;
  entries[INNER].kind = CONSTRUCT_TASK_EXEC;
  expect(ADVICE_NONE, 0, 0);
  advice_nodes_find(&input, nodes, &advice);
  assert_int_equal(advice_rank(&input, &advice), 0);
  assert_int_equal(advice.count, 1);
  assert_int_equal(advice.found[0].class, ADVICE_LOCALITY);
  assert_true(fabs(advice.found[0].gain_s - 0.02) < 1e-9); /* 20 x 2 ms on two threads */
  assert_int_equal(advice.found[0].line, 20);
  assert_string_equal(advice.found[0].confidence, "low");
  assert_string_equal(advice_basis(&advice.found[0]), "graph");
  for (int i = 0; i < 10; i++) /* then the difference may be chance */
    advice_node_add(&nodes[ADVICE_NODES_MAX + i % 3], i % 2 ? 0.1 : 0);
  advice_release(&advice);
  assert_int_equal(advice_compute(&input, &advice), 0);
  advice_nodes_find(&input, nodes, &advice);
  assert_int_equal(advice.found[0].class, ADVICE_NONE);
}

static void test_nothing(void **state)
{
  (void)state;
  entries[REGION].sum.wait = 15 * ms; /* below 1 % */
  expect(ADVICE_NONE, 0, 0);
  constructs.count = 0;
  input.threads = 0;
  expect(ADVICE_UNFIT, 0, 0);
  assert_true(advice.unfit_first);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_unequal_work, begin, end),
      cmocka_unit_test_setup_teardown(test_few_pieces, begin, end),
      cmocka_unit_test_setup_teardown(test_unseen_loop, begin, end),
      cmocka_unit_test_setup_teardown(test_sections, begin, end),
      cmocka_unit_test_setup_teardown(test_masked, begin, end),
      cmocka_unit_test_setup_teardown(test_waiting_that_cancels_out, begin, end),
      cmocka_unit_test_setup_teardown(test_dependences, begin, end),
      cmocka_unit_test_setup_teardown(test_locks, begin, end),
      cmocka_unit_test_setup_teardown(test_many_entries, begin, end),
      cmocka_unit_test_setup_teardown(test_what_runs_outside, begin, end),
      cmocka_unit_test_setup_teardown(test_long_blocking, begin, end),
      cmocka_unit_test_setup_teardown(test_missing_cores, begin, end),
      cmocka_unit_test_setup_teardown(test_more_threads_than_cores, begin, end),
      cmocka_unit_test_setup_teardown(test_chunks_that_only_this_tool_sees, begin, end),
      cmocka_unit_test_setup_teardown(test_a_forecast_from_the_graph, begin, end),
      cmocka_unit_test_setup_teardown(test_what_a_change_applies_to, begin, end),
      cmocka_unit_test_setup_teardown(test_tasks_far_from_their_data, begin, end),
      cmocka_unit_test_setup_teardown(test_nothing, begin, end),
  };
  return UNIT_RUN(argc, argv, "advice", tests, NULL, NULL);
}
