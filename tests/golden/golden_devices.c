#include "tests/golden/golden_devices.h"

#include "tests/golden/golden_records.h"
#include "tests/support/compose_trace.h"

enum { START_TICKS = 1000, FIRST_KIND = FORMAT_DIRECTIVE_TARGET, PID = 5200, STRAND_PID = 5300 };

static uint64_t at(uint64_t ms)
{
  return START_TICKS + ticks_of_ms(ms);
}

/* A target construct for a device (as in struct format_directive). */
static uint32_t target(uint32_t kind, uint64_t offset, uint32_t device)
{
  uint32_t made = compose_directive(&compose, kind, 1, offset, 1, ms(10), ms(10));
  compose.directives[made].device = device;
  return made;
}

/* Executions of a construct, and the time in its body without the constructs in it. */
static struct format_construct *spent(uint32_t parent, uint32_t kind, uint32_t directive, uint64_t count,
                                      uint64_t body_ms, uint32_t *record)
{
  *record = compose_construct(&compose, parent, kind, directive, count);
  compose.constructs[*record].ticks[FORMAT_TIME_BODY] = ticks_of_ms(body_ms);
  return &compose.constructs[*record];
}

/* A share in the idleness of a device, whose site is the thread's next one. */
static uint32_t idle(uint32_t device, uint64_t ms, uint32_t next)
{
  return share_of(wait_of(FORMAT_WAIT_DEVICE, device, 0, 0, 0), ms, next);
}

static void begin(enum compose_form form)
{
  places_begin(form, PID, "./offload");
  compose.process.wall_ns = ms(1000);
  compose.process.threads_max = 1;
}

/* Device 0: busy for 300 of 900 ms, 250 of the others while two functions ran.  Device 2 records its copies itself, and
 * has them in one construct; the host is device 3, which is busy to the end.  Device 4 is busy again after the process
 * was seen last; samples have counted twice its idleness.  A region that found no device. */
static void devices(enum compose_form form)
{
  uint32_t record, sub;
  begin(form);
  uint32_t region = target(FIRST_KIND, 0x1000, 1), update = target(FORMAT_DIRECTIVE_TARGET_UPDATE, 0x1100, 3);
  uint32_t host = target(FIRST_KIND, 0x1000, 4), none = target(FIRST_KIND, 0x1200, FORMAT_DEVICE_NONE);
  target(FIRST_KIND, 0x1300, 0xfffffff0);
  const struct format_device all[] = {{.number = 1,
                                       .type = compose_string(&compose, "gfx\x1b[31m,\"a\""),
                                       .busy = ticks_of_ms(300),
                                       .first = at(100),
                                       .last = at(900),
                                       .beside_ns = ms(120)},
                                      {.number = 4,
                                       .flags = FORMAT_DEVICE_ON_HOST,
                                       .type = compose_string(&compose, "generic-64bit"),
                                       .busy = ticks_of_ms(50),
                                       .first = at(500),
                                       .last = at(600),
                                       .open = form == COMPOSE_LIVE ? UINT64_C(2) << 48 | at(900) : 0},
                                      {.number = 3,
                                       .flags = FORMAT_DEVICE_TRACED,
                                       .busy = ticks_of_ms(5000),
                                       .first = at(950),
                                       .last = at(1000),
                                       .recorded = ticks_of_ms(45),
                                       .rejected = 2},
                                      {.number = 5,
                                       .busy = ticks_of_ms(10),
                                       .first = at(800),
                                       .last = at(990),
                                       .open = form == COMPOSE_LIVE ? UINT64_C(1) << 48 | at(1001) : 0},
                                      {.number = 0, .busy = 7, .first = at(1)},
                                      {.number = 9, .busy = 7, .first = 1},
                                      {.number = 0xfffffff0, .busy = 7, .first = at(1)}};
  compose_extent(&compose, FORMAT_DEVICES, 0, 0, sizeof all / sizeof *all, sizeof *all, all);
  const struct format_device_times times[] = {
      {0}, {.operations = 2, .ticks = ticks_of_ms(40)}, {.operations = 1, .ticks = ticks_of_ms(30)}};
  compose_extent(&compose, FORMAT_DEVICE_TIMES, 0, 0, sizeof times / sizeof *times, sizeof *times, times);
  compose_construct(&compose, 0, FORMAT_DIRECTIVE_PROGRAM, 0, 0);
  spent(0, FIRST_KIND, region, 10, 200, &record)->teams = 8;
  compose.constructs[record].team_threads = 64;
  spent(record, FORMAT_CONSTRUCT_COPY_TO_DEVICE, region, 20, 60, &sub)->bytes = 6000000;
  spent(record, FORMAT_CONSTRUCT_COPY_FROM_DEVICE, region, 10, 10, &sub)->bytes = 3000000;
  spent(record, FORMAT_CONSTRUCT_DEVICE_ALLOC, region, 2, 5, &sub)->bytes = 600000;
  spent(record, FORMAT_CONSTRUCT_DEVICE_FREE, region, 2, 5, &sub);
  spent(record, FORMAT_CONSTRUCT_SUBMIT, region, 10, 20, &sub);
  spent(0, FORMAT_DIRECTIVE_TARGET_UPDATE, update, 2, 10, &record);
  spent(record, FORMAT_CONSTRUCT_COPY_TO_DEVICE, update, 2, 1, &sub)->bytes = 1000;
  compose.constructs[sub].device_times = 1;
  spent(record, FORMAT_CONSTRUCT_COPY_FROM_DEVICE, update, 2, 1, &sub)->bytes = 1000;
  compose.constructs[sub].device_times = 2;
  spent(0, FIRST_KIND, host, 1, 50, &record);
  spent(0, FIRST_KIND, none, 3, 30, &record);
  compose.constructs[0].ticks[FORMAT_TIME_BODY] = ticks_of_ms(1000 - 300 - 12 - 50 - 30);
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 0, 0);
  uint32_t main_frame = frame_below(0, 0x1000);
  share_context(main_frame, 0x2000, WORK, 200, 200, 200, idle(1, 200, idle(5, 200, 0)));
  share_context(main_frame, 0x2100, WORK, 300, 300, 300, idle(1, 50, idle(4, 300, idle(5, 180, 0))));
  places_thread(1, 1000, 500);
  compose_end(&compose);
}

