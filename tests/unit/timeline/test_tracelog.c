/* The records of the trace: what threads write is what is decoded; and bytes that no thread has written. */
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/sampling/sample_trace.h"
#include "tests/unit/rt_threads.h"

#include <sys/mman.h>
#include <sys/stat.h>

enum { UNIT_TICKS = 1 << TRACELOG_STATE_SHIFT, RECORDS = 400000, BYTES = 8 << 20 };

static char directory[] = "/tmp/test-tracelog-XXXXXX", path[64];
static struct measured_thread measured;
static struct thread_state *const t = (struct thread_state *)&measured;
static struct format_thread record;
static struct tracelog_record found[RECORDS];
static size_t found_count, extents;
static uint8_t bytes[BYTES];

/* Starts a trace, and the thread's stream at that time. */
static void begin(bool states, uint64_t limit, uint64_t since)
{
  unlink(path);
  memset(&record, 0, sizeof record);
  memset(&measured, 0, sizeof measured);
  t->index = 5;
  t->record = &record;
  record.construct_since = since;
  trace_start(path, states ? RT_TRACE_STATES : RT_TRACE_SAMPLES, limit, false);
  trace_start_thread(t);
}

static int end(void **state)
{
  (void)state;
  trace_stop_thread(t);
  trace_stop(NULL);
  rt_pause(false);
  return 0;
}

/* Decodes all extents of the file, which must have no fault, and begin with the clocks. */
static void decode(void)
{
  FILE *stream = fopen(path, "rb");
  size_t size = stream ? fread(bytes, 1, sizeof bytes, stream) : 0;
  found_count = extents = 0;
  assert_true(stream && size < sizeof bytes);
  fclose(stream);
  for (size_t at = 0; at < size;) {
    struct format_extent head;
    memcpy(&head, bytes + at, sizeof head);
    assert_true(head.magic == FORMAT_MAGIC && head.table == FORMAT_TRACE && head.owner == 5 && head.first == extents++);
    size_t offset = 0;
    bool damaged = false;
    struct tracelog_record *first = &found[found_count];
    while (tracelog_next(bytes + at + sizeof head, head.count, &offset, &found[found_count], &damaged)) {
      found_count++;
      assert_true(found_count < RECORDS);
    }
    assert_false(damaged);
    assert_true(first->form == TRACELOG_OTHER && first->op == TRACELOG_START);
    at += sizeof head + head.stored_size;
  }
}

/* That record must be there. */
static void expect(size_t position, enum tracelog_form form, unsigned op, unsigned count, const uint64_t *operands)
{
  assert_true(position < found_count);
  assert_int_equal(found[position].form, form);
  if (form == TRACELOG_OTHER)
    assert_int_equal(found[position].op, op);
  for (unsigned i = 0; i < count; i++)
    assert_int_equal(found[position].operand[i], operands[i]);
}

#define expect_op(position, op, ...)                                                                                   \
  expect(position, TRACELOG_OTHER, op, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (const uint64_t[]){__VA_ARGS__})
#define expect_state(position, form, ...)                                                                              \
  expect(position, form, 0, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (const uint64_t[]){__VA_ARGS__})

static const uint64_t numbers[] = {0, 1, 62, 63, 64, 127, 128, 16383, 16384, 1ull << 32, 1ull << 63, UINT64_MAX};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void test_all_numbers_are_kept(void **state)
{
  (void)state;
  begin(true, 0, 1000 * UNIT_TICKS);
  uint64_t now = 1000 * UNIT_TICKS;
  for (unsigned i = 0; i < NUMBERS; i++) {
    trace_put_op(t, TRACELOG_BLOCKED, 2, (const uint64_t[]){numbers[i], numbers[NUMBERS - 1 - i]});
    trace_state(t, now += (i + 1) * UNIT_TICKS, numbers[i]);
  }
  trace_put_op(t, TRACELOG_CHARGE, 5, numbers + NUMBERS - 5);
  for (unsigned flags = 0; flags < 8; flags++)
    trace_put_op(t, (enum tracelog_op)(TRACELOG_LOCKWAIT | flags * TRACELOG_SAMPLE_WEIGHT),
                 2 + (unsigned)__builtin_popcount(flags), numbers + NUMBERS - 5);
  decode();
  assert_int_equal(found_count, 2 * NUMBERS + 10);
  expect_op(0, TRACELOG_START, 1000, 1000 * UNIT_TICKS >> TRACELOG_SAMPLE_SHIFT);
  for (unsigned i = 0; i < NUMBERS; i++) {
    expect_op(1 + 2 * i, TRACELOG_BLOCKED, numbers[i], numbers[NUMBERS - 1 - i]);
    expect_state(2 + 2 * i, TRACELOG_STATE, numbers[i], i + 1);
  }
  expect(1 + 2 * NUMBERS, TRACELOG_OTHER, TRACELOG_CHARGE, 5, numbers + NUMBERS - 5);
  for (unsigned flags = 0; flags < 8; flags++) {
    const struct tracelog_record *sample = &found[2 + 2 * NUMBERS + flags];
    unsigned next = NUMBERS - 5;
    assert_int_equal(sample->op, TRACELOG_LOCKWAIT | flags << 2);
    for (unsigned i = 0; i < 5; i++)
      assert_int_equal(sample->operand[i], i < 2 || flags >> (i - 2) & 1 ? numbers[next++] : 0);
  }
}

