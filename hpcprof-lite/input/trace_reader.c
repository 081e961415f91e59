#include "hpcprof-lite/input/trace_reader.h"

#include "common/format.h"
#include "common/order.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int trace_reader_open(const char *measurement, struct problems *problems, struct trace_reader *reader)
{
  return stream_extents_open(measurement, TRACE_READER_SUFFIX, FORMAT_TRACE, problems, &reader->file);
}

void trace_reader_close(struct trace_reader *reader)
{
  stream_extents_release(&reader->file);
}

void trace_cursor_open(const struct trace_reader *reader, uint32_t thread, struct problems *problems,
                       struct trace_cursor *cursor)
{
  *cursor = (struct trace_cursor){.reader = reader,
                                  .problems = problems,
                                  .extent = stream_extents_find(&reader->file, thread, 0),
                                  .extents_end = stream_extents_find(&reader->file, (uint64_t)thread + 1, 0)};
}

void trace_cursor_close(struct trace_cursor *cursor)
{
  free(cursor->bytes);
  cursor->bytes = NULL;
}

enum trace_reader_content trace_reader_content(const struct trace_reader *reader)
{
  if (!reader->file.count)
    return TRACE_READER_NOTHING;
  struct trace_cursor cursor;
  struct trace_event event;
  enum trace_reader_content content = TRACE_READER_NOTHING;
  size_t first = stream_extents_find(&reader->file, 1, 0);
  if (first == reader->file.count) /* only operations of devices, which are recorded with states */
    return TRACE_READER_STATES;
  trace_cursor_open(reader, reader->file.extents[first].owner, NULL, &cursor);
  if (trace_cursor_next(&cursor, &event))
    content = event.kind == TRACE_EVENT_STATE || cursor.state_clock ? TRACE_READER_STATES : TRACE_READER_SAMPLES;
  trace_cursor_close(&cursor);
  return content;
}

bool trace_reader_has_states(const char *measurement)
{
  struct problems ignored = {0};
  struct trace_reader reader;
  bool found = !stream_extents_open_first(measurement, TRACE_READER_SUFFIX, FORMAT_TRACE, &ignored, &reader.file) &&
               trace_reader_content(&reader) == TRACE_READER_STATES;
  trace_reader_close(&reader);
  problems_release(&ignored);
  return found;
}

static uint64_t shifted(uint64_t clock, unsigned shift)
{
  assert(shift < 64);
  return clock > UINT64_MAX >> shift ? UINT64_MAX : clock << shift;
}

/* Sets *ticks to when an extent begins: the later one of its clocks, since in a long state only that of samples
 * advances. Returns false if that cannot be read. */
static bool extent_start(const struct trace_cursor *cursor, size_t extent, uint64_t *ticks)
{
  assert(extent < cursor->reader->file.count);
  const struct stream_extents *file = &cursor->reader->file;
  struct tracelog_record record;
  char message[256];
  uint8_t *bytes;
  size_t size, offset = 0;
  bool damaged = false;
  if (stream_extents_decode(file, &file->extents[extent], STREAM_EXTENTS_MAX, &bytes, &size, message))
    return false;
  bool begins = tracelog_next(bytes, size, &offset, &record, &damaged) && record.form == TRACELOG_OTHER &&
                record.op == TRACELOG_START;
  free(bytes);
  if (!begins)
    return false;
  *ticks = MAX(shifted(record.operand[0], TRACELOG_STATE_SHIFT), shifted(record.operand[1], TRACELOG_SAMPLE_SHIFT));
  return true;
}

void trace_cursor_seek(struct trace_cursor *cursor, uint64_t ticks)
{
  assert(cursor->extent <= cursor->extents_end && !cursor->bytes);
  size_t low = cursor->extent, high = cursor->extents_end; /* what begins before the time is below high */
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    uint64_t start;
    if (!extent_start(cursor, middle, &start))
      return;
    if (start <= ticks)
      low = middle;
    else
      high = middle;
  }
  if (low <= cursor->extent)
    return;
  cursor->missing = cursor->reader->file.extents[low - 1].first > low - 1 - cursor->extent;
  cursor->extent = low - 1; /* samples that follow refer to its last one */
  cursor->number = cursor->reader->file.extents[cursor->extent].first;
}

