/* Conditions of --fail-if: what is understood, and what is refused. */
#include "hpcprof-lite/report/comparison/run_figures.h"
#include "tests/support/unit.h"

#include <math.h>

static int parse(const char *text, struct condition *condition, const char **wrong)
{
  struct condition_metric metrics[RUN_METRICS_MAX];
  return condition_parse(text, metrics, run_figure_metrics(metrics), condition, wrong);
}

static struct condition parsed(const char *text)
{
  struct condition condition;
  const char *wrong = NULL;
  int status = parse(text, &condition, &wrong);
  if (status)
    fail_msg("'%s': %s", text, wrong);
  return condition;
}

static void refused(const char *text, const char *why)
{
  struct condition condition;
  const char *wrong = NULL;
  assert_int_equal(parse(text, &condition, &wrong), ERR_INPUT);
  if (!wrong || !strstr(wrong, why))
    fail_msg("'%s': %s", text, wrong ? wrong : "(nothing)");
  condition_release(&condition);
}

static void test_changes(void **state)
{
  (void)state;
  struct condition condition = parsed("work of solve > +5%");
  assert_string_equal(condition.metric, "work");
  assert_string_equal(condition.column, "work_incl_s");
  assert_string_equal(condition.selector_text, "solve");
  assert_true(condition.above && condition.relative && condition.unit == CONDITION_PERCENT);
  assert_true(condition_holds(&condition, 0.0501) && !condition_holds(&condition, 0.05));
  assert_true(condition_holds(&condition, INFINITY) && !condition_holds(&condition, NAN));
  condition_release(&condition);
  condition = parsed("elapsed<-10%");
  assert_true(!condition.above && condition.relative && condition.scope == CONDITION_RUN);
  assert_true(condition_holds(&condition, -0.11) && !condition_holds(&condition, -0.1));
  condition_release(&condition);
}

static void test_amounts(void **state)
{
  (void)state;
  struct condition condition = parsed("  efficiency  <  70 % ");
  assert_string_equal(condition.column, "parallel_efficiency");
  assert_true(!condition.relative && fabs(condition.limit - 0.7) < 1e-12);
  condition_release(&condition);
  condition = parsed("exit_barrier_s of solve.c:42-50 > 1.5 ms");
  assert_true(condition.scope == CONDITION_CONSTRUCTS && condition.unit == CONDITION_SECONDS);
  assert_true(condition.selector.is_lines && condition.selector.to == 50 && fabs(condition.limit - 0.0015) < 1e-12);
  condition_release(&condition);
  condition = parsed("cache-misses_incl > 1e6");
  assert_true(condition.scope == CONDITION_CONTEXTS && condition.unit == CONDITION_NUMBER && condition.limit == 1e6);
  condition_release(&condition);
}

/* Metrics are the columns of topdown and regions that are times or counts, and figures of runs; each name of a quantity
 * is read. */
static void test_metrics(void **state)
{
  (void)state;
  static const struct {
    const char *name, *column;
    enum condition_scope scope;
  } known[] = {{"lockwait", "lockwait_incl_s", CONDITION_CONTEXTS},
               {"lock_wait", "lockwait_incl_s", CONDITION_CONTEXTS},
               {"lock_wait_s", "lockwait_incl_s", CONDITION_CONTEXTS},
               {"lockwait_excl_s", "lockwait_excl_s", CONDITION_CONTEXTS},
               {"critical_path", "critical_path_incl", CONDITION_CONTEXTS},
               {"samples", "samples", CONDITION_CONTEXTS},
               {"efficiency", "parallel_efficiency", CONDITION_RUN},
               {"load_balance", "load_balance", CONDITION_RUN},
               {"span", "span", CONDITION_RUN}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char text[64];
    snprintf(text, sizeof text, "%s < 0.5", known[i].name);
    struct condition condition = parsed(text);
    assert_string_equal(condition.column, known[i].column);
    assert_int_equal(condition.scope, known[i].scope);
    condition_release(&condition);
  }
  struct condition condition = parsed("section_count of main > 5");
  assert_string_equal(condition.column, "section_count");
  assert_int_equal(condition.scope, CONDITION_CONSTRUCTS);
  condition_release(&condition);
  refused("abs_idleness_pct > 5", "no such metric");
  refused("inside_s of main > 5 s", "no such metric");
  refused("depth > 5", "no such metric");
}

/* Names contain '<' and '>', blanks and commas. */
static void test_names_of_any_language(void **state)
{
  (void)state;
  struct condition condition = parsed("work_excl_s of sum<double, 4>(int const&) > +5%");
  assert_string_equal(condition.selector_text, "sum<double, 4>(int const&)");
  condition_release(&condition);
  condition = parsed("work of operator> < 2 s");
  assert_string_equal(condition.selector_text, "operator>");
  assert_true(!condition.above);
  condition_release(&condition);
}

static void test_refusals(void **state)
{
  (void)state;
  refused("", "no '>' or '<'");
  refused("elapsed", "no '>' or '<'");
  refused("elapsed >", "limit such as");
  refused("elapsed > fast", "limit such as");
  refused("elapsed > nan%", "limit such as");
  refused("elapsed > 5 parsecs", "limit such as");
  refused("elapsed > +5 s", "in percent");
  refused("> 5%", "begins with a metric");
  refused("work solve > 5%", "of SELECTOR");
  refused("work of  > +5%", "of SELECTOR");
  refused("speed > +5%", "no such metric");
  refused("elapsed of solve > +5%", "whole run");
  refused("exec_s > +5%", "needs 'of SELECTOR'");
  refused("exec_s of #12 > 1 s", "is a calling context");
  refused("efficiency < 70", "at most 1");
  refused("elapsed > 0x10 s", "limit such as");
  refused("work of a.c:5-3 > +5%", "lines must be given");
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_changes),  cmocka_unit_test(test_amounts),
      cmocka_unit_test(test_metrics),  cmocka_unit_test(test_names_of_any_language),
      cmocka_unit_test(test_refusals),
  };
  return UNIT_RUN(argc, argv, "condition", tests, NULL, NULL);
}
