/* The log of the graph, read and replayed: closed forms, scenarios and schedules derived by hand, and damage. */
#include "hpcprof-lite/analysis/replay.h"
#include "hpcprof-lite/joins.h"
#include "hpcprof-lite/profile.h"
#include "hpcprof-lite/schedule.h"
#include "hpcprof-lite/streams.h"
#include "tests/golden/compose_log.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum row { PROGRAM, PARALLEL, LOOP, TASK, GROUP, CRITICAL, ORDERED, REGION_A, REGION_B, ROWS };

struct name {
  uint32_t thread, number;
};

static struct compose_log streams_log;
static struct compose compose;
static uint64_t now;
static struct {
  uint32_t tasks, regions, joins;
} made[COMPOSE_THREADS + 1];
static char measurement[64], path[64];

/* ---- a program, told in the order of time ---- */

static void begin(void)
{
  log_begin(&streams_log);
  memset(made, 0, sizeof made);
  now = 1000;
}

#define put(thread, ...) (log_at(&streams_log, thread, now), log_put(&streams_log, thread, __VA_ARGS__), (void)now++)

static void u(uint32_t thread, uint64_t work)
{
  log_at(&streams_log, thread, now);
  log_run(&streams_log, thread, work);
  now += work + 1;
}

static struct name implicit(uint32_t thread, struct name region, uint32_t size)
{
  put(thread, GRAPHLOG_IMPLICIT, region.thread, region.number, size, 0);
  return (struct name){thread, ++made[thread].tasks};
}

static struct name region(uint32_t thread, enum row row)
{
  put(thread, GRAPHLOG_REGION, row);
  return (struct name){thread, ++made[thread].regions};
}

static struct name task(uint32_t thread, struct name creator, unsigned flags)
{
  put(thread, GRAPHLOG_TASK, creator.thread, creator.number, TASK, flags);
  return (struct name){thread, ++made[thread].tasks};
}

static void on_task(uint32_t thread, enum graphlog_op op, struct name task)
{
  put(thread, op, task.thread, task.number);
}

static void wait_begin(uint32_t thread, struct name task, enum graphlog_wait kind)
{
  put(thread, GRAPHLOG_WAIT, task.thread, task.number, kind, 0);
}

static void wait_end(uint32_t thread, struct name task, enum graphlog_wait kind)
{
  put(thread, GRAPHLOG_WAIT_END, task.thread, task.number, kind);
}

static struct name new_join(uint32_t thread)
{
  return (struct name){thread, ++made[thread].joins};
}

static void on_join(uint32_t thread, enum graphlog_op op, struct name task, struct name join)
{
  put(thread, op, task.thread, task.number, join.thread, join.number);
}

/* The thread runs a task from its begin to its end, in which it does so much, and goes on with another one. */
static void run_task(uint32_t thread, struct name task, uint64_t work, struct name next)
{
  on_task(thread, GRAPHLOG_SWITCH, task);
  u(thread, work);
  on_task(thread, GRAPHLOG_TASK_END, task);
  on_task(thread, GRAPHLOG_SWITCH, next);
}

static void barrier(uint32_t threads, const struct name *team)
{
  for (uint32_t i = 0; i < threads; i++)
    wait_begin(team[i].thread, team[i], GRAPHLOG_BARRIER);
  for (uint32_t i = 0; i < threads; i++)
    wait_end(team[i].thread, team[i], GRAPHLOG_BARRIER);
}

/* A region of threads first, first + 1, …, the first of which creates it. */
static void fork_team(uint32_t first, uint32_t threads, struct name *team)
{
  struct name in = region(first, PARALLEL);
  for (uint32_t i = 0; i < threads; i++)
    team[i] = implicit(first + i, in, threads);
}

static void join_team(uint32_t threads, const struct name *team)
{
  barrier(threads, team);
  for (uint32_t i = threads; i-- > 0;)
    on_task(team[i].thread, GRAPHLOG_IMPLICIT_END, team[i]);
  put(team[0].thread, GRAPHLOG_REGION_END, PARALLEL);
}

/* ---- replay ---- */

static struct problems problems;
static struct replay *replay;
static struct parts parts;

static void save(enum compose_form form)
{
  log_compose(&streams_log, form, &compose);
  snprintf(measurement, sizeof measurement, "/tmp/hpcrun-lite-replay-%d.hpcrun", (int)getpid());
  snprintf(path, sizeof path, "/tmp/hpcrun-lite-replay-%d.graph", (int)getpid());
  assert_true(compose_write(&compose, path));
}

/* Replays what was saved; damaged files may yield nothing. */
static bool replay_file(struct replay_request *request, struct replay_result *result)
{
  struct streams *streams;
  struct streams_record record;
  replay_free(replay);
  replay = NULL;
  request->rows = ROWS;
  request->parts = &parts;
  int status = streams_open(measurement, &problems, &streams);
  if (status || !streams)
    return false;
  request->streams = streams_count(streams);
  assert_int_equal(replay_new(request, &replay), 0);
  while (streams_next(streams, &record))
    replay_take(replay, &record);
  assert_int_equal(replay_end(replay, result), 0);
  streams_close(streams);
  return true;
}

