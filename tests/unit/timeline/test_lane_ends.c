/* Lanes: what is not known, killed processes, and parts of a lane. */
#include "tests/unit/timeline/lane_steps.h"

/* ---- samples only ---- */

static void test_samples_without_states(void **state)
{
  (void)state;
  traced_samples_only(&trace);
  sample(TRACELOG_WORKS, 2, 1, 0);
  sample(TRACELOG_OVERHEAD, 4, 2, 0);
  sample(TRACELOG_IDLE, 6, 0, 0);
  sample(TRACELOG_LOCKWAIT, 8, 0, 0);
  sample(TRACELOG_WORKS, 11, 3, 0); /* a little late */
  sample(TRACELOG_WORKS, 20, 4, 4);
  sample(TRACELOG_WORKS, 22, 4, 0);
  expect("work/?:1 2, overhead/?:2 4, idle/? 6, lock_wait/? 8, work/?:3 11, gap 16, work/?:4 22, gap 40");
}

/* ---- what is missing ---- */

static void test_small_holes_at_both_ends_belong_to_their_neighbours(void **state)
{
  (void)state;
  trace.streams[0].state_clock += STATE_UNITS;
  put(TRACELOG_STATE, LOOP, WAIT, LIFE - 2);
  expect("idle/2 40");
}

static void test_larger_holes_are_gaps(void **state)
{
  (void)state;
  trace.streams[0].state_clock += 2 * STATE_UNITS;
  put(TRACELOG_STATE, LOOP, WAIT, LIFE - 6);
  expect("gap 2, idle/2 36, gap 40");
}

/* Also the first one, however short. */
static void test_extents_that_were_dropped_are_gaps(void **state)
{
  (void)state;
  trace.streams[0].number = 1;
  trace.streams[0].state_clock += STATE_UNITS;
  put(TRACELOG_STATE, LOOP, WAIT, 9);
  traced_cut(&trace, 1, 2, 10 * STATE_UNITS, 0);
  put(TRACELOG_STATE, LOOP, WAIT, LIFE - 20);
  expect("gap 1, idle/2 10, gap 20, idle/2 40");
}

static void test_a_thread_without_a_trace_is_a_gap(void **state)
{
  (void)state;
  traced_state(&trace, 2, TRACELOG_STATE, 1, 10, 0);
  expect("gap 40");
  begin(true);
  compose.thread.end_ns = compose.thread.wall_ns = STEP; /* however short its life */
  traced_state(&trace, 2, TRACELOG_STATE, 1, 10, 0);
  expect("gap 1");
}

static void test_a_trace_beyond_the_life(void **state)
{
  (void)state;
  put(TRACELOG_STATE, LOOP, WAIT, LIFE - 1);
  sample(TRACELOG_WORKS, LIFE + 50, 1, 0);
  work(100);
  put(TRACELOG_BEGUN, LOOP, WAIT, 100);
  traced_state(&trace, 1, TRACELOG_STATE, 1, UINT64_MAX, 0);
  expect("idle/2 39, work:1 40");
}

/* ---- killed ---- */

static void open_since(uint32_t record, unsigned time, uint64_t step)
{
  compose.thread.construct_open = record * FORMAT_TIMES + time;
  compose.thread.construct_since = START_TICKS + step * STEP;
}

static void test_the_state_of_a_killed_process(void **state)
{
  (void)state;
  work(10);
  open_since(LOOP, WAIT, 10);
  expect_killed("work 10, idle/2 40");
}

static void test_samples_in_the_state_of_a_killed_process(void **state)
{
  (void)state;
  work(10);
  sample(TRACELOG_OVERHEAD, 16, 3, 4);
  sample(TRACELOG_WORKS, 18, 4, 0);
  open_since(LOOP, BODY, 10);
  expect_killed("blocked 10, blocked/2 12, overhead/2:3 16, work/2:4 18, work/2 40");
}

static void test_a_killed_process_that_slept(void **state)
{
  (void)state;
  work(10);
  put(TRACELOG_STATE, LOOP, BODY, 4);
  open_since(LOOP, BODY, 10);
  compose.thread.blocked_since = START_TICKS + 14 * STEP;
  expect_killed("work 10, work/2 14, blocked/2 40");
}

/* The construct that is open is the one around. */
static void test_a_killed_process_that_waited_for_a_lock(void **state)
{
  (void)state;
  work(10);
  compose_wait(&compose, FORMAT_WAIT_PARKED, 0, 0, 0, 0);
  compose.waits[compose_wait(&compose, FORMAT_WAIT_LOCK, 1, 0, 0, 0)].since = START_TICKS + 10 * STEP;
  open_since(LOOP, BODY, 10);
  expect_killed("work 10, lock_wait/2 40");
}

