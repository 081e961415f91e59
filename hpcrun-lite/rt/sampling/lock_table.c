#include "hpcrun-lite/rt/sampling/lock_table.h"

#include "common/order.h"
#include "hpcrun-lite/rt/core/modules.h"

enum { PASSED_MOST = 10000, LOCKS_FIRST = 4, LOCKS_MAX = 4096, LAST = FORMAT_LOCK_HOLDERS - 1 };

void lock_table_init(struct thread_state *t)
{
  struct lock_table *locks = &sampling_of(t)->locks;
  *locks = (struct lock_table){.attends = sampling_process.count_locks ? LOCKS_COUNTED : 0};
  table_init(&locks->records, FORMAT_LOCKS, ARENA_LOCKS, t->index, sizeof(struct format_lock), LOCKS_FIRST);
}

void lock_table_release(struct thread_state *t)
{
  table_release(&sampling_of(t)->locks.records);
}

/* The first record with that hash. */
static uint32_t *list_of(struct lock_table *locks, uint64_t id)
{
  return &locks->first[(id * 0x9e3779b97f4a7c15ULL >> 32) % LOCK_LISTS];
}

struct format_lock *lock_table_known(struct thread_state *t, uint64_t id, enum format_lock_kind kind)
{
  struct lock_table *locks = &sampling_of(t)->locks;
  for (uint32_t i = *list_of(locks, id); i;) {
    struct format_lock *lock = table_at(&locks->records, i);
    if (lock->id == id && lock->kind == (uint32_t)kind)
      return lock;
    i = lock->next;
  }
  return NULL;
}

/* Returns a new record; record 0 if there is no room for one, or no such kind; NULL, and counts a loss, without memory
 * for any. */
static struct format_lock *add(struct thread_state *t, uint64_t id, enum format_lock_kind kind)
{
  struct lock_table *locks = &sampling_of(t)->locks;
  uint32_t index, module = 0, *first = list_of(locks, id);
  if (!locks->records.count && table_next(&locks->records, &index))
    table_publish(&locks->records);
  bool own = (uint32_t)kind < FORMAT_LOCK_KINDS && locks->records.count < LOCKS_MAX;
  struct format_lock *lock = own ? table_next(&locks->records, &index) : NULL;
  if (!locks->records.count) {
    rt_lost(t, FORMAT_LOST_MEMORY);
    return NULL;
  }
  if (!lock)
    return table_at(&locks->records, 0);
  *lock = (struct format_lock){.id = id, .kind = kind, .next = *first};
  const struct format_module *in = modules_loaded(t, id, &module);
  if (in) {
    lock->module = module;
    lock->offset = id - in->base;
  }
  table_publish(&locks->records);
  *first = index;
  return lock;
}

struct format_lock *lock_table_find(struct thread_state *t, uint64_t id, enum format_lock_kind kind)
{
  struct format_lock *lock = lock_table_known(t, id, kind);
  return lock ? lock : add(t, id, kind);
}

/* ---- waits ---- */

/* The first wait for one of OpenMP's locks or an object of a pool has the context of its wait site; those of POSIX have
 * got that of the call when the wait began. */
static void place_wait(struct format_lock *lock, const struct format_wait *at)
{
  bool posix = lock->kind >= FORMAT_LOCK_MUTEX && lock->kind <= FORMAT_LOCK_SPINLOCK;
  if (!lock->waits && lock->id && !posix && at->node)
    lock->node = at->node;
}

static void add_wait(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  uint64_t ticks = sampling->locks.waited;
  struct format_lock *lock = lock_table_find(t, sampling->locks.waited_id, sampling->locks.waited_kind);
  sampling->locks.waited = 0;
  if (!lock)
    return;
  place_wait(lock, sampling->locks.waited_at);
  lock->waits++;
  lock->ticks += ticks;
  lock->longest = MAX(lock->longest, ticks);
}

void lock_table_add(struct thread_state *t)
{
  rt_inside_inc(t);
  if (!rt_stopped())
    add_wait(t);
  rt_inside_dec(t);
}

