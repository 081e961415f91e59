/* The critical path on the axis of time: closed forms, disagreeing clocks, logs that contradict themselves. */
#include "hpcprof-lite/grains/critical_chain.h"
#include "tests/support/replay_log_builder.h"

static struct critical_chain chain;

static int find(void)
{
  static struct profile_directive directives[ROWS];
  char measurement[sizeof path + 8];
  snprintf(measurement, sizeof measurement, "%.*s.hpcrun", (int)(strrchr(path, '.') - path), path);
  struct profile_process process = {.path = measurement,
                                    .workspan = {.known = true, .directives = directives, .directives_count = ROWS}};
  critical_chain_release(&chain);
  return critical_chain_find(&process, &problems, &chain);
}

static uint64_t checked_work(void)
{
  uint64_t work = 0;
  for (size_t i = 0; i < chain.count; i++) {
    const struct critical_interval *interval = &chain.intervals[i];
    assert_true(interval->begin_ticks <= interval->end_ticks);
    assert_true(!i || interval->begin_ticks >= chain.intervals[i - 1].end_ticks);
    work += interval->work;
  }
  return work;
}

/* The chain of the program in the log consists of these amounts of work, each by the thread in front of it. */
static void expect_chain(size_t count, const uint64_t (*parts)[2])
{
  save(COMPOSE_PACKED);
  struct replay_result result = measured();
  assert_int_equal(find(), 0);
  assert_true(chain.known && (double)checked_work() == result.span);
  assert_int_equal(chain.count, count);
  for (size_t i = 0; i < count; i++) {
    const struct critical_interval *interval = &chain.intervals[i];
    assert_int_equal(interval->thread, parts[i][0]);
    assert_int_equal(interval->work, parts[i][1]);
    assert_int_equal(interval->end_ticks - interval->begin_ticks, parts[i][1]);
  }
}

static void test_serial_parts_and_the_longest_chunk(void **state)
{
  (void)state;
  for (uint32_t threads = 1; threads <= 4; threads++) {
    loop_program(threads);
    expect_chain(3, (const uint64_t[][2]){{1, 10}, {1 + 15 % threads, 16}, {1, 10}});
  }
}

/* Iteration i of thread t waits for iteration i of thread t - 1. */
static void test_a_pipeline(void **state)
{
  (void)state;
  struct name team[3], joins[3] = {{0}};
  begin_team(3, team);
  for (int i = 0; i < 4; i++)
    for (int t = 0; t < 3; t++) {
      if (t)
        on_join((uint32_t)t + 1, GRAPHLOG_TAKE, team[t], joins[t - 1]);
      u((uint32_t)t + 1, t == 1 ? 10 : 2);
      on_join((uint32_t)t + 1, GRAPHLOG_OFFER, team[t], joins[t] = new_join((uint32_t)t + 1));
    }
  join_team(3, team);
  expect_chain(6, (const uint64_t[][2]){{1, 2}, {2, 10}, {2, 10}, {2, 10}, {2, 10}, {3, 2}});
}

static void test_tasks_and_what_creates_them(void **state)
{
  (void)state;
  struct name team[2], tasks[3];
  begin_team(2, team);
  for (int i = 0; i < 3; i++) {
    u(1, 2);
    tasks[i] = task(1, team[0], 0);
    run_task(2, tasks[i], i == 1 ? 9 : 3, team[1]);
  }
  wait_begin(1, team[0], GRAPHLOG_TASKWAIT);
  wait_end(1, team[0], GRAPHLOG_TASKWAIT);
  u(1, 5);
  join_team(2, team);
  expect_chain(4, (const uint64_t[][2]){{1, 2}, {1, 2}, {2, 9}, {1, 5}});
}

/* A lock moves no clock: the chain is the longer of the two, whatever the order. */
static void test_a_lock(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
  for (uint32_t thread = 1; thread <= 2; thread++) {
    u(thread, 3);
    put(thread, GRAPHLOG_ACQUIRE, CRITICAL, 77, 1);
    u(thread, 7 + thread);
    put(thread, GRAPHLOG_RELEASE, 77, 1);
  }
  join_team(2, team);
  expect_chain(2, (const uint64_t[][2]){{2, 3}, {2, 9}});
}

