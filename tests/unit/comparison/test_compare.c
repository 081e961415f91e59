/* Joining of the rows of two sides, and their figures. */
#include "hpcprof-lite/algorithms/compare.h"
#include "tests/support/unit.h"

#include <math.h>

enum { COLUMNS = 2, SAMPLES = 0, WORK = 1, RUNS_MAX = 4 };

static struct names names;
static struct tree runs[COMPARE_SIDES][RUNS_MAX];
static struct compare compare;
static struct catalog_module modules[] = {{.path = "/a/app", .build_id = {1}, .build_id_size = 1},
                                          {.path = "/b/app", .build_id = {2}, .build_id_size = 1}};

static uint32_t function(const char *name, const char *file, uint32_t line)
{
  struct names_function wanted = {.name = name, .raw = name, .file = file, .line = line, .module = MODEL_NONE};
  return names_function(&names, &wanted);
}

static uint32_t add(struct tree *tree, uint32_t parent, enum tree_kind kind, const char *name, const char *file,
                    uint32_t line)
{
  bool named = kind == ROW_FUNCTION || kind == ROW_INLINED;
  struct tree_row row = {.parent = parent,
                         .kind = kind,
                         .function = named ? function(name, file, line) : MODEL_NONE,
                         .module = tree == &runs[COMPARE_BASE][0] ? 0 : 1,
                         .name = name,
                         .file = names_file(&names, file),
                         .line = line};
  uint32_t number = tree_add(tree, &row, NULL);
  assert_int_not_equal(number, MODEL_NONE);
  return number;
}

static void value(struct tree *tree, uint32_t row, uint64_t samples)
{
  tree_value(tree, row, SAMPLES, samples);
  tree_value(tree, row, WORK, samples * 1000);
}

static int setup(void **state)
{
  (void)state;
  memset(&names, 0, sizeof names);
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (int i = 0; i < RUNS_MAX; i++)
      tree_init(&runs[side][i], COLUMNS, "program");
  compare_begin(&compare, COLUMNS, "program");
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (int i = 0; i < RUNS_MAX; i++)
      tree_release(&runs[side][i]);
  compare_release(&compare);
  names_release(&names);
  return 0;
}

/* Adds that many runs of each side, and joins the sides. */
static void join(uint32_t count, bool same_program)
{
  uint32_t functions[64], all_modules[] = {0, 1}, columns[] = {SAMPLES, WORK};
  for (uint32_t i = 0; i < 64; i++)
    functions[i] = i;
  struct compare_map map = {functions, all_modules, columns, &names, NULL, 0};
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (uint32_t i = 0; i < count; i++) {
      tree_inclusive(&runs[side][i]);
      compare_add(&compare, side, &runs[side][i], &map);
    }
  compare_join(&compare, &names, modules, same_program);
  compare_show(&compare, COMPARE_BASE);
}

static const struct compare_metric work = {
    .column = WORK, .inclusive = true, .basis = COMPARE_COUNTED, .sample = {1000, 1000}, .samples = SAMPLES};

/* The figure of the only row with that name and line. */
static struct compare_figure figure(const char *name, uint32_t line)
{
  uint32_t found = MODEL_NONE;
  for (uint32_t row = 0; row < compare.joined.count; row++) {
    if (strcmp(compare.joined.rows[row].name, name) != 0 || compare.joined.rows[row].line != line)
      continue;
    assert_int_equal(found, MODEL_NONE);
    found = row;
  }
  assert_int_not_equal(found, MODEL_NONE);
  return compare_row(&compare, found, &work);
}

static void expect(struct compare_figure figure, double base, double now)
{
  if (figure.base != base || figure.now != now)
    fail_msg("%g and %g are not %g and %g", figure.base, figure.now, base, now);
}

/* Functions are the same by name and file, wherever they stand and in whichever directory, inlined or not. */
static void test_functions_of_another_build(void **state)
{
  (void)state;
  struct tree *base = &runs[COMPARE_BASE][0], *now = &runs[COMPARE_NEW][0];
  uint32_t main_base = add(base, 0, ROW_FUNCTION, "main", "/a/p.c", 10);
  value(base, add(base, main_base, ROW_FUNCTION, "solve", "/a/p.c", 20), 100);
  value(base, add(base, main_base, ROW_FUNCTION, "help", "/a/one.c", 1), 30);
  value(base, add(base, main_base, ROW_FUNCTION, "help", "/a/two.c", 1), 40);
  value(base, add(base, main_base, ROW_FUNCTION, "gone", "/a/p.c", 40), 50);
  uint32_t main_now = add(now, 0, ROW_FUNCTION, "main", "/b/p.c", 13);
  value(now, add(now, main_now, ROW_INLINED, "solve", "/b/p.c", 33), 110);
  value(now, add(now, main_now, ROW_FUNCTION, "help", "/b/two.c", 5), 41);
  value(now, add(now, main_now, ROW_FUNCTION, "help", "/b/one.c", 6), 31);
  value(now, add(now, main_now, ROW_FUNCTION, "fresh", "/b/p.c", 40), 60);
  join(1, false);
  expect(figure("solve", 33), 100000, 110000);
  expect(figure("help", 5), 40000, 41000);
  expect(figure("help", 6), 30000, 31000);
  expect(figure("gone", 40), 50000, 0);
  expect(figure("fresh", 40), 0, 60000);
  expect(figure("main", 13), 220000, 242000);
  assert_int_equal(compare.joined.count, 7);
}

