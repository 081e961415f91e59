#include "hpcrun-lite/rt/lock_events.h"

#include "hpcrun-lite/rt/code_address.h"
#include "hpcrun-lite/rt/construct_events.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/construct/construct_stack.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/worksharing.h"

/* ---- acquisitions that are not recorded yet ---- */

static bool is_lock(int kind)
{
  return kind <= ompt_mutex_test_nest_lock;
}

static struct hold_site *site_at(struct thread_state *t, const void *code)
{
  return &span_of(t)->hold_sites[((uint64_t)code ^ (uint64_t)code >> 3) % HOLD_SITES];
}

/* The key of a site's record, if it is met at that place of the stack. */
static uint64_t key_at(const struct construct_open *top, int kind, uint32_t row)
{
  return construct_key(top->record, construct_events_mutex_kind(kind), row, top->column == FORMAT_TIME_WAIT);
}

/* Keeps the site of an acquisition for the next ones, if its record is known, and its context.  The log has the events
 * in their order. */
static void keep_site(struct thread_state *t, int kind, uint32_t row, const void *code)
{
  const struct construct_open *top = construct_of(t)->top;
  if (!is_lock(kind)) /* it is on the stack */
    top = top->below;
  if (!row || !top || kind == ompt_mutex_ordered || !work_clock_is_time() || graph_log_on() || counts_of(t)->attend)
    return;
  uint64_t key = key_at(top, kind, row);
  const struct construct_known *known = construct_known_at(t, key);
  if (known->key == key && known->at->context_sought)
    *site_at(t, code) = (struct hold_site){
        .code = code, .key = key, .known = known, .total = directive_total(t, row), .row = row, .kind = kind};
}

/* Is what is known of the site true where the thread is now? */
static bool site_holds(const struct thread_state *t, const struct hold_site *site)
{
  const struct construct_open *top = construct_of(t)->top;
  bool in_wait = top->column == FORMAT_TIME_WAIT;
  return site->known && site->known->key == site->key && site->key >> 32 == top->record && (site->key & 1) == in_wait;
}

/* Does the thread run a task that is not in the graph yet, or not in the stack of constructs? */
static bool plain_or_bundled(const struct span_thread *span)
{
  return span->plain.data || span->bundled_tasks.data;
}

/* The site of an acquisition that need only be noted, and is recorded with the release: it is one like others before.
 * NULL: it must be recorded. */
static inline struct hold_site *site_to_note(struct thread_state *t, int kind, const void *code)
{
  struct span_thread *span = span_of(t);
  struct hold_site *site = site_at(t, code);
  if (site->code != code || site->kind != kind || span->hold.site || plain_or_bundled(span) || !site_holds(t, site) ||
      span->repeated.untimed || !span->running || span->running->flags & TASK_WAITING || counts_of(t)->attend ||
      rt_ever_paused())
    return NULL;
  return site;
}

/* Notes it.  waited: the moment, if the thread has waited, else 0. */
static inline void note(struct thread_state *t, struct hold_site *site, uint64_t wait_id, uint64_t waited)
{
  struct span_thread *span = span_of(t);
  uint64_t moment = waited ? waited : rt_ticks(), ended = waited ? span->work.wait_since : moment;
  if (__builtin_expect(!work_clock_cut(t, ended, moment, &span->hold.work), 0)) {
    span->hold.work = work_clock_until(t, ended);
    graph_fragment_begin_after(t, moment);
  }
  span->repeated.open = NULL;
  span->hold.wait_id = wait_id;
  span->hold.since = moment;
  span->hold.site = site;
}

/* Something else happens before the release.  events: how many there were, up to the acquisition. */
static void record_acquisition(struct thread_state *t, uint64_t events)
{
  struct lock_hold *hold = &span_of(t)->hold;
  struct hold_site *site = hold->site;
  hold->site = NULL;
  worksharing_held_on(t, is_lock(site->kind), hold->wait_id, site->row, hold->work);
  construct_acquired(t, construct_events_mutex_kind(site->kind), site->row, hold->wait_id, hold->since);
  governor_begin_at(t, events, 0);
}

/* The lock of the acquisition is released, and nothing has happened in between.  Returns false if it is another one, or
 * a case that is rare; or if a sample or a flush has recorded it since the caller looked. */
static inline bool record_hold(struct thread_state *t, bool lock, uint64_t wait_id, uint64_t moment)
{
  struct lock_hold *hold = &span_of(t)->hold;
  const struct hold_site *site = hold->site;
  if (!site || hold->wait_id != wait_id || lock != is_lock(site->kind) || !site_holds(t, site) ||
      counts_of(t)->attend || rt_ever_paused())
    return false;
  const struct construct_known *known = site->known;
  uint64_t since = hold->since;
  if (!worksharing_held(t, lock, moment))
    return false;
  construct_held(t, known, since, moment);
  return true;
}

