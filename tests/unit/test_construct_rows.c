/* Times of constructs of random trees, whose threads link to each other: whatever the trees are, rows add up to the
 * threads' times, and losses and useful time to the totals.  Names and counts that fit. */
#include "hpcprof-lite/analysis/overheads.h"
#include "hpcprof-lite/analysis/task_figures.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/report/constructs/construct_text.h"
#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/views/construct_names.h"
#include "hpcprof-lite/report/views.h"
#include "hpcprof-lite/views/construct_order.h"
#include "hpcprof-lite/views/construct_rows.h"
#include "hpcprof-lite/views/symbolize.h"
#include "hpcprof-lite/views/topdown.h"
#include "tests/support/compose_measurement.h"
#include "tests/support/unit.h"

#include <locale.h>

enum { THREADS = 4, RECORDS = 40, ROUNDS = 150, DIRECTIVES = 10, WRONG = 3 };

static char path[] = "/tmp/hpcrun-lite-constructs-XXXXXX";
static struct compose compose;
static uint64_t seed = 0x9e3779b97f4a7c15;

/* The trees of all threads, made before they are written, so that they can link to each other. */
static struct format_construct trees[THREADS][RECORDS];
static uint64_t lives[THREADS]; /* ticks */

static uint32_t chance(uint32_t range)
{
  seed = seed * 6364136223846793005 + 1442695040888963407;
  return (uint32_t)(seed >> 33) % range;
}

static uint32_t kind_of(uint32_t directive)
{
  static const uint32_t kinds[DIRECTIVES] = {0,
                                             FORMAT_DIRECTIVE_PARALLEL,
                                             FORMAT_DIRECTIVE_PARALLEL,
                                             FORMAT_DIRECTIVE_FOR,
                                             FORMAT_DIRECTIVE_SECTIONS,
                                             FORMAT_DIRECTIVE_SINGLE,
                                             FORMAT_DIRECTIVE_TASK,
                                             FORMAT_DIRECTIVE_BARRIER,
                                             FORMAT_DIRECTIVE_LOCK,
                                             FORMAT_DIRECTIVE_TEAMS};
  return kinds[directive];
}

/* Whether a construct is open around a record, so that the thread would not have a second one. */
static bool is_open(const struct format_construct *tree, uint32_t record, uint32_t kind, uint32_t directive)
{
  for (; record; record = tree[record].parent)
    if (tree[record].kind == kind && tree[record].directive == directive)
      return true;
  return false;
}

static void make_record(uint32_t thread, uint32_t i)
{
  struct format_construct *record = &trees[thread][i];
  do {
    record->parent = chance(i);
    record->directive = 1 + chance(DIRECTIVES - 1);
    record->kind = kind_of(record->directive);
    if (record->kind == FORMAT_DIRECTIVE_TASK && chance(2))
      record->kind = FORMAT_CONSTRUCT_TASK_EXEC;
  } while (trees[thread][record->parent].kind == FORMAT_DIRECTIVE_LOCK ||
           is_open(trees[thread], record->parent, record->kind, record->directive));
  bool region = record->kind == FORMAT_DIRECTIVE_PARALLEL || record->kind == FORMAT_DIRECTIVE_TEAMS;
  record->flags = chance(3) ? 0 : FORMAT_CONSTRUCT_IN_WAIT;
  record->count = 1 + chance(5);
  if (region && chance(2)) {
    record->flags = FORMAT_CONSTRUCT_LINK;
    record->parent = 0;
    record->owner = 1 + chance(THREADS);
    record->link = 1 + chance(RECORDS - 1);
    const struct format_construct *to = &trees[record->owner - 1][record->link];
    record->kind = to->kind ? to->kind : record->kind;
    record->directive = to->kind ? to->directive : record->directive;
  }
  for (int j = 0; j < FORMAT_TIMES; j++)
    record->ticks[j] = chance(1000);
  record->wait_own = chance(1000);
  record->wait_spare = chance(1000);
}

/* Makes the trees; hostile: some fields are wrong. */
static void make_trees(bool hostile)
{
  memset(trees, 0, sizeof trees);
  for (uint32_t i = 1; i < RECORDS; i++)
    for (uint32_t thread = 0; thread < THREADS; thread++)
      make_record(thread, i);
  for (uint32_t i = 0; hostile && i < WRONG; i++) {
    struct format_construct *record = &trees[chance(THREADS)][1 + chance(RECORDS - 1)];
    uint32_t *fields[] = {&record->parent, &record->kind, &record->directive, &record->owner, &record->link};
    *fields[chance(5)] = chance(2) ? chance(RECORDS) : chance(UINT32_MAX);
  }
  for (uint32_t thread = 0; thread < THREADS; thread++) {
    lives[thread] = trees[thread][0].ticks[FORMAT_TIME_BODY] = 500;
    for (uint32_t i = 1; i < RECORDS; i++)
      for (int j = 0; j < FORMAT_TIMES; j++)
        if (trees[thread][i].kind != FORMAT_DIRECTIVE_LOCK || j != FORMAT_TIME_BODY)
          lives[thread] += trees[thread][i].ticks[j];
  }
}

