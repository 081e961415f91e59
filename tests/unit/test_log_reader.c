/* Reading the graph log: its extents, damage, and inconsistent records; and the data structures of the replay. */
#include "hpcprof-lite/input/log_reader.h"
#include "common/order.h"
#include "hpcprof-lite/replay/joins.h"
#include "tests/support/replay_log_builder.h"

static void test_extents_are_put_together(void **state)
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
    log_cut(&log_reader_log, 1);
    if (i % 2)
      log_cut(&log_reader_log, 2);
  }
  u(1, 1);
  expect(36, 21);
  expect_row(PARALLEL, 5, 35, 20);
}

/* Threads reserve their extents: zeros may precede, follow or separate those that are in use. */
static void test_extents_that_were_not_begun_are_no_damage(void **state)
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
    log_cut(&log_reader_log, 1);
  }
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  save(COMPOSE_PACKED);
  size_t extent = 0; /* the third one */
  for (size_t i = 0, seen = 0; i + 8 < compose.size && seen < 3; i++)
    if (!memcmp(compose.bytes + i, "hpcrlite", 8) && ++seen == 3)
      extent = i;
  compose.bytes[extent + 66] ^= 1;
  assert_true(compose_write(&compose, path));
  struct replay_request request = {0};
  struct replay_result result;
  assert_true(replay_file(&request, &result));
  assert_true(result.work == 20 && result.span == 20);
  char expected[64];
  snprintf(expected, sizeof expected, "extent 2 at offset %zu: checksum", extent);
  assert_int_equal(problems.count, 1);
  assert_non_null(strstr(problems.lines[0], expected));
  memcpy(compose.bytes + extent, "hpcr\0\0\0\0", 8); /* its header: the extent is missing */
  assert_true(compose_write(&compose, path));
  problems_release(&problems);
  assert_true(replay_file(&request, &result));
  assert_true(result.work == 20);
  assert_int_equal(problems.count, 2);
  assert_non_null(strstr(problems.lines[1], "missing"));
}

/* Appends an extent of a thread to the saved log. */
static void append_extent(uint32_t thread, uint32_t count, const uint8_t *records)
{
  static uint8_t packed[2 << 20];
  struct format_extent head = {.table = FORMAT_GRAPH_LOG, .owner = thread, .count = count, .record_size = 1};
  size_t size = format_pack(&head, records, NULL, packed, sizeof packed);
  FILE *file = fopen(path, "ab");
  assert_true(size && file && fwrite(packed, 1, size, file) == size && !fclose(file));
}

/* What no process writes is left out: threads with such numbers, which could be those of the job's next process, and
 * extents so long that it would take much time to read them in parts. */
static void test_what_no_process_writes_is_left_out(void **state)
{
  (void)state;
  enum { LONG = 1 << 20, THREADS = 1 << 20 };
  static uint8_t bytes[LONG + 1];
  struct replay_request request = {0};
  struct replay_result result;
  loop_program(2);
  save(COMPOSE_ZSTD);
  bytes[0] = GRAPHLOG_TIME;
  bytes[1] = 1;
  for (uint32_t i = 2; i < LONG; i += 2) {
    bytes[i] = GRAPHLOG_MOVE;
    bytes[i + 1] = 1;
  }
  append_extent(THREADS - 1, LONG, bytes);
  assert_true(replay_file(&request, &result) && result.span == 36 && !problems.count);
  append_extent(THREADS, 2, bytes);
  append_extent(3, LONG + 1, bytes);
  assert_true(replay_file(&request, &result) && result.span == 36);
  assert_int_equal(problems.count, 2);
  assert_non_null(strstr(problems.lines[0], "from number 1048576 on: left out: 1"));
  assert_non_null(strstr(problems.lines[1], "thread 3, extent 0"));
  assert_non_null(strstr(problems.lines[1], "longer than"));
}