/* Times between two units are in neither state, but their sum is. */
static void test_short_states_add_up(void **state)
{
  (void)state;
  begin(true, 0, 77);
  uint64_t now = 77, sum = 0;
  for (unsigned i = 0; i < 100000; i++)
    trace_state(t, now += 7, i % 5);
  trace_state(t, now - 3000, 1); /* the counter of another core */
  decode();
  for (size_t i = 0; i < found_count; i++)
    sum += found[i].form == TRACELOG_OTHER ? 0 : found[i].operand[1];
  assert_int_equal(sum, (now >> TRACELOG_STATE_SHIFT) - (77 >> TRACELOG_STATE_SHIFT));
  assert_true(found_count < 40000 && extents > 1); /* those without a unit are not written */
}

static void test_what_begins_with_a_state(void **state)
{
  (void)state;
  begin(true, 0, 0);
  record.construct_open = 9;
  trace_state(t, 10 * UNIT_TICKS, 4);
  trace_begun(t);
  trace_state(t, 11 * UNIT_TICKS, 5);
  trace_begun(t);
  trace_begun(t); /* the first one took no time */
  trace_own(t, 2 * UNIT_TICKS);
  trace_state(t, 15 * UNIT_TICKS, 6);
  trace_begun(t);
  trace_state(t, 15 * UNIT_TICKS + 1, 7);
  trace_instant(t, 70);
  trace_chunk(t);
  trace_own(t, 90 * UNIT_TICKS); /* more than the state */
  trace_state(t, 17 * UNIT_TICKS, 8);
  trace_state(t, 18 * UNIT_TICKS, 8);
  decode();
  assert_int_equal(found_count, 11);
  expect_state(1, TRACELOG_STATE, 4, 10);
  expect_state(2, TRACELOG_BEGUN, 5, 1);
  expect_state(3, TRACELOG_BEGUN, 9, 0);
  expect(4, TRACELOG_OTHER, TRACELOG_BEGIN, 0, NULL);
  expect_state(5, TRACELOG_STATE_OWN, 6, 4, 2);
  expect_state(6, TRACELOG_BEGUN, 7, 0);
  expect_state(7, TRACELOG_BEGUN, 70, 0);
  expect(8, TRACELOG_OTHER, TRACELOG_CHUNK, 0, NULL);
  expect_state(9, TRACELOG_STATE_OWN, 8, 2, 2);
  expect_state(10, TRACELOG_STATE, 8, 1);
}

static void test_holders_of_locks(void **state)
{
  (void)state;
  struct construct_thread other = {.trace.states = true};
  struct thread_state *holder = (struct thread_state *)&other;
  holder->index = 9;
  begin(true, 0, 0);
  trace_lock_held(holder, 0x1234);
  trace_lock_wait(t, 0x1234);
  trace_state(t, UNIT_TICKS, 4);
  trace_lock_wait(t, 0x9999); /* nobody is known to hold it */
  trace_state(t, 2 * UNIT_TICKS, 4);
  trace_lock_held(t, 0x1234);
  trace_lock_wait(t, 0x1234); /* itself */
  trace_state(t, 3 * UNIT_TICKS, 4);
  trace_lock_held(holder, 0x1234);
  trace_lock_wait(t, 0x1234);
  trace_own(t, UNIT_TICKS); /* it did not wait */
  trace_state(t, 4 * UNIT_TICKS, 4);
  trace_state(t, 5 * UNIT_TICKS, 1);
  decode();
  assert_int_equal(found_count, 7);
  expect_op(1, TRACELOG_HOLDER, 9);
  for (uint64_t i = 0; i < 5; i++)
    expect_state(2 + i, i == 3 ? TRACELOG_STATE_OWN : TRACELOG_STATE, i == 4 ? 1 : 4, 1);
  trace_stop_thread(t);
  begin(true, 0, 0); /* another process */
  trace_lock_wait(t, 0x1234);
  assert_int_equal(trace_of(t)->holder, 0);
}

