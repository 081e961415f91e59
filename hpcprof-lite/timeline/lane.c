#include "hpcprof-lite/timeline/lane.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/exact_waits.h"
#include "hpcprof-lite/input/thread_states.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  PENDING_MAX = 4096,    /* pieces that wait for a sample */
  SAMPLES_MAX = 4 << 20, /* samples in one state */
  USUAL_PERIODS = 4,     /* of samples: a longer difference is chance */
  TOOL_NS = 50000,       /* time in the tool in waits is collected until it is longer */
  SLICE_NS = 500000      /* a thread that loses its processor in the runtime's code does so for longer */
};

int lane_process_open(const struct profile_process *process, uint64_t run_start_ns, struct problems *problems,
                      struct lane_process *lanes)
{
  *lanes = (struct lane_process){.process = process,
                                 .trace = {.file = {.fd = -1}},
                                 .offset_ns = process->start_ns > run_start_ns ? process->start_ns - run_start_ns : 0,
                                 .with_constructs = (process->flags & PROCESS_ONLINE) != 0};
  int status = trace_reader_open(process->path, problems, &lanes->trace);
  if (status || !lanes->trace.file.count)
    return status;
  if (process->workspan.tick_ns <= 0) {
    problems_add(problems, "%s: the rate of the time-stamp counter is not known: its trace is left out", process->path);
    trace_reader_close(&lanes->trace);
    return ERR_INPUT;
  }
  status = read_open_again(process->path, problems, &lanes->file);
  if (status)
    trace_reader_close(&lanes->trace);
  else
    lanes->period_ns = read_period(lanes->file, read_column_of(lanes->file, COLUMN_WORK));
  return status;
}

void lane_process_close(struct lane_process *lanes)
{
  read_close(lanes->file);
  lanes->file = NULL;
  trace_reader_close(&lanes->trace);
}

/* ---- a lane ---- */

struct sample {
  uint64_t ns;
  enum tracelog_sample_kind kind;
  uint32_t node;
  uint64_t since_ns; /* of the sample before */
  size_t extent;     /* in which it was */
  uint64_t weight_ns, tool_ns, delay_ns;
};

/* What exact_waits_leave_ready() has left of a code's waits, in that extent of the trace. */
struct left {
  double ns;
  size_t extent;
};

struct lane {
  const struct lane_process *of;
  const struct profile_thread *thread;
  struct format_construct *constructs;
  bool *awaited; /* [construct] the thread waits for a device there */
  struct format_wait *waits;
  uint32_t constructs_count, waits_count;
  double runtime_part; /* see exact_waits_runtime_part() */
  struct exact_waits_delay delay;
  struct left *left; /* [code] */
  uint32_t codes_count;
  struct exact_waits_tool tool;
  double tool_busy_part;      /* of the thread's time in the tool: outside waits */
  double tool_deferred_ns[2]; /* in waits so far, and not made of them yet: [0] of other waits, [1] of locks */
  struct thread_trace trace;
  uint64_t start_ns, end_ns; /* the thread's life */
  uint64_t from_ns, to_ns;   /* the part of it that is delivered */
  uint64_t at_ns;            /* everything before is in `pending`, or delivered */
  struct sample *samples;    /* in the state that has not ended */
  size_t samples_count, samples_room;
  struct lane_interval *pending;                          /* what is known, in order; the first ones are delivered */
  size_t pending_count, pending_room, delivered, settled; /* settled: these wait for no sample */
  uint64_t early_ns, early_overhead_ns;   /* work and overhead since the last sample that is settled without it */
  uint64_t deferred[TIMELINE_CATEGORIES]; /* what samples say of such work: that is made of the next one */
  /* since the beginning of an extent, so that a part of the lane is like the whole: */
  size_t extent;             /* the number of that extent */
  int64_t credit_ns;         /* by how much samples say that the thread ran longer than was made of its busy time */
  uint64_t overhead_ns;      /* overhead of samples that was longer than the work around them */
  struct lane_interval last; /* the piece added last */
  bool samples_left_out;
  bool outside; /* there was no state yet, or none follows */
  bool ended;
};

uint64_t lane_ticks(const struct lane_process *lanes, uint64_t ns)
{
  const struct profile_process *process = lanes->process;
  double since = (double)model_difference(ns, lanes->offset_ns);
  return model_sum(process->start_ticks, model_rounded(since / profile_tick_ns(process)));
}

uint64_t lane_ns(const struct lane_process *lanes, uint64_t ticks)
{
  const struct profile_process *process = lanes->process;
  double since = ticks > process->start_ticks ? (double)(ticks - process->start_ticks) : 0;
  return model_sum(lanes->offset_ns, model_rounded(since * profile_tick_ns(process)));
}

