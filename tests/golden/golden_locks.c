#include "tests/golden/golden_locks.h"

#include "tests/golden/golden_records.h"

#include <string.h>

static void put_locks(uint32_t thread, const struct format_lock *locks, uint32_t count)
{
  compose_extent(&compose, FORMAT_LOCKS, thread, 0, count, sizeof *locks, locks);
}

static void begin(const char *command)
{
  blame_begin(4100, command, NULL);
  compose.process.wall_ns = ms(800);
  compose.process.tick_scale = UINT64_C(1) << 31;
}

/* Two threads and a mutex of the program, two on the heap that were first waited for at one place, a critical section
 * and locks without a record. */
static void locked(void)
{
  begin("./locked");
  compose.process.flags |= FORMAT_PROCESS_LOCKS;
  uint32_t main_frame = frame_below(0, 0x1000), solve = frame_below(main_frame, 0x1100);
  uint32_t holder = frame_below(main_frame, 0x1500);
  charge(FORMAT_KIND_FRAME, solve, 0x2000, WORK, 20, 1, 1);
  put_locks(1,
            (const struct format_lock[]){
                {.waits = 1, .ticks = ticks_of_ms(1), .longest = ticks_of_ms(1), .acquisitions = 7},
                {.id = 0x8000,
                 .kind = FORMAT_LOCK_MUTEX,
                 .module = 1,
                 .offset = 0x8000,
                 .node = solve,
                 .waits = 3,
                 .ticks = ticks_of_ms(60),
                 .longest = ticks_of_ms(30),
                 .acquisitions = 100,
                 .held = ticks_of_ms(90)},
                {.id = 0x10000,
                 .kind = FORMAT_LOCK_MUTEX,
                 .node = solve,
                 .waits = 2,
                 .ticks = ticks_of_ms(20),
                 .longest = ticks_of_ms(15),
                 .acquisitions = 4,
                 .held = ticks_of_ms(9),
                 .released = ms(5),
                 .holder = {holder},
                 .holder_ns = {ms(5)}},
                {.id = 0x20000,
                 .kind = FORMAT_LOCK_MUTEX,
                 .node = solve,
                 .waits = 1,
                 .ticks = ticks_of_ms(4),
                 .longest = ticks_of_ms(4),
                 .acquisitions = 1,
                 .held = ticks_of_ms(11)},
                {.id = 0x30000, .kind = FORMAT_LOCK_RWLOCK, .released = ms(7), .holder = {solve}, .holder_ns = {ms(7)}},
                {.id = 0x40000, .kind = FORMAT_LOCK_SPINLOCK, .node = holder, .acquisitions = 800},
                {.id = 0x50000, .kind = FORMAT_LOCK_SPINLOCK, .node = holder, .acquisitions = 80}},
            7);
  compose.thread.locks_taken = 1000;
  blame_thread(1, 800, 100, 0, 600);
  uint32_t body = region_body(link_to(solve), 0x1200), other = frame_below(body, 0x1600);
  put_locks(2,
            (const struct format_lock[]){{0},
                                         {.id = 0x8000,
                                          .kind = FORMAT_LOCK_MUTEX,
                                          .module = 1,
                                          .offset = 0x8000,
                                          .node = body,
                                          .waits = 1,
                                          .ticks = ticks_of_ms(10),
                                          .longest = ticks_of_ms(10),
                                          .acquisitions = 5,
                                          .held = ticks_of_ms(40),
                                          .released = ms(60),
                                          .holder = {body, other, 0, 0},
                                          .holder_ns = {ms(40), ms(15), [FORMAT_LOCK_HOLDERS - 1] = ms(5)}},
                                         {.id = 77,
                                          .kind = FORMAT_LOCK_CRITICAL,
                                          .node = body,
                                          .waits = 5,
                                          .ticks = ticks_of_ms(50),
                                          .longest = ticks_of_ms(20),
                                          .acquisitions = 6,
                                          .released = ms(8),
                                          .holder = {other},
                                          .holder_ns = {ms(8)}}},
            3);
  compose.thread.locks_taken = 7;
  compose.thread.spun_ns = ms(3);
  blame_thread(2, 600, 200, 0, 0);
  compose_end(&compose);
  save("locked", 4100);
}

/* Kinds, modules and contexts that do not exist; numbers that are too large. */
static void locked_hostile(void)
{
  begin("./locked-hostile");
  uint32_t main_frame = frame_below(0, 0x1000);
  charge(FORMAT_KIND_FRAME, main_frame, 0x2000, WORK, 20, 1, 1);
  put_locks(1,
            (const struct format_lock[]){{.id = 1, .kind = 99, .waits = 1},
                                         {.id = 2,
                                          .kind = FORMAT_LOCK_MUTEX,
                                          .module = 999,
                                          .offset = UINT64_MAX,
                                          .node = 8888,
                                          .waits = UINT64_MAX,
                                          .ticks = UINT64_MAX,
                                          .longest = UINT64_MAX,
                                          .acquisitions = 1,
                                          .held = UINT64_MAX,
                                          .since = 1},
                                         {.id = 2,
                                          .kind = FORMAT_LOCK_MUTEX,
                                          .module = 1,
                                          .offset = UINT64_MAX,
                                          .node = main_frame,
                                          .waits = UINT64_MAX,
                                          .ticks = UINT64_MAX,
                                          .longest = 1,
                                          .acquisitions = UINT64_MAX,
                                          .held = UINT64_MAX,
                                          .since = UINT64_MAX,
                                          .released = 3,
                                          .holder = {7777, main_frame, main_frame, 5},
                                          .holder_ns = {UINT64_MAX, 1, UINT64_MAX, 2}}},
            3);
  compose.thread.locks_taken = UINT64_MAX;
  compose.thread.spun_ns = UINT64_MAX;
  blame_thread(1, 800, 100, 0, 600);
  compose_end(&compose);
  save("locked-hostile", 4100);
}

void golden_locks(void)
{
  locked();
  locked_hostile();
}