/* The trace of the parent process does not go on in a child that cannot begin one. */
static void test_a_trace_that_cannot_begin(void **state)
{
  static char long_path[5000];
  (void)state;
  memset(long_path, 'x', sizeof long_path - 1);
  begin(true, 0, 0);
  trace_stop_thread(t);
  trace_start(long_path, RT_TRACE_STATES, 0, false);
  assert_int_equal(trace_process.what, RT_TRACE_OFF);
  assert_int_equal(atomic_exchange(&rt.lost[FORMAT_LOST_TRACE], 0), 1);
}

/* Threads that go on record nothing in a file that is no longer there. */
static void test_a_trace_that_stops(void **state)
{
  (void)state;
  begin(true, 0, 0);
  trace_stop(t);
  trace_state(t, 100 * UNIT_TICKS, 1);
  sample_trace_put(t, TRACELOG_WORKS, 1, 1, 1);
  assert_null(trace_of(t)->stream.extent);
}

static void test_sleep(void **state)
{
  (void)state;
  begin(true, 0, 0);
  trace_state(t, 8 * UNIT_TICKS, 3);
  trace_sleeps(t, 10 * UNIT_TICKS);
  assert_int_equal(record.blocked_since, 10 * UNIT_TICKS);
  trace_slept(t, 70 * UNIT_TICKS, TRACELOG_BLOCKED, false);
  assert_int_equal(record.blocked_since, 0);
  assert_int_equal(__atomic_load_n(&t->inside, __ATOMIC_SEQ_CST), 0);
  trace_state(t, 71 * UNIT_TICKS, 2);
  trace_sleeps(t, 73 * UNIT_TICKS);
  trace_slept(t, 78 * UNIT_TICKS, TRACELOG_LOCK_WAIT, false);
  trace_sleeps(t, 79 * UNIT_TICKS);
  trace_slept(t, 85 * UNIT_TICKS, TRACELOG_MPI, false);
  decode();
  assert_int_equal(found_count, 9);
  expect_state(1, TRACELOG_STATE, 3, 8);
  expect_state(2, TRACELOG_STATE, 0, 2);
  expect_op(3, TRACELOG_BLOCKED, 0, 60);
  expect_state(4, TRACELOG_STATE, 2, 1);
  expect_state(5, TRACELOG_STATE, 0, 2);
  expect_op(6, TRACELOG_LOCK_WAIT, 0, 5);
  expect_state(7, TRACELOG_STATE, 0, 1);
  expect_op(8, TRACELOG_MPI, 0, 6);
}

/* A handler of the program interrupts a callback, and sleeps: the callback may be writing. */
static void test_sleep_within_a_callback(void **state)
{
  (void)state;
  begin(true, 0, 0);
  trace_state(t, 8 * UNIT_TICKS, 3);
  rt_inside_inc(t);
  trace_sleeps(t, 10 * UNIT_TICKS);
  assert_int_equal(record.blocked_since, 0);
  trace_slept(t, 70 * UNIT_TICKS, TRACELOG_BLOCKED, false);
  rt_inside_dec(t);
  trace_state(t, 71 * UNIT_TICKS, 2);
  /* a sleep that a jump has left: the tool's handler finds it */
  trace_sleeps(t, 72 * UNIT_TICKS);
  rt_inside_inc(t);
  trace_slept(t, 80 * UNIT_TICKS, TRACELOG_BLOCKED, true);
  assert_int_equal(t->inside, 1);
  rt_inside_dec(t);
  /* states end while the thread sleeps */
  trace_sleeps(t, 90 * UNIT_TICKS);
  trace_end_states(t);
  trace_slept(t, 95 * UNIT_TICKS, TRACELOG_BLOCKED, false);
  assert_int_equal(record.blocked_since, 0);
  assert_int_equal(record.lost[FORMAT_LOST_TRACE], 1);
  decode();
  assert_int_equal(found_count, 6);
  expect_state(1, TRACELOG_STATE, 3, 8);
  expect_state(2, TRACELOG_STATE, 2, 63);
  expect_state(3, TRACELOG_STATE, 0, 1);
  expect_op(4, TRACELOG_BLOCKED, 0, 8);
  expect_state(5, TRACELOG_STATE, 0, 10);
}

/* Time passes; the counter then. */
static uint64_t later(void)
{
  uint64_t begun = rt_ticks(), now = begun;
  while (now < begun + 20 * UNIT_TICKS)
    now = rt_ticks();
  return now;
}

/* Where the state clock was after each record. */
static uint64_t clocks[64];

static void follow_clock(void)
{
  uint64_t clock = found[0].operand[0];
  for (size_t i = 0; i < found_count && i < 64; i++) {
    bool state = found[i].form != TRACELOG_OTHER || found[i].op == TRACELOG_BLOCKED;
    bool gap = found[i].form == TRACELOG_OTHER && found[i].op == TRACELOG_GAP;
    clocks[i] = clock += state ? found[i].operand[1] : gap ? found[i].operand[0] : 0;
  }
}