static struct replay_result ask(struct replay_request request)
{
  struct replay_result result;
  assert_true(replay_file(&request, &result));
  assert_int_equal(result.strange, 0);
  assert_int_equal(result.lost_joins + result.lost_tasks + result.lost_constructs + result.lost_trails, 0);
  if (problems.count)
    fail_msg("%s", problems.lines[0]);
  return result;
}

static struct replay_result measured(void)
{
  return ask((struct replay_request){.burdened = true});
}

static int end(void **state)
{
  (void)state;
  replay_free(replay);
  replay = NULL;
  parts_release(&parts);
  problems_release(&problems);
  unlink(path);
  return 0;
}

static void expect(uint64_t work, double span)
{
  static const enum compose_form forms[] = {COMPOSE_PACKED, COMPOSE_LIVE, COMPOSE_ZSTD};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    save(forms[i]);
    struct replay_result result = measured();
    assert_int_equal(result.work, work);
    if (result.span != span)
      fail_msg("span %g instead of %g", result.span, span);
  }
}

static void expect_row(enum row row, uint64_t instances, uint64_t work, double span)
{
  struct replay_result result = measured();
  const struct instances_total *found = &result.rows[row];
  assert_int_equal(found->instances, instances);
  assert_int_equal(found->work, work);
  if (found->span.at[0] != span)
    fail_msg("row %d: span %g instead of %g", row, found->span.at[0], span);
}

/* ---- closed forms: doc/parallelism.md ---- */

static const struct name none;

static void chunks(uint32_t threads, const struct name *team, uint32_t count, uint64_t (*work)(uint32_t))
{
  for (uint32_t i = 0; i < threads; i++)
    put(team[i].thread, GRAPHLOG_LOOP, LOOP, (int)count);
  for (uint32_t i = 0; i < count; i++) {
    put(team[i % threads].thread, GRAPHLOG_CHUNK, (int)i, 1);
    u(team[i % threads].thread, work(i));
  }
  for (uint32_t i = 0; i < threads; i++)
    put(team[i].thread, GRAPHLOG_LOOP_END);
}

static uint64_t growing(uint32_t i)
{
  return i + 1;
}

static uint64_t ten(uint32_t i)
{
  (void)i;
  return 10;
}

static void loop_program(uint32_t threads)
{
  struct name team[COMPOSE_THREADS];
  begin();
  struct name first = implicit(1, none, 1);
  u(1, 10);
  fork_team(1, threads, team);
  chunks(threads, team, 16, growing);
  join_team(threads, team);
  u(1, 10);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
}

static void test_a_loop(void **state)
{
  (void)state;
  for (uint32_t threads = 1; threads <= 4; threads++) {
    loop_program(threads);
    expect(156, 36);
    expect_row(LOOP, 1, 136, 16);
    expect_row(PARALLEL, 1, 136, 16);
    assert_int_equal(measured().rows[LOOP].iterations, 16);
  }
}

/* Thread 2 comes to it after 100: the loop's span is what the longest chunk takes, the region's up to the latest end. */
static void test_threads_enter_a_loop_at_different_times(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, 2, team);
  u(2, 100);
  for (uint32_t thread = 1; thread <= 2; thread++) {
    put(thread, GRAPHLOG_LOOP, LOOP, 3);
    put(thread, GRAPHLOG_CHUNK, 0, 1);
    u(thread, 10);
    put(thread, GRAPHLOG_CHUNK, 1, 1);
    u(thread, 3);
    put(thread, GRAPHLOG_LOOP_END);
  }
  join_team(2, team);
  expect(126, 110);
  expect_row(LOOP, 1, 26, 10);
  expect_row(PARALLEL, 1, 126, 110);
}

/* Thread 1 has arrived at the next barrier before thread 2 has left this one. */
static void test_a_thread_may_be_a_barrier_ahead(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, 2, team);
  wait_begin(1, team[0], GRAPHLOG_BARRIER);
  wait_begin(2, team[1], GRAPHLOG_BARRIER);
  wait_end(1, team[0], GRAPHLOG_BARRIER);
  u(1, 50);
  wait_begin(1, team[0], GRAPHLOG_BARRIER);
  wait_end(2, team[1], GRAPHLOG_BARRIER);
  u(2, 5);
  wait_begin(2, team[1], GRAPHLOG_BARRIER);
  wait_end(1, team[0], GRAPHLOG_BARRIER);
  wait_end(2, team[1], GRAPHLOG_BARRIER);
  join_team(2, team);
  expect(55, 50);
}

static void test_the_same_loop_again_and_again(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, 2, team);
  for (int i = 0; i < 10; i++) {
    chunks(2, team, 4, ten);
    barrier(2, team);
  }
  join_team(2, team);
  expect(400, 100);
  expect_row(LOOP, 10, 400, 100);
}

