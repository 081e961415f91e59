/* Event specifications: names, aliases, rates, periods, lists, and refusals. */
#include "common/counters.h"
#include "common/events.h"
#include "tests/support/unit.h"

#include <linux/perf_event.h>

static struct event parse(const char *text)
{
  struct event event;
  char message[256] = "";
  if (events_parse(text, &event, message, sizeof message) != 0)
    fail_msg("'%s' refused: %s", text, message);
  return event;
}

static void expect_refused(const char *text, const char *part)
{
  struct event event;
  char message[256] = "";
  assert_int_equal(events_parse(text, &event, message, sizeof message), -1);
  if (!strstr(message, part))
    fail_msg("'%s': message '%s' lacks '%s'", text, message, part);
  assert_null(strchr(message, '\n'));
}

static void times_have_a_frequency_and_its_period(void **state)
{
  (void)state;
  struct event event = parse("task-clock");
  assert_string_equal(event.name, "task-clock");
  assert_int_equal(event.clock, EVENT_CPU_TIME);
  assert_int_equal(event.frequency, 200);
  assert_int_equal(event.period, 5000000);
  event = parse("wall@f1000");
  assert_int_equal(event.clock, EVENT_WALL_TIME);
  assert_int_equal(event.frequency, 1000);
  assert_int_equal(event.period, 1000000);
}

static void plain_periods_are_microseconds_or_counts(void **state)
{
  (void)state;
  struct event event = parse("cpu-clock@2500");
  assert_int_equal(event.period, 2500000);
  assert_int_equal(event.frequency, 0);
  event = parse("page-faults@1");
  assert_int_equal(event.period, 1);
  assert_int_equal(event.perf_type, PERF_TYPE_SOFTWARE);
  event = parse("cycles");
  assert_int_equal(event.period, 0);
  assert_int_equal(event.frequency, 200);
}

