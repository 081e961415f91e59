/* Reading the trace: its events, extents that are missing, damaged or there twice, and bytes that are damaged anywhere.
 */
#include "hpcprof-lite/input/trace_reader.h"
#include "tests/support/compose_trace.h"
#include "tests/support/unit.h"

enum { STATE = 1 << TRACELOG_STATE_SHIFT, SAMPLE = 1 << TRACELOG_SAMPLE_SHIFT, BEGIN = 1000 * SAMPLE, EVENTS = 256 };

static char directory[] = "/tmp/test-trace-reader-XXXXXX", path[64], measurement[64];
static struct compose_trace trace;
static struct compose compose;
static struct problems problems;
static struct trace_reader reader;
static struct trace_event found[EVENTS];
static size_t found_count;

static void open_reader(void)
{
  trace_reader_close(&reader);
  problems_release(&problems);
  assert_int_equal(trace_reader_open(measurement, &problems, &reader), 0);
}

static void write_file(void)
{
  assert_true(compose_write(&compose, path));
  open_reader();
}

static void save(enum compose_form form)
{
  traced_compose(&trace, form, &compose);
  write_file();
}

/* Reads a thread's events.  States and gaps must follow each other. */
static size_t read_from(uint32_t thread, uint64_t ticks)
{
  struct trace_cursor cursor;
  uint64_t at = 0;
  found_count = 0;
  trace_cursor_open(&reader, thread, &problems, &cursor);
  if (ticks)
    trace_cursor_seek(&cursor, ticks);
  while (trace_cursor_next(&cursor, &found[found_count])) {
    const struct trace_event *event = &found[found_count++];
    assert_true(event->end_ticks >= event->begin_ticks && found_count < EVENTS);
    if (event->kind != TRACE_EVENT_STATE && event->kind != TRACE_EVENT_GAP)
      continue;
    assert_true(!at || event->begin_ticks == at);
    assert_true(event->own_ticks <= event->end_ticks - event->begin_ticks);
    at = event->end_ticks;
  }
  trace_cursor_close(&cursor);
  return found_count;
}

static size_t read_thread(uint32_t thread)
{
  return read_from(thread, 0);
}

/* An event and its time, in units of states since the start. */
static const struct trace_event *expect(size_t position, enum trace_event_kind kind, uint64_t begin, uint64_t end)
{
  assert_true(position < found_count);
  const struct trace_event *event = &found[position];
  assert_int_equal(event->kind, kind);
  assert_int_equal(event->begin_ticks, BEGIN + begin * STATE);
  assert_int_equal(event->end_ticks, BEGIN + end * STATE);
  return event;
}

static void plain(uint32_t thread, uint64_t code, uint64_t duration)
{
  traced_state(&trace, thread, TRACELOG_STATE, code, duration, 0);
}

static int setup(void **state)
{
  (void)state;
  traced_begin(&trace, BEGIN);
  return 0;
}

