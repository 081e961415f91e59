/* Grains: external sorting, parallelism of schedules, and the graph that the events of grains make. */
#include "hpcprof-lite/grains/grains.h"
#include "hpcprof-lite/grains/grain_schedule.h"
#include "hpcprof-lite/grains/tape.h"
#include "tests/support/replay_log_builder.h"

/* ---- sorting ---- */

static uint64_t scrambled(uint64_t i)
{
  return i * 0x9e3779b97f4a7c15ULL;
}

static void sort_many(uint64_t count)
{
  struct external_sort *sort = external_sort_new(2, &problems);
  for (uint64_t i = 0; i < count; i++)
    assert_int_equal(external_sort_add(sort, (const uint64_t[]){scrambled(i), i}), 0);
  for (int pass = 0; pass < 2; pass++) {
    uint64_t found = 0, last = 0;
    assert_int_equal(external_sort_rewind(sort), 0);
    for (const uint64_t *record; (record = external_sort_next(sort)); found++) {
      assert_true(record[0] >= last && record[0] == scrambled(record[1]));
      last = record[0];
    }
    assert_int_equal(found, count);
    assert_false(external_sort_failed(sort));
  }
  external_sort_free(sort);
}

static void test_records_are_sorted(void **state)
{
  (void)state;
  sort_many(0);
  sort_many(1);
  sort_many(1000);
  sort_many(EXTERNAL_SORT_BYTES / 16 * (UNIT_SANITIZED ? 1 : 3) + 5); /* six parts in the file, or two, and a rest */
}

static void test_without_space(void **state)
{
  (void)state;
  setenv("TMPDIR", "/dev/null/nowhere", 1);
  struct external_sort *sort = external_sort_new(1, &problems);
  int status = 0;
  for (uint64_t i = 0; i < EXTERNAL_SORT_BYTES / 8 && !status; i++)
    status = external_sort_add(sort, &i);
  assert_int_equal(status, ERR_INPUT);
  assert_int_equal(problems.count, 1);
  external_sort_free(sort);
  unsetenv("TMPDIR");
}

/* ---- the tape ---- */

enum { TAPE_RECORDS = 200 };

/* Writes a tape whose byte at `damaged` another program changes, and reads it.  Returns whether it can be read; a
 * record that is read is the one that was written. */
static bool read_tape(struct tape *tape, size_t damaged)
{
  struct tape_record record;
  uint8_t byte;
  uint64_t left = TAPE_RECORDS;
  for (uint64_t i = 1; i <= TAPE_RECORDS; i++)
    TAPE_PUT(tape, TAPE_RUN, i, i, scrambled(i), i);
  assert_int_equal(tape_end(tape), 0);
  if (damaged < tape->file.size) {
    assert_int_equal(pread(tape->file.fd, &byte, 1, (off_t)damaged), 1);
    byte ^= 0xff;
    assert_int_equal(pwrite(tape->file.fd, &byte, 1, (off_t)damaged), 1);
  }
  for (; tape_back(tape, &record); left--)
    assert_true(record.op == TAPE_RUN && record.operand[0] == left && record.operand[2] == scrambled(left));
  assert_int_equal(tape_failed(tape), left ? ERR_INPUT : 0);
  return !left;
}

static void test_a_damaged_tape_is_reported(void **state)
{
  (void)state;
  size_t size = SIZE_MAX;
  struct tape tape;
  for (size_t damaged = 0; damaged <= size; damaged++) {
    tape_init(&tape, &problems);
    bool whole = read_tape(&tape, damaged);
    size = tape.file.size;
    assert_int_equal(whole, damaged == size);
    tape_release(&tape);
    assert_int_equal(problems.count, damaged < size);
    assert_true(damaged == size || (strstr(problems.lines[0], "TMPDIR") && !strstr(problems.lines[0], "memory")));
    problems_release(&problems);
  }
}

/* ---- schedules ---- */

