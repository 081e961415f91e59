/* Records of devices (device_trace), and when devices were busy (devices): against models. */
#include "hpcrun-lite/rt/construct/devices.h"
#include "hpcrun-lite/rt/device_trace.h"
#include "tests/unit/rt_threads.h"

#include <pthread.h>

enum { DEVICE = 3, SPACE = 4000, INTERVALS = 150, ROUNDS = 50, THREADS = 4, ADDED = 2000, BUFFERS = 16 };

static struct measured_thread thread;
static struct format_thread record;

static struct thread_state *t(void)
{
  return (struct thread_state *)&thread;
}

static int setup(void **state)
{
  (void)state;
  arena_reset();
  rt.epoch = 7;
  memset(&record, 0, sizeof record);
  rt_thread_init(t(), 1, &record);
  rt_self = NULL; /* records come in threads that are not measured */
  devices_start();
  device_trace_start();
  atomic_store(&rt.closed, false);
  return 0;
}

static const struct format_device *device(void)
{
  return devices_find(t(), DEVICE);
}

static uint64_t lost(void)
{
  return devices_rejected();
}

/* ---- when a device was busy ---- */

static void intervals_in_any_order_count_once(void **state)
{
  (void)state;
  srand(1);
  for (unsigned round = 0; round < ROUNDS; round++) {
    bool covered[SPACE] = {false};
    uint64_t expected = 0;
    devices_start();
    devices_trace(t(), DEVICE);
    for (unsigned i = 0; i < INTERVALS; i++) {
      unsigned begin = (unsigned)rand() % (SPACE - 40), length = (unsigned)rand() % 40;
      memset(covered + begin, true, length);
      assert_true(devices_add_busy(DEVICE, 1000 + begin, 1000 + begin + length));
    }
    for (unsigned i = 0; i < SPACE; i++)
      expected += covered[i];
    assert_int_equal(device()->recorded, expected);
  }
}

/* Only the sum of early intervals is kept: what comes later for that time may be known already. */
static void what_comes_much_too_late_is_refused(void **state)
{
  enum { MANY = 1000 };
  (void)state;
  devices_trace(t(), DEVICE);
  for (uint64_t i = 0; i < MANY; i++)
    assert_true(devices_add_busy(DEVICE, 100 * i, 100 * i + 50));
  assert_false(devices_add_busy(DEVICE, 10, 90));
  assert_int_equal(device()->recorded, 50 * MANY);
  assert_false(devices_add_busy(DEVICE, 10, 100 * MANY)); /* what is kept of it fills gaps */
  assert_true(device()->recorded > 50 * MANY && device()->recorded < 100 * MANY);
  assert_false(devices_add_busy(DEVICES_TRACED_MAX, 1, 2));
  assert_false(devices_add_busy(-1, 1, 2));
}

static void *add(void *number)
{
  for (uint64_t i = 0; i < ADDED; i++) {
    assert_true(devices_add_times((uint32_t)(uint64_t)number, 10 * i, 10 * i + 3, false));
    devices_add_busy(DEVICE, 0, 10 * (i + 1));
  }
  return NULL;
}

static void threads_add_at_the_same_time(void **state)
{
  (void)state;
  pthread_t made[THREADS];
  struct format_construct at = {0};
  devices_trace(t(), DEVICE);
  uint32_t number = devices_times_of(t(), &at, 5);
  assert_true(number > 0 && at.device_times == number && devices_times_of(t(), &at, 5) == number);
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&made[i], NULL, add, (void *)(uint64_t)number), 0);
  for (unsigned i = 0; i < THREADS; i++)
    pthread_join(made[i], NULL);
  const struct format_device_times *times = table_at(devices_times_table(), number);
  assert_int_equal(times->operations, THREADS * ADDED);
  assert_int_equal(times->ticks, 3 * THREADS * ADDED);
  assert_int_equal(device()->recorded, 10 * ADDED);
  assert_false(devices_add_times(number + 1, 0, 1, true));
  assert_false(devices_add_times(0, 0, 1, true));
}

/* ---- the trace of a device ---- */

