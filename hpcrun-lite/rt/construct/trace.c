#include "hpcrun-lite/rt/construct/trace.h"

enum { HOLDERS = 256 };

struct trace_process trace_process;
static struct stream_file file;
static struct stream operations; /* of devices */

/* Who acquired a lock last: of its wait id the lower half, then the thread's index.  A lock that shares a place with
 * another one may have no holder. */
static _Atomic uint64_t holders[HOLDERS];

void trace_start(const char *path, enum rt_trace what, uint64_t limit, bool keep_last)
{
  bool started = stream_start(&file, path, FORMAT_TRACE, limit, keep_last);
  operations = (struct stream){0};
  trace_process = (struct trace_process){started ? what : RT_TRACE_OFF, limit, keep_last};
  if (!started)
    rt_lost(NULL, FORMAT_LOST_TRACE);
  for (unsigned i = 0; i < HOLDERS; i++)
    atomic_store_explicit(&holders[i], 0, memory_order_relaxed); /* those of the parent process */
}

void trace_stop(struct thread_state *threads)
{
  trace_process.what = RT_TRACE_OFF;
  for (struct thread_state *t = threads; t; t = t->next)
    trace_of(t)->on = trace_of(t)->states = false;
}

struct stream_file *trace_file(void)
{
  return &file;
}

void trace_end_states(struct thread_state *threads)
{
  if (trace_process.what == RT_TRACE_STATES)
    trace_process.what = RT_TRACE_SAMPLES;
  for (struct thread_state *t = threads; t; t = t->next) {
    if (trace_of(t)->states)
      rt_lost(t, FORMAT_LOST_TRACE);
    trace_of(t)->states = false;
  }
}

void trace_start_thread(struct thread_state *t)
{
  uint64_t begin = t->record->construct_since;
  counts_of(t)->attend = trace_process.what == RT_TRACE_STATES;
  *trace_of(t) =
      (struct trace_stream){.on = trace_process.what != RT_TRACE_OFF,
                            .states = trace_process.what == RT_TRACE_STATES,
                            .pauses = atomic_load(&rt.pauses),
                            .state_clock = trace_process.what == RT_TRACE_STATES ? begin >> TRACELOG_STATE_SHIFT : 0,
                            .sample_clock = begin >> TRACELOG_SAMPLE_SHIFT};
}

void trace_stop_thread(struct thread_state *t)
{
  struct trace_stream *trace = trace_of(t);
  trace->on = trace->states = false;
  stream_end(&file, &trace->stream);
}

void trace_forget_thread(struct thread_state *t)
{
  stream_close(&file, &trace_of(t)->stream);
}

void trace_forget_devices(void)
{
  stream_close(&file, &operations);
}

/* ---- records ---- */

static inline uint8_t *put_first(uint8_t *at, enum tracelog_form form, unsigned rest)
{
  *at++ = (uint8_t)(rest << 2 | form);
  return at;
}

/* Counts a loss after which the thread goes on: one in its own record says that its stream may have ended.  The record
 * of the process has it at once, because the process may be killed before a sample brings that up to date. */
static void lost_before(void)
{
  rt_lost(NULL, FORMAT_LOST_TRACE);
  struct format_process *record = atomic_load(&rt.record);
  if (record)
    record->lost[FORMAT_LOST_TRACE] = atomic_load_explicit(&rt.lost[FORMAT_LOST_TRACE], memory_order_relaxed);
}

static bool window_next(struct thread_state *t) __attribute__((noinline));
static bool window_next(struct thread_state *t)
{
  struct trace_stream *trace = trace_of(t);
  struct stream *stream = &trace->stream;
  if (stream->ended)
    return false;
  bool lost, goes_on = stream_next(&file, stream, t->index, rt_ticks(), &lost);
  if (lost && goes_on)
    lost_before();
  else if (lost)
    rt_lost(t, FORMAT_LOST_TRACE);
  if (!goes_on)
    return false;
  uint8_t *at = put_first(stream->at, TRACELOG_OTHER, TRACELOG_START);
  at = leb128_put(at, trace->state_clock);
  stream_begin(stream, leb128_put(at, trace->sample_clock));
  return true;
}

/* Room for one operation. */
static inline bool has_room(struct thread_state *t)
{
  return stream_has_room(&trace_of(t)->stream, TRACELOG_RECORD_MAX) || window_next(t);
}