/* A function whose file one build does not know. */
static void test_files_that_are_not_known(void **state)
{
  (void)state;
  value(&runs[COMPARE_BASE][0], add(&runs[COMPARE_BASE][0], 0, ROW_FUNCTION, "solve", "", 0), 100);
  value(&runs[COMPARE_NEW][0], add(&runs[COMPARE_NEW][0], 0, ROW_FUNCTION, "solve", "/b/p.c", 3), 110);
  join(1, false);
  expect(figure("solve", 3), 100000, 110000);
  assert_int_equal(compare.joined.count, 2);
}

/* Regions that moved: by the distance from their function, also where one of them is missing. */
static void test_moved_regions(void **state)
{
  (void)state;
  struct tree *base = &runs[COMPARE_BASE][0], *now = &runs[COMPARE_NEW][0];
  uint32_t main_base = add(base, 0, ROW_FUNCTION, "main", "/a/p.c", 10);
  uint32_t main_now = add(now, 0, ROW_FUNCTION, "main", "/b/p.c", 13);
  value(base, add(base, main_base, ROW_PARALLEL, "region", "/a/p.c", 12), 1);
  value(base, add(base, main_base, ROW_PARALLEL, "region", "/a/p.c", 15), 2);
  value(base, add(base, main_base, ROW_PARALLEL, "region", "/a/p.c", 18), 3);
  value(now, add(now, main_now, ROW_PARALLEL, "region", "/b/p.c", 18), 20);
  value(now, add(now, main_now, ROW_PARALLEL, "region", "/b/p.c", 21), 30);
  join(1, false);
  expect(figure("region", 12), 1000, 0);
  expect(figure("region", 18), 2000, 20000);
  expect(figure("region", 21), 3000, 30000);
}

/* As many regions on both sides: in their order, whatever stands between them. */
static void test_regions_in_their_order(void **state)
{
  (void)state;
  struct tree *base = &runs[COMPARE_BASE][0], *now = &runs[COMPARE_NEW][0];
  value(base, add(base, 0, ROW_PARALLEL, "region", "/a/p.c", 40), 1);
  value(base, add(base, 0, ROW_PARALLEL, "region", "/a/p.c", 43), 2);
  value(now, add(now, 0, ROW_PARALLEL, "region", "/a/p.c", 43), 10);
  value(now, add(now, 0, ROW_PARALLEL, "region", "/a/p.c", 46), 20);
  join(1, false);
  expect(figure("region", 43), 1000, 10000);
  expect(figure("region", 46), 2000, 20000);
}

/* In one build, another line is another region. */
static void test_regions_of_one_build(void **state)
{
  (void)state;
  struct tree *base = &runs[COMPARE_BASE][0], *now = &runs[COMPARE_NEW][0];
  value(base, add(base, 0, ROW_PARALLEL, "region", "/a/p.c", 40), 1);
  value(base, add(base, 0, ROW_PARALLEL, "region", "/a/p.c", 43), 2);
  value(now, add(now, 0, ROW_PARALLEL, "region", "/a/p.c", 43), 10);
  value(now, add(now, 0, ROW_PARALLEL, "region", "/a/p.c", 46), 20);
  for (uint32_t row = 1; row < 3; row++)
    now->rows[row].module = 0;
  join(1, true);
  expect(figure("region", 40), 1000, 0);
  expect(figure("region", 43), 2000, 10000);
  expect(figure("region", 46), 0, 20000);
}

