/* The trace of a thread's whole life: gaps at its ends, the state in which its process was killed, and lives. */
#include "hpcprof-lite/input/thread_trace.h"
#include "tests/support/compose_trace.h"
#include "tests/support/unit.h"

/* A tick is 0.5 ns, so that a hole of 2 000 000 ticks is short and a longer one is a gap. */
enum { STATE = 1 << TRACELOG_STATE_SHIFT, SAMPLE = 1 << TRACELOG_SAMPLE_SHIFT, BEGIN = 1000 * SAMPLE };
enum { SLACK = 2000000, LONG = 10 * SLACK, LIFE = 4 * LONG, LOOP_BODY = 7 };

static char directory[] = "/tmp/test-thread-trace-XXXXXX", path[64], measurement[64];
static struct compose_trace trace;
static struct compose compose;
static struct problems problems;
static struct thread_life life;
static char text[512];

static int setup(void **state)
{
  (void)state;
  traced_begin(&trace, BEGIN);
  life = (struct thread_life){.index = 1, .begin = BEGIN, .end = BEGIN + LIFE, .slack = SLACK};
  return 0;
}

static void put(uint64_t code, uint64_t ticks)
{
  traced_state(&trace, 1, TRACELOG_STATE, code, ticks / STATE, 0);
}

static void leave_out(uint64_t ticks)
{
  trace.streams[0].state_clock += ticks / STATE;
}

static void append(const struct trace_event *event)
{
  static const char *const kinds[] = {[TRACE_EVENT_STATE] = "state", [TRACE_EVENT_SAMPLE] = "sample"};
  size_t size = strlen(text);
  const char *kind = event->outer ? "outer" : "gap";
  if (event->kind != TRACE_EVENT_GAP)
    kind = kinds[event->kind];
  snprintf(text + size, sizeof text - size, "%s%s %lld-%lld", size ? ", " : "", kind,
           ((long long)event->begin_ticks - BEGIN) / SLACK, ((long long)event->end_ticks - BEGIN) / SLACK);
}

/* Times are in units of what may be missing at an end. */
static struct trace_event expect(const char *expected)
{
  struct trace_reader reader;
  struct thread_trace whole;
  struct trace_event event, last = {0};
  traced_compose(&trace, COMPOSE_PACKED, &compose);
  assert_true(compose_write(&compose, path));
  assert_int_equal(trace_reader_open(measurement, &problems, &reader), 0);
  thread_trace_open(&reader, &life, &problems, &whole);
  text[0] = '\0';
  while (thread_trace_next(&whole, &event)) {
    append(&event);
    last = event;
  }
  assert_false(thread_trace_next(&whole, &event));
  assert_string_equal(text, expected);
  assert_int_equal(problems.count, 0);
  thread_trace_close(&whole);
  trace_reader_close(&reader);
  return last;
}

/* ---- gaps ---- */

static void test_what_is_missing_at_an_end_is_a_gap_if_it_is_long(void **state)
{
  (void)state;
  leave_out(SLACK);
  put(LOOP_BODY, LIFE - 2 * SLACK);
  expect("state 1-39");
  setup(NULL);
  leave_out(SLACK + STATE);
  put(LOOP_BODY, LIFE - 2 * SLACK - 2 * STATE);
  assert_true(expect("outer 0-1, state 1-38, outer 38-40").outer);
}

static void test_where_a_chunk_is_missing_every_hole_is_a_gap(void **state)
{
  (void)state;
  trace.streams[0].number = 1;
  leave_out(SLACK);
  put(LOOP_BODY, LIFE - SLACK);
  expect("outer 0-1, state 1-40");
}

/* The samples of the first state come before it. */
static void test_samples_before_the_first_state_stay_before_its_gap(void **state)
{
  (void)state;
  leave_out(LONG);
  traced_sample(&trace, 1, TRACELOG_WORKS, (LONG + 2 * SLACK) / SAMPLE, 1, 0, 0, 0);
  put(LOOP_BODY, LIFE - LONG);
  expect("sample 11-11, outer 0-10, state 10-40");
}

static void test_a_gap_in_the_trace_is_not_outside(void **state)
{
  (void)state;
  traced_op(&trace, 1, TRACELOG_GAP, 1, (const uint64_t[]){LONG / STATE});
  put(LOOP_BODY, LIFE - LONG);
  expect("gap 0-10, state 10-40");
}

static void test_without_a_state_all_is_outside(void **state)
{
  (void)state;
  expect("outer 0-40");
  traced_samples_only(&trace);
  traced_sample(&trace, 1, TRACELOG_WORKS, LONG / SAMPLE, 1, 0, 0, 0);
  life.open = (struct open_state){.known = true}; /* which states it had is not known */
  expect("sample 9-9, outer 0-40");
}

