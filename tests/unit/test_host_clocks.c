/* Clocks of hosts that are known: they read (time - offset) / rate.  Messages between them are written here. */
#include "hpcprof-lite/messages/host_clocks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { HOSTS = 5, MESSAGES_MAX = 400000 };
#define US 1e3
#define S 1e9

static const struct {
  double offset_ns, rate;
} truth[HOSTS] = {{0, 1}, {5 * S, 1 + 50e-6}, {-3 * S, 0.99}, {0.2 * S, 1 - 2e-6}, {1000 * S, 1.01}};

static struct {
  uint32_t from, to;
  double sent_ns, arrived_ns;
} messages[MESSAGES_MAX];
static uint32_t messages_count;
static struct host_clocks *clocks;
static struct host_clock fitted[HOSTS];
static uint64_t seed;

static double on_clock(uint32_t host, double time_ns)
{
  return (time_ns - truth[host].offset_ns) / truth[host].rate;
}

/* What the fit says of a time on a host's clock. */
static double corrected(uint32_t host, double ns)
{
  return fitted[host].offset_ns + fitted[host].rate * ns;
}

/* From 0 to 1. */
static double random_part(void)
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) * 0x1p-53;
}

static void begin(uint32_t hosts)
{
  clocks = host_clocks_new(hosts);
  messages_count = 0;
  seed = 1;
}

/* A message that is under way for so long. */
static void message(uint32_t from, double time_ns, uint32_t to, double takes_ns)
{
  assert_true(messages_count < MESSAGES_MAX);
  messages[messages_count].from = from;
  messages[messages_count].to = to;
  messages[messages_count].sent_ns = on_clock(from, time_ns);
  messages[messages_count].arrived_ns = on_clock(to, time_ns + takes_ns);
  host_clocks_bound(clocks, from, messages[messages_count].sent_ns, to, messages[messages_count].arrived_ns);
  messages_count++;
}

/* So many messages in each direction, from 1 s to 11 s, which take at least so long. */
static void exchange(uint32_t one, uint32_t other, uint32_t count, double there_ns, double back_ns)
{
  for (uint32_t i = 0; i < count; i++) {
    double time_ns = S + 10 * S * i / count;
    message(one, time_ns, other, there_ns * (1 + 20 * random_part()));
    message(other, time_ns + 50 * US, one, back_ns * (1 + 20 * random_part()));
  }
}

static void end(uint32_t related)
{
  assert_int_equal(host_clocks_fit(clocks, fitted), related);
  host_clocks_free(clocks);
}

/* No message arrives before it was sent; and the clock of a host is right, from 1 s to 11 s, to so much. */
static void expect(uint32_t hosts, double error_ns)
{
  for (uint32_t i = 0; i < messages_count; i++) {
    double sent_ns = corrected(messages[i].from, messages[i].sent_ns);
    assert_true(sent_ns <= corrected(messages[i].to, messages[i].arrived_ns) + 0.1);
  }
  for (uint32_t i = 0; i < hosts; i++) {
    assert_true(fitted[i].related && fitted[i].open_ns >= 0);
    for (double time_ns = S; time_ns <= 11 * S; time_ns += S)
      if (fabs(corrected(i, on_clock(i, time_ns)) - time_ns) > error_ns)
        fail_msg("host %u at %g s: %g ns, allowed: %g", i, time_ns / S, corrected(i, on_clock(i, time_ns)) - time_ns,
                 error_ns);
  }
}

static void test_offset_and_rate(void **state)
{
  (void)state;
  for (uint32_t host = 1; host < HOSTS; host++) { /* host 1 of the fit is that one */
    begin(HOSTS);
    exchange(0, host, 1000, 5 * US, 5 * US);
    end(2);
    assert_true(fitted[host].related && fitted[host].open_ns > 0 && fitted[host].open_ns < 10 * US);
    assert_true(fabs(fitted[host].rate - truth[host].rate) < 3e-6);
    for (double time_ns = S; time_ns <= 11 * S; time_ns += S)
      assert_true(fabs(corrected(host, on_clock(host, time_ns)) - time_ns) < 10 * US);
  }
}

