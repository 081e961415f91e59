/* Replay of the graph log: closed forms, scenarios, and schedules derived by hand. */
#include "hpcprof-lite/replay/list_schedule.h"
#include "tests/support/replay_log_builder.h"

#include <math.h>

/* ---- closed forms: doc/parallelism.md ---- */

static void test_a_loop(void **state)
{
  (void)state;
  for (uint32_t threads = 1; threads <= 4; threads++) {
    loop_program(threads);
    expect(156, 36);
    expect_row(LOOP, 1, 136, 16);
    expect_row(PARALLEL, 1, 136, 16);
    assert_int_equal(measured().directives[LOOP].iterations, 16);
  }
}

/* Thread 2 enters the loop after 100: the span of the loop is that of the longest chunk, and that of the region lasts
 * until the latest end. */
static void test_threads_enter_a_loop_at_different_times(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
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

/* Thread 1 has reached the next barrier before thread 2 has left this one. */
static void test_a_thread_may_be_a_barrier_ahead(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
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

static void test_repeated_loops(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
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
  expect(82, 75); /* although no task waits for the last one */
  expect_row(GROUP, 1, 23, 21);
}

static void test_a_region_waits_for_all_its_tasks(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
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
  on_task(2, GRAPHLOG_IMPLICIT_END, team[1]); /* that of a worker comes late */
  expect(54, 54);
  expect_row(PARALLEL, 1, 51, 51);
}

static void test_ordered(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
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

static void loop_of_one(uint32_t thread, enum graphlog_op op)
{
  put(thread, op, LOOP, 0);
  u(thread, 1);
  put(thread, GRAPHLOG_LOOP_END);
}

/* Thread 2 is 8 loops ahead.  By its time, it enters the ninth loop before thread 1 leaves the first one.  The tenth
 * one is not shared. */
static void test_a_thread_is_many_loops_ahead(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
  for (int i = 1; i <= 8; i++)
    loop_of_one(2, GRAPHLOG_LOOP);
  put(1, GRAPHLOG_LOOP, LOOP, 0);
  put(2, GRAPHLOG_LOOP, LOOP, 0);
  for (uint32_t thread = 1; thread <= 2; thread++) {
    u(thread, 1);
    put(thread, GRAPHLOG_LOOP_END);
  }
  loop_of_one(2, GRAPHLOG_LOOP_ALONE);
  for (int i = 2; i <= 10; i++)
    loop_of_one(1, GRAPHLOG_LOOP);
  join_team(2, team);
  expect(20, 10);
  expect_row(LOOP, 9 + 2, 20, 9 + 2);
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
  assert_true(measured().directives[CRITICAL].lock_bound.at[0] == 73);
}

static void test_regions_within_a_region(void **state)
{
  (void)state;
  static const uint32_t threads = 3;
  struct name team[3], inner[2];
  begin_team(threads, team);
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
  begin_team(1, team);
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
  begin_team(2, team);
  struct name made_task = task(1, team[0], 0);
  run_task(1, made_task, 10, team[0]);
  run_task(1, task(1, team[0], GRAPHLOG_SERIAL), 15, team[0]); /* it has no further cost */
  join_team(2, team);
  save(COMPOSE_PACKED);
  struct replay_result result =
      ask((struct replay_request){.burdened = true, .costs = {.fork = 100, .task = 20, .join = 3}});
  assert_true(result.span == 15 && result.burdened == 133);
}

/* ---- scenarios ---- */

static void in_region(uint32_t thread, enum row row, uint64_t work)
{
  put(thread, GRAPHLOG_SCOPE, row);
  u(thread, work);
  put(thread, GRAPHLOG_SCOPE_END);
}

/* u(10), then two threads with 40 and 32, then u(5): a faster second thread has no effect until the first one is
 * faster, too. */
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

static void test_no_effect_until_the_other_is_faster_too(void **state)
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
    if (result.outcomes[i].span != spans[i])
      fail_msg("scenario %d: %g instead of %g", i, result.outcomes[i].span, spans[i]);
    assert_true(result.outcomes[i].removed == 0 && !result.outcomes[i].by_sample);
  }
  assert_int_equal(result.work, 87);
  assert_true(result.directives[REGION_A].span.at[0] == 40 && result.directives[REGION_A].span.at[1] == 2.5);
  assert_true(result.directives[PARALLEL].span.at[0] == 40 && result.directives[PARALLEL].span.at[1] == 32);
  assert_true(result.directives[PARALLEL].work.at[0] == 72);
  double sum = 0;
  for (uint32_t i = 0; i < attribution.count; i++) {
    sum += result.contributions[i];
    assert_true(result.contributions[i] == 0 || attribution.entries[i].row == PROGRAM ||
                attribution.entries[i].row == REGION_B);
  }
  assert_true(sum == 47);
}

/* A task that is created in a selected construct belongs to it, wherever it runs. */
static void test_a_selection_covers_what_is_created_in_it(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
  put(1, GRAPHLOG_SCOPE, REGION_A);
  struct name made_task = task(1, team[0], 0);
  put(1, GRAPHLOG_SCOPE_END);
  run_task(2, made_task, 100, team[1]);
  join_team(2, team);
  expect(100, 100);
  struct replay_request request = scenarios(2);
  by_row[0][REGION_A] = 10;
  by_row[1][REGION_A] = 2;
  by_row[1][TASK] = 5; /* the larger factor applies */
  struct replay_result result = ask(request);
  assert_true(result.outcomes[0].span == 10 && result.outcomes[1].span == 20);
}

static void sampled(uint32_t thread, uint32_t node, uint64_t weight)
{
  put(thread, GRAPHLOG_SAMPLE, (int)node, (int)weight);
}

/* 100 with samples 3 : 1 in nodes 7 and 8, 60 of node 8, and 40 without samples, which are divided 75 : 85. */
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
  attribution_release(&attribution);
  measured();
  uint32_t seven = attribution_find(&attribution, PROGRAM, 1, 7), eight = attribution_find(&attribution, PROGRAM, 1, 8);
  assert_true(seven && eight && attribution.entries[seven].amount == 75 && attribution.entries[eight].amount == 85);
  struct replay_request request = scenarios(2);
  by_part[0][seven] = 5;
  by_part[1][eight] = 2;
  struct replay_result result = ask(request);
  double removed = 75 * 0.8 + 40 * 0.8 * 75 / 160;
  assert_true(fabs(result.outcomes[0].span - (200 - removed)) < 1e-9 &&
              fabs(result.outcomes[0].removed - removed) < 1e-9);
  assert_true(fabs(result.outcomes[1].span - (200 - 85 * 0.5 - 40 * 0.5 * 85 / 160)) < 1e-9);
  assert_true(result.outcomes[0].by_sample);
  request.exact_samples = true; /* then only the part without samples is inexact */
  result = ask(request);
  assert_true(fabs(result.outcomes[0].removed - 40 * 0.8 * 75 / 160) < 1e-9);
}

