/* Damaged measurement files: for any bytes in a file, reading ends and yields consistent data.  With the address and
 * undefined-behaviour sanitizers this is a short fuzzer; the seed is fixed. */
#include "hpcprof-lite/analysis/speedup.h"
#include "hpcprof-lite/analysis/whatif.h"
#include "hpcprof-lite/analysis/workspan.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/views/construct_names.h"
#include "hpcprof-lite/views/source/source_lines.h"
#include "hpcprof-lite/views/symbolize.h"
#include "hpcprof-lite/views/topdown.h"
#include "tests/support/compose_measurement.h"
#include "tests/support/unit.h"

#include <math.h>

enum { ROUNDS = UNIT_SANITIZED ? 500 : 1500 };

static char path[] = "/tmp/hpcrun-lite-read-XXXXXX";
static struct compose compose;
static uint64_t seed = 0x9e3779b97f4a7c15;

static uint32_t chance(uint32_t below)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 33) % below;
}

/* Adds work and span, with contexts that exist. */
static void make_graph(uint32_t node)
{
  compose.process.work_unit = compose_string(&compose, "s");
  compose.process.span = 100;
  compose.process.span_burdened = 110;
  uint32_t loop = compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x30, 5, 300, 80);
  uint32_t region = compose_directive(&compose, FORMAT_DIRECTIVE_USER_REGION, 0, 0, 1, 100, 100);
  compose.directives[loop].iterations = 50;
  compose.directives[region].name = compose_string(&compose, "phase");
  compose_contribution(&compose, 0, 1, 1, 20);
  compose_contribution(&compose, loop, 1, node, 30);
  compose_contribution(&compose, loop, 2, 2, 20);
  compose_contribution(&compose, loop, 0, 0, 7);
  compose_contribution(&compose, region, 0, 0, 13);
  compose_contribution(&compose, 0, 0, 0, 10);
}

/* A process with links, regions, tasks and two threads, in one of the three forms. */
static void make(enum compose_form form)
{
  compose_begin(&compose, form, 7, "./app");
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_metric(&compose, "work", "ns", FORMAT_ROLE_WORK, 1000);
  compose_metric(&compose, "cycles", "", FORMAT_ROLE_EVENT, 1000);
  compose_metric(&compose, "lockwait", "ns", FORMAT_ROLE_LOCKWAIT, 0);
  compose_metric(&compose, "per busy", "ns", FORMAT_ROLE_PER_BUSY, 0);
  compose_metric(&compose, "in use", "ns", FORMAT_ROLE_IN_USE, 0);
  compose_module(&compose, "/nowhere/app", FORMAT_MODULE_MAIN);
  compose_module(&compose, "/nowhere/libc.so.6", FORMAT_MODULE_SYSTEM);
  const uint64_t values[] = {1, 10, 100, 20, 30, 60};
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  uint32_t caller = compose_frame(&compose, compose_frame(&compose, 0, 0x10, 1, 10), 0x20, 0, 0);
  uint32_t parallel = compose_node(&compose, FORMAT_KIND_PARALLEL, 0, 0, caller, NULL);
  make_graph(compose_frame(&compose, parallel, 0x30, 4, 40));
  compose_node(&compose, FORMAT_KIND_RUNTIME, 0, 0, parallel, values);
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_TASK, 0, 0, parallel, NULL), 0x40, 2, 20);
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_PARTIAL, 0, 0, 0, NULL), 0x50, 1, 10);
  compose_node(&compose, FORMAT_KIND_FRAME, 2, 0x60, 0, values);
  compose_thread(&compose, 1);
  uint32_t region = compose_region(&compose, 1, caller, FORMAT_REGION_PROVISIONAL);
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_PLACEHOLDER, 0, region, 0, NULL), 0x30, 3, 30);
  compose_frame(&compose, compose_node(&compose, FORMAT_KIND_LINK, 1, parallel, 0, NULL), 0x30, 3, 30);
  compose_node(&compose, FORMAT_KIND_OUTSIDE, 0, 0, 0, values);
  compose_thread(&compose, 2);
  compose_end(&compose);
}