void lane_life(const struct lane_process *lanes, uint32_t position, uint64_t *start_ns, uint64_t *end_ns)
{
  assert(position < lanes->process->threads_count);
  const struct profile_thread *thread = &lanes->process->threads[position];
  *start_ns = model_sum(lanes->offset_ns, profile_corrected_ns(lanes->process, thread->start_ns));
  uint64_t end = thread_life_end_ns(lanes->process, thread);
  *end_ns = model_sum(lanes->offset_ns, profile_corrected_ns(lanes->process, end));
}

/* The same within the thread's life. */
static uint64_t at_ns(const struct lane *lane, uint64_t ticks)
{
  uint64_t ns = lane_ns(lane->of, ticks);
  return MIN(MAX(ns, lane->start_ns), lane->end_ns);
}

/* Takes the time without a processor out of the figures of wait sites. */
static void leave_ready(struct lane *lane)
{
  double tick_ns = lane->of->process->workspan.tick_ns;
  lane->delay = exact_waits_delay(lane->thread, lane->waits, lane->waits_count, tick_ns);
  for (uint32_t i = 0; i < lane->waits_count && tick_ns > 0; i++)
    exact_waits_leave_ready(&lane->waits[i], &lane->delay, tick_ns, NULL);
}

struct lane *lane_open(const struct lane_process *lanes, uint32_t position, uint64_t from_ns, uint64_t to_ns,
                       struct problems *problems)
{
  assert(position < lanes->process->threads_count && lanes->file);
  const struct profile_process *process = lanes->process;
  const struct profile_thread *thread = &process->threads[position];
  uint64_t start_ns, end_ns;
  lane_life(lanes, position, &start_ns, &end_ns);
  from_ns = MAX(from_ns, start_ns);
  to_ns = MIN(to_ns, end_ns);
  if (from_ns >= to_ns)
    return NULL;
  struct lane *lane = xmalloc(sizeof *lane);
  struct problems ignored = {0};
  struct read_file *file = read_another(lanes->file);
  *lane = (struct lane){.of = lanes,
                        .thread = thread,
                        .start_ns = start_ns,
                        .end_ns = end_ns,
                        .from_ns = from_ns,
                        .to_ns = to_ns,
                        .at_ns = start_ns,
                        .outside = true};
  lane->waits = read_table(file, thread->index, FORMAT_WAITS, &ignored, &lane->waits_count);
  if (lanes->with_constructs)
    lane->constructs = read_table(file, thread->index, FORMAT_CONSTRUCTS, &ignored, &lane->constructs_count);
  lane->awaited = xcalloc(lane->constructs_count, sizeof *lane->awaited);
  lane->codes_count = lanes->with_constructs ? lane->constructs_count * CONSTRUCT_TIMES : lane->waits_count + 1;
  lane->left = xcalloc(lane->codes_count, sizeof *lane->left);
  thread_states_awaited(lanes->file, lane->constructs, lane->constructs_count, lane->awaited);
  leave_ready(lane);
  lane->tool = exact_waits_tool(process, lane->waits, lane->waits_count);
  lane->tool_busy_part = lane->tool.ns > 0 ? fmax(0, 1 - lane->tool.ns / (double)thread->tool_ns) : 1;
  lane->runtime_part = exact_waits_runtime_part(
      thread, exact_waits_runtime_ns(lane->waits, lane->waits_count, lanes->process->workspan.tick_ns));
  const struct thread_life life = thread_life_of(file, process, thread, lane->waits, lane->waits_count);
  free(file);
  problems_release(&ignored);
  thread_trace_open(&lanes->trace, &life, problems, &lane->trace);
  if (from_ns > start_ns)
    trace_cursor_seek(&lane->trace.cursor, lane_ticks(lanes, from_ns));
  return lane;
}

void lane_close(struct lane *lane)
{
  if (!lane)
    return;
  thread_trace_close(&lane->trace);
  free(lane->constructs);
  free(lane->awaited);
  free(lane->left);
  free(lane->waits);
  free(lane->samples);
  free(lane->pending);
  free(lane);
}

/* ---- states ---- */