/* Stretches, and the parallelism that each must have. */
static void expect_parallelism(const uint64_t (*stretches)[3], uint32_t count, uint64_t span, const char *touching)
{
  struct grain_schedule schedule;
  struct grain_curve curve;
  grain_schedule_init(&schedule, &problems);
  for (uint32_t i = 0; i < count; i++)
    grain_schedule_add(&schedule, stretches[i][0], stretches[i][1]);
  assert_int_equal(grain_schedule_compute(&schedule, span, &curve), 0);
  assert_int_equal(grain_schedule_rewind(&schedule), 0);
  for (uint32_t i = count; i-- > 0;) {
    uint64_t parallelism;
    assert_true(grain_schedule_next(&schedule, &parallelism));
    assert_int_equal(parallelism, stretches[i][2]);
  }
  for (uint32_t i = 0; touching[i]; i++)
    assert_int_equal(curve.touching[i], touching[i] - '0');
  grain_schedule_release(&schedule);
}

static void test_parallelism_of_stretches(void **state)
{
  (void)state;
  static const uint64_t same[][3] = {{0, 60, 3}, {0, 60, 3}, {0, 60, 3}};
  static const uint64_t after[][3] = {{0, 30, 1}, {30, 60, 1}};
  static const uint64_t nested[][3] = {{0, 60, 1}, {10, 40, 2}, {20, 30, 3}, {40, 50, 2}};
  static const uint64_t dips[][3] = {{0, 20, 2}, {30, 60, 2}, {0, 60, 2}, {5, 10, 3}, {12, 50, 2}};
  expect_parallelism(same, 3, 60, "333333333333333333333333333333333333333333333333333333333333");
  expect_parallelism(after, 2, 60, "111111111111111111111111111111111111111111111111111111111111");
  expect_parallelism(nested, 4, 60, "111111111122222222223333333333222222222222222222221111111111");
  expect_parallelism(dips, 5, 60, "222223333322333333332222222222333333333333333333332222222222");
}

/* ---- the graph of the events ---- */

enum { EVENTS_MAX = 4096, GRAINS_MAX = 512, SYNCS_MAX = 16, NAMES_MAX = 64 };

static struct grain_event events[EVENTS_MAX];
static struct grain grains[GRAINS_MAX + 1];     /* by id */
static struct grain_event ends[GRAINS_MAX + 1]; /* by id: what the events said before the grain did */
static uint32_t events_count, grains_count;

static void keep_event(void *context, const struct grain_event *event)
{
  (void)context;
  assert_true(events_count < EVENTS_MAX && event->grain <= GRAINS_MAX);
  if (event->kind == GRAIN_END)
    ends[event->grain] = *event;
  else
    events[events_count++] = *event;
}

static int keep_grain(void *context, const struct grain *grain)
{
  uint64_t *last = context;
  assert_true(grain->id < *last && grain->id <= GRAINS_MAX && grain->sync_number < SYNCS_MAX);
  assert_true(ends[grain->id].other == grain->sync_grain && ends[grain->id].number == grain->sync_number);
  *last = grain->id;
  grains[grain->id] = *grain;
  grains_count++;
  return 0;
}

/* Clocks at the ends of grains, at synchronisations, barriers and joins; they only grow. */
static uint64_t ended[GRAINS_MAX + 1], joined[GRAINS_MAX + 1][SYNCS_MAX], named[NAMES_MAX];
static uint64_t names[NAMES_MAX];

static uint64_t *by_name(uint64_t name)
{
  for (uint32_t i = 0; i < NAMES_MAX; i++)
    if (names[i] == name || !names[i]) {
      names[i] = name;
      return &named[i];
    }
  fail();
  return NULL;
}

static bool raise_to(uint64_t *clock, uint64_t other)
{
  bool raises = other > *clock;
  *clock = raises ? other : *clock;
  return raises;
}