static void mutate(void)
{
  for (uint32_t i = 1 + chance(6); i; i--) {
    uint32_t at = chance((uint32_t)compose.size);
    switch (chance(4)) {
    case 0:
      compose.bytes[at] ^= (uint8_t)(1u << chance(8));
      break;
    case 1:
      compose.bytes[at] = (uint8_t)chance(256);
      break;
    case 2:
      memset(compose.bytes + at, chance(2) ? 0xff : 0, compose.size - at < 4 ? compose.size - at : 4);
      break;
    default:
      if (chance(8) == 0)
        compose.size = at + 1;
    }
  }
}

/* Invariants of work and span for every input: the contributions add up to the span, by contexts and by constructs, and
 * a scenario is between zero and that. */
static void check_graph(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                        struct tree *tree, uint32_t *row_of)
{
  const struct profile_workspan *graph = &profile->workspan;
  struct whatif_run run = {profile, names, tree, row_of};
  struct workspan workspan;
  struct whatif whatif;
  struct speedup speedup;
  uint64_t parts = 0, constructs = 0;
  for (uint32_t i = 0; i < profile->contexts.shares_count; i++)
    parts += profile->contexts.shares[i].amount;
  assert_true(parts == graph->span);
  workspan_compute(profile, names, tree, NULL, &workspan);
  workspan_find_top(row_of, tree->count, &workspan);
  for (uint32_t i = 0; i < workspan.count; i++)
    constructs += workspan.rows[i].critical;
  assert_true(constructs == graph->span && workspan.span == graph->span);
  if (columns->critical != MODEL_NONE)
    assert_true(tree_incl(tree, 0, columns->critical) == graph->span);
  whatif_rank(&run, tree, columns, NULL, 0, &whatif);
  for (uint32_t i = 0; i < whatif.count; i++)
    assert_true(whatif.rows[i].span_low >= 0 && whatif.rows[i].span_low <= (double)graph->span * 1.000001);
  speedup_compute(profile, &speedup);
  for (uint32_t i = 0; i < speedup.count; i++)
    assert_true(isfinite(speedup.rows[i].estimate) && speedup.rows[i].lower <= speedup.rows[i].upper);
  whatif_release(&whatif);
  workspan_release(&workspan);
}

/* The lines of source have all values of the tree. */
static void check_lines(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                        const struct tree *tree)
{
  struct source_lines lines;
  source_lines_build(profile, names, columns, tree, &lines);
  for (uint32_t column = 0; column < columns->count; column++) {
    uint64_t sum = 0;
    for (uint32_t row = 1; row < lines.tree.count; row++)
      sum = source_lines_shown(&lines, row) ? model_sum(sum, tree_incl(&lines.tree, row, column)) : sum;
    assert_true(sum == tree_incl(tree, 0, column));
  }
  source_lines_release(&lines);
}

/* Reads the file and makes its tree; checks the invariants of every input. */
static void check(void)
{
  struct profile profile;
  struct names names;
  struct tree_columns columns;
  struct tree tree;
  char *paths[] = {path};
  assert_true(compose_write(&compose, path));
  assert_int_equal(merge_files(paths, 1, 1, chance(3), NULL, &profile), 0);
  for (uint32_t i = 1; i < profile.contexts.count; i++)
    assert_true(profile.contexts.nodes[i].parent < i);
  tree_columns_init(&profile.catalog, &columns);
  symbolize(&profile, NULL, 1, &names);
  uint32_t *row_of = calloc((size_t)profile.contexts.count + profile.workspan.directives_count + 1, sizeof *row_of);
  assert_non_null(row_of);
  topdown_build(&profile, &names, &columns, "run", (struct topdown_choice){.lines = chance(3)}, &tree, row_of);
  tree_inclusive(&tree);
  struct tree_order order = {.columns = &columns};
  tree_finish(&tree, &order, false);
  construct_names(&profile, &tree, &names);
  for (uint32_t column = 0; column < columns.count; column++) {
    uint64_t rows = 0, contexts = 0;
    for (uint32_t row = 0; row < tree.count; row++)
      rows = model_sum(rows, tree_excl(&tree, row, column));
    for (uint32_t node = 0; node < profile.contexts.count; node++)
      contexts = model_sum(contexts, contexts_get(&profile.contexts, node, columns.source[column]));
    assert_true(rows == tree_incl(&tree, 0, column));
    assert_true(rows == contexts);
  }
  topdown_critical_path(&profile, &names, &columns, &tree, row_of);
  tree_inclusive(&tree);
  tree_finish(&tree, &order, false);
  check_graph(&profile, &names, &columns, &tree, row_of);
  check_lines(&profile, &names, &columns, &tree);
  free(row_of);
  tree_release(&tree);
  symbolize_release(&names);
  profile_release(&profile);
}