uint64_t trace_reader_bytes(const struct trace_reader *reader, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks)
{
  assert(from_ticks <= to_ticks);
  struct trace_cursor first, last;
  uint64_t bytes = 0;
  trace_cursor_open(reader, thread, NULL, &first);
  last = first;
  trace_cursor_seek(&first, from_ticks);
  trace_cursor_seek(&last, to_ticks);
  size_t end = MIN(last.extent + 2, last.extents_end);
  for (size_t i = first.extent; i < end; i++)
    bytes += reader->file.extents[i].bytes;
  return bytes;
}

static void report(const struct trace_cursor *cursor, const char *fault)
{
  assert(cursor->extent);
  const struct stream_extents *file = &cursor->reader->file;
  const struct stream_extent *extent = &file->extents[cursor->extent - 1];
  if (cursor->problems && extent->owner)
    problems_add(cursor->problems, "%s: thread %u, extent %u at offset %zu: %s: a gap in the timeline", file->path,
                 extent->owner, extent->first, extent->offset, fault);
  else if (cursor->problems)
    problems_add(cursor->problems,
                 "%s: devices, extent %u at offset %zu: %s: some operations of devices are missing in the timeline",
                 file->path, extent->first, extent->offset, fault);
}

/* Moves to the next extent that can be read.  Returns false after the last one. */
static bool next_extent(struct trace_cursor *cursor)
{
  assert(cursor->extent <= cursor->extents_end);
  const struct stream_extents *file = &cursor->reader->file;
  trace_cursor_close(cursor);
  cursor->size = cursor->offset = 0;
  while (cursor->extent < cursor->extents_end) {
    char message[256];
    const struct stream_extent *extent = &file->extents[cursor->extent++];
    if (extent->first < cursor->number)
      continue; /* a second copy of an extent */
    cursor->missing = cursor->missing || extent->first > cursor->number;
    cursor->number = extent->first + 1;
    const char *fault = stream_extents_decode(file, extent, STREAM_EXTENTS_MAX, &cursor->bytes, &cursor->size, message);
    cursor->timed = cursor->begun = cursor->chunk_begun = false;
    cursor->holder = 0;
    if (!fault)
      return true;
    report(cursor, fault);
  }
  return false;
}

/* The state clock advances to that time. */
static void span_event(struct trace_cursor *cursor, uint64_t end, struct trace_event *event)
{
  assert(end >= cursor->state_clock);
  event->begin_ticks = shifted(cursor->state_clock, TRACELOG_STATE_SHIFT);
  event->end_ticks = shifted(end, TRACELOG_STATE_SHIFT);
  cursor->state_clock = end;
}

/* Nothing is known until then; what was to begin with the next state is not known either. */
static void gap_event(struct trace_cursor *cursor, uint64_t end, struct trace_event *event)
{
  *event = (struct trace_event){.kind = TRACE_EVENT_GAP};
  span_event(cursor, end, event);
  cursor->begun = cursor->chunk_begun = false;
  cursor->holder = 0;
  memset(cursor->ready, 0, sizeof cursor->ready);
}

/* An extent begins: what is missing before it is a gap.  Returns whether there is one. */
static bool start_extent(struct trace_cursor *cursor, const struct tracelog_record *record, struct trace_event *event)
{
  uint64_t clock = record->operand[0], before = cursor->state_clock;
  bool gap = cursor->started && clock > before;
  cursor->timed = true;
  cursor->sample_clock = MAX(cursor->sample_clock, record->operand[1]);
  if (!cursor->started)
    cursor->state_clock = clock;
  cursor->started = true;
  if (!gap)
    return false;
  gap_event(cursor, clock, event);
  return true;
}

static void add_ready(struct trace_event_ready *sum, const struct trace_event_ready *more)
{
  model_add(&sum->preempted, more->preempted);
  model_add(&sum->of_own, more->of_own);
  model_add(&sum->woken, more->woken);
  model_add(&sum->wakes, more->wakes);
  model_add(&sum->no_core, more->no_core);
}