/* Follows all events once, in the order of time.  Returns whether any clock has grown. */
static bool follow(bool check)
{
  static uint64_t now[GRAINS_MAX + 1], entered[GRAINS_MAX + 1];
  bool grown = false;
  memset(now, 0, sizeof now);
  for (uint32_t i = events_count; i-- > 0;) {
    const struct grain_event *event = &events[i];
    uint64_t *clock = &now[event->grain], *shared = event->other ? by_name(event->other) : NULL;
    switch (event->kind) {
    case GRAIN_FRAGMENT:
      if (check)
        assert_true(*clock == event->begin && event->end == event->begin + event->amount);
      *clock += event->amount;
      break;
    case GRAIN_FORK:
      now[event->other] = event->number ? entered[event->grain] : *clock;
      break;
    case GRAIN_LOOP:
      entered[event->grain] = *clock;
      break;
    case GRAIN_BARRIER:
      grown |= raise_to(shared, *clock);
      grown |= raise_to(shared, joined[event->grain][event->number]);
      raise_to(clock, *shared);
      break;
    case GRAIN_SYNC:
      raise_to(clock, joined[event->grain][event->number]);
      break;
    case GRAIN_OFFER:
      grown |= raise_to(shared, *clock);
      break;
    default:
      raise_to(clock, *shared);
    }
  }
  for (uint32_t i = 1; i <= GRAINS_MAX; i++) {
    grown |= raise_to(&ended[i], now[i]);
    if (grains[i].sync_grain)
      grown |= raise_to(&joined[grains[i].sync_grain][grains[i].sync_number], now[i]);
  }
  return grown;
}

/* The name of the measurement file beside the log. */
static void measurement_of(char name[sizeof path + 8])
{
  snprintf(name, sizeof path + 8, "%.*s.hpcrun", (int)(strrchr(path, '.') - path), path);
}

/* The events of the program in the log make a graph in which each fragment begins when the replay says, and the longest
 * path is the span. */
static void expect_grains(uint32_t tasks, uint32_t chunk_count)
{
  static struct profile_directive directives[ROWS];
  struct replay_result result = (save(COMPOSE_PACKED), measured());
  char measurement[sizeof path + 8];
  measurement_of(measurement);
  struct profile_process process = {.path = measurement,
                                    .workspan = {.known = true,
                                                 .work = result.work,
                                                 .span = (uint64_t)result.span,
                                                 .directives = directives,
                                                 .directives_count = ROWS}};
  struct grains *found;
  uint64_t last = UINT64_MAX, longest = 0, work = 0;
  events_count = grains_count = 0;
  memset(grains, 0, sizeof grains);
  memset(ends, 0, sizeof ends);
  memset(ended, 0, sizeof ended);
  memset(joined, 0, sizeof joined);
  memset(named, 0, sizeof named);
  memset(names, 0, sizeof names);
  assert_int_equal(grains_open(&process, &problems, &found), 0);
  assert_non_null(found);
  assert_int_equal(
      grains_each(found, &(struct grains_visitor){.grain = keep_grain, .event = keep_event, .context = &last}), 0);
  assert_int_equal(problems.count, 0);
  const struct grains_totals *totals = grains_totals(found);
  assert_int_equal(totals->count[GRAIN_TASK], tasks);
  assert_int_equal(totals->count[GRAIN_CHUNK], chunk_count);
  assert_true(totals->work == result.work && (double)totals->span == result.span && !totals->differs);
  int passes = 0;
  while (follow(false))
    assert_true(passes++ < 100); /* otherwise there is a cycle */
  follow(true);
  for (uint32_t i = 1; i <= GRAINS_MAX; i++) {
    longest = ended[i] > longest ? ended[i] : longest;
    work += grains[i].exec;
  }
  assert_true(longest == totals->span && work == totals->work);
  grains_close(found);
}

static void test_loops(void **state)
{
  (void)state;
  for (uint32_t threads = 1; threads <= 4; threads++) {
    loop_program(threads);
    expect_grains(0, 16);
  }
}

/* A task creates one that it waits for, and one that only the barrier waits for, which creates another one. */
static void test_waits(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
  struct name outer = task(1, team[0], 0);
  on_task(1, GRAPHLOG_SWITCH, outer);
  u(1, 5);
  struct name awaited = task(1, outer, 0);
  run_task(2, awaited, 20, team[1]);
  wait_begin(1, outer, GRAPHLOG_TASKWAIT);
  wait_end(1, outer, GRAPHLOG_TASKWAIT);
  struct name left = task(1, outer, 0);
  u(1, 3);
  on_task(1, GRAPHLOG_TASK_END, outer);
  on_task(1, GRAPHLOG_SWITCH, team[0]);
  on_task(2, GRAPHLOG_SWITCH, left);
  u(2, 30);
  struct name last = task(2, left, GRAPHLOG_SERIAL);
  run_task(2, last, 7, left);
  u(2, 1);
  on_task(2, GRAPHLOG_TASK_END, left);
  on_task(2, GRAPHLOG_SWITCH, team[1]);
  join_team(2, team);
  expect(66, 63);
  expect_grains(4, 0);
  assert_true(grains[5].sync_grain == 4 && grains[5].sync_number == 1);    /* the taskwait of `outer` */
  assert_true(grains[6].sync_grain == 2 && grains[7].sync_grain == 6);     /* the barrier; `left` itself */
  assert_true(grains[4].sync_grain == 2 && grains[4].siblings.count == 2); /* with `left` */
}