/* Its clock: `up` units for `down` ticks of the host, and an offset. */
static struct {
  uint64_t up, down, offset;
  bool starts;
  ompt_callback_buffer_request_t request;
  ompt_callback_buffer_complete_t complete;
} played;

static ompt_device_time_t time_of(uint64_t ticks)
{
  return played.offset + (uint64_t)((unsigned __int128)ticks * played.up / played.down);
}

static ompt_device_time_t get_time(ompt_device_t *unused)
{
  (void)unused;
  return time_of(rt_ticks());
}

static int choose(ompt_device_t *unused, unsigned enable, unsigned type)
{
  (void)unused, (void)type;
  return enable ? ompt_set_sometimes : 0;
}

static int start(ompt_device_t *unused, ompt_callback_buffer_request_t request,
                 ompt_callback_buffer_complete_t complete)
{
  (void)unused;
  played.request = request;
  played.complete = complete;
  return played.starts;
}

static int command(ompt_device_t *unused)
{
  (void)unused;
  return 1;
}

static ompt_record_ompt_t *record_at(ompt_buffer_t *buffer, ompt_buffer_cursor_t cursor)
{
  return (ompt_record_ompt_t *)buffer + cursor;
}

static int type_at(ompt_buffer_t *buffer, ompt_buffer_cursor_t cursor)
{
  return record_at(buffer, cursor)->type ? ompt_record_ompt : ompt_record_invalid;
}

static int advance(ompt_device_t *unused, ompt_buffer_t *buffer, size_t size, ompt_buffer_cursor_t cursor,
                   ompt_buffer_cursor_t *next)
{
  (void)unused, (void)buffer;
  *next = cursor + 1;
  return *next < size / sizeof(ompt_record_ompt_t);
}

static ompt_interface_fn_t look_up(const char *name)
{
  static const struct {
    const char *name;
    ompt_interface_fn_t function;
  } functions[] = {{"ompt_get_device_time", (ompt_interface_fn_t)get_time},
                   {"ompt_set_trace_ompt", (ompt_interface_fn_t)choose},
                   {"ompt_start_trace", (ompt_interface_fn_t)start},
                   {"ompt_flush_trace", (ompt_interface_fn_t)command},
                   {"ompt_stop_trace", (ompt_interface_fn_t)command},
                   {"ompt_advance_buffer_cursor", (ompt_interface_fn_t)advance},
                   {"ompt_get_record_type", (ompt_interface_fn_t)type_at},
                   {"ompt_get_record_ompt", (ompt_interface_fn_t)record_at}};
  for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].name, name))
      return functions[i].function;
  return NULL;
}

static void play(uint64_t up, uint64_t down, uint64_t offset)
{
  played.up = up;
  played.down = down;
  played.offset = offset;
  played.starts = true;
  device_trace_initialize(t(), DEVICE, NULL, look_up);
}

/* Hands over a record of a kernel. */
static void deliver(uint64_t number, ompt_device_time_t begin, ompt_device_time_t end)
{
  ompt_buffer_t *buffer;
  size_t bytes;
  played.request(DEVICE, &buffer, &bytes);
  assert_true(buffer && bytes >= sizeof(ompt_record_ompt_t));
  *(ompt_record_ompt_t *)buffer = (ompt_record_ompt_t){.type = ompt_callback_target_submit,
                                                       .time = begin,
                                                       .record.target_kernel = {.host_op_id = number, .end_time = end}};
  played.complete(DEVICE, buffer, sizeof(ompt_record_ompt_t), 0, 1);
}

static void pass(uint64_t ticks)
{
  for (uint64_t end = rt_ticks() + ticks; rt_ticks() < end;)
    ;
}