static void test_all_events(void **state)
{
  (void)state;
  traced_sample(&trace, 1, TRACELOG_LOCKWAIT, 3, 7, 100, 2, 3);
  plain(1, 70, 4);
  traced_op(&trace, 1, TRACELOG_BEGIN, 0, NULL);
  traced_op(&trace, 1, TRACELOG_CHUNK, 0, NULL);
  traced_op(&trace, 1, TRACELOG_HOLDER, 1, (const uint64_t[]){2});
  traced_state(&trace, 1, TRACELOG_STATE_OWN, 5, 6, 2);
  traced_state(&trace, 1, TRACELOG_BEGUN, 6, 0, 0);
  traced_sample(&trace, 1, TRACELOG_WORKS, 2, 8, 0, 0, 0);
  traced_op(&trace, 1, TRACELOG_BLOCKED, 2, (const uint64_t[]){9, 10});
  traced_op(&trace, 1, TRACELOG_CHARGE, 5, (const uint64_t[]){1, 2, 3, 4, 5});
  traced_op(&trace, 1, TRACELOG_GAP, 1, (const uint64_t[]){5});
  for (int form = COMPOSE_PACKED; form <= COMPOSE_LIVE; form++) {
    save(form);
    assert_int_equal(read_thread(1), 8);
    const struct trace_event *event = &found[0];
    assert_true(event->kind == TRACE_EVENT_SAMPLE && event->end_ticks == BEGIN + 3 * SAMPLE);
    assert_true(event->sample == TRACELOG_LOCKWAIT && event->node == 7 && event->weight == 100);
    assert_true(event->tool_ns == 2048 && event->delay_ns == 3072);
    event = expect(1, TRACE_EVENT_STATE, 0, 4);
    assert_true(event->code == 70 && !event->begun && !event->chunk && !event->blocked && !event->holder);
    event = expect(2, TRACE_EVENT_STATE, 4, 10);
    assert_true(event->code == 5 && event->own_ticks == 2 * STATE && event->begun && event->chunk);
    assert_int_equal(event->holder, 2);
    event = expect(3, TRACE_EVENT_STATE, 10, 10);
    assert_true(event->code == 6 && event->begun && !event->chunk && !event->holder && !event->own_ticks);
    assert_true(found[4].end_ticks == BEGIN + 5 * SAMPLE && !found[4].weight && found[4].sample == TRACELOG_WORKS);
    event = expect(5, TRACE_EVENT_STATE, 10, 20);
    assert_true(event->code == 9 && event->blocked && !event->begun);
    event = expect(6, TRACE_EVENT_CHARGE, 20, 20);
    assert_true(event->node == 1 && event->samples == 2 && event->ns == 3 && event->per_busy_ns == 4);
    assert_int_equal(event->in_use_ns, 5);
    expect(7, TRACE_EVENT_GAP, 20, 25);
    assert_int_equal(problems.count, 0);
  }
}

/* A parked thread was preempted for nine units, of which five are in its first state. */
static void test_time_without_a_processor_reaches_into_the_next_state(void **state)
{
  static const uint64_t preempted[] = {5, 4, 0};
  (void)state;
  traced_op(&trace, 1, TRACELOG_READY, 6, (const uint64_t[]){1, 9, 0, 0, 0, 0});
  plain(1, 1, 5);
  plain(1, 2, 10);
  plain(1, 3, 10);
  save(COMPOSE_PACKED);
  assert_int_equal(read_thread(1), 3);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(found[i].ready.preempted, preempted[i] * STATE);
}

static void test_extents_of_threads_in_any_order(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < 10; i++) {
    plain(1 + i % 3, i, i + 1);
    traced_cut(&trace, 1 + i % 3, 0, 0, 0);
  }
  plain(1, 10, 1);
  save(COMPOSE_PACKED);
  assert_int_equal(reader.file.count, 11);
  assert_int_equal(read_thread(1), 5);
  for (size_t i = 0; i < 5; i++)
    assert_int_equal(found[i].code, i < 4 ? 3 * i : 10);
  assert_int_equal(read_thread(2), 3);
  assert_int_equal(read_thread(3), 3);
  assert_int_equal(found[2].code, 8);
  assert_int_equal(read_thread(4), 0);
  assert_int_equal(read_thread(UINT32_MAX), 0);
  assert_int_equal(trace_reader_content(&reader), TRACE_READER_STATES);
  assert_true(trace_reader_has_states(measurement));
  struct stream_extents first;
  assert_int_equal(stream_extents_open_first(measurement, TRACE_READER_SUFFIX, FORMAT_TRACE, &problems, &first), 0);
  assert_int_equal(first.count, 1);
  stream_extents_release(&first);
}

static void test_missing_extents_are_gaps(void **state)
{
  (void)state;
  plain(1, 1, 5);
  traced_cut(&trace, 1, 2, 30, 9);
  traced_sample(&trace, 1, TRACELOG_WORKS, 1, 3, 0, 0, 0);
  plain(1, 2, 5);
  traced_cut(&trace, 1, 1, 0, 0); /* it took no time */
  plain(1, 3, 5);
  save(COMPOSE_PACKED);
  assert_int_equal(read_thread(1), 5);
  expect(0, TRACE_EVENT_STATE, 0, 5);
  expect(1, TRACE_EVENT_GAP, 5, 35);
  assert_int_equal(found[2].end_ticks, BEGIN + 10 * SAMPLE);
  expect(3, TRACE_EVENT_STATE, 35, 40);
  expect(4, TRACE_EVENT_STATE, 40, 45);
  assert_int_equal(problems.count, 0); /* they were dropped, and counted where the trace was written */
}