/* The last state was not written any more. */
static void test_a_state_that_began_later(void **state)
{
  (void)state;
  work(10);
  open_since(LOOP, WAIT, 20);
  expect_killed("work 10, gap 20, idle/2 40");
  begin(true);
  sample(TRACELOG_WORKS, 5, 1, 5);
  work(10);
  sample(TRACELOG_OVERHEAD, 26, 2, 6);
  open_since(LOOP, BODY, 20);
  expect_killed("work:1 5, blocked 10, gap 20, overhead/2:2 26, work/2 40");
}

/* A worker that had left the last barrier of its region did not wait. */
static void test_killed_behind_the_last_barrier(void **state)
{
  (void)state;
  put(TRACELOG_STATE, LINK, WAIT, 10);
  open_since(LINK, EXIT, 10);
  expect_killed("idle/4 10, overhead/4 40");
}

static void test_no_state_is_open(void **state)
{
  (void)state;
  work(10);
  open_since(LOOP, WAIT, 10);
  compose.thread.lost[FORMAT_LOST_TRACE] = 1; /* the stream had ended */
  expect_killed("work 10, gap 40");
  begin(true);
  work(10);
  open_since(LOOP, WAIT, 10);
  expect("work 10, gap 40"); /* the process ended in order */
}

/* It was killed before its first state had ended. */
static void test_a_killed_process_without_a_state(void **state)
{
  (void)state;
  sample(TRACELOG_WORKS, 2, 1, 0);
  sample(TRACELOG_WORKS, 6, 2, 4);
  sample(TRACELOG_WORKS, 39, 2, 33);
  open_since(0, BODY, 0);
  expect_killed("work:1 2, work:2 39, work 40");
  begin(true);
  traced_samples_only(&trace);
  sample(TRACELOG_WORKS, 2, 1, 0);
  open_since(0, BODY, 0);
  expect_killed("work/?:1 2, gap 40"); /* states were not recorded */
}

static void test_a_killed_process_without_constructs(void **state)
{
  (void)state;
  begin(false);
  traced_state(&trace, 1, TRACELOG_STATE, 0, 10 * STATE_UNITS, 0);
  compose.waits[BARRIER].since = START_TICKS + 10 * STEP;
  expect_killed("work 10, idle/2 40");
  begin(false);
  traced_state(&trace, 1, TRACELOG_STATE, BARRIER + 1, 10 * STATE_UNITS, 0);
  expect_killed("idle/2 10, work 40");
}

/* ---- parts, and many states ---- */

/* What the lane did, for each half step, as one number; from and to in half steps. */
static void categories(uint64_t from, uint64_t to, uint32_t found[2 * LIFE])
{
  struct lane *lane = lane_open(&lanes, 0, from * STEP / 2, to * STEP / 2, NULL);
  struct lane_interval interval;
  uint64_t at = from, last = to < 2 * LIFE ? to : 2 * LIFE;
  assert_int_equal(!lane, from >= last);
  while (lane_next(lane, &interval)) {
    assert_int_equal(interval.start_ns, at * STEP / 2);
    for (; at * STEP / 2 < interval.end_ns; at++)
      found[at] = interval.category * 1000 + interval.record * 100 + interval.node;
  }
  assert_true(!lane || at == last);
  lane_close(lane);
}

static void test_every_part_of_a_lane(void **state)
{
  (void)state;
  uint32_t whole[2 * LIFE], part[2 * LIFE];
  trace.streams[0].state_clock += 3 * STATE_UNITS;
  sampled = 3;
  trace.streams[0].sample_clock += 3 * SAMPLE_UNITS;
  for (uint64_t i = 0; i < 4; i++) {
    sample_more(i % 2 ? TRACELOG_OVERHEAD : TRACELOG_WORKS, 8 + 8 * i, 1 + i, 1, i, 1);
    traced_cut(&trace, 1, i == 2, 0, 0);
    put(TRACELOG_BEGUN, i, BODY, 5);
    put_own(LOOP * FORMAT_TIMES + WAIT, 3, 1);
  }
  save(".hpcrun");
  categories(0, 2 * LIFE, whole);
  for (uint64_t from = 0; from <= 2 * LIFE; from++)
    for (uint64_t to = from; to <= 2 * LIFE + 1; to += 3) {
      memset(part, 0xff, sizeof part);
      categories(from, to, part);
      for (uint64_t i = 0; i < 2 * LIFE; i++)
        assert_int_equal(part[i], i >= from && i < to ? whole[i] : UINT32_MAX);
    }
}

