/* Tables of the page: columns of numbers that turn into text. */
#include "hpcprof-lite/report/html/html_table.h"
#include "tests/support/unit.h"

#include <string.h>

enum { ROWS = 400 };

static void fill(const void *context, const void *row, struct cell *cell)
{
  const uint64_t *number = row;
  (void)context;
  *cell = cell_count(*number % 128);
  if (*number == ROWS - 1)
    *cell = cell_count(2000000000000000); /* too many digits for JavaScript */
}

static int each(const void *source, table_take *take, void *to)
{
  int status = 0;
  (void)source;
  for (uint64_t i = 0; i < ROWS && !status; i++)
    status = take(to, &i);
  return status;
}

static const struct table_column columns[] = {{.name = "count", .type = COLUMN_COUNT, .help = "a number"}};
static const struct schema schema = SCHEMA(columns, fill);

/* The strings of a column of text, in the order in which they were met. */
static void numbers_become_text(void **state)
{
  struct table table = {.each = each};
  struct html_table html = {0};
  (void)state;
  table_add(&table, &schema, NULL);
  assert_int_equal(html_table_add(&html, &table), 0);
  assert_int_equal(html.rows, ROWS);
  assert_true(html.columns[0].is_text);
  assert_int_equal(html.columns[0].strings_count, 129);
  assert_memory_equal(html.columns[0].strings, "0\n1\n2\n", 6);
  const char *last = "\n2000000000000000\n";
  assert_memory_equal(html.columns[0].strings + html.columns[0].strings_size - strlen(last), last, strlen(last));
  html_table_release(&html);
  table_release(&table);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_become_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
