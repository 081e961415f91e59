#include "hpcrun-lite/rt/span/depend.h"

#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/key_map.h"

enum { SETTLED_KEEPS = 4096, LIST_SHORT = 16 };

/* The end of a task.  The thread that runs the task writes `join` and then stores `ended` with release; after that the
 * join does not change.  held: links of addresses, counted by the parent's thread only.  refs, atomic: one while held,
 * one until the task has ended, one for each edge. */
struct task_end {
  struct pool_item pool;
  uint32_t index, refs, held, ended;
  struct join join;
};

/* A place in a list of ends: of an address, or a task's edges.  index: 0 if it is not from the pool. */
struct link {
  struct pool_item pool;
  uint32_t index;
  struct task_end *end;
  struct link *more;
};

/* The lists of an address.  Invariant: tasks of `writers` wait for `before`; tasks of `readers` wait for `writers`.
 * before: only kept where another task may join the writers.  count: of the list that grows; it is shortened when it
 * reaches `limit`. */
struct address {
  struct key_item where;
  uint32_t kind, count, limit;
  struct link *writers, *readers, *before;
  struct link first_writer;
};

static struct pool ends, links, addresses;

void depend_start(void)
{
  pool_init(&ends, sizeof(struct task_end));
  pool_init(&links, sizeof(struct link));
  pool_init(&addresses, sizeof(struct address));
}

void depend_stop_thread(struct thread_state *t)
{
  struct span_thread *span = span_of(t);
  pool_flush(&ends, &span->free_ends);
  pool_flush(&links, &span->free_links);
  pool_flush(&addresses, &span->free_addresses);
}

/* ---- ends ---- */

/* NULL without memory. */
static struct task_end *end_new(struct thread_state *t)
{
  void *item;
  uint32_t index = pool_take(&ends, &span_of(t)->free_ends, &item);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return NULL;
  }
  struct task_end *end = item;
  *end = (struct task_end){.pool = end->pool, .index = index, .refs = 1};
  return end;
}

static inline bool has_ended(const struct task_end *end)
{
  return __atomic_load_n(&end->ended, __ATOMIC_ACQUIRE);
}

