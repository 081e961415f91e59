/* Lanes: what states and samples say together. */
#include "tests/unit/timeline/lane_steps.h"

/* ---- samples divide states ---- */

static void test_a_sample_stands_for_the_time_before_it(void **state)
{
  (void)state;
  sample(TRACELOG_WORKS, 2, 1, 0);
  sample(TRACELOG_OVERHEAD, 6, 2, 4);
  sample(TRACELOG_WORKS, 12, 3, 0); /* what remains is more than half a period: it slept */
  sample(TRACELOG_WORKS, 15, 4, 0); /* less: it ran */
  sample(TRACELOG_OVERHEAD, 18, 5, 0);
  traced_sample(&trace, 1, TRACELOG_WORKS, 5 * SAMPLE_UNITS, 6, 7 * STEP / 2, 0, 0);
  work(LIFE);
  expect("work:1 2, overhead:2 6, blocked 10, work:3 12, work:4 15, overhead:5 18, "
         "blocked 19.5, work:6 23, work 40");
}

static void test_tool_and_processor(void **state)
{
  (void)state;
  sample_more(TRACELOG_WORKS, 10, 1, 3, 2, 1);
  sample_more(TRACELOG_IDLE, 14, 0, 0, 1, 2);
  work(LIFE);
  expect("blocked 4, core_wait 5, tool 7, work:1 10, core_wait 12, tool 13, work 40");
}

static void test_a_sample_reaches_across_waits(void **state)
{
  (void)state;
  work(4);
  put(TRACELOG_STATE, LOOP, WAIT, 6);
  sample(TRACELOG_WORKS, 12, 7, 4);
  work(4);
  put(TRACELOG_STATE, LOOP, BODY, 2);
  sample(TRACELOG_OVERHEAD, 20, 8, 8); /* its context is in the construct in which it was taken */
  put(TRACELOG_STATE, CRITICAL, BODY, 24);
  expect("blocked 2, work:7 4, idle/2 10, work:7 12, overhead 14, overhead/2 16, overhead/3:8 20, work/3 40");
}

/* A sample does not reach behind the one before, whatever it says that it stands for. */
static void test_samples_do_not_overlap(void **state)
{
  (void)state;
  sample(TRACELOG_OVERHEAD, 4, 1, 4);
  sample_more(TRACELOG_WORKS, 6, 2, 30, 1, 30);
  sample_more(TRACELOG_WORKS, 10, 3, 1, 30, 30);
  work(LIFE);
  expect("overhead:1 4, core_wait 5, tool 10, work 40");
}

static void test_waits_have_the_runtime_at_their_end(void **state)
{
  (void)state;
  work(4);
  put_number(TRACELOG_BEGIN, 0);
  put_own(LOOP * FORMAT_TIMES + WAIT, 6, 2);
  put_number(TRACELOG_HOLDER, 9);
  put_number(TRACELOG_BEGIN, 0);
  put_own(CRITICAL * FORMAT_TIMES + ENTER, 6, 1);
  put_number(TRACELOG_HOLDER, 9);
  put_number(TRACELOG_BEGIN, 0);
  put_own(LOCK * FORMAT_TIMES + ENTER, 4, 4);
  work(LIFE - 20);
  expect("work 4, idle/2* 8, overhead/2 10, lock_wait/3@9* 15, overhead/3 16, overhead/5* 20, work 40");
}

/* A worker is set up before it is parked for the first time. */
static void test_new_workers(void **state)
{
  (void)state;
  put_own(WAIT, 6, 2);
  put_number(TRACELOG_BEGIN, 0);
  put_own(LINK * FORMAT_TIMES + ENTER, 4, 1);
  put_own(LINK * FORMAT_TIMES + WAIT, 4, 1); /* not there */
  work(LIFE - 14);
  expect("overhead 2, idle 6, overhead/4* 7, idle/4 13, overhead/4 14, work 40");
}

/* A worker that has left the last barrier of a region that goes on does not wait: if that lasts, it lost its processor,
 * as a sample tells afterwards. */
static void test_behind_the_last_barrier(void **state)
{
  (void)state;
  put(TRACELOG_STATE, LINK, WAIT, 4);
  put_own(LINK * FORMAT_TIMES + EXIT, 16, 16);
  sample_more(TRACELOG_WORKS, 24, 7, 4, 0, 16);
  work(LIFE - 20);
  expect("idle/4 4, core_wait/4 20, work:7 24, work 40");
}

/* Of the wait that contains that step. */
static void put_ready(uint64_t after, uint64_t preempted, uint64_t of_own, uint64_t no_core)
{
  traced_op(&trace, 1, TRACELOG_READY, 6,
            (const uint64_t[]){after * STATE_UNITS, preempted * STATE_UNITS, of_own * STATE_UNITS, 0, 0,
                               no_core * STATE_UNITS});
}