/* One thread creates tasks and runs them where it waits for them. */
static void fib(struct name self, int n)
{
  if (n < 4) {
    static const uint64_t calls[] = {1, 1, 3, 5};
    u(1, calls[n]);
    return;
  }
  u(1, 1);
  struct name children[] = {task(1, self, 0), task(1, self, 0)};
  wait_begin(1, self, GRAPHLOG_TASKWAIT);
  for (int i = 0; i < 2; i++) {
    on_task(1, GRAPHLOG_SWITCH, children[i]);
    fib(children[i], n - 1 - i);
    on_task(1, GRAPHLOG_TASK_END, children[i]);
  }
  on_task(1, GRAPHLOG_SWITCH, self);
  wait_end(1, self, GRAPHLOG_TASKWAIT);
}

static void test_recursive_tasks(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1);
  fib(first, 12);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  expect(465, 14);
  expect_row(TASK, 2, 464, 13 + 12); /* the two that the program itself creates */
}

static void test_a_chain_of_dependences(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1), tasks[10], joins[10];
  for (int i = 0; i < 10; i++) {
    u(1, 2);
    tasks[i] = task(1, first, 0);
  }
  for (int i = 0; i < 10; i++) {
    if (i)
      on_join(1, GRAPHLOG_TAKE, tasks[i], joins[i - 1]);
    on_task(1, GRAPHLOG_SWITCH, tasks[i]);
    u(1, 10);
    on_join(1, GRAPHLOG_OFFER, tasks[i], joins[i] = new_join(1));
    on_task(1, GRAPHLOG_TASK_END, tasks[i]);
  }
  on_task(1, GRAPHLOG_SWITCH, first);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  expect(120, 102);
  wait_begin(1, first, GRAPHLOG_TASKWAIT);
  begin();
  first = implicit(1, none, 1);
  for (int i = 0; i < 10; i++) {
    u(1, 2);
    tasks[i] = task(1, first, 0);
    if (i)
      on_join(1, GRAPHLOG_TAKE, tasks[i], joins[i - 1]);
    on_task(1, GRAPHLOG_SWITCH, tasks[i]);
    u(1, 10);
    on_join(1, GRAPHLOG_OFFER, tasks[i], joins[i] = new_join(1));
    on_task(1, GRAPHLOG_TASK_END, tasks[i]);
    on_task(1, GRAPHLOG_SWITCH, first);
  }
  wait_begin(1, first, GRAPHLOG_TASKWAIT);
  wait_end(1, first, GRAPHLOG_TASKWAIT);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  expect(120, 102);
  expect_row(TASK, 10, 100, 100);
}

static void test_taskgroup_and_taskwait(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1);
  put(1, GRAPHLOG_GROUP, GROUP);
  struct name outer = task(1, first, 0);
  u(1, 2);
  wait_begin(1, first, GRAPHLOG_TASKGROUP);
  on_task(1, GRAPHLOG_SWITCH, outer);
  u(1, 1);
  struct name inner = task(1, outer, 0);
  on_task(1, GRAPHLOG_TASK_END, outer);
  run_task(1, inner, 20, first);
  wait_end(1, first, GRAPHLOG_TASKGROUP);
  put(1, GRAPHLOG_GROUP_END);
  u(1, 3);
  outer = task(1, first, 0);
  wait_begin(1, first, GRAPHLOG_TASKWAIT);
  on_task(1, GRAPHLOG_SWITCH, outer);
  u(1, 1);
  inner = task(1, outer, 0);
  on_task(1, GRAPHLOG_TASK_END, outer);
  on_task(1, GRAPHLOG_SWITCH, first);
  wait_end(1, first, GRAPHLOG_TASKWAIT);
  u(1, 5);
  run_task(1, inner, 50, first);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  expect(82, 75); /* though nobody waits for the last one */
  expect_row(GROUP, 1, 23, 21);
}

static void test_a_region_waits_for_all_its_tasks(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, 2, team);
  u(1, 1);
  struct name outer = task(1, team[0], 0);
  on_task(1, GRAPHLOG_SWITCH, outer);
  struct name inner = task(1, outer, 0);
  on_task(1, GRAPHLOG_TASK_END, outer);
  on_task(1, GRAPHLOG_SWITCH, team[0]);
  wait_begin(1, team[0], GRAPHLOG_BARRIER);
  wait_begin(2, team[1], GRAPHLOG_BARRIER);
  run_task(2, inner, 50, team[1]);
  wait_end(1, team[0], GRAPHLOG_BARRIER);
  wait_end(2, team[1], GRAPHLOG_BARRIER);
  on_task(1, GRAPHLOG_IMPLICIT_END, team[0]);
  put(1, GRAPHLOG_REGION_END, PARALLEL);
  u(1, 3);
  on_task(2, GRAPHLOG_IMPLICIT_END, team[1]); /* a worker's comes late */
  expect(54, 54);
  expect_row(PARALLEL, 1, 51, 51);
}

