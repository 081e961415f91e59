#include "hpcrun-lite/rt/sampling/task_context.h"

#include "hpcrun-lite/rt/sampling/cct.h"
#include "hpcrun-lite/rt/sampling/context.h"
#include "hpcrun-lite/rt/sampling/region.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { RECORDS_FIRST = 1024, HEADS = 4096, LOCK_TRIES = 200, STACKS = 64, WORDS = 40, ANCESTORS_MAX = 256 };

/* Of a task created: `where` = thread << 32 | node, `how` = as what its creator was entered.  Of a task entered:
 * `where` = ENTERED | record of its creation, `how` = its outermost function. */
struct record {
  uint64_t where, how;
  uint32_t next, unused;
};

#define ENTERED (1ull << 63)

static struct table records;
static _Atomic uint32_t heads[HEADS]; /* stored with release under the lock, after the record; loaded with acquire */
static atomic_flag lock = ATOMIC_FLAG_INIT; /* for adding */

/* Stacks at creations: return addresses at their places, from the runtime's caller outwards to the code's task or
 * region. */
struct stack {
  uint64_t enter_frame, code, region;
  uint32_t creator, created, node, entered, count;
  bool known;
  struct {
    uint64_t at, value;
  } words[WORDS];
};

void task_start(void)
{
  uint32_t index;
  atomic_flag_clear(&lock);
  for (unsigned i = 0; rt.task_creation && i < HEADS; i++)
    atomic_store_explicit(&heads[i], 0, memory_order_relaxed);
  table_init(&records, FORMAT_FREE, ARENA_SHARED, 0, sizeof(struct record), RECORDS_FIRST);
  if (table_next(&records, &index))
    table_publish(&records); /* index 0 means "none" */
}

static const struct record *at(uint32_t index)
{
  return table_at(&records, index);
}

static uint32_t find(uint32_t head, uint64_t where, uint64_t how)
{
  uint32_t index = atomic_load_explicit(&heads[head], memory_order_acquire);
  while (index && (at(index)->where != where || at(index)->how != how))
    index = at(index)->next;
  return index;
}

/* The record with that content, added if there is none. */
static uint32_t intern(uint64_t where, uint64_t how)
{
  uint64_t hash = (where * 0x9e3779b97f4a7c15ULL ^ how) * 0xc2b2ae3d27d4eb4fULL;
  uint32_t head = (uint32_t)(hash >> 40) % HEADS, index = find(head, where, how);
  for (int i = 0; !index && i < LOCK_TRIES; i++) {
    if (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
      sys_yield();
      continue;
    }
    index = find(head, where, how);
    struct record *record = index ? NULL : table_next(&records, &index);
    if (record) {
      *record = (struct record){where, how, atomic_load(&heads[head]), 0};
      table_publish(&records);
      atomic_store_explicit(&heads[head], index, memory_order_release);
    }
    atomic_flag_clear_explicit(&lock, memory_order_release);
    break;
  }
  return index;
}

uint32_t task_enter(uint32_t created, uint64_t root)
{
  if (created >= __atomic_load_n(&records.count, __ATOMIC_ACQUIRE))
    return 0; /* of the process that forked this one */
  uint32_t ancestor = (uint32_t)at(created)->how;
  for (int i = 0; ancestor && i < ANCESTORS_MAX; i++) {
    if (at(ancestor)->how == root)
      return ancestor;
    ancestor = (uint32_t)at((uint32_t)at(ancestor)->where)->how;
  }
  return intern(ENTERED | created, root);
}

uint32_t task_base(struct thread_state *t, uint32_t entered)
{
  uint64_t where = at((uint32_t)at(entered)->where)->where;
  uint32_t owner = (uint32_t)(where >> 32), node = (uint32_t)where;
  return owner == t->index ? node : cct_child(t, CCT_ROOT, (struct cct_key){FORMAT_KIND_LINK, owner, node});
}

static struct stack *stack_at(struct thread_state *t, uint64_t enter_frame, uint64_t code)
{
  if (!t->stacks_chunk)
    t->stacks_chunk = arena_new(ARENA_STACKS, 0, FORMAT_FREE, t->index, sizeof(struct stack), STACKS);
  uint64_t hash = (enter_frame ^ code << 20) * 0x9e3779b97f4a7c15ULL;
  return t->stacks_chunk ? (struct stack *)arena_data(t->stacks_chunk) + (hash >> 32) % STACKS : NULL;
}

static bool same_stack(const struct stack *stack, const struct stack *wanted)
{
  if (!stack->known || stack->enter_frame != wanted->enter_frame || stack->code != wanted->code ||
      stack->region != wanted->region || stack->creator != wanted->creator)
    return false;
  for (uint32_t i = 0; i < stack->count; i++)
    if (*(const volatile uint64_t *)stack->words[i].at != stack->words[i].value)
      return false;
  return true;
}

/* Keeps the words of the stack that was just walked, if they are not too many and lie on the thread's own stack. */
static void remember(const struct thread_state *t, struct stack *stack, const struct context_place *place)
{
  stack->count = 0;
  for (int i = place->first; i < place->end; i++) {
    uint64_t word = t->frames[i].sp - sizeof(uint64_t);
    if (stack->count == WORDS || word < t->stack_low || word >= t->stack_high)
      return;
    stack->words[stack->count].at = word;
    stack->words[stack->count++].value = t->frames[i].ip + 1;
  }
}

/* The stack that calls the runtime, walked if it was not seen before; NULL without memory. */
static struct stack *find_stack(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code)
{
  struct stack wanted = {.enter_frame = enter_frame, .code = code, .region = region_identity(t), .creator = creator};
  struct stack *stack = stack_at(t, enter_frame, code);
  if (!stack || same_stack(stack, &wanted))
    return stack;
  struct context_place place = context_caller(t);
  *stack = wanted;
  stack->node = place.node;
  stack->entered = place.entered;
  if (place.node != CCT_NONE && cct_kind(t, cct_top(t, place.node)) == FORMAT_KIND_PLACEHOLDER)
    stack->node = CCT_NONE; /* it may be moved: the region's begin could not be looked at */
  remember(t, stack, &place);
  stack->known = stack->node != CCT_NONE && stack->count == (uint32_t)(place.end - place.first);
  return stack;
}

uint32_t task_create(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code)
{
  struct stack *stack = find_stack(t, creator, enter_frame, code);
  if (!stack || stack->node == CCT_NONE)
    return 0;
  if (!stack->created)
    stack->created = intern((uint64_t)t->index << 32 | stack->node, stack->entered);
  return stack->created;
}

uint32_t task_place(struct thread_state *t, uint32_t creator, uint64_t enter_frame, uint64_t code)
{
  const struct stack *stack = find_stack(t, creator, enter_frame, code);
  return stack ? stack->node : CCT_NONE;
}