/* States are cut where measuring paused and where it went on. */
static void test_pauses(void **state)
{
  (void)state;
  begin(true, 0, later());
  record.construct_open = 9;
  uint64_t first = later();
  trace_state(t, first, 3);
  trace_begun(t);
  later();
  rt_pause(true);
  rt_pause(true); /* it is paused already */
  uint64_t paused = later();
  trace_state(t, paused, 4);
  trace_begun(t);
  uint64_t second = later();
  trace_state(t, second, 5);
  rt_pause(false);
  uint64_t last = later();
  record.blocked_since = second;
  trace_slept(t, last, TRACELOG_BLOCKED, false);
  assert_int_equal(atomic_load(&rt.lost[FORMAT_LOST_TRACE]), 0);
  decode();
  follow_clock();
  assert_int_equal(found_count, 8);
  expect_state(1, TRACELOG_STATE, 3);
  expect_state(2, TRACELOG_BEGUN, 4);
  expect(3, TRACELOG_OTHER, TRACELOG_GAP, 0, NULL);
  expect_state(4, TRACELOG_BEGUN, 5, 0);
  expect(5, TRACELOG_OTHER, TRACELOG_GAP, 0, NULL);
  expect(6, TRACELOG_OTHER, TRACELOG_GAP, 0, NULL);
  expect(7, TRACELOG_OTHER, TRACELOG_BLOCKED, 0, NULL);
  assert_int_equal(clocks[1], first >> TRACELOG_STATE_SHIFT);
  assert_true(clocks[2] > clocks[1] + 15 && clocks[2] < clocks[3]);
  assert_int_equal(clocks[3], paused >> TRACELOG_STATE_SHIFT);
  assert_int_equal(clocks[5], second >> TRACELOG_STATE_SHIFT);
  assert_int_equal(clocks[7], last >> TRACELOG_STATE_SHIFT);
  assert_true(clocks[6] >= clocks[5] && clocks[6] < clocks[7]);
}

/* A state in which measuring paused so often that not all times are kept. */
static void test_many_pauses(void **state)
{
  enum { PAUSES = 40 };
  uint64_t gaps = 0, states = 0, before, last;
  (void)state;
  begin(true, 0, before = later());
  for (int i = 0; i < PAUSES; i++) {
    later();
    rt_pause(i % 2 == 0);
  }
  last = later();
  trace_state(t, last, 3);
  trace_state(t, last + 5 * UNIT_TICKS, 4);
  assert_int_equal(atomic_exchange(&rt.lost[FORMAT_LOST_TRACE], 0), 1); /* the thread's own loss would end its stream */
  assert_int_equal(record.lost[FORMAT_LOST_TRACE], 0);
  decode();
  follow_clock();
  for (size_t i = 1; i < found_count; i++) {
    bool gap = found[i].form == TRACELOG_OTHER;
    gaps += gap ? found[i].operand[0] : 0;
    states += gap ? 0 : found[i].operand[1];
  }
  assert_int_equal(clocks[0], before >> TRACELOG_STATE_SHIFT);
  assert_int_equal(gaps + states, (last >> TRACELOG_STATE_SHIFT) + 5 - clocks[0]);
  assert_true(gaps >= PAUSES / 2 * 15 && states > 5 && found_count > 5);
  expect_state(found_count - 1, TRACELOG_STATE, 4, 5);
}

/* The sum of all weights is right to half a period, whatever single ones are. */
static void test_weights_of_samples(void **state)
{
  enum { PERIOD = 5000000, COUNT = 2000 };
  uint32_t seed = 1;
  int64_t sum = 0, kept = 0;
  (void)state;
  begin(false, 0, 0);
  for (unsigned i = 0; i < COUNT; i++) {
    uint64_t weight = PERIOD / 2 + (seed = seed * 1664525 + 1013904223) % PERIOD;
    sum += (int64_t)weight;
    record.tool_ns += i == 7 ? PERIOD : 1000;
    sample_trace_put(t, TRACELOG_OVERHEAD, i + 1, weight, PERIOD);
  }
  trace_begun(t);
  trace_state(t, 1000 * UNIT_TICKS, 1); /* states are not asked for */
  decode();
  uint64_t tool = 0, plain = 0, last = trace_of(t)->sample_clock;
  for (size_t i = 0; i < found_count; i++) {
    const struct tracelog_record *one = &found[i];
    assert_int_equal(one->form, TRACELOG_OTHER);
    if (one->op == TRACELOG_START) {
      assert_int_equal(one->operand[0], 0);
      continue;
    }
    assert_int_equal(one->op & TRACELOG_SAMPLE_KIND, TRACELOG_OVERHEAD);
    kept += one->op & TRACELOG_SAMPLE_WEIGHT ? (int64_t)one->operand[2] : PERIOD;
    plain += !(one->op & TRACELOG_SAMPLE_WEIGHT);
    tool += one->operand[3] << TRACELOG_NS_SHIFT;
    last -= one->operand[0];
  }
  assert_int_equal(found_count - extents, COUNT);
  assert_true(llabs(sum - kept) <= PERIOD / 2 && plain > 10);
  assert_true(tool <= record.tool_ns && tool + PERIOD / 16 + 2000 >= record.tool_ns);
  assert_int_equal(last, 0);
}