static void test_ordered(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, 2, team);
  for (uint32_t i = 0; i < 2; i++)
    put(team[i].thread, GRAPHLOG_LOOP, LOOP, 10);
  struct name join = new_join(1);
  for (uint32_t i = 0; i < 10; i++) {
    uint32_t thread = i % 2 + 1;
    put(thread, GRAPHLOG_CHUNK, (int)i, 1);
    u(thread, 6);
    put(thread, GRAPHLOG_SCOPE, ORDERED);
    if (i)
      on_join(thread, GRAPHLOG_TAKE, team[i % 2], join);
    u(thread, 2);
    on_join(thread, GRAPHLOG_OFFER, team[i % 2], join);
    put(thread, GRAPHLOG_SCOPE_END);
    u(thread, 1);
  }
  for (uint32_t i = 0; i < 2; i++)
    put(team[i].thread, GRAPHLOG_LOOP_END);
  join_team(2, team);
  expect(90, 27);
}

static void criticals(uint32_t threads, struct name *team)
{
  fork_team(1, threads, team);
  for (uint32_t i = 0; i < threads; i++)
    put(team[i].thread, GRAPHLOG_LOOP, LOOP, 10);
  for (uint32_t i = 0; i < 10; i++) {
    uint32_t thread = i % threads + 1;
    put(thread, GRAPHLOG_CHUNK, (int)i, 1);
    u(thread, 3);
    put(thread, GRAPHLOG_ACQUIRE, CRITICAL, 77, 1);
    u(thread, 7);
    put(thread, GRAPHLOG_RELEASE, 77, 1);
  }
  for (uint32_t i = 0; i < threads; i++)
    put(team[i].thread, GRAPHLOG_LOOP_END);
  join_team(threads, team);
}

static void test_a_critical_section(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  criticals(2, team);
  expect(100, 10);
  expect_row(CRITICAL, 10, 70, 70);
  assert_true(measured().rows[CRITICAL].lock_bound.at[0] == 73);
}

static void test_regions_within_a_region(void **state)
{
  (void)state;
  static const uint32_t threads = 3;
  struct name team[3], inner[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, threads, team);
  for (uint32_t k = 0; k < threads; k++) {
    uint32_t thread = k + 1;
    u(thread, 2);
    struct name in = region(thread, PARALLEL);
    inner[0] = implicit(thread, in, 2);
    inner[1] = implicit(4 + k, in, 2);
    u(thread, 5 + k);
    u(4 + k, 5 + k);
    join_team(2, inner);
    u(thread, 3);
  }
  join_team(threads, team);
  expect(51, 12);
  expect_row(PARALLEL, 1, 51, 12);
}

static void test_who_is_waited_for_is_serial(void **state)
{
  (void)state;
  struct name team[1];
  begin();
  implicit(1, none, 1);
  fork_team(1, 1, team);
  u(1, 1);
  struct name waited = task(1, team[0], GRAPHLOG_SERIAL);
  run_task(1, waited, 10, team[0]);
  struct name later = task(1, team[0], 0);
  u(1, 4);
  run_task(1, later, 10, team[0]);
  join_team(1, team);
  expect(25, 21);
}

static void test_costs_burden_the_span(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, 2, team);
  struct name made_task = task(1, team[0], 0);
  run_task(1, made_task, 10, team[0]);
  run_task(1, task(1, team[0], GRAPHLOG_SERIAL), 15, team[0]); /* it costs nothing more */
  join_team(2, team);
  save(COMPOSE_PACKED);
  struct replay_result result =
      ask((struct replay_request){.burdened = true, .cost_fork = 100, .cost_task = 20, .cost_join = 3});
  assert_true(result.span == 15 && result.burdened == 133);
}

/* ---- scenarios ---- */

static double by_row[REPLAY_SCENARIOS][ROWS];
static double by_part[REPLAY_SCENARIOS][64];

static struct replay_request scenarios(uint32_t count)
{
  struct replay_request request = {.scenarios_count = count};
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = 0; j < ROWS; j++)
      by_row[i][j] = 1;
    for (uint32_t j = 0; j < 64; j++)
      by_part[i][j] = 1;
    request.scenarios[i] = (struct replay_scenario){by_row[i], by_part[i]};
  }
  return request;
}

static void in_region(uint32_t thread, enum row row, uint64_t work)
{
  put(thread, GRAPHLOG_SCOPE, row);
  u(thread, work);
  put(thread, GRAPHLOG_SCOPE_END);
}

/* u(10), then two threads of 40 and 32, then u(5): the second thread's is useless until the first one's is faster. */
static void two_regions(void)
{
  struct name team[2];
  begin();
  implicit(1, none, 1);
  u(1, 10);
  fork_team(1, 2, team);
  in_region(1, REGION_A, 40);
  in_region(2, REGION_B, 32);
  join_team(2, team);
  u(1, 5);
}