static void aliases_become_canonical(void **state)
{
  (void)state;
  static const char *const pairs[][2] = {{"CPUTIME", "task-clock"},          {"REALTIME", "wall"},
                                         {"cpu-cycles", "cycles"},           {"faults", "page-faults"},
                                         {"cs", "context-switches"},         {"migrations", "cpu-migrations"},
                                         {"branch-instructions", "branches"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    assert_string_equal(parse(pairs[i][0]).name, pairs[i][1]);
}

static void cache_and_raw_events(void **state)
{
  (void)state;
  struct event event = parse("L1-dcache-load-misses@10000");
  assert_int_equal(event.perf_type, PERF_TYPE_HW_CACHE);
  assert_int_equal(event.perf_config, 0x10000);
  event = parse("LLC-stores");
  assert_int_equal(event.perf_config, 2 | 1 << 8);
  event = parse("r01C2");
  assert_int_equal(event.perf_type, PERF_TYPE_RAW);
  assert_int_equal(event.perf_config, 0x1c2);
  assert_string_equal(event.name, "r1c2");
}

static void bad_ones_are_refused_with_a_reason(void **state)
{
  (void)state;
  expect_refused("foo", "unknown event 'foo'");
  expect_refused("", "empty event name");
  expect_refused("r", "unknown event");
  expect_refused("rxyz", "unknown event");
  expect_refused("r12345678123456789", "unknown event");
  expect_refused("cycles:u", "modifiers");
  expect_refused("wall@", "bad period");
  expect_refused("wall@9", "bad period");
  expect_refused("wall@-20", "bad period");
  expect_refused("wall@20us", "bad period");
  expect_refused("wall@99999999999999999999999", "bad period");
  expect_refused("wall@f", "bad frequency");
  expect_refused("wall@f0", "bad frequency");
  expect_refused("wall@f100001", "bad frequency");
  expect_refused("cycles@0", "bad period");
  expect_refused("cycles@f200@3", "bad frequency");
  expect_refused("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "unknown event");
}

static void lists(void **state)
{
  (void)state;
  struct event events[EVENTS_MAX];
  char message[256];
  assert_int_equal(events_parse_list("task-clock@f200,page-faults@10", events, message, sizeof message), 2);
  assert_string_equal(events[1].name, "page-faults");
  assert_int_equal(events_parse_list("CPUTIME,task-clock@f10", events, message, sizeof message), -1);
  assert_non_null(strstr(message, "twice"));
  assert_int_equal(events_parse_list("wall,,cycles", events, message, sizeof message), -1);
  assert_int_equal(events_parse_list("", events, message, sizeof message), -1);
  assert_int_equal(events_parse_list("r1,r2,r3,r4,r5,r6,r7,r8", events, message, sizeof message), EVENTS_MAX);
  assert_int_equal(events_parse_list("r1,r2,r3,r4,r5,r6,r7,r8,r9", events, message, sizeof message), -1);
  assert_non_null(strstr(message, "more than 8"));
}

static void lists_of_counters_are_read_as_written(void **state)
{
  (void)state;
  static const struct counter list[] = {{.name = "page-faults", .type = 1, .config = 2},
                                        {.name = "FP_ARITH:SCALAR=2:u", .type = 4, .config = 0x1c7, .user_only = true},
                                        {.name = "x", .type = 10, .config = 1, .config1 = 0xff, .user_only = true},
                                        {.name = "y", .type = 10, .config1 = 1},
                                        {.name = "z:k", .type = 4, .config = 3, .kernel_only = true},
                                        {.name = "cs", .usage = true, .config = COUNTER_CONTEXT_SWITCHES}};
  enum { COUNT = sizeof list / sizeof *list };
  struct counter read[COUNTERS_MAX];
  char text[COUNTERS_TEXT_MAX];
  bool locks = true;
  assert_true(counters_format(list, COUNT, false, text, sizeof text));
  assert_string_equal(text,
                      "page-faults=1/2,FP_ARITH:SCALAR=2:u=4/1c7/user,x=a/1/ff/user,y=a/0/1,z:k=4/3/kernel,cs=usage/3");
  assert_int_equal(counters_parse(text, read, &locks), COUNT);
  assert_false(locks);
  for (unsigned i = 0; i < COUNT; i++) {
    assert_string_equal(read[i].name, list[i].name);
    assert_true(read[i].usage == list[i].usage && read[i].user_only == list[i].user_only);
    assert_true(read[i].kernel_only == list[i].kernel_only);
    assert_true(read[i].type == list[i].type && read[i].config == list[i].config && read[i].config1 == list[i].config1);
  }
  assert_false(counters_format(list, COUNT, false, text, 40));
  assert_true(counters_format(list, 1, true, text, sizeof text));
  assert_string_equal(text, "locks,page-faults=1/2");
  assert_true(counters_parse(text, read, &locks) == 1 && locks);
  assert_true(counters_format(list, 0, true, text, sizeof text));
  assert_true(counters_parse(text, read, &locks) == 0 && locks);
}

static void other_lists_of_counters_are_none(void **state)
{
  (void)state;
  static const char *const wrong[] = {"",          "page-faults", "=1/2",   "a=",          "a=1",
                                      "a=1/",      "a=1/x",       "a=1/2/", "a=1/2/3/4",   "a=1/2,,",
                                      "a=usage/9", "a=usage/",    "a=-1/2", "a=1/2/users", "a=1/2,b=1/2 "};
  struct counter read[COUNTERS_MAX];
  bool locks;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    if (counters_parse(wrong[i], read, &locks) != 0 && strcmp(wrong[i], "a=1/2/") != 0)
      fail_msg("'%s' is taken", wrong[i]);
  assert_int_equal(counters_parse("a=1/1,b=1/1,c=1/1,d=1/1,e=1/1,f=1/1,g=1/1,h=1/1,i=1/1", read, &locks), 0);
}

static void some_events_are_known_to_getrusage(void **state)
{
  (void)state;
  struct counter faults = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS};
  struct counter cycles = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
  assert_true(counters_as_usage(&faults) && faults.usage && faults.config == COUNTER_PAGE_FAULTS);
  assert_true(counters_as_usage(&faults));
  assert_false(counters_as_usage(&cycles));
  struct counter in_kernel = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .kernel_only = true};
  assert_false(counters_as_usage(&in_kernel));
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_have_a_frequency_and_its_period),
      cmocka_unit_test(plain_periods_are_microseconds_or_counts),
      cmocka_unit_test(aliases_become_canonical),
      cmocka_unit_test(cache_and_raw_events),
      cmocka_unit_test(bad_ones_are_refused_with_a_reason),
      cmocka_unit_test(lists),
      cmocka_unit_test(lists_of_counters_are_read_as_written),
      cmocka_unit_test(other_lists_of_counters_are_none),
      cmocka_unit_test(some_events_are_known_to_getrusage),
  };
  return UNIT_RUN(argc, argv, "events", tests, NULL, NULL);
}