/* What a thread waits for a processor while measuring is paused belongs to no sample. */
static void test_samples_after_a_pause(void **state)
{
  enum { PERIOD = 5000000 };
  (void)state;
  begin(false, 0, rt_ticks());
  t->tid = sys_tid();
  sampling_process.time_event = 0;
  sampling_of(t)->sample_trace.given_up = UINT64_MAX; /* the file is asked; all that it tells is new */
  rt_pause(true);
  sys_sleep_ns(4 * PERIOD);
  rt_pause(false);
  sample_trace_put(t, TRACELOG_WORKS, 1, PERIOD, PERIOD);
  assert_true(sampling_of(t)->sample_trace.given_up != UINT64_MAX); /* the kernel was asked */
  decode();
  assert_int_equal(found_count, 2);
  assert_int_equal(found[1].op, TRACELOG_WORKS);
}

static void test_charges(void **state)
{
  (void)state;
  struct blame blame = {.time_ns = 7, .per_busy_ns = 8, .in_use_ns = 9, .samples = 3};
  begin(true, 0, 0);
  sample_trace_charge(t, 44, &blame);
  decode();
  expect_op(1, TRACELOG_CHARGE, 44, 3, 7, 8, 9);
}

/* The runtime's own work in waits is written in whole units: nothing of it is lost in many waits, and none of it counts
 * in states that are none. */
static void test_own_work_of_many_waits(void **state)
{
  static const unsigned lengths[] = {4, 18, 70}, parts[] = {4, 17, 1, 33, 0}; /* ticks */
  uint64_t now = 0, expected = 0, sum = 0;
  (void)state;
  begin(true, 0, 0);
  for (unsigned i = 0; i < 3000; i++) {
    trace_state(t, now += 3 * UNIT_TICKS + 5, 1);
    unsigned length = lengths[i % 3], own = parts[i % 5] < length ? parts[i % 5] : length;
    trace_own(t, own);
    trace_state(t, now += length, 2);
    expected += own;
  }
  decode();
  for (size_t i = 0; i < found_count; i++) {
    if (found[i].form == TRACELOG_STATE_OWN) {
      assert_int_equal(found[i].operand[0], 2);
      sum += found[i].operand[2] * UNIT_TICKS;
    }
  }
  assert_in_range(sum, expected - 2 * UNIT_TICKS, expected);
}

/* No operation crosses extents, and each extent continues the clocks; at the limit the stream ends, which is counted.
 */
static void test_the_limit(void **state)
{
  enum { STATES = 60000, LIMIT = 3 * STREAM_WINDOW_LIMITED };
  uint64_t now = 1ull << 40, sum = 0, states = 0, between = 0;
  (void)state;
  begin(true, LIMIT, now);
  for (unsigned i = 0; i < STATES; i++) {
    trace_begun(t);
    trace_own(t, UNIT_TICKS);
    trace_state(t, now += (1 + i % 300) * UNIT_TICKS, i % 1000);
  }
  assert_int_equal(record.lost[FORMAT_LOST_TRACE], 1);
  assert_int_equal(stream_length(trace_file()), LIMIT);
  decode();
  assert_int_equal(extents, 3);
  for (size_t i = 0; i < found_count; i++) {
    if (found[i].form == TRACELOG_OTHER) {
      assert_true(found[i].op == TRACELOG_BEGIN || found[i].op == TRACELOG_START);
      if (found[i].op == TRACELOG_START)
        assert_int_equal(found[i].operand[0], (1ull << 40 >> TRACELOG_STATE_SHIFT) + sum);
      between += found[i].op == TRACELOG_BEGIN;
      continue;
    }
    expect_state(i, TRACELOG_STATE_OWN, states % 1000, 1 + states % 300, 1);
    sum += found[i].operand[1];
    states++;
  }
  assert_true(states == between && states > 20000 && states < STATES);
}

