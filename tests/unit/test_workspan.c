/* Work, span, critical path, scenarios and speedup, compared with their closed forms. */
#include "hpcprof-lite/analysis/speedup.h"
#include "hpcprof-lite/analysis/whatif.h"
#include "hpcprof-lite/analysis/workspan.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/views/construct_names.h"
#include "hpcprof-lite/views/derived.h"
#include "hpcprof-lite/views/symbolize.h"
#include "hpcprof-lite/views/topdown.h"
#include "tests/support/compose_measurement.h"
#include "tests/support/unit.h"

#include <math.h>

enum { FILES_MAX = 3 };

static char paths[FILES_MAX][64];
static uint32_t files;
static struct compose compose;

/* The data of a report, as the program makes it. */
static struct profile profile;
static struct names names;
static struct tree_columns columns;
static struct tree tree, flat;
static uint32_t *row_of;
static struct whatif_run run = {&profile, &names, &tree, NULL};

static void begin(uint32_t pid, const char *unit, uint64_t span)
{
  compose_begin(&compose, COMPOSE_PACKED, pid, "./app");
  compose.process.work_unit = compose_string(&compose, unit);
  compose.process.span = compose.process.span_burdened = span;
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "work", "ns", FORMAT_ROLE_WORK, 1000);
  compose_module(&compose, "/nowhere/app", FORMAT_MODULE_MAIN);
}

static uint32_t frame(uint32_t parent, uint32_t offset)
{
  return compose_frame(&compose, parent, offset, 1, 1000);
}

static void save(uint64_t work)
{
  compose.thread.work = work;
  compose_thread(&compose, 1);
  compose_end(&compose);
  snprintf(paths[files], sizeof paths[files], "/tmp/hpcrun-lite-parallelism-%d-%u.hpcrun", (int)getpid(), files);
  assert_true(compose_write(&compose, paths[files++]));
}

/* Merges the saved files and makes the input of the analyses. */
static void analyse(void)
{
  char *all[FILES_MAX];
  for (uint32_t i = 0; i < files; i++)
    all[i] = paths[i];
  assert_int_equal(merge_files(all, files, 2, BASELINE_THREAD, NULL, &profile), 0);
  tree_columns_init(&profile.catalog, &columns);
  row_of = calloc((size_t)profile.contexts.count + profile.workspan.directives_count + 1, sizeof *row_of);
  run.row_of = row_of;
  struct tree_order order = {.columns = &columns};
  symbolize(&profile, NULL, 1, &names);
  topdown_build(&profile, &names, &columns, "run", (struct topdown_choice){0}, &tree, row_of);
  topdown_critical_path(&profile, &names, &columns, &tree, row_of);
  tree_inclusive(&tree);
  tree_finish(&tree, &order, false);
  construct_names(&profile, &tree, &names);
  derived_flat(&tree, &columns, &flat, NULL);
  tree_finish(&flat, &order, false);
}

static int end(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < files; i++)
    unlink(paths[i]);
  files = 0;
  tree_release(&flat);
  tree_release(&tree);
  symbolize_release(&names);
  profile_release(&profile);
  free(row_of);
  row_of = NULL;
  return 0;
}

static uint64_t critical(uint32_t offset)
{
  char name[32];
  snprintf(name, sizeof name, "app+0x%x", offset);
  uint64_t sum = 0;
  for (uint32_t row = 1; row < tree.count; row++)
    if (!strcmp(tree.rows[row].name, name))
      sum += tree_excl(&tree, row, columns.critical);
  return sum;
}