/* Keeps the figures of a state until its record follows.  At most two states wait for theirs. */
static void keep_ready(struct trace_cursor *cursor, const struct tracelog_record *record)
{
  uint64_t moment = MAX(model_sum(cursor->state_clock, record->operand[0]), 1);
  const struct trace_event_ready figures = {shifted(record->operand[1], TRACELOG_STATE_SHIFT),
                                            shifted(record->operand[2], TRACELOG_STATE_SHIFT),
                                            shifted(record->operand[3], TRACELOG_STATE_SHIFT), record->operand[4],
                                            shifted(record->operand[5], TRACELOG_STATE_SHIFT)};
  unsigned at = cursor->ready[0].moment && cursor->ready[0].moment != moment;
  cursor->ready[at].moment = moment;
  add_ready(&cursor->ready[at].figures, &figures);
}

/* Moves the figures that were kept for a state that ends at that time to its event. */
static void take_ready(struct trace_cursor *cursor, uint64_t end, struct trace_event_ready *ready)
{
  while (cursor->ready[0].moment && cursor->ready[0].moment < end) {
    add_ready(ready, &cursor->ready[0].figures);
    cursor->ready[0] = cursor->ready[1];
    memset(&cursor->ready[1], 0, sizeof cursor->ready[1]);
  }
}

/* The time of a parked thread without a processor may reach into the state that follows, in which it waits for the
 * region's other threads. */
static void keep_excess(struct trace_cursor *cursor, uint64_t length, struct trace_event_ready *ready)
{
  uint64_t excess = model_difference(ready->preempted, length);
  if (!excess)
    return;
  ready->preempted = length;
  if (!cursor->ready[0].moment)
    cursor->ready[0].moment = MAX(cursor->state_clock, 1);
  model_add(&cursor->ready[0].figures.preempted, excess);
}

static void state_event(struct trace_cursor *cursor, const struct tracelog_record *record, struct trace_event *event)
{
  bool blocked = record->form == TRACELOG_OTHER;
  *event = (struct trace_event){.kind = TRACE_EVENT_STATE,
                                .code = record->operand[0],
                                .begun = cursor->begun || record->form == TRACELOG_BEGUN,
                                .chunk = cursor->chunk_begun,
                                .blocked = blocked,
                                .lock_wait = blocked && record->op == TRACELOG_LOCK_WAIT,
                                .mpi = blocked && record->op == TRACELOG_MPI,
                                .holder = cursor->holder};
  span_event(cursor, model_sum(cursor->state_clock, record->operand[1]), event);
  take_ready(cursor, cursor->state_clock, &event->ready);
  uint64_t own = shifted(record->form == TRACELOG_STATE_OWN ? record->operand[2] : 0, TRACELOG_STATE_SHIFT);
  uint64_t all = event->end_ticks - event->begin_ticks;
  event->own_ticks = MIN(own, all);
  keep_excess(cursor, all, &event->ready);
  cursor->begun = cursor->chunk_begun = false;
  cursor->holder = 0;
}

static void sample_event(struct trace_cursor *cursor, const struct tracelog_record *record, struct trace_event *event)
{
  uint64_t last = shifted(cursor->sample_clock, TRACELOG_SAMPLE_SHIFT);
  model_add(&cursor->sample_clock, record->operand[0]);
  uint64_t time = shifted(cursor->sample_clock, TRACELOG_SAMPLE_SHIFT), node = record->operand[1];
  *event = (struct trace_event){.kind = TRACE_EVENT_SAMPLE,
                                .begin_ticks = time,
                                .end_ticks = time,
                                .sample = (enum tracelog_sample_kind)(record->op & TRACELOG_SAMPLE_KIND),
                                .node = (uint32_t)MIN(node, UINT32_MAX),
                                .weight = record->operand[2],
                                .last_ticks = last,
                                .tool_ns = shifted(record->operand[3], TRACELOG_NS_SHIFT),
                                .delay_ns = shifted(record->operand[4], TRACELOG_NS_SHIFT)};
}

