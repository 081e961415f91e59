/* Clocks of hosts that are known: they read (time - offset) / rate.  Messages between them are written here. */
#include "hpcprof-lite/messages/host_clocks.h"
#include "tests/support/unit.h"

#include <math.h>

enum { HOSTS = 5, HOSTS_MAX = 1024, MESSAGES_MAX = 400000 };
#define US 1e3
#define S 1e9

static struct {
  double offset_ns, rate;
} truth[HOSTS_MAX] = {{0, 1}, {5 * S, 1 + 50e-6}, {-3 * S, 0.99}, {0.2 * S, 1 - 2e-6}, {1000 * S, 1.01}};

static struct {
  uint32_t from, to;
  double sent_ns, arrived_ns;
} messages[MESSAGES_MAX];
static uint32_t messages_count;
static struct host_clocks *clocks;
static struct host_clock fitted[HOSTS_MAX];
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

/* No message arrives before it was sent; and the clocks of hosts are right to what is left open, and that to so much,
 * between the times at which something was first sent and has last arrived. */
static void expect(uint32_t hosts, double error_ns)
{
  double begin_ns = INFINITY, end_ns = -INFINITY;
  for (uint32_t i = 0; i < messages_count; i++) {
    double sent_ns = corrected(messages[i].from, messages[i].sent_ns);
    double arrived_ns = corrected(messages[i].to, messages[i].arrived_ns);
    assert_true(sent_ns <= arrived_ns + 0.1);
    begin_ns = fmin(begin_ns, sent_ns);
    end_ns = fmax(end_ns, arrived_ns);
  }
  for (uint32_t i = 0; i < hosts; i++) {
    assert_true(fitted[i].related && fitted[i].open_ns >= 0);
    assert_true(fabs(fitted[i].rate - 1) <= HOST_CLOCKS_RATE_MAX);
    if (fitted[i].open_ns > error_ns)
      fail_msg("host %u: %g ns, allowed: %g", i, fitted[i].open_ns, error_ns);
    for (unsigned k = 0; k < 2; k++) {
      double is_ns = k ? end_ns : begin_ns, on_host_ns = (is_ns - fitted[i].offset_ns) / fitted[i].rate;
      double error = truth[i].offset_ns + truth[i].rate * on_host_ns - is_ns;
      if (fabs(error) > fitted[i].open_ns + 0.1)
        fail_msg("host %u: wrong by %g ns, said: %g", i, error, fitted[i].open_ns);
    }
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
  expect(2, 110 * US); /* what is in the corridor is equally possible */
  assert_true(fitted[1].open_ns > 52 * US);
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

/* Messages in both directions, which take 5 us. */
static void exchange_at(uint32_t one, uint32_t other, double time_ns)
{
  message(one, time_ns, other, 5 * US);
  message(other, time_ns, one, 5 * US);
}

/* A clock is known to +-half_ns: so much is open, and more where it is not in the middle of that, but within half. */
static void expect_open(uint32_t host, double half_ns)
{
  double part = fitted[host].open_ns / half_ns;
  if (part < 0.99 || part > 1.53)
    fail_msg("host %u: %g ns, wanted: %g", host, fitted[host].open_ns, half_ns);
}

/* Where bounds are the same all along the run, errors of clocks are no more than their sum along the chain; what is
 * known at 5 and 6 s only gets less exact before and after. */
static void test_what_is_left_open(void **state)
{
  (void)state;
  begin(HOSTS);
  for (uint32_t host = 1; host < HOSTS; host++)
    for (double time_ns = S; time_ns <= 11 * S; time_ns += S)
      exchange_at(host - 1, host, time_ns);
  end(HOSTS);
  expect(HOSTS, 31 * US);
  for (uint32_t host = 1; host < HOSTS; host++)
    expect_open(host, host * 5 * US);
  begin(2);
  exchange_at(0, 1, 5 * S);
  exchange_at(0, 1, 6 * S);
  host_clocks_cover(clocks, 0, S);
  host_clocks_cover(clocks, 1, on_clock(1, 11 * S));
  end(2);
  expect(2, 84 * US);
  expect_open(1, 55 * US);
  begin(2);
  exchange_at(0, 1, 5 * S);
  exchange_at(0, 1, 6 * S);
  message(0, S, 1, 2 * S); /* it is so slow that it bounds nothing */
  end(2);
  expect_open(1, 45 * US);
  begin(2);
  exchange_at(0, 1, 5 * S);
  exchange_at(0, 1, 6 * S);
  message(1, 9 * S, 0, 2 * S);
  end(2);
  expect_open(1, 55 * US);
}

/* Messages that take no time in one direction, and then in the other one: the true clock is at the very end of what is
 * left open. */
static void test_true_clock_at_the_end(void **state)
{
  (void)state;
  truth[1].offset_ns = 5 * S;
  truth[1].rate = 1.04;
  begin(2);
  message(0, S, 1, 0);
  message(1, S, 0, 0.06 * S);
  message(0, 2 * S, 1, 0.01 * S);
  message(1, 2 * S, 0, 0);
  end(2);
  expect(2, INFINITY);
}

/* Each of three hosts sends to the next one only: no two of them have bounds from both sides.  Little is known of a
 * fourth host. */
static void test_one_way_around(void **state)
{
  (void)state;
  begin(4);
  for (double time_ns = S; time_ns <= 11 * S; time_ns += S / 100)
    for (uint32_t host = 0; host < 3; host++)
      message(host, time_ns + host * S / 300, (host + 1) % 3, 5 * US);
  message(0, S, 3, S);
  message(3, 9 * S, 0, S);
  end(4);
  expect(4, INFINITY);
  for (uint32_t host = 1; host < 3; host++)
    assert_true(fitted[host].open_ns > 7.4 * US && fitted[host].open_ns < 20 * US);
  assert_true(fitted[3].open_ns > S);
}

/* A clock that is fitted to host 0 only is wrong for one that it knows better: both must move at once. */
static void test_moves_of_several_hosts(void **state)
{
  (void)state;
  uint64_t random = 1;
  for (unsigned i = 0; i < 200; i++) {
    begin(4);
    seed = random;
    for (uint32_t host = 1; host < 4; host++)
      for (unsigned k = 0; k < 4; k++) {
        message(0, S + 10 * S * random_part(), host, 3000 * US * random_part());
        message(host, S + 10 * S * random_part(), 0, 3000 * US * random_part());
      }
    exchange(1, 2, 20, 1 * US, 1 * US);
    exchange(2, 3, 20, 1 * US, 1 * US);
    random = seed;
    end(4);
    expect(4, INFINITY);
  }
}

static uint32_t random_below(uint32_t count)
{
  return (uint32_t)(random_part() * count);
}

/* Jobs of any clocks, neighbours, times, and delays from 1 us to 0.1 s. */
static void test_random_jobs(void **state)
{
  enum { JOBS = 400, HOSTS_MOST = 12 };
  (void)state;
  uint64_t random = 1;
  for (unsigned job = 0; job < JOBS; job++) {
    seed = random;
    uint32_t hosts = 2 + random_below(HOSTS_MOST - 1), neighbours = 1 + random_below(3), count = 1 + random_below(60);
    double rates = pow(10, -1.4 - 6 * random_part()), shortest = US * pow(10, 3 * random_part());
    double from_ns = 10 * S * random_part(), takes_ns = S * pow(10, 1 - 4 * random_part());
    for (uint32_t host = 1; host < hosts; host++) {
      truth[host].offset_ns = 100 * S * (random_part() - 0.5);
      truth[host].rate = 1 + rates * (2 * random_part() - 1);
    }
    random = seed;
    begin(hosts);
    seed = random;
    for (uint32_t i = 0; i < hosts * neighbours; i++) { /* the first ones go around */
      uint32_t from = i % hosts, to = i < hosts ? (i + 1) % hosts : random_below(hosts);
      for (uint32_t k = 0; k < count && from != to; k++) {
        message(from, from_ns + takes_ns * random_part(), to, shortest * pow(10, 2 * random_part()));
        if (i >= hosts)
          message(to, from_ns + takes_ns * random_part(), from, shortest * pow(10, 2 * random_part()));
      }
    }
    random = seed;
    end(hosts);
    expect(hosts, INFINITY);
  }
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

/* Clocks that agree, and messages that take no time: only slopes of 0 are left, which rounding can miss. */
static void test_no_delays(void **state)
{
  enum { ALIKE = 15, SENT = 4000 };
  (void)state;
  begin(ALIKE);
  for (uint32_t i = 0; i < SENT; i++) {
    uint32_t from = (uint32_t)(ALIKE * random_part()), to = (uint32_t)(ALIKE * random_part());
    double ns = 1000 * S * random_part();
    if (from != to)
      host_clocks_bound(clocks, from, ns, to, ns);
  }
  end(ALIKE);
  for (uint32_t i = 0; i < ALIKE; i++)
    assert_true(fitted[i].related && fabs(fitted[i].open_ns) < 1 && fabs(corrected(i, S) - S) < 1);
}

/* 32 times 32 hosts, each of which exchanges messages with the next ones in its row and its column. */
static void test_many_hosts(void **state)
{
  enum { SIDE = 32 };
  (void)state;
  for (uint32_t host = 1; host < SIDE * SIDE; host++) {
    truth[host].offset_ns = host * S / 10;
    truth[host].rate = 1 + 1e-6 * host;
  }
  begin(SIDE * SIDE);
  for (uint32_t i = 0; i < SIDE * SIDE; i++) {
    exchange(i, i / SIDE * SIDE + (i + 1) % SIDE, 30, 5 * US, 5 * US);
    exchange(i, (i + SIDE) % (SIDE * SIDE), 30, 5 * US, 5 * US);
  }
  end(SIDE * SIDE);
  expect(SIDE * SIDE, SIDE * 100 * US);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_offset_and_rate),
      cmocka_unit_test(test_rate_without_evidence),
      cmocka_unit_test(test_asymmetric),
      cmocka_unit_test(test_through_others),
      cmocka_unit_test(test_all_at_once),
      cmocka_unit_test(test_what_is_left_open),
      cmocka_unit_test(test_true_clock_at_the_end),
      cmocka_unit_test(test_one_way_around),
      cmocka_unit_test(test_moves_of_several_hosts),
      cmocka_unit_test(test_many_messages),
      cmocka_unit_test(test_unrelated),
      cmocka_unit_test(test_contradictions),
      cmocka_unit_test(test_no_delays),
      cmocka_unit_test(test_random_jobs),
      cmocka_unit_test(test_many_hosts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
