#include "tests/golden/golden_traces.h"

#include "tests/golden/golden_records.h"
#include "tests/support/compose_trace.h"

#include <string.h>

/* All processes live for LIFE steps of 16 ms.  A tick is 31.25 ns: a step is a whole number of units of both clocks,
 * and also the period of the samples. */
enum {
  LIFE = 40,
  STATE_UNITS = 16000, /* of a step */
  SAMPLE_UNITS = 125,
  HALF = 8000, /* half a step in ns >> TRACELOG_NS_SHIFT, a little more */
  STEP_TICKS = STATE_UNITS << TRACELOG_STATE_SHIFT,
  START_TICKS = 1000 << TRACELOG_SAMPLE_SHIFT
};

enum { REGION = 1, LOOP, CRITICAL, TASK, SINGLES, SINGLES_END = SINGLES + 14 }; /* directives; records of thread 1 */
enum { MAIN = 1, SETUP, SOLVE, BODY = 5, KERNEL };                              /* nodes of each thread */
enum { LOOP_2 = 16, CRITICAL_2 };                                               /* records of thread 2 */
enum { ENTER = FORMAT_TIME_ENTER, INSIDE = FORMAT_TIME_BODY, WAIT = FORMAT_TIME_WAIT, EXIT = FORMAT_TIME_EXIT };

static struct compose_trace trace;
static uint64_t sampled[TRACED_THREADS + 1]; /* step of the last sample of each thread */

static uint64_t steps_ns(uint64_t steps)
{
  return ms(16) * steps;
}

/* ---- the measurement beside the trace ---- */

static uint32_t context(uint32_t parent, uint32_t offset, uint64_t samples)
{
  const uint64_t values[6] = {samples, steps_ns(samples), 0, 0, steps_ns(samples), steps_ns(samples)};
  return compose_node(&compose, FORMAT_KIND_FRAME, 1, offset, parent, values);
}

static void begin(enum compose_form form, uint32_t pid, bool constructs)
{
  compose_begin(&compose, form, pid, "./traced");
  blame_metrics();
  for (uint32_t i = 0; i < compose.metrics_count; i++)
    compose.metrics[i].period = compose.metrics[i].role == FORMAT_ROLE_WORK ? steps_ns(1) : 0;
  compose_module(&compose, "/golden/app", FORMAT_MODULE_MAIN);
  compose.process.wall_ns = steps_ns(LIFE);
  compose.process.tick_scale = 125ULL << 30; /* 31.25 ns × 2³² */
  compose.process.start_ticks = START_TICKS;
  memset(sampled, 0, sizeof sampled);
  traced_begin(&trace, START_TICKS);
  if (!constructs)
    return;
  compose.process.flags |= FORMAT_PROCESS_ONLINE;
  compose_directive(&compose, FORMAT_DIRECTIVE_PARALLEL, 1, 0x1100, 1, 0, 0);
  compose_directive(&compose, FORMAT_DIRECTIVE_FOR, 1, 0x1200, 1, 0, 0);
  compose_directive(&compose, FORMAT_DIRECTIVE_CRITICAL, 1, 0x1210, 2, 0, 0);
  compose_directive(&compose, FORMAT_DIRECTIVE_TASK, 1, 0x1220, 1, 0, 0);
  for (uint32_t i = SINGLES; i < SINGLES_END; i++)
    compose_directive(&compose, FORMAT_DIRECTIVE_SINGLE, 1, 0x1300 + i, 1, 0, 0);
}

static void contexts(void)
{
  uint32_t main_frame = context(0, 0x1000, 2);
  context(main_frame, 0x2000, 4);
  context(context(parallel_below(frame_below(main_frame, 0x1100)), 0x1200, 1), 0x2100, 10);
}

/* Ends a thread that lived from one step to another one, 0: it has not ended. */
static void end_thread(uint32_t index, uint64_t from, uint64_t to)
{
  compose.thread.flags = FORMAT_THREAD_OPENMP;
  compose.thread.start_ns = steps_ns(from);
  compose.thread.end_ns = steps_ns(to);
  compose.thread.wall_ns = steps_ns((to ? to : LIFE) - from);
  compose_thread(&compose, index);
}

