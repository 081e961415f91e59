#include "hpcrun-lite/rt/span/depend.h"

#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/core/pool.h"

enum { BUCKETS = 510 };

/* A set of tasks whose end others wait for. */
struct task_set {
  struct pool_item pool;
  uint32_t refs, unused;
  struct join ends;
};

/* A task's relation to a set: it is a member, or it waits for the set. */
struct edge {
  struct pool_item pool;
  uint32_t set, more;
  bool member;
};

/* The last sets at an address.  Invariant: members of `writers` wait for before_writers and before_readers; members of
 * `readers` wait for `writers`. */
struct address {
  struct pool_item pool;
  uint32_t more, kind;
  uint64_t where;
  uint32_t writers, readers, before_writers, before_readers;
};

/* The addresses that the children of a task have named, by hash. */
struct buckets {
  struct pool_item pool;
  uint32_t heads[BUCKETS];
};

static struct pool sets, edges, addresses, buckets;

static struct task_set *set_at(uint32_t index)
{
  return pool_at(&sets, index);
}

static struct edge *edge_at(uint32_t index)
{
  return pool_at(&edges, index);
}

static struct address *address_at(uint32_t index)
{
  return pool_at(&addresses, index);
}

void depend_start(void)
{
  pool_init(&sets, sizeof(struct task_set));
  pool_init(&edges, sizeof(struct edge));
  pool_init(&addresses, sizeof(struct address));
  pool_init(&buckets, sizeof(struct buckets));
}

void depend_stop_thread(struct thread_state *t)
{
  pool_flush(&sets, &t->free_sets);
  pool_flush(&edges, &t->free_edges);
  pool_flush(&addresses, &t->free_addresses);
  pool_flush(&buckets, &t->free_buckets);
}

static uint32_t set_new(struct thread_state *t)
{
  uint32_t index = pool_get(&sets, &t->free_sets);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return 0;
  }
  set_at(index)->refs = 1;
  set_at(index)->ends = (struct join){0};
  return index;
}

static uint32_t set_share(uint32_t index)
{
  if (index)
    __atomic_fetch_add(&set_at(index)->refs, 1, __ATOMIC_RELAXED);
  return index;
}

static void set_drop(struct thread_state *t, uint32_t index)
{
  if (!index || __atomic_sub_fetch(&set_at(index)->refs, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  join_clear(t, &set_at(index)->ends);
  pool_put(&sets, &t->free_sets, index);
}

static void set_replace(struct thread_state *t, uint32_t *place, uint32_t with)
{
  uint32_t old = *place;
  *place = with;
  set_drop(t, old);
}

static void edge_add(struct thread_state *t, struct depend *task, uint32_t set, bool member)
{
  if (!set)
    return;
  uint32_t index = pool_get(&edges, &t->free_edges);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return;
  }
  struct edge *edge = edge_at(index);
  edge->set = set_share(set);
  edge->member = member;
  edge->more = task->edges;
  task->edges = index;
}

static struct buckets *buckets_at(uint32_t index)
{
  return pool_at(&buckets, index);
}

/* Finds or adds the entry of an address among a task's children.  A new entry follows the last set of omp_all_memory.
 */
static struct address *address_of(struct thread_state *t, struct depend *parent, uint64_t where)
{
  if (!parent->addresses && (parent->addresses = pool_get(&buckets, &t->free_buckets)))
    __builtin_memset(buckets_at(parent->addresses)->heads, 0, sizeof buckets_at(0)->heads);
  uint32_t *head = parent->addresses ? &buckets_at(parent->addresses)->heads[(where >> 3) % BUCKETS] : NULL, index = 0;
  for (index = head ? *head : 0; index; index = address_at(index)->more)
    if (address_at(index)->where == where)
      return address_at(index);
  if (head)
    index = pool_get(&addresses, &t->free_addresses);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return NULL;
  }
  struct address *address = address_at(index);
  *address = (struct address){.pool = address->pool, .more = *head, .where = where};
  address->writers = set_share(parent->all);
  *head = index;
  return address;
}

struct join *depend_join_at(struct thread_state *t, struct depend *map, uint64_t where)
{
  struct address *address = address_of(t, map, where);
  if (address && !address->writers)
    address->writers = set_new(t);
  return address && address->writers ? &set_at(address->writers)->ends : NULL;
}