void trace_put_op(struct thread_state *t, enum tracelog_op op, unsigned count, const uint64_t *operands)
{
  struct trace_stream *trace = trace_of(t);
  if (!trace->on || !has_room(t))
    return;
  uint8_t *at = put_first(trace->stream.at, TRACELOG_OTHER, op);
  for (unsigned i = 0; i < count; i++)
    at = leb128_put(at, operands[i]);
  stream_publish(&trace->stream, at);
}

/* ---- states ---- */

/* Writes a state.  own: of TRACELOG_STATE_OWN.  Returns the address after it. */
static inline uint8_t *put_state(uint8_t *at, enum tracelog_form form, uint64_t code, uint64_t duration, uint64_t own)
{
  at = put_first(at, form, code < TRACELOG_CODE_MAX ? (unsigned)code : TRACELOG_CODE_MAX);
  if (__builtin_expect(code >= TRACELOG_CODE_MAX, false))
    at = leb128_put(at, code - TRACELOG_CODE_MAX);
  at = leb128_put(at, duration);
  return form == TRACELOG_STATE_OWN ? leb128_put(at, own) : at;
}

void trace_put_begun(struct thread_state *t, uint64_t code)
{
  if (has_room(t))
    stream_publish(&trace_of(t)->stream, put_state(trace_of(t)->stream.at, TRACELOG_BEGUN, code, 0, 0));
}

/* The thread's state clock advances.  Returns by how much. */
static inline uint64_t advance(struct thread_state *t, uint64_t now)
{
  uint64_t clock = now >> TRACELOG_STATE_SHIFT, before = trace_of(t)->state_clock;
  if (clock <= before)
    return 0;
  trace_of(t)->state_clock = clock;
  return clock - before;
}

/* As many changes of rt.pauses within one state make a gap, which is counted. */
enum { STATE_PAUSES = 8 };
_Static_assert((int)STATE_PAUSES <= (int)RT_PAUSES, "their times are kept");

enum { PARTS = 4 }; /* a state and what belongs to it are no longer than so many records, however often it was paused */
_Static_assert((1 + LEB128_MAX) + (2 + LEB128_MAX) + STATE_PAUSES * (1 + 2 * LEB128_MAX) + LEB128_MAX <=
                   PARTS * TRACELOG_RECORD_MAX,
               "the holder, an execution that begins, the parts of the state, its own work");

/* What the thread did; own: units of the runtime's own work, at the end. */
struct state {
  uint64_t code, own;
  enum tracelog_op blocked; /* the thread slept, or was in MPI: how that is written; 0: it did and was not */
};

/* Writes a state in which the thread neither slept nor waited for a known thread. */
static inline uint8_t *put_plain(uint8_t *at, uint64_t code, uint64_t duration, uint64_t own, bool begun)
{
  if (!own)
    return put_state(at, begun ? TRACELOG_BEGUN : TRACELOG_STATE, code, duration, 0);
  if (begun)
    at = put_first(at, TRACELOG_OTHER, TRACELOG_BEGIN);
  return put_state(at, TRACELOG_STATE_OWN, code, duration, own < duration ? own : duration);
}

/* A part of a state; gap: measuring was paused. */
static uint8_t *put_part(struct trace_stream *trace, uint8_t *at, const struct state *state, uint64_t duration,
                         uint64_t own, bool gap)
{
  if (!duration && !trace->begun)
    return at;
  bool begun = trace->begun;
  trace->begun = false;
  if ((gap || state->blocked) && begun)
    at = put_state(at, TRACELOG_BEGUN, state->code, 0, 0);
  if (gap)
    return duration ? leb128_put(put_first(at, TRACELOG_OTHER, TRACELOG_GAP), duration) : at;
  if (state->blocked)
    return leb128_put(leb128_put(put_first(at, TRACELOG_OTHER, state->blocked), state->code), duration);
  return put_plain(at, state->code, duration, own, begun);
}

/* A state that is not only its code and duration: it is cut where measuring was paused or went on. */
static uint8_t *put_special(struct trace_stream *trace, uint8_t *at, const struct state *state, uint64_t duration)
    __attribute__((noinline));