/* What a thread does in a construct. */
static uint32_t construct_category(const struct lane *lane, uint64_t record, uint32_t time)
{
  assert(time < CONSTRUCT_TIMES);
  const struct format_construct *construct = record < lane->constructs_count ? &lane->constructs[record] : NULL;
  if (time == CONSTRUCT_TIME_BODY && construct && lane->awaited[record])
    return TIMELINE_DEVICE;
  if (time == CONSTRUCT_TIME_BODY || (!record && time == CONSTRUCT_TIME_ENTER))
    return TIMELINE_WORK;
  if (record && !construct)
    return time == CONSTRUCT_TIME_WAIT ? TIMELINE_IDLE : TIMELINE_GAP;
  uint32_t wait = thread_states_wait(construct, !record, time);
  if (wait == MODEL_NONE)
    return TIMELINE_OVERHEAD;
  return wait == FORMAT_WAIT_LOCK ? TIMELINE_LOCK_WAIT : TIMELINE_IDLE;
}

static uint32_t site_category(const struct lane *lane, uint64_t site)
{
  if (!site)
    return TIMELINE_WORK;
  if (site > lane->waits_count)
    return TIMELINE_GAP;
  return lane->waits[site - 1].kind == FORMAT_WAIT_LOCK ? TIMELINE_LOCK_WAIT : TIMELINE_IDLE;
}

/* The category and record of a code. */
static struct lane_interval state_of(const struct lane *lane, uint64_t code)
{
  if (!lane->of->with_constructs)
    return (struct lane_interval){.category = site_category(lane, code),
                                  .record = code <= lane->waits_count ? (uint32_t)code : 0};
  uint64_t record = code / CONSTRUCT_TIMES;
  bool known = !record || record < lane->constructs_count;
  return (struct lane_interval){.category = construct_category(lane, record, (uint32_t)(code % CONSTRUCT_TIMES)),
                                .record = known ? (uint32_t)record : MODEL_NONE};
}

/* Appends what the thread did from at_ns on until then. */
static void add(struct lane *lane, struct lane_interval piece, uint64_t end_ns)
{
  assert(piece.category < TIMELINE_CATEGORIES);
  piece.start_ns = lane->at_ns;
  piece.end_ns = end_ns;
  lane->last = piece;
  if (end_ns <= lane->at_ns)
    return;
  *XAPPEND(lane->pending, lane->pending_count, lane->pending_room) = piece;
  lane->at_ns = end_ns;
}

/* ---- samples ---- */

/* Makes room for one more piece at a place. */
static struct lane_interval *insert(struct lane *lane, size_t place)
{
  assert(place <= lane->pending_count);
  size_t after = lane->pending_count - place;
  XAPPEND(lane->pending, lane->pending_count, lane->pending_room);
  memmove(lane->pending + place + 1, lane->pending + place, after * sizeof *lane->pending);
  return &lane->pending[place];
}

/* Walks back over the pieces of one category that wait for a sample. */
struct walk {
  uint32_t from; /* that category */
  size_t place;  /* behind the piece that comes next */
};

static uint64_t length_of(const struct lane_interval *piece)
{
  assert(piece->start_ns <= piece->end_ns);
  return piece->end_ns - piece->start_ns;
}

/* Gives the next so many ns of that category, from the end backwards, a category and a context; the context only to
 * pieces of the same construct; of overhead, only what is divided counts.  Returns what was not found. */
static uint64_t mark(struct lane *lane, struct walk *walk, uint64_t ns, uint32_t category, uint32_t record,
                     uint32_t node)
{
  assert(walk->place <= lane->pending_count && category < TIMELINE_CATEGORIES);
  while (ns && walk->place > lane->settled) {
    struct lane_interval *piece = &lane->pending[walk->place - 1];
    uint64_t length = length_of(piece);
    if (piece->category != walk->from || (walk->from == TIMELINE_OVERHEAD && !piece->divided)) {
      walk->place--;
      continue;
    }
    if (length > ns) { /* only its end */
      struct lane_interval *remaining = insert(lane, walk->place);
      piece = remaining - 1;
      *remaining = *piece;
      remaining->start_ns = piece->end_ns = piece->end_ns - ns;
      remaining->begins = false;
      length = ns;
      piece = remaining;
    } else {
      walk->place--;
    }
    piece->category = category;
    if (piece->record == record && node)
      piece->node = node;
    ns -= length;
  }
  return ns;
}

/* So many ns of the work before a sample were of that category, but are settled. */
static void defer(struct lane *lane, uint32_t category, uint64_t ns)
{
  assert(category < TIMELINE_CATEGORIES);
  ns = MIN(ns, lane->early_ns);
  lane->deferred[category] += ns;
  lane->early_ns -= ns;
}

/* Settles pieces without waiting for their sample.  Where states change so often, samples say how much of the work was
 * what, and not of which states. */