static void test_mutations(void **state)
{
  enum compose_form form = *(const enum compose_form *)*state;
  for (int i = 0; i < ROUNDS; i++) {
    make(form);
    mutate();
    check();
  }
}

static void test_every_length(void **state)
{
  enum compose_form form = *(const enum compose_form *)*state;
  make(form);
  for (size_t size = compose.size; size > 0; size -= size > 40 ? 11 : 1) {
    compose.size = size;
    check();
  }
}

/* Each of the three forms is read without a problem. */
static void test_sound_file_has_no_problems(void **state)
{
  struct profile profile;
  char *paths[] = {path};
  make(*(const enum compose_form *)*state);
  assert_true(compose_write(&compose, path));
  assert_int_equal(merge_files(paths, 1, 1, BASELINE_THREAD, NULL, &profile), 0);
  assert_int_equal(profile.problems[0].count, 0);
  assert_int_equal(profile.processes[0].threads_count, 2);
  assert_int_equal(profile.processes[0].threads[0].caused_lock_ns, 2 * 20);
  assert_int_equal(profile.processes[0].threads[0].caused_idle_ns, 2 * (2 * 30 - 30));
  assert_int_equal(profile.processes[0].threads[1].caused_idle_ns, 0);
  assert_int_equal(profile.workspan.span, 100);
  assert_int_equal(profile.workspan.directives_count, 3);
  profile_release(&profile);
}

/* A thread's first sample stands for a period at least.  If it falls into the tool, and the thread ends before the
 * period, the tool was not there for longer than the thread lived and was measured. */
static void test_tool_time_is_within_the_life(void **state)
{
  struct profile profile;
  char *paths[] = {path};
  make(*(const enum compose_form *)*state);
  compose.thread.wall_ns = 1000;
  compose.thread.paused_ns = 300;
  compose.thread.tool_ns = 5000000;
  compose_thread(&compose, 3);
  compose.thread.tool_ns = 600;
  compose_thread(&compose, 4);
  compose_end(&compose);
  assert_true(compose_write(&compose, path));
  assert_int_equal(merge_files(paths, 1, 1, BASELINE_THREAD, NULL, &profile), 0);
  assert_int_equal(profile.processes[0].threads_count, 4);
  assert_int_equal(profile.processes[0].threads[2].tool_ns, 700);
  assert_int_equal(profile.processes[0].threads[3].tool_ns, 600);
  profile_release(&profile);
}

static int make_file(void **state)
{
  (void)state;
  int fd = mkstemp(path);
  return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
  (void)state;
  return unlink(path);
}

int main(int argc, char **argv)
{
  static enum compose_form packed = COMPOSE_PACKED, zstd = COMPOSE_ZSTD, live = COMPOSE_LIVE;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(test_sound_file_has_no_problems, &packed),
      cmocka_unit_test_prestate(test_sound_file_has_no_problems, &zstd),
      cmocka_unit_test_prestate(test_sound_file_has_no_problems, &live),
      cmocka_unit_test_prestate(test_tool_time_is_within_the_life, &packed),
      cmocka_unit_test_prestate(test_tool_time_is_within_the_life, &live),
      cmocka_unit_test_prestate(test_mutations, &packed),
      cmocka_unit_test_prestate(test_mutations, &zstd),
      cmocka_unit_test_prestate(test_mutations, &live),
      cmocka_unit_test_prestate(test_every_length, &packed),
      cmocka_unit_test_prestate(test_every_length, &live),
  };
  return UNIT_RUN(argc, argv, "read", tests, make_file, remove_file);
}