/* ---- device time ---- */

/* The trace beside it: what the thread and the device did, and operations that cannot be shown: of a thread and a
 * record that do not exist, and of what is no operation. */
static void save_strand(uint32_t waits, uint32_t copy, uint32_t submit)
{
  static struct compose_trace trace;
  const uint64_t states[][2] = {{0, 100}, {copy, 40}, {waits, 110}, {0, 350}, {copy, 40}, {waits, 110}, {0, 250}};
  const uint64_t operations[][4] = {{1, submit, 140, 100}, {1, copy, 606, 30},  {1, copy, 105, 50}, {9, copy, 300, 50},
                                    {1, 77, 300, 50},      {1, waits, 300, 50}, {1, 0, 300, 50},    {1, copy, 400, 0}};
  traced_begin(&trace, 0);
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    traced_state(&trace, 1, TRACELOG_BEGUN, states[i][0] * FORMAT_TIMES + FORMAT_TIME_BODY,
                 ms(states[i][1]) >> TRACELOG_STATE_SHIFT, 0);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    const uint64_t *from = operations[i];
    traced_op(
        &trace, 0, TRACELOG_OPERATION, 4,
        (const uint64_t[]){from[0], from[1], ms(from[2]) >> TRACELOG_STATE_SHIFT, ms(from[3]) >> TRACELOG_STATE_SHIFT});
  }
  traced_compose(&trace, COMPOSE_PACKED, &compose);
  save_as("strand", STRAND_PID, "trace");
}

/* One thread: work for 700 ms, and two target constructs in which it waits 150 ms each, of these 40 ms for a copy.  The
 * device has recorded both copies, and one of the two regions.  A tick is 1 ns. */
static void strand(void)
{
  uint32_t waits, copy, submit;
  blame_begin(STRAND_PID, "./strand", "s");
  compose.process.flags |= FORMAT_PROCESS_ONLINE;
  compose.process.tick_scale = 1ull << 32;
  compose.process.threads_max = 1;
  compose.process.span = compose.process.span_burdened = compose.process.wall_ns = ms(1000);
  uint32_t region = target(FIRST_KIND, 0x1100, 1), copies = target(FORMAT_CONSTRUCT_COPY_TO_DEVICE, 0x1100, 1);
  compose.directives[0].device_time = compose.directives[region].device_time = ms(300);
  compose.directives[copies].device_time = compose.directives[copies].span = ms(80);
  compose.directives[region].span = ms(300);
  compose.directives[region].work = compose.directives[copies].work = 0;
  compose.directives[region].instances = compose.directives[copies].instances = 2;
  const struct format_device device = {.number = 1,
                                       .flags = FORMAT_DEVICE_TRACED | FORMAT_DEVICE_AWAITED,
                                       .type = compose_string(&compose, "gfx90a"),
                                       .busy = ms(300),
                                       .first = ms(100),
                                       .last = ms(750),
                                       .recorded = ms(165)};
  const struct format_device_times times[] = {{0},
                                              {.operations = 2, .ticks = ms(80), .thread = 1, .record = 2},
                                              {.operations = 1, .ticks = ms(100), .thread = 1, .record = 3}};
  compose_extent(&compose, FORMAT_DEVICES, 0, 0, 1, sizeof device, &device);
  compose_extent(&compose, FORMAT_DEVICE_TIMES, 0, 0, sizeof times / sizeof *times, sizeof *times, times);
  compose_construct(&compose, 0, FORMAT_DIRECTIVE_PROGRAM, 0, 0);
  spent(0, FIRST_KIND, region, 2, 0, &waits)->ticks[FORMAT_TIME_BODY] = ms(210);
  spent(waits, FORMAT_CONSTRUCT_COPY_TO_DEVICE, region, 2, 0, &copy)->ticks[FORMAT_TIME_BODY] = ms(80);
  compose.constructs[copy].bytes = 4000;
  compose.constructs[copy].device_times = 1;
  spent(waits, FORMAT_CONSTRUCT_SUBMIT, region, 2, 0, &submit)->ticks[FORMAT_TIME_BODY] = ms(10);
  compose.constructs[submit].device_times = 2;
  compose.constructs[0].ticks[FORMAT_TIME_BODY] = ms(700);
  uint32_t main_frame = frame_below(0, 0x1000), inside = frame_below(main_frame, 0x1100);
  compose_contribution(&compose, 0, 1, charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 70, 1, 1), ms(700));
  compose_contribution(&compose, region, 1, inside, ms(220));
  compose_contribution(&compose, copies, 1, inside, ms(80));
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.work = ms(700);
  compose.thread.wall_ns = compose.thread.end_ns = ms(1000);
  compose.thread.device_ns = compose.thread.device_sampled_ns = ms(300);
  compose_thread(&compose, 1);
  compose_end(&compose);
  save("strand", STRAND_PID);
  save_strand(waits, copy, submit);
}

void golden_devices(void)
{
  devices(COMPOSE_PACKED);
  save("offload", PID);
  devices(COMPOSE_LIVE);
  save_as("offload-killed", PID, "live");
  strand();
}