static void constructs_of_first(void)
{
  compose_construct(&compose, 0, 0, 0, 0);
  compose_construct(&compose, 0, FORMAT_DIRECTIVE_PARALLEL, REGION, 1);
  compose_construct(&compose, REGION, FORMAT_DIRECTIVE_FOR, LOOP, 1);
  compose_construct(&compose, LOOP, FORMAT_DIRECTIVE_CRITICAL, CRITICAL, 1);
  compose_construct(&compose, REGION, FORMAT_DIRECTIVE_TASK, TASK, 1);
}

/* The loop's record is so far behind that its codes do not fit into one byte. */
static void constructs_of_second(void)
{
  compose_construct(&compose, 0, 0, 0, 0);
  struct format_construct *region =
      &compose.constructs[compose_construct(&compose, 0, FORMAT_DIRECTIVE_PARALLEL, REGION, 1)];
  region->flags = FORMAT_CONSTRUCT_LINK;
  region->owner = region->link = 1;
  for (uint32_t i = SINGLES; i < SINGLES_END; i++)
    compose_construct(&compose, 1, FORMAT_DIRECTIVE_SINGLE, i, 1);
  compose_construct(&compose, 1, FORMAT_DIRECTIVE_FOR, LOOP, 1);
  compose_construct(&compose, LOOP_2, FORMAT_DIRECTIVE_CRITICAL, CRITICAL, 1);
}

/* ---- streams, in steps ---- */

static uint64_t code_of(uint64_t record, unsigned time)
{
  return record * FORMAT_TIMES + time;
}

static void put_state(uint32_t thread, enum tracelog_form form, uint64_t code, uint64_t steps, uint64_t own)
{
  traced_state(&trace, thread, form, code, steps * STATE_UNITS, own * STATE_UNITS);
}

static void put_op(uint32_t thread, enum tracelog_op op, uint64_t operand)
{
  traced_op(&trace, thread, op, op == TRACELOG_GAP || op == TRACELOG_HOLDER, &operand);
}

static void put_blocked(uint32_t thread, uint64_t code, uint64_t steps)
{
  traced_op(&trace, thread, TRACELOG_BLOCKED, 2, (const uint64_t[]){code, steps * STATE_UNITS});
}

/* A sample at a step; weight in steps, 0: the period. */
static void put_sample(uint32_t thread, enum tracelog_sample_kind kind, uint64_t step, uint64_t node, uint64_t weight)
{
  traced_sample(&trace, thread, kind, (step - sampled[thread]) * SAMPLE_UNITS, node, steps_ns(weight), 0, 0);
  sampled[thread] = step;
}

static void samples(uint32_t thread, uint64_t first, uint64_t last, uint64_t node)
{
  for (uint64_t step = first; step <= last; step++)
    put_sample(thread, TRACELOG_WORKS, step, node, 0);
}

/* The streams of a thread begin there. */
static void begin_at(uint32_t thread, uint64_t step)
{
  trace.streams[thread - 1].state_clock += step * STATE_UNITS;
  trace.streams[thread - 1].sample_clock += step * SAMPLE_UNITS;
  sampled[thread] = step;
}

static void save_trace(const char *name, uint32_t pid, enum compose_form form)
{
  traced_compose(&trace, form, &compose);
  save_as(name, pid, "trace");
}

/* ---- every operation, with constructs ---- */

/* Serial: work, the runtime, the tool, waiting for a processor. */
static void serial_part(void)
{
  put_sample(1, TRACELOG_WORKS, 2, SETUP, 2);
  put_sample(1, TRACELOG_OVERHEAD, 4, MAIN, 2);
  traced_sample(&trace, 1, TRACELOG_WORKS, 2 * SAMPLE_UNITS, SETUP, 0, HALF, 0);
  traced_sample(&trace, 1, TRACELOG_WORKS, 2 * SAMPLE_UNITS, MAIN, 0, 0, HALF);
  sampled[1] = 8;
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), 8, 0);
}