/* Counted work whose code is not known may be in the selected code, unless a scenario selects it anyway. */
static void test_counted_work_of_unknown_code(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1);
  sampled(1, 7, 30);
  u(1, 30);
  sampled(1, 8, 10);
  u(1, 10);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  expect(40, 40);
  struct replay_request request = scenarios(2);
  uint32_t seven = attribution_find(&attribution, PROGRAM, 1, 7), eight = attribution_find(&attribution, PROGRAM, 1, 8);
  bool unplaced[8] = {0};
  by_part[0][seven] = by_part[1][eight] = 2;
  request.exact_samples = true;
  request.unplaced = unplaced;
  struct replay_result result = ask(request);
  assert_true(!result.outcomes[0].unplaced && !result.outcomes[1].unplaced);
  unplaced[eight] = true;
  result = ask(request);
  assert_true(result.outcomes[0].span == 25 && result.outcomes[0].unplaced);
  assert_true(result.outcomes[1].span == 35 && !result.outcomes[1].unplaced);
  request.exact_samples = false;
  result = ask(request);
  assert_true(!result.outcomes[0].unplaced);
}

/* A construct without any sample is treated as the measurement treats its work without a context. */
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
  by_part[0][attribution_find(&attribution, PROGRAM, 1, 7)] =
      by_part[1][attribution_find(&attribution, PROGRAM, 1, 7)] = 2;
  by_part[1][attribution_find(&attribution, REGION_A, 0, 0)] = 2;
  struct replay_result result = ask(request);
  assert_true(result.outcomes[0].span == 110 && result.outcomes[1].span == 80);
}

