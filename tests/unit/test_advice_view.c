/* The advice view: titles and commands. */
#include "hpcprof-lite/report/advice_view.h"
#include "tests/support/unit.h"

static const char name[] =
    "Solver<std::map<std::string, std::vector<int>>, std::vector<double>>::step(std::map<int, int>)";
static char text[ADVICE_TITLE_MAX];

static void test_long_names(void **state)
{
  (void)state;
  struct terminal terminal = {.width = 80};
  struct advice_finding found = {.class = ADVICE_SERIAL, .name = name, .file = "/src/a.cc", .line = 12};
  advice_view_title(&terminal, &found, text);
  assert_in_range(strlen(text), 1, strlen("serial code at a.cc:12 ()") + 40);
  assert_memory_equal(text, "serial code at a.cc:12 (Solver", strlen("serial code at a.cc:12 (Solver"));
  advice_view_title(NULL, &found, text);
  assert_non_null(strstr(text, name));
}

static void test_many_places(void **state)
{
  (void)state;
  struct advice_finding found = {.class = ADVICE_SERIAL, .name = "", .file = "", .places = 37};
  advice_view_title(NULL, &found, text);
  assert_string_equal(text, "serial code in 37 places");
}

/* No view can be sorted by a column that the measurement does not have. */
static void test_commands(void **state)
{
  (void)state;
  char *references[] = {"one", "other"};
  struct tree_columns columns = {.idleness = MODEL_NONE, .overhead = 0};
  struct report report = {.columns = &columns, .command.arguments = "--merge a b", .baseline = BASELINE_CORE};
  advice_view_command(&report, ADVICE_SERIAL, text);
  assert_string_equal(text, "hpcprof-lite --view topdown --idleness core --merge a b");
  columns.idleness = 1;
  advice_view_command(&report, ADVICE_SERIAL, text);
  assert_string_equal(text, "hpcprof-lite --view topdown --sort idleness_incl_s --idleness core --merge a b");
  report.baseline = BASELINE_THREAD;
  advice_view_command(&report, ADVICE_CHUNK_OVERHEAD, text);
  assert_string_equal(text, "hpcprof-lite --view bottomup --sort overhead_excl_s --merge a b");
  report.command.references = references;
  report.command.references_count = 2;
  report.command.arguments = "a";
  advice_view_command(&report, ADVICE_INFLATION, text);
  assert_string_equal(text, "hpcprof-lite --view efficiency a one other");
  advice_view_command(&report, ADVICE_NONE, text);
  assert_string_equal(text, "hpcprof-lite --view topdown a");
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_names),
      cmocka_unit_test(test_many_places),
      cmocka_unit_test(test_commands),
  };
  return UNIT_RUN(argc, argv, "advice_view", tests, NULL, NULL);
}