static void settle_early(struct lane *lane, size_t end)
{
  assert(end <= lane->pending_count);
  for (; lane->settled < end; lane->settled++) {
    struct lane_interval *piece = &lane->pending[lane->settled];
    uint64_t length = length_of(piece);
    lane->early_overhead_ns += piece->category == TIMELINE_OVERHEAD && !piece->in_wait ? length : 0;
    if (piece->category != TIMELINE_WORK)
      continue;
    lane->early_ns += length;
    uint32_t category = TIMELINE_WORK;
    while (category < TIMELINE_CATEGORIES && !lane->deferred[category])
      category++;
    if (category == TIMELINE_CATEGORIES)
      continue;
    piece->category = category;
    lane->deferred[category] -= MIN(length, lane->deferred[category]);
  }
}

/* States since the last sample in which the thread was busy, and how much of them it was not. */
struct busy {
  uint64_t work_ns, divided_ns, all_ns; /* divided: overhead that is; all: with the other overhead */
  uint64_t delay_ns, slept_ns;
  uint64_t elsewhere_ns; /* without a processor in waits */
};

/* Overhead is short, and all of it counts, unless its thread lost the processor meanwhile. */
static struct busy busy_since_sample(struct lane *lane)
{
  struct busy busy = {.work_ns = lane->early_ns, .all_ns = lane->early_ns + lane->early_overhead_ns};
  for (size_t i = lane->settled; i < lane->pending_count; i++) {
    struct lane_interval *piece = &lane->pending[i];
    uint64_t length = length_of(piece);
    bool overhead = piece->category == TIMELINE_OVERHEAD && !piece->in_wait;
    piece->divided = overhead && length >= SLICE_NS;
    busy.work_ns += piece->category == TIMELINE_WORK ? length : 0;
    busy.divided_ns += piece->divided ? length : 0;
    busy.all_ns += overhead || piece->category == TIMELINE_WORK ? length : 0;
    busy.elsewhere_ns += piece->category == TIMELINE_CORE_WAIT ? length : 0;
  }
  return busy;
}

/* Finds how long the thread waited for a processor or slept while it was busy.  Between two samples it ran for what the
 * second one stands for and was in the tool; the kernel counts how long it waited for a processor; the remaining time
 * it slept: in waits, as far as these are long enough.  What is left of the waits was like the busy time, unless
 * samples say how much of it was not.  hit: the sample was taken in busy time. */
static void find_remaining(struct lane *lane, const struct sample *sample, bool hit, struct busy *busy)
{
  uint64_t period_ns = lane->of->period_ns,
           elapsed_ns = sample->ns > sample->since_ns ? sample->ns - sample->since_ns : 0;
  elapsed_ns = model_difference(elapsed_ns, busy->elsewhere_ns);
  uint64_t sample_delay_ns = model_difference(sample->delay_ns, busy->elsewhere_ns);
  uint64_t waits_ns = elapsed_ns > busy->all_ns ? elapsed_ns - busy->all_ns : 0;
  uint64_t ran_ns = model_sum(sample->weight_ns, sample->tool_ns), known_ns = model_sum(ran_ns, sample_delay_ns);
  uint64_t slept_ns = elapsed_ns > known_ns ? elapsed_ns - known_ns : 0, in_waits_ns = MIN(slept_ns, waits_ns);
  slept_ns = MIN(slept_ns - in_waits_ns, busy->all_ns);
  busy->slept_ns = slept_ns > period_ns / 2 + period_ns / 8 ? slept_ns : 0; /* weights are right to half a period */
  uint64_t ready_ns = busy->all_ns - busy->slept_ns, ready_all_ns = model_sum(ready_ns, waits_ns - in_waits_ns);
  uint64_t most_ns = MIN(sample_delay_ns, ready_ns);
  uint64_t least_ns = ready_ns > ran_ns ? MIN(ready_ns - ran_ns, most_ns) : 0;
  if (least_ns == most_ns) {
    busy->delay_ns = most_ns;
    return;
  }
  double part = (double)most_ns * ((double)ready_ns / (double)ready_all_ns) - (double)lane->credit_ns;
  if (part < (double)least_ns)
    busy->delay_ns = least_ns;
  else
    busy->delay_ns = part > (double)most_ns ? most_ns : (uint64_t)part;
  int64_t limit_ns = (int64_t)MIN(USUAL_PERIODS * period_ns, INT64_MAX / 2);
  lane->credit_ns += (int64_t)MIN(hit ? ran_ns : sample->tool_ns, INT64_MAX / 4);
  lane->credit_ns -= (int64_t)MIN(ready_ns - busy->delay_ns, INT64_MAX / 4);
  lane->credit_ns = MIN(MAX(lane->credit_ns, -limit_ns), limit_ns);
}

