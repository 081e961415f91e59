/* Tables of runs are joined by the columns that identify their rows, and their numbers are compared. */
#include "hpcprof-lite/algorithms/compare_list.h"
#include "hpcprof-lite/model/profile.h"
#include "tests/support/unit.h"

#include <math.h>

/* A construct of a run. */
struct construct {
  const char *kind, *name, *file;
  uint64_t line, time_ns, count;
  bool timed;
};

static void fill_construct(const void *context, const void *row, struct cell *cells)
{
  (void)context;
  const struct construct *construct = row;
  cells[0] = cell_text(construct->kind);
  cells[1] = cell_text(construct->name);
  cells[2] = cell_text(construct->file);
  cells[3] = cell_optional(construct->line, construct->line);
  cells[4] = cell_optional_ns(construct->timed, construct->time_ns);
  cells[5] = cell_count(construct->count);
}

static const struct table_column construct_columns[] = {
    {.name = "kind", .type = COLUMN_TEXT},      {.name = "name", .type = COLUMN_TEXT},
    {.name = "file", .type = COLUMN_FILE},      {.name = "line", .type = COLUMN_ID},
    {.name = "time_s", .type = COLUMN_SECONDS}, {.name = "count", .type = COLUMN_COUNT}};

enum { TIME = 4, COUNT = 5, RUNS_MAX = 8 };

/* A run: its rows, which end with one without a kind. */
static int each_construct(const void *source, table_take *take, void *to)
{
  int status = 0;
  for (const struct construct *row = source; row->kind && !status; row++)
    status = take(to, row);
  return status;
}

static struct compare_list list;
static struct table tables[RUNS_MAX];
static uint32_t tables_count;

static int setup(void **state)
{
  (void)state;
  list = (struct compare_list){.keys = "kind name file"};
  tables_count = 0;
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  compare_list_release(&list);
  for (uint32_t i = 0; i < tables_count; i++)
    table_release(&tables[i]);
  return 0;
}

static void add(int side, const struct construct *rows)
{
  struct table *table = &tables[tables_count++];
  *table = (struct table){.each = each_construct, .source = rows, .shown = "time_s"};
  assert_int_equal(table_add(table, &(struct schema)SCHEMA(construct_columns, fill_construct), NULL), 0);
  assert_int_equal(compare_list_add(&list, side, table), 0);
}

/* The only line with that name and line number. */
static const struct compare_line *line(const char *name, uint64_t number)
{
  const struct compare_line *found = NULL;
  for (uint32_t i = 0; i < list.lines_count; i++) {
    const struct cell *cells = list.lines[i].cells;
    if (strcmp(cells[1].text, name) != 0 || cells[3].whole != number)
      continue;
    assert_null(found);
    found = &list.lines[i];
  }
  assert_non_null(found);
  return found;
}

static void expect(const struct compare_figure *figure, double base, double now)
{
  if (fabs(figure->base - base) > 1e-12 || fabs(figure->now - now) > 1e-12)
    fail_msg("%g and %g are not %g and %g", figure->base, figure->now, base, now);
}

/* In one build, lines must be the same; the directory does not matter, and the program is one row whatever its name. */
static void test_one_build(void **state)
{
  (void)state;
  add(COMPARE_BASE, (struct construct[]){{"program", "./old", "", 0, 9000, 1, true},
                                         {"for", "solve", "/a/p.c", 10, 1000, 1, true},
                                         {"for", "solve", "/a/p.c", 20, 2000, 2, true},
                                         {"for", "gone", "/a/p.c", 30, 4000, 4, true},
                                         {0}});
  add(COMPARE_NEW, (struct construct[]){{"program", "./new", "", 0, 8000, 1, true},
                                        {"for", "solve", "/b/p.c", 20, 3000, 3, true},
                                        {"task", "solve", "/b/p.c", 10, 500, 5, true},
                                        {0}});
  assert_int_equal(compare_list_join(&list, true), 0);
  assert_int_equal(list.lines_count, 5);
  const struct compare_line *program = line("./new", 0);
  assert_true(compare_list_is_program(&list, program));
  expect(&program->figures[TIME], 9e-6, 8e-6);
  expect(&line("solve", 20)->figures[TIME], 2e-6, 3e-6);
  expect(&line("gone", 30)->figures[COUNT], 4, 0);
  assert_int_equal(line("gone", 30)->cells[TIME].kind, CELL_EMPTY);
  assert_int_equal(line("solve", 20)->cells[TIME].whole, 3000);
}

/* In another build, equally many are the same in their order. */
static void test_lines_that_moved(void **state)
{
  (void)state;
  add(COMPARE_BASE,
      (struct construct[]){{"for", "f", "p.c", 10, 1000, 1, true}, {"for", "f", "p.c", 20, 2000, 2, true}, {0}});
  add(COMPARE_NEW,
      (struct construct[]){{"for", "f", "p.c", 40, 2200, 2, true}, {"for", "f", "p.c", 20, 1100, 1, true}, {0}});
  assert_int_equal(compare_list_join(&list, false), 0);
  assert_int_equal(list.lines_count, 2);
  expect(&line("f", 20)->figures[TIME], 1e-6, 1.1e-6);
  expect(&line("f", 40)->figures[TIME], 2e-6, 2.2e-6);
}

/* A figure is the mean over the runs, tested by their variance; a run that lacks the row counts as 0, and rows of one
 * run that are the same are added up. */