/* Tasks of these kinds at one address, one after the other, form one set. */
static bool joins_open_set(int kind)
{
  return kind == ompt_dependence_type_mutexinoutset || kind == ompt_dependence_type_inoutset;
}

static void add_reader(struct thread_state *t, struct address *address, struct depend *task)
{
  edge_add(t, task, address->writers, false);
  if (!address->readers)
    address->readers = set_new(t);
  edge_add(t, task, address->readers, true);
}

static void add_writer(struct thread_state *t, struct address *address, struct depend *task, int kind)
{
  bool joins = joins_open_set(kind) && (int)address->kind == kind && address->writers && !address->readers;
  if (!joins) {
    set_replace(t, &address->before_writers, address->writers);
    set_replace(t, &address->before_readers, address->readers);
    address->readers = 0;
    address->writers = set_new(t);
    address->kind = (uint32_t)kind;
  }
  edge_add(t, task, address->before_writers, false);
  edge_add(t, task, address->before_readers, false);
  edge_add(t, task, address->writers, true);
}

/* omp_all_memory: the task waits for everything named before, and everything named later waits for it. */
static void add_all(struct thread_state *t, struct depend *parent, struct depend *task)
{
  uint32_t set = set_new(t);
  edge_add(t, task, parent->all, false);
  for (int i = 0; parent->addresses && i < BUCKETS; i++)
    for (uint32_t index = buckets_at(parent->addresses)->heads[i]; index; index = address_at(index)->more) {
      struct address *address = address_at(index);
      edge_add(t, task, address->writers, false);
      edge_add(t, task, address->readers, false);
      set_replace(t, &address->writers, set_share(set));
      set_replace(t, &address->readers, 0);
      address->kind = 0;
    }
  edge_add(t, task, set, true);
  set_replace(t, &parent->all, set);
}

void depend_add(struct thread_state *t, struct depend *parent, struct depend *child,
                const ompt_dependence_t *dependences, int count)
{
  for (int i = 0; i < count; i++) {
    int kind = dependences[i].dependence_type;
    if (kind == ompt_dependence_type_out_all_memory || kind == ompt_dependence_type_inout_all_memory) {
      add_all(t, parent, child);
      continue;
    }
    struct address *address = address_of(t, parent, dependences[i].variable.value);
    if (!address)
      return;
    if (kind == ompt_dependence_type_in)
      add_reader(t, address, child);
    else
      add_writer(t, address, child, kind);
  }
}

void depend_wait(struct thread_state *t, const struct depend *task, struct clock *clock, uint64_t name)
{
  for (uint32_t index = task->edges; index; index = edge_at(index)->more)
    if (!edge_at(index)->member) {
      join_take(t, clock, &set_at(edge_at(index)->set)->ends);
      graph_log_take(t, name, &set_at(edge_at(index)->set)->ends);
    }
}

void depend_end(struct thread_state *t, struct depend *task, const struct clock *clock, uint64_t name)
{
  while (task->edges) {
    uint32_t index = task->edges;
    struct edge *edge = edge_at(index);
    if (edge->member && clock) {
      join_offer(t, &set_at(edge->set)->ends, clock);
      graph_log_offer(t, name, &set_at(edge->set)->ends);
    }
    set_drop(t, edge->set);
    task->edges = edge->more;
    pool_put(&edges, &t->free_edges, index);
  }
}

static void address_free(struct thread_state *t, uint32_t index)
{
  struct address *address = address_at(index);
  set_drop(t, address->writers);
  set_drop(t, address->readers);
  set_drop(t, address->before_writers);
  set_drop(t, address->before_readers);
  pool_put(&addresses, &t->free_addresses, index);
}

void depend_clear(struct thread_state *t, struct depend *parent)
{
  for (int i = 0; parent->addresses && i < BUCKETS; i++)
    for (uint32_t index = buckets_at(parent->addresses)->heads[i]; index;) {
      uint32_t more = address_at(index)->more;
      address_free(t, index);
      index = more;
    }
  if (parent->addresses)
    pool_put(&buckets, &t->free_buckets, parent->addresses);
  set_drop(t, parent->all);
  parent->addresses = parent->all = 0;
}