/* Gives the last so many ns of work before a sample what the sample says of them. */
static void mark_ran(struct lane *lane, struct walk *walk, uint64_t ns, const struct sample *sample, bool runs)
{
  uint32_t record = lane->pending_count ? lane->pending[lane->pending_count - 1].record : 0;
  bool overhead = sample->kind == TRACELOG_OVERHEAD && runs;
  uint64_t limit_ns = model_sum(lane->overhead_ns, overhead ? sample->weight_ns : 0), earlier_ns = 0;
  if (!runs) { /* samples tell nothing else of it */
    earlier_ns = MIN(lane->overhead_ns, ns);
    mark(lane, walk, earlier_ns, TIMELINE_OVERHEAD, 0, 0);
  }
  uint64_t left_ns =
      mark(lane, walk, ns - earlier_ns, overhead ? TIMELINE_OVERHEAD : TIMELINE_WORK, record, runs ? sample->node : 0);
  defer(lane, overhead ? TIMELINE_OVERHEAD : TIMELINE_WORK, left_ns);
  limit_ns -= overhead ? MIN(ns, limit_ns) : earlier_ns;
  lane->overhead_ns = lane->of->period_ns ? MIN(limit_ns, USUAL_PERIODS * lane->of->period_ns) : 0;
}

/* Divides the time in which the thread was busy since the last sample.  tool_ns: of this, in the tool. */
static void divide_busy(struct lane *lane, const struct sample *sample, bool hit, bool runs, uint64_t tool_ns)
{
  struct busy busy = busy_since_sample(lane);
  if (lane->of->period_ns)
    find_remaining(lane, sample, hit, &busy);
  struct walk overhead = {TIMELINE_OVERHEAD, lane->pending_count};
  uint64_t delay_ns = mark(lane, &overhead, busy.delay_ns, TIMELINE_CORE_WAIT, 0, 0);
  uint64_t divided_ns = busy.divided_ns - (busy.delay_ns - delay_ns);
  struct walk work = {TIMELINE_WORK, lane->pending_count};
  uint64_t not_ns = model_sum(model_sum(tool_ns, delay_ns), busy.slept_ns);
  uint64_t ran_ns = busy.work_ns > not_ns ? busy.work_ns - not_ns : 0, found_ns = MIN(sample->weight_ns, busy.work_ns);
  if (runs && ran_ns < found_ns) /* it slept in the overhead rather than where it was found to run */
    ran_ns = MIN(found_ns, model_sum(ran_ns, divided_ns));
  mark_ran(lane, &work, ran_ns, sample, runs);
  defer(lane, TIMELINE_TOOL, mark(lane, &work, tool_ns, TIMELINE_TOOL, 0, 0));
  defer(lane, TIMELINE_CORE_WAIT, mark(lane, &work, delay_ns, TIMELINE_CORE_WAIT, 0, 0));
  uint64_t slept_ns = mark(lane, &work, busy.slept_ns, TIMELINE_BLOCKED, 0, 0);
  overhead = (struct walk){TIMELINE_OVERHEAD, lane->pending_count};
  defer(lane, TIMELINE_BLOCKED, mark(lane, &overhead, slept_ns, TIMELINE_BLOCKED, 0, 0));
}

/* What came before the sample before it does not wait for this one, which matters if that one was not read: because its
 * extent is missing, or a part of the lane begins here. */
static void settle_until(struct lane *lane, uint64_t ns)
{
  assert(lane->settled <= lane->pending_count);
  while (lane->settled < lane->pending_count && lane->pending[lane->settled].end_ns <= ns)
    lane->settled++;
  if (lane->settled == lane->pending_count || lane->pending[lane->settled].start_ns >= ns)
    return;
  struct lane_interval *remaining = insert(lane, lane->settled + 1), *first = remaining - 1;
  *remaining = *first;
  first->end_ns = remaining->start_ns = ns;
  remaining->begins = false;
  lane->settled++;
}

/* Applies a sample that was taken at the end of what is pending, in a state of that category. */
static void apply(struct lane *lane, const struct sample *sample, uint32_t category)
{
  bool hit = category == TIMELINE_WORK || category == TIMELINE_OVERHEAD;
  bool runs = category == TIMELINE_WORK && (sample->kind == TRACELOG_WORKS || sample->kind == TRACELOG_OVERHEAD);
  if (lane->extent != sample->extent) {
    lane->extent = sample->extent;
    lane->credit_ns = 0;
    lane->overhead_ns = 0;
    memset(lane->deferred, 0, sizeof lane->deferred);
  }
  settle_until(lane, sample->since_ns);
  divide_busy(lane, sample, hit, runs, model_rounded((double)sample->tool_ns * lane->tool_busy_part));
  lane->early_ns = lane->early_overhead_ns = 0;
  lane->settled = lane->pending_count;
}

