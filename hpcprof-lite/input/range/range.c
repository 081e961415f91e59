#include "hpcprof-lite/input/range/range.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/thread_states.h"
#include "hpcprof-lite/input/range/range_counts.h"
#include "hpcprof-lite/input/range/range_thread.h"
#include "hpcprof-lite/input/range/trace_sweep.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* What a thread does now, for the counts at a sample. */
enum doing {
  NOTHING, /* it does not exist, or the runtime does not know it */
  UNKNOWN, /* it is there */
  BUSY,
  IDLE,
  LOCKED,
  ASLEEP /* in a call of the program */
};

struct now {
  enum doing doing;
  uint32_t site; /* of IDLE and LOCKED */
  bool mpi;      /* in a call of MPI */
};

/* Threads that were idle while others waited for a lock. */
struct beside {
  uint32_t site;
  uint64_t ns;
};

enum {
  BESIDE_MAX = 4,  /* the last one takes what does not fit */
  LOCKS_MAX = 4096 /* sites of a thread, and more than a process has of locks */
};

/* How many threads are idle at a site, and what the samples of threads that wait for its lock have counted: it is
 * charged at the lock's release. */
struct at_site {
  uint32_t idle, listed; /* listed: position in `sites_idle`, plus 1 */
  uint64_t pending_ns;
  struct beside beside[BESIDE_MAX];
};

struct range {
  struct range_thread *threads; /* [position in process->threads] */
  struct read_part *parts;
  uint32_t count;
  struct range_wait_sites sites;
  /* at the time that the sweep has reached */
  struct now *now; /* [thread] */
  struct at_site *at;
  uint32_t *sites_idle, *locks; /* sites at which threads are idle; sites of locks */
  uint32_t idle_count, locks_count, present, busy;
  uint64_t since; /* the last change of a state */
  struct range_amount
      in_regions; /* ticks in which several threads had something to do: without constructs, in regions */
  bool by_wall;
};

void range_set(struct profile_process *process, uint64_t from_ns, uint64_t to_ns)
{
  uint64_t end_ns = model_sum(process->start_ns, process->wall_ns);
  from_ns = MIN(MAX(from_ns, process->start_ns), end_ns);
  to_ns = MIN(MAX(to_ns, from_ns), end_ns);
  if (!(process->workspan.tick_ns > 0))
    return;
  process->from_ticks = profile_ticks_at(process, from_ns - process->start_ns);
  /* a killed process went on after the last refresh of its end */
  process->to_ticks = to_ns < end_ns ? profile_ticks_at(process, to_ns - process->start_ns) : UINT64_MAX;
}

/* ---- what the threads do ---- */

static void unlist_idle(struct range *range, uint32_t site)
{
  assert(range->idle_count && range->at[site].listed);
  uint32_t last = range->sites_idle[--range->idle_count], hole = range->at[site].listed - 1;
  range->sites_idle[hole] = last;
  range->at[last].listed = hole + 1;
  range->at[site].listed = 0;
}

static bool is_busy(const struct range *range, enum doing doing)
{
  return doing == BUSY || doing == LOCKED || (doing == ASLEEP && range->by_wall);
}

static void leave(struct range *range, const struct now *now)
{
  assert(now->doing != IDLE || range->at[now->site].idle);
  range->present -= now->doing != NOTHING;
  range->busy -= is_busy(range, now->doing);
  if (now->doing == IDLE && !--range->at[now->site].idle)
    unlist_idle(range, now->site);
}

static void enter(struct range *range, const struct now *now)
{
  assert(now->doing != IDLE || now->site < range->sites.count);
  range->present += now->doing != NOTHING;
  range->busy += is_busy(range, now->doing);
  if (now->doing == IDLE && !range->at[now->site].idle++) {
    range->sites_idle[range->idle_count++] = now->site;
    range->at[now->site].listed = range->idle_count;
  }
}