/* The offset of the n-th extent. */
static size_t extent_at(unsigned number)
{
  for (size_t i = 0; i + 8 <= compose.size; i++)
    if (!memcmp(compose.bytes + i, "hpcrlite", 8) && !number--)
      return i;
  fail();
  return 0;
}

static void test_damaged_extents_are_gaps(void **state)
{
  (void)state;
  for (uint64_t i = 0; i < 3; i++) {
    plain(1, i, 5);
    traced_cut(&trace, 1, 0, 0, 0);
  }
  plain(1, 3, 5);
  save(COMPOSE_PACKED);
  compose.bytes[extent_at(1) + 66] ^= 1;
  compose.bytes[extent_at(2)] ^= 1; /* its header: it is missing */
  write_file();
  assert_int_equal(read_thread(1), 3);
  expect(0, TRACE_EVENT_STATE, 0, 5);
  expect(1, TRACE_EVENT_GAP, 5, 15);
  assert_int_equal(expect(2, TRACE_EVENT_STATE, 15, 20)->code, 3);
  assert_int_equal(problems.count, 2);
  assert_non_null(strstr(problems.lines[0], "no extent begins here"));
  assert_non_null(strstr(problems.lines[1], "thread 1, extent 1 at offset 72: checksum"));
  assert_int_equal(read_thread(2), 0);
}

static void test_operations_that_are_invalid_end_an_extent(void **state)
{
  (void)state;
  plain(1, 1, 5);
  traced_byte(&trace, 1, 50 << 2 | TRACELOG_OTHER);
  plain(1, 2, 5);
  traced_cut(&trace, 1, 0, 0, 0);
  plain(1, 3, 5);
  save(COMPOSE_PACKED);
  assert_int_equal(read_thread(1), 3);
  expect(0, TRACE_EVENT_STATE, 0, 5);
  expect(1, TRACE_EVENT_GAP, 5, 10);
  expect(2, TRACE_EVENT_STATE, 10, 15);
  assert_int_equal(problems.count, 1);
  assert_non_null(strstr(problems.lines[0], "extent 0 at offset 0: invalid operation"));
}

static void add_extent(uint32_t thread, uint32_t number, const char *bytes, uint32_t size)
{
  compose_extent(&compose, FORMAT_TRACE, thread, number, size, 1, bytes);
}

static void test_the_first_of_two_copies_counts(void **state)
{
  (void)state;
  plain(1, 1, 5);
  traced_cut(&trace, 1, 0, 0, 0);
  plain(1, 2, 5);
  traced_compose(&trace, COMPOSE_PACKED, &compose);
  add_extent(1, 0, "\x83\x00\x00\x04\x20", 5);
  add_extent(1, UINT32_MAX, "\x83\x00\x00\x08\x03", 5);
  add_extent(1, UINT32_MAX, "\x83\x00\x00\x08\x03\x03\x01\x07", 8);
  write_file();
  assert_int_equal(read_thread(1), 5);
  expect(1, TRACE_EVENT_STATE, 5, 10);
  expect(2, TRACE_EVENT_STATE, 10, 13); /* times do not go back */
  expect(3, TRACE_EVENT_STATE, 13, 16);
  assert_int_equal(found[4].end_ticks, BEGIN + SAMPLE);
}

static void test_extents_without_a_time(void **state)
{
  (void)state;
  plain(1, 1, 5);
  traced_compose(&trace, COMPOSE_PACKED, &compose);
  add_extent(1, 1, "\x04\x05", 2);
  add_extent(1, 2, "", 0);
  add_extent(1, 3, "\x83\x05", 2);
  write_file();
  assert_int_equal(read_thread(1), 1);
  assert_int_equal(problems.count, 2);
  assert_non_null(strstr(problems.lines[0], "extent 1 at offset 72: it does not begin with a time"));
  assert_non_null(strstr(problems.lines[1], "extent 3"));
}