/* Between the samples of steps 11 and 13 the thread slept where no wrapper saw it. */
static void first_thread(void)
{
  serial_part();
  put_state(1, TRACELOG_BEGUN, code_of(REGION, ENTER), 1, 0);
  put_state(1, TRACELOG_STATE, code_of(REGION, INSIDE), 1, 0);
  put_state(1, TRACELOG_BEGUN, code_of(TASK, INSIDE), 0, 0);
  put_sample(1, TRACELOG_WORKS, 11, KERNEL, 0);
  samples(1, 13, 14, KERNEL);
  put_state(1, TRACELOG_BEGUN, code_of(LOOP, INSIDE), 4, 0);
  put_op(1, TRACELOG_CHUNK, 0);
  samples(1, 15, 16, KERNEL);
  put_state(1, TRACELOG_STATE, code_of(LOOP, INSIDE), 2, 0);
  put_blocked(1, code_of(LOOP, INSIDE), 2);
  put_state(1, TRACELOG_STATE_OWN, code_of(LOOP, WAIT), 3, 1);
  put_op(1, TRACELOG_HOLDER, 2);
  put_op(1, TRACELOG_BEGIN, 0);
  put_state(1, TRACELOG_STATE_OWN, code_of(CRITICAL, ENTER), 2, 1);
  put_sample(1, TRACELOG_WORKS, 24, KERNEL, 0);
  put_state(1, TRACELOG_STATE, code_of(CRITICAL, INSIDE), 1, 0);
  traced_op(&trace, 1, TRACELOG_CHARGE, 5, (const uint64_t[]){KERNEL, 2, steps_ns(2), steps_ns(1), steps_ns(4)});
  put_sample(1, TRACELOG_IDLE, 25, 0, 0);
  put_state(1, TRACELOG_STATE, code_of(REGION, WAIT), 2, 0);
  put_state(1, TRACELOG_STATE, code_of(REGION, EXIT), 1, 0);
  put_op(1, TRACELOG_GAP, 3 * STATE_UNITS);
  samples(1, 31, 33, MAIN);
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), 3, 0);
  traced_cut(&trace, 1, 1, 3 * STATE_UNITS, 3 * SAMPLE_UNITS);
  sampled[1] = 36;
  samples(1, 37, 38, MAIN);
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), 2, 0);
}

static void second_thread(void)
{
  begin_at(2, 8);
  put_state(2, TRACELOG_BEGUN, code_of(REGION, ENTER), 1, 0);
  samples(2, 10, 10, BODY);
  put_state(2, TRACELOG_STATE, code_of(REGION, INSIDE), 1, 0);
  samples(2, 11, 16, KERNEL);
  put_state(2, TRACELOG_BEGUN, code_of(LOOP_2, INSIDE), 6, 0);
  put_op(2, TRACELOG_HOLDER, 1);
  put_sample(2, TRACELOG_LOCKWAIT, 17, 0, 0);
  put_state(2, TRACELOG_BEGUN, code_of(CRITICAL_2, ENTER), 2, 0);
  samples(2, 19, 21, KERNEL);
  put_state(2, TRACELOG_STATE, code_of(CRITICAL_2, INSIDE), 3, 0);
  put_state(2, TRACELOG_STATE, code_of(LOOP_2, WAIT), 3, 0);
  put_state(2, TRACELOG_STATE, code_of(REGION, WAIT), 2, 0);
  put_state(2, TRACELOG_STATE, code_of(REGION, EXIT), 1, 0);
  put_state(2, TRACELOG_STATE, code_of(0, WAIT), 3, 0);
  traced_cut(&trace, 2, 0, 0, 0);
  put_state(2, TRACELOG_STATE, code_of(0, WAIT), 6, 0);
}

static void with_constructs(void)
{
  begin(COMPOSE_PACKED, 3000, true);
  contexts();
  constructs_of_first();
  compose.thread.lost[FORMAT_LOST_TRACE] = 1;
  end_thread(1, 0, LIFE);
  contexts();
  constructs_of_second();
  end_thread(2, 8, 36);
  compose_end(&compose);
  save("traced", 3000);
  first_thread();
  second_thread();
  save_trace("traced", 3000, COMPOSE_PACKED);
}

/* ---- without constructs; samples only ---- */