static void test_useless_until_the_other_is_faster_too(void **state)
{
  (void)state;
  two_regions();
  expect(87, 55);
  struct replay_request request = scenarios(4);
  by_row[0][REGION_A] = by_row[2][REGION_A] = 16;
  by_row[1][REGION_B] = by_row[2][REGION_B] = 16;
  by_row[3][PARALLEL] = 4;
  request.detail = true;
  struct replay_result result = ask(request);
  static const double spans[] = {15 + 32, 15 + 40, 15 + 2.5, 15 + 10};
  for (int i = 0; i < 4; i++) {
    if (result.answers[i].span != spans[i])
      fail_msg("scenario %d: %g instead of %g", i, result.answers[i].span, spans[i]);
    assert_true(result.answers[i].gone == 0 && !result.answers[i].by_sample);
  }
  assert_int_equal(result.work, 87);
  assert_true(result.rows[REGION_A].span.at[0] == 40 && result.rows[REGION_A].span.at[1] == 2.5);
  assert_true(result.rows[PARALLEL].span.at[0] == 40 && result.rows[PARALLEL].span.at[1] == 32);
  assert_int_equal(result.rows[PARALLEL].work, 72);
  double sum = 0;
  for (uint32_t i = 0; i < parts.count; i++) {
    sum += result.trail[i];
    assert_true(result.trail[i] == 0 || parts.parts[i].row == PROGRAM || parts.parts[i].row == REGION_B);
  }
  assert_true(sum == 47);
}

/* A task that is created in a selected construct belongs to it, wherever it runs. */
static void test_a_selection_covers_what_is_created_in_it(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, 2, team);
  put(1, GRAPHLOG_SCOPE, REGION_A);
  struct name made_task = task(1, team[0], 0);
  put(1, GRAPHLOG_SCOPE_END);
  run_task(2, made_task, 100, team[1]);
  join_team(2, team);
  expect(100, 100);
  struct replay_request request = scenarios(2);
  by_row[0][REGION_A] = 10;
  by_row[1][REGION_A] = 2;
  by_row[1][TASK] = 5; /* the larger factor counts */
  struct replay_result result = ask(request);
  assert_true(result.answers[0].span == 10 && result.answers[1].span == 20);
}

static void sampled(uint32_t thread, uint32_t node, uint64_t weight)
{
  put(thread, GRAPHLOG_SAMPLE, (int)node, (int)weight);
}

/* 100 with samples 3 : 1 in nodes 7 and 8, 60 of node 8; 40 without, which take the mix 75 : 85. */
static void test_samples_share_a_fragment(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1);
  sampled(1, 7, 30);
  sampled(1, 8, 10);
  u(1, 100);
  sampled(1, 8, 10);
  u(1, 60);
  u(1, 40);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  expect(200, 200);
  parts_release(&parts);
  measured();
  uint32_t seven = parts_find(&parts, PROGRAM, 1, 7), eight = parts_find(&parts, PROGRAM, 1, 8);
  assert_true(seven && eight && parts.parts[seven].amount == 75 && parts.parts[eight].amount == 85);
  struct replay_request request = scenarios(2);
  by_part[0][seven] = 5;
  by_part[1][eight] = 2;
  struct replay_result result = ask(request);
  double gone = 75 * 0.8 + 40 * 0.8 * 75 / 160;
  assert_true(fabs(result.answers[0].span - (200 - gone)) < 1e-9 && fabs(result.answers[0].gone - gone) < 1e-9);
  assert_true(fabs(result.answers[1].span - (200 - 85 * 0.5 - 40 * 0.5 * 85 / 160)) < 1e-9);
  assert_true(result.answers[0].by_sample);
  request.exact_samples = true; /* then only what has none is not exact */
  result = ask(request);
  assert_true(fabs(result.answers[0].gone - 40 * 0.8 * 75 / 160) < 1e-9);
}

/* A construct in which no sample fell at all goes by what is said of its work without a context. */
static void test_constructs_without_samples(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1);
  sampled(1, 7, 10);
  u(1, 100);
  in_region(1, REGION_A, 60);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  expect(160, 160);
  struct replay_request request = scenarios(2);
  by_part[0][parts_find(&parts, PROGRAM, 1, 7)] = by_part[1][parts_find(&parts, PROGRAM, 1, 7)] = 2;
  by_part[1][parts_find(&parts, REGION_A, 0, 0)] = 2;
  struct replay_result result = ask(request);
  assert_true(result.answers[0].span == 110 && result.answers[1].span == 80);
}

/* ---- schedules ---- */

static void fork_join(uint32_t count)
{
  struct name team[2];
  begin();
  implicit(1, none, 1);
  fork_team(1, 2, team);
  chunks(2, team, count, ten);
  join_team(2, team);
}

static struct replay_request on_cores(void)
{
  return (struct replay_request){.cores = {1, 2, 3, 4, 8, 64}, .cores_count = 6};
}

static void test_equal_chunks_take_turns(void **state)
{
  (void)state;
  for (uint32_t count = 1; count <= 17; count += 4) {
    fork_join(count);
    save(COMPOSE_PACKED);
    struct replay_request request = on_cores();
    struct replay_result result = ask(request);
    for (uint32_t i = 0; i < request.cores_count; i++) {
      uint32_t turns = (count + request.cores[i] - 1) / request.cores[i];
      if (result.makespans[i] != 10 * turns)
        fail_msg("%u chunks on %u cores: %g", count, request.cores[i], result.makespans[i]);
    }
  }
}

