#include "hpcrun-lite/rt/sampling/pools.h"

#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/filter/time_filter.h"
#include "hpcrun-lite/rt/sampling/blame.h"
#include "hpcrun-lite/rt/sampling/waiting.h"

enum { LISTS_BITS = 10, TRIES = 1 << 15, SPINS = 100 };

/* `lock` is exchanged with acquire and stored with release; its holder reads and writes the list. */
static struct list {
  struct thread_state *first; /* the next one: pool_wait.next */
  uint32_t lock;
} lists[1 << LISTS_BITS];
static atomic_bool used; /* a list was; any thread, relaxed */
static atomic_bool off;  /* a lock could not be taken; likewise */

void pools_start(void)
{
  for (unsigned i = 0; used && i < sizeof lists / sizeof *lists; i++)
    lists[i] = (struct list){0};
  used = off = false;
}

static struct list *list_of(uint64_t object)
{
  return &lists[object * 0x9e3779b97f4a7c15ULL >> (64 - LISTS_BITS)];
}

static bool list_take(struct list *list)
{
  for (int i = 0; i < TRIES && !atomic_load_explicit(&off, memory_order_relaxed); i++) {
    if (!__atomic_exchange_n(&list->lock, 1, __ATOMIC_ACQUIRE))
      return true;
    machine_relax();
    if (i % SPINS == SPINS - 1)
      sys_yield();
  }
  if (!atomic_exchange(&off, true))
    rt_lost(NULL, FORMAT_LOST_STATES);
  return false;
}

static void list_drop(struct list *list)
{
  __atomic_store_n(&list->lock, 0, __ATOMIC_RELEASE);
}

static bool is_known(const struct sampling_thread *sampling, uint64_t object)
{
  for (unsigned i = 0; i < POOLS_KNOWN; i++)
    if (sampling->pools_known[i] == object)
      return true;
  return false;
}

/* Another thread that waits at the object. */
static struct thread_state *find_other(const struct list *list, uint64_t object)
{
  struct thread_state *t = list->first;
  while (t && sampling_of(t)->pool_wait.object != object)
    t = sampling_of(t)->pool_wait.next;
  return t;
}

/* Puts the thread into the list; with another one there, both are idle from now on. */
static void enter(struct thread_state *t, struct list *list)
{
  struct pool_wait *own = &sampling_of(t)->pool_wait;
  struct thread_state *other = find_other(list, own->object);
  own->open = true;
  own->next = list->first;
  own->link = &list->first;
  if (own->next)
    sampling_of(own->next)->pool_wait.link = &own->next;
  list->first = t;
  if (other && !other->activity.idle && !rt_stopped())
    waiting_pool_turn(other, rt_ticks());
  if (other || is_known(sampling_of(t), own->object))
    waiting_pool_turn(t, own->since);
}

static void leave(struct pool_wait *own)
{
  *own->link = own->next;
  if (own->next)
    sampling_of(own->next)->pool_wait.link = own->link;
}

bool pools_begin(struct thread_state *t, const void *object, enum format_lock_kind kind, const void *code, bool blocks)
{
  struct pool_wait *own = &sampling_of(t)->pool_wait;
  const struct activity *is = &t->activity;
  if (is->idle || is->lockwait || is->call || own->begun)
    return false;
  own->begun = true; /* first: a handler of the program may wait, too */
  atomic_signal_fence(memory_order_seq_cst);
  bool openmp = atomic_load_explicit(&sampling_process.openmp, memory_order_relaxed);
  bool looked_up = code && !openmp && !t->inside && !off;
  own->object = (uint64_t)object;
  own->kind = (uint8_t)kind;
  own->wait = looked_up ? waiting_pool_site(t, code) : NULL;
  own->blocked = blocks && blame_blocked(t);
  own->since = own->blocked ? sampling_of(t)->blocked_since : rt_ticks();
  if (!own->wait)
    return true;
  struct list *list = list_of(own->object);
  if (!atomic_load_explicit(&used, memory_order_relaxed))
    atomic_store_explicit(&used, true, memory_order_relaxed);
  rt_inside_inc(t); /* a handler of the program does not wait for the lock; and for rt_stopped() */
  if (list_take(list)) {
    enter(t, list);
    list_drop(list);
  }
  rt_inside_dec(t);
  return true;
}

/* The thread has been idle at that object. */
static void know(struct sampling_thread *sampling, uint64_t object)
{
  if (!is_known(sampling, object))
    sampling->pools_known[sampling->pools_count++ % POOLS_KNOWN] = object;
}

void pools_end(struct thread_state *t, bool returned)
{
  struct sampling_thread *sampling = sampling_of(t);
  struct pool_wait *own = &sampling->pool_wait;
  time_filter_check(); /* its signal was held back meanwhile */
  if (own->open) {
    struct list *list = list_of(own->object);
    rt_inside_inc(t);
    if (list_take(list)) {
      leave(own);
      list_drop(list);
    } /* otherwise no list is used any more, but the thread that holds this one may still walk it */
    rt_inside_dec(t);
  }
  if (own->open && t->activity.idle) {
    know(sampling, own->object);
    waiting_pool_end(t, returned);
  } else if (returned) {
    blame_returned(t, (struct call_moved){0});
  } else if (own->blocked) {
    blame_unblocked(t);
  }
  own->open = own->blocked = false;
  atomic_signal_fence(memory_order_seq_cst);
  own->begun = false;
}
