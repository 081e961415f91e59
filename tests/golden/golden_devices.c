#include "tests/golden/golden_devices.h"

#include "tests/golden/golden_records.h"

enum { START_TICKS = 1000, FIRST_KIND = FORMAT_DIRECTIVE_TARGET, PID = 5200 };

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

void golden_devices(void)
{
  devices(COMPOSE_PACKED);
  save("offload", PID);
  devices(COMPOSE_LIVE);
  save_as("offload-killed", PID, "live");
}
