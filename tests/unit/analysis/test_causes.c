/* The contexts that cause most waiting. */
#include "hpcprof-lite/analysis/causes.h"
#include "hpcprof-lite/views/derived.h"
#include "tests/support/unit.h"

enum { WORK, OVERHEAD, LOCKWAIT, IDLENESS, COLUMNS };

static const struct tree_columns columns = {.count = COLUMNS,
                                            .samples = MODEL_NONE,
                                            .work = WORK,
                                            .overhead = OVERHEAD,
                                            .lockwait = LOCKWAIT,
                                            .idleness = IDLENESS,
                                            .mpi = MODEL_NONE};
static struct tree tree, flat;
static struct causes_finding worst[CAUSES_WORST];

static int begin(void **state)
{
  (void)state;
  tree_init(&tree, COLUMNS, "run");
  return 0;
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
  tree_finish(&tree, &order, false);
  derived_flat(&tree, &columns, &flat, NULL);
  tree_finish(&flat, &order, false);
  return causes_worst(&tree, &flat, &columns, column, worst);
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
}

static void test_outside_regions(void **state)
{
  (void)state;
  row(0, ROW_FUNCTION, 1, 100, 0, 0, 300);
  row(0, ROW_RUNTIME, MODEL_NONE, 0, 100, 0, 200);
  row(row(0, ROW_PARTIAL, MODEL_NONE, 0, 0, 0, 0), ROW_FUNCTION, 2, 100, 0, 0, 100);
  assert_int_equal(find(IDLENESS), 3);
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
}

static void test_locks(void **state)
{
  (void)state;
  uint32_t region = row(0, ROW_PARALLEL, 1, 300, 0, 0, 0);
  row(region, ROW_FUNCTION, 2, 0, 0, 200, 500);
  assert_int_equal(find(LOCKWAIT), 1);
  assert_int_equal(worst[0].cost_ns, 200);
  end(NULL);
  begin(NULL);
  row(row(0, ROW_PARALLEL, 1, 100, 0, 0, 0), ROW_FUNCTION, 2, 0, 0, 200, 0);
  assert_int_equal(find(LOCKWAIT), 1);
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

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_heaviest_context_decides, begin, end),
      cmocka_unit_test_setup_teardown(test_outside_regions, begin, end),
      cmocka_unit_test_setup_teardown(test_waiting_without_samples, begin, end),
      cmocka_unit_test_setup_teardown(test_locks, begin, end),
      cmocka_unit_test_setup_teardown(test_the_worst_are_few, begin, end),
  };
  return UNIT_RUN(argc, argv, "causes", tests, NULL, NULL);
}