/* Two processes with the same log: each has its own tasks and threads, and rows of the job. */
static void test_logs_of_a_job(void **state)
{
  (void)state;
  static const uint32_t rows[ROWS] = {[PARALLEL] = LOOP, [TASK] = GROUP, [CRITICAL] = ORDERED};
  struct name team[2], first;
  begin();
  first = implicit(1, none, 1);
  u(1, 1);
  fork_team(1, 2, team);
  struct name child = task(1, team[0], 0), join = new_join(2);
  put(2, GRAPHLOG_ACQUIRE, CRITICAL, 77, 1);
  u(2, 6);
  put(2, GRAPHLOG_RELEASE, 77, 1);
  on_join(2, GRAPHLOG_OFFER, team[1], join);
  run_task(1, child, 8, team[0]);
  on_join(1, GRAPHLOG_TAKE, team[0], join);
  join_team(2, team);
  u(1, 1);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  save(COMPOSE_ZSTD);
  char file[64];
  snprintf(file, sizeof file, "%.*s.hpcrun", (int)(strlen(path) - strlen(".graph")), path);
  const struct log_part parts[] = {{.measurement = file}, {.measurement = file, .rows = rows, .rows_count = ROWS}};
  struct log_reader *job = log_reader_open_job(parts, 2, LOG_ALL, &problems);
  assert_non_null(job);
  struct replay_request request = {.directives = ROWS, .attribution = &attribution};
  struct replay_result result;
  assert_int_equal(replay_log(&request, job, &result), 0);
  assert_true(result.work == 32 && result.span == 10);
  assert_int_equal(result.lost.invalid + result.lost.tasks + result.lost.joins + log_reader_forced(job), 0);
  for (enum row row = PARALLEL; row <= LOOP; row++)
    assert_true(result.directives[row].instances == 1 && result.directives[row].work.at[0] == 14);
  assert_true(result.directives[TASK].instances == 1 && result.directives[GROUP].instances == 1);
  replay_result_release(&result);
  uint32_t local, threads = 0;
  struct log_reader_record record;
  log_reader_rewind(job);
  for (uint64_t last = 0; log_reader_next(job, &record); last = record.begin_ticks, threads |= 1U << record.thread) {
    assert_true(record.begin_ticks >= last);
    assert_int_equal(log_reader_part(job, record.thread, &local), record.thread > 2);
    assert_int_equal(local, record.thread > 2 ? record.thread - 3 : record.thread);
  }
  assert_int_equal(threads, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5);
  log_reader_close(job);
  assert_null(log_reader_open_job((const struct log_part[]){parts[0], {.measurement = "/nothing.hpcrun"}}, 2, LOG_ALL,
                                  &problems));
}

/* Two processes with the same log: while one is held, the other one goes on; then its records come in their order, not
 * before those of the other one that were taken. */
static void test_parts_that_are_held(void **state)
{
  (void)state;
  begin();
  struct name first = implicit(1, none, 1);
  for (uint32_t thread = 1; thread <= 2; thread++) {
    put(thread, GRAPHLOG_SAMPLE, 1, 1);
    u(thread, 4);
  }
  put(1, GRAPHLOG_SAMPLE, 1, 1);
  u(1, 4);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  save(COMPOSE_ZSTD);
  char file[64];
  snprintf(file, sizeof file, "%.*s.hpcrun", (int)(strlen(path) - strlen(".graph")), path);
  const struct log_clock clocks[] = {{.tick_ns = 1, .start_ns = 100}, {.tick_ns = 1, .start_ns = 50}};
  const struct log_part parts[] = {{.measurement = file, .clock = &clocks[0]},
                                   {.measurement = file, .clock = &clocks[1]}};
  enum { RECORDS = 16 };
  for (int moves = 0; moves < 2; moves++) {
    struct log_reader *log = log_reader_open_job(parts, 2, LOG_WAITS, &problems);
    struct log_reader_record alone[RECORDS], next;
    uint32_t count = 0, held = 0;
    uint64_t last = 0;
    assert_true(log && log_reader_next(log, &alone[0]) && alone[0].part == 1);
    log_reader_hold(log);
    for (; log_reader_next(log, &next); count++, last = next.order)
      assert_true(next.part == 0 && !next.moved);
    assert_true(count > 2 && last > alone[0].order);
    assert_int_equal(log_reader_resume(log, 1, moves), moves ? last + 1 - alone[0].order : 0);
    for (; held < RECORDS && log_reader_next(log, &next); alone[held++] = next)
      assert_true(next.part == 1 &&
                  next.order == (moves ? MAX(last + 1, next.order - next.moved) : next.order - next.moved));
    assert_int_equal(held, count);
    log_reader_rewind(log);
    for (uint32_t i = 0; log_reader_next(log, &next);)
      if (next.part == 1) {
        assert_true(next.stream == alone[i].stream && next.order == alone[i].order - alone[i].moved && !next.moved);
        assert_memory_equal(next.record.operand, alone[i++].record.operand, sizeof next.record.operand);
      }
    log_reader_close(log);
  }
}

