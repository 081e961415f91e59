#include "tests/support/synthetic_trace.h"

#include "common/tracelog.h"

#include <stdbool.h>

enum { EXTENT = 256 << 10, OPERATION_MAX = 64, SAMPLE_UNITS = 5000000 / SYNTHETIC_UNIT_NS };

/* A state: record of the construct, what its time is spent on, units. */
struct state {
  uint32_t record, time, units;
  bool begun;
};

static const struct state master[SYNTHETIC_CYCLE_STATES] = {
    {0, FORMAT_TIME_BODY, 20, false}, {1, FORMAT_TIME_ENTER, 1, true}, {1, FORMAT_TIME_BODY, 30, false},
    {1, FORMAT_TIME_WAIT, 5, false},  {1, FORMAT_TIME_EXIT, 1, false}, {2, FORMAT_TIME_ENTER, 1, true},
    {2, FORMAT_TIME_BODY, 60, false}, {2, FORMAT_TIME_WAIT, 5, false}, {2, FORMAT_TIME_EXIT, 1, false}};
static const struct state worker[SYNTHETIC_CYCLE_STATES] = {
    {1, FORMAT_TIME_ENTER, 21, true}, {1, FORMAT_TIME_BODY, 20, false}, {1, FORMAT_TIME_BODY, 5, false},
    {1, FORMAT_TIME_WAIT, 10, false}, {1, FORMAT_TIME_EXIT, 1, false},  {2, FORMAT_TIME_ENTER, 1, true},
    {2, FORMAT_TIME_BODY, 50, false}, {2, FORMAT_TIME_WAIT, 15, false}, {2, FORMAT_TIME_EXIT, 1, false}};

struct stream {
  uint8_t bytes[EXTENT + OPERATION_MAX];
  uint32_t size, extent, thread;
  synthetic_put *put;
  void *context;
};

static void put_number(struct stream *stream, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    stream->bytes[stream->size++] = (uint8_t)(value | 0x80);
  stream->bytes[stream->size++] = (uint8_t)value;
}

static void flush(struct stream *stream)
{
  if (stream->size)
    stream->put(stream->context, FORMAT_TRACE, stream->thread, stream->extent++, stream->size, 1, stream->bytes);
  stream->size = 0;
}

static uint64_t sample_time(uint64_t clock)
{
  return clock >> (TRACELOG_SAMPLE_SHIFT - TRACELOG_STATE_SHIFT);
}

void synthetic_trace(uint32_t thread, uint64_t cycles, uint32_t node, synthetic_put *put, void *context)
{
  static struct stream stream;
  stream = (struct stream){.thread = thread, .put = put, .context = context};
  uint64_t clock = SYNTHETIC_START, sample_clock = sample_time(clock), next = clock + SAMPLE_UNITS;
  uint64_t random = thread;
  uint32_t moved = 0;
  const struct state *states = thread == 1 ? master : worker;
  for (uint64_t i = 0; i < cycles * SYNTHETIC_CYCLE_STATES; i++) {
    const struct state *state = &states[i % SYNTHETIC_CYCLE_STATES];
    if (!stream.size) {
      stream.bytes[stream.size++] = TRACELOG_OTHER | TRACELOG_START << 2;
      put_number(&stream, clock);
      put_number(&stream, sample_clock);
    }
    uint32_t units = state->units;
    if (i % SYNTHETIC_CYCLE_STATES ==
        2) { /* work moves from one region to the other, so that no cycle is like another */
      random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
      moved = (uint32_t)(random >> 60);
      units += moved;
    } else if (i % SYNTHETIC_CYCLE_STATES == 6) {
      units -= moved;
    }
    clock += units;
    if (clock >= next && state->time == FORMAT_TIME_BODY) {
      stream.bytes[stream.size++] = TRACELOG_OTHER | (TRACELOG_SAMPLE | TRACELOG_WORKS) << 2;
      put_number(&stream, sample_time(clock) - sample_clock);
      put_number(&stream, node);
      sample_clock = sample_time(clock);
      next += SAMPLE_UNITS;
    }
    uint32_t code = state->record * FORMAT_TIMES + state->time;
    stream.bytes[stream.size++] = (uint8_t)((state->begun ? TRACELOG_BEGUN : TRACELOG_STATE) | code << 2);
    put_number(&stream, units);
    if (stream.size >= EXTENT)
      flush(&stream);
  }
  flush(&stream);
}

void synthetic_constructs(uint32_t thread, uint64_t cycles, synthetic_put *put, void *context)
{
  struct format_construct records[3] = {{.kind = FORMAT_DIRECTIVE_PROGRAM}};
  for (uint32_t i = 1; i < 3; i++) {
    records[i] = (struct format_construct){.kind = FORMAT_DIRECTIVE_PARALLEL, .directive = i, .count = cycles};
    if (thread > 1) {
      records[i].flags = FORMAT_CONSTRUCT_LINK;
      records[i].owner = 1;
      records[i].link = i;
    }
  }
  for (uint32_t i = 0; i < SYNTHETIC_CYCLE_STATES; i++) {
    const struct state *state = thread == 1 ? &master[i] : &worker[i];
    records[state->record].ticks[state->time] += cycles * state->units * SYNTHETIC_UNIT_NS;
  }
  put(context, FORMAT_CONSTRUCTS, thread, 0, 3, sizeof *records, records);
}