static struct now doing_of(const struct range_thread *thread, const struct trace_sweep_item *item)
{
  const struct trace_event *event = &item->event;
  const struct range_code *code = range_thread_code(thread, event->code);
  if (item->ends || !(thread->record->flags & THREAD_OPENMP))
    return (struct now){.doing = NOTHING};
  if (event->kind == TRACE_EVENT_GAP || !code)
    return (struct now){.doing = UNKNOWN};
  if (event->lock_wait)
    return (struct now){.doing = LOCKED, .site = thread->posix_lock};
  if (event->blocked && !event->mpi) /* others may wait for a thread in MPI */
    return (struct now){.doing = ASLEEP};
  if (code->site == MODEL_NONE)
    return (struct now){.doing = BUSY};
  return (struct now){.doing = code->lock ? LOCKED : IDLE, .site = code->site};
}

/* Adds the time since the last change of a state, in which several threads were not parked. */
static void pass(struct range *range, const struct range_thread *thread, uint64_t until)
{
  assert(thread->from <= thread->to);
  uint32_t parked = range->at[0].idle; /* the first site */
  bool in_region = range->present > parked + 1;
  uint64_t begin = MAX(range->since, thread->from);
  uint64_t end = MIN(until, thread->to);
  if (in_region && until > range->since)
    range_add(&range->in_regions, model_difference(end, begin), until - range->since);
  range->since = until;
}

static void take_state(struct range *range, const struct trace_sweep_item *item)
{
  assert(item->thread < range->count);
  struct now *now = &range->now[item->thread];
  pass(range, &range->threads[item->thread], item->event.begin_ticks);
  leave(range, now);
  *now = doing_of(&range->threads[item->thread], item);
  now->mpi = !item->ends && item->event.mpi;
  enter(range, now);
  if (!item->ends)
    range_thread_state(&range->threads[item->thread], &range->sites, &item->event);
}

/* ---- samples ---- */

/* amount * share / all, rounded to the nearest. */
static uint64_t part(uint64_t amount, uint64_t share, uint64_t all)
{
  assert(all);
  return model_rounded((double)amount * (double)share / (double)all);
}

/* Adds the time that a sample or charge stands for, by how many threads were busy or there, to its context. */
static void add_blame(struct range_thread *thread, uint32_t value, uint64_t per_busy_ns, uint64_t in_use_ns)
{
  struct range_sums *sums = &thread->sums[value];
  model_add(&sums->per_busy_ns, per_busy_ns);
  model_add(&sums->in_use_ns, in_use_ns);
  model_add(&thread->part.per_busy_ns, per_busy_ns);
  model_add(&thread->part.in_use_ns, in_use_ns);
}

/* Adds what other threads wait during a sample to its context. */
static void charge_idleness(struct range *range, uint32_t position, uint32_t value, uint64_t weight)
{
  assert(position < range->count && value);
  struct range_thread *thread = &range->threads[position];
  const struct now *self = &range->now[position];
  uint32_t busy = range->busy + !is_busy(range, self->doing), present = range->present + (self->doing == NOTHING);
  add_blame(thread, value, part(weight, 1, busy), part(weight, MAX(present, busy), busy));
  for (uint32_t i = 0; i < range->idle_count; i++) {
    uint32_t site = range->sites_idle[i];
    uint32_t others = range->at[site].idle - (self->doing == IDLE && self->site == site);
    range_thread_share(thread, &range->sites, value, site, part(weight, others, busy));
  }
}

/* The lock whose release is charged with that much: the trace does not name it, but how much samples of the threads
 * that wait for each one have counted so far is known. */
static uint32_t released_lock(const struct range *range, uint64_t ns)
{
  uint32_t found = MODEL_NONE;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < range->locks_count; i++) {
    uint64_t pending = range->at[range->locks[i]].pending_ns, off = pending > ns ? pending - ns : ns - pending;
    if (pending && off < least) {
      least = off;
      found = range->locks[i];
    }
  }
  return found;
}