static void test_time_without_a_processor_in_waits(void **state)
{
  (void)state;
  work(4);
  put_ready(3, 2, 1, 1);
  put_own(LOOP * FORMAT_TIMES + WAIT, 8, 3);
  put_ready(1, 1, 0, 9); /* more than there is */
  put_ready(5, 0, 4, 0); /* in the state after that */
  put(TRACELOG_BEGUN, LOOP, WAIT, 4);
  put_own(LOOP * FORMAT_TIMES + WAIT, 6, 2);
  put_ready(1, 9, 9, 9); /* of a state that is no wait */
  work(LIFE - 22);
  expect("work 4, idle/2 6, waiting_no_core/2 7, core_wait/2 10, overhead/2 12, waiting_no_core/2* 15, core_wait/2 16, "
         "idle/2 20, core_wait/2 22, work 40");
}

/* How much of a wait was in the tool, the wait's site tells; not when. */
static void test_the_tool_in_waits(void **state)
{
  (void)state;
  struct format_wait *wait = &compose.waits[compose_wait(&compose, FORMAT_WAIT_PARKED, 0, 0, 0, 0)];
  wait->tool_ns = 3 * STEP;
  wait->idle = 8 * STEP;
  compose.thread.tool_ns = 6 * STEP; /* half of it in waits */
  sample(TRACELOG_WORKS, 4, 1, 4);
  work(4);
  sample_more(TRACELOG_IDLE, 8, 0, 0, 1, 0);
  sample_more(TRACELOG_IDLE, 10, 0, 0, 9, 0);
  put(TRACELOG_BEGUN, LOOP, WAIT, 8);
  work(LIFE - 12);
  expect("work:1 4, tool/2* 7, idle/2 12, work 40");
}

/* Waiting for locks does not pay for the tool in other waits, which is taken out of later ones. */
static void test_the_tool_in_other_waits(void **state)
{
  (void)state;
  struct format_wait *parked = &compose.waits[compose_wait(&compose, FORMAT_WAIT_PARKED, 0, 0, 0, 0)];
  struct format_wait *lock = &compose.waits[compose_wait(&compose, FORMAT_WAIT_LOCK, 0, 0, 0, 0)];
  parked->idle = 3 * STEP / 16;
  parked->tool_ns = parked->idle / 2;
  lock->idle = 8 * STEP;
  lock->tool_ns = STEP / 64;
  compose.thread.tool_ns = parked->tool_ns + lock->tool_ns;
  for (unsigned i = 0; i < 3; i++)
    traced_state(&trace, 1, TRACELOG_STATE, WAIT, STATE_UNITS / 16, 0);
  put(TRACELOG_STATE, CRITICAL, ENTER, 8);
  traced_state(&trace, 1, TRACELOG_STATE, WAIT, STATE_UNITS / 16, 0); /* now there is enough of it */
  work(LIFE - 9);
  expect("idle 0.1875, lock_wait/3 8.1875, tool 8.25, work 40");
}

/* Between two samples with states of all kinds: processor time is what the second one stands for. */
static void test_sleep_between_two_samples(void **state)
{
  (void)state;
  sample(TRACELOG_WORKS, 2, 1, 0);
  work(14);
  put(TRACELOG_BEGUN, LOOP, ENTER, 1);
  put(TRACELOG_STATE, LOOP, BODY, 1);
  put(TRACELOG_STATE, LOOP, WAIT, 6); /* the thread may have slept there as well */
  sample(TRACELOG_IDLE, 23, 0, 0);
  put(TRACELOG_STATE, CRITICAL, WAIT, 8);
  sample(TRACELOG_WORKS, 32, 2, 0);
  work(LIFE - 30);
  expect("work:1 2, blocked 14, overhead/2* 15, work/2 16, idle/2 22, idle/3 30, work:2 32, work 40");
}

/* The thread lost its processor in the runtime's code, not in the program's. */
static void test_a_preempted_runtime(void **state)
{
  (void)state;
  sample(TRACELOG_WORKS, 2, 1, 0);
  work(3);
  put(TRACELOG_BEGUN, LOOP, ENTER, 4);
  sample_more(TRACELOG_WORKS, 8, 1, 2, 0, 4);
  put(TRACELOG_STATE, LOOP, BODY, 1);
  traced_state(&trace, 1, TRACELOG_STATE, LOOP * FORMAT_TIMES + ENTER, STATE_UNITS / 2, 0); /* too short for that */
  sample_more(TRACELOG_WORKS, 14, 1, 5, 0, 1);
  work(LIFE - 8);
  expect("work:1 2, work 3, core_wait/2* 7, work/2:1 8, overhead/2 8.5, core_wait 9.5, work:1 14, work 40");
}

