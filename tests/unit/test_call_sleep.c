/* Which short calls the parts of accumulated sleep are charged to (call_sleep). */
#include "hpcrun-lite/rt/sampling/call_sleep.c"
#include "tests/unit/rt_threads.h"

enum { PERIOD = 1000, CALLS = 40000 };

/* Whether a share is what it must be, to five standard errors for so many parts. */
static void assert_share(double share, double expected, double parts)
{
  double off = share - expected;
  assert_true(off * off < 25 * expected * (1 - expected) / parts);
}

static struct call_sleep fresh(uint64_t seed)
{
  return (struct call_sleep){.random = seed};
}

/* Calls that sleep in turn as long as one period: at regular moments, one of them would have it all. */
static void regular_calls_have_their_shares(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    struct call_sleep sleep = fresh(seed * 0x9e3779b97f4a7c15ULL);
    uint64_t charged[2] = {0};
    for (int i = 0; i < CALLS; i++)
      charged[i % 2] += chosen(&sleep, i % 2 ? 3 * PERIOD / 4 : PERIOD / 4, PERIOD);
    assert_int_equal(charged[0] + charged[1], (uint64_t)CALLS / 2 * PERIOD);
    assert_share((double)charged[0] / (double)(charged[0] + charged[1]), 0.25, CALLS / 2);
  }
}

/* Of two kinds of calls, one sleeps 50 times as long as the other one, of which there are 50 times as many. */
static void many_short_calls_have_as_much_as_few_longer_ones(void **state)
{
  (void)state;
  struct call_sleep sleep = fresh(7);
  uint64_t of_short = 0, of_longer = 0;
  for (int i = 0; i < CALLS; i++)
    *(i % 51 ? &of_short : &of_longer) += chosen(&sleep, i % 51 ? 10 : 500, PERIOD);
  double all = (double)(of_short + of_longer);
  assert_share((double)of_short / all, 0.5, all / PERIOD);
}

/* The sum is never off by more than a part, also where the period changes. */
static void the_sum_is_exact_to_one_part(void **state)
{
  (void)state;
  struct call_sleep sleep = fresh(11);
  uint64_t slept = 0, charged = 0;
  for (uint64_t i = 0; i < CALLS; i++) {
    uint64_t period = i < CALLS / 2 ? PERIOD : 7 * PERIOD, ns = i * 7919 % PERIOD + 1;
    charged += chosen(&sleep, ns, period);
    slept += ns;
    assert_in_range(charged + period, slept, slept + 2 * period);
  }
}

/* Bytes stay with their line, whatever other calls there are, until there are too many lines. */
static void bytes_stay_with_their_line(void **state)
{
  (void)state;
  static struct measured_thread states;
  struct thread_state *t = (struct thread_state *)&states;
  static const char code[SITES + 1];
  call_sleep_init(t);
  for (unsigned round = 1; round <= 3; round++)
    for (unsigned i = 0; i < SITES; i++) {
      struct call_bytes *site = bytes_of_or_new(t, &code[i]);
      assert_ptr_equal(site->code, &code[i]);
      assert_int_equal(site->bytes, (round - 1) * (i + 1));
      site->bytes += i + 1;
      assert_null(bytes_of(t, &code[SITES])); /* a call without bytes takes no place */
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(regular_calls_have_their_shares),
                                     cmocka_unit_test(many_short_calls_have_as_much_as_few_longer_ones),
                                     cmocka_unit_test(the_sum_is_exact_to_one_part),
                                     cmocka_unit_test(bytes_stay_with_their_line)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
