/* The worst contexts: which ones are found, and the causes that their figures suggest. */
#include "hpcprof-lite/analysis/causes.h"
#include "hpcprof-lite/report/verdict.h"
#include "hpcprof-lite/views/derived.h"
#include "tests/support/unit.h"

enum { WORK, OVERHEAD, LOCKWAIT, IDLENESS, COLUMNS };

static const struct tree_columns columns = {.count = COLUMNS,
                                            .samples = MODEL_NONE,
                                            .work = WORK,
                                            .overhead = OVERHEAD,
                                            .lockwait = LOCKWAIT,
                                            .idleness = IDLENESS};
static struct tree tree, flat;
static struct causes_finding worst[CAUSES_WORST];

static int begin(void **state)
{
  (void)state;
  return tree_init(&tree, COLUMNS, "run");
}

static int end(void **state)
{
  (void)state;
  tree_release(&tree);
  tree_release(&flat);
  return 0;
}

/* Adds a row for a function, or for another kind of context, with its own figures. */
static uint32_t row(uint32_t parent, enum tree_kind kind, uint32_t function, uint64_t work, uint64_t overhead,
                    uint64_t lockwait, uint64_t idleness)
{
  struct tree_row wanted = {
      .parent = parent, .kind = kind, .function = function, .module = MODEL_NONE, .name = "f", .file = ""};
  uint32_t added = tree_add(&tree, &wanted, NULL);
  assert_int_not_equal(added, MODEL_NONE);
  const uint64_t values[COLUMNS] = {work, overhead, lockwait, idleness};
  for (uint32_t i = 0; i < COLUMNS; i++)
    tree_value(&tree, added, i, values[i]);
  return added;
}

static uint32_t find(uint32_t column)
{
  struct tree_order order = {.columns = &columns};
  tree_inclusive(&tree);
  assert_int_equal(tree_finish(&tree, &order, false), 0);
  assert_int_equal(derived_flat(&tree, &columns, &flat, NULL), 0);
  assert_int_equal(tree_finish(&flat, &order, false), 0);
  return causes_worst(&tree, &flat, &columns, column, worst);
}

/* Returns the verdict on a function with an amount of idleness in a region whose other figures are given. */
static void expect_in_region(uint64_t work, uint64_t overhead, uint64_t idleness, enum causes_verdict verdict)
{
  begin(NULL);
  uint32_t region = row(row(0, ROW_FUNCTION, 1, 0, 0, 0, 0), ROW_PARALLEL, 2, work, 0, 0, 0);
  row(region, ROW_RUNTIME, MODEL_NONE, 0, overhead, 0, 0);
  row(region, ROW_FUNCTION, 3, 0, 0, 0, idleness);
  assert_int_equal(find(IDLENESS), 1);
  assert_int_equal(worst[0].verdict, verdict);
  assert_int_equal(tree.rows[worst[0].context].function, 3);
  end(NULL);
}

static void test_regions_are_judged_by_the_paper(void **state)
{
  (void)state;
  expect_in_region(700, 0, 300, CAUSES_IMBALANCE);
  expect_in_region(700, 70, 300, CAUSES_IMBALANCE);
  expect_in_region(300, 0, 700, CAUSES_INSUFFICIENT);
  expect_in_region(500, 200, 300, CAUSES_RETHINK);
  expect_in_region(800, 150, 50, CAUSES_COARSER);
  expect_in_region(950, 0, 50, CAUSES_MODERATE);
  expect_in_region(10, 9, 990, CAUSES_INSUFFICIENT); /* nothing would be gained by less overhead */
}

/* The same function inside and outside a region: the context with the most idleness decides. */
static void test_heaviest_context_decides(void **state)
{
  (void)state;
  uint32_t region = row(row(0, ROW_FUNCTION, 1, 0, 0, 0, 0), ROW_PARALLEL, 2, 600, 0, 0, 0);
  row(region, ROW_FUNCTION, 3, 0, 0, 0, 200);
  uint32_t serial = row(row(0, ROW_FUNCTION, 4, 0, 0, 0, 0), ROW_INLINED, 3, 0, 0, 0, 300);
  assert_int_equal(find(IDLENESS), 1);
  assert_int_equal(worst[0].cost_ns, 500);
  assert_int_equal(worst[0].context, serial);
  assert_int_equal(worst[0].verdict, CAUSES_SERIAL);
}

