#include "hpcrun-lite/rt/span/barrier.h"

#include "hpcrun-lite/rt/span/explicit_task.h"

enum { SLOTS_FIRST = 16, LAST_BIT = 63, PARITIES = 2 };

/* What a thread has left at its last barrier of that parity, in that region (0: nothing).  Its owner writes it under
 * the lock; the creator that ends the region empties it, under the lock.  `region` and both lengths are also read
 * without: who finds the region, and a later clock, takes the lock and looks again.  `region` is stored last. */
struct arrival {
  uint32_t lock;
  uint64_t region, work;
  struct clock clock;
} __attribute__((aligned(64)));

struct arrivals {
  struct arrival at[PARITIES];
};

static struct table slots; /* struct arrivals, by thread_state.live_slot */
static atomic_flag slots_lock = ATOMIC_FLAG_INIT;

void barrier_start(void)
{
  atomic_flag_clear(&slots_lock);
  table_init(&slots, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct arrivals), SLOTS_FIRST);
}

bool barrier_start_thread(struct thread_state *t)
{
  bool room = table_reach(&slots, &slots_lock, t->live_slot);
  span_of(t)->arrivals = room ? table_at(&slots, t->live_slot) : NULL;
  return room;
}

static struct arrival *arrival_at(uint32_t slot, uint32_t interval)
{
  return &((struct arrivals *)table_at(&slots, slot))->at[interval % PARITIES];
}

static inline uint64_t region_of(const struct arrival *arrival)
{
  return __atomic_load_n(&arrival->region, __ATOMIC_ACQUIRE);
}

/* The thread takes part in regions of that team from now on.  Most have done so before: all threads write to the line,
 * but seldom. */
static inline void join_members(const struct thread_state *t, struct team *team)
{
  uint64_t bit = 1ull << (t->live_slot < LAST_BIT ? t->live_slot : LAST_BIT);
  if (__builtin_expect(!(__atomic_load_n(&team->members, __ATOMIC_RELAXED) & bit), 0))
    __atomic_fetch_or(&team->members, bit, __ATOMIC_SEQ_CST);
}

/* The arrival in another region that the slot has, under its lock, goes to the join if that region is still open. */
static void leave_behind(struct thread_state *t, const struct arrival *arrival, uint32_t interval)
    __attribute__((noinline));
static void leave_behind(struct thread_state *t, const struct arrival *arrival, uint32_t interval)
{
  struct team *team = graph_open_team(arrival->region);
  if (!team)
    return;
  struct barrier_interval *to = &team->intervals[interval % PARITIES];
  clock_lock(&to->ends.join.lock);
  to->work += arrival->work;
  clock_raise(t, &to->ends.join.latest, &arrival->clock);
  clock_unlock(&to->ends.join.lock);
}

void barrier_arrive(struct thread_state *t, struct task *task, struct team *team)
{
  struct arrival *own = &span_of(t)->arrivals->at[task->interval % PARITIES];
  struct scope *scope = task->scopes_open ? &task->around[0] : &task->scope;
  uint64_t work = scope->pending;
  scope->pending = 0;
  join_members(t, team);
  clock_lock(&own->lock);
  if (own->region != task->region) {
    if (own->region)
      leave_behind(t, own, task->interval);
    own->work = work;
    clock_set(t, &own->clock, &task->now);
    __atomic_store_n(&own->region, task->region, __ATOMIC_RELEASE);
  } else {
    own->work += work;
    clock_raise(t, &own->clock, &task->now);
  }
  clock_unlock(&own->lock);
}

/* Raises a clock to an arrival in that region. */
static inline void take(struct thread_state *t, struct clock *clock, struct arrival *from, uint64_t region)
{
  if (region_of(from) != region || !clock_is_later(&from->clock, clock))
    return;
  clock_lock(&from->lock);
  if (from->region == region)
    clock_raise(t, clock, &from->clock);
  clock_unlock(&from->lock);
}

/* Runs a statement for each slot that a set of bits stands for: the last bit, for all from there on. */
#define FOR_EACH_SLOT(slot, set)                                                                                       \
  for (uint64_t left_ = (set), all_ = __atomic_load_n(&slots.count, __ATOMIC_ACQUIRE); left_; left_ &= left_ - 1)      \
    for (uint32_t slot = (uint32_t)__builtin_ctzll(left_), end_ = slot < LAST_BIT ? slot + 1 : (uint32_t)all_;         \
         slot < end_; slot++)

void barrier_join(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region, uint32_t interval)
{
  FOR_EACH_SLOT(slot, __atomic_load_n(&team->members, __ATOMIC_RELAXED))
  take(t, clock, arrival_at(slot, interval), region);
  explicit_task_join_interval(t, clock, region, interval);
}

/* The same for the creator, which also takes the work and empties the slot.  A thread that was not in this region may
 * have left the team. */
static uint64_t empty(struct thread_state *t, struct clock *clock, struct arrival *from, uint64_t region)
{
  uint64_t work = 0;
  if (region_of(from) != region)
    return 0;
  clock_lock(&from->lock);
  if (from->region == region) {
    work = from->work;
    if (clock)
      clock_raise(t, clock, &from->clock);
    from->region = 0;
  }
  clock_unlock(&from->lock);
  return work;
}

static void clear_interval(struct thread_state *t, struct barrier_interval *interval)
{
  const struct join *join = &interval->ends.join;
  if (!(interval->work | interval->ends.holders | join->latest.burdened | join->name | join->within))
    return; /* mostly: the lines stay where they are */
  interval->work = interval->ends.holders = 0;
  join_clear(t, &interval->ends.join);
}

void barrier_clear(struct thread_state *t, struct team *team)
{
  for (uint32_t i = 0; i < PARITIES; i++)
    clear_interval(t, &team->intervals[i]);
}

uint64_t barrier_close(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region)
{
  uint64_t work = 0;
  FOR_EACH_SLOT(slot, __atomic_load_n(&team->members, __ATOMIC_RELAXED))
  for (uint32_t i = 0; i < PARITIES; i++)
    work += empty(t, clock, arrival_at(slot, i), region);
  for (uint32_t i = 0; i < PARITIES; i++) {
    if (clock)
      explicit_task_join_interval(t, clock, region, i);
    work += team->intervals[i].work;
  }
  barrier_clear(t, team);
  return work;
}

void barrier_reach(struct thread_state *self, const struct team *team, uint64_t region)
{
  for (uint32_t i = 0; i < PARITIES; i++)
    join_offer(self, &graph_program, &team->intervals[i].ends.join.latest);
  FOR_EACH_SLOT(slot, __atomic_load_n(&team->members, __ATOMIC_RELAXED))
  for (uint32_t i = 0; i < PARITIES; i++) {
    struct arrival *from = arrival_at(slot, i);
    clock_lock(&from->lock);
    if (from->region == region)
      join_offer(self, &graph_program, &from->clock);
    clock_unlock(&from->lock);
  }
}