/* Takes what is pending of a lock, and adds it to the shares of the context of its release, unless that is NULL. */
static void release_lock(struct range *range, uint32_t lock, uint64_t ns, struct range_thread *thread, uint32_t value)
{
  assert(lock == MODEL_NONE || lock < range->sites.count);
  if (lock == MODEL_NONE)
    return;
  struct at_site *at = &range->at[lock];
  uint64_t all = at->pending_ns, taken = MIN(ns, all);
  at->pending_ns -= taken;
  if (thread)
    range_thread_share(thread, &range->sites, value, lock, ns);
  for (unsigned i = 0; i < BESIDE_MAX && at->beside[i].ns; i++) {
    uint64_t share = taken == all ? at->beside[i].ns : part(at->beside[i].ns, taken, all);
    at->beside[i].ns -= MIN(share, at->beside[i].ns);
    if (thread)
      range_thread_share(thread, &range->sites, value, at->beside[i].site, share);
  }
}

/* A sample of a thread that waits for the lock of that site. */
static void wait_for_lock(struct range *range, uint32_t lock, uint64_t weight)
{
  assert(lock < range->sites.count && range->busy);
  struct at_site *at = &range->at[lock];
  model_add(&at->pending_ns, weight);
  for (uint32_t i = 0; i < range->idle_count; i++) {
    uint32_t site = range->sites_idle[i], to = 0;
    while (to < BESIDE_MAX - 1 && at->beside[to].ns && at->beside[to].site != site)
      to++;
    if (!at->beside[to].ns)
      at->beside[to].site = site;
    model_add(&at->beside[to].ns, part(weight, range->at[site].idle, range->busy));
  }
}

static void take_charge(struct range *range, const struct trace_sweep_item *item)
{
  assert(item->event.kind == TRACE_EVENT_CHARGE);
  struct range_thread *thread = &range->threads[item->thread];
  const struct trace_event *event = &item->event;
  uint32_t value = range_thread_sample(thread, event, false), lock = released_lock(range, event->ns);
  if (!value || !thread->timed) {
    release_lock(range, lock, event->ns, NULL, 0);
    return;
  }
  add_blame(thread, value, event->per_busy_ns, event->in_use_ns);
  release_lock(range, lock, event->ns, thread, value);
}

static void take_sample(struct range *range, const struct trace_sweep_item *item)
{
  assert(item->event.kind == TRACE_EVENT_SAMPLE);
  struct range_thread *thread = &range->threads[item->thread];
  const struct now *self = &range->now[item->thread];
  uint64_t weight = trace_event_weight(&item->event, thread->period);
  uint32_t value = range_thread_sample(thread, &item->event, self->mpi);
  if (item->event.sample == TRACELOG_LOCKWAIT && self->doing == LOCKED)
    wait_for_lock(range, self->site, weight);
  if (value && thread->timed)
    charge_idleness(range, item->thread, value, weight);
}

/* ---- the sweep ---- */

static void prepare(struct range *range)
{
  assert(!range->now && range->sites.count);
  range->now = xcalloc(range->count, sizeof *range->now);
  range->at = xcalloc(range->sites.count, sizeof *range->at);
  range->sites_idle = xcalloc(range->sites.count, sizeof *range->sites_idle);
  range->locks = xcalloc(range->sites.count, sizeof *range->locks);
  for (uint32_t i = 0; i < range->sites.count && range->locks_count < LOCKS_MAX; i++)
    if (range->sites.all[i].kind == FORMAT_WAIT_LOCK)
      range->locks[range->locks_count++] = i;
}

static void sweep(struct range *range, const struct trace_reader *trace, struct problems *problems)
{
  struct thread_life *lives = xcalloc(range->count, sizeof *lives);
  struct trace_sweep_item item;
  for (uint32_t i = 0; i < range->count; i++)
    lives[i] = range->threads[i].life;
  struct trace_sweep *merged = trace_sweep_open(trace, lives, range->count, problems);
  free(lives);
  while (trace_sweep_next(merged, &item)) {
    if (item.ends || item.event.kind == TRACE_EVENT_STATE || item.event.kind == TRACE_EVENT_GAP)
      take_state(range, &item);
    else if (item.event.kind == TRACE_EVENT_CHARGE)
      take_charge(range, &item);
    else
      take_sample(range, &item);
  }
  trace_sweep_close(merged);
}