static uint8_t *put_special(struct trace_stream *trace, uint8_t *at, const struct state *state, uint64_t duration)
{
  uint32_t changes = atomic_load_explicit(&rt.pauses, memory_order_acquire);
  bool unknown = changes - trace->pauses >= STATE_PAUSES, gap = unknown || trace->pauses % 2;
  if (trace->holder && duration > state->own)
    at = leb128_put(put_first(at, TRACELOG_OTHER, TRACELOG_HOLDER), trace->holder);
  trace->holder = 0;
  if (unknown) {
    lost_before();
    trace->pauses = changes - (STATE_PAUSES - 1); /* of the latest, as many as a state may have */
  }
  for (; trace->pauses != changes; gap = trace->pauses % 2) {
    uint64_t change = atomic_load_explicit(&rt.paused_at[trace->pauses % RT_PAUSES], memory_order_relaxed);
    uint64_t clock = change >> TRACELOG_STATE_SHIFT, begin = trace->state_clock - duration;
    if (clock > trace->state_clock)
      break;
    uint64_t part = clock > begin ? clock - begin : 0;
    at = put_part(trace, at, state, part, 0, gap);
    duration -= part;
    trace->pauses++;
  }
  return put_part(trace, at, state, duration, state->own, gap);
}

static inline bool has_paused(const struct trace_stream *trace)
{
  uint32_t pauses = atomic_load_explicit(&rt.pauses, memory_order_relaxed);
  return pauses != trace->pauses || pauses % 2;
}

/* A window begins with the clocks at that moment, so it is taken before they advance.  Without one, what the thread did
 * until now is a gap before the next window. */
static inline bool room_for_state(struct thread_state *t, uint64_t now)
{
  struct trace_stream *trace = trace_of(t);
  if (__builtin_expect(stream_has_room(&trace->stream, PARTS * TRACELOG_RECORD_MAX), true) || window_next(t))
    return true;
  advance(t, now);
  trace->own = trace->holder = trace->begun = 0;
  return false;
}

/* The units of the runtime's own work in a wait.  What is left of it counts in the next wait. */
static inline uint64_t take_own(struct trace_stream *trace, uint64_t duration)
{
  enum { LEFT_MAX = 2 << TRACELOG_STATE_SHIFT };
  uint64_t own = trace->own >> TRACELOG_STATE_SHIFT;
  own = own < duration ? own : duration;
  uint64_t left = trace->own - (own << TRACELOG_STATE_SHIFT);
  trace->own_left = left < LEFT_MAX ? left : LEFT_MAX;
  trace->own = 0;
  return own;
}

void trace_put_state(struct thread_state *t, uint64_t now, uint64_t code)
{
  struct trace_stream *trace = trace_of(t);
  if (!room_for_state(t, now))
    return;
  uint64_t duration = advance(t, now), own = trace->own ? take_own(trace, duration) : 0;
  if (!duration && !trace->begun)
    return;
  uint8_t *at = trace->stream.at;
  if (__builtin_expect(trace->holder || has_paused(trace), false))
    at = put_special(trace, at, &(struct state){.code = code, .own = own}, duration);
  else
    at = put_plain(at, code, duration, own, trace->begun);
  trace->begun = false;
  stream_publish(&trace->stream, at);
}

void trace_end_ready(struct thread_state *t, uint64_t moment, const struct trace_ready *ready)
{
  uint64_t clock = moment >> TRACELOG_STATE_SHIFT, last = trace_of(t)->state_clock;
  const uint64_t operands[] = {clock > last ? clock - last : 0,
                               ready->preempted >> TRACELOG_STATE_SHIFT,
                               ready->of_own >> TRACELOG_STATE_SHIFT,
                               ready->woken >> TRACELOG_STATE_SHIFT,
                               ready->wakes,
                               ready->no_core >> TRACELOG_STATE_SHIFT};
  trace_put_op(t, TRACELOG_READY, sizeof operands / sizeof *operands, operands);
}

void trace_put_ready(struct thread_state *t, uint64_t moment, const struct trace_ready *ready)
{
  rt_inside_inc(t);
  if (!rt_graph_suspended())
    trace_end_ready(t, moment, ready);
  rt_inside_dec(t);
}

/* ---- operations of devices ---- */

static bool operations_have_room(void)
{
  bool lost;
  if (stream_has_room(&operations, TRACELOG_RECORD_MAX))
    return true;
  uint64_t now = rt_ticks();
  bool goes_on = stream_next(&file, &operations, 0, now, &lost);
  if (lost)
    lost_before();
  if (goes_on) {
    uint8_t *at = leb128_put(put_first(operations.at, TRACELOG_OTHER, TRACELOG_START), now >> TRACELOG_STATE_SHIFT);
    stream_begin(&operations, leb128_put(at, now >> TRACELOG_SAMPLE_SHIFT));
  }
  return goes_on;
}