/* Beyond the limit a thread finds no window while others have them all. */
static void test_a_thread_that_finds_no_window(void **state)
{
  static struct measured_thread memory;
  struct thread_state *const other = (struct thread_state *)&memory;
  other->index = 6;
  other->record = &(struct format_thread){0};
  (void)state;
  begin(true, 0, 100 * UNIT_TICKS);
  trace_start(path, RT_TRACE_STATES, STREAM_WINDOW_LIMITED, true);
  trace_start_thread(other);
  trace_state(other, UNIT_TICKS, 1);
  trace_own(t, UNIT_TICKS);
  trace_state(t, 200 * UNIT_TICKS, 2);
  trace_begun(t);
  trace_state(t, 300 * UNIT_TICKS, 3);
  assert_int_equal(record.lost[FORMAT_LOST_TRACE], 1);
  trace_stop_thread(other);
  trace_state(t, 400 * UNIT_TICKS, 4); /* it does not search at each state */
  for (uint64_t until = rt_ticks() + (1 << 23); rt_ticks() < until;)
    continue;
  trace_state(t, 450 * UNIT_TICKS, 5);
  trace_state(t, 470 * UNIT_TICKS, 6);
  assert_int_equal(trace_of(t)->stream.extents, 2); /* one was left out */
  assert_int_equal(record.lost[FORMAT_LOST_TRACE], 1);
  assert_int_equal(atomic_load(&rt.lost[FORMAT_LOST_TRACE]), 0);
  FILE *stream = fopen(path, "rb");
  struct format_extent head;
  assert_true(stream && fread(&head, sizeof head, 1, stream) == 1 && head.owner == 6 && head.stored_size < 4096);
  assert_int_equal(fseek(stream, (long)head.stored_size, SEEK_CUR), 0); /* what the other thread has left follows */
  assert_true(fread(&head, sizeof head, 1, stream) == 1 && fread(bytes, head.count, 1, stream) == 1);
  fclose(stream);
  assert_true(head.owner == 5 && head.first == 1);
  bool damaged = false;
  size_t offset = 0;
  for (found_count = 0; tracelog_next(bytes, head.count, &offset, &found[found_count], &damaged); found_count++)
    continue;
  assert_true(!damaged && found_count == 3);
  expect_op(0, TRACELOG_START, 400, 100 * UNIT_TICKS >> TRACELOG_SAMPLE_SHIFT);
  expect_state(1, TRACELOG_STATE, 5, 50);
  expect_state(2, TRACELOG_STATE, 6, 20);
}

/* The program goes on after its end was written: one state, whose own part is not written twice; or, where it is not
 * known what the thread did, a gap. */
static void test_an_end_that_did_not_come(void **state)
{
  struct format_wait wait = {.site = 4};
  (void)state;
  span_process.online = false;
  begin(true, 0, 0);
  trace_state(t, 10 * UNIT_TICKS, 0);
  sampling_of(t)->waiting = &wait;
  t->idle_since = 10 * UNIT_TICKS;
  t->activity.idle = true;
  waiting_end_trace(t, 50 * UNIT_TICKS, false);
  decode();
  assert_int_equal(found_count, 3);
  expect_state(2, TRACELOG_STATE, 5, 40);
  waiting_go_on(t);
  trace_own(t, 30 * UNIT_TICKS);
  trace_state(t, 60 * UNIT_TICKS, 5);
  waiting_end_trace(t, 61 * UNIT_TICKS, false);
  assert_int_equal(atomic_load(&rt.lost[FORMAT_LOST_TRACE]), 0);
  t->changes++;
  waiting_go_on(t);
  assert_int_equal(atomic_exchange(&rt.lost[FORMAT_LOST_TRACE], 0), 1);
  t->activity.idle = false;
  trace_state(t, rt_ticks() + 100 * UNIT_TICKS, 0);
  rt_inside_inc(t);
  waiting_end_trace(t, rt_ticks() + 200 * UNIT_TICKS, false);
  rt_inside_dec(t);
  assert_int_equal(atomic_exchange(&rt.lost[FORMAT_LOST_TRACE], 0), 1);
  decode();
  assert_int_equal(found_count, 6);
  expect_state(1, TRACELOG_STATE, 0, 10);
  expect_state(2, TRACELOG_STATE_OWN, 5, 50, 30);
  expect_state(3, TRACELOG_STATE, 5, 1);
  expect(4, TRACELOG_OTHER, TRACELOG_GAP, 0, NULL);
  assert_int_equal(found[5].form, TRACELOG_STATE);
}

/* The thread woke up meanwhile. */
static void test_a_sleep_that_ends_after_the_end(void **state)
{
  (void)state;
  span_process.online = false;
  begin(true, 0, 0);
  trace_sleeps(t, 10 * UNIT_TICKS);
  waiting_end_trace(t, 20 * UNIT_TICKS, false);
  atomic_store(&rt.graph_suspended, true);
  trace_slept(t, 30 * UNIT_TICKS, TRACELOG_BLOCKED, false);
  atomic_store(&rt.graph_suspended, false);
  waiting_go_on(t);
  assert_int_equal(atomic_exchange(&rt.lost[FORMAT_LOST_TRACE], 0), 1);
  decode();
  assert_int_equal(found_count, 4);
  expect_op(2, TRACELOG_BLOCKED, 0, 10);
  expect(3, TRACELOG_OTHER, TRACELOG_GAP, 0, NULL);
}