/* ---- schedules ---- */

static void fork_join(uint32_t count)
{
  struct name team[2];
  begin_team(2, team);
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

/* The u(3) may run in parallel, the u(7) only one after another: 3 + 10 x 7. */
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

/* The runtime announces a release after the lock is free: the next holder's records may be earlier. */
static void test_a_release_may_be_logged_after_the_next_acquisition(void **state)
{
  (void)state;
  enum { THREADS = 3, ROUNDS = 4, LOCK = 77, OTHER = 78 };
  struct name team[THREADS];
  begin_team(THREADS, team);
  put(1, GRAPHLOG_ACQUIRE, CRITICAL, OTHER, 0); /* never released */
  for (uint32_t i = 0; i < THREADS * ROUNDS; i++) {
    uint32_t thread = i % THREADS + 1;
    put(thread, GRAPHLOG_ACQUIRE, CRITICAL, LOCK, 0);
    u(thread, 7);
    if (i)
      put((i - 1) % THREADS + 1, GRAPHLOG_RELEASE, LOCK, 0);
  }
  put(2, GRAPHLOG_ACQUIRE, CRITICAL, OTHER, 0);
  put(THREADS, GRAPHLOG_RELEASE, LOCK, 0);
  put(2, GRAPHLOG_RELEASE, OTHER, 0);
  join_team(THREADS, team);
  expect(7 * THREADS * ROUNDS, 7 * ROUNDS);
  struct replay_result result = ask(on_cores());
  assert_true(result.makespans[0] == 7 * THREADS * ROUNDS && result.makespans[5] == 7 * THREADS * ROUNDS);
  assert_true(result.directives[CRITICAL].lock_bound.at[0] == 7 * THREADS * ROUNDS);
}

/* A schedule on two cores as recorded, and one with a change. */
static struct replay_result with_change(struct schedule_assumption assumption)
{
  struct replay_request request = {.cores = {2, 2}, .cores_count = 2, .only_schedules = true};
  request.assumptions[0] = (struct schedule_assumption){.own_chunks = assumption.own_chunks};
  request.assumptions[1] = assumption;
  save(COMPOSE_PACKED);
  return ask(request);
}

/* Two threads take turns: the first has chunks of 1, 3, … 15, the second of 2, 4, … 16. */
static void test_threads_keep_their_chunks(void **state)
{
  (void)state;
  const bool loop[ROWS] = {[LOOP] = true};
  loop_program(2);
  struct replay_result result = with_change((struct schedule_assumption){SCHEDULE_SPREAD, loop, true});
  assert_true(result.makespans[0] == 20 + 72);              /* the second thread's chunks */
  assert_true(fabs(result.makespans[1] - (20 + 68)) < 0.1); /* half of all */
  assert_true(result.span == 36);
  result = with_change((struct schedule_assumption){SCHEDULE_SPREAD_SERIAL, NULL, true});
  assert_true(result.makespans[0] == 92 && fabs(result.makespans[1] - (10 + 72)) < 0.1);
  struct replay_request on_four = {.cores = {4, 4}, .cores_count = 2, .only_schedules = true};
  on_four.assumptions[0].own_chunks = true;
  result = ask(on_four);
  assert_true(result.makespans[0] == 92 && result.makespans[1] == 20 + 40);
}

/* Each of two threads has the longer part of one barrier interval. */
static void test_phases_without_a_barrier(void **state)
{
  (void)state;
  const bool inside[ROWS] = {[PARALLEL] = true}, elsewhere[ROWS] = {[LOOP] = true};
  struct name team[2];
  begin_team(2, team);
  u(1, 40);
  u(2, 10);
  barrier(2, team);
  u(1, 10);
  u(2, 40);
  barrier(2, team);
  u(1, 5);
  u(2, 5);
  join_team(2, team);
  struct replay_result result = with_change((struct schedule_assumption){SCHEDULE_WITHOUT_BARRIERS, inside, true});
  assert_true(result.makespans[0] == 85 && result.makespans[1] == 55);
  result = with_change((struct schedule_assumption){SCHEDULE_WITHOUT_BARRIERS, elsewhere, true});
  assert_true(result.makespans[1] == 85);
}

/* A chain of four tasks, each of which takes 10. */
static void test_a_chain_without_its_links(void **state)
{
  (void)state;
  const bool inside[ROWS] = {[PARALLEL] = true}, elsewhere[ROWS] = {[LOOP] = true};
  struct name team[2], links[4], tasks[4];
  begin_team(2, team);
  for (int i = 0; i < 4; i++)
    tasks[i] = task(1, team[0], 0);
  for (int i = 0; i < 4; i++) {
    links[i] = new_join(1);
    if (i)
      on_join(1, GRAPHLOG_TAKE, tasks[i], links[i - 1]);
    on_task(1, GRAPHLOG_SWITCH, tasks[i]);
    u(1, 10);
    on_join(1, GRAPHLOG_OFFER, tasks[i], links[i]);
    on_task(1, GRAPHLOG_TASK_END, tasks[i]);
    on_task(1, GRAPHLOG_SWITCH, team[0]);
  }
  join_team(2, team);
  struct replay_result result = with_change((struct schedule_assumption){SCHEDULE_WITHOUT_DEPENDENCES, inside, true});
  assert_true(result.makespans[0] == 40 && result.makespans[1] == 20);
  result = with_change((struct schedule_assumption){SCHEDULE_WITHOUT_DEPENDENCES, elsewhere, true});
  assert_true(result.makespans[1] == 40);
}

static void test_divisible_work_takes_all_cores(void **state)
{
  (void)state;
  struct list_schedule schedule;
  list_schedule_init(&schedule, 4);
  assert_true(list_schedule_run(&schedule, 0, 8, true) == 2);
  assert_true(list_schedule_run(&schedule, 2, 4, false) == 6);
  assert_true(list_schedule_run(&schedule, 1, 12, true) == 6); /* on the other three cores */
  assert_true(list_schedule_run(&schedule, 0, 0, true) == 0 && schedule.makespan == 6);
  list_schedule_release(&schedule);
  list_schedule_init(&schedule, 0);
  assert_true(list_schedule_run(&schedule, 5, 12, true) == 5);
  list_schedule_release(&schedule);
}

static void test_a_schedule_keeps_cores_busy(void **state)
{
  (void)state;
  struct list_schedule schedule;
  list_schedule_init(&schedule, 2);
  assert_true(list_schedule_run(&schedule, 0, 5, false) == 5);
  assert_true(list_schedule_run(&schedule, 0, 3, false) == 3);
  assert_true(list_schedule_run(&schedule, 6, 1, false) == 7);
  assert_true(list_schedule_run(&schedule, 4, 10, false) == 14);
  assert_true(list_schedule_run(&schedule, 0, 1, false) == 4); /* between the second and the fourth */
  assert_true(list_schedule_run(&schedule, 0, 3, false) == 9); /* 5 to 6 and 7 to 9 */
  assert_true(schedule.makespan == 14);
  list_schedule_release(&schedule);
}

/* Random fragments in chains, of sizes for which slots get long. */
static void test_a_schedule_is_within_the_greedy_bounds(void **state)
{
  (void)state;
  for (uint32_t cores = 1; cores <= 9; cores++) {
    struct list_schedule schedule;
    double ends[7] = {0}, chains[7] = {0}, work = 0, span = 0;
    list_schedule_init(&schedule, cores);
    for (uint32_t i = 0; i < 3000; i++) {
      uint32_t chain = (uint32_t)lrand48() % 7, after = (uint32_t)lrand48() % 7;
      double amount = (double)(lrand48() % (i % 3 ? 50 : 50000));
      ends[chain] = ends[after] > ends[chain] ? ends[after] : ends[chain];
      chains[chain] = chains[after] > chains[chain] ? chains[after] : chains[chain];
      ends[chain] = list_schedule_run(&schedule, ends[chain], amount, false);
      chains[chain] += amount;
      work += amount;
      span = chains[chain] > span ? chains[chain] : span;
    }
    double makespan = schedule.makespan;
    if (makespan > work / cores + span + 1e-3 || makespan < span - 1e-3 || makespan * cores < work - 1e-3)
      fail_msg("%g on %u cores, work %g, span %g", makespan, cores, work, span);
    list_schedule_release(&schedule);
  }
}

/* ---- order ---- */

/* The clock of thread 2 is behind by more than the whole run: it names a task that thread 1 creates later by its own
 * clock. */
static void test_a_thread_that_is_ahead_waits(void **state)
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

/* Two threads wait for tasks that the other one never creates. */
static void test_threads_that_wait_for_nothing_go_on(void **state)
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
  assert_int_equal(result.lost.joins, 2);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_a_loop, end),
      cmocka_unit_test_teardown(test_threads_enter_a_loop_at_different_times, end),
      cmocka_unit_test_teardown(test_a_thread_may_be_a_barrier_ahead, end),
      cmocka_unit_test_teardown(test_repeated_loops, end),
      cmocka_unit_test_teardown(test_recursive_tasks, end),
      cmocka_unit_test_teardown(test_a_chain_of_dependences, end),
      cmocka_unit_test_teardown(test_taskgroup_and_taskwait, end),
      cmocka_unit_test_teardown(test_a_region_waits_for_all_its_tasks, end),
      cmocka_unit_test_teardown(test_ordered, end),
      cmocka_unit_test_teardown(test_a_thread_is_many_loops_ahead, end),
      cmocka_unit_test_teardown(test_a_critical_section, end),
      cmocka_unit_test_teardown(test_regions_within_a_region, end),
      cmocka_unit_test_teardown(test_who_is_waited_for_is_serial, end),
      cmocka_unit_test_teardown(test_costs_burden_the_span, end),
      cmocka_unit_test_teardown(test_no_effect_until_the_other_is_faster_too, end),
      cmocka_unit_test_teardown(test_a_selection_covers_what_is_created_in_it, end),
      cmocka_unit_test_teardown(test_samples_share_a_fragment, end),
      cmocka_unit_test_teardown(test_counted_work_of_unknown_code, end),
      cmocka_unit_test_teardown(test_constructs_without_samples, end),
      cmocka_unit_test_teardown(test_equal_chunks_take_turns, end),
      cmocka_unit_test_teardown(test_one_core_takes_the_work_and_many_the_span, end),
      cmocka_unit_test_teardown(test_a_lock_has_one_holder_in_a_schedule, end),
      cmocka_unit_test_teardown(test_a_release_may_be_logged_after_the_next_acquisition, end),
      cmocka_unit_test_teardown(test_threads_keep_their_chunks, end),
      cmocka_unit_test_teardown(test_phases_without_a_barrier, end),
      cmocka_unit_test_teardown(test_a_chain_without_its_links, end),
      cmocka_unit_test(test_divisible_work_takes_all_cores),
      cmocka_unit_test(test_a_schedule_keeps_cores_busy),
      cmocka_unit_test(test_a_schedule_is_within_the_greedy_bounds),
      cmocka_unit_test_teardown(test_a_thread_that_is_ahead_waits, end),
      cmocka_unit_test_teardown(test_threads_that_wait_for_nothing_go_on, end),
  };
  return UNIT_RUN(argc, argv, "replay", tests, NULL, NULL);
}