/* What a selection leaves out takes its time: of one thread, all records that are read, and when they happen. */
static void test_selections(void **state)
{
  (void)state;
  begin();
  u(1, 10);
  u(1, 20);
  put(1, GRAPHLOG_SAMPLE, 5, 1);
  u(1, 30);
  uint64_t called = now;
  put(1, GRAPHLOG_MPI_CALL, 7, 3);
  u(1, 40);
  uint64_t returned = now;
  put(1, GRAPHLOG_MPI_RETURN, 0);
  save(COMPOSE_ZSTD);
  char file[64];
  snprintf(file, sizeof file, "%.*s.hpcrun", (int)(strlen(path) - strlen(".graph")), path);
  const struct log_clock clock = {.tick_ns = 1};
  const struct log_part part = {.measurement = file, .clock = &clock};
  static const enum graphlog_op ops[][8] = {
      [LOG_ALL] = {GRAPHLOG_RUN, GRAPHLOG_RUN, GRAPHLOG_SAMPLE, GRAPHLOG_RUN, GRAPHLOG_MPI_CALL, GRAPHLOG_RUN,
                   GRAPHLOG_MPI_RETURN},
      [LOG_WAITS] = {GRAPHLOG_RUN, GRAPHLOG_SAMPLE, GRAPHLOG_RUN, GRAPHLOG_MPI_CALL, GRAPHLOG_MPI_RETURN},
      [LOG_MESSAGES] = {GRAPHLOG_MPI_CALL, GRAPHLOG_MPI_RETURN}};
  for (enum log_selection selection = LOG_ALL; selection < LOG_SELECTIONS; selection++) {
    struct log_reader *log = log_reader_open_job(&part, 1, selection, &problems);
    struct log_reader_record next;
    assert_non_null(log);
    for (const enum graphlog_op *op = ops[selection]; *op; op++) {
      assert_true(log_reader_next(log, &next) && next.record.op == *op);
      if (*op == GRAPHLOG_MPI_CALL)
        assert_int_equal(next.begin_ticks, called);
    }
    assert_int_equal(next.begin_ticks, returned);
    assert_false(log_reader_next(log, &next));
    log_reader_close(log);
  }
}

/* Helpers that are in this process; each batch has a few records. */
static struct {
  struct log_reader *readers[4];
  bool damages;
} helping;

static bool help_open(void *context, const struct log_part *parts, uint32_t count, enum log_selection selection,
                      struct log_list *lists, struct problems *found)
{
  uint32_t helpers = ((const struct log_help *)context)->helpers;
  bool usable = true;
  for (uint32_t i = 0; i < helpers; i++) {
    uint32_t first = count * i / helpers, own = count * (i + 1) / helpers - first;
    helping.readers[i] = own ? log_reader_open_job(parts + first, own, selection, found) : NULL;
    log_reader_list(helping.readers[i], own, &lists[i]);
    usable &= !own || lists[i].usable;
  }
  return usable;
}

static uint8_t *help_more(void *context, uint32_t helper, size_t *size)
{
  (void)context;
  struct log_batch batch = {0};
  struct log_reader_record record;
  for (unsigned i = 0; i < 3 && helping.readers[helper] && log_reader_next_raw(helping.readers[helper], &record); i++)
    log_batch_put(&batch, &record);
  *size = batch.size;
  if (helping.damages && *size)
    batch.bytes[0] = GRAPHLOG_OPS;
  return batch.bytes;
}

static void help_end(void *context, uint32_t helper, uint64_t *forced, uint64_t *damaged, struct problems *found)
{
  (void)context, (void)found;
  *forced += helping.readers[helper] ? log_reader_forced(helping.readers[helper]) : 0;
  *damaged += helping.readers[helper] ? log_reader_damaged(helping.readers[helper]) : 0;
  log_reader_close(helping.readers[helper]);
  helping.readers[helper] = NULL;
}

static void expect_equal(const struct log_reader_record *x, const struct log_reader_record *y)
{
  assert_true(x->stream == y->stream && x->thread == y->thread && x->part == y->part && x->local == y->local);
  assert_true(x->begin_ticks == y->begin_ticks && x->end_ticks == y->end_ticks && x->record.op == y->record.op);
  assert_memory_equal(x->record.operand, y->record.operand, sizeof x->record.operand);
}

/* What helpers read and merge is what one process reads: also where a release is logged after the next acquisition, and
 * a record waits for what it names. */
