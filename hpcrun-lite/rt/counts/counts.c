#define _GNU_SOURCE
#include "hpcrun-lite/rt/counts/counts.h"

#include <linux/perf_event.h>
#include <string.h>

#include "hpcrun-lite/rt/core/counter_page.h"
#include "hpcrun-lite/rt/core/touch.h"
#include "hpcrun-lite/rt/counts/usage.h"

struct counts_process counts_process;

enum {
  PAGE = 4096,
  RECORDS_FIRST = 16,
  READ_SHARE = 50,    /* reading may take a fiftieth of the time */
  SAVED_READS = 4096, /* reads for which time is saved at most */
  RUN = 16,           /* boundaries that are read one after another, at least */
  REOPENED_MAX = 10,
  COST_READS = 4
};

/* A record: counts of intervals that were read at both ends; of stretches in which boundaries were left out, given to
 * the record at their end; and the ticks of this record in such stretches. */
static uint64_t *exact_of(uint64_t *fields)
{
  return fields;
}

static uint64_t *rest_of(uint64_t *fields)
{
  return fields + counts_process.count;
}

static uint64_t *unread_of(uint64_t *fields)
{
  return fields + 2 * counts_process.count;
}

void counts_init(struct thread_state *t)
{
  uint32_t size = (2 * counts_process.count + 1) * sizeof(uint64_t);
  table_init(&counts_of(t)->records, FORMAT_COUNTS, ARENA_COUNTS, t->index, size, RECORDS_FIRST);
  for (unsigned i = 0; i < COUNTERS_MAX; i++)
    counts_of(t)->own[i].fd = -1;
}

void counts_release(struct thread_state *t)
{
  table_release(&counts_of(t)->records);
}

/* ---- reading ---- */

/* What read() returns of a group. */
struct group_values {
  uint64_t count, enabled, running;
  struct {
    uint64_t value, id;
  } counters[COUNTERS_MAX];
};

/* The leader of the thread's group; NULL: none is open. */
static const struct sys_own *leader_of(const struct counts_state *state)
{
  for (unsigned i = 0; i < counts_process.count; i++)
    if (state->own[i].fd >= 0)
      return &state->own[i];
  return NULL;
}

static bool read_group(const struct counts_state *state, struct group_values *group)
{
  const struct sys_own *leader = leader_of(state);
  return leader && sys_perf_read_group(leader, group, sizeof *group) && group->count == state->grouped &&
         group->counters[0].id == leader->inode;
}

/* The same from the pages of the events, where the kernel lets the calling thread read all of the registers. */
static bool read_pages(const struct counts_state *state, struct group_values *group)
{
  struct counter_reading reading = {0};
  unsigned k = 0;
  for (unsigned i = 0; i < counts_process.count; i++) {
    if (state->own[i].fd < 0)
      continue;
    if (!state->pages[i] || !counter_page_read(state->pages[i], rt_ticks(), machine_counter, &reading) ||
        !reading.timed)
      return false;
    group->counters[k++].value = reading.count;
  }
  group->enabled = reading.enabled_ns; /* all are counted at the same times */
  group->running = reading.running_ns;
  return true;
}

/* Adds what the group has counted since the last read.  Where it did not count all of the time, because the processor
 * has too few counters, the difference is scaled. */
static void take_group(struct counts_state *state, const struct group_values *group, uint64_t *totals)
{
  uint64_t enabled = group->enabled - state->enabled, running = group->running - state->running;
  bool partly = running < enabled && group->enabled > state->enabled; /* clocks of a page and of read() differ a bit */
  for (unsigned i = 0, k = 0; i < counts_process.count; i++) {
    if (state->own[i].fd < 0)
      continue;
    uint64_t passed = group->counters[k].value - state->raw[i];
    totals[i] += partly ? rt_scale(passed, enabled, running) : passed;
    state->raw[i] = group->counters[k++].value;
  }
  if (partly)
    atomic_store_explicit(&counts_process.scaled, true, memory_order_relaxed);
  state->enabled = group->enabled;
  state->running = group->running;
}

/* touched: the tool's own of the faults. */
static void take_usage(const struct sys_usage *usage, uint64_t touched, uint64_t *totals)
{
  uint64_t minor = usage->minor_faults - touched;
  for (unsigned i = 0; i < counts_process.count; i++) {
    if (!counts_process.counters[i].usage)
      continue;
    switch ((enum counter_usage)counts_process.counters[i].config) {
    case COUNTER_PAGE_FAULTS:
      totals[i] = minor + usage->major_faults;
      break;
    case COUNTER_MINOR_FAULTS:
      totals[i] = minor;
      break;
    case COUNTER_MAJOR_FAULTS:
      totals[i] = usage->major_faults;
      break;
    default:
      totals[i] = usage->given_up + usage->switched_out;
    }
  }
}