/* Operations that describe the next state do not reach beyond a gap, or into the next extent. */
static void test_a_gap_ends_what_was_to_begin(void **state)
{
  static const uint64_t one[] = {1};
  (void)state;
  for (int i = 0; i < 2; i++) {
    traced_op(&trace, 1, TRACELOG_BEGIN, 0, NULL);
    traced_op(&trace, 1, TRACELOG_CHUNK, 0, NULL);
    traced_op(&trace, 1, TRACELOG_HOLDER, 1, one);
    if (i)
      traced_op(&trace, 1, TRACELOG_GAP, 1, one);
    else
      traced_cut(&trace, 1, 0, 0, 0);
    plain(1, 4, 1);
  }
  save(COMPOSE_PACKED);
  assert_int_equal(read_thread(1), 3);
  for (int i = 0; i < 3; i++)
    assert_false(found[i].begun || found[i].chunk || found[i].holder);
}

/* What is left out lies before the time, and what is read is as without that. */
static void test_parts(void **state)
{
  enum { EXTENTS = 9, DURATION = 5 };
  (void)state;
  for (int samples_only = 0; samples_only < 2; samples_only++) {
    traced_begin(&trace, BEGIN);
    if (samples_only)
      traced_samples_only(&trace);
    for (uint32_t i = 0; i < EXTENTS; i++) {
      if (samples_only)
        traced_sample(&trace, 1, TRACELOG_WORKS, DURATION, i, 0, 0, 0);
      else
        plain(1, i, DURATION);
      if (i + 1 < EXTENTS)
        traced_cut(&trace, 1, 0, 0, 0);
    }
    save(COMPOSE_PACKED);
    uint64_t unit = samples_only ? SAMPLE : STATE;
    for (uint64_t at = 1; at < (EXTENTS + 2) * DURATION; at++) {
      size_t count = read_from(1, BEGIN + at * unit), last = at / DURATION < EXTENTS ? at / DURATION : EXTENTS - 1;
      size_t skipped = last > 1 ? last - 1 : 0; /* the extent before it is read, too */
      assert_int_equal(count, EXTENTS - skipped);
      for (size_t i = 0; i < count; i++)
        assert_int_equal(found[i].end_ticks, BEGIN + (i + skipped + 1) * DURATION * unit);
    }
    assert_int_equal(read_from(2, BEGIN), 0);
    compose.bytes[extent_at(4) + 66] ^= 1; /* what is damaged is not passed over */
    write_file();
    assert_int_equal(read_from(1, BEGIN + 7 * DURATION * unit), samples_only ? EXTENTS - 1 : EXTENTS);
    assert_int_equal(problems.count, 1);
  }
}

/* Its extents begin with the same clock of states. */
static void test_a_part_of_a_long_state_has_its_samples(void **state)
{
  enum { EXTENTS = 9, PERIOD = 5 };
  (void)state;
  plain(1, 1, 1);
  for (uint32_t i = 0; i < EXTENTS; i++) {
    traced_sample(&trace, 1, TRACELOG_WORKS, PERIOD, i, 0, 0, 0);
    if (i + 1 < EXTENTS)
      traced_cut(&trace, 1, 0, 0, 0);
  }
  plain(1, 2, EXTENTS * PERIOD * (SAMPLE / STATE));
  save(COMPOSE_PACKED);
  for (uint64_t at = PERIOD; at < EXTENTS * PERIOD; at += PERIOD) {
    uint64_t first = BEGIN + at * SAMPLE;
    size_t count = read_from(1, first), position = 0;
    while (position < count && (found[position].kind != TRACE_EVENT_SAMPLE || found[position].end_ticks < first))
      position++;
    assert_true(position < count && found[position].end_ticks == first);
    assert_true(count <= EXTENTS + 3 - at / PERIOD);
    assert_int_equal(found[count - 1].code, 2);
  }
}