static inline void end_drop(struct thread_state *t, struct task_end *end)
{
  if (__atomic_load_n(&end->refs, __ATOMIC_ACQUIRE) > 1 && __atomic_sub_fetch(&end->refs, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  critical_path_drop(t, &end->join.latest.path);
  pool_return(&ends, &span_of(t)->free_ends, end->index, end);
}

static inline void hold(struct task_end *end)
{
  if (!end->held++)
    __atomic_fetch_add(&end->refs, 1, __ATOMIC_RELAXED);
}

static inline void unhold(struct thread_state *t, struct task_end *end)
{
  if (!--end->held)
    end_drop(t, end);
}

/* ---- lists ---- */

/* Adds a link; its reference to the end is the caller's. */
static inline bool link_add(struct thread_state *t, struct link **list, struct task_end *end)
{
  void *item;
  uint32_t index = pool_take(&links, &span_of(t)->free_links, &item);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return false;
  }
  struct link *link = item;
  link->index = index;
  link->end = end;
  link->more = *list;
  *list = link;
  return true;
}

/* Removes the first link and returns its end. */
static inline struct task_end *link_take(struct thread_state *t, struct link **list)
{
  struct link *link = *list;
  struct task_end *end = link->end;
  *list = link->more;
  if (link->index) /* from then on another thread may use it */
    pool_return(&links, &span_of(t)->free_links, link->index, link);
  return end;
}

static inline void list_hold(struct thread_state *t, struct link **list, struct task_end *end)
{
  if (!end || (*list && (*list)->end == end)) /* named twice */
    return;
  if (link_add(t, list, end))
    hold(end);
}

static void list_drop(struct thread_state *t, struct link **list)
{
  while (*list)
    unhold(t, link_take(t, list));
}

/* The task waits for an end.  With a log it waits where it begins, so that the log has the same order. */
static inline void wait_for(struct thread_state *t, struct depend *task, struct clock *clock, struct task_end *end)
{
  if (end == task->end)
    return;
  if (has_ended(end) && !graph_log_on())
    clock_raise(t, clock, &end->join.latest);
  else if (link_add(t, &task->edges, end))
    __atomic_fetch_add(&end->refs, 1, __ATOMIC_RELAXED);
}

static void wait_for_list(struct thread_state *t, struct depend *task, struct clock *clock, const struct link *list)
{
  for (; list; list = list->more)
    wait_for(t, task, clock, list->end);
}

/* The same for a list that is not needed any more. */
static void wait_for_last(struct thread_state *t, struct depend *task, struct clock *clock, struct link **list)
{
  while (*list) {
    struct task_end *end = link_take(t, list);
    wait_for(t, task, clock, end);
    unhold(t, end);
  }
}

/* Replaces the ends in a list that are known by one that has their latest clock.  Returns how many are left. */
static uint32_t list_shorten(struct thread_state *t, struct link **list)
{
  struct task_end *sum = end_new(t);
  struct link *left = NULL;
  uint32_t count = 1;
  if (!sum)
    return 0;
  while (*list) {
    struct link *link = *list;
    if (has_ended(link->end)) {
      clock_raise(t, &sum->join.latest, &link->end->join.latest);
      unhold(t, link_take(t, list));
      continue;
    }
    *list = link->more;
    link->more = left;
    left = link;
    count++;
  }
  *list = left;
  sum->ended = true;
  list_hold(t, list, sum);
  end_drop(t, sum);
  return count;
}

/* Another task is a member of the list that grows.  The log has a name for each end, so there the list stays long. */
static void list_grow(struct thread_state *t, struct address *address, struct link **list, struct task_end *end)
{
  list_hold(t, list, end);
  if (++address->count < address->limit || graph_log_on())
    return;
  address->count = list_shorten(t, list);
  address->limit = 2 * address->count + LIST_SHORT;
}

static void list_restart(struct address *address)
{
  address->count = 0;
  address->limit = LIST_SHORT;
}

/* ---- addresses ---- */

/* The address has that one writer. */
static void writer_set(struct address *address, struct task_end *end)
{
  address->writers = NULL;
  if (!end)
    return;
  address->first_writer = (struct link){.end = end};
  address->writers = &address->first_writer;
  hold(end);
}

/* Finds or adds the entry of an address among a task's children.  A new entry follows the last task with
 * omp_all_memory. */
static struct address *address_of(struct thread_state *t, struct depend *parent, uint64_t where)
{
  enum { ALIGNED = 3 };
  uint64_t key = where >> ALIGNED | where << (64 - ALIGNED); /* adjacent words have adjacent keys */
  uint32_t index = key_map_find(&addresses, &parent->addresses, key);
  if (index)
    return pool_at(&addresses, index);
  void *item;
  index = pool_take(&addresses, &span_of(t)->free_addresses, &item);
  if (!index) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    return NULL;
  }
  struct address *address = item;
  *address = (struct address){.where.pool = address->where.pool, .where.key = key, .limit = LIST_SHORT};
  if (!key_map_add(t, &addresses, &parent->addresses, index)) {
    rt_lost(t, FORMAT_LOST_GRAPH);
    pool_put(&addresses, &span_of(t)->free_addresses, index);
    return NULL;
  }
  writer_set(address, parent->all);
  parent->named++;
  return address;
}

static void address_release(struct thread_state *t, uint32_t index, void *context)
{
  (void)context;
  struct address *address = pool_at(&addresses, index);
  list_drop(t, &address->writers);
  list_drop(t, &address->readers);
  list_drop(t, &address->before);
  pool_put(&addresses, &span_of(t)->free_addresses, index);
}

/* Tasks of these kinds at one address, one after the other, are side by side. */
static bool joins_writers(int kind)
{
  return kind == ompt_dependence_type_mutexinoutset || kind == ompt_dependence_type_inoutset;
}