static void without_constructs(void)
{
  begin(COMPOSE_PACKED, 3100, false);
  contexts();
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 0, 0);
  uint32_t barrier = wait_of(FORMAT_WAIT_BARRIER, 0x1230, 0, 48, 0);
  uint32_t lock = wait_of(FORMAT_WAIT_LOCK, 0x1240, 0, 32, 0);
  end_thread(1, 0, LIFE);
  contexts();
  wait_of(FORMAT_WAIT_PARKED, 0, 0, 0, 0);
  end_thread(2, 0, LIFE);
  compose_end(&compose);
  save("traced-plain", 3100);
  samples(1, 1, 10, SETUP);
  put_state(1, TRACELOG_STATE, 0, 10, 0);
  put_state(1, TRACELOG_STATE_OWN, barrier + 1, 3, 1);
  samples(1, 14, 18, KERNEL);
  put_state(1, TRACELOG_STATE, 0, 5, 0);
  put_op(1, TRACELOG_HOLDER, 2);
  put_state(1, TRACELOG_STATE, lock + 1, 2, 0);
  put_blocked(1, 0, 3);
  samples(1, 24, LIFE, MAIN);
  put_state(1, TRACELOG_STATE, 0, LIFE - 23, 0);
  put_state(2, TRACELOG_STATE, 1, 18, 0);
  samples(2, 19, 20, KERNEL);
  put_state(2, TRACELOG_STATE, 0, 2, 0);
  put_state(2, TRACELOG_STATE, 1, 20, 0);
  save_trace("traced-plain", 3100, COMPOSE_ZSTD);
}

static void samples_only(void)
{
  begin(COMPOSE_PACKED, 3200, true);
  contexts();
  constructs_of_first();
  end_thread(1, 0, LIFE);
  contexts();
  end_thread(2, 4, LIFE);
  compose_end(&compose);
  save("traced-samples", 3200);
  traced_samples_only(&trace);
  samples(1, 1, 4, SETUP);
  put_sample(1, TRACELOG_OVERHEAD, 5, MAIN, 0);
  put_sample(1, TRACELOG_IDLE, 6, 0, 0);
  put_sample(1, TRACELOG_LOCKWAIT, 7, 0, 0);
  put_sample(1, TRACELOG_WORKS, 12, KERNEL, 2); /* not known what it did before */
  put_sample(1, TRACELOG_WORKS, LIFE, KERNEL, LIFE - 12);
  begin_at(2, 4);
  trace.streams[1].state_clock = 0;
  samples(2, 5, 10, KERNEL);
  save_trace("traced-samples", 3200, COMPOSE_PACKED);
}

/* ---- killed ---- */

/* Threads run code of a program up to a step. */
static void until(uint32_t thread, uint64_t step)
{
  samples(thread, 1, step, MAIN);
  put_state(thread, TRACELOG_STATE, code_of(0, INSIDE), step, 0);
}

/* A thread that was killed; the state in which it was, since a step. */
static void killed_thread(uint32_t index, uint64_t open, uint64_t since)
{
  contexts();
  constructs_of_first();
  compose.thread.construct_open = open;
  compose.thread.construct_since = START_TICKS + since * STEP_TICKS;
  end_thread(index, 0, index == 3 ? 30 : 0);
}

/* At the end, thread 1 is at a barrier and thread 2 sleeps in a loop; 3 has ended, and the stream of 4 before that. */
static void killed(void)
{
  static struct compose holes;
  begin(COMPOSE_LIVE, 3300, true);
  killed_thread(1, code_of(LOOP, WAIT), 20);
  compose.thread.blocked_since = START_TICKS + 22 * STEP_TICKS;
  killed_thread(2, code_of(LOOP, INSIDE), 21);
  killed_thread(3, code_of(0, INSIDE), 30);
  compose.thread.lost[FORMAT_LOST_TRACE] = 1;
  killed_thread(4, code_of(LOOP, WAIT), 35);
  compose_end(&compose);
  save_as("traced-killed", 3300, "live");
  until(1, 20);
  until(2, 22);
  until(3, 30);
  until(4, 10);
  traced_compose(&trace, COMPOSE_LIVE, &compose);
  memset(&holes, 0, sizeof holes);
  for (size_t i = 0; i < compose.size; i++) { /* each extent at a page, after one that was never begun */
    bool begins = i + 8 <= compose.size && !memcmp(compose.bytes + i, "hpcrlite", 8);
    holes.size = begins ? (holes.size / 4096 + 2) * 4096 : holes.size;
    holes.bytes[holes.size++] = compose.bytes[i];
  }
  compose = holes;
  save_as("traced-killed", 3300, "trace");
}

/* ---- damage ---- */

/* Appends an extent to the composed trace. */
static void add_extent(uint32_t thread, uint32_t number, const char *bytes, uint32_t size)
{
  compose_extent(&compose, FORMAT_TRACE, thread, number, size, 1, bytes);
}

/* Operations that do not exist or are cut off, codes, nodes and threads that do not exist, times that go back or never
 * end, a second copy of an extent, a checksum that is wrong, an extent too few, and threads that do not exist. */
