/* Tables: the numbers of columns over parts, selection, and the order of rows by columns of each type. */
#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/model/table.h"
#include "tests/support/unit.h"

#include <string.h>

struct row {
  uint64_t id, count;
  double ratio;
  const char *name, *file;
  uint64_t line;
};

static void fill_first(const void *context, const void *from, struct cell *cell)
{
  const struct row *row = from;
  (void)context;
  *cell++ = cell_optional(row->id != 9, row->id);
  *cell++ = cell_count(row->count);
  *cell = cell_real(row->ratio, 4);
}

static void fill_second(const void *context, const void *from, struct cell *cell)
{
  const struct row *row = from;
  ++*(unsigned *)context; /* rows that were filled */
  *cell++ = cell_text(row->name);
  *cell++ = cell_text(row->file);
  *cell = cell_count(row->line);
}

static const struct table_column first[] = {{.name = "id", .type = COLUMN_ID, .shown = 2},
                                            {.name = "count", .type = COLUMN_COUNT, .shown = 2},
                                            {.name = "ratio", .type = COLUMN_RATIO}};
static const struct table_column second[] = {{.name = "name", .type = COLUMN_TEXT, .text_only = true, .shown = 3},
                                             {.name = "file", .type = COLUMN_FILE, .shown = 1},
                                             {.name = "line", .type = COLUMN_COUNT}};
static const struct schema first_schema = SCHEMA(first, fill_first), second_schema = SCHEMA(second, fill_second);

static const struct row rows[] = {{3, 5, 0.5, "b", "y", 2}, {9, 5, -1, "", "x", 7}, {1, 7, 2, "a", "x", 10}};

static int each(const void *source, table_take *take, void *to)
{
  int status = 0;
  (void)source;
  for (size_t i = 0; i < 3 && !status; i++)
    status = take(to, &rows[i]);
  return status;
}

static void init(struct table *table, unsigned *filled)
{
  *table = (struct table){.each = each};
  *filled = 0;
  table_add(table, &first_schema, NULL);
  table_add(table, &second_schema, filled);
}

/* Sorts by a column; the order is that of the rows' numbers. */
static void expect_order(const char *column, const char *order)
{
  struct table table;
  struct row sorted[3];
  unsigned filled;
  char found[4] = "";
  init(&table, &filled);
  memcpy(sorted, rows, sizeof rows);
  table_sort(&table, table_number(&table, column), sorted, 3, sizeof *sorted);
  for (size_t i = 0; i < 3; i++)
    for (size_t number = 0; number < 3; number++)
      if (sorted[i].id == rows[number].id)
        found[i] = (char)('0' + number);
  assert_string_equal(found, order);
  table_release(&table);
}

static void rows_are_sorted(void **state)
{
  (void)state;
  expect_order("id", "201");    /* ascending, without one last */
  expect_order("count", "201"); /* descending, equal ones as before */
  expect_order("ratio", "201");
  expect_order("name", "120"); /* ascending, empty first */
  expect_order("file", "120"); /* then by line, ascending */
}

static int count_row(void *to, const struct cell *cells)
{
  (void)cells;
  ++*(unsigned *)to;
  return 0;
}

static void parts_without_selected_columns_are_not_filled(void **state)
{
  struct table table;
  unsigned filled, taken = 0;
  const uint32_t wanted[] = {2, 0};
  (void)state;
  init(&table, &filled);
  assert_int_equal(table.columns_count, 6);
  assert_int_equal(table.selected_count, 5); /* all but what is in text only */
  assert_int_equal(table_number(&table, "line"), 5);
  assert_int_equal(table_number(&table, "none"), MODEL_NONE);
  assert_int_equal(table_each(&table, count_row, &taken), 0);
  assert_int_equal(taken, 3);
  assert_int_equal(filled, 3);
  table_select(&table, wanted, 2);
  assert_int_equal(table_each(&table, count_row, &taken), 0);
  assert_int_equal(taken, 6);
  assert_int_equal(filled, 3);
  table_release(&table);
}

static void text_shows_columns_by_rank(void **state)
{
  struct table table;
  unsigned filled;
  uint32_t numbers[6];
  (void)state;
  init(&table, &filled);
  const uint32_t all[] = {4, 0, 1, 3}, some[] = {4, 1};
  assert_int_equal(table_shown(&table, numbers), 4);
  assert_memory_equal(numbers, all, sizeof all);
  table.hidden = "names id name";
  assert_int_equal(table_shown(&table, numbers), 2);
  assert_memory_equal(numbers, some, sizeof some);
  table_release(&table);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_sorted), cmocka_unit_test(text_shows_columns_by_rank),
                                     cmocka_unit_test(parts_without_selected_columns_are_not_filled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