/* Those of the groups of all threads; relaxed: nothing else depends on the number. */
static atomic_uint descriptors;

static void give_back(unsigned count)
{
  atomic_fetch_sub_explicit(&descriptors, count, memory_order_relaxed);
}

/* Half of the descriptors that the process may have are left to the program.  Returns how many the group has, 0: too
 * many threads have one. */
static unsigned take_descriptors(struct thread_state *t)
{
  unsigned count = 0;
  for (unsigned i = 0; i < counts_process.count; i++)
    count += !counts_process.counters[i].usage;
  unsigned before = atomic_fetch_add_explicit(&descriptors, count, memory_order_relaxed);
  if (before + count <= sys_descriptor_limit() / 2)
    return count;
  give_back(count);
  for (unsigned i = 0; i < count; i++)
    rt_lost(t, FORMAT_LOST_EVENTS);
  return 0;
}

static void drop_page(const struct perf_event_mmap_page **page)
{
  if (*page)
    sys_unmap((void *)*page, PAGE);
  *page = NULL;
}

static void close_group(struct counts_state *state)
{
  give_back(state->grouped);
  for (unsigned i = COUNTERS_MAX; i-- > 0;)
    if (state->own[i].fd >= 0) {
      drop_page(&state->pages[i]);
      sys_close_own(&state->own[i]);
      state->own[i].fd = -1;
    }
  state->grouped = 0;
}

/* Maps the page of an event if its register may be read. */
static void map_page(struct counts_state *state, unsigned i)
{
  state->pages[i] = sys_perf_page(&state->own[i], PAGE);
  if (state->pages[i] && !state->pages[i]->cap_user_rdpmc)
    drop_page(&state->pages[i]);
}

static bool open_one(struct thread_state *t, unsigned i, const struct sys_own *leader)
{
  const struct counter *counter = &counts_process.counters[i];
  struct perf_event_attr attr = {.size = sizeof attr,
                                 .type = counter->type,
                                 .config = counter->config,
                                 .config1 = counter->config1,
                                 .exclude_kernel = counter->user_only,
                                 .exclude_user = counter->kernel_only,
                                 .exclude_hv = 1,
                                 .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                PERF_FORMAT_TOTAL_TIME_RUNNING};
  return sys_perf_event_join(&counts_of(t)->own[i], &attr, t->tid, leader) == 0;
}

/* Opens the group; its counters begin at 0.  An event that cannot be opened is counted as a loss. */
static void open_group(struct thread_state *t)
{
  struct counts_state *state = counts_of(t);
  const struct sys_own *leader = NULL;
  unsigned taken = take_descriptors(t);
  for (unsigned i = 0; i < counts_process.count; i++) {
    state->raw[i] = 0;
    if (counts_process.counters[i].usage || !taken)
      continue;
    if (!open_one(t, i, leader)) {
      rt_lost(t, FORMAT_LOST_EVENTS);
      continue;
    }
    map_page(state, i);
    leader = leader ? leader : &state->own[i];
    state->grouped++;
  }
  give_back(taken - state->grouped);
  state->enabled = state->running = 0;
}

/* The program has closed a descriptor of the group. */
static void reopen_group(struct thread_state *t)
{
  close_group(counts_of(t));
  rt_lost(t, FORMAT_LOST_EVENTS);
  if (counts_of(t)->reopened++ < REOPENED_MAX)
    open_group(t);
}

/* Brings the thread's totals up to date. */
static void read_totals(struct thread_state *t)
{
  struct counts_state *state = counts_of(t);
  struct group_values group;
  struct sys_usage usage;
  if (state->grouped && (read_pages(state, &group) || read_group(state, &group)))
    take_group(state, &group, state->totals);
  else if (state->grouped)
    reopen_group(t);
  if (counts_process.by_usage && sys_usage(&usage)) {
    state->touched = touch_faults();
    take_usage(&usage, state->touched, state->totals);
  }
}

/* ---- start and end ---- */

void counts_start(struct thread_state *t, bool fragments)
{
  struct counts_state *state = counts_of(t);
  uint64_t least = UINT64_MAX;
  if (!counts_process.count)
    return;
  open_group(t);
  for (unsigned i = 0; i < COST_READS; i++) {
    uint64_t began = rt_ticks();
    read_totals(t);
    uint64_t took = rt_ticks() - began;
    least = took < least ? took : least;
  }
  state->price = least * READ_SHARE;
  state->saved = state->price * SAVED_READS;
  state->random = rt_ticks() | 1;
  state->exact = state->on = true;
  for (unsigned i = 0; i < counts_process.count; i++)
    state->passed[i] = state->sampled[i] = state->traced[i] = state->begun[i] = state->totals[i];
  state->boundary = state->begun_at = state->traced_at = state->written_at = state->passed_at = state->sampled_at =
      rt_ticks();
  state->held_at = 0;
  state->counted = true;
  state->fragments = fragments;
  counts_of(t)->attend = true;
}