static void test_help(void **state)
{
  (void)state;
  static const uint32_t rows[ROWS] = {[PARALLEL] = LOOP};
  struct name team[2];
  begin();
  struct name first = implicit(1, none, 1);
  fork_team(1, 2, team);
  struct name child = task(1, team[0], 0);
  put(1, GRAPHLOG_ACQUIRE, CRITICAL, 77, 1);
  u(1, 6);
  log_at(&log_reader_log, 2, now);
  put(2, GRAPHLOG_ACQUIRE, CRITICAL, 77, 1);
  now += 2;
  put(1, GRAPHLOG_RELEASE, 77, 1);
  u(2, 6);
  put(2, GRAPHLOG_RELEASE, 77, 1);
  run_task(2, child, 8, team[1]);
  join_team(2, team);
  on_task(1, GRAPHLOG_IMPLICIT_END, first);
  save(COMPOSE_ZSTD);
  char file[64];
  snprintf(file, sizeof file, "%.*s.hpcrun", (int)(strlen(path) - strlen(".graph")), path);
  const struct log_clock clocks[] = {{.tick_ns = 1}, {.tick_ns = 0.5, .start_ns = 100}};
  for (int timed = 0; timed < 2; timed++) {
    const struct log_part parts[] = {
        {.measurement = file, .clock = timed ? &clocks[0] : NULL},
        {.measurement = file, .rows = rows, .rows_count = ROWS, .clock = timed ? &clocks[1] : NULL},
        {.measurement = file, .clock = timed ? &clocks[0] : NULL}};
    for (struct log_help help = {1, help_open, help_more, help_end, &help}; help.helpers <= 4; help.helpers++) {
      struct log_reader *alone = log_reader_open_job(parts, 3, timed ? LOG_WAITS : LOG_ALL, &problems);
      struct log_reader *helped = log_reader_open_helped(parts, 3, timed ? LOG_WAITS : LOG_ALL, &help, &problems);
      assert_true(alone && helped && log_reader_count(alone) == log_reader_count(helped));
      struct log_reader_record x, y;
      uint32_t records = 0;
      for (; log_reader_next(alone, &x); records++) {
        assert_true(log_reader_next(helped, &y));
        expect_equal(&x, &y);
      }
      assert_true(!log_reader_next(helped, &y) && records > (timed ? 5 : 50));
      log_reader_close(alone);
      log_reader_close(helped);
    }
  }
  struct log_help help = {2, help_open, help_more, help_end, &help};
  const struct log_part parts[] = {{.measurement = file}, {.measurement = file}};
  struct log_reader *helped = log_reader_open_helped(parts, 2, LOG_ALL, &help, &problems);
  struct log_reader_record record;
  assert_true(helped && log_reader_next(helped, &record) && !problems.count);
  helping.damages = true;
  while (log_reader_next(helped, &record))
    ;
  assert_int_equal(log_reader_damaged(helped), 2);
  assert_int_equal(problems.count, 2);
  log_reader_close(helped);
  helping.damages = false;
  log_reader_close(log_reader_open_helped(parts, 2, LOG_ALL, &help, &problems)); /* before all is read */
  assert_true(!helping.readers[0] && !helping.readers[1]);
}

/* Every prefix and every flipped byte: the result is bounded, and never exceeds the whole. */
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
    bool between = size && !memcmp(whole.bytes + size, "hpcrlite", 8); /* a thread that does not exist */
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
  damage_everywhere(COMPOSE_LIVE); /* without a checksum, so that the records themselves are inconsistent */
}

/* Records in any order, of tasks and regions that end too early, twice, or never. */
static void test_inconsistent_records_do_no_harm(void **state)
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
    double amount = (double)result.work + result.directives[0].device_time;
    assert_true(result.span <= amount + 1e-6 && result.outcomes[0].span <= result.span + 1e-6);
    assert_true(result.makespans[0] * 3 >= (double)result.work - 1e-6);
    problems_release(&problems);
    attribution_release(&attribution);
  }
}

static void test_there_may_be_no_log(void **state)
{
  (void)state;
  assert_null(log_reader_open("/tmp/nowhere/x.hpcrun", &problems));
  assert_int_equal(problems.count, 0);
}

/* ---- data structures of the replay ---- */