/* The part of a construct without samples is divided in proportion, exact to the last unit. */
static void test_parts_without_a_context_are_spread_exactly(void **state)
{
  (void)state;
  for (uint64_t extra = 0; extra < 50; extra += 7) {
    begin(1, "units", 3 + 5 + 11 + extra + 4);
    uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x100, 1, 100, 20);
    uint32_t other = compose_directive(&compose, FORMAT_DIRECTIVE_SINGLE, 1, 0x200, 1, 4, 4);
    compose_contribution(&compose, loop, 1, frame(0, 0x10), 3);
    compose_contribution(&compose, loop, 0, 0, extra);
    compose_contribution(&compose, loop, 1, frame(0, 0x20), 5);
    compose_contribution(&compose, loop, 1, frame(0, 0x30), 11);
    compose_contribution(&compose, other, 0, 0, 4);
    save(100);
    analyse();
    uint64_t a = critical(0x10), b = critical(0x20), c = critical(0x30);
    assert_int_equal(a + b + c, 19 + extra);
    assert_true(fabs((double)a - 3 - (double)extra * 3 / 19) <= 1 && fabs((double)b - 5 - (double)extra * 5 / 19) <= 1);
    assert_int_equal(tree_incl(&tree, 0, columns.critical), profile.workspan.span);
    end(NULL);
  }
}

/* fib(12) with tasks down to 4: work 465, span 14.  The part of the span that no construct has belongs to the
 * program. */
static void test_constructs_sum_to_the_span(void **state)
{
  (void)state;
  struct workspan workspan;
  begin(1, "units", 14);
  uint32_t task = compose_directive(&compose, FORMAT_DIRECTIVE_TASK, 1, 0x100, 5, 457, 45);
  uint32_t single = compose_directive(&compose, FORMAT_DIRECTIVE_SINGLE, 1, 0x200, 1, 465, 14);
  compose_contribution(&compose, task, 1, frame(0, 0x10), 11);
  compose_contribution(&compose, single, 1, frame(0, 0x20), 1);
  save(465);
  analyse();
  workspan_compute(&profile, &names, &tree, NULL, &workspan);
  workspan_find_top(row_of, tree.count, &workspan);
  assert_int_equal(workspan.count, 3);
  assert_string_equal(workspan.rows[0].kind, "program");
  assert_int_equal(workspan.rows[0].critical, 2);
  assert_string_equal(workspan.rows[1].kind, "task");
  assert_int_equal(workspan.rows[1].critical, 11);
  assert_int_equal(workspan.rows[2].critical, 1);
  assert_string_equal(workspan.top.kind, "task");
  assert_string_equal(tree.rows[workspan.top_context].name, "app+0x10");
  assert_int_equal(tree_excl(&tree, 0, columns.critical), 2);
  assert_true(fabs(workspan_parallelism(workspan.work, workspan.span) - 465.0 / 14) < 1e-12);
  workspan_release(&workspan);
}

/* Work is added up, the span is that of the longest process; the same construct in all of them is one row. */
static void test_processes_work_side_by_side(void **state)
{
  (void)state;
  const uint64_t spans[] = {40, 70, 60};
  for (uint32_t i = 0; i < 3; i++) {
    begin(i, i == 2 ? "cycles" : "units", spans[i]);
    compose.process.threads_max = 2;
    uint32_t other = i ? compose_directive(&compose, FORMAT_DIRECTIVE_TASK, 1, 0x300, 1, 1, 1) : 0;
    uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x100, 1, 100, 20 + i);
    compose_contribution(&compose, loop, 1, frame(0, 0x10 * (i + 1)), spans[i] - (other != 0));
    if (other)
      compose_contribution(&compose, other, 0, 0, 1);
    save(100 * (i + 1));
  }
  analyse();
  assert_int_equal(profile.workspan.work, 300); /* the third counts something else */
  assert_int_equal(profile.workspan.span, 70);
  assert_int_equal(profile.span_processes, 2);
  assert_int_equal(profile.span_threads, 4);
  assert_int_equal(profile.processes[profile.span_process].pid, 1);
  assert_int_equal(profile.workspan.directives_count, 3);
  assert_int_equal(profile.workspan.directives[1].work, 200);
  assert_int_equal(profile.workspan.directives[1].span, 41);
  assert_int_equal(critical(0x20), 69);
  assert_int_equal(critical(0x10), 0);
}

/* The lower bound of the span when the selected code is faster. */
static double shortest(const char *text)
{
  struct scenario scenario;
  struct whatif whatif;
  const char *wrong, *unmatched;
  assert_int_equal(scenario_parse(text, &scenario, &wrong), 0);
  assert_int_equal(whatif_compute(&run, &scenario, 1, &whatif, &unmatched), 0);
  double span = whatif.rows[0].span_low;
  whatif_release(&whatif);
  scenario_release(&scenario);
  return span;
}