/* Lengths in ticks, from clocks that are faster and slower than the host's, and begin anywhere. */
static void clocks_are_translated(void **state)
{
  static const struct {
    uint64_t up, down, offset;
  } clocks[] = {{1, 1, 0},    {5, 2, 123456789}, {1, 3, UINT64_C(1) << 62},
                {1000, 1, 7}, {1, 2100, 9999},   {999983, 1000003, 1}};
  enum { LENGTH = 20000000 };
  (void)state;
  for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
    struct format_construct at = {0};
    setup(NULL);
    play(clocks[i].up, clocks[i].down, clocks[i].offset);
    uint32_t number = devices_times_of(t(), &at, 5);
    uint64_t begin = rt_ticks();
    pass(LENGTH + LENGTH / 2);
    deliver(number, time_of(begin), time_of(begin + LENGTH));
    const struct format_device_times *times = table_at(devices_times_table(), number);
    double off = (double)times->ticks - LENGTH, unit = (double)clocks[i].down / (double)clocks[i].up;
    assert_int_equal(times->operations, 1);
    assert_true(off < 2 * unit + 1e-4 * LENGTH && -off < 2 * unit + 1e-4 * LENGTH); /* two readings of the clocks */
    assert_int_equal(device()->recorded, times->ticks);
    assert_int_equal(lost(), 0);
  }
}

static void records_that_cannot_be_right_are_lost(void **state)
{
  struct format_construct at = {0};
  (void)state;
  play(1, 1, 5);
  uint32_t number = devices_times_of(t(), &at, 5);
  uint64_t begin = get_time(NULL);
  pass(100000);
  deliver(number, 1, begin);                               /* before the trace */
  deliver(number, begin, begin + (UINT64_C(1) << 40));     /* later than now */
  deliver(number, begin + 100, begin);                     /* ends before it begins */
  deliver(number + 1, begin, begin + 1);                   /* of no operation */
  deliver(number + (UINT64_C(1) << 32), begin, begin + 1); /* likewise */
  assert_int_equal(lost(), 5);
  deliver(number, begin, begin + 1000);
  assert_int_equal(lost(), 5);
  assert_int_equal(((const struct format_device_times *)table_at(devices_times_table(), number))->operations, 1);
}

static void buffers_are_limited_and_used_again(void **state)
{
  ompt_buffer_t *given[BUFFERS + 1];
  size_t bytes;
  (void)state;
  play(1, 1, 0);
  for (unsigned i = 0; i <= BUFFERS; i++) {
    played.request(DEVICE, &given[i], &bytes);
    assert_true((given[i] != NULL) == (i < BUFFERS) && (bytes > 0) == (i < BUFFERS));
  }
  assert_int_equal(lost(), 1);
  played.complete(DEVICE, given[2], 0, 0, 0); /* the runtime goes on with it */
  played.request(DEVICE, &given[BUFFERS], &bytes);
  assert_null(given[BUFFERS]);
  played.complete(DEVICE, given[2], 0, 0, 1);
  played.request(DEVICE, &given[BUFFERS], &bytes);
  assert_ptr_equal(given[BUFFERS], given[2]);
  played.complete(DEVICE, NULL, 0, 0, 1);
  assert_int_equal(lost(), 2);
}

static ompt_interface_fn_t look_up_less(const char *name)
{
  return strcmp(name, "ompt_get_device_time") ? look_up(name) : NULL;
}

static void a_trace_that_does_not_start_is_none(void **state)
{
  (void)state;
  device_trace_initialize(t(), DEVICE, NULL, NULL);
  device_trace_initialize(t(), DEVICE, NULL, look_up_less);
  played.starts = false;
  device_trace_initialize(t(), DEVICE, NULL, look_up);
  device_trace_initialize(t(), DEVICES_TRACED_MAX, NULL, look_up);
  assert_false(devices_any_traced());
  play(1, 1, 0);
  assert_true(devices_any_traced() && device()->flags & FORMAT_DEVICE_TRACED);
  device_trace_end();
  deliver(1, 1, 2); /* after the end of the trace */
  assert_int_equal(lost(), 1);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(intervals_in_any_order_count_once, setup),
                                     cmocka_unit_test_setup(what_comes_much_too_late_is_refused, setup),
                                     cmocka_unit_test_setup(threads_add_at_the_same_time, setup),
                                     cmocka_unit_test_setup(clocks_are_translated, setup),
                                     cmocka_unit_test_setup(records_that_cannot_be_right_are_lost, setup),
                                     cmocka_unit_test_setup(buffers_are_limited_and_used_again, setup),
                                     cmocka_unit_test_setup(a_trace_that_does_not_start_is_none, setup)};
  return UNIT_RUN(argc, argv, "device_trace", tests, NULL, NULL);
}