void lock_events_record(struct thread_state *t)
{
  if (!graph_enter(t))
    return;
  if (span_of(t)->hold.site)
    record_acquisition(t, governor_events(t) - 1);
  graph_leave_event(t); /* the acquisition is counted already */
}

void lock_events_interrupted(struct thread_state *t)
{
  rt_inside_inc(t);
  if (span_of(t)->hold.site && t->inside == 1 && !rt_graph_suspended())
    record_acquisition(t, governor_events(t));
  rt_inside_dec(t);
}

void lock_events_record_suspended(struct thread_state *t)
{
  if (span_of(t)->hold.site && (t == rt_self || !__atomic_load_n(&t->inside, __ATOMIC_ACQUIRE)))
    record_acquisition(t, governor_events(t));
}

/* ---- light instances ---- */

/* A light instance begins, of a lock or critical construct.  Returns false where it is to be followed as a whole. */
static bool acquire_light(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, const void *codeptr)
    __attribute__((noinline));
static bool acquire_light(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, const void *codeptr)
{
  uint64_t stands_for = 0;
  if (construct_of(t)->light_count)
    construct_light_ends(t, wait_id); /* its release was not seen */
  if (governor_thins(t) && kind != ompt_mutex_ordered && span_of(t)->running) {
    uint32_t row = worksharing_mutex_row(t, kind, codeptr);
    if (construct_events_light(t, kind, row, wait_id, moment, &stands_for)) {
      worksharing_mutex_light(t, row, moment);
      return true;
    }
  }
  governor_begin(t, stands_for);
  return false;
}

/* The body of an instance that stands for light ones begins when the tool has done its work, which these do not have.
 */
static void begin_late(struct thread_state *t, int kind, uint64_t wait_id)
{
  uint64_t now = rt_ticks() + WORK_CALLBACK_TICKS;
  work_clock_begin(t, work_clock_is_time() ? now : work_clock_value(t));
  construct_acquired_late(t, construct_events_mutex_kind(kind), wait_id, now);
}

/* A light instance begins, where others have begun before.  waited: as for note().  Returns false where that is not
 * known. */
static inline bool light_begin(struct thread_state *t, int kind, uint64_t wait_id, uint64_t waited, const void *code)
{
  struct span_thread *span = span_of(t);
  const struct hold_site *site = site_at(t, code);
  if (site->code != code || site->kind != kind || span->hold.site || plain_or_bundled(span) || !site_holds(t, site) ||
      !span->running || rt_ever_paused() || !construct_light_again(t, site->known, wait_id, waited))
    return false;
  site->total->instances++;
  site->total->light++;
  if (waited) /* what the thread did while it waited is no work */
    work_clock_go_on(t, waited);
  return true;
}

/* ---- events ---- */

/* The acquisition is recorded now. */
static void acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, const void *codeptr)
    __attribute__((noinline));
static void acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment, const void *codeptr)
{
  const void *code = codeptr;
  if (!graph_enter(t))
    return;
  if (span_of(t)->hold.site) /* of a lock around this one */
    record_acquisition(t, governor_events(t) - 1);
  if (moment)
    construct_waited(t);
  /* A thread that ends a critical section can clear the address that libomp keeps for another thread. */
  if (code_in_runtime(codeptr))
    codeptr = code_of_caller(t, graph_current_data(NULL), codeptr, NULL);
  if (!governor_is_on() || !acquire_light(t, kind, wait_id, moment, codeptr)) {
    uint32_t row = worksharing_mutex_acquired(t, kind, wait_id, moment, codeptr);
    construct_events_acquired(t, kind, row, wait_id, moment);
    if (code == codeptr)
      keep_site(t, kind, row, code);
    if (governor_is_on() && span_of(t)->governor.stands_for)
      begin_late(t, kind, wait_id);
  }
  graph_leave(t);
}

/* Has the thread waited for the lock that it has had since that moment, or was all of the time the runtime's own work?
 * An instance that is only counted has no such time. */
static inline bool has_waited(const struct thread_state *t, uint64_t moment)
{
  return construct_of(t)->lock_runtime < moment - t->lock_since;
}

void lock_events_graph_acquired(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment,
                                const void *codeptr)
{
  if (!counts_of(t)->attend) {
    rt_inside_inc(t);
    governor_enter(t);
    bool begun = false, thins = governor_thins(t), timed = moment && (!thins || has_waited(t, moment));
    if (!rt_graph_suspended()) {
      if (timed)
        construct_waited(t);
      struct hold_site *site = thins ? NULL : site_to_note(t, kind, codeptr);
      if (site)
        note(t, site, wait_id, moment);
      begun = site || (thins && light_begin(t, kind, wait_id, timed ? moment : 0, codeptr));
    }
    if (begun) {
      graph_leave(t);
      return;
    }
    graph_leave_event(t);
  }
  acquired(t, kind, wait_id, moment, codeptr);
}