static void test_one_core_takes_the_work_and_many_the_span(void **state)
{
  (void)state;
  loop_program(2);
  save(COMPOSE_PACKED);
  struct replay_result result = ask(on_cores());
  assert_true(result.makespans[0] == 156 && result.makespans[5] == 36);
  for (int i = 1; i < 5; i++)
    assert_true(result.makespans[i] <= result.makespans[i - 1] && result.makespans[i] >= 36);
}

/* Each u(3) may run at once, the u(7) only one after the other: 3 + 10 x 7. */
static void test_a_lock_has_one_holder_in_a_schedule(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  criticals(2, team);
  save(COMPOSE_PACKED);
  struct replay_result result = ask(on_cores());
  assert_true(result.makespans[0] == 100);
  assert_true(result.makespans[5] == 73);
}

static void test_work_goes_where_it_leaves_the_least_gap(void **state)
{
  (void)state;
  struct schedule schedule;
  assert_int_equal(schedule_init(&schedule, 2), 0);
  assert_true(schedule_run(&schedule, 0, 5) == 5);
  assert_true(schedule_run(&schedule, 0, 3) == 3);
  assert_true(schedule_run(&schedule, 6, 1) == 7);   /* on the core that was free from 5 on, not from 3 on */
  assert_true(schedule_run(&schedule, 4, 10) == 14); /* so this one finds a core that is free from 3 on */
  assert_true(schedule_run(&schedule, 0, 1) == 8);   /* none is free at 0: the first to become free */
  assert_true(schedule_makespan(&schedule) == 14);
  schedule_release(&schedule);
}

/* ---- reading ---- */

/* Thread 2's clock is behind by more than the whole run: it names what thread 1 makes later by its own clock. */
static void test_who_is_ahead_is_held_back(void **state)
{
  (void)state;
  for (int variant = 0; variant < 4; variant++) {
    bool ahead = variant & 1, task_first = variant & 2;
    struct name team[2];
    begin();
    now = 100000;
    implicit(1, none, 1);
    struct name in = region(1, PARALLEL);
    team[0] = implicit(1, in, 2);
    u(1, 10);
    struct name made_task = task(1, team[0], 0), join = new_join(1);
    on_join(1, GRAPHLOG_OFFER, team[0], join);
    uint64_t real = now;
    if (ahead)
      now = 500;
    team[1] = implicit(2, in, 2);
    if (!task_first)
      on_join(2, GRAPHLOG_TAKE, team[1], join);
    on_task(2, GRAPHLOG_SWITCH, made_task);
    if (task_first)
      on_join(2, GRAPHLOG_TAKE, team[1], join);
    u(2, 100);
    on_task(2, GRAPHLOG_TASK_END, made_task);
    on_task(2, GRAPHLOG_SWITCH, team[1]);
    u(2, 1);
    now = ahead ? real : now;
    join_team(2, team);
    expect(111, 110);
  }
}

/* Two threads that wait for what the other one never makes. */
static void test_who_waits_in_vain_goes_on(void **state)
{
  (void)state;
  begin();
  for (uint32_t thread = 1; thread <= 2; thread++) {
    struct name first = implicit(thread, none, 1), join = {3 - thread, 5};
    u(thread, 10 * thread);
    on_join(thread, GRAPHLOG_TAKE, first, join);
    u(thread, 1);
    on_task(thread, GRAPHLOG_IMPLICIT_END, first);
  }
  save(COMPOSE_PACKED);
  struct replay_request request = {0};
  struct replay_result result;
  assert_true(replay_file(&request, &result));
  assert_true(result.work == 32 && result.span == 21);
  assert_int_equal(result.lost_joins, 2);
}

static void test_chunks_are_put_together(void **state)
{
  (void)state;
  struct name team[2];
  begin();
  implicit(1, none, 1);
  for (int i = 0; i < 5; i++) {
    fork_team(1, 2, team);
    u(1, 3);
    u(2, 4);
    join_team(2, team);
    log_cut(&streams_log, 1);
    if (i % 2)
      log_cut(&streams_log, 2);
  }
  u(1, 1);
  expect(36, 21);
  expect_row(PARALLEL, 5, 35, 20);
}

/* Threads reserve their chunks: zeros may stand before, between and behind those that were begun. */
static void test_chunks_that_were_not_begun_are_no_damage(void **state)
{
  (void)state;
  static struct compose holes;
  loop_program(2);
  save(COMPOSE_LIVE);
  memset(&holes, 0, sizeof holes);
  for (size_t i = 0; i < compose.size; i++) {
    bool begins = i + 8 <= compose.size && !memcmp(compose.bytes + i, "hpcrlite", 8);
    holes.size = begins ? (holes.size / 4096 + 2) * 4096 : holes.size;
    holes.bytes[holes.size++] = compose.bytes[i];
  }
  holes.size += 5000;
  assert_true(holes.size < sizeof holes.bytes && compose_write(&holes, path));
  assert_true(measured().span == 36);
}