void counts_stop(struct thread_state *t)
{
  struct counts_state *counts = counts_of(t);
  counts->on = false;
  counts->fragments &= counts->ended;
  close_group(counts);
}

void counts_forget(struct thread_state *t)
{
  memset(counts_of(t)->pages, 0, sizeof counts_of(t)->pages); /* the kernel does not copy them to the child */
  counts_stop(t);
}

/* ---- boundaries ---- */

/* A random number below RUN. */
static unsigned random_skip(struct counts_state *state)
{
  state->random ^= state->random << 13;
  state->random ^= state->random >> 7;
  state->random ^= state->random << 17;
  return (unsigned)(state->random >> 32) % RUN;
}

/* Whether the counters are read at this boundary.  Time is saved up, and each read has its price.  When nothing is
 * left, boundaries are left out until RUN reads can be paid, and then a random number of them more: otherwise the reads
 * would begin after long intervals more often than after short ones. */
static bool may_read(struct counts_state *state, uint64_t elapsed)
{
  uint64_t most = state->price * SAVED_READS;
  state->saved = state->saved + elapsed < most ? state->saved + elapsed : most;
  if (state->saving) {
    if (state->saved < RUN * state->price || state->skip-- > 0)
      return false;
    state->saving = false;
  }
  if (state->saved < state->price) {
    state->saving = true;
    state->skip = random_skip(state);
    return false;
  }
  state->saved -= state->price;
  return true;
}

/* A boundary at that moment.  Returns whether the totals are those of it.  Fragments and constructs that end in one
 * callback have the same boundary, which is read once; what precedes the last boundary belongs to that one. */
static bool pass_boundary(struct thread_state *t, uint64_t moment)
{
  enum { CALLBACK_TICKS = 60 }; /* as in span/graph.h */
  struct counts_state *state = counts_of(t);
  if (state->ended || moment <= state->boundary + CALLBACK_TICKS)
    return state->ended || state->was_read;
  uint64_t elapsed = moment - state->boundary;
  state->boundary = moment;
  state->was_read = may_read(state, elapsed);
  if (state->was_read)
    read_totals(t);
  return state->was_read;
}

/* ---- fragments ---- */

/* In the handler, the totals are those before its own work. */
static void begin_fragment(struct counts_state *state, bool read, uint64_t moment)
{
  const uint64_t *totals = state->own_depth ? state->own_since : state->totals;
  for (unsigned i = 0; i < counts_process.count; i++)
    state->begun[i] = totals[i];
  state->begun_at = moment;
  state->counted = read;
}

void counts_fragment_begin(struct thread_state *t, uint64_t moment)
{
  begin_fragment(counts_of(t), counts_of(t)->own_depth || pass_boundary(t, moment), moment);
}

bool counts_fragment_end(struct thread_state *t, uint64_t moment, uint64_t *counted)
{
  struct counts_state *state = counts_of(t);
  bool read = state->own_depth || pass_boundary(t, moment), known = read && state->counted;
  const uint64_t *totals = state->own_depth ? state->own_since : state->totals;
  if (rt_ever_paused() && moment > state->begun_at && rt_measured(state->begun_at, moment) != moment - state->begun_at)
    known = false;
  for (unsigned i = 0; i < counts_process.count; i++)
    counted[i] = totals[i] > state->begun[i] ? totals[i] - state->begun[i] : 0;
  begin_fragment(state, read, moment);
  return known;
}

/* ---- pauses ---- */

uint64_t counts_measured(uint64_t counted, uint64_t since, uint64_t until)
{
  uint64_t elapsed = until > since ? until - since : 0;
  uint64_t measured = rt_measured_between(since, until);
  return measured == elapsed ? counted : rt_scale(counted, measured, elapsed);
}

/* ---- records ---- */

/* The thread's record of that index; NULL without memory. */
static uint64_t *record_at(struct thread_state *t, uint32_t record)
{
  struct table *records = &counts_of(t)->records;
  uint32_t index;
  while (records->count <= record) {
    if (!table_next(records, &index)) {
      rt_lost(t, FORMAT_LOST_DIRECTIVES);
      return NULL;
    }
    table_publish(records);
  }
  return table_at(records, record);
}

/* Gives what was counted until that moment, when the totals were read, to a record; NULL: there is no memory for it. */
static void add_since(struct counts_state *state, uint64_t *fields, uint64_t moment)
{
  uint64_t *into = NULL;
  if (fields)
    into = state->exact ? exact_of(fields) : rest_of(fields);
  for (unsigned i = 0; i < counts_process.count; i++) {
    if (into && state->totals[i] > state->passed[i])
      into[i] += counts_measured(state->totals[i] - state->passed[i], state->passed_at, moment);
    state->passed[i] = state->totals[i];
  }
  state->passed_at = moment;
}