/* An execution begins where it began, not where the part does. */
static void test_what_began_before_a_part(void **state)
{
  struct lane_interval interval;
  (void)state;
  put(TRACELOG_BEGUN, LOOP, BODY, LIFE);
  save(".hpcrun");
  for (uint64_t from = 0; from < 3; from++) {
    struct lane *lane = lane_open(&lanes, 0, from * STEP, UINT64_MAX, NULL);
    assert_true(lane_next(lane, &interval));
    assert_int_equal(interval.begins, from == 0);
    assert_false(lane_next(lane, &interval));
    lane_close(lane);
  }
}

static void test_an_execution_begins_once(void **state)
{
  (void)state;
  sample(TRACELOG_OVERHEAD, 6, 1, 2);
  put(TRACELOG_BEGUN, LOOP, BODY, 10);
  work(LIFE - 10);
  expect("blocked/2* 4, overhead/2:1 6, work/2 10, work 40");
}

/* States without samples do not pile up. */
static void test_many_states(void **state)
{
  enum { STATES = 20000, UNITS = LIFE * STATE_UNITS / STATES };
  struct lane_interval interval;
  uint64_t at = 0, count = 0;
  (void)state;
  for (uint32_t i = 0; i < STATES; i++)
    traced_state(&trace, 1, TRACELOG_STATE, LOOP * FORMAT_TIMES + (i % 2 ? WAIT : BODY), UNITS, 0);
  save(".hpcrun");
  struct lane *lane = lane_open(&lanes, 0, 0, UINT64_MAX, NULL);
  for (; lane_next(lane, &interval); at = interval.end_ns, count++) {
    assert_true(interval.start_ns == at && interval.end_ns == at + (UNITS << TRACELOG_STATE_SHIFT));
    assert_int_equal(interval.category, count % 2 ? TIMELINE_IDLE : TIMELINE_WORK);
  }
  assert_int_equal(count, STATES);
  assert_int_equal(at, (uint64_t)LIFE * STEP);
  lane_close(lane);
}

static void has_no_lanes(const struct profile_process *of, int status)
{
  struct lane_process other;
  assert_int_equal(lane_process_open(of, process->start_ns, &problems, &other), status);
  assert_int_equal(other.trace.file.count, 0);
  lane_process_close(&other);
}

/* The counts of a counter beyond 2^53, which a double does not hold. */
static void test_ticks_are_exact(void **state)
{
  (void)state;
  struct profile_process far = {.start_ticks = (UINT64_C(1) << 53) + 1, .workspan = {.tick_ns = 1}};
  const struct lane_process of = {.process = &far, .offset_ns = 100};
  for (uint64_t ns = 100; ns < 108; ns++) {
    assert_int_equal(lane_ticks(&of, ns), far.start_ticks + ns - 100);
    assert_int_equal(lane_ns(&of, lane_ticks(&of, ns)), ns);
  }
  assert_int_equal(lane_ticks(&of, 0), far.start_ticks);
}

static void test_without_a_rate_the_trace_is_left_out(void **state)
{
  (void)state;
  work(LIFE);
  save(".hpcrun");
  struct profile_process unknown = *process;
  unknown.workspan.tick_ns = 0;
  has_no_lanes(&unknown, ERR_INPUT);
  assert_non_null(strstr(problems.lines[0], "rate of the time-stamp counter is not known"));
  problems_release(&problems);
  unknown = *process;
  unknown.path = (char *)"/tmp/nowhere/a.hpcrun";
  has_no_lanes(&unknown, 0);
  remove(process->path);
  has_no_lanes(process, ERR_INPUT);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      lane_test(test_samples_without_states),
      lane_test(test_small_holes_at_both_ends_belong_to_their_neighbours),
      lane_test(test_larger_holes_are_gaps),
      lane_test(test_extents_that_were_dropped_are_gaps),
      lane_test(test_a_thread_without_a_trace_is_a_gap),
      lane_test(test_a_trace_beyond_the_life),
      lane_test(test_the_state_of_a_killed_process),
      lane_test(test_samples_in_the_state_of_a_killed_process),
      lane_test(test_a_killed_process_that_slept),
      lane_test(test_a_killed_process_that_waited_for_a_lock),
      lane_test(test_a_state_that_began_later),
      lane_test(test_killed_behind_the_last_barrier),
      lane_test(test_no_state_is_open),
      lane_test(test_a_killed_process_without_a_state),
      lane_test(test_a_killed_process_without_constructs),
      lane_test(test_every_part_of_a_lane),
      lane_test(test_what_began_before_a_part),
      lane_test(test_an_execution_begins_once),
      lane_test(test_many_states),
      cmocka_unit_test(test_ticks_are_exact),
      lane_test(test_without_a_rate_the_trace_is_left_out),
  };
  return UNIT_RUN(argc, argv, "lane_ends", tests, make_directory, remove_directory);
}