/* The same if it then slept there. */
static void test_a_runtime_that_was_interrupted_twice(void **state)
{
  (void)state;
  sample(TRACELOG_WORKS, 2, 1, 0);
  work(3);
  traced_state(&trace, 1, TRACELOG_BEGUN, LOOP * FORMAT_TIMES + ENTER, 13 * STATE_UNITS / 4, 0);
  sample_more(TRACELOG_WORKS, 7, 1, 1, 0, 1);
  traced_state(&trace, 1, TRACELOG_STATE, LOOP * FORMAT_TIMES + BODY, 3 * STATE_UNITS / 4, 0);
  work(LIFE - 7);
  expect("work:1 2, blocked 2.75, work 3, blocked/2* 5.25, core_wait/2 6.25, work/2:1 7, work 40");
}

/* Waiting for a processor in a wait is waiting. */
static void test_a_processor_that_was_missing_everywhere(void **state)
{
  (void)state;
  work(8);
  put(TRACELOG_STATE, LOOP, WAIT, 8); /* it did not sleep */
  sample_more(TRACELOG_WORKS, 24, 1, 12, 0, 12);
  work(LIFE - 16);
  expect("core_wait 8, idle/2 16, work:1 24, work 40");
}

/* The first work was sampled less than it was made to run: the last one makes up for that. */
static void test_samples_say_how_long_it_ran(void **state)
{
  (void)state;
  for (uint64_t i = 0; i < 4; i++) {
    if (i < 2)
      sample_more(TRACELOG_IDLE, 8 * i + 4, 0, 4, 0, 4);
    put(TRACELOG_STATE, LOOP, WAIT, 4);
    if (i >= 2)
      sample_more(TRACELOG_WORKS, 8 * i + 8, 0, 4, 0, 4);
    work(4);
  }
  work(LIFE - 32);
  expect(
      "idle/2 4, core_wait 6, work 8, idle/2 12, core_wait 16, idle/2 20, work 24, idle/2 28, core_wait 32, work 40");
}

/* A sample of the runtime that stands for more than the work around it says what other work was. */
static void test_overhead_between_waits(void **state)
{
  (void)state;
  put(TRACELOG_STATE, LOOP, WAIT, 4);
  sample(TRACELOG_OVERHEAD, 6, 1, 6);
  work(2);
  put(TRACELOG_STATE, LOOP, WAIT, 4);
  work(3);
  sample(TRACELOG_IDLE, 14, 0, 8);
  put(TRACELOG_STATE, LOOP, WAIT, 5);
  work(LIFE - 18);
  expect("idle/2 4, overhead:1 6, idle/2 10, overhead 13, idle/2 18, work 40");
}

/* A thread that ran after its last sample for longer than to the next one did not run all the time. */
static void test_after_the_last_sample(void **state)
{
  (void)state;
  sample(TRACELOG_WORKS, 2, 1, 0);
  work(20);
  put(TRACELOG_STATE, LOOP, WAIT, 8);
  work(LIFE - 28);
  compose.thread.cpu_ns = 20 * STEP;
  compose.thread.run_delay_ns = 15 * STEP;
  expect("work:1 2, work 12, core_wait 20, idle/2 28, core_wait 35, blocked 40");
}

/* The runtime did no more than the thread ran in waits. */
static void test_the_runtime_and_processor_time(void **state)
{
  (void)state;
  compose_wait(&compose, FORMAT_WAIT_PARKED, 0, 0, 0, 8 * STEP);
  compose_node(&compose, FORMAT_KIND_FRAME, 0, 0, 0, (const uint64_t[]){2, 0, 0});
  compose.thread.samples_idle = 1;
  compose.thread.cpu_ns = 8 * STEP / 3; /* at most 3/4 of it in waits: those have one of three samples */
  put_own(LOOP * FORMAT_TIMES + WAIT, 20, 8);
  work(LIFE - 20);
  expect("idle/2 18, overhead/2 20, work 22, blocked 40"); /* it slept for most of its life */
}

static void test_pauses_and_sleep(void **state)
{
  (void)state;
  sample(TRACELOG_WORKS, 2, 1, 0);
  put(TRACELOG_STATE, LOOP, BODY, 4);
  traced_op(&trace, 1, TRACELOG_BLOCKED, 2, (const uint64_t[]){LOOP * FORMAT_TIMES + BODY, 6 * STATE_UNITS});
  sample(TRACELOG_WORKS, 12, 1, 4); /* the sleep is not its */
  put(TRACELOG_STATE, LOOP, BODY, 2);
  put_number(TRACELOG_GAP, 8 * STATE_UNITS);
  work(LIFE - 20);
  expect("work/2:1 4, blocked/2 10, work/2:1 12, gap 20, work 40");
}

