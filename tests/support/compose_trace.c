#include "tests/support/compose_trace.h"

#include <assert.h>
#include <string.h>

static struct traced_stream *stream_of(struct compose_trace *trace, uint32_t thread)
{
  assert(thread <= TRACED_THREADS);
  return &trace->streams[thread ? thread - 1 : TRACED_THREADS];
}

static void put_byte(struct traced_stream *stream, unsigned byte)
{
  assert(stream->size < sizeof stream->bytes);
  stream->bytes[stream->size++] = (uint8_t)byte;
}

static void put_number(struct traced_stream *stream, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    put_byte(stream, (unsigned)(value & 0x7f) | 0x80);
  put_byte(stream, (unsigned)value);
}

static void put_op(struct traced_stream *stream, unsigned op, unsigned count, const uint64_t *operands)
{
  put_byte(stream, op << 2 | TRACELOG_OTHER);
  for (unsigned i = 0; i < count; i++)
    put_number(stream, operands[i]);
}

/* The stream, with the clocks where an extent begins. */
static struct traced_stream *within_extent(struct compose_trace *trace, uint32_t thread)
{
  struct traced_stream *stream = stream_of(trace, thread);
  if (stream->size == (stream->cuts_count ? stream->cuts[stream->cuts_count - 1].end : 0))
    put_op(stream, TRACELOG_START, 2, (const uint64_t[]){stream->state_clock, stream->sample_clock});
  return stream;
}

void traced_begin(struct compose_trace *trace, uint64_t ticks)
{
  memset(trace, 0, sizeof *trace);
  for (uint32_t i = 0; i <= TRACED_THREADS; i++) {
    trace->streams[i].state_clock = ticks >> TRACELOG_STATE_SHIFT;
    trace->streams[i].sample_clock = ticks >> TRACELOG_SAMPLE_SHIFT;
  }
}

void traced_samples_only(struct compose_trace *trace)
{
  for (uint32_t i = 0; i < TRACED_THREADS; i++)
    trace->streams[i].state_clock = 0;
}

void traced_state(struct compose_trace *trace, uint32_t thread, enum tracelog_form form, uint64_t code,
                  uint64_t duration, uint64_t own)
{
  struct traced_stream *stream = within_extent(trace, thread);
  put_byte(stream, (unsigned)(code < TRACELOG_CODE_MAX ? code : TRACELOG_CODE_MAX) << 2 | form);
  if (code >= TRACELOG_CODE_MAX)
    put_number(stream, code - TRACELOG_CODE_MAX);
  put_number(stream, duration);
  if (form == TRACELOG_STATE_OWN)
    put_number(stream, own);
  stream->state_clock += duration;
}

void traced_op(struct compose_trace *trace, uint32_t thread, enum tracelog_op op, unsigned count,
               const uint64_t *operands)
{
  struct traced_stream *stream = within_extent(trace, thread);
  put_op(stream, op, count, operands);
  if (op == TRACELOG_BLOCKED || op == TRACELOG_GAP)
    stream->state_clock += operands[count - 1];
}

void traced_sample(struct compose_trace *trace, uint32_t thread, enum tracelog_sample_kind kind, uint64_t time,
                   uint64_t node, uint64_t weight, uint64_t tool, uint64_t delay)
{
  const uint64_t optional[] = {weight, tool, delay};
  struct traced_stream *stream = within_extent(trace, thread);
  uint64_t operands[5] = {time, node};
  unsigned op = TRACELOG_SAMPLE | kind, count = 2;
  for (unsigned i = 0; i < 3; i++)
    if (optional[i]) {
      op |= TRACELOG_SAMPLE_WEIGHT << i;
      operands[count++] = optional[i];
    }
  put_op(stream, op, count, operands);
  stream->sample_clock += time;
}

void traced_cut(struct compose_trace *trace, uint32_t thread, uint32_t missing, uint64_t state, uint64_t sample)
{
  struct traced_stream *stream = stream_of(trace, thread);
  assert(stream->cuts_count < TRACED_EXTENTS);
  stream->cuts[stream->cuts_count++] = (struct traced_cut){stream->size, stream->number};
  stream->number += 1 + missing;
  stream->state_clock += state;
  stream->sample_clock += sample;
}

void traced_byte(struct compose_trace *trace, uint32_t thread, uint8_t byte)
{
  put_byte(stream_of(trace, thread), byte);
}

void traced_compose(const struct compose_trace *trace, enum compose_form form, struct compose *compose)
{
  memset(compose, 0, sizeof *compose);
  compose->form = form;
  for (uint32_t k = 0; k <= TRACED_THREADS; k++) {
    const struct traced_stream *stream = &trace->streams[k];
    uint32_t thread = k < TRACED_THREADS ? k + 1 : 0;
    size_t from = 0;
    for (uint32_t i = 0; i <= stream->cuts_count && stream->size > from; i++) {
      bool last = i == stream->cuts_count;
      size_t to = last ? stream->size : stream->cuts[i].end;
      compose_extent(compose, FORMAT_TRACE, thread, last ? stream->number : stream->cuts[i].number,
                     (uint32_t)(to - from), 1, stream->bytes + from);
      from = to;
    }
  }
}