static void write_trees(void)
{
  compose_begin(&compose, COMPOSE_PACKED, 7, "./app");
  compose.process.tick_scale = 1ull << 32;
  compose.process.work_unit = compose_string(&compose, "s");
  compose.process.threads_max = THREADS;
  compose_metric(&compose, "samples", "", FORMAT_ROLE_SAMPLES, 1);
  compose_module(&compose, "/nowhere/app", FORMAT_MODULE_MAIN);
  for (uint32_t i = 1; i < DIRECTIVES; i++)
    compose_directive(&compose, kind_of(i), 1, 0x100 * i, 1, 1, 1);
  for (uint32_t thread = 0; thread < THREADS; thread++) {
    memcpy(compose.constructs, trees[thread], sizeof trees[thread]);
    compose.constructs_count = RECORDS;
    compose_thread(&compose, thread + 1);
  }
  compose_end(&compose);
  assert_true(compose_write(&compose, path));
}

static void check_losses(const struct overheads *overheads)
{
  for (uint32_t i = 0; i + 1 < overheads->count; i++) {
    const struct overheads_row *row = &overheads->rows[i];
    assert_int_equal(row->total_ns, row->useful_ns + construct_lost_sum(&row->lost));
  }
}

/* Counts of the process, as if the program had counted two events. */
static void make_counts(struct profile *profile)
{
  struct construct_times *times = &profile->processes[0].constructs;
  assert_int_equal(counter_names_add(&profile->constructs.counters, "cycles"), 0);
  assert_int_equal(counter_names_add(&profile->constructs.counters, "instructions"), 1);
  times->counts = calloc(times->rows_count, sizeof *times->counts);
  assert_non_null(times->counts);
  for (uint32_t i = 0; i < times->rows_count; i++)
    times->counts[i] = (struct construct_counts){.counted = {chance(1000), chance(1000)},
                                                 .counted_own = {chance(1000)},
                                                 .unread = chance(1000),
                                                 .present = counters_present_of(3)};
  construct_times_set_counts(times);
}

/* What the lines of each thread add up to without constructs in constructs. */
static void check_lines(const struct construct_tree *tree, bool hostile)
{
  uint64_t sums[THREADS] = {0};
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    struct construct_counts counts = {0};
    struct construct_figures sum = {.counts = &counts};
    for (uint32_t j = 0; j < entry->lines_count; j++) {
      sums[entry->lines[j].thread] += construct_exclusive(entry->kind, &entry->lines[j].figures);
      construct_figures_add(&sum, &entry->lines[j].figures);
      assert_true(!j || entry->lines[j - 1].thread < entry->lines[j].thread);
    }
    assert_memory_equal(&counts, construct_counts_of(&entry->sum), sizeof counts);
    sum.counts = entry->sum.counts;
    assert_memory_equal(&sum, &entry->sum, sizeof sum);
  }
  for (uint32_t thread = 0; thread < THREADS; thread++) {
    assert_true(hostile ? sums[thread] <= lives[thread] + 1000 * WRONG : sums[thread] == lives[thread]);
    assert_int_equal(construct_exec(&tree->entries[0].lines[thread].figures), sums[thread]);
  }
}

/* No construct is in itself, and the order is depth-first. */
static void check_nesting(const struct construct_tree *tree)
{
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    assert_true(entry->parent < i && i < tree->entries[entry->parent].end && entry->end <= tree->count);
    assert_int_equal(entry->depth, tree->entries[entry->parent].depth + 1);
    for (uint32_t up = entry->parent; up; up = tree->entries[up].parent)
      assert_true(tree->entries[up].region != entry->region);
  }
}

/* Gets the keys of the entries by a column of region-tree. */
static void get_keys(const struct profile *profile, const struct construct_tree *tree, const char *column,
                     struct table_keys *keys)
{
  struct report report = {.profile = profile, .constructs = tree};
  struct table table = {0};
  struct construct_line *lines = calloc((size_t)tree->count + 1, sizeof *lines);
  for (uint32_t i = 0; i < tree->count; i++)
    lines[i] = (struct construct_line){&tree->entries[i], NULL};
  region_tree_table(&report, &table);
  uint32_t number = table_number(&table, column);
  table_keys_init(keys, &table, number, lines, tree->count, sizeof *lines);
  table_release(&table);
  free(lines);
}