static void test_numbers_beyond_all_bounds(void **state)
{
  (void)state;
  traced_state(&trace, 1, TRACELOG_BEGUN, UINT64_MAX, UINT64_MAX, 0);
  traced_state(&trace, 1, TRACELOG_STATE_OWN, 1, UINT64_MAX, UINT64_MAX);
  traced_op(&trace, 1, TRACELOG_HOLDER, 1, (const uint64_t[]){UINT64_MAX});
  plain(1, 1, 1);
  traced_sample(&trace, 1, TRACELOG_WORKS, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
  traced_op(&trace, 1, TRACELOG_GAP, 1, (const uint64_t[]){UINT64_MAX});
  save(COMPOSE_PACKED);
  assert_int_equal(read_thread(1), 5);
  assert_true(found[0].end_ticks == UINT64_MAX && found[0].code == UINT64_MAX);
  assert_true(found[2].holder == 0);
  assert_true(found[3].end_ticks == UINT64_MAX && found[3].node == UINT32_MAX && found[3].tool_ns == UINT64_MAX);
}

static void test_there_may_be_no_trace(void **state)
{
  (void)state;
  unlink(path);
  open_reader();
  assert_int_equal(reader.file.count, 0);
  assert_int_equal(read_thread(1), 0);
  assert_false(trace_reader_has_states(measurement));
}

/* Every prefix and every flipped byte: what is read is in order, and does not go beyond the whole. */
static void test_damage_at_every_byte(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < 8; i++) {
    traced_sample(&trace, 1 + i % 2, TRACELOG_WORKS, 1, 3, 5, 6, 7);
    traced_op(&trace, 1 + i % 2, TRACELOG_HOLDER, 1, (const uint64_t[]){2});
    traced_state(&trace, 1 + i % 2, TRACELOG_STATE_OWN, 60 + i, 5, 3);
    if (i % 4 == 3)
      traced_cut(&trace, 1 + i % 2, 0, 0, 0);
  }
  for (int form = COMPOSE_PACKED; form <= COMPOSE_LIVE; form += COMPOSE_LIVE) {
    save(form);
    struct compose whole = compose;
    for (size_t size = 0; size < whole.size; size++) {
      compose.size = size;
      write_file();
      assert_true(read_thread(1) <= 8 && read_thread(2) <= 8);
    }
    for (size_t i = 0; i < whole.size; i++)
      for (unsigned bit = 0; bit < 8; bit += 5) {
        compose = whole;
        compose.bytes[i] ^= (uint8_t)(1 << bit);
        write_file();
        read_thread(1);
        read_thread(2);
      }
  }
}

static int make_directory(void **state)
{
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/a.trace", directory);
  snprintf(measurement, sizeof measurement, "%s/a.hpcrun", directory);
  reader.file.fd = -1;
  return 0;
}

static int remove_directory(void **state)
{
  (void)state;
  trace_reader_close(&reader);
  problems_release(&problems);
  unlink(path);
  return rmdir(directory);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_all_events, setup),
      cmocka_unit_test_setup(test_time_without_a_processor_reaches_into_the_next_state, setup),
      cmocka_unit_test_setup(test_extents_of_threads_in_any_order, setup),
      cmocka_unit_test_setup(test_missing_extents_are_gaps, setup),
      cmocka_unit_test_setup(test_damaged_extents_are_gaps, setup),
      cmocka_unit_test_setup(test_operations_that_are_invalid_end_an_extent, setup),
      cmocka_unit_test_setup(test_the_first_of_two_copies_counts, setup),
      cmocka_unit_test_setup(test_extents_without_a_time, setup),
      cmocka_unit_test_setup(test_a_gap_ends_what_was_to_begin, setup),
      cmocka_unit_test_setup(test_parts, setup),
      cmocka_unit_test_setup(test_a_part_of_a_long_state_has_its_samples, setup),
      cmocka_unit_test_setup(test_numbers_beyond_all_bounds, setup),
      cmocka_unit_test_setup(test_there_may_be_no_trace, setup),
      cmocka_unit_test_setup(test_damage_at_every_byte, setup),
  };
  return UNIT_RUN(argc, argv, "trace_reader", tests, make_directory, remove_directory);
}