static void test_a_trace_that_lies_beside_the_life(void **state)
{
  (void)state;
  put(LOOP_BODY, LIFE + LONG);
  expect("state 0-50");
  life.begin += LIFE + 2 * LONG;
  life.end += LIFE + 2 * LONG;
  expect("state 0-50, outer 60-100");
}

/* ---- killed ---- */

static void test_the_open_state_follows(void **state)
{
  (void)state;
  put(1, LONG);
  life.open = (struct open_state){.known = true, .code = LOOP_BODY};
  struct trace_event last = expect("state 0-10, state 10-40");
  assert_true(last.code == LOOP_BODY && !last.blocked && !last.lock && !last.own_ticks);
  life.open.since = BEGIN + LONG - STATE; /* clocks differ a little */
  expect("state 0-10, state 10-40");
  life.open.since = BEGIN + LONG + SLACK;
  expect("state 0-10, state 11-40");
  life.open.since = BEGIN + 2 * LONG;
  expect("state 0-10, outer 10-20, state 20-40");
}

static void test_what_the_open_state_was(void **state)
{
  (void)state;
  put(1, LONG);
  life.open = (struct open_state){.known = true, .code = LOOP_BODY, .blocked = true};
  assert_true(expect("state 0-10, state 10-40").blocked);
  life.open = (struct open_state){.known = true, .code = LOOP_BODY, .lock = 3};
  assert_int_equal(expect("state 0-10, state 10-40").lock, 3);
  life.open = (struct open_state){.known = true, .code = LOOP_BODY, .left = true}; /* all of it is the runtime's */
  assert_int_equal(expect("state 0-10, state 10-40").own_ticks, LIFE - LONG);
}

static void test_a_stream_that_had_ended_before(void **state)
{
  (void)state;
  put(1, LONG);
  life.open = (struct open_state){.known = true, .code = LOOP_BODY, .limited = true};
  expect("state 0-10, outer 10-40");
  traced_cut(&trace, 1, 1, 0, 0); /* it went on where a chunk is missing */
  put(1, LONG);
  expect("state 0-10, state 10-20, state 20-40");
}

/* ---- lives ---- */

static void test_lives(void **state)
{
  (void)state;
  struct profile_process process = {
      .start_ticks = BEGIN, .from_ticks = BEGIN + LONG, .wall_ns = 1000000, .workspan = {.tick_ns = 0.5}};
  struct profile_thread thread = {.index = 3, .start_ns = 100, .end_ns = 700, .wall_ns = 500};
  struct thread_life found = thread_life_of(NULL, &process, &thread, NULL, 0);
  assert_true(found.index == 3 && found.begin == BEGIN + 200 && found.end == BEGIN + 1400 && found.slack == SLACK);
  assert_false(found.open.known);
  thread.end_ns = 0; /* alive when the process ended: until its record was written */
  assert_int_equal(thread_life_of(NULL, &process, &thread, NULL, 0).end, BEGIN + 1200);
  process.unfinished = true;
  found = thread_life_of(NULL, &process, &thread, NULL, 0);
  assert_true(found.end == BEGIN + 2000000 && found.open.known);
  process.in_part = true; /* times are since the part's beginning */
  assert_int_equal(thread_life_of(NULL, &process, &thread, NULL, 0).begin, BEGIN + LONG + 200);
}

static int make_directory(void **state)
{
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/a.trace", directory);
  snprintf(measurement, sizeof measurement, "%s/a.hpcrun", directory);
  return 0;
}

static int remove_directory(void **state)
{
  (void)state;
  problems_release(&problems);
  unlink(path);
  return rmdir(directory);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_what_is_missing_at_an_end_is_a_gap_if_it_is_long, setup),
      cmocka_unit_test_setup(test_where_a_chunk_is_missing_every_hole_is_a_gap, setup),
      cmocka_unit_test_setup(test_samples_before_the_first_state_stay_before_its_gap, setup),
      cmocka_unit_test_setup(test_a_gap_in_the_trace_is_not_outside, setup),
      cmocka_unit_test_setup(test_without_a_state_all_is_outside, setup),
      cmocka_unit_test_setup(test_a_trace_that_lies_beside_the_life, setup),
      cmocka_unit_test_setup(test_the_open_state_follows, setup),
      cmocka_unit_test_setup(test_what_the_open_state_was, setup),
      cmocka_unit_test_setup(test_a_stream_that_had_ended_before, setup),
      cmocka_unit_test(test_lives),
  };
  return UNIT_RUN(argc, argv, "thread_trace", tests, make_directory, remove_directory);
}