/* The fragments of the saved log as the process has them: their start, end and work. */
static uint32_t read_fragments(const struct profile_process *process, uint64_t (*found)[3])
{
  char measurement[sizeof path + 8];
  struct log_reader_record record;
  uint32_t count = 0;
  snprintf(measurement, sizeof measurement, "%.*s.hpcrun", (int)(strrchr(path, '.') - path), path);
  struct log_reader *reader = log_reader_open(measurement, &problems);
  assert_non_null(reader);
  log_reader_limit(reader, process);
  while (log_reader_next(reader, &record)) {
    bool other = record.record.op == GRAPHLOG_RUN_OTHER;
    if (!other && record.record.op != GRAPHLOG_RUN)
      continue;
    uint64_t *fragment = found[count++];
    fragment[0] = record.begin_ticks;
    fragment[1] = record.end_ticks;
    fragment[2] = record.record.operand[other ? 2 : 1];
    assert_true(process->to_ticks || (!record.outside && !record.cut));
    assert_true(!record.outside || (record.cut && !fragment[2] && fragment[0] == fragment[1]));
    assert_true(record.outside || !process->to_ticks ||
                (fragment[0] >= process->from_ticks && fragment[1] <= process->to_ticks));
  }
  log_reader_close(reader);
  return count;
}

static void test_parts_of_fragments_add_up(void **state)
{
  (void)state;
  static const uint64_t expected[][3] = {{2000, 2100, 100}, {2100, 2107, 1000003}, {2110, 2110, 5}, {2200, 2207, 0}};
  uint64_t whole[8][3], first[8][3], second[8][3];
  begin();
  implicit(1, none, 1);
  log_at(&log_reader_log, 1, 2000);
  log_put(&log_reader_log, 1, GRAPHLOG_RUN, 0, 100);
  log_put(&log_reader_log, 1, GRAPHLOG_RUN_OTHER, 0, 7, 1000003);
  log_put(&log_reader_log, 1, GRAPHLOG_RUN_OTHER, 3, 0, 5);
  log_put(&log_reader_log, 1, GRAPHLOG_RUN_OTHER, 90, 7, 0);
  save(COMPOSE_PACKED);
  assert_int_equal(read_fragments(&(struct profile_process){0}, whole), 4);
  assert_memory_equal(whole, expected, sizeof expected);
  for (uint64_t cut = 1990; cut < 2220; cut++) {
    struct profile_process before = {.to_ticks = cut}, after = {.from_ticks = cut, .to_ticks = UINT64_MAX};
    assert_int_equal(read_fragments(&before, first), 4);
    assert_int_equal(read_fragments(&after, second), 4);
    for (int i = 0; i < 4; i++)
      assert_int_equal(first[i][2] + second[i][2], whole[i][2]);
    uint64_t inside = cut < 2000 ? 0 : cut < 2100 ? cut - 2000 : 100;
    assert_int_equal(first[0][2], inside);
    assert_int_equal(first[2][2], cut > 2110 ? 5 : 0);
  }
}

/* Where work is time, a fragment with more work than it lasts began before: the thread was interrupted. */
static void test_interrupted_fragments(void **state)
{
  (void)state;
  uint64_t found[8][3];
  begin();
  implicit(1, none, 1);
  log_at(&log_reader_log, 1, 2000);
  log_put(&log_reader_log, 1, GRAPHLOG_RUN_OTHER, 500, 10, 300);
  log_put(&log_reader_log, 1, GRAPHLOG_RUN_OTHER, 500, 10, 8);
  save(COMPOSE_PACKED);
  struct profile_process process = {.workspan.is_time = true};
  assert_int_equal(read_fragments(&process, found), 2);
  assert_memory_equal(found[0], ((uint64_t[]){2000, 2510, 300}), sizeof *found);
  assert_memory_equal(found[1], ((uint64_t[]){3010, 3020, 8}), sizeof *found);
  process.from_ticks = 2340;
  process.to_ticks = 2510;
  assert_int_equal(read_fragments(&process, found), 2);
  assert_memory_equal(found[0], ((uint64_t[]){2340, 2510, 100}), sizeof *found);
}