static void hostile_trace(void)
{
  begin(COMPOSE_PACKED, 3400, true);
  for (uint32_t i = 1; i <= 4; i++) {
    contexts();
    constructs_of_first();
    end_thread(i, 0, LIFE);
  }
  compose_end(&compose);
  save("traced-hostile", 3400);
  samples(1, 1, 4, 999);
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), 4, 0);
  put_state(1, TRACELOG_STATE, code_of(77, INSIDE), 1, 0);
  put_state(1, TRACELOG_STATE, UINT64_MAX, 1, 0);
  put_op(1, TRACELOG_HOLDER, 77);
  put_state(1, TRACELOG_STATE_OWN, code_of(CRITICAL, ENTER), 2, 5);
  traced_byte(&trace, 1, 60 << 2 | TRACELOG_OTHER);
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), 2, 0);
  traced_cut(&trace, 1, 0, 0, 0);
  trace.streams[0].state_clock -= 9 * STATE_UNITS;
  put_state(1, TRACELOG_STATE, code_of(REGION, EXIT), 3, 0);
  traced_cut(&trace, 1, 2, 5 * STATE_UNITS, 0);
  traced_state(&trace, 1, TRACELOG_STATE, code_of(REGION, WAIT), UINT64_MAX, 0);
  traced_state(&trace, 1, TRACELOG_STATE_OWN, code_of(REGION, WAIT), UINT64_MAX, UINT64_MAX);
  traced_state(&trace, 2, TRACELOG_BEGUN, code_of(REGION, WAIT), 10 * STATE_UNITS, 0);
  traced_sample(&trace, 2, TRACELOG_WORKS, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
  put_state(2, TRACELOG_STATE, code_of(0, INSIDE), 5, 0);
  put_state(3, TRACELOG_STATE, code_of(0, INSIDE), 5, 0);
  traced_compose(&trace, COMPOSE_PACKED, &compose);
  compose.bytes[compose.size - 1] ^= 1; /* thread 3 */
  add_extent(1, 0, "\x83\x01\x01", 3);  /* another one with that number */
  add_extent(2, 1, "\x04\x05", 2);      /* without a time */
  add_extent(2, 2, "\x83\x80\x80", 3);  /* cut off */
  add_extent(2, 3, "", 0);
  add_extent(99, 0, "\x83\x01\x01", 3);
  compose_extent(&compose, FORMAT_TRACE, 4, 0, 1, 16, "sixteen bytes...");
  compose_extent(&compose, FORMAT_GRAPH_LOG, 1, 0, 1, 1, "\x01");
  add_extent(4, 1, "\x83\x01\x01", 3);
  compose.size--;
  save_as("traced-hostile", 3400, "trace");
}

/* ---- what was counted ---- */

/* A context with page faults and instructions. */
static uint32_t counting(uint32_t parent, uint32_t offset, uint64_t samples, uint64_t faults, uint64_t instructions)
{
  const uint64_t values[8] = {samples, steps_ns(samples), 0, 0, 0, 0, faults, instructions};
  return compose_node(&compose, FORMAT_KIND_FRAME, 1, offset, parent, values);
}

static void begin_counted(uint32_t pid)
{
  begin(COMPOSE_PACKED, pid, true);
  compose_metric(&compose, "page-faults", "", FORMAT_ROLE_COUNTED, 0);
  compose_metric(&compose, "instructions", "", FORMAT_ROLE_COUNTED, 0);
}

static void put_counted(uint32_t thread, const uint64_t (*counts)[5], uint32_t count)
{
  compose_extent(&compose, FORMAT_COUNTS, thread, 0, count, sizeof *counts, counts);
}

/* So many events of a counter until a step, in so many steps. */
static void put_events(uint32_t thread, uint64_t until, uint64_t steps, uint64_t counter, uint64_t count)
{
  traced_op(&trace, thread, TRACELOG_EVENT_COUNT, 4,
            (const uint64_t[]){(until - sampled[thread]) * SAMPLE_UNITS, steps * SAMPLE_UNITS, counter, count});
}

static void put_value(uint32_t thread, uint64_t at, uint64_t node, uint64_t name, uint64_t value)
{
  traced_op(&trace, thread, TRACELOG_USER_COUNT, 4,
            (const uint64_t[]){(at - sampled[thread]) * SAMPLE_UNITS, node, name, value});
}