bool counts_pass(struct thread_state *t, uint32_t record, uint64_t measured, uint64_t elapsed)
{
  struct counts_state *state = counts_of(t);
  if (!state->on || !elapsed ||
      atomic_load_explicit(&rt.closed, memory_order_relaxed)) /* maybe no system calls either */
    return false;
  uint64_t moment = t->record->construct_since, *fields = record_at(t, record);
  bool read = pass_boundary(t, moment);
  state->exact &= read && measured == elapsed;
  if (fields && !state->exact)
    *unread_of(fields) += measured;
  if (!read)
    return false;
  add_since(state, fields, moment);
  state->exact = true;
  return true;
}

/* Was measuring paused since the totals were `passed`? */
static bool was_paused(const struct counts_state *state, uint64_t now)
{
  return now > state->passed_at && rt_measured_between(state->passed_at, now) != now - state->passed_at;
}

void counts_end(struct thread_state *t, uint32_t record, uint64_t measured)
{
  struct counts_state *state = counts_of(t);
  if (!state->on)
    return;
  uint64_t now = rt_ticks(), *fields = record_at(t, record);
  read_totals(t);
  state->ended = true;
  state->exact &= !was_paused(state, now);
  if (fields && !state->exact)
    *unread_of(fields) += measured;
  add_since(state, fields, now);
}

/* What getrusage() reports about a thread, which may be another one. */
static bool ask_usage(const struct thread_state *t, struct sys_usage *usage)
{
  if (t == rt_self)
    return sys_usage(usage);
  return usage_of_thread(t->tid, usage);
}

bool counts_open(const struct thread_state *t, uint64_t *totals)
{
  const struct counts_state *state = counts_of(t);
  struct counts_state copy = *state;
  struct group_values group;
  struct sys_usage usage;
  for (unsigned i = 0; i < counts_process.count; i++)
    totals[i] = state->passed[i];
  if (!state->on || (state->grouped && !read_group(state, &group)) ||
      (counts_process.by_usage && !ask_usage(t, &usage)))
    return false;
  if (state->grouped)
    take_group(&copy, &group, copy.totals);
  if (counts_process.by_usage)
    take_usage(&usage, t == rt_self ? touch_faults() : state->touched, copy.totals);
  for (unsigned i = 0; i < counts_process.count; i++)
    totals[i] = copy.totals[i] > totals[i] ? copy.totals[i] : totals[i];
  return true;
}

void counts_add_open(const struct thread_state *t, uint64_t *fields, const uint64_t *totals, uint64_t measured)
{
  const struct counts_state *state = counts_of(t);
  uint64_t now = rt_ticks();
  bool exact = state->exact && !was_paused(state, now);
  uint64_t *into = exact ? exact_of(fields) : rest_of(fields);
  if (!exact)
    *unread_of(fields) += measured;
  for (unsigned i = 0; i < counts_process.count; i++)
    into[i] += counts_measured(totals[i] - state->passed[i], state->passed_at, now);
}

/* ---- the tool's own events, and samples ---- */

void counts_own_begin(struct thread_state *t)
{
  struct counts_state *state = counts_of(t);
  if (!state->on || state->own_depth++)
    return;
  read_totals(t);
  for (unsigned i = 0; i < counts_process.count; i++)
    state->own_since[i] = state->totals[i];
}

bool counts_leave_out(struct thread_state *t)
{
  struct counts_state *state = counts_of(t);
  uint64_t price = 2 * state->price;
  if (!state->on || (!state->own_depth && (state->saving || state->saved < price)))
    return false;
  state->saved -= state->own_depth ? 0 : price;
  counts_own_begin(t);
  return true;
}

void counts_own_end(struct thread_state *t)
{
  struct counts_state *state = counts_of(t);
  if (!state->on || --state->own_depth)
    return;
  read_totals(t);
  for (unsigned i = 0; i < counts_process.count; i++) {
    uint64_t own = state->totals[i] - state->own_since[i];
    state->passed[i] += own;
    state->begun[i] += own;
    state->sampled[i] += own;
    state->traced[i] += own;
    state->held[i] += own;
  }
}

void counts_sampled(struct thread_state *t, const uint64_t *totals, uint64_t *counted)
{
  struct counts_state *state = counts_of(t);
  uint64_t now = rt_ticks();
  for (unsigned i = 0; i < counts_process.count; i++) {
    counted[i] = totals[i] > state->sampled[i] ? totals[i] - state->sampled[i] : 0;
    counted[i] = counts_measured(counted[i], state->sampled_at, now);
    state->sampled[i] = totals[i];
  }
  state->sampled_at = now;
}
