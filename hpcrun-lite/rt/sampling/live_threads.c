#include "hpcrun-lite/rt/sampling/live_threads.h"

enum { LIVE_FIRST = 256 };

/* struct thread_state *, NULL: free.  Writer: CTL, under the CTL lock, with release; readers: all threads, with
 * acquire. */
static struct table live;
static uint32_t live_free; /* no slot below it is free; under the CTL lock */

void live_threads_start(void)
{
  table_init(&live, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct thread_state *), LIVE_FIRST);
  live_free = 0;
}

static struct thread_state **live_at(uint32_t i)
{
  return table_at(&live, i);
}

uint32_t live_threads(void)
{
  return __atomic_load_n(&live.count, __ATOMIC_ACQUIRE);
}

struct thread_state *live_thread(uint32_t number)
{
  return __atomic_load_n(live_at(number), __ATOMIC_ACQUIRE);
}

bool live_threads_add(struct thread_state *t)
{
  uint32_t slot = live_free;
  while (slot < live.count && *live_at(slot))
    slot++;
  if (slot == live.count) {
    if (!table_next(&live, &slot))
      return false;
    table_publish(&live);
  }
  t->live_slot = slot;
  live_free = slot + 1;
  __atomic_store_n(live_at(slot), t, __ATOMIC_RELEASE);
  return true;
}

void live_threads_remove(struct thread_state *t)
{
  __atomic_store_n(live_at(t->live_slot), NULL, __ATOMIC_RELEASE);
  live_free = t->live_slot < live_free ? t->live_slot : live_free;
}
