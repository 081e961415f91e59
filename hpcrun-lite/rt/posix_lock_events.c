#include "hpcrun-lite/rt/posix_lock_events.h"

#include "hpcrun-lite/rt/construct/trace.h"

/* If the thread waits for the lock for the first time, its record gets the context of the call.  Returns the record. */
static struct format_lock *meet(struct thread_state *t, uint64_t id, enum format_lock_kind kind)
{
  rt_inside_inc(t);
  struct format_lock *lock = rt_stopped() ? NULL : lock_table_find(t, id, kind);
  if (lock && !lock->waits)
    lock_counts_meet(t, lock);
  rt_inside_dec(t);
  return lock;
}

void posix_lock_events_wait(struct thread_state *t, const void *lock, enum format_lock_kind kind, const void *code)
{
  struct posix_wait *wait = &sampling_of(t)->posix_wait;
  posix_lock_events_waited(t); /* a call that a handler's jump has left, or in which a handler locks */
  if (t->inside || t->activity.idle || t->activity.lockwait || t->activity.call || code_in_runtime(code))
    return;
  *wait =
      (struct posix_wait){.lock = (uint64_t)lock, .kind = kind, .record = meet(t, (uint64_t)lock, kind), .open = true};
  t->wait_id = wait->lock;
  sampling_of(t)->lock_kind = (uint8_t)kind;
  uint64_t since = waiting_lock_begin(t, code);
  wait->open = since != 0;
  if (!since)
    return;
  if (wait->record)
    wait->record->since = since;
  trace_sleeps(t, since);
  wait->key = waiting_lock_key(t);
  wait->since = rt_measured_clock(since);
  wait->marked = lock_waiters_begin(wait->lock, wait->key, wait->since);
  if (!wait->marked)
    rt_lost(t, FORMAT_LOST_RELEASES);
}

uint64_t posix_lock_events_waited(struct thread_state *t)
{
  struct posix_wait *wait = &sampling_of(t)->posix_wait;
  uint64_t now = 0;
  if (!wait->open || t->inside)
    return 0;
  bool marked = wait->marked;
  wait->marked = false;
  if (marked && !lock_waiters_ended(wait->lock, wait->key, wait->since))
    rt_lost(t, FORMAT_LOST_RELEASES);
  if (t->activity.lockwait) {
    t->wait_id = wait->lock;
    sampling_of(t)->lock_kind = (uint8_t)wait->kind;
    sampling_of(t)->lock_waits = true;
    now = waiting_lock_end(t);
    trace_slept(t, now ? now : rt_ticks(), TRACELOG_LOCK_WAIT, false);
  }
  if (wait->record)
    wait->record->since = 0;
  wait->open = false;
  return now;
}

void posix_lock_events_release(struct thread_state *t, const void *lock, struct lock_release *release)
{
  release->count = 0;
  release->held = 0;
  if (t->inside)
    return;
  if (lock_waiters_any((uint64_t)lock))
    lock_waiters_take((uint64_t)lock, release);
  if (waiting_lock_noted(t))
    release->held = lock_table_hold_end(t, (uint64_t)lock);
}

void posix_lock_events_released(struct thread_state *t, const void *lock, enum format_lock_kind kind,
                                const struct lock_release *release, const void *code, uint64_t sp)
{
  if (release->count)
    lock_waiters_charge(t, (uint64_t)lock, kind, release, code, sp);
  if (release->held)
    lock_table_held(t, (uint64_t)lock, kind, release->held);
  if (!t->inside)
    waiting_lock_released(t);
}
