#include "hpcrun-lite/rt/span/barrier.h"

#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/explicit_task.h"

struct arrivals *barrier_first_slots;
static struct table slots; /* struct arrivals, by thread_state.live_slot */
static atomic_flag slots_lock = ATOMIC_FLAG_INIT;

void barrier_start(void)
{
  atomic_flag_clear(&slots_lock);
  barrier_first_slots = NULL;
  table_init(&slots, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct arrivals), BARRIER_LAST_BIT + 1);
}

bool barrier_start_thread(struct thread_state *t)
{
  bool room = table_reach(&slots, &slots_lock, t->live_slot);
  span_of(t)->arrivals = room ? table_at(&slots, t->live_slot) : NULL;
  if (room && !__atomic_load_n(&barrier_first_slots, __ATOMIC_ACQUIRE))
    __atomic_store_n(&barrier_first_slots, table_at(&slots, 0), __ATOMIC_RELEASE);
  span_of(t)->member = 1ull << (t->live_slot < BARRIER_LAST_BIT ? t->live_slot : BARRIER_LAST_BIT);
  return room;
}

struct arrivals *barrier_next_of_last_bit(struct barrier_members *members)
{
  members->slot = members->slot ? members->slot : BARRIER_LAST_BIT;
  if (members->slot >= __atomic_load_n(&slots.count, __ATOMIC_ACQUIRE))
    return NULL;
  return table_at(&slots, members->slot++);
}

static inline uint64_t region_of(const struct arrival *arrival)
{
  return __atomic_load_n(&arrival->region, __ATOMIC_ACQUIRE);
}

void barrier_add_member(const struct thread_state *t, uint64_t *members)
{
  __atomic_fetch_or(members, span_of(t)->member, __ATOMIC_SEQ_CST);
}

/* The arrival in another region that the thread's slot has goes to the join of that region's team, unless its creator
 * has taken it already.  The caller has not locked the slot, whose lock the creator takes under that of the end: only
 * the thread itself changes what is in it. */
static void leave_behind(struct thread_state *t, struct arrival *arrival, struct team *team, uint32_t interval)
    __attribute__((noinline));
static void leave_behind(struct thread_state *t, struct arrival *arrival, struct team *team, uint32_t interval)
{
  struct barrier_interval *to = &team->intervals[interval % BARRIER_PARITIES];
  clock_lock(&team->ending.lock);
  if (graph_open_team(arrival->region) && team->ending.taken != arrival->region) {
    clock_lock(&to->ends.join.lock);
    to->work += arrival->work;
    clock_raise(t, &to->ends.join.latest, &arrival->clock);
    clock_unlock(&to->ends.join.lock);
  }
  __atomic_store_n(&arrival->region, 0, __ATOMIC_RELEASE); /* whoever finds that looks at the join next */
  clock_unlock(&team->ending.lock);
  atomic_thread_fence(memory_order_release); /* or the clock that is stored next, of the other region */
}

/* In a light region, the thread's own sums get its work. */
static void arrive_light(struct thread_state *t, struct scope *scope)
{
  if (span_of(t)->light)
    span_of(t)->light->work += scope->pending;
  scope->pending = 0;
}

void barrier_arrive(struct thread_state *t, struct task *task, struct team *team)
{
  if (task->flags & TASK_LIGHT) {
    arrive_light(t, task->scopes_open ? &task->around[0] : &task->scope);
    return;
  }
  struct arrival *own = &span_of(t)->arrivals->at[task->interval % BARRIER_PARITIES];
  struct scope *scope = task->scopes_open ? &task->around[0] : &task->scope;
  uint64_t work = scope->pending;
  scope->pending = 0;
  barrier_be_member(t, &team->members);
  struct team *before = own->region != task->region ? graph_open_team(own->region) : NULL;
  if (__builtin_expect(before != NULL, 0))
    leave_behind(t, own, before, task->interval);
  clock_lock(&own->lock);
  if (own->region != task->region) {
    own->work = work;
    clock_set(t, &own->clock, &task->now);
    __atomic_store_n(&own->region, task->region, __ATOMIC_RELEASE);
  } else {
    own->work += work;
    clock_raise(t, &own->clock, &task->now);
  }
  clock_unlock(&own->lock);
}