static void charge_event(const struct trace_cursor *cursor, const struct tracelog_record *record,
                         struct trace_event *event)
{
  uint64_t time = shifted(cursor->state_clock, TRACELOG_STATE_SHIFT), node = record->operand[0];
  *event = (struct trace_event){.kind = TRACE_EVENT_CHARGE,
                                .begin_ticks = time,
                                .end_ticks = time,
                                .node = (uint32_t)MIN(node, UINT32_MAX),
                                .samples = record->operand[1],
                                .ns = record->operand[2],
                                .per_busy_ns = record->operand[3],
                                .in_use_ns = record->operand[4]};
}

static void count_event(const struct trace_cursor *cursor, const struct tracelog_record *record,
                        struct trace_event *event)
{
  bool user = record->op == TRACELOG_USER_COUNT;
  uint64_t clock = model_sum(cursor->sample_clock, record->operand[0]), name = record->operand[2];
  uint64_t node = 0, duration = 0;
  if (user)
    node = record->operand[1];
  else
    duration = record->operand[1];
  *event = (struct trace_event){.kind = user ? TRACE_EVENT_USER_COUNT : TRACE_EVENT_EVENT_COUNT,
                                .begin_ticks = shifted(clock - MIN(duration, clock), TRACELOG_SAMPLE_SHIFT),
                                .end_ticks = shifted(clock, TRACELOG_SAMPLE_SHIFT),
                                .node = (uint32_t)MIN(node, UINT32_MAX),
                                .counter = (uint32_t)MIN(name, UINT32_MAX),
                                .value = record->operand[3]};
}

static void operation_event(const struct tracelog_record *record, struct trace_event *event)
{
  uint64_t begin = record->operand[2], end = model_sum(begin, record->operand[3]);
  *event = (struct trace_event){.kind = TRACE_EVENT_OPERATION,
                                .begin_ticks = shifted(begin, TRACELOG_STATE_SHIFT),
                                .end_ticks = shifted(end, TRACELOG_STATE_SHIFT),
                                .thread = (uint32_t)MIN(record->operand[0], UINT32_MAX),
                                .record = (uint32_t)MIN(record->operand[1], UINT32_MAX)};
}

/* Takes an operation other than a state.  Returns whether it is an event. */
static bool take_other(struct trace_cursor *cursor, const struct tracelog_record *record, struct trace_event *event)
{
  if (record->op < TRACELOG_START) {
    sample_event(cursor, record, event);
    return true;
  }
  switch (record->op) {
  case TRACELOG_START:
    return start_extent(cursor, record, event);
  case TRACELOG_BLOCKED:
  case TRACELOG_LOCK_WAIT:
  case TRACELOG_MPI:
    state_event(cursor, record, event);
    return true;
  case TRACELOG_GAP:
    gap_event(cursor, model_sum(cursor->state_clock, record->operand[0]), event);
    return true;
  case TRACELOG_CHARGE:
    charge_event(cursor, record, event);
    return true;
  case TRACELOG_BEGIN:
    cursor->begun = true;
    return false;
  case TRACELOG_CHUNK:
    cursor->chunk_begun = true;
    return false;
  case TRACELOG_USER_COUNT:
  case TRACELOG_EVENT_COUNT:
    count_event(cursor, record, event);
    return cursor->counts;
  case TRACELOG_READY:
    keep_ready(cursor, record);
    return false;
  case TRACELOG_OPERATION:
    operation_event(record, event);
    return cursor->devices;
  default: /* TRACELOG_HOLDER */
    cursor->holder = record->operand[0] < UINT32_MAX ? (uint32_t)record->operand[0] : 0;
    return false;
  }
}

bool trace_cursor_next(struct trace_cursor *cursor, struct trace_event *event)
{
  for (;;) {
    struct tracelog_record record;
    bool damaged = false;
    if (!tracelog_next(cursor->bytes, cursor->size, &cursor->offset, &record, &damaged)) {
      if (damaged)
        report(cursor, "invalid operation");
      if (!next_extent(cursor))
        return false;
      continue;
    }
    if (!cursor->timed && (record.form != TRACELOG_OTHER || record.op != TRACELOG_START)) {
      report(cursor, "it does not begin with a time");
      cursor->offset = cursor->size;
      continue;
    }
    if (record.form != TRACELOG_OTHER) {
      state_event(cursor, &record, event);
      return true;
    }
    if (take_other(cursor, &record, event))
      return true;
  }
}