/* c = 100 in f: 60 of them in g that f calls, 30 in g called from another function, 10 in a user region without a
 * context. */
static void test_a_scenario_shortens_what_it_covers(void **state)
{
  (void)state;
  begin(1, "units", 140);
  uint32_t region = compose_directive(&compose, FORMAT_DIRECTIVE_USER_REGION, 0, 0, 1, 10, 10);
  compose.directives[region].name = compose_string(&compose, "phase");
  uint32_t f = frame(0, 0x10), g = frame(f, 0x20), elsewhere = frame(frame(0, 0x30), 0x20);
  compose_contribution(&compose, 0, 1, f, 40);
  compose_contribution(&compose, 0, 1, g, 60);
  compose_contribution(&compose, 0, 1, elsewhere, 30);
  compose_contribution(&compose, region, 0, 0, 10);
  save(1000);
  analyse();
  const struct {
    const char *scenario;
    double span;
  } expected[] = {{"app+0x10=1", 140},
                  {"app+0x10=2", 140 - 100 * (1 - 1 / 2.0)},
                  {"app+0x20=3", 140 - 90 * (1 - 1 / 3.0)},
                  {"app+0x10=2,app+0x20=5", 140 - 40 * (1 - 1 / 2.0) - 90 * (1 - 1 / 5.0)},
                  {"app+0x20=2,app+0x10=5", 140 - 100 * (1 - 1 / 5.0) - 30 * (1 - 1 / 2.0)},
                  {"@phase=4", 140 - 10 * (1 - 1 / 4.0)},
                  {"#0=7,@phase=2", 140 / 7.0}};
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    if (fabs(shortest(expected[i].scenario) - expected[i].span) > 1e-9)
      fail_msg("%s: %g instead of %g", expected[i].scenario, shortest(expected[i].scenario), expected[i].span);
}

/* Most of the work of g is its own; f has less than half of that with g; h runs only below g. */
static void test_suggestions_are_not_nested(void **state)
{
  (void)state;
  struct whatif whatif;
  begin(1, "units", 1000);
  uint32_t f = frame(0, 0x10), g = frame(f, 0x20), h = frame(g, 0x30), k = frame(f, 0x40), rare = frame(f, 0x50);
  compose_contribution(&compose, 0, 1, f, 100);
  compose_contribution(&compose, 0, 1, g, 400);
  compose_contribution(&compose, 0, 1, h, 200);
  compose_contribution(&compose, 0, 1, k, 295);
  compose_contribution(&compose, 0, 1, rare, 5);
  save(5000);
  analyse();
  whatif_rank(&run, &flat, &columns, NULL, 0, &whatif);
  whatif_choose(&run, &whatif);
  assert_int_equal(whatif.count, 3);
  assert_string_equal(whatif.rows[0].selector, "app+0x20");
  assert_true(fabs(whatif.rows[0].span_low - (1000 - 600 * 15 / 16.0)) < 1e-9);
  assert_string_equal(whatif.rows[1].selector, "app+0x40");
  assert_string_equal(whatif.rows[2].selector, "app+0x20,app+0x40");
  assert_true(fabs(whatif.rows[2].span_low - (1000 - 895 * 15 / 16.0)) < 1e-9);
  whatif_release(&whatif);
}