/* ---- what codes mean ---- */

static void test_codes_of_constructs(void **state)
{
  static const uint32_t enters[RECORDS] = {TIMELINE_WORK, TIMELINE_OVERHEAD,  TIMELINE_OVERHEAD,  TIMELINE_LOCK_WAIT,
                                           TIMELINE_IDLE, TIMELINE_LOCK_WAIT, TIMELINE_LOCK_WAIT, TIMELINE_LOCK_WAIT};
  (void)state;
  static const uint32_t unknown[] = {TIMELINE_GAP, TIMELINE_WORK, TIMELINE_IDLE, TIMELINE_GAP};
  char expected[4096] = "";
  for (uint32_t i = 0; i < (RECORDS + 1) * FORMAT_TIMES; i++) {
    uint32_t record = i / FORMAT_TIMES, time = i % FORMAT_TIMES, enter = record < RECORDS ? enters[record] : 0;
    uint32_t after = record == LINK ? TIMELINE_IDLE : TIMELINE_OVERHEAD;
    const uint32_t known[] = {enter, TIMELINE_WORK, TIMELINE_IDLE, after};
    struct lane_interval interval = {.end_ns = (i + 1) * (uint64_t)STEP, .begins = true};
    interval.category = record < RECORDS ? known[time] : unknown[time];
    interval.record = record < RECORDS ? record : MODEL_NONE;
    append(expected, sizeof expected, &interval);
    put(TRACELOG_BEGUN, record, time, 1);
  }
  work(LIFE - (RECORDS + 1) * FORMAT_TIMES);
  append(expected, sizeof expected, &(struct lane_interval){.end_ns = (uint64_t)LIFE * STEP});
  expect(expected);
}

static void test_codes_of_sites(void **state)
{
  (void)state;
  begin(false);
  traced_state(&trace, 1, TRACELOG_STATE, PARKED + 1, 4 * STATE_UNITS, 0);
  put_own(BARRIER + 1, 4, 1);
  put_number(TRACELOG_HOLDER, 3);
  traced_state(&trace, 1, TRACELOG_STATE, SITE_LOCK + 1, 2 * STATE_UNITS, 0);
  sample(TRACELOG_WORKS, 12, 1, 0);
  traced_state(&trace, 1, TRACELOG_STATE, 0, 2 * STATE_UNITS, 0);
  traced_state(&trace, 1, TRACELOG_STATE, SITES + 1, 8 * STATE_UNITS, 0);
  traced_state(&trace, 1, TRACELOG_STATE, 0, (LIFE - 20) * STATE_UNITS, 0);
  expect("idle/1 4, idle/2 7, overhead/2 8, lock_wait/3@3 10, work:1 12, gap 20, work 40");
}

static void test_equal_neighbours_are_one_interval(void **state)
{
  (void)state;
  for (int i = 0; i < 4; i++)
    work(2);
  put(TRACELOG_BEGUN, LOOP, BODY, 2);
  put(TRACELOG_STATE, LOOP, BODY, 2);
  put_number(TRACELOG_CHUNK, 0);
  put(TRACELOG_STATE, LOOP, BODY, 4);
  put(TRACELOG_BEGUN, REGION, BODY, 0); /* it took no time */
  put(TRACELOG_STATE, LOOP, BODY, 4);
  work(LIFE - 20);
  expect("work 8, work/2* 12, work/2* 20, work 40");
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      lane_test(test_a_sample_stands_for_the_time_before_it),
      lane_test(test_tool_and_processor),
      lane_test(test_a_sample_reaches_across_waits),
      lane_test(test_samples_do_not_overlap),
      lane_test(test_waits_have_the_runtime_at_their_end),
      lane_test(test_new_workers),
      lane_test(test_behind_the_last_barrier),
      lane_test(test_time_without_a_processor_in_waits),
      lane_test(test_the_tool_in_waits),
      lane_test(test_the_tool_in_other_waits),
      lane_test(test_sleep_between_two_samples),
      lane_test(test_a_preempted_runtime),
      lane_test(test_a_runtime_that_was_interrupted_twice),
      lane_test(test_a_processor_that_was_missing_everywhere),
      lane_test(test_samples_say_how_long_it_ran),
      lane_test(test_overhead_between_waits),
      lane_test(test_after_the_last_sample),
      lane_test(test_the_runtime_and_processor_time),
      lane_test(test_pauses_and_sleep),
      lane_test(test_codes_of_constructs),
      lane_test(test_codes_of_sites),
      lane_test(test_equal_neighbours_are_one_interval),
  };
  return UNIT_RUN(argc, argv, "lane", tests, make_directory, remove_directory);
}