void lock_events_acquired_noted(struct thread_state *t, int kind, uint64_t wait_id, const void *codeptr,
                                uint64_t moment)
{
  lock_events_count(t, kind, wait_id);
  trace_lock_held(t, wait_id);
  if (span_process.online)
    lock_events_graph_acquired(t, kind, wait_id, moment, codeptr);
}

enum lock_prepared lock_events_prepare_graph(struct thread_state *t, int kind, uint64_t wait_id, const void *code)
{
  enum lock_prepared prepared = LOCK_RECORD;
  if (counts_of(t)->attend)
    return prepared;
  rt_inside_inc(t);
  governor_enter(t);
  if (rt_graph_suspended())
    ;
  else if (!governor_thins(t))
    prepared = site_to_note(t, kind, code) ? LOCK_NOTE : LOCK_RECORD;
  else if (light_begin(t, kind, wait_id, 0, code))
    prepared = LOCK_BEGUN;
  if (prepared == LOCK_BEGUN)
    graph_leave(t);
  else
    graph_leave_event(t);
  return prepared;
}

void lock_events_withdraw(struct thread_state *t, const void *code)
{
  rt_inside_inc(t);
  construct_light_withdraw(t);
  struct directive_total *total = site_at(t, code)->total;
  total->instances--;
  total->light--;
  governor_take_back(t);
  rt_inside_dec(t);
}

bool lock_events_note(struct thread_state *t, uint64_t wait_id, const void *code)
{
  rt_inside_inc(t);
  governor_enter(t);
  bool noted = !rt_graph_suspended();
  if (noted) {
    note(t, site_at(t, code), wait_id, 0);
    graph_leave(t);
  } else {
    graph_leave_event(t);
  }
  return noted;
}

void lock_events_acquired_again(struct thread_state *t, uint64_t wait_id)
{
  waiting_lock_end(t);
  lock_events_count(t, ompt_mutex_nest_lock, wait_id);
  construct_held_already(t);
}

/* What the tool has done since that moment is no work. */
static void release_light_blamed(struct thread_state *t, uint64_t moment)
{
  graph_fragment_end_at(t, moment);
  graph_fragment_begin(t);
}

/* A release whose acquisition is recorded, or must be recorded first. */
static void released(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment) __attribute__((noinline));
static void released(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment)
{
  bool blamed = sampling_of(t)->released.samples;
  if (blamed)
    sample_charge_released(t, wait_id, (enum format_lock_kind)kind);
  if (!graph_enter(t))
    return;
  if (span_of(t)->hold.site)
    record_acquisition(t, governor_events(t) - 1);
  if (governor_is_on() && construct_of(t)->light_count && construct_light_ends(t, wait_id)) {
    if (blamed)
      release_light_blamed(t, moment);
  } else {
    worksharing_mutex_released(t, kind, wait_id, moment, blamed);
    construct_events_released(t, kind, wait_id, work_clock_is_time() ? moment : 0);
  }
  graph_leave(t);
}

/* The thread's light instance ends.  Returns false if that goes on in released(), where its event is counted. */
static inline bool release_light(struct thread_state *t)
{
  rt_inside_inc(t);
  governor_enter(t);
  bool ended = !rt_graph_suspended() && !sampling_of(t)->released.samples;
  if (ended) {
    construct_light_ends_only(t);
    graph_leave(t);
  } else {
    graph_leave_event(t);
  }
  return ended;
}

/* The same for the noted acquisition, with the release. */
static inline bool release_held(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment)
{
  rt_inside_inc(t);
  governor_enter(t);
  bool ended =
      !rt_graph_suspended() && !sampling_of(t)->released.samples && record_hold(t, is_lock(kind), wait_id, moment);
  if (ended)
    graph_leave(t);
  else
    graph_leave_event(t);
  return ended;
}

static __attribute__((noinline)) void release_otherwise(struct thread_state *t, int kind, uint64_t wait_id,
                                                        uint64_t moment)
{
  if (span_of(t)->hold.site && release_held(t, kind, wait_id, moment))
    return;
  if (!moment && span_process.online) /* it was not needed for a light instance */
    moment = work_clock_value(t);
  released(t, kind, wait_id, moment);
}

void lock_events_release(struct thread_state *t, int kind, uint64_t wait_id, uint64_t moment)
{
  if (!construct_is_light(t, wait_id) || span_of(t)->hold.site || !release_light(t))
    release_otherwise(t, kind, wait_id, moment);
}

void lock_events_release_late(struct thread_state *t, int kind, uint64_t wait_id)
{
  lock_events_left(t, kind, wait_id, lock_events_leave(t, wait_id));
}

void lock_events_ends(struct thread_state *t, uint64_t wait_id)
{
  if (!graph_enter(t))
    return;
  worksharing_lock_ends(wait_id);
  graph_leave(t);
}
