/* Reading a perf event from its page: pages are composed, and so is what the register holds. */
#include "hpcrun-lite/rt/core/counter_page.h"
#include "tests/support/unit.h"

static struct perf_event_mmap_page page;
static uint64_t in_register;
static uint32_t asked[4], asked_count;
static uint32_t writes; /* how often the kernel still writes the page while it is read */

static uint64_t read_composed(uint32_t number)
{
  asked[asked_count++ % 4] = number;
  if (writes) {
    writes--;
    page.lock += 2;
    page.offset += 1000;
    page.time_enabled += 5;
  }
  return in_register;
}

static void compose(uint32_t index, uint16_t width, int64_t offset, uint64_t value)
{
  if (!MACHINE_READS_COUNTERS)
    skip();
  memset(&page, 0, sizeof page);
  page.lock = 6;
  page.index = index;
  page.offset = offset;
  page.pmc_width = width;
  page.cap_user_rdpmc = 1;
  in_register = value;
  asked_count = writes = 0;
}

static void expect_count(uint64_t count)
{
  struct counter_reading reading = {0};
  assert_true(counter_page_read(&page, 0, read_composed, &reading));
  assert_int_equal(reading.count, count);
}

/* The register is not touched: the instruction would fault. */
static void expect_refused(void)
{
  struct counter_reading reading;
  assert_false(counter_page_read(&page, 0, read_composed, &reading));
  assert_int_equal(asked_count, 0);
}

static void test_a_register_is_added_to_the_offset(void **state)
{
  (void)state;
  compose(3, 48, 500, 42);
  expect_count(542);
  assert_int_equal(asked_count, 1);
  assert_int_equal(asked[0], 2); /* index - 1 */
}

/* The kernel lets a register begin below 0, so that it overflows in time. */
static void test_registers_have_a_sign_and_a_width(void **state)
{
  (void)state;
  compose(1, 48, 1000, (1ull << 48) - 10);
  expect_count(990);
  compose(1, 48, 1000, 0xabcd000000000005ull); /* bits above the width are of no account */
  expect_count(1005);
  compose(1, 40, 0, (1ull << 39) - 1);
  expect_count((1ull << 39) - 1);
  compose(1, 40, 1ll << 40, 1ull << 39);
  expect_count(1ull << 39);
  compose(1, 64, -7, 9);
  expect_count(2);
  compose(1, 32, INT64_MAX, 0xffffffff);
  expect_count((uint64_t)INT64_MAX - 1);
}

static void test_pages_that_forbid_it(void **state)
{
  (void)state;
  compose(1, 48, 500, 42);
  page.cap_user_rdpmc = 0;
  expect_refused();
  compose(0, 48, 500, 42); /* the event has no register now */
  expect_refused();
  memset(&page, 0, sizeof page);
  expect_refused();
}

static void test_a_page_that_changes_is_read_again(void **state)
{
  (void)state;
  compose(1, 48, 500, 42);
  writes = 3;
  expect_count(3542);
  assert_int_equal(asked_count, 4);
}

static void test_a_page_in_change_is_given_up(void **state)
{
  (void)state;
  struct counter_reading reading;
  compose(1, 48, 500, 42);
  page.lock = 7; /* the kernel is writing */
  assert_false(counter_page_read(&page, 0, read_composed, &reading));
  compose(1, 48, 500, 42);
  writes = UINT32_MAX;
  assert_false(counter_page_read(&page, 0, read_composed, &reading));
}

/* An event that shares its register: existed for 1000 ns and was counted for 400 when the kernel wrote the page. */
static void test_times_until_now(void **state)
{
  (void)state;
  struct counter_reading reading = {0};
  compose(1, 48, 500, 42);
  page.time_enabled = 1000;
  page.time_running = 400;
  assert_true(counter_page_read(&page, 0, read_composed, &reading));
  assert_true(!reading.timed && reading.enabled_ns - reading.running_ns == 600);
  page.cap_user_time = 1;
  page.time_shift = 10;
  page.time_mult = 512; /* half a nanosecond a tick */
  page.time_offset = (uint64_t)-1000;
  assert_true(counter_page_read(&page, 5001, read_composed, &reading));
  assert_true(reading.timed);
  assert_int_equal(reading.enabled_ns, 1000 + 1500);
  assert_int_equal(reading.running_ns, 400 + 1500);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_register_is_added_to_the_offset),
      cmocka_unit_test(test_registers_have_a_sign_and_a_width),
      cmocka_unit_test(test_pages_that_forbid_it),
      cmocka_unit_test(test_a_page_that_changes_is_read_again),
      cmocka_unit_test(test_a_page_in_change_is_given_up),
      cmocka_unit_test(test_times_until_now),
  };
  return UNIT_RUN(argc, argv, "counter_page", tests, NULL, NULL);
}