/* Where the window has no room for it, the gap is before the next one. */
static void test_a_gap_without_room(void **state)
{
  uint64_t now = 0, sum = 0;
  (void)state;
  span_process.online = false;
  begin(true, 0, 0);
  while (!trace_of(t)->stream.extent || stream_has_room(&trace_of(t)->stream, 250))
    trace_state(t, now += UNIT_TICKS, 1);
  while (stream_has_room(&trace_of(t)->stream, TRACELOG_RECORD_MAX))
    trace_put_op(t, TRACELOG_CHUNK, 0, NULL);
  waiting_go_on(t); /* no end was written */
  assert_int_equal(atomic_exchange(&rt.lost[FORMAT_LOST_TRACE], 0), 1);
  assert_true(trace_of(t)->states && trace_of(t)->state_clock > now >> TRACELOG_STATE_SHIFT);
  uint64_t later = trace_of(t)->state_clock;
  trace_state(t, (later + 7) << TRACELOG_STATE_SHIFT, 2);
  decode();
  assert_int_equal(extents, 2);
  for (size_t i = 0; i < found_count - 2; i++)
    sum += found[i].form == TRACELOG_OTHER ? 0 : found[i].operand[1];
  assert_int_equal(sum * UNIT_TICKS, now);
  expect(found_count - 2, TRACELOG_OTHER, TRACELOG_START, 1, &later);
  expect_state(found_count - 1, TRACELOG_STATE, 2, 7);
}

/* What a thread begins or ends once CTL reads the streams, the end of the trace has instead. */
static void test_changes_at_the_end(void **state)
{
  struct format_wait wait = {.site = 4};
  (void)state;
  span_process.online = false;
  begin(true, 0, 0);
  sampling_of(t)->waiting = &wait;
  t->idle_since = 30 * UNIT_TICKS;
  t->activity.idle = true;
  waiting_end_trace(t, 50 * UNIT_TICKS, false);
  t->activity.idle = false;
  sampling_of(t)->barrier_left = 60 * UNIT_TICKS;
  construct_of(t)->waited_runtime = 3 * UNIT_TICKS;
  waiting_end_trace(t, 80 * UNIT_TICKS, false);
  decode();
  assert_int_equal(found_count, 5);
  expect_state(1, TRACELOG_STATE, 0, 30);
  expect_state(2, TRACELOG_STATE, 5, 20);
  expect_state(3, TRACELOG_STATE_OWN, 5, 10, 3);
  expect_state(4, TRACELOG_STATE, 0, 20);
}

/* A worker that has left its region's barrier waits no longer, though the region goes on. */
static void test_behind_a_barrier_at_the_end(void **state)
{
  enum { BEHIND = 2 * FORMAT_TIMES + FORMAT_TIME_EXIT };
  (void)state;
  span_process.online = true;
  begin(true, 0, 0);
  construct_of(t)->ticks = (uint64_t[1]){0};
  t->record->construct_open = BEHIND;
  t->record->construct_since = 10 * UNIT_TICKS;
  trace_state(t, 10 * UNIT_TICKS, BEHIND - 1);
  waiting_end_trace(t, 27 * UNIT_TICKS, false);
  decode();
  assert_int_equal(found_count, 3);
  expect_state(1, TRACELOG_STATE, BEHIND - 1, 10);
  expect_state(2, TRACELOG_STATE_OWN, BEHIND, 17, 17);
}

/* At the end of the process, a window without room stays mapped: its thread may not have stopped. */
static void test_windows_at_the_end(void **state)
{
  uint64_t now = 0, sum = 0;
  (void)state;
  span_process.online = false;
  begin(true, 0, 0);
  while (!trace_of(t)->stream.extent || stream_has_room(&trace_of(t)->stream, 300))
    trace_state(t, now += UNIT_TICKS, 1);
  struct format_extent *before = trace_of(t)->stream.extent;
  waiting_end_trace(t, now + UNIT_TICKS, false);
  assert_true(trace_of(t)->stream.extent != before && before->magic == FORMAT_MAGIC); /* it can be read */
  munmap(before, STREAM_WINDOW_FIRST);
  decode();
  for (size_t i = 0; i < found_count; i++)
    sum += found[i].form == TRACELOG_OTHER ? 0 : found[i].operand[1];
  assert_int_equal(sum * UNIT_TICKS, now + UNIT_TICKS);
}