static void test_what_is_behind_damage_is_not_used(void **state)
{
  (void)state;
  struct name first;
  begin();
  first = implicit(1, none, 1);
  for (int i = 0; i < 4; i++) {
    u(1, 10);
    log_cut(&streams_log, 1);
  }
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  save(COMPOSE_PACKED);
  size_t chunk = 0; /* the third one */
  for (size_t i = 0, seen = 0; i + 8 < compose.size && seen < 3; i++)
    if (!memcmp(compose.bytes + i, "hpcrlite", 8) && ++seen == 3)
      chunk = i;
  compose.bytes[chunk + 66] ^= 1;
  assert_true(compose_write(&compose, path));
  struct replay_request request = {0};
  struct replay_result result;
  assert_true(replay_file(&request, &result));
  assert_true(result.work == 20 && result.span == 20);
  char expected[64];
  snprintf(expected, sizeof expected, "chunk 2 at offset %zu: checksum", chunk);
  assert_int_equal(problems.count, 1);
  assert_non_null(strstr(problems.lines[0], expected));
  memcpy(compose.bytes + chunk, "hpcr\0\0\0\0", 8); /* its header: the chunk is missing */
  assert_true(compose_write(&compose, path));
  problems_release(&problems);
  assert_true(replay_file(&request, &result));
  assert_true(result.work == 20);
  assert_int_equal(problems.count, 2);
  assert_non_null(strstr(problems.lines[1], "missing"));
}

/* Every prefix, every flipped byte: bounded, and never more than the whole. */
static void damage_everywhere(enum compose_form form)
{
  loop_program(2);
  save(form);
  struct compose whole = compose;
  struct replay_request request = {.burdened = true, .cores = {2}, .cores_count = 1};
  struct replay_result result;
  for (size_t size = 0; size < whole.size; size++) {
    compose.size = size;
    assert_true(compose_write(&compose, path));
    bool found = replay_file(&request, &result);
    assert_true(!found || (result.work <= 156 && result.span <= (double)result.work));
    bool between = size && !memcmp(whole.bytes + size, "hpcrlite", 8); /* a thread that is not there at all */
    assert_true(problems.count > 0 || between);
    problems_release(&problems);
  }
  for (size_t i = 0; i < whole.size; i++)
    for (unsigned bit = 0; bit < 8; bit += 3) {
      compose = whole;
      compose.bytes[i] ^= (uint8_t)(1 << bit);
      assert_true(compose_write(&compose, path));
      replay_file(&request, &result);
      problems_release(&problems);
    }
}

static void test_damage_at_every_byte(void **state)
{
  (void)state;
  damage_everywhere(COMPOSE_PACKED);
  damage_everywhere(COMPOSE_LIVE); /* no checksum: the records themselves lie */
}

/* Records in any order, of tasks and regions that end before, twice, or never. */
static void test_nonsense_is_survived(void **state)
{
  (void)state;
  uint32_t seed = 1;
  for (int round = 0; round < 300; round++) {
    begin();
    for (int i = 0; i < 300; i++) {
      uint32_t number[5];
      for (int j = 0; j < 5; j++)
        number[j] = (seed = seed * 1664525 + 1013904223) >> 16;
      uint32_t thread = number[0] % 3 + 1;
      enum graphlog_op op = GRAPHLOG_MOVE + number[1] % (GRAPHLOG_OPS - GRAPHLOG_MOVE);
      put(thread, op, (int)(number[2] % 5), (int)(number[3] % 12), (int)(number[4] % 4), (int)(number[1] % 5));
    }
    save(COMPOSE_PACKED);
    struct replay_request request = scenarios(2);
    struct replay_result result;
    by_row[0][TASK] = by_row[1][LOOP] = 3;
    request.burdened = request.detail = true;
    request.cores[request.cores_count++] = 3;
    assert_true(replay_file(&(struct replay_request){0}, &result));
    assert_true(replay_file(&request, &result));
    assert_true(result.span <= (double)result.work + 1e-6 && result.answers[0].span <= result.span + 1e-6);
    assert_true(result.makespans[0] * 3 >= (double)result.work - 1e-6);
    problems_release(&problems);
    parts_release(&parts);
  }
}

static void test_there_may_be_no_log(void **state)
{
  (void)state;
  struct streams *streams;
  assert_int_equal(streams_open("/tmp/nowhere/x.hpcrun", &problems, &streams), 0);
  assert_null(streams);
  assert_int_equal(problems.count, 0);
}

/* ---- what it is made of ---- */

static void test_joins_that_are_not_used_are_given_up(void **state)
{
  (void)state;
  struct lanes lanes;
  struct joins joins;
  assert_int_equal(lanes_init(&lanes, 1, LANES_UNTRACED, NULL), 0);
  assert_int_equal(joins_init(&joins, &lanes, 3), 0);
  for (uint64_t name = 1; name <= 3; name++)
    assert_int_not_equal(joins_clock(&joins, name, true), 0);
  uint32_t kept = joins_clock(&joins, 1, false);
  assert_int_not_equal(joins_clock(&joins, 4, true), 0); /* in the place of 2 */
  assert_int_equal(joins_clock(&joins, 2, false), 0);
  assert_int_equal(joins_clock(&joins, 1, false), kept);
  assert_int_not_equal(joins_clock(&joins, 3, false), 0);
  joins_release(&joins);
  lanes_release(&lanes);
}