/* The columns that can be known from the trace: not those of sampled events other than the first one, and of what the
 * kernel counted between samples, which follow each other. */
static struct read_columns columns_known(const struct read_file *file, bool timed)
{
  struct read_columns known = {.from = read_columns_count(file)};
  while (known.from && read_column(file, known.from - 1).counted)
    known.from--;
  for (bool first = !timed; known.before < known.from; known.before++) {
    uint32_t role = read_column(file, known.before).role;
    if (role != COLUMN_EVENT && role < COLUMN_USER_CPU)
      continue;
    if (!first || role != COLUMN_EVENT)
      break;
    first = false;
  }
  return known;
}

/* The period of the samples; *timed: they measure time. */
static uint64_t period_of(const struct read_file *file, bool *timed)
{
  uint32_t work = read_column_of(file, COLUMN_WORK), event = read_column_of(file, COLUMN_EVENT);
  *timed = work != MODEL_NONE;
  return read_period(file, *timed ? work : event);
}

static void fill(struct range *range, struct read_file *file, const struct profile_process *process,
                 const struct trace_reader *trace, struct problems *problems)
{
  bool timed;
  uint64_t period = period_of(file, &timed), from = process->from_ticks;
  range->threads = xcalloc(process->threads_count, sizeof *range->threads);
  range->parts = xcalloc(process->threads_count, sizeof *range->parts);
  range->count = process->threads_count;
  range->by_wall = profile_by_wall(process);
  for (uint32_t i = 0; i < range->count; i++) {
    range->threads[i] = (struct range_thread){.record = &process->threads[i],
                                              .from = from > process->start_ticks ? from : 0,
                                              .to = process->to_ticks,
                                              .tick_ns = process->workspan.tick_ns,
                                              .period = period,
                                              .timed = timed,
                                              .with_constructs = process->flags & PROCESS_ONLINE};
    range_thread_open(&range->threads[i], file, process, &range->sites, problems);
  }
  prepare(range);
  sweep(range, trace, problems);
  const struct read_columns columns = columns_known(file, timed);
  for (uint32_t i = 0; i < range->count; i++)
    range_thread_waits(&range->threads[i], range->threads, range->count, &range->parts[i]);
  for (uint32_t i = 0; i < range->count; i++) {
    range_counts_take(&range->threads[i], file, trace, problems, &range->parts[i]);
    range_thread_finish(&range->threads[i], file, columns, &range->parts[i]);
  }
  read_replace(file, range->parts, range->count, columns);
}

/* Frees what only the sweep needs. */
static void release_sweep(struct range *range)
{
  free(range->now);
  free(range->at);
  free(range->sites_idle);
  free(range->locks);
  range_wait_sites_release(&range->sites);
  for (uint32_t i = 0; i < range->count; i++)
    range_thread_release(&range->threads[i]);
}

int range_open(struct read_file *file, const struct profile_process *process, struct problems *problems,
               struct range **out, const char **why)
{
  struct trace_reader trace;
  uint64_t states = 0;
  *out = NULL;
  *why = "there is no trace; run 'hpcrun-lite -t'";
  int status = trace_reader_open(process->path, problems, &trace);
  if (status || !trace.file.count) {
    status = ERR_INPUT;
    goto out;
  }
  if (!(process->workspan.tick_ns > 0)) {
    *why = "the process was killed before it had stored the length of its ticks";
    status = ERR_INPUT;
    goto out;
  }
  struct range *range = *out = xcalloc(1, sizeof *range);
  fill(range, file, process, &trace, problems);
  release_sweep(range);
  for (uint32_t i = 0; i < range->count; i++)
    states += range->threads[i].states;
  if (!states) {
    *why = "its trace has samples only; run 'hpcrun-lite -t'";
    status = ERR_INPUT;
  }
out:
  trace_reader_close(&trace);
  return status;
}

void range_close(struct range *range)
{
  if (!range)
    return;
  for (uint32_t i = 0; i < range->count; i++)
    read_part_release(&range->parts[i]);
  free(range->threads);
  free(range->parts);
  free(range);
}

/* ---- figures of the process and its threads ---- */