/* Fragments that touch are one interval; those without work are none. */
static void test_fragments_that_touch(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1);
  for (int i = 0; i < 5; i++)
    log_put(&log_reader_log, 1, GRAPHLOG_RUN, 0, 4);
  log_put(&log_reader_log, 1, GRAPHLOG_RUN_OTHER, 3, 4, 0);
  log_put(&log_reader_log, 1, GRAPHLOG_RUN, 1, 6);
  now += 100;
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  expect_chain(2, (const uint64_t[][2]){{1, 20}, {1, 6}});
}

/* The end of a task is announced after its successor has begun: the earlier interval is cut off, its work stays. */
static void test_late_announcements(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1), tasks[2], join = new_join(1);
  for (int i = 0; i < 2; i++)
    tasks[i] = task(1, first, 0);
  on_task(1, GRAPHLOG_SWITCH, tasks[0]);
  u(1, 100);
  on_join(1, GRAPHLOG_OFFER, tasks[0], join);
  log_at(&log_reader_log, 2, now - 50);
  log_put(&log_reader_log, 2, GRAPHLOG_TAKE, tasks[1].thread, tasks[1].number, join.thread, join.number);
  log_put(&log_reader_log, 2, GRAPHLOG_SWITCH, tasks[1].thread, tasks[1].number);
  log_run(&log_reader_log, 2, 30);
  log_put(&log_reader_log, 2, GRAPHLOG_TASK_END, tasks[1].thread, tasks[1].number);
  on_task(1, GRAPHLOG_TASK_END, tasks[0]);
  on_task(1, GRAPHLOG_SWITCH, first);
  wait_begin(1, first, GRAPHLOG_TASKWAIT);
  wait_end(1, first, GRAPHLOG_TASKWAIT);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  save(COMPOSE_PACKED);
  assert_int_equal(find(), 0);
  assert_int_equal(checked_work(), 130);
  assert_int_equal(chain.count, 2);
  assert_true(chain.intervals[0].end_ticks == chain.intervals[1].begin_ticks && chain.intervals[0].work == 100);
}

/* Clocks are named by numbers that are used again: what had the number before is not on the chain. */
static void test_numbers_of_clocks_are_used_again(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1);
  for (int i = 0; i < 50; i++)
    run_task(2, task(1, first, 0), 7, none);
  wait_begin(1, first, GRAPHLOG_TASKWAIT);
  wait_end(1, first, GRAPHLOG_TASKWAIT);
  u(1, 1);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  struct name other = implicit(3, none, 1); /* a thread of its own begins at 0 */
  u(3, 40);
  on_task(3, GRAPHLOG_IMPLICIT_END, other);
  expect_chain(1, (const uint64_t[][2]){{3, 40}});
}

static void test_contradictions(void **state)
{
  (void)state;
  struct name team[1];
  begin_team(1, team);
  for (int op = GRAPHLOG_CPU; op < GRAPHLOG_OPS; op++)
    if (op != GRAPHLOG_TIME)
      put(1, op, 1, 1, 1, 1);
  u(1, 5);
  save(COMPOSE_PACKED);
  assert_int_equal(find(), 0);
  assert_true(!chain.known && !chain.count && problems.count == 1);
}

static void test_no_log_and_no_space(void **state)
{
  (void)state;
  struct name team[4];
  begin_team(4, team);
  for (uint32_t i = 0; i < 6000; i++)
    task(1 + i % 4, team[i % 4], 0);
  save(COMPOSE_PACKED);
  setenv("TMPDIR", "/dev/null/nowhere", 1);
  assert_int_equal(find(), ERR_INPUT);
  assert_true(!chain.known && problems.count == 1);
  unsetenv("TMPDIR");
  unlink(path);
  assert_int_equal(find(), 0);
  assert_false(chain.known);
}

static int finish(void **state)
{
  critical_chain_release(&chain);
  return end(state);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_serial_parts_and_the_longest_chunk, finish),
      cmocka_unit_test_teardown(test_a_pipeline, finish),
      cmocka_unit_test_teardown(test_tasks_and_what_creates_them, finish),
      cmocka_unit_test_teardown(test_a_lock, finish),
      cmocka_unit_test_teardown(test_fragments_that_touch, finish),
      cmocka_unit_test_teardown(test_late_announcements, finish),
      cmocka_unit_test_teardown(test_numbers_of_clocks_are_used_again, finish),
      cmocka_unit_test_teardown(test_contradictions, finish),
      cmocka_unit_test_teardown(test_no_log_and_no_space, finish),
  };
  return UNIT_RUN(argc, argv, "critical_chain", tests, NULL, NULL);
}