/* Two taskgroups in each other, and a chain of dependences. */
static void test_taskgroups_and_dependences(void **state)
{
  (void)state;
  struct name team[1];
  begin_team(1, team);
  put(1, GRAPHLOG_GROUP, GROUP);
  run_task(1, task(1, team[0], 0), 10, team[0]);
  put(1, GRAPHLOG_GROUP, GROUP);
  struct name first = task(1, team[0], 0), second = task(1, team[0], 0), join = new_join(1);
  on_task(1, GRAPHLOG_SWITCH, first);
  u(1, 4);
  on_join(1, GRAPHLOG_OFFER, first, join);
  on_task(1, GRAPHLOG_TASK_END, first);
  on_join(1, GRAPHLOG_TAKE, second, join);
  run_task(1, second, 5, team[0]);
  put(1, GRAPHLOG_GROUP_END);
  u(1, 1);
  put(1, GRAPHLOG_GROUP_END);
  u(1, 1);
  join_team(1, team);
  expect(21, 11);
  expect_grains(3, 0);
}

static char chunk_paths[256];

static int keep_path(void *context, const struct grain *grain)
{
  (void)context;
  size_t used = strlen(chunk_paths);
  if (grain->kind == GRAIN_CHUNK)
    snprintf(chunk_paths + used, sizeof chunk_paths - used, "%s ", grain->path);
  return 0;
}

/* Reads the grains of a log that need not be sound.  Returns whether that was found. */
static bool read_grains(int status)
{
  static struct profile_directive directives[ROWS] = {
      [GROUP].kind = DIRECTIVE_TASKLOOP, [ORDERED].kind = DIRECTIVE_SINGLE};
  char measurement[sizeof path + 8];
  save(COMPOSE_PACKED);
  measurement_of(measurement);
  struct profile_process process = {.path = measurement,
                                    .workspan = {.known = true, .directives = directives, .directives_count = ROWS}};
  struct grains *found;
  *chunk_paths = '\0';
  assert_int_equal(grains_open(&process, &problems, &found), status);
  if (!status)
    assert_int_equal(grains_each(found, &(struct grains_visitor){.grain = keep_path}), 0);
  bool differs = grains_totals(found)->differs;
  grains_close(found);
  return differs;
}

/* ---- counted events ---- */

static uint64_t counted[8][2]; /* [grain]; GRAIN_UNKNOWN: not known */

static int keep_counts(void *context, const struct grain *grain)
{
  (void)context;
  for (int i = 0; i < 2; i++)
    counted[grain->id][i] = grain->counts ? grain->counts[i] : GRAIN_UNKNOWN;
  return 0;
}

static void expect_counts(uint64_t grain, uint64_t first, uint64_t second)
{
  assert_int_equal(counted[grain][0], first);
  assert_int_equal(counted[grain][1], second);
}

static void read_counts(uint64_t from_ticks, uint64_t to_ticks, uint32_t counters)
{
  static struct profile_directive directives[ROWS];
  char measurement[sizeof path + 8];
  struct grains *found;
  measurement_of(measurement);
  struct profile_process process = {.path = measurement,
                                    .from_ticks = from_ticks,
                                    .to_ticks = to_ticks,
                                    .constructs.counters.count = counters,
                                    .workspan = {.known = true, .directives = directives, .directives_count = ROWS}};
  memset(counted, 0, sizeof counted);
  assert_int_equal(grains_open(&process, &problems, &found), 0);
  assert_int_equal(grains_each(found, &(struct grains_visitor){.grain = keep_counts}), 0);
  grains_close(found);
  problems_release(&problems); /* the process states no work */
}