static void test_scenarios_are_parsed(void **state)
{
  (void)state;
  struct scenario scenario;
  const char *wrong;
  assert_int_equal(scenario_parse("f<int, 4>(a)=2,operator==(x, y)=1.5,a.c:3-9=1e2,#7=16", &scenario, &wrong), 0);
  assert_int_equal(scenario.count, 4);
  assert_string_equal(scenario.terms[0].text, "f<int, 4>(a)");
  assert_string_equal(scenario.terms[1].text, "operator==(x, y)");
  assert_true(scenario.terms[1].factor == 1.5 && scenario.terms[2].factor == 100);
  assert_true(scenario.terms[2].selector.is_lines && scenario.terms[2].selector.to == 9);
  assert_true(scenario.terms[3].selector.is_id && scenario.terms[3].selector.id == 7);
  scenario_release(&scenario);
  assert_int_equal(scenario_parse("copy-to-device=3,copy-from-device:d/a.c:3-5=2,copy-to-devices=2", &scenario, &wrong),
                   0);
  const struct selector *all = &scenario.terms[0].selector, *some = &scenario.terms[1].selector;
  assert_true(selector_matches_copy(all, CONSTRUCT_COPY_TO_DEVICE, "a.c", 1));
  assert_false(selector_matches_copy(all, CONSTRUCT_COPY_FROM_DEVICE, "a.c", 1));
  assert_true(selector_matches_copy(some, CONSTRUCT_COPY_FROM_DEVICE, "/x/d/a.c", 5) && !some->is_lines);
  assert_false(selector_matches_copy(some, CONSTRUCT_COPY_FROM_DEVICE, "/x/d/a.c", 6));
  assert_false(selector_matches_copy(some, CONSTRUCT_COPY_FROM_DEVICE, "/x/e/a.c", 5));
  assert_int_equal(scenario.terms[2].selector.copy_kind, 0);
  scenario_release(&scenario);
  static const char *const bad[] = {"",
                                    "f",
                                    "=2",
                                    "f=0.5",
                                    "f=inf",
                                    "f=2,",
                                    "f=2,g",
                                    "f=-3",
                                    "#x=2",
                                    "a.c:9-3=2",
                                    "copy-to-device:f=2",
                                    "copy-to-device:=2",
                                    "copy-to-device:a.c:0=2"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(scenario_parse(bad[i], &scenario, &wrong), ERR_INPUT);
    assert_non_null(wrong);
    scenario_release(&scenario);
  }
}

static struct speedup speedup_of(uint64_t work, uint64_t span, uint64_t burdened, uint32_t threads)
{
  struct profile made = {.workspan = {.known = true, .is_time = true, .work = work, .span = span, .burdened = burdened},
                         .span_threads = threads,
                         .span_elapsed_ns = 500};
  struct speedup speedup;
  speedup_compute(&made, &speedup);
  return speedup;
}

static void test_speedup_is_bounded(void **state)
{
  (void)state;
  struct speedup speedup = speedup_of(1000, 100, 200, 6);
  assert_int_equal(speedup.count, 9);
  for (uint32_t i = 0; i < speedup.count; i++) {
    const struct speedup_row *row = &speedup.rows[i];
    double cores = (double)row->cores, estimate = 1 / (0.9 / cores + 0.1); /* Amdahl's law */
    assert_true(fabs(row->estimate - estimate) < 1e-9 && row->lower <= estimate && estimate <= row->upper);
    assert_true(fabs(row->upper - fmin(cores, 10)) < 1e-9);
    assert_true(fabs(row->burdened - 1 / (0.8 / cores + 0.2)) < 1e-9);
    assert_true(row->cores == 6 ? row->measured == 2 : row->measured == 0);
  }
  assert_int_equal(speedup_of(1000, 100, 0, 8).count, 8);
  speedup = speedup_of(1000, 100, 0, 1000);
  assert_int_equal(speedup.rows[8].cores, 1000);
  assert_true(speedup.rows[8].burdened == speedup.rows[8].estimate); /* never less than the span */
  assert_int_equal(speedup_of(1000, 0, 0, 4).count, 0);
  assert_true(speedup_of(10, 100, 100, 4).rows[3].estimate == 1); /* work that was lost */
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts_without_a_context_are_spread_exactly),
      cmocka_unit_test_teardown(test_constructs_sum_to_the_span, end),
      cmocka_unit_test_teardown(test_processes_work_side_by_side, end),
      cmocka_unit_test_teardown(test_a_scenario_shortens_what_it_covers, end),
      cmocka_unit_test_teardown(test_suggestions_are_not_nested, end),
      cmocka_unit_test(test_scenarios_are_parsed),
      cmocka_unit_test(test_speedup_is_bounded),
  };
  return UNIT_RUN(argc, argv, "workspan", tests, NULL, NULL);
}
