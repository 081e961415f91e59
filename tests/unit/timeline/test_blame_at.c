/* Which context was to blame at a moment: the innermost context that most samples of the others fell into. */
#include "hpcprof-lite/timeline/blame_at.h"
#include "tests/support/unit.h"

/* main calls setup and solve; solve calls kernel, which calls inner and other. */
enum { MAIN, SETUP, SOLVE, KERNEL, INNER, OTHER, ROWS };

static struct tree_row rows[ROWS] = {
    [MAIN] = {.parent = MODEL_NONE},          [SETUP] = {.parent = MAIN, .depth = 1},
    [SOLVE] = {.parent = MAIN, .depth = 1},   [KERNEL] = {.parent = SOLVE, .depth = 2},
    [INNER] = {.parent = KERNEL, .depth = 3}, [OTHER] = {.parent = KERNEL, .depth = 3},
};
static const struct tree tree = {.rows = rows, .count = ROWS};
static struct blame_at blame;
static struct blame_at_counts counts;

static void add(uint64_t ns, uint32_t thread, uint32_t row)
{
  blame_at_add(&blame, (struct blame_sample){ns, thread, row});
}

static void sort(void)
{
  blame_at_sort(&blame, &tree);
  blame_at_counts_init(&blame, &counts);
}

static uint32_t worst(uint64_t from, uint64_t to, uint32_t waiter, uint32_t holder)
{
  return blame_at_worst(&blame, &counts, from, to, waiter, holder);
}

static int end(void **state)
{
  (void)state;
  blame_at_counts_release(&counts);
  blame_at_release(&blame);
  return 0;
}

static void test_the_innermost_context_of_most_samples(void **state)
{
  (void)state;
  add(30, 2, OTHER);
  add(10, 2, INNER);
  add(20, 2, INNER);
  add(40, 3, SETUP);
  sort();
  assert_int_equal(worst(0, 25, 1, 0), INNER);
  assert_int_equal(worst(0, 35, 1, 0), INNER);   /* two of three */
  assert_int_equal(worst(20, 35, 1, 0), KERNEL); /* one each */
  assert_int_equal(worst(30, 50, 1, 0), MAIN);
  assert_int_equal(worst(0, 100, 1, 0), KERNEL); /* three of four */
  assert_int_equal(worst(0, 100, 1, 0), KERNEL); /* nothing is left of what was counted before */
}

static void test_the_interval_is_half_open(void **state)
{
  (void)state;
  add(10, 2, INNER);
  add(20, 2, SETUP);
  sort();
  assert_int_equal(worst(10, 20, 1, 0), INNER);
  assert_int_equal(worst(11, 20, 1, 0), MODEL_NONE);
  assert_int_equal(worst(11, 21, 1, 0), SETUP);
  assert_int_equal(worst(20, UINT64_MAX, 1, 0), SETUP);
  assert_int_equal(worst(20, 20, 1, 0), MODEL_NONE);
}

static void test_threads_to_blame(void **state)
{
  (void)state;
  add(10, 1, SETUP); /* of the thread that waits */
  add(11, 2, INNER);
  add(12, 3, OTHER);
  add(13, 3, MODEL_NONE); /* its context is not known */
  add(14, 3, ROWS);
  sort();
  assert_int_equal(worst(0, 20, 1, 0), KERNEL);
  assert_int_equal(worst(0, 20, 2, 0), MAIN);
  assert_int_equal(worst(0, 20, 1, 2), INNER);
  assert_int_equal(worst(0, 20, 1, 3), OTHER);
  assert_int_equal(worst(0, 20, 1, 4), MODEL_NONE);
  assert_int_equal(worst(13, 20, 1, 3), MODEL_NONE);
}

static void test_no_samples(void **state)
{
  (void)state;
  sort();
  assert_int_equal(worst(0, UINT64_MAX, 1, 0), MODEL_NONE);
}

/* Memory is bounded, and so is the time to ask; the shares of threads, contexts and times stay. */
static void test_more_samples_than_are_kept(void **state)
{
  enum { SAMPLES = 11 << 20, KEPT = 4 << 20 };
  (void)state;
  uint32_t seed = 1;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    seed = seed * 1664525 + 1013904223;
    add(i, 2 + (seed >> 16) % 2, i >= SAMPLES / 2 ? SETUP : (seed >> 20) % 10 < 7 ? INNER : OTHER);
  }
  sort();
  assert_true(blame.count <= KEPT && blame.count > KEPT / 4);
  assert_int_equal(worst(0, SAMPLES / 2, 1, 0), INNER);
  assert_int_equal(worst(0, SAMPLES / 2, 1, 3), INNER);
  assert_int_equal(worst(SAMPLES / 2, SAMPLES, 1, 2), SETUP);
  assert_int_equal(worst(SAMPLES / 4, SAMPLES, 1, 0), SETUP);
  uint64_t early = 0;
  for (size_t i = 0; i < blame.count; i++)
    early += blame.samples[i].ns < SAMPLES / 2;
  assert_true(early * 100 > blame.count * 49 && early * 100 < blame.count * 51);
}

/* Threads divide the memory of their process.  Of one with more samples than that, as many are kept as of others. */
static void test_parts_of_threads(void **state)
{
  enum { THREADS = 8192, LEAST = 1024, FEW = 3 };
  struct blame_at *parts = calloc(THREADS, sizeof *parts);
  (void)state;
  assert_non_null(parts);
  blame_at_divide(parts, THREADS);
  for (uint32_t i = 0; i < 4 * LEAST; i++) {
    blame_at_add(&parts[0], (struct blame_sample){i, 2, INNER});
    if (i % 4 == 0)
      blame_at_add(&parts[1], (struct blame_sample){i, 3, OTHER});
    assert_true(parts[0].count <= LEAST);
  }
  unsigned halved = parts[0].halved;
  assert_true(parts[0].count << halved == 4 * LEAST && parts[1].count == LEAST);
  blame_at_join(&blame, parts, THREADS);
  assert_int_equal(blame.count, (4 * LEAST + LEAST) >> halved);
  blame_at_divide(parts, FEW);
  assert_int_equal(parts[0].most, 1 << 20);
  blame_at_divide(parts, 0); /* a process without threads */
  blame_at_divide(parts, 1);
  assert_int_equal(parts[0].most, 4 << 20);
  free(parts);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_the_innermost_context_of_most_samples, end),
      cmocka_unit_test_teardown(test_the_interval_is_half_open, end),
      cmocka_unit_test_teardown(test_threads_to_blame, end),
      cmocka_unit_test_teardown(test_no_samples, end),
      cmocka_unit_test_teardown(test_more_samples_than_are_kept, end),
      cmocka_unit_test_teardown(test_parts_of_threads, end),
  };
  return UNIT_RUN(argc, argv, "blame_at", tests, NULL, NULL);
}