/* A region from step 8 to step 24, in which KERNEL has almost all page faults, and counts items. */
static void counted_file(uint32_t pid, uint32_t *items)
{
  static const uint64_t first[][5] = {{132, 0}, {1200, 4000}}, second[][5] = {{3, 0}};
  begin_counted(pid);
  *items = compose_string(&compose, "items");
  uint32_t main_frame = counting(0, 0x1000, 2, 112, 0);
  uint32_t kernel = counting(main_frame, 0x2000, 2, 1220, 4000);
  const struct format_user_count values[] = {
      {.node = kernel, .name = *items, .count = 2, .sum = 12, .least = 5, .most = 7},
      {.node = main_frame, .name = *items, .count = 1, .sum = 1, .least = 1, .most = 1}};
  compose_extent(&compose, FORMAT_USER_COUNTS, 1, 0, 2, sizeof *values, values);
  compose_construct(&compose, 0, 0, 0, 0);
  compose_construct(&compose, 0, FORMAT_DIRECTIVE_PARALLEL, REGION, 1);
  put_counted(1, first, 2);
  end_thread(1, 0, LIFE);
  compose_construct(&compose, 0, 0, 0, 0);
  put_counted(2, second, 1);
  end_thread(2, 0, LIFE);
  compose_end(&compose);
}

static void charted(void)
{
  enum { FAULTS, INSTRUCTIONS };
  uint32_t items;
  counted_file(3600, &items);
  save("charted", 3600);
  put_value(1, 2, MAIN, items, 1);
  put_events(1, 4, 4, FAULTS, 100);
  put_sample(1, TRACELOG_WORKS, 4, MAIN, 0);
  put_events(1, 8, 4, FAULTS, 20);
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), 8, 0);
  put_value(1, 10, SETUP, items, 5);
  put_events(1, 12, 4, FAULTS, 400);
  put_events(1, 12, 4, INSTRUCTIONS, 1000);
  put_sample(1, TRACELOG_WORKS, 12, SETUP, 0);
  put_events(1, 20, 8, FAULTS, 800);
  put_events(1, 20, 8, INSTRUCTIONS, 3000);
  put_sample(1, TRACELOG_WORKS, 20, SETUP, 0);
  put_value(1, 22, SETUP, items, 7);
  put_state(1, TRACELOG_BEGUN, code_of(REGION, INSIDE), 16, 0);
  put_events(1, 36, 12, FAULTS, 12);
  put_sample(1, TRACELOG_WORKS, 36, MAIN, 0);
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), LIFE - 24, 0);
  put_events(2, 3, 3, FAULTS, 3);
  put_state(2, TRACELOG_STATE, code_of(0, WAIT), LIFE, 0);
  save_trace("charted", 3600, COMPOSE_PACKED);
}

/* Counters, strings and nodes that do not exist, durations and counts of any size. */
static void charted_hostile(void)
{
  uint32_t items;
  counted_file(3700, &items);
  save("charted-hostile", 3700);
  put_sample(1, TRACELOG_WORKS, 4, MAIN, 0);
  put_events(1, 8, 4, 2, 100);
  put_events(1, 8, 4, UINT64_MAX, 100);
  put_events(1, 8, UINT64_MAX / SAMPLE_UNITS, 0, UINT64_MAX);
  put_events(1, 8, 0, 0, UINT64_MAX);
  put_events(1, UINT64_MAX / SAMPLE_UNITS, UINT64_MAX / SAMPLE_UNITS, 1, 1000);
  put_value(1, 9, 9999, items, UINT64_MAX);
  put_value(1, 9, UINT64_MAX, UINT64_MAX, 1);
  put_value(1, UINT64_MAX / SAMPLE_UNITS, SETUP, items, UINT64_MAX);
  put_sample(1, TRACELOG_WORKS, 12, 999, 0);
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), 20, 0);
  traced_byte(&trace, 1, 39 << 2 | TRACELOG_OTHER);
  put_state(1, TRACELOG_STATE, code_of(0, INSIDE), 4, 0);
  put_state(2, TRACELOG_STATE, code_of(0, INSIDE), 4, 0);
  traced_byte(&trace, 2, TRACELOG_EVENT_COUNT << 2 | TRACELOG_OTHER); /* cut off */
  save_trace("charted-hostile", 3700, COMPOSE_PACKED);
}

void golden_traces(void)
{
  charted();
  charted_hostile();
  with_constructs();
  without_constructs();
  samples_only();
  killed();
  hostile_trace();
}
