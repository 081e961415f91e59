#include "tests/support/compose_log.h"

#include "common/leb128.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

static struct compose_stream *stream_of(struct compose_log *log, uint32_t thread)
{
  assert(thread >= 1 && thread <= COMPOSE_THREADS);
  return &log->streams[thread - 1];
}

static void put(struct compose_stream *stream, uint64_t value)
{
  assert(stream->size + 10 <= sizeof stream->bytes);
  stream->size = (size_t)(leb128_put(stream->bytes + stream->size, value) - stream->bytes);
}

void log_begin(struct compose_log *log)
{
  memset(log, 0, sizeof *log);
}

static bool begins_extent(const struct compose_stream *stream)
{
  return stream->size == (stream->cuts_count ? stream->cuts[stream->cuts_count - 1] : 0);
}

void log_put(struct compose_log *log, uint32_t thread, enum graphlog_op op, ...)
{
  struct compose_stream *stream = stream_of(log, thread);
  if (begins_extent(stream) && op != GRAPHLOG_TIME) {
    put(stream, GRAPHLOG_TIME);
    put(stream, stream->time);
  }
  va_list args;
  va_start(args, op);
  put(stream, op);
  for (unsigned i = 0; i < graphlog_operands(op); i++)
    put(stream, (uint64_t)va_arg(args, int));
  va_end(args);
}

void log_at(struct compose_log *log, uint32_t thread, uint64_t time)
{
  struct compose_stream *stream = stream_of(log, thread);
  if (time <= stream->time)
    return;
  if (!begins_extent(stream))
    log_put(log, thread, GRAPHLOG_MOVE, (int)(time - stream->time));
  stream->time = time;
}

void log_run(struct compose_log *log, uint32_t thread, uint64_t work)
{
  log_put(log, thread, GRAPHLOG_RUN, 0, (int)work);
  stream_of(log, thread)->time += work;
}

void log_cut(struct compose_log *log, uint32_t thread)
{
  struct compose_stream *stream = stream_of(log, thread);
  assert(stream->cuts_count < COMPOSE_EXTENTS);
  stream->cuts[stream->cuts_count++] = stream->size;
}

void log_compose(const struct compose_log *log, enum compose_form form, struct compose *compose)
{
  memset(compose, 0, sizeof *compose);
  compose->form = form;
  for (uint32_t thread = 1; thread <= COMPOSE_THREADS; thread++) {
    const struct compose_stream *stream = &log->streams[thread - 1];
    size_t from = 0;
    for (uint32_t i = 0; i <= stream->cuts_count && stream->size; i++) {
      size_t to = i < stream->cuts_count ? stream->cuts[i] : stream->size;
      compose_extent(compose, FORMAT_GRAPH_LOG, thread, i, (uint32_t)(to - from), 1, stream->bytes + from);
      from = to;
    }
  }
}