/* Siblings are in the order of a column. */
static void check_order(const struct profile *profile, struct construct_tree *tree, const char *column)
{
  struct table_keys keys;
  get_keys(profile, tree, column, &keys);
  construct_order(tree, &keys);
  table_keys_release(&keys);
  get_keys(profile, tree, column, &keys);
  for (uint32_t i = 1; i < tree->count; i++) {
    uint32_t next = tree->entries[i].end;
    bool sibling = next < tree->count && tree->entries[next].parent == tree->entries[i].parent;
    assert_true(!sibling || table_keys_compare(&keys, i, next) <= 0);
  }
  table_keys_release(&keys);
}

static void check_all(const struct profile *profile, struct names *names, const struct tree *contexts,
                      const uint32_t *row_of, bool hostile)
{
  static const char *const columns[] = {"kind", "gain_s", "id", "excl_s", "line", "executions"};
  struct construct_tree tree, list;
  struct overheads overheads;
  struct task_figures tasks;
  bool *shown;
  uint32_t left_out;
  construct_rows(profile, names, contexts, row_of, &tree);
  construct_rows_flat(&tree, names, &list);
  assert_int_equal(tree.entries[0].lines_count, THREADS);
  check_lines(&tree, hostile);
  check_lines(&list, hostile);
  check_nesting(&tree);
  overheads_compute(profile, &tree, &overheads);
  check_losses(&overheads);
  task_figures_compute(profile, names, &tree, &tasks);
  check_order(profile, &tree, columns[chance(6)]);
  check_nesting(&tree);
  struct construct_limits limits = {.percent = chance(10), .rows = chance(20)};
  construct_order_limit(&tree, &limits, &shown, &left_out);
  for (uint32_t i = 1; i < tree.count; i++)
    assert_true(!shown[i] || shown[tree.entries[i].parent]);
  assert_true(!limits.rows || tree.count - left_out <= limits.rows + 1);
  free(shown);
  overheads_release(&overheads);
  task_figures_release(&tasks);
  construct_tree_release(&tree);
  construct_tree_release(&list);
}

static void test_random_trees(void **state)
{
  bool hostile = *(const bool *)*state;
  for (int round = 0; round < ROUNDS; round++) {
    struct profile profile;
    struct names names;
    struct tree_columns columns;
    struct tree tree;
    char *paths[] = {path};
    make_trees(hostile);
    write_trees();
    assert_int_equal(merge_files(paths, 1, 1, BASELINE_THREAD, NULL, &profile), 0);
    if (round % 2)
      make_counts(&profile);
    tree_columns_init(&profile.catalog, &columns);
    symbolize(&profile, NULL, 1, &names);
    size_t rows = (size_t)profile.contexts.count + profile.workspan.directives_count + 1;
    uint32_t *row_of = calloc(rows, sizeof *row_of);
    struct tree_order order = {.columns = &columns};
    topdown_build(&profile, &names, &columns, "run", (struct topdown_choice){0}, &tree, row_of);
    tree_inclusive(&tree);
    tree_finish(&tree, &order, false);
    construct_names(&profile, &tree, &names);
    check_all(&profile, &names, &tree, row_of, hostile);
    free(row_of);
    tree_release(&tree);
    symbolize_release(&names);
    profile_release(&profile);
  }
}

/* The line says more than the function, which is left out where there is no room for a part that makes sense. */
static void test_names_keep_their_place(void **state)
{
  static const struct {
    unsigned width;
    const char *name, *expected;
  } cases[] = {{28, "main", "parallel @ solve.c:42 (main)"},
               {27, "main", "parallel @ solve.c:42"},
               {40, "void solver::step<int>(int, int)", "parallel @ solve.c:42"},
               {45, "void solver::step<int>(int, int)", "parallel @ solve.c:42 (void sol..tep<..>(..))"},
               {16, "main", "paral..olve.c:42"}};
  struct terminal terminal = {.width = 80};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char out[TERMINAL_TEXT_MAX];
    struct construct_place place = {"parallel", cases[i].name, "/home/a/solve.c", 42};
    construct_text_name(&terminal, &place, cases[i].width, out);
    assert_string_equal(out, cases[i].expected);
  }
}

/* A text is broken at columns, not at bytes, and never within a character. */
static void test_text_is_broken_at_columns(void **state)
{
  static const struct {
    bool utf8;
    unsigned width;
    const char *text, *expected;
  } cases[] = {{true, 6, "\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4", "\u00e4\u00e4\u00e4\n  \u00e4\u00e4\u00e4\n"},
               {true, 10, "\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4", "\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4\n"},
               {true, 4, "\u00e4\u00e4\u00e4\u00e4\u00e4", "\u00e4\u00e4\u00e4\u00e4\n  \u00e4\n"},
               {true, 5, "\u754c\u754c\u754c", "\u754c\u754c\n  \u754c\n"},
               {false, 6, "abc def", "abc\n  def\n"},
               {false, 9, "0.1 s (6 %)", "0.1 s\n  (6 %)\n"},
               {true, 3, "", "\n"}};
  (void)state;
  assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct terminal terminal = {.width = cases[i].width, .utf8 = cases[i].utf8};
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    terminal_wrap(&terminal, stream, "", "  ", cases[i].text);
    fclose(stream);
    assert_string_equal(out, cases[i].expected);
    free(out);
  }
}

