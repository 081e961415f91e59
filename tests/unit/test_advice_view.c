/* The advice view: titles and commands; which loss or finding the first sentence of the summary names. */
#include "hpcprof-lite/report/advice_view.h"
#include "hpcprof-lite/report/summary/verdict.h"
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

/* A run of 1 s with two threads, which had no core for a fifth of their time. */
static void test_the_largest_loss_is_named(void **state)
{
  (void)state;
  struct profile profile = {0};
  struct tree_columns columns = {.lockwait = MODEL_NONE, .idleness = MODEL_NONE, .work = MODEL_NONE};
  struct totals totals = {.command = (char[]){"solve"},
                          .elapsed_ns = 1000000000,
                          .openmp_processes = 1,
                          .threads = 2,
                          .threads_max = 2,
                          .work_ns = 1000000000,
                          .core_wait_ns = 400000000,
                          .blocked_ns = 300000000,
                          .delay_ns = 400000000,
                          .runnable_ns = 1400000000};
  struct advice_finding found[] = {{.class = ADVICE_CONTENTION, .name = "", .file = "", .gain_s = 0.1},
                                   {.class = ADVICE_OTHER, .loss_s = 0.3},
                                   {.class = ADVICE_UNEXPLAINED, .loss_s = 0.2}};
  struct report report = {.profile = &profile,
                          .columns = &columns,
                          .totals = &totals,
                          .advice = {.elapsed_s = 1, .loss_s = 0.5, .found = found}};
  char said[VERDICT_MAX];
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest loss: threads without a core."));
  found[0].class = ADVICE_SPINNING; /* of 0.2 s of elapsed time */
  found[0].gain_s = found[0].loss_s = 0.02;
  report.advice.count = 1;
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest loss: threads without a core."));
  found[0].gain_s = found[0].loss_s = 0.12;
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest gain found: idle threads that spin while others have no core (12 %)."));
  found[0] = (struct advice_finding){.class = ADVICE_CONTENTION, .name = "", .file = "", .gain_s = 0.1};
  report.advice.count = 0;
  totals.blocked_ns = 500000000;
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest loss: blocked."));
  report.advice.count = 1;
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest gain found: threads that wait for a lock (10 %)."));
  report.advice.count = 3; /* less is unexplained than is lost for known reasons */
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest gain found: threads that wait for a lock (10 %)."));
  found[1].loss_s = 0.2;
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest loss: 20 %, for unknown reasons."));
  report.advice.outside_s = 0.2; /* of the 0.26 s that threads were blocked */
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest loss: threads without a core."));
  totals.core_wait_ns = 0;
  found[1].loss_s = 0.3;
  verdict_sentence(&report, NULL, said);
  assert_non_null(strstr(said, "; largest loss: 20 %, for unknown reasons."));
  report.advice.count = 0; /* a thread outside OpenMP that sleeps is all that is lost */
  report.advice.loss_s = report.advice.outside_s;
  verdict_sentence(&report, NULL, said);
  assert_null(strstr(said, "largest loss"));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_names),
      cmocka_unit_test(test_many_places),
      cmocka_unit_test(test_commands),
      cmocka_unit_test(test_the_largest_loss_is_named),
  };
  return UNIT_RUN(argc, argv, "advice_view", tests, NULL, NULL);
}