static void test_outside_regions(void **state)
{
  (void)state;
  row(0, ROW_FUNCTION, 1, 100, 0, 0, 300);
  row(0, ROW_RUNTIME, MODEL_NONE, 0, 100, 0, 200);
  row(row(0, ROW_PARTIAL, MODEL_NONE, 0, 0, 0, 0), ROW_FUNCTION, 2, 100, 0, 0, 100);
  assert_int_equal(find(IDLENESS), 3);
  assert_int_equal(worst[0].verdict, CAUSES_SERIAL);
  assert_int_equal(worst[1].verdict, CAUSES_RUNTIME);
  assert_int_equal(worst[2].verdict, CAUSES_UNKNOWN);
}

/* Waiting that no sample saw has no callers, for another reason than a stack that could not be unwound. */
static void test_waiting_without_samples(void **state)
{
  (void)state;
  struct tree_row wanted = {
      .kind = ROW_PARTIAL, .function = MODEL_NONE, .module = MODEL_NONE, .name = tree_unseen_waiting, .file = ""};
  uint32_t added = tree_add(&tree, &wanted, NULL);
  assert_int_not_equal(added, MODEL_NONE);
  tree_value(&tree, added, IDLENESS, 100);
  assert_int_equal(find(IDLENESS), 1);
  assert_int_equal(worst[0].context, added);
  assert_int_equal(worst[0].verdict, CAUSES_UNSEEN);
}

static void test_locks(void **state)
{
  (void)state;
  uint32_t region = row(0, ROW_PARALLEL, 1, 300, 0, 0, 0);
  row(region, ROW_FUNCTION, 2, 0, 0, 200, 500);
  assert_int_equal(find(LOCKWAIT), 1);
  assert_int_equal(worst[0].cost_ns, 200);
  assert_int_equal(worst[0].verdict, CAUSES_CONTENTION);
  end(NULL);
  begin(NULL);
  row(row(0, ROW_PARALLEL, 1, 100, 0, 0, 0), ROW_FUNCTION, 2, 0, 0, 200, 0);
  assert_int_equal(find(LOCKWAIT), 1);
  assert_int_equal(worst[0].verdict, CAUSES_LOCKED);
}

/* At most three, the largest first; none below 1 % of all time, and none if there is no idleness. */
static void test_the_worst_are_few(void **state)
{
  (void)state;
  static const uint64_t idle[] = {20, 400, 9, 100, 300};
  for (uint32_t i = 0; i < 5; i++)
    row(0, ROW_FUNCTION, i, i ? 0 : 171, 0, 0, idle[i]);
  assert_int_equal(find(LOCKWAIT), 0);
  tree_release(&flat);
  assert_int_equal(find(IDLENESS), 3);
  assert_int_equal(worst[0].cost_ns, 400);
  assert_int_equal(worst[1].cost_ns, 300);
  assert_int_equal(worst[2].cost_ns, 100);
  end(NULL);
  begin(NULL);
  row(0, ROW_FUNCTION, 1, 991, 0, 0, 0);
  row(0, ROW_FUNCTION, 2, 0, 0, 0, 9);
  assert_int_equal(find(IDLENESS), 0);
}

/* A suggestion stands in a line of 80 columns, indented by 4. */
static void test_suggestions_fit_a_line(void **state)
{
  (void)state;
  for (int verdict = CAUSES_SERIAL; verdict <= CAUSES_LOCKED; verdict++)
    for (uint32_t threads = 0; threads <= 65536; threads = threads ? threads * 2 : 1)
      for (int baseline = BASELINE_THREAD; baseline <= BASELINE_SHARED; baseline++) {
        struct totals totals = {.baseline = threads};
        struct report report = {.totals = &totals, .baseline = baseline};
        struct causes_finding finding = {.verdict = verdict};
        char text[VERDICT_TEXT_MAX];
        verdict_text(&report, &finding, text);
        assert_in_range(strlen(text), 10, 76);
      }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_regions_are_judged_by_the_paper),
      cmocka_unit_test_setup_teardown(test_heaviest_context_decides, begin, end),
      cmocka_unit_test_setup_teardown(test_outside_regions, begin, end),
      cmocka_unit_test_setup_teardown(test_waiting_without_samples, begin, end),
      cmocka_unit_test_setup_teardown(test_locks, begin, end),
      cmocka_unit_test_setup_teardown(test_the_worst_are_few, begin, end),
      cmocka_unit_test(test_suggestions_fit_a_line),
  };
  return UNIT_RUN(argc, argv, "causes", tests, NULL, NULL);
}