static void test_repeated_runs(void **state)
{
  (void)state;
  for (uint64_t i = 0; i < 2; i++) {
    struct construct *rows = test_calloc(4, sizeof *rows);
    rows[0] = (struct construct){"for", "f", "p.c", 1, 1000 + i, 3, true};
    rows[1] = (struct construct){"for", "once", "p.c", 5, 1000, 3, true};
    rows[2] = (struct construct){"for", "f", "p.c", 1, 1000, 1, true};
    add(COMPARE_BASE, rows);
    rows = test_calloc(4, sizeof *rows);
    rows[0] = (struct construct){"for", "f", "p.c", 1, 3000 + i, 4, true};
    if (i)
      rows[1] = (struct construct){"for", "once", "p.c", 5, 1000, 3, true};
    add(COMPARE_NEW, rows);
  }
  assert_int_equal(compare_list_join(&list, true), 0);
  assert_int_equal(list.lines_count, 2);
  expect(&line("f", 1)->figures[TIME], 2000.5e-9, 3000.5e-9);
  assert_true(line("f", 1)->figures[TIME].probability < 0.01);
  expect(&line("once", 5)->figures[COUNT], 3, 1.5);
  assert_int_equal(line("once", 5)->cells[COUNT].whole, 2);
  for (uint32_t i = 0; i < tables_count; i++)
    test_free((void *)tables[i].source);
}

/* ---- threads ---- */

struct thread {
  uint64_t pid, number, time_ns;
  bool measured;
};

static void fill_thread(const void *context, const void *row, struct cell *cells)
{
  (void)context;
  const struct thread *thread = row;
  cells[0] = cell_empty();
  cells[1] = cell_count(thread->pid);
  cells[2] = cell_count(thread->number);
  cells[3] = cell_known(thread->measured, cell_ns(thread->time_ns));
  cells[4] = cell_ns(7);
}

static const struct table_column thread_columns[] = {{.name = "rank", .type = COLUMN_ID},
                                                     {.name = "process", .type = COLUMN_ID},
                                                     {.name = "thread", .type = COLUMN_ID},
                                                     {.name = "work_s", .type = COLUMN_SECONDS},
                                                     {.name = "paused_s", .type = COLUMN_SECONDS}};

static int each_thread(const void *source, table_take *take, void *to)
{
  int status = 0;
  for (const struct thread *row = source; row->pid && !status; row++)
    status = take(to, row);
  return status;
}

/* paused: the table has all columns. */
static void add_threads(int side, const struct thread *rows, bool paused)
{
  struct table *table = &tables[tables_count++];
  const struct schema schema = {thread_columns, paused ? 5 : 4, fill_thread};
  *table = (struct table){.each = each_thread, .source = rows, .shown = ""};
  list.keys = "rank process thread";
  list.numbered = list.complete = true;
  assert_int_equal(table_add(table, &schema, NULL), 0);
  assert_int_equal(compare_list_add(&list, side, table), 0);
}

/* Processes are the same in their order, as their own numbers differ; what one side lacks is 0 there. */
static void test_threads(void **state)
{
  (void)state;
  static const struct thread base[] = {{70, 1, 10, true}, {70, 2, 20, true}, {60, 1, 30, true}, {0}};
  static const struct thread now[] = {{5, 1, 11, true}, {5, 1, 31, true}, {5, 2, 41, true}, {0}};
  add_threads(COMPARE_BASE, base, false);
  add_threads(COMPARE_NEW, now, true);
  assert_int_equal(compare_list_join(&list, true), 0);
  static const uint64_t expected[][4] = {{1, 1, 10, 11}, {1, 2, 20, 0}, {2, 1, 30, 31}, {2, 2, 0, 41}};
  assert_int_equal(list.lines_count, 4);
  for (uint32_t i = 0; i < list.lines_count; i++) {
    const struct compare_line *here = &list.lines[i];
    assert_int_equal(here->cells[1].whole, expected[i][0]);
    assert_int_equal(here->cells[2].whole, expected[i][1]);
    expect(&here->figures[3], (double)expected[i][2] * 1e-9, (double)expected[i][3] * 1e-9);
  }
  assert_true(list.lines[1].cells[3].kind != CELL_EMPTY && cell_value(&list.lines[1].cells[3]) == 0);
  uint32_t paused = compare_list_column(&list, "paused_s");
  assert_true(compare_list_is_figure(&list, paused));
  expect(&list.lines[0].figures[paused], 0, 7e-9);
}

static void test_columns_that_were_not_measured(void **state)
{
  (void)state;
  static const struct thread known[] = {{1, 1, 10, true}, {0}}, unknown[] = {{1, 1, 0, false}, {0}};
  add_threads(COMPARE_BASE, known, false);
  add_threads(COMPARE_NEW, unknown, false);
  assert_int_equal(compare_list_join(&list, true), 0);
  assert_false(compare_list_is_figure(&list, 3));
  assert_false(compare_list_is_figure(&list, 2));
  assert_true(isnan(list.lines[0].figures[3].probability));
  assert_int_equal(list.lines[0].cells[3].kind, CELL_EMPTY);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_one_build, setup, teardown),
      cmocka_unit_test_setup_teardown(test_lines_that_moved, setup, teardown),
      cmocka_unit_test_setup_teardown(test_repeated_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
      cmocka_unit_test_setup_teardown(test_columns_that_were_not_measured, setup, teardown),
  };
  return UNIT_RUN(argc, argv, "compare_list", tests, NULL, NULL);
}