/* A count is known if that of each fragment is; numbers that no counter has are left out, and sums saturate. */
static void test_counts_of_grains(void **state)
{
  (void)state;
  begin();
  struct name initial = implicit(1, none, 1), tasks[3];
  put(1, GRAPHLOG_COUNT, 0, 5);
  u(1, 10);
  for (int i = 0; i < 3; i++)
    tasks[i] = task(1, initial, 0);
  put(1, GRAPHLOG_COUNT, 200, 9);
  put(1, GRAPHLOG_COUNT, 1, 7);
  u(1, 10);
  put(1, GRAPHLOG_COUNT, 1, 0);
  run_task(1, tasks[0], 10, initial);
  run_task(1, tasks[1], 10, initial);
  uint64_t middle = now;
  put(1, GRAPHLOG_COUNT, 0, -1);
  put(1, GRAPHLOG_COUNT, 0, -1);
  run_task(1, tasks[2], 10, initial);
  save(COMPOSE_PACKED);
  read_counts(0, 0, 2);
  expect_counts(1, 5, 7);
  expect_counts(2, 0, 0);
  expect_counts(3, GRAIN_UNKNOWN, GRAIN_UNKNOWN);
  expect_counts(4, UINT64_MAX, 0);
  read_counts(0, middle - 25, 2); /* in the first task */
  expect_counts(1, 5, 7);
  expect_counts(2, GRAIN_UNKNOWN, GRAIN_UNKNOWN);
  read_counts(0, 0, 0);
  expect_counts(2, 0, 0);
}

/* A log may name anything: what contradicts the graph is left out. */
static void test_contradictions(void **state)
{
  (void)state;
  struct name team[1];
  begin_team(1, team);
  for (int op = GRAPHLOG_CPU; op < GRAPHLOG_OPS; op++)
    if (op != GRAPHLOG_TIME)
      put(1, op, 1, 1, 1, 1);
  assert_true(read_grains(0));
}

/* An implicit task of a region that has ended, of which a task is left; then another region begins. */
static void test_implicit_task_of_an_ended_region(void **state)
{
  (void)state;
  struct name team[1], other[1];
  begin_team(1, team);
  struct name in = {1, 1};
  task(1, team[0], 0);
  on_task(1, GRAPHLOG_IMPLICIT_END, team[0]);
  put(1, GRAPHLOG_REGION_END, PARALLEL);
  struct name late = implicit(2, in, 1);
  fork_team(1, 1, other);
  on_task(1, GRAPHLOG_IMPLICIT_END, other[0]);
  on_task(2, GRAPHLOG_IMPLICIT_END, late);
  put(1, GRAPHLOG_REGION_END, PARALLEL);
  read_grains(0);
}

/* A task of a taskloop, which runs its chunk, is in a worksharing loop. */
static void test_loop_in_a_task(void **state)
{
  (void)state;
  struct name team[1];
  begin_team(1, team);
  put(1, GRAPHLOG_SCOPE, GROUP);
  struct name inner = task(1, team[0], GRAPHLOG_LOOP_TASK);
  on_task(1, GRAPHLOG_SWITCH, inner);
  put(1, GRAPHLOG_CHUNK, 0, 5);
  put(1, GRAPHLOG_LOOP, LOOP, 10);
  put(1, GRAPHLOG_LOOP_END);
  on_task(1, GRAPHLOG_SWITCH, team[0]);
  put(1, GRAPHLOG_SCOPE_END);
  on_task(1, GRAPHLOG_TASK_END, inner);
  read_grains(0);
}

static void test_grains_without_space(void **state)
{
  (void)state;
  struct name team[4];
  begin_team(4, team);
  for (uint32_t i = 0; i < 10000; i++)
    task(1 + i % 4, team[i % 4], 0);
  setenv("TMPDIR", "/dev/null/nowhere", 1);
  read_grains(ERR_INPUT);
  unsetenv("TMPDIR");
}

static void taskloop_in_single(uint32_t thread, struct name implicit)
{
  put(thread, GRAPHLOG_SCOPE, ORDERED);
  put(thread, GRAPHLOG_SCOPE, GROUP);
  struct name inner = task(thread, implicit, GRAPHLOG_LOOP_TASK);
  on_task(thread, GRAPHLOG_SWITCH, inner);
  put(thread, GRAPHLOG_CHUNK, 0, 5);
  on_task(thread, GRAPHLOG_TASK_END, inner);
  on_task(thread, GRAPHLOG_SWITCH, implicit);
  put(thread, GRAPHLOG_SCOPE_END);
  put(thread, GRAPHLOG_SCOPE_END);
}

