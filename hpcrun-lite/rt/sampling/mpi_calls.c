#include "hpcrun-lite/rt/sampling/mpi_calls.h"

#include "common/order.h"
#include "hpcrun-lite/rt/construct/trace.h"
#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/sampling/switches.h"
#include "hpcrun-lite/rt/span/explicit_task.h"
#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/work_clock.h"

enum { AT_ONCE = 256, WORD = sizeof(uint64_t) };

/* ---- places ---- */

/* The table of places has one extent, so that they lie one after the other. */
static __attribute__((noinline, cold)) void make_places(struct mpi_calls *mpi)
{
  uint32_t index;
  mpi->place = table_next_many(&mpi->places, MPI_PLACES, &index);
  if (mpi->place)
    table_publish_many(&mpi->places, MPI_PLACES);
}

/* The first of MPI_WAYS places that a call with that return address and stack pointer can have. */
static inline struct mpi_place *first_way(const struct mpi_calls *mpi, uint64_t code, uint64_t sp)
{
  uint64_t hash = (code ^ sp << 24) * 0x9e3779b97f4a7c15ULL >> (64 - MPI_PLACES_LOG);
  return mpi->place + hash / MPI_WAYS * MPI_WAYS;
}

/* The same; NULL without memory. */
static struct mpi_place *ways_of(struct mpi_calls *mpi, uint64_t code, uint64_t sp)
{
  if (!mpi->place)
    make_places(mpi);
  return mpi->place ? first_way(mpi, code, sp) : NULL;
}

/* Where the call's own return address is, the innermost one. */
static inline uint64_t return_slot(uint64_t sp)
{
  return sp - WORD;
}

/* Does the thread call the function at that place, in whatever region? */
static inline bool is_at(const struct mpi_place *place, uint32_t function, uint64_t sp)
{
  if (place->function != function || place->sp != sp)
    return false;
  const uint64_t *words = (const uint64_t *)return_slot(sp);
  for (uint32_t i = 0; i < place->count; i++)
    if (words[place->at[i]] != place->returns[i])
      return false;
  return true;
}

/* Unwinds at most once in a period of samples; the first ones at once. */
static bool may_unwind(struct mpi_calls *mpi, uint64_t now)
{
  if (mpi->unwound >= AT_ONCE && now < mpi->due)
    return false;
  const struct event *event = &sampling_process.events[MAX(sampling_process.time_event, 0)];
  uint64_t period_ns = sampling_process.time_event < 0 ? 0 : __atomic_load_n(&event->period, __ATOMIC_RELAXED);
  mpi->due = now + rt_scale(MAX(period_ns, 1000000), 1 << 20, rt_ticks_to_ns(1 << 20));
  mpi->unwound++;
  return true;
}

/* Keeps a place that was unwound, if it can be recognised. */
static void keep(struct mpi_place *place, struct mpi_place found, const struct context_return returns[], unsigned count)
{
  if (!count)
    return;
  place->function = 0; /* a handler of the program does not call MPI; this is for one that does */
  atomic_signal_fence(memory_order_seq_cst);
  for (unsigned i = 0; i < count; i++) {
    place->at[i] = (uint32_t)((returns[i].slot - return_slot(found.sp)) / WORD);
    place->returns[i] = returns[i].address;
  }
  place->count = count;
  place->sp = found.sp;
  place->region = found.region;
  place->row = found.row;
  atomic_signal_fence(memory_order_seq_cst);
  place->function = found.function;
}

/* The place in which a new one is kept: another one with that return address and stack pointer may have to go. */
static struct mpi_place *room_for_place(struct mpi_calls *mpi, struct mpi_place *ways)
{
  unsigned way = 0;
  while (way < MPI_WAYS && ways[way].function)
    way++;
  return &ways[way < MPI_WAYS ? way : mpi->replaced++ % MPI_WAYS];
}

/* The row of a call whose context is not known yet.  elsewhere: the same place in another region, whose row is taken if
 * the stack may not be unwound; NULL: there is none. */
static __attribute__((noinline)) struct format_mpi *meet(struct thread_state *t, struct mpi_place *ways,
                                                         struct mpi_place *elsewhere, struct mpi_place found)
{
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  struct context_return returns[MPI_PLACE_FRAMES];
  unsigned count;
  if (!ways || rt_stopped() || !may_unwind(mpi, rt_ticks()))
    return elsewhere ? elsewhere->row : mpi_table_find(mpi, found.function, 0);
  uint32_t node = context_met_at(t, returns, MPI_PLACE_FRAMES, &count);
  if (node != CCT_NONE && cct_kind(t, node) != FORMAT_KIND_FILTERED)
    node = cct_child(t, node, (struct cct_key){FORMAT_KIND_MPI, 0, found.function});
  found.row = mpi_table_find(mpi, found.function, node == CCT_NONE ? 0 : node);
  if (found.row && node != CCT_NONE)
    keep(elsewhere ? elsewhere : room_for_place(mpi, ways), found, returns, count);
  return found.row;
}