void trace_put_operation(const struct format_device_times *of, uint64_t begin, uint64_t end)
{
  if (trace_process.what != RT_TRACE_STATES || !operations_have_room())
    return;
  uint64_t clock = begin >> TRACELOG_STATE_SHIFT, duration = (end >> TRACELOG_STATE_SHIFT) - clock;
  uint8_t *at = put_first(operations.at, TRACELOG_OTHER, TRACELOG_OPERATION);
  at = leb128_put(leb128_put(at, of->thread), of->record);
  stream_publish(&operations, leb128_put(leb128_put(at, clock), duration));
}

/* ---- locks ---- */

static _Atomic uint64_t *holder_of(uint64_t wait_id)
{
  return &holders[wait_id * 0x9e3779b97f4a7c15ULL >> 56];
}

void trace_put_lock_wait(struct thread_state *t, uint64_t wait_id)
{
  uint64_t holder = atomic_load_explicit(holder_of(wait_id), memory_order_relaxed);
  bool known = holder >> 32 == (uint32_t)wait_id && (uint32_t)holder != t->index;
  trace_of(t)->holder = known ? (uint32_t)holder : 0;
}

void trace_put_lock_held(struct thread_state *t, uint64_t wait_id)
{
  atomic_store_explicit(holder_of(wait_id), wait_id << 32 | t->index, memory_order_relaxed);
}

/* ---- sleep ---- */

/* Raises `inside`, unless CTL reads the streams, or the thread may be writing. */
static bool enter(struct thread_state *t)
{
  if (!trace_of(t)->states || t->inside)
    return false;
  rt_inside_inc(t);
  if (!rt_graph_suspended())
    return true;
  rt_inside_dec(t);
  return false;
}

void trace_sleeps(struct thread_state *t, uint64_t now)
{
  if (!enter(t))
    return;
  t->record->blocked_since = now;
  trace_put_state(t, now, trace_open_code(t));
  rt_inside_dec(t);
}

void trace_put_slept(struct thread_state *t, uint64_t now, enum tracelog_op how)
{
  struct trace_stream *trace = trace_of(t);
  uint64_t duration = room_for_state(t, now) ? advance(t, now) : 0;
  if (!duration)
    return;
  const struct state state = {.code = trace_open_code(t), .blocked = how};
  stream_publish(&trace->stream, put_special(trace, trace->stream.at, &state, duration));
}

void trace_slept(struct thread_state *t, uint64_t now, enum tracelog_op how, bool inside)
{
  bool recorded = t->record->blocked_since; /* otherwise trace_sleeps() could not write the state before */
  t->record->blocked_since = 0;
  if (!recorded)
    return;
  if (inside && trace_of(t)->states) {
    trace_put_slept(t, now, how);
  } else if (!inside && enter(t)) {
    trace_put_slept(t, now, how);
    rt_inside_dec(t);
  }
}

/* ---- the end, and what follows if the program goes on ---- */

enum { ENDS = (3 * PARTS + 1) * TRACELOG_RECORD_MAX }; /* room for the states at the end: see waiting_end_trace() */

void trace_leave_window(struct thread_state *t)
{
  struct stream *stream = &trace_of(t)->stream, before = *stream;
  if (stream_has_room(stream, ENDS + 2 * counts_process.count * TRACELOG_RECORD_MAX))
    return;
  stream_leave(stream);
  if (window_next(t))
    return;
  before.ended = stream->ended;
  before.again = stream->again;
  *stream = before; /* there is no other one: what room there is may do */
}

bool trace_take_back(struct thread_state *t, const struct trace_stream *before)
{
  struct trace_stream *trace = trace_of(t);
  if (trace->stream.extent != before->stream.extent)
    return false;
  *trace = *before;
  if (trace->stream.extent)
    stream_publish(&trace->stream, trace->stream.at);
  return true;
}

void trace_put_gap(struct thread_state *t, uint64_t now)
{
  struct trace_stream *trace = trace_of(t);
  uint64_t duration = advance(t, now);
  if (stream_has_room(&trace->stream, TRACELOG_RECORD_MAX)) /* otherwise the thread's next window begins later */
    trace_put_op(t, TRACELOG_GAP, 1, &duration);
  trace->own = trace->holder = trace->begun = 0;
}
