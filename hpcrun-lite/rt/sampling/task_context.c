#include "hpcrun-lite/rt/sampling/task_context.h"

#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { CONTEXTS_FIRST = 1024, HEADS = 4096, LOCK_TRIES = 200, ANCESTORS_MAX = 256 };

/* A creation context: origin = thread << 32 | node, detail = the creator's entry.  An entry: origin = ENTERED | its
 * creation context, detail = its outermost function. */
struct task_context {
  uint64_t origin, detail;
  uint32_t next;
  uint32_t filtered; /* of a creation context: what a filter found on the path */
};

#define ENTERED (1ull << 63)

static struct table contexts;
static _Atomic uint32_t heads[HEADS]; /* stored with release under the lock, after the element; loaded with acquire */
static atomic_flag lock = ATOMIC_FLAG_INIT; /* for adding elements */

void task_context_start(void)
{
  uint32_t index;
  atomic_flag_clear(&lock);
  for (unsigned i = 0; sampling_process.task_creation && i < HEADS; i++)
    atomic_store_explicit(&heads[i], 0, memory_order_relaxed);
  table_init(&contexts, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct task_context), CONTEXTS_FIRST);
  if (table_next(&contexts, &index))
    table_publish(&contexts); /* index 0 means "none" */
}

static const struct task_context *at(uint32_t index)
{
  return table_at(&contexts, index);
}

static uint32_t find(uint32_t head, uint64_t origin, uint64_t detail, uint32_t filtered)
{
  uint32_t index = atomic_load_explicit(&heads[head], memory_order_acquire);
  while (index && (at(index)->origin != origin || at(index)->detail != detail || at(index)->filtered != filtered))
    index = at(index)->next;
  return index;
}

/* The element with that content, added if it is missing. */
static uint32_t intern(uint64_t origin, uint64_t detail, uint32_t filtered)
{
  uint64_t hash = (origin * 0x9e3779b97f4a7c15ULL ^ detail) * 0xc2b2ae3d27d4eb4fULL;
  uint32_t head = (uint32_t)(hash >> 40) % HEADS, index = find(head, origin, detail, filtered);
  for (int i = 0; !index && i < LOCK_TRIES; i++) {
    if (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
      sys_yield();
      continue;
    }
    index = find(head, origin, detail, filtered);
    struct task_context *context = index ? NULL : table_next(&contexts, &index);
    if (context) {
      *context = (struct task_context){origin, detail, atomic_load(&heads[head]), filtered};
      table_publish(&contexts);
      atomic_store_explicit(&heads[head], index, memory_order_release);
    }
    atomic_flag_clear_explicit(&lock, memory_order_release);
    break;
  }
  return index;
}

uint32_t task_context_create(uint32_t thread, uint32_t node, uint32_t creator, uint32_t filtered)
{
  return intern((uint64_t)thread << 32 | node, creator, filtered);
}

uint32_t task_context_enter(uint32_t creation_context, uint64_t root)
{
  if (creation_context >= __atomic_load_n(&contexts.count, __ATOMIC_ACQUIRE))
    return 0; /* a creation context of the process that forked this one */
  uint32_t ancestor = (uint32_t)at(creation_context)->detail;
  for (int i = 0; ancestor && i < ANCESTORS_MAX; i++) {
    if (at(ancestor)->detail == root)
      return ancestor;
    ancestor = (uint32_t)at((uint32_t)at(ancestor)->origin)->detail;
  }
  return intern(ENTERED | creation_context, root, 0);
}

uint32_t task_context_filtered(uint32_t entered)
{
  return at((uint32_t)at(entered)->origin)->filtered;
}

uint32_t task_context_node(struct thread_state *t, uint32_t entered)
{
  uint64_t origin = at((uint32_t)at(entered)->origin)->origin;
  uint32_t owner = (uint32_t)(origin >> 32), node = (uint32_t)origin;
  return owner == t->index ? node : cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_LINK, owner, node});
}