/* Lines are compared by their distance from the start of the function. */
static void test_lines(void **state)
{
  (void)state;
  struct tree *base = &runs[COMPARE_BASE][0], *now = &runs[COMPARE_NEW][0];
  uint32_t f = add(base, 0, ROW_FUNCTION, "f", "/a/p.c", 10), g = add(now, 0, ROW_FUNCTION, "f", "/a/p.c", 20);
  value(base, add(base, f, ROW_LINE, "p.c:12", "/a/p.c", 12), 1);
  value(base, add(base, f, ROW_LINE, "p.c:13", "/a/p.c", 13), 2);
  value(now, add(now, g, ROW_LINE, "p.c:23", "/a/p.c", 23), 20);
  value(now, add(now, g, ROW_LINE, "p.c:24", "/a/p.c", 24), 30);
  join(1, false);
  expect(figure("p.c:12", 12), 1000, 0);
  expect(figure("p.c:23", 23), 2000, 20000);
  expect(figure("p.c:24", 24), 0, 30000);
}

/* Means and variances over runs, in which a row may be missing. */
static void test_repeated_runs(void **state)
{
  (void)state;
  static const uint64_t samples[COMPARE_SIDES][3] = {{100, 104, 102}, {120, 124, 122}};
  for (int side = 0; side < COMPARE_SIDES; side++)
    for (int i = 0; i < 3; i++) {
      value(&runs[side][i], add(&runs[side][i], 0, ROW_FUNCTION, "f", "", 0), samples[side][i]);
      if (side && !i)
        value(&runs[side][i], add(&runs[side][i], 0, ROW_FUNCTION, "g", "", 0), 90);
    }
  join(3, true);
  struct compare_figure f = figure("f", 0), g = figure("g", 0);
  expect(f, 102000, 122000);
  struct significance_runs base = {102000, 4e6, 3}, now = {122000, 4e6, 3};
  assert_true(fabs(f.probability - significance_of_runs(&base, &now)) < 1e-12);
  assert_true(compare_is_significant(&f));
  expect(g, 0, 30000);
  base = (struct significance_runs){0, 0, 3};
  now = (struct significance_runs){30000, 2.7e9, 3};
  assert_true(fabs(g.probability - significance_of_runs(&base, &now)) < 1e-9);
}

/* Single runs: sampled figures by their counts, exact ones and those of few samples not at all. */
static void test_single_runs(void **state)
{
  (void)state;
  static const struct {
    const char *name;
    uint64_t base, now;
  } functions[] = {{"same", 1000, 1010}, {"slower", 1000, 1200}, {"few", 19, 0}, {"some", 90, 200}};
  for (size_t i = 0; i < 4; i++) {
    value(&runs[0][0], add(&runs[0][0], 0, ROW_FUNCTION, functions[i].name, "", 0), functions[i].base);
    value(&runs[1][0], add(&runs[1][0], 0, ROW_FUNCTION, functions[i].name, "", 0), functions[i].now);
  }
  join(1, true);
  struct compare_figure all[] = {figure("same", 0), figure("slower", 0), figure("few", 0)};
  struct significance_part part[] = {{1000, 1000, 2109}, {1200, 1200, 2410}};
  assert_true(fabs(all[1].probability - significance_of_parts(&part[0], &part[1])) < 1e-12);
  assert_true(fabs(figure("some", 0).probability - significance_of_counts(90, 200, 0.5)) < 1e-12);
  assert_true(isnan(all[2].probability));
  assert_int_equal(compare_correct(all, 3, sizeof *all), 2);
  assert_false(compare_is_significant(&all[0]));
  assert_true(compare_is_significant(&all[1]));
  assert_false(compare_is_significant(&all[2]));
  double one = 5, other = 50;
  struct compare_values base = {.values = &one, .runs = 1, .sample = 1},
                        now = {.values = &other, .runs = 1, .sample = 1};
  assert_true(isnan(compare_values(&base, &now, COMPARE_EXACT).probability));
}

/* Half as many samples for the same time are not a change. */
static void test_other_rates_of_sampling(void **state)
{
  (void)state;
  double time = 1;
  struct compare_values base = {.values = &time, .runs = 1, .sample = 0.005};
  struct compare_values now = {.values = &time, .runs = 1, .sample = 0.01};
  struct compare_figure figure = compare_values(&base, &now, COMPARE_COUNTED);
  assert_true(figure.probability > 0.9);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_functions_of_another_build, setup, teardown),
      cmocka_unit_test_setup_teardown(test_files_that_are_not_known, setup, teardown),
      cmocka_unit_test_setup_teardown(test_moved_regions, setup, teardown),
      cmocka_unit_test_setup_teardown(test_regions_in_their_order, setup, teardown),
      cmocka_unit_test_setup_teardown(test_regions_of_one_build, setup, teardown),
      cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
      cmocka_unit_test_setup_teardown(test_repeated_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_single_runs, setup, teardown),
      cmocka_unit_test(test_other_rates_of_sampling),
  };
  return UNIT_RUN(argc, argv, "compare", tests, NULL, NULL);
}