static void test_unused_joins_are_released(void **state)
{
  (void)state;
  struct vector_clocks clocks;
  struct joins joins;
  vector_clock_init(&clocks, 1, VECTOR_CLOCK_UNTRACED, NULL);
  joins_init(&joins, &clocks, 3);
  for (uint64_t name = 1; name <= 3; name++)
    assert_non_null(joins_find(&joins, name, true));
  const struct join *kept = joins_find(&joins, 1, false);
  assert_non_null(joins_find(&joins, 4, true)); /* in place of 2 */
  assert_null(joins_find(&joins, 2, false));
  assert_ptr_equal(joins_find(&joins, 1, false), kept);
  assert_non_null(joins_find(&joins, 3, false));
  assert_null(joins_of_message(&joins, 1, false));
  const struct join *message = joins_of_message(&joins, 1, true); /* in place of 4 */
  assert_true(message && message != kept && joins_of_message(&joins, 1, false) == message);
  vector_clock_at(&clocks, message->clock)->element[0].time = 5;
  assert_non_null(joins_find(&joins, 5, true)); /* in place of 1, not of the message */
  assert_ptr_equal(joins_of_message(&joins, 1, false), message);
  joins_drop_message(&joins, 1);
  assert_null(joins_of_message(&joins, 1, false));
  message = joins_of_message(&joins, 1, true); /* another one with that number */
  assert_true(message && vector_clock_at(&clocks, message->clock)->element[0].time == 0);
  assert_non_null(joins_find(&joins, 3, false));
  joins_release(&joins);
  vector_clock_release(&clocks);
}

static void test_a_map_forgets_what_is_removed(void **state)
{
  (void)state;
  struct hash_map map = {0};
  uint32_t seed = 7, values[512] = {0};
  for (int i = 0; i < 100000; i++) {
    seed = seed * 1664525 + 1013904223;
    uint64_t key = (seed >> 8) % 511 + 1;
    assert_int_equal(hash_map_find(&map, key * 0x100000001), values[key]);
    if (values[key])
      hash_map_remove(&map, key * 0x100000001);
    else
      hash_map_add(&map, key * 0x100000001, (uint32_t)i + 1);
    values[key] = values[key] ? 0 : (uint32_t)i + 1;
  }
  hash_map_release(&map);
}

static void test_contributions_keep_their_sums(void **state)
{
  (void)state;
  enum { KEYS = 300, TRAILS = 4 };
  struct contributions contributions;
  static double sums[TRAILS][KEYS], found[KEYS];
  uint32_t contribution[TRAILS] = {0}, seed = 3;
  contributions_init(&contributions, KEYS);
  for (int i = 0; i < 50000; i++) {
    seed = seed * 1664525 + 1013904223;
    uint32_t one = (seed >> 8) % TRAILS, other = (seed >> 12) % TRAILS, key = (seed >> 16) % KEYS;
    if (seed % 64 == 0) {
      uint32_t old = contribution[one];
      contribution[one] = contributions_share(&contributions, contribution[other]);
      contributions_drop(&contributions, old);
      memcpy(sums[one], sums[other], sizeof sums[one]);
    } else {
      contributions_add(&contributions, &contribution[one], key, 1);
      sums[one][key]++;
    }
  }
  for (int i = 0; i < TRAILS; i++) {
    memset(found, 0, sizeof found);
    contributions_sum(&contributions, contribution[i], found);
    assert_memory_equal(found, sums[i], sizeof found);
    contributions_drop(&contributions, contribution[i]);
  }
  assert_int_equal(contributions.lost, 0);
  assert_true(contributions.links.used < 4096); /* they were folded */
  contributions_release(&contributions);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_extents_are_put_together, end),
      cmocka_unit_test_teardown(test_extents_that_were_not_begun_are_no_damage, end),
      cmocka_unit_test_teardown(test_what_is_behind_damage_is_not_used, end),
      cmocka_unit_test_teardown(test_what_no_process_writes_is_left_out, end),
      cmocka_unit_test_teardown(test_logs_of_a_job, end),
      cmocka_unit_test_teardown(test_parts_that_are_held, end),
      cmocka_unit_test_teardown(test_selections, end),
      cmocka_unit_test_teardown(test_help, end),
      cmocka_unit_test_teardown(test_damage_at_every_byte, end),
      cmocka_unit_test_teardown(test_inconsistent_records_do_no_harm, end),
      cmocka_unit_test(test_there_may_be_no_log),
      cmocka_unit_test_teardown(test_parts_of_fragments_add_up, end),
      cmocka_unit_test_teardown(test_interrupted_fragments, end),
      cmocka_unit_test(test_unused_joins_are_released),
      cmocka_unit_test(test_a_map_forgets_what_is_removed),
      cmocka_unit_test(test_contributions_keep_their_sums),
  };
  return UNIT_RUN(argc, argv, "log_reader", tests, NULL, NULL);
}