/* Divides what follows the last sample.  The thread ran no longer than a sample stands for; else it slept, as far as it
 * slept at all, or waited for a processor.  If it was killed, neither is known: then it waited as long as is usual. */
static void divide_end(struct lane *lane)
{
  assert(lane->start_ns <= lane->end_ns);
  const struct profile_thread *thread = lane->thread;
  uint64_t life_ns = lane->end_ns - lane->start_ns, awake_ns = model_sum(thread->cpu_ns, thread->run_delay_ns);
  uint64_t period_ns = lane->of->period_ns, work_ns = busy_since_sample(lane).work_ns;
  struct walk walk = {TIMELINE_WORK, lane->pending_count};
  if (!period_ns || work_ns <= period_ns + period_ns / 2)
    return;
  uint64_t remaining_ns = work_ns - period_ns, slept_ns = life_ns > awake_ns ? life_ns - awake_ns : 0;
  bool killed = lane->of->process->unfinished && !thread->end_ns;
  uint64_t usual_ns = killed ? MIN(MIN(USUAL_PERIODS * period_ns, thread->run_delay_ns), remaining_ns) : 0;
  slept_ns = MIN(slept_ns, remaining_ns - usual_ns);
  mark(lane, &walk, slept_ns, TIMELINE_BLOCKED, 0, 0);
  mark(lane, &walk, MIN(remaining_ns - slept_ns, thread->run_delay_ns), TIMELINE_CORE_WAIT, 0, 0);
}

/* Appends a wait until then.  How much of all waits was in the tool is known exactly, but not of which ones. */
static void add_wait(struct lane *lane, struct lane_interval state, uint64_t end_ns)
{
  assert(state.category == TIMELINE_LOCK_WAIT || state.category == TIMELINE_IDLE);
  uint64_t length_ns = end_ns > lane->at_ns ? end_ns - lane->at_ns : 0, tool_ns = 0;
  bool lock = state.category == TIMELINE_LOCK_WAIT;
  lane->tool_deferred_ns[lock] += (double)length_ns * lane->tool.of_waiting[lock];
  if (lane->tool_deferred_ns[lock] >= TOOL_NS)
    tool_ns = MIN(model_rounded(lane->tool_deferred_ns[lock]), length_ns);
  lane->tool_deferred_ns[lock] -= (double)tool_ns;
  if (tool_ns) {
    struct lane_interval tool = state;
    tool.category = TIMELINE_TOOL;
    tool.holder = 0;
    add(lane, tool, lane->at_ns + tool_ns);
    state.begins = false;
  }
  add(lane, state, end_ns);
}

/* Appends a state until then, which its samples divide. */
static void add_state(struct lane *lane, struct lane_interval state, uint64_t end_ns)
{
  for (size_t i = 0; i < lane->samples_count; i++) {
    const struct sample *sample = &lane->samples[i];
    if (state.category == TIMELINE_WORK || state.category == TIMELINE_OVERHEAD) {
      uint64_t before = lane->pending_count;
      add(lane, state, MIN(sample->ns, end_ns));
      state.begins = state.begins && lane->pending_count == before;
    }
    apply(lane, sample, state.category);
  }
  lane->samples_count = 0;
  if (state.category == TIMELINE_IDLE || state.category == TIMELINE_LOCK_WAIT)
    add_wait(lane, state, end_ns);
  else
    add(lane, state, end_ns);
}

static void keep_sample(struct lane *lane, const struct trace_event *event)
{
  if (lane->samples_count >= SAMPLES_MAX) {
    if (!lane->samples_left_out && lane->trace.cursor.problems)
      problems_add(lane->trace.cursor.problems,
                   "%s: thread %u: more than %d samples in one state: the others are left out",
                   lane->of->trace.file.path, lane->thread->index, SAMPLES_MAX);
    lane->samples_left_out = true;
    return;
  }
  *XAPPEND(lane->samples, lane->samples_count, lane->samples_room) =
      (struct sample){.ns = at_ns(lane, event->end_ticks),
                      .kind = event->sample,
                      .node = event->node,
                      .extent = lane->trace.cursor.extent,
                      .since_ns = at_ns(lane, event->last_ticks),
                      .weight_ns = trace_event_weight(event, lane->of->period_ns),
                      .tool_ns = event->tool_ns,
                      .delay_ns = event->delay_ns};
}

/* ---- events ---- */

static const struct lane_interval gap = {.category = TIMELINE_GAP};

/* The part of a wait that was the runtime's own work: at the end, or where it set up the thread at the beginning.
 * Appends what comes first; *state becomes what follows. */