/* The clock of a host that differs by nothing but its offset keeps its rate: a corridor is no evidence. */
static void test_rate_without_evidence(void **state)
{
  (void)state;
  begin(2);
  for (uint32_t i = 0; i < 100; i++) {
    host_clocks_bound(clocks, 0, i * S / 10, 1, i * S / 10 + 7 * S + 5 * US * (1 + random_part()));
    host_clocks_bound(clocks, 1, i * S / 10 + 7 * S, 0, i * S / 10 + 5 * US * (1 + random_part()));
  }
  end(2);
  assert_true(fitted[1].rate == 1 && fabs(fitted[1].offset_ns + 7 * S) < 5 * US);
}

static void test_asymmetric(void **state)
{
  (void)state;
  begin(2);
  exchange(0, 1, 2000, 100 * US, 5 * US);
  end(2);
  expect(2, 105 * US); /* what is in the corridor is equally possible */
  assert_true(fitted[1].open_ns > 52 * US && fitted[1].open_ns < 75 * US);
}

static void test_through_others(void **state)
{
  (void)state;
  begin(HOSTS);
  for (uint32_t host = HOSTS - 1; host > 0; host--)
    exchange(host, host - 1, 3000, 5 * US, 5 * US);
  end(HOSTS);
  expect(HOSTS, HOSTS * 10 * US);
}

/* Where hosts 0 and 1, and 0 and 2, leave much open, the messages between 1 and 2 must be kept, too. */
static void test_all_at_once(void **state)
{
  (void)state;
  begin(3);
  exchange(0, 1, 1000, 200 * US, 5 * US);
  exchange(0, 2, 1000, 5 * US, 200 * US);
  exchange(1, 2, 1000, 2 * US, 2 * US);
  end(3);
  expect(3, 205 * US);
}

static void test_many_messages(void **state)
{
  (void)state;
  begin(2);
  exchange(0, 1, MESSAGES_MAX / 2, 5 * US, 5 * US);
  end(2);
  expect(2, 10 * US);
}

static void test_unrelated(void **state)
{
  (void)state;
  begin(4);
  exchange(0, 1, 10, 5 * US, 5 * US);
  message(0, S, 2, 5 * US); /* one direction is no corridor */
  end(2);
  assert_true(fitted[1].related && !fitted[2].related && !fitted[3].related);
  begin(2);
  end(1);
  assert_true(fitted[0].related && !fitted[1].related);
}

static void test_contradictions(void **state)
{
  (void)state;
  begin(2);
  exchange(0, 1, 100, 5 * US, 5 * US);
  host_clocks_bound(clocks, 0, on_clock(0, 5 * S), 1, on_clock(1, 5 * S - 1e6)); /* a ms too early */
  host_clocks_bound(clocks, 1, on_clock(1, 5 * S), 0, on_clock(0, 5 * S - 1e6));
  end(2);
  assert_true(fitted[1].related);
  assert_true(fabs(fitted[1].open_ns + 1e6) < 10 * US);
  begin(2);
  host_clocks_bound(clocks, 0, 0x1p63, 1, -0x1p63); /* of damaged logs */
  host_clocks_bound(clocks, 1, 0x1p63, 0, -0x1p63);
  end(2);
  assert_true(fitted[1].open_ns < 0 && isfinite(fitted[1].offset_ns) && fitted[1].rate > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_offset_and_rate), cmocka_unit_test(test_rate_without_evidence),
      cmocka_unit_test(test_asymmetric),      cmocka_unit_test(test_through_others),
      cmocka_unit_test(test_all_at_once),     cmocka_unit_test(test_many_messages),
      cmocka_unit_test(test_unrelated),       cmocka_unit_test(test_contradictions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