static void test_a_map_forgets_what_is_removed(void **state)
{
  (void)state;
  struct slab_map map = {0};
  uint32_t seed = 7, values[512] = {0};
  for (int i = 0; i < 100000; i++) {
    seed = seed * 1664525 + 1013904223;
    uint64_t key = (seed >> 8) % 511 + 1;
    assert_int_equal(slab_map_find(&map, key * 0x100000001), values[key]);
    if (values[key])
      slab_map_remove(&map, key * 0x100000001);
    else
      assert_true(slab_map_add(&map, key * 0x100000001, (uint32_t)i + 1));
    values[key] = values[key] ? 0 : (uint32_t)i + 1;
  }
  slab_map_release(&map);
}

static void test_trails_keep_their_sums(void **state)
{
  (void)state;
  enum { KEYS = 300, TRAILS = 4 };
  struct trails trails;
  static double sums[TRAILS][KEYS], found[KEYS];
  uint32_t trail[TRAILS] = {0}, seed = 3;
  assert_int_equal(trails_init(&trails, KEYS), 0);
  for (int i = 0; i < 50000; i++) {
    seed = seed * 1664525 + 1013904223;
    uint32_t one = (seed >> 8) % TRAILS, other = (seed >> 12) % TRAILS, key = (seed >> 16) % KEYS;
    if (seed % 64 == 0) {
      uint32_t old = trail[one];
      trail[one] = trail_share(&trails, trail[other]);
      trail_drop(&trails, old);
      memcpy(sums[one], sums[other], sizeof sums[one]);
    } else {
      trail_add(&trails, &trail[one], key, 1);
      sums[one][key]++;
    }
  }
  for (int i = 0; i < TRAILS; i++) {
    memset(found, 0, sizeof found);
    trail_sum(&trails, trail[i], found);
    assert_memory_equal(found, sums[i], sizeof found);
    trail_drop(&trails, trail[i]);
  }
  assert_int_equal(trails.lost, 0);
  assert_true(trails.links.used < 4096); /* they were folded */
  trails_release(&trails);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_a_loop, end),
      cmocka_unit_test_teardown(test_threads_enter_a_loop_at_different_times, end),
      cmocka_unit_test_teardown(test_a_thread_may_be_a_barrier_ahead, end),
      cmocka_unit_test_teardown(test_the_same_loop_again_and_again, end),
      cmocka_unit_test_teardown(test_recursive_tasks, end),
      cmocka_unit_test_teardown(test_a_chain_of_dependences, end),
      cmocka_unit_test_teardown(test_taskgroup_and_taskwait, end),
      cmocka_unit_test_teardown(test_a_region_waits_for_all_its_tasks, end),
      cmocka_unit_test_teardown(test_ordered, end),
      cmocka_unit_test_teardown(test_a_critical_section, end),
      cmocka_unit_test_teardown(test_regions_within_a_region, end),
      cmocka_unit_test_teardown(test_who_is_waited_for_is_serial, end),
      cmocka_unit_test_teardown(test_costs_burden_the_span, end),
      cmocka_unit_test_teardown(test_useless_until_the_other_is_faster_too, end),
      cmocka_unit_test_teardown(test_a_selection_covers_what_is_created_in_it, end),
      cmocka_unit_test_teardown(test_samples_share_a_fragment, end),
      cmocka_unit_test_teardown(test_constructs_without_samples, end),
      cmocka_unit_test_teardown(test_equal_chunks_take_turns, end),
      cmocka_unit_test_teardown(test_one_core_takes_the_work_and_many_the_span, end),
      cmocka_unit_test_teardown(test_a_lock_has_one_holder_in_a_schedule, end),
      cmocka_unit_test(test_work_goes_where_it_leaves_the_least_gap),
      cmocka_unit_test_teardown(test_who_is_ahead_is_held_back, end),
      cmocka_unit_test_teardown(test_who_waits_in_vain_goes_on, end),
      cmocka_unit_test_teardown(test_chunks_are_put_together, end),
      cmocka_unit_test_teardown(test_chunks_that_were_not_begun_are_no_damage, end),
      cmocka_unit_test_teardown(test_what_is_behind_damage_is_not_used, end),
      cmocka_unit_test_teardown(test_damage_at_every_byte, end),
      cmocka_unit_test_teardown(test_nonsense_is_survived, end),
      cmocka_unit_test(test_there_may_be_no_log),
      cmocka_unit_test(test_joins_that_are_not_used_are_given_up),
      cmocka_unit_test(test_a_map_forgets_what_is_removed),
      cmocka_unit_test(test_trails_keep_their_sums),
  };
  return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