static void add_reader(struct thread_state *t, struct address *address, struct depend *task, struct clock *clock)
{
  wait_for_list(t, task, clock, address->writers);
  if (!address->readers)
    list_restart(address);
  list_grow(t, address, &address->readers, task->end);
}

static void add_writer(struct thread_state *t, struct address *address, struct depend *task, struct clock *clock,
                       int kind)
{
  if (joins_writers(kind) && (int)address->kind == kind && address->writers && !address->readers) {
    wait_for_list(t, task, clock, address->before);
    list_grow(t, address, &address->writers, task->end);
    return;
  }
  list_drop(t, &address->before);
  if (joins_writers(kind)) {
    address->before = address->readers;
    while (address->writers) {
      struct task_end *end = link_take(t, &address->writers);
      list_hold(t, &address->before, end);
      unhold(t, end);
    }
    wait_for_list(t, task, clock, address->before);
    address->readers = NULL;
  } else {
    wait_for_last(t, task, clock, &address->readers);
    wait_for_last(t, task, clock, &address->writers);
  }
  writer_set(address, task->end);
  address->kind = (uint32_t)kind;
  list_restart(address);
}

struct all_memory {
  struct depend *task;
  struct clock *clock;
};

static void wait_and_release(struct thread_state *t, uint32_t index, void *context)
{
  struct all_memory *all = context;
  struct address *address = pool_at(&addresses, index);
  wait_for_last(t, all->task, all->clock, &address->readers);
  wait_for_last(t, all->task, all->clock, &address->writers);
  address_release(t, index, NULL);
}

/* omp_all_memory: the task waits for everything named before, and everything named later waits for it.  So the
 * addresses need not be kept. */
static void add_all(struct thread_state *t, struct depend *parent, struct depend *task, struct clock *clock)
{
  key_map_clear(t, &parent->addresses, wait_and_release, &(struct all_memory){task, clock});
  parent->named = 0;
  if (parent->all) {
    wait_for(t, task, clock, parent->all);
    unhold(t, parent->all);
  }
  parent->all = task->end;
  if (parent->all)
    hold(parent->all);
}

/* ---- tasks ---- */

void depend_add(struct thread_state *t, struct depend *parent, struct depend *child, struct clock *clock,
                const ompt_dependence_t *dependences, int count)
{
  if (!child->end)
    child->end = end_new(t);
  for (int i = 0; i < count; i++) {
    int kind = dependences[i].dependence_type;
    if (kind == ompt_dependence_type_out_all_memory || kind == ompt_dependence_type_inout_all_memory) {
      add_all(t, parent, child, clock);
      continue;
    }
    struct address *address = address_of(t, parent, dependences[i].variable.value);
    if (!address)
      return;
    if (kind == ompt_dependence_type_in)
      add_reader(t, address, child, clock);
    else
      add_writer(t, address, child, clock, kind);
  }
}

void depend_wait(struct thread_state *t, struct depend *task, struct clock *clock, uint64_t name)
{
  while (task->edges) {
    struct task_end *end = link_take(t, &task->edges);
    if (has_ended(end)) {
      clock_raise(t, clock, &end->join.latest);
      graph_log_take(t, name, &end->join);
    }
    end_drop(t, end);
  }
}

void depend_end(struct thread_state *t, struct depend *task, const struct clock *clock, uint64_t name)
{
  while (task->edges) /* it has never begun */
    end_drop(t, link_take(t, &task->edges));
  struct task_end *end = task->end;
  if (!end)
    return;
  task->end = NULL;
  if (clock) {
    end->join.latest = clock_copy(t, clock);
    graph_log_offer(t, name, &end->join);
  }
  __atomic_store_n(&end->ended, true, __ATOMIC_RELEASE);
  end_drop(t, end);
}

void depend_settled(struct thread_state *t, struct depend *parent)
{
  if (parent->named > SETTLED_KEEPS)
    depend_clear(t, parent);
}

void depend_clear(struct thread_state *t, struct depend *parent)
{
  key_map_clear(t, &parent->addresses, address_release, NULL);
  if (parent->all)
    unhold(t, parent->all);
  parent->all = NULL;
  parent->named = 0;
}