static inline struct barrier_members members_of(const struct team *team)
{
  return (struct barrier_members){.left = __atomic_load_n(&team->members, __ATOMIC_RELAXED)};
}

/* All but the calling thread, unless its bit stands for others, too. */
static inline struct barrier_members others_in(const struct thread_state *t, const struct team *team)
{
  return barrier_others(t, __atomic_load_n(&team->members, __ATOMIC_RELAXED));
}

/* Raises a clock to an arrival in that region. */
static inline void take(struct thread_state *t, struct clock *clock, struct arrival *from, uint64_t region)
{
  if (region_of(from) != region || !clock_is_later(&from->clock, clock))
    return;
  clock_lock(&from->lock);
  if (region_of(from) == region)
    clock_raise(t, clock, &from->clock);
  clock_unlock(&from->lock);
}

/* The ends of explicit tasks in an interval, and what threads have left behind.  Most intervals have neither. */
static inline void take_ends(struct thread_state *t, struct clock *clock, const struct team *team, uint64_t region,
                             uint32_t interval)
{
  const struct lazy_join *ends = &team->intervals[interval % BARRIER_PARITIES].ends;
  if (__builtin_expect(__atomic_load_n(&ends->holders, __ATOMIC_SEQ_CST) != 0, 0) ||
      clock_is_later(&ends->join.latest, clock))
    explicit_task_join_interval(t, clock, region, interval);
}

void barrier_join(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region, uint32_t interval)
{
  struct arrivals *arrivals;
  struct barrier_members others = others_in(t, team);
  while (!team->light && (arrivals = barrier_next(&others)))
    take(t, clock, &arrivals->at[interval % BARRIER_PARITIES], region);
  atomic_thread_fence(memory_order_acquire); /* a slot that has another region's clock: see leave_behind() */
  take_ends(t, clock, team, region, interval);
}

/* The same for the creator, which also takes the work; under the lock of the region's end.  The slot is only read,
 * unless its clock is later, so that its line stays with its owner: no other region has that handle, and what is left
 * there is overwritten later. */
static uint64_t take_all(struct thread_state *t, struct clock *clock, struct arrival *from, uint64_t region)
{
  if (region_of(from) != region)
    return 0;
  if (clock)
    take(t, clock, from, region);
  return from->work;
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
  for (uint32_t i = 0; i < BARRIER_PARITIES; i++)
    clear_interval(t, &team->intervals[i]);
}

static uint64_t close_arrivals(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region)
{
  uint64_t work = 0;
  struct arrivals *arrivals;
  clock_lock(&team->ending.lock);
  for (struct barrier_members all = members_of(team); (arrivals = barrier_next(&all));)
    for (uint32_t i = 0; i < BARRIER_PARITIES; i++)
      work += take_all(t, clock, &arrivals->at[i], region);
  team->ending.taken = region;
  clock_unlock(&team->ending.lock);
  return work;
}

uint64_t barrier_close(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region)
{
  uint64_t work = team->light ? 0 : close_arrivals(t, clock, team, region);
  for (uint32_t i = 0; i < BARRIER_PARITIES; i++) {
    if (clock)
      take_ends(t, clock, team, region, i);
    work += team->intervals[i].work;
  }
  barrier_clear(t, team);
  return work;
}

void barrier_reach(struct thread_state *self, const struct team *team, uint64_t region)
{
  for (uint32_t i = 0; i < BARRIER_PARITIES; i++)
    join_offer(self, &graph_program, &team->intervals[i].ends.join.latest);
  struct arrivals *arrivals;
  for (struct barrier_members all = members_of(team); (arrivals = barrier_next(&all));)
    for (uint32_t i = 0; i < BARRIER_PARITIES; i++) {
      struct arrival *from = &arrivals->at[i];
      clock_lock(&from->lock);
      if (from->region == region)
        join_offer(self, &graph_program, &from->clock);
      clock_unlock(&from->lock);
    }
}