/* Code was unloaded: other code may return to the same addresses. */
static __attribute__((noinline, cold)) void forget_places(struct mpi_calls *mpi, uint32_t generation)
{
  for (uint32_t i = 0; i < MPI_PLACES && mpi->place; i++)
    mpi->place[i].function = 0;
  mpi->generation = generation;
}

/* Where that was not simple. */
static __attribute__((noinline)) struct format_mpi *find_row(struct thread_state *t, uint32_t function, uint64_t code,
                                                             uint64_t sp)
{
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  uint32_t generation = atomic_load_explicit(&rt.module_generation, memory_order_relaxed);
  uint64_t instance = region_current(t), region = instance ? region_identity(t) : 0;
  bool known = !instance || region != instance; /* otherwise each instance of a region has another identity */
  if (__builtin_expect(mpi->generation != generation, 0))
    forget_places(mpi, generation);
  struct mpi_place *ways = ways_of(mpi, code, sp);
  struct mpi_place *elsewhere = NULL;
  for (unsigned i = 0; ways && i < MPI_WAYS; i++)
    if (is_at(&ways[i], function, sp)) {
      if (ways[i].region == region || !known)
        return ways[i].row;
      elsewhere = &ways[i];
    }
  rt_inside_inc(t);
  struct format_mpi *row =
      meet(t, ways, elsewhere, (struct mpi_place){.function = function, .sp = sp, .region = region});
  rt_inside_dec(t);
  if (!row)
    rt_lost(t, FORMAT_LOST_MEMORY);
  return row;
}

/* Simple: outside regions, at a place that is known. */
static inline struct format_mpi *row_of_call(struct thread_state *t, uint32_t function, uint64_t code, uint64_t sp)
{
  const struct mpi_calls *mpi = &sampling_of(t)->mpi;
  bool valid = mpi->generation == atomic_load_explicit(&rt.module_generation, memory_order_relaxed);
  if (mpi->place && valid && !region_current(t)) {
    const struct mpi_place *ways = first_way(mpi, code, sp);
    for (unsigned i = 0; i < MPI_WAYS; i++)
      if (is_at(&ways[i], function, sp) && !ways[i].region)
        return ways[i].row;
  }
  return find_row(t, function, code, sp);
}

/* ---- the work clock ---- */

/* The graph log has fragments around the call, and none in it. */
static __attribute__((noinline)) void end_fragment(struct thread_state *t, uint64_t since)
{
  uint64_t moment = graph_moment(t, since);
  graph_fragment_end_at(t, moment);
  work_clock_begin(t, moment);
}

/* What the thread does in MPI is no work of its task, also where a fragment ends or begins meanwhile. */
static void stop_work(struct thread_state *t)
{
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  mpi->work_stopped = span_process.online && span_of(t)->end_slot;
  if (!mpi->work_stopped)
    return;
  rt_inside_inc(t); /* a sample may begin another fragment */
  if (graph_log_on())
    end_fragment(t, mpi->since);
  work_clock_stand_still(t, mpi->since);
  explicit_task_wait(t);
  rt_inside_dec(t);
}

static void go_on_with_work(struct thread_state *t, uint64_t now)
{
  if (!sampling_of(t)->mpi.work_stopped)
    return;
  rt_inside_inc(t);
  work_clock_go_on(t, work_clock_is_time() ? now : work_clock_value(t));
  rt_inside_dec(t);
}

/* ---- the graph log ---- */

static void log_begin(struct thread_state *t, enum mpi_function function)
{
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  rt_inside_inc(t);
  graph_log_time(t, mpi->since);
  graph_log_op(t, GRAPHLOG_MPI_CALL, function, mpi->row->node);
  rt_inside_dec(t);
}

static void log_end(struct thread_state *t, uint64_t now)
{
  rt_inside_inc(t);
  graph_log_time(t, now);
  graph_log_op(t, GRAPHLOG_MPI_RETURN);
  rt_inside_dec(t);
}