static void add_own(struct lane *lane, const struct trace_event *event, struct lane_interval *state)
{
  bool lock = state->category == TIMELINE_LOCK_WAIT;
  bool set_up = lane->of->with_constructs && thread_states_own_first(event->code, lock);
  struct lane_interval own = *state, first;
  own.category = TIMELINE_OVERHEAD;
  own.in_wait = !set_up;
  own.holder = 0;
  uint64_t length = event->own_ticks;
  if (!set_up) { /* what remains of it is waiting, or in the tool */
    double tool = (double)length * lane->tool.of_runtime[lock], ran = ((double)length - tool) * lane->runtime_part;
    double remaining_ns = ((double)length - ran) * lane->of->process->workspan.tick_ns;
    lane->tool_deferred_ns[lock] +=
        tool * lane->of->process->workspan.tick_ns - remaining_ns * lane->tool.of_waiting[lock];
    length = model_rounded(ran);
  }
  uint64_t end_ns = at_ns(lane, set_up ? event->begin_ticks + length : event->end_ticks - length);
  if (set_up) {
    first = own;
  } else {
    first = *state;
    *state = own;
  }
  state->begins = state->begins && end_ns <= lane->at_ns;
  add_state(lane, first, end_ns);
}

/* Appends the waiting part of a wait and, after it, the time in which the thread, or another one, had no processor.
 * *event and *state become what follows: the runtime's own work. */
static void add_ready(struct lane *lane, struct trace_event *event, struct lane_interval *state)
{
  double tick_ns = lane->of->process->workspan.tick_ns;
  bool lock = state->category == TIMELINE_LOCK_WAIT;
  bool set_up = event->own_ticks && lane->of->with_constructs && thread_states_own_first(event->code, lock);
  uint64_t own = set_up ? 0 : event->own_ticks;
  const struct trace_event_ready *ready = &event->ready;
  struct format_wait wait = {.kind = own ? FORMAT_WAIT_BARRIER : FORMAT_WAIT_PARKED, /* its latency of waking */
                             .idle = event->end_ticks - event->begin_ticks - event->own_ticks,
                             .runtime = own,
                             .preempted = ready->preempted,
                             .preempted_in_runtime = ready->of_own,
                             .woken = ready->woken,
                             .wakes = ready->wakes,
                             .no_core = ready->no_core};
  struct left *left = event->code < lane->codes_count ? &lane->left[event->code] : NULL;
  uint64_t waiting = wait.idle;
  if (tick_ns <= 0)
    return;
  if (left && left->extent != lane->trace.cursor.extent)
    *left = (struct left){.extent = lane->trace.cursor.extent};
  struct exact_waits_ready missed = exact_waits_leave_ready(&wait, &lane->delay, tick_ns, left ? &left->ns : NULL);
  if (wait.idle == waiting && wait.runtime == own)
    return;
  struct lane_interval missing = *state;
  struct trace_event first = *event;
  missing.holder = 0;
  first.end_ticks = event->begin_ticks + (set_up ? event->own_ticks : 0) + wait.idle;
  if (set_up)
    add_own(lane, &first, state);
  size_t before = lane->pending_count;
  add_state(lane, *state, at_ns(lane, first.end_ticks));
  missing.begins = state->begins && lane->pending_count == before;
  event->begin_ticks = event->end_ticks - wait.runtime;
  event->own_ticks = wait.runtime;
  state->begins = false;
  uint64_t end_ns = at_ns(lane, event->begin_ticks);
  missing.category = TIMELINE_NO_CORE;
  add(lane, missing, MIN(model_sum(lane->at_ns, model_rounded(missed.no_core)), end_ns));
  missing.begins = missing.begins && lane->pending_count == before;
  missing.category = TIMELINE_CORE_WAIT;
  add(lane, missing, end_ns);
}

static enum timeline_category blocked_category(const struct trace_event *event)
{
  if (event->mpi)
    return TIMELINE_MPI;
  return event->lock_wait ? TIMELINE_LOCK_WAIT : TIMELINE_BLOCKED;
}

static void take_state(struct lane *lane, struct trace_event *event)
{
  struct lane_interval state = state_of(lane, event->code);
  lane->outside = false;
  bool waits = state.category == TIMELINE_IDLE || state.category == TIMELINE_LOCK_WAIT;
  state.begins = event->begun || event->chunk;
  state.holder = event->holder;
  bool of_program = !(lane->thread->flags & THREAD_HELPER) || state.record;
  if (!of_program && (event->blocked || lane->of->with_constructs)) {
    state.category = TIMELINE_GAP; /* it has no task */
  } else if (event->blocked) {
    state.category = blocked_category(event);
  } else if (event->lock) {
    state.category = TIMELINE_LOCK_WAIT;
  } else if (waits) {
    add_ready(lane, event, &state);
    if (event->own_ticks)
      add_own(lane, event, &state);
  }
  add_state(lane, state, at_ns(lane, event->end_ticks));
}

