#include "hpcrun-lite/rt/sampling/lock_counts.h"

#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/lock_table.h"

void lock_counts_meet(struct thread_state *t, struct format_lock *lock)
{
  uint32_t node = lock->id ? context_met(t) : CCT_NONE;
  lock->node = node == CCT_NONE ? 0 : node;
}

/* Returns the record of a lock that is not among those acquired lately, and keeps it; NULL without memory. */
static __attribute__((noinline)) struct format_lock *seek(struct thread_state *t, struct lock_count *slot, uint64_t key,
                                                          uint64_t id, enum format_lock_kind kind)
{
  struct format_lock *lock = lock_table_known(t, id, kind);
  if (!lock) {
    rt_inside_inc(t);
    lock = rt_stopped() ? NULL : lock_table_find(t, id, kind);
    if (lock)
      lock_counts_meet(t, lock);
    rt_inside_dec(t);
  }
  slot->key = 0; /* a handler of the program may lock, too */
  atomic_signal_fence(memory_order_seq_cst);
  slot->lock = lock;
  atomic_signal_fence(memory_order_seq_cst);
  slot->key = lock ? key : 0;
  return lock;
}

void lock_counts_acquired(struct thread_state *t, uint64_t id, enum format_lock_kind kind, bool again)
{
  struct lock_table *locks = &sampling_of(t)->locks;
  uint64_t key = id ^ (uint64_t)kind << 60;
  struct lock_count *slot = &locks->counts[key * 0x9e3779b97f4a7c15ULL >> (64 - LOCK_COUNTS_LOG)];
  if (locks->attends & LOCKS_NOTED && !again)
    lock_table_forget_hold(t, id);
  if (!(locks->attends & LOCKS_COUNTED))
    return;
  struct format_lock *lock = __builtin_expect(slot->key == key, 1) ? slot->lock : seek(t, slot, key, id, kind);
  if (lock)
    lock->acquisitions++;
}