/* A figure of which the trace has parts at samples: the part's share of them; without any, of the thread's life.  Where
 * the trace lacks samples, what it has. */
static uint64_t share_of(uint64_t figure, struct range_amount traced, struct range_amount life, bool complete)
{
  if (!figure || !complete)
    return traced.in;
  return range_share_of(figure, traced.all ? traced : life);
}

static void take_waits(const struct read_part *part, double tick_ns, struct profile_thread *thread)
{
  const struct format_wait *waits = part->tables[FORMAT_WAITS].records;
  uint64_t idle = 0, locked = 0;
  for (uint32_t i = 0; i < part->tables[FORMAT_WAITS].count; i++) {
    uint64_t *sum = waits[i].kind == FORMAT_WAIT_LOCK ? &locked : &idle;
    model_add(sum, waits[i].idle);
  }
  thread->idle_ns = model_rounded((double)idle * tick_ns);
  thread->lockwait_ns = model_rounded((double)locked * tick_ns);
}

/* How long the thread waited for devices. */
static uint64_t device_ns(const struct read_file *file, const struct read_part *part, double tick_ns)
{
  const struct format_construct *constructs = part->tables[FORMAT_CONSTRUCTS].records;
  uint32_t count = part->tables[FORMAT_CONSTRUCTS].count;
  bool *awaited = xcalloc(count, sizeof *awaited);
  uint64_t ticks = 0;
  thread_states_awaited(file, constructs, count, awaited);
  for (uint32_t i = 0; i < count; i++)
    model_add(&ticks, awaited[i] ? constructs[i].ticks[CONSTRUCT_TIME_BODY] : 0);
  free(awaited);
  return model_rounded((double)ticks * tick_ns);
}

/* The part of the time in MPI in which the thread was not ready without a processor.  When it was is not known: each
 * call has its share of the whole run's. */
static double mpi_without_ready(const struct range_thread *from)
{
  const struct profile_thread *record = from->record;
  double ready_ns =
      (double)record->mpi_preempted * from->tick_ns + from->delay.each_wake_ns * (double)record->mpi_wakes;
  return record->mpi_ns ? fmax(0, 1 - ready_ns / (double)record->mpi_ns) : 1;
}

/* from_ns, to_ns: the part, since the start of the process. */
static void take_thread(const struct read_file *file, const struct range *range, const struct range_thread *from,
                        const struct read_part *part, const struct profile_process *process, uint64_t from_ns,
                        uint64_t to_ns, struct profile_thread *thread)
{
  bool complete = from->samples_all == thread->samples;
  *thread = from->part;
  uint64_t start_ns = thread->start_ns, end_ns = model_sum(start_ns, thread->wall_ns);
  uint64_t low = MAX(start_ns, from_ns), high = MIN(end_ns, to_ns);
  struct range_amount life = {model_difference(high, low), thread->wall_ns};
  double tick = process->workspan.tick_ns;
  thread->start_ns = MIN(low, to_ns) - from_ns;
  thread->end_ns = thread->end_ns && end_ns <= to_ns ? thread->start_ns + life.in : 0;
  thread->wall_ns = life.in;
  thread->paused_ns = MIN(thread->paused_ns, model_rounded((double)from->gap_ticks * tick));
  thread->unsampled_ns = thread->unsampled_cpu_ns = 0; /* when that was is not known */
  thread->cpu_ns = share_of(thread->cpu_ns, from->weight, life, complete);
  thread->tool_ns = MIN(share_of(thread->tool_ns, from->tool_ns, life, complete),
                        profile_measured_ns(thread->wall_ns, thread->paused_ns));
  thread->run_delay_ns = share_of(thread->run_delay_ns, from->delay_ns, life, complete);
  thread->blocked_ns = model_rounded((double)from->blocked_ticks * tick);
  double in_mpi = mpi_without_ready(from) * tick;
  thread->mpi_ns = MIN(model_rounded((double)from->mpi_ticks * in_mpi), thread->wall_ns);
  thread->mpi_outside_ns = model_difference(thread->mpi_ns, model_rounded((double)from->mpi_inside_ticks * in_mpi));
  thread->mpi_sampled_ns = MIN(from->mpi_sampled_ns, thread->mpi_ns);
  thread->device_ns = MIN(device_ns(file, part, tick), thread->wall_ns);
  thread->device_sampled_ns =
      range_share_of(thread->device_sampled_ns, (struct range_amount){thread->device_ns, from->record->device_ns});
  thread->mpi_calls = thread->mpi_sent = thread->mpi_received = 0; /* when they were is not known */
  thread->no_core_ns = model_rounded(from->no_core_ns);
  if (from->with_constructs)
    thread->region_ns = model_rounded((double)from->region_ticks * tick);
  else
    thread->region_ns = share_of(thread->region_ns, range->in_regions, life, true);
  take_waits(part, tick, thread);
  thread->work = 0;
  thread->events = thread->events_ns = 0; /* when they were is not known */
}