/* Without states, a sample tells what the thread did since the one before, as far as it stands for that. */
static void take_lone_sample(struct lane *lane, const struct trace_event *event)
{
  assert(event->kind == TRACE_EVENT_SAMPLE);
  static const uint32_t categories[] = {[TRACELOG_WORKS] = TIMELINE_WORK,
                                        [TRACELOG_OVERHEAD] = TIMELINE_OVERHEAD,
                                        [TRACELOG_IDLE] = TIMELINE_IDLE,
                                        [TRACELOG_LOCKWAIT] = TIMELINE_LOCK_WAIT};
  uint64_t now = at_ns(lane, event->end_ticks), weight = 0; /* where samples do not measure time */
  if (lane->of->period_ns)
    weight = trace_event_weight(event, lane->of->period_ns);
  bool waits = event->sample == TRACELOG_IDLE || event->sample == TRACELOG_LOCKWAIT; /* the node has its counts only */
  struct lane_interval state = {
      .category = categories[event->sample], .record = MODEL_NONE, .node = waits ? 0 : event->node};
  uint64_t slack = weight / 2;
  if (weight && now > lane->at_ns + weight + slack)
    add(lane, gap, now - weight);
  add(lane, state, now);
  lane->settled = lane->pending_count;
}

static void take_gap(struct lane *lane, const struct trace_event *event)
{
  lane->outside = event->outer;
  if (event->outer) /* samples before it are of the state that follows */
    add(lane, gap, at_ns(lane, event->end_ticks));
  else
    add_state(lane, gap, at_ns(lane, event->end_ticks));
}

static void add_end(struct lane *lane)
{
  assert(!lane->ended);
  lane->ended = true;
  lane->last.begins = false;
  add(lane, lane->outside ? gap : lane->last, lane->end_ns);
  if (!lane->outside)
    divide_end(lane);
  lane->settled = lane->pending_count;
}

/* Reads the next event. */
static void read_event(struct lane *lane)
{
  struct trace_event event;
  if (!thread_trace_next(&lane->trace, &event)) {
    add_end(lane);
    return;
  }
  bool lone = !lane->trace.cursor.state_clock;
  if (event.kind == TRACE_EVENT_STATE)
    take_state(lane, &event);
  else if (event.kind == TRACE_EVENT_GAP)
    take_gap(lane, &event);
  else if (event.kind == TRACE_EVENT_SAMPLE && lone)
    take_lone_sample(lane, &event);
  else if (event.kind == TRACE_EVENT_SAMPLE)
    keep_sample(lane, &event);
}

/* ---- delivery ---- */

/* Frees the room of what was delivered: all that was settled. */
static void forget_delivered(struct lane *lane)
{
  assert(lane->delivered <= lane->pending_count && lane->delivered >= lane->settled);
  size_t left = lane->pending_count - lane->delivered;
  memmove(lane->pending, lane->pending + lane->delivered, left * sizeof *lane->pending);
  lane->settled = 0;
  lane->pending_count = left;
  lane->delivered = 0;
}

/* Reads until a piece is settled.  Pieces of waits need no sample, but those of work may lie before them. */
static bool settle(struct lane *lane)
{
  while (lane->delivered >= lane->settled && !lane->ended) {
    if (lane->delivered)
      forget_delivered(lane);
    read_event(lane);
    if (lane->pending_count > PENDING_MAX && !lane->settled)
      settle_early(lane, lane->pending_count / 2);
  }
  return lane->delivered < lane->settled;
}

static bool same(const struct lane_interval *a, const struct lane_interval *b)
{
  return a->category == b->category && a->record == b->record && a->node == b->node && a->holder == b->holder &&
         !b->begins;
}

bool lane_next(struct lane *lane, struct lane_interval *interval)
{
  while (lane && settle(lane)) {
    *interval = lane->pending[lane->delivered++];
    while (settle(lane) && same(interval, &lane->pending[lane->delivered]))
      interval->end_ns = lane->pending[lane->delivered++].end_ns;
    interval->begins = interval->begins && interval->start_ns >= lane->from_ns;
    interval->start_ns = MAX(interval->start_ns, lane->from_ns);
    if (interval->start_ns >= lane->to_ns)
      return false;
    interval->end_ns = MIN(interval->end_ns, lane->to_ns);
    if (interval->end_ns > interval->start_ns)
      return true;
  }
  return false;
}