static void test_words_are_quoted_for_the_shell(void **state)
{
  static const char *const cases[][2] = {
      {"run-2/a.b", "run-2/a.b"}, {"my run", "my\\ run"}, {"a'b\"$c", "a\\'b\\\"\\$c"}, {"~x", "\\~x"}, {"", "''"},
      {"a\033[1m", "a\\?\\[1m"}};
  char out[32], small[4];
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_true(terminal_quote(cases[i][0], out, sizeof out));
    assert_string_equal(out, cases[i][1]);
  }
  assert_true(terminal_quote("abc", small, sizeof small));
  assert_string_equal(small, "abc");
  assert_false(terminal_quote("abcd", small, sizeof small));
  assert_string_equal(small, "DIR");
}

static void test_counts_are_exact_below_a_million(void **state)
{
  static const struct {
    uint64_t value;
    const char *expected;
  } cases[] = {{0, "0"},          {999999, "999999"},  {1000000, "1.00M"}, {99994999, "99.99M"},
               {99995000, "99M"}, {123456789, "123M"}, {UINT64_MAX, "18E"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char out[16];
    terminal_whole_count(cases[i].value, out);
    assert_string_equal(out, cases[i].expected);
  }
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

/* The error has two digits at most, and no more than it is worth. */
static void test_errors_are_stated_in_whole_percents(void **state)
{
  (void)state;
  static const struct {
    uint64_t squares, own_body;
    const char *text;
  } cases[] = {{1, 10000, "+- 0.02 % (two standard errors)"},
               {441, 1000, "+- 4.2 % (two standard errors)"},
               {4900, 1000, "+- 14 % (two standard errors)"},
               {250000, 1000, "+- 100 % (two standard errors)"},
               {722500, 1000, "error over 100 %"},
               {UINT64_MAX, 1000, "error not known"},
               {1, 0, "error not known"}};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct construct_figures figures = {.error_squares = cases[i].squares, .own_body = cases[i].own_body};
    char text[CONSTRUCT_ERROR_MAX];
    construct_error_text(figures.error_squares, figures.own_body, text);
    assert_string_equal(text, cases[i].text);
  }
}

/* A sum has the longest chunk of all, and a schedule if all have the same; figures without any do not count. */
static void test_sums_of_chunks(void **state)
{
  (void)state;
  const struct construct_figures all[] = {
      {.chunk_least = 3, .chunk_most = 9, .schedule = SCHEDULE_GUIDED, .chunk_size = 3},
      {0},
      {.longest_ns = 50,
       .longest_first = 7,
       .longest_iterations = 4,
       .chunk_least = 2,
       .chunk_most = 4,
       .schedule = SCHEDULE_GUIDED,
       .chunk_size = 2},
      {.longest_ns = 40, .longest_first = 1, .longest_iterations = 9}};
  struct construct_figures sum = {0};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
    construct_figures_add(&sum, &all[i]);
  assert_true(sum.longest_ns == 50 && sum.longest_first == 7 && sum.longest_iterations == 4);
  assert_true(sum.chunk_least == 2 && sum.chunk_most == 9);
  assert_true(sum.schedule == SCHEDULE_GUIDED && sum.chunk_size == CHUNKS_DIFFER);
  construct_figures_add(&sum, &(struct construct_figures){.schedule = SCHEDULE_STATIC});
  assert_int_equal(sum.schedule, SCHEDULE_MIXED);
  assert_string_equal(construct_schedule_name(sum.schedule), "mixed");
}

int main(int argc, char **argv)
{
  static bool sound = false, hostile = true;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(test_random_trees, &sound),
      cmocka_unit_test_prestate(test_random_trees, &hostile),
      cmocka_unit_test(test_names_keep_their_place),
      cmocka_unit_test(test_text_is_broken_at_columns),
      cmocka_unit_test(test_words_are_quoted_for_the_shell),
      cmocka_unit_test(test_counts_are_exact_below_a_million),
      cmocka_unit_test(test_errors_are_stated_in_whole_percents),
      cmocka_unit_test(test_sums_of_chunks),
  };
  return UNIT_RUN(argc, argv, "construct_rows", tests, make_file, remove_file);
}
