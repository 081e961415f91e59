/* Conditions of --fail-if: what is understood, and what is refused. */
#include "hpcprof-lite/algorithms/condition.h"
#include "tests/support/unit.h"

#include <math.h>

static struct condition parsed(const char *text)
{
  struct condition condition;
  const char *wrong = NULL;
  int status = condition_parse(text, &condition, &wrong);
  if (status)
    fail_msg("'%s': %s", text, wrong);
  return condition;
}

static void refused(const char *text, const char *why)
{
  struct condition condition;
  const char *wrong = NULL;
  assert_int_equal(condition_parse(text, &condition, &wrong), ERR_INPUT);
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
      cmocka_unit_test(test_changes),
      cmocka_unit_test(test_amounts),
      cmocka_unit_test(test_names_of_any_language),
      cmocka_unit_test(test_refusals),
  };
  return UNIT_RUN(argc, argv, "condition", tests, NULL, NULL);
}