void mpi_calls_log(struct thread_state *t, enum graphlog_op op, unsigned count, const uint64_t *operands)
{
  bool begins = op == GRAPHLOG_MPI_SEND || op == GRAPHLOG_MPI_SYNCHRONOUS_SEND || op == GRAPHLOG_MPI_RECEIVE ||
                op == GRAPHLOG_MPI_COLLECTIVE;
  if (!graph_log_on() || t->inside)
    return;
  rt_inside_inc(t);
  if (!begins)
    graph_log_now(t);
  graph_log_put(t, op, count, operands);
  rt_inside_dec(t);
}

/* ---- calls ---- */

bool mpi_calls_begin(struct thread_state *t, enum mpi_function function, uint64_t code, uint64_t sp)
{
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  mpi_calls_left(t, sp, false);
  if (t->inside || t->activity.idle || t->activity.lockwait || t->activity.call)
    return false;
  struct format_mpi *row = row_of_call(t, function, code, sp);
  if (!row)
    return false;
  mpi->row = row;
  mpi->sp = sp;
  mpi->code = code;
  mpi->since = rt_ticks();
  row->since = mpi->since;
  t->record->mpi_calls++;
  mpi->traced = trace_of(t)->states;
  if (mpi->traced)
    trace_sleeps(t, mpi->since);
  stop_work(t);
  if (graph_log_on())
    log_begin(t, function);
  rt_set_call(t, RT_CALL_MPI);
  t->changes++;
  return true;
}

/* Adds what records of switches say of the call until now. */
static __attribute__((noinline)) void add_switches(struct thread_state *t, uint64_t now)
{
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  struct switched parts[3] = {{0}};
  switches_read(t, 2, (const uint64_t[]){mpi->since, now}, parts);
  t->record->mpi_preempted += parts[1].preempted;
  t->record->mpi_wakes += parts[1].wakes;
  mpi->row->preempted += parts[1].preempted;
  switches_limit(t);
}

/* inside: in the tool's handler. */
static void end(struct thread_state *t, bool inside)
{
  struct mpi_calls *mpi = &sampling_of(t)->mpi;
  struct format_mpi *row = mpi->row;
  uint64_t now = rt_ticks(), ticks = rt_measured_between(mpi->since, now);
  mpi->ticks += ticks;
  rt_set_call(t, RT_CALL_NONE);
  row->since = 0;
  row->calls++;
  row->ticks += ticks;
  if (ticks > row->longest)
    row->longest = ticks;
  if (switches_unread(t))
    add_switches(t, now);
  if (graph_log_on())
    log_end(t, now);
  go_on_with_work(t, now);
  if (mpi->traced)
    trace_slept(t, now, TRACELOG_MPI, inside);
  t->changes++;
}

void mpi_calls_end(struct thread_state *t, bool known, uint64_t sent, uint64_t received)
{
  struct format_mpi *row = sampling_of(t)->mpi.row;
  if (!mpi_calls_in(t)) /* a sample has found that the thread had left the call */
    return;
  if (known) {
    row->decoded++;
    row->sent += sent;
    row->received += received;
    t->record->mpi_sent += sent;
    t->record->mpi_received += received;
  }
  end(t, false);
}

static bool on_own_stack(const struct thread_state *t, uint64_t sp)
{
  return sp >= t->stack_low && sp < t->stack_high;
}

/* Has the thread, which is now at that stack pointer, left the call?  Then it is outside it; or, where it has called
 * something else since, the call's return address is overwritten.  Two places off the thread's own stack may be on
 * different stacks of user-level threads: these do not tell, and the call goes on. */
static bool has_left(const struct thread_state *t, uint64_t sp)
{
  const struct mpi_calls *mpi = &sampling_of(t)->mpi;
  bool own = on_own_stack(t, mpi->sp);
  if (sp == UINT64_MAX || (own && sp >= mpi->sp && on_own_stack(t, sp)))
    return true;
  return own && *(const volatile uint64_t *)return_slot(mpi->sp) != mpi->code;
}

void mpi_calls_left(struct thread_state *t, uint64_t sp, bool inside)
{
  if (mpi_calls_in(t) && (inside || !t->inside) && has_left(t, sp))
    end(t, inside);
}

uint32_t mpi_calls_node(const struct thread_state *t)
{
  return sampling_of(t)->mpi.row->node;
}

void mpi_calls_sampled(struct thread_state *t, uint64_t ns)
{
  t->record->samples_mpi++;
  t->record->mpi_sampled_ns += ns;
}

void mpi_calls_read_switches(struct thread_state *t)
{
  add_switches(t, rt_ticks());
}