/* Paths of what is in a construct are the same whichever thread runs it. */
static void test_paths_in_constructs(void **state)
{
  (void)state;
  for (uint32_t thread = 1; thread <= 2; thread++) {
    struct name team[2];
    begin_team(2, team);
    taskloop_in_single(1, team[0]);
    taskloop_in_single(thread, team[thread - 1]);
    join_team(2, team);
    read_grains(0);
    assert_string_equal(chunk_paths, "0.1.2/L1[0x5] 0.1.1/L1[0x5] ");
  }
}

/* Two sections that do no work, on two threads. */
static void test_chunks_without_work(void **state)
{
  (void)state;
  struct name team[2];
  begin_team(2, team);
  for (uint32_t i = 0; i < 2; i++) {
    put(1 + i, GRAPHLOG_LOOP, LOOP, 2);
    put(1 + i, GRAPHLOG_CHUNK, (int)i, 0);
    put(1 + i, GRAPHLOG_LOOP_END);
  }
  join_team(2, team);
  read_grains(0);
  assert_string_equal(chunk_paths, "0.1/L1[t2.1] 0.1/L1[t1.1] ");
}

/* A thread runs its own chunks, and then those that another one has not begun. */
static void test_moved_chunks(void **state)
{
  (void)state;
  static const int starts[] = {8, 12, 4, 0};
  struct name team[1];
  begin_team(1, team);
  put(1, GRAPHLOG_LOOP, LOOP, 16);
  for (int i = 0; i < 4; i++)
    put(1, GRAPHLOG_CHUNK, starts[i], 4);
  put(1, GRAPHLOG_LOOP_END);
  join_team(1, team);
  read_grains(0);
  assert_string_equal(chunk_paths, "0.1/L1[0-3] 0.1/L1[4-7] 0.1/L1[12-15] 0.1/L1[8-11] ");
}

/* LLVM's runtime announces only the first chunk of a thread of a static schedule. */
static void test_chunks_that_are_not_announced(void **state)
{
  (void)state;
  for (int all = 0; all < 2; all++) {
    struct name team[2];
    begin_team(2, team);
    for (uint32_t i = 0; i < 2; i++) {
      put(1 + i, GRAPHLOG_LOOP, LOOP, all ? 4 : 9);
      put(1 + i, GRAPHLOG_CHUNK, 2 * (int)i, 2);
      u(1 + i, 1);
      put(1 + i, GRAPHLOG_LOOP_END);
    }
    join_team(2, team);
    read_grains(0);
    assert_string_equal(chunk_paths, all ? "0.1/L1[2-3] 0.1/L1[0-1] " : "0.1/L1[t2.1] 0.1/L1[t1.1] ");
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_records_are_sorted, end),
      cmocka_unit_test_teardown(test_without_space, end),
      cmocka_unit_test_teardown(test_a_damaged_tape_is_reported, end),
      cmocka_unit_test_teardown(test_parallelism_of_stretches, end),
      cmocka_unit_test_teardown(test_loops, end),
      cmocka_unit_test_teardown(test_waits, end),
      cmocka_unit_test_teardown(test_taskgroups_and_dependences, end),
      cmocka_unit_test_teardown(test_counts_of_grains, end),
      cmocka_unit_test_teardown(test_contradictions, end),
      cmocka_unit_test_teardown(test_implicit_task_of_an_ended_region, end),
      cmocka_unit_test_teardown(test_loop_in_a_task, end),
      cmocka_unit_test_teardown(test_grains_without_space, end),
      cmocka_unit_test_teardown(test_paths_in_constructs, end),
      cmocka_unit_test_teardown(test_chunks_without_work, end),
      cmocka_unit_test_teardown(test_moved_chunks, end),
      cmocka_unit_test_teardown(test_chunks_that_are_not_announced, end),
  };
  return UNIT_RUN(argc, argv, "grains", tests, NULL, NULL);
}