void range_take(const struct read_file *file, const struct range *range, uint64_t begin_ns, uint64_t end_ns,
                struct profile_process *process, struct problems *problems)
{
  assert(range->count == process->threads_count);
  uint64_t unknown = 0, gap_ticks = 0, dropped = process->lost[LOSS_TRACE];
  uint64_t from_ns = model_rounded((double)(process->from_ticks - process->start_ticks) * process->workspan.tick_ns);
  uint64_t to_ns = model_rounded((double)(process->to_ticks - process->start_ticks) * process->workspan.tick_ns);
  to_ns = (double)to_ns + 2 * process->workspan.tick_ns < (double)process->wall_ns ? to_ns : process->wall_ns;
  from_ns = MIN(from_ns, to_ns);
  uint64_t paused_ns = 0;
  process->cpu_ns = process->regions = process->unsampled_ns = 0;
  for (uint32_t i = 0; i < range->count; i++) {
    const struct range_thread *from = &range->threads[i];
    take_thread(file, range, from, &range->parts[i], process, from_ns, to_ns, &process->threads[i]);
    model_add(&process->cpu_ns, process->threads[i].cpu_ns);
    paused_ns = MAX(process->threads[i].paused_ns, paused_ns);
    model_add(&process->regions, from->part.regions);
    unknown += from->unknown;
    process->counts_about |= from->counts_cut;
    gap_ticks += from->gap_ticks;
    dropped += process->threads[i].lost[LOSS_TRACE];
  }
  model_add(&process->start_ns, from_ns);
  process->start_ns = MAX(process->start_ns, begin_ns); /* it may have ended before */
  process->start_ns = MIN(process->start_ns, end_ns);
  process->wall_ns = to_ns - from_ns;
  process->paused_ns = MIN(paused_ns, process->wall_ns);
  process->workspan.known = false;
  process->in_part = true;
  if (unknown)
    problems_add(problems, "%s: samples of the trace in contexts that do not exist, left out: %llu", process->path,
                 (unsigned long long)unknown);
  if (dropped && gap_ticks)
    problems_add(problems, "%s: the trace lacks %.3f s of the threads' time in this part, which is left out",
                 process->path, (double)gap_ticks * process->workspan.tick_ns / 1e9);
}

void range_take_rest(const struct range *range, uint32_t position, const struct profile_thread *whole,
                     uint64_t blocked_ns, struct profile_thread *thread)
{
  assert(position < range->count);
  const struct range_thread *from = &range->threads[position];
  if (from->samples_all != whole->samples || thread->flags & THREAD_HELPER)
    return; /* the trace lacks some: then the part has what is left of its own */
  struct range_amount life = {thread->wall_ns, whole->wall_ns};
  thread->core_wait_ns = range_share_of(whole->core_wait_ns, from->delayed.all ? from->delayed : life);
  double known = blocked_ns > whole->blocked_ns ? (double)whole->blocked_ns / (double)blocked_ns : 1;
  thread->blocked_ns = model_rounded((double)from->blocked_ticks * from->tick_ns * known);
  model_add(&thread->blocked_ns,
            range_share_of(model_difference(whole->blocked_ns, blocked_ns), from->slept.all ? from->slept : life));
}