/* At the limit there is no other one, and what room there is is used. */
static void the_last_window_at_the_end(bool keep_last)
{
  uint64_t now = 0, sum = 0;
  span_process.online = false;
  begin(true, 0, 0);
  trace_start(path, RT_TRACE_STATES, STREAM_WINDOW_LIMITED, keep_last);
  while (!trace_of(t)->stream.extent || stream_has_room(&trace_of(t)->stream, 300))
    trace_state(t, now += UNIT_TICKS, 1);
  struct format_extent *before = trace_of(t)->stream.extent;
  waiting_end_trace(t, now + 5 * UNIT_TICKS, false);
  assert_true(trace_of(t)->stream.extent == before);
  decode();
  for (size_t i = 0; i < found_count; i++)
    sum += found[i].form == TRACELOG_OTHER ? 0 : found[i].operand[1];
  assert_int_equal(sum * UNIT_TICKS, now + 5 * UNIT_TICKS);
  trace_stop_thread(t);
}

static void test_the_last_window_at_the_end(void **state)
{
  (void)state;
  the_last_window_at_the_end(false);
  the_last_window_at_the_end(true);
}

/* ---- decoding ---- */

static bool decodes(const char *text, size_t size, struct tracelog_record *one)
{
  size_t offset = 0;
  bool damaged = false, sound = tracelog_next((const uint8_t *)text, size, &offset, one, &damaged);
  assert_true(sound != damaged || (!size && !sound));
  assert_true(!sound || offset == size);
  return sound;
}

static void test_numbers_that_are_none(void **state)
{
  static const char longest[] = "\x93\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  struct tracelog_record one;
  (void)state;
  assert_true(decodes(longest, 11, &one) && one.op == TRACELOG_GAP && one.operand[0] == UINT64_MAX);
  for (size_t size = 0; size < 11; size++)
    assert_false(decodes(longest, size, &one));
  assert_false(decodes("\x93\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, &one));
  assert_false(decodes("\x93\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, &one));
  /* a code beyond 64 bits */
  assert_true(decodes("\xfc\xc0\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05", 12, &one) && one.operand[0] == UINT64_MAX);
  assert_false(decodes("\xfc\xc1\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05", 12, &one));
}

static void test_operations_that_do_not_exist(void **state)
{
  (void)state;
  for (unsigned op = 0; op < 64; op++) {
    const char text[8] = {(char)(op << 2 | TRACELOG_OTHER), 1, 2, 3, 4, 5, 6, 7};
    struct tracelog_record one;
    size_t offset = 0;
    bool damaged = false, known = op <= TRACELOG_CHARGE || (op >= TRACELOG_USER_COUNT && op <= TRACELOG_OPERATION);
    assert_int_equal(tracelog_next((const uint8_t *)text, 8, &offset, &one, &damaged), known);
    assert_int_equal(damaged, !known);
  }
}

static int make_directory(void **state)
{
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/trace", directory);
  return 0;
}

static int remove_directory(void **state)
{
  (void)state;
  unlink(path);
  return rmdir(directory);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_all_numbers_are_kept, end),
      cmocka_unit_test_teardown(test_short_states_add_up, end),
      cmocka_unit_test_teardown(test_what_begins_with_a_state, end),
      cmocka_unit_test_teardown(test_own_work_of_many_waits, end),
      cmocka_unit_test_teardown(test_holders_of_locks, end),
      cmocka_unit_test_teardown(test_a_trace_that_cannot_begin, end),
      cmocka_unit_test_teardown(test_a_trace_that_stops, end),
      cmocka_unit_test_teardown(test_sleep, end),
      cmocka_unit_test_teardown(test_sleep_within_a_callback, end),
      cmocka_unit_test_teardown(test_pauses, end),
      cmocka_unit_test_teardown(test_many_pauses, end),
      cmocka_unit_test_teardown(test_weights_of_samples, end),
      cmocka_unit_test_teardown(test_samples_after_a_pause, end),
      cmocka_unit_test_teardown(test_charges, end),
      cmocka_unit_test_teardown(test_the_limit, end),
      cmocka_unit_test_teardown(test_a_thread_that_finds_no_window, end),
      cmocka_unit_test_teardown(test_an_end_that_did_not_come, end),
      cmocka_unit_test_teardown(test_a_sleep_that_ends_after_the_end, end),
      cmocka_unit_test_teardown(test_a_gap_without_room, end),
      cmocka_unit_test_teardown(test_changes_at_the_end, end),
      cmocka_unit_test_teardown(test_behind_a_barrier_at_the_end, end),
      cmocka_unit_test_teardown(test_windows_at_the_end, end),
      cmocka_unit_test_teardown(test_the_last_window_at_the_end, end),
      cmocka_unit_test(test_numbers_that_are_none),
      cmocka_unit_test(test_operations_that_do_not_exist),
  };
  return UNIT_RUN(argc, argv, "tracelog", tests, make_directory, remove_directory);
}