struct format_lock *lock_table_stopped(struct thread_state *t, struct lock_wait_open open)
{
  if (t != rt_self && __atomic_load_n(&t->inside, __ATOMIC_ACQUIRE))
    return NULL;
  if (sampling_of(t)->locks.waited)
    add_wait(t);
  struct format_lock *lock = open.ticks ? lock_table_find(t, open.id, open.kind) : NULL;
  if (lock && open.at)
    place_wait(lock, open.at);
  return lock;
}

/* ---- holds ---- */

void lock_table_hold(struct thread_state *t, uint64_t id, uint64_t since)
{
  struct lock_table *locks = &sampling_of(t)->locks;
  unsigned i = 0;
  while (i < LOCK_HOLDS && locks->holds[i].id)
    i++;
  if (i == LOCK_HOLDS)
    return;
  locks->holds_passed = 0;
  locks->holds[i].since = since;
  locks->holds[i].id = id;
  machine_increase(&locks->holds_open); /* a handler of the program may lock, too */
  locks->attends |= LOCKS_NOTED;
}

static void free_hold(struct lock_table *locks, unsigned hold)
{
  locks->holds[hold].id = 0;
  machine_decrease(&locks->holds_open);
}

uint64_t lock_table_hold_end(struct thread_state *t, uint64_t id)
{
  struct lock_table *locks = &sampling_of(t)->locks;
  for (unsigned i = 0; i < LOCK_HOLDS; i++)
    if (locks->holds[i].id == id) {
      free_hold(locks, i);
      return rt_measured_between(locks->holds[i].since, rt_ticks());
    }
  if (++locks->holds_passed < PASSED_MOST)
    return 0;
  locks->holds_passed = 0; /* another thread has released them, or they were destroyed */
  for (unsigned i = 0; i < LOCK_HOLDS; i++)
    locks->holds[i].id = 0;
  locks->holds_open = 0;
  return 0;
}

void lock_table_forget_hold(struct thread_state *t, uint64_t id)
{
  struct lock_table *locks = &sampling_of(t)->locks;
  for (unsigned i = 0; i < LOCK_HOLDS; i++)
    if (locks->holds[i].id == id)
      free_hold(locks, i);
}

void lock_table_held(struct thread_state *t, uint64_t id, enum format_lock_kind kind, uint64_t ticks)
{
  rt_inside_inc(t);
  struct format_lock *lock = rt_stopped() ? NULL : lock_table_find(t, id, kind);
  if (lock && lock->id) /* the sum of several locks bounds nothing */
    lock->held += ticks;
  rt_inside_dec(t);
}

void lock_table_unnote(struct thread_state *t)
{
  struct sampling_thread *sampling = sampling_of(t);
  if (!sampling->locks.waited && !sampling->switches.lock && !sampling->locks.holds_open)
    sampling->locks.attends &= (uint8_t)~LOCKS_NOTED;
}

/* ---- releases ---- */

void lock_table_released(struct thread_state *t, uint64_t id, enum format_lock_kind kind, uint64_t ns, uint32_t node)
{
  struct format_lock *lock = lock_table_find(t, id, kind);
  unsigned i = 0, least = 0;
  if (!lock)
    return;
  lock->released += ns;
  for (; i < LAST && lock->holder[i] != node && lock->holder[i]; i++)
    least = lock->holder_ns[i] < lock->holder_ns[least] ? i : least;
  if (!node || (i == LAST && lock->holder_ns[least] >= ns)) {
    lock->holder_ns[LAST] += ns;
    return;
  }
  if (i == LAST) { /* it takes the place of the one with least */
    i = least;
    lock->holder_ns[LAST] += lock->holder_ns[i];
    lock->holder_ns[i] = 0;
  }
  lock->holder[i] = node;
  lock->holder_ns[i] += ns;
}

void lock_table_follow_merge(struct thread_state *t, uint32_t from, uint32_t to)
{
  struct sampling_thread *sampling = sampling_of(t);
  const struct table *records = &sampling->locks.records;
  for (unsigned i = 0; i < sizeof sampling->releases / sizeof *sampling->releases; i++)
    if (sampling->releases[i].node == from)
      sampling->releases[i].node = to;
  for (uint32_t i = 1; i < records->count; i++) {
    struct format_lock *lock = table_at(records, i);
    lock->node = lock->node == from ? to : lock->node;
    for (unsigned k = 0; k < LAST; k++)
      lock->holder[k] = lock->holder[k] == from ? to : lock->holder[k];
  }
}
