/* Batches of tasks, and plain tasks: those in which no other callback runs between begin and end.
 *
 * Context: RT, in callbacks; the rules of span/span.h hold.  Here is what span/explicit_task.c shares with the callback
 * of schedule events, for which the functions are inline: most of its calls are for plain tasks.
 *
 * A plain task needs no struct task, and the task before it stays span_thread.running.  plain_task_begin() returns
 * false where it cannot be so.  Before anything else looks at what the thread runs, explicit_task_settle() makes up for
 * what was left out; plain_task_end() returns false if that has happened. */
#ifndef HPCRUN_LITE_RT_SPAN_PLAIN_TASK_H
#define HPCRUN_LITE_RT_SPAN_PLAIN_TASK_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/graph.h"

/* What children of one task, created one after the other by the same code, have in common.  Initialised by the parent's
 * thread before a data word names it; then only read, by threads to which the runtime hands the tasks.  refs is atomic;
 * the release of the last reference acquires. */
struct task_batch {
  struct pool_item pool;
  uint32_t refs; /* of children that are not reported, and of the parent while it is open */
  uint32_t parent, group, interval, flags, row, chunk;
  uint32_t thread;                           /* of the parent, when it created them */
  uint32_t outer_instance, creation_context; /* in which they are created; the batch holds it */
  uint32_t scope_row, scope_instance, depth;
  bool nested;  /* within an instance of their own row */
  bool borrows; /* the path's tail is kept by the parent's own batch.  Written by the parent's thread, and by the thread
                   that releases the last reference */
  uint64_t region, code;
  struct clock at; /* the parent's clock at the first of them */
};

/* A data word with RT_TASK_NEW: the index of the batch, and how far the parent's clock has moved since. */
enum { INDEX_SHIFT = 2, INDEX_BITS = 18, MOVED_SHIFT = 20, MOVED_BITS = 36, TAG_SHIFT = 56 };

/* The latest end of the tasks that its thread has run, all of one batch, and the joins that wait for it.  Other
 * threads read it under the lock. */
struct end_slot {
  uint32_t lock;
  bool collected; /* a waiting thread has collected it: it is not offered again */
  uint32_t parent, group, interval, chunk;
  uint64_t region;
  struct clock latest;
  uint64_t unused[5];
};
_Static_assert(sizeof(struct end_slot) == 128, "cache lines of its own");

extern struct pool task_batches;

static inline struct task_batch *task_batch(uint32_t index)
{
  return pool_at(&task_batches, index);
}

/* Releases references to a batch.  If it was freed, returns its parent, which has lost a reference.  A holder of all
 * references needs no locked instruction. */
uint32_t task_batch_release(struct thread_state *t, uint32_t index, uint32_t refs);

/* The thread's next ends belong to that batch (0: none yet): reports those of another one. */
void task_batch_report(struct thread_state *t, uint32_t next);

/* The parent gets the task's reference to their batch back. */
static inline void task_batch_return(struct thread_state *t, struct task *parent, uint32_t batch)
{
  for (int i = 0; i < 2; i++)
    if (parent->open[i].at && parent->open[i].index == batch) {
      parent->open[i].refs++;
      return;
    }
  parent->own_refs += task_batch_release(t, batch, 1) != 0;
}

/* The batch that a data word names; 0 if the word is another process's. */
static inline uint32_t task_batch_of(uint64_t word)
{
  uint32_t index = (uint32_t)(word >> INDEX_SHIFT) & ((1u << INDEX_BITS) - 1);
  bool known =
      word >> TAG_SHIFT == (uint8_t)rt.epoch && index < __atomic_load_n(&task_batches.table.count, __ATOMIC_ACQUIRE);
  return known ? index : 0;
}

static inline uint64_t task_batch_moved(uint64_t word)
{
  return word >> MOVED_SHIFT & ((1ull << MOVED_BITS) - 1);
}

/* ---- plain tasks ---- */

/* Both if the work clock is CPU time. */
static inline bool plain_task_begin(struct thread_state *t, const ompt_data_t *prior, ompt_data_t *data,
                                    uint64_t moment)
{
  struct span_thread *span = span_of(t);
  uint64_t word = __atomic_load_n(&data->value, __ATOMIC_ACQUIRE);
  uint32_t index = word & RT_TASK_NEW ? task_batch_of(word) : 0;
  const struct task_batch *batch = index ? task_batch(index) : NULL;
  if (!batch || !span->running || batch->flags & TASK_SERIAL || span->running_data || span->plain.data)
    return false;
  graph_fragment_end_inline(t, moment);
  if (span->task_ended)
    graph_cost(t, GRAPH_TASK, moment - span->task_ended);
  span->plain.data = data;
  span->plain.prior = prior;
  span->plain.batch = batch;
  span->plain.index = index;
  span->plain.row = batch->row;
  span->plain.moved = task_batch_moved(word);
  span->plain.cost = span->costs[GRAPH_TASK];
  span->plain.elsewhere = batch->thread != t->index;
  graph_fragment_begin_after(t, moment);
  return true;
}

/* The end of a task that has worked since it began, and no more. */
struct plain_end {
  const struct plain_task *task;
  uint64_t base, burdened, work;
};

/* clock_raise() for the clock of such a task: its path is only made if it is needed. */
static inline void plain_task_raise(struct thread_state *t, struct clock *clock, const struct plain_end *end)
{
  const struct critical_path *path = &end->task->batch->at.path;
  if (end->base > clock->base) {
    if (path->tail != clock->path.tail) {
      struct critical_path copy = critical_path_copy(t, path);
      critical_path_drop(t, &clock->path);
      clock->path = copy;
    } else {
      clock_take_items(clock, &end->task->batch->at);
    }
    clock->path.items[0].amount += end->task->moved;
    critical_path_add(t, &clock->path, CRITICAL_PATH_KEY(end->task->row, 0, 0), end->work);
    __atomic_store_n(&clock->base, end->base, __ATOMIC_RELAXED);
  }
  if (end->burdened > clock->burdened)
    __atomic_store_n(&clock->burdened, end->burdened, __ATOMIC_RELAXED);
}

/* keep_end() for it. */
static inline void plain_task_keep_end(struct thread_state *t, const struct plain_end *end)
{
  struct span_thread *span = span_of(t);
  if (span->unreported.batch != end->task->index)
    task_batch_report(t, end->task->index);
  clock_lock(&span->end_slot->lock);
  plain_task_raise(t, &span->end_slot->latest, end);
  clock_unlock(&span->end_slot->lock);
  span->unreported.refs++;
  span->unreported.count++;
  span->unreported.work += end->work;
  span->unreported.span += end->work;
}

/* end_to_parent() for it: the parent is the task that the thread has left for it. */
static inline void plain_task_end_to_parent(struct thread_state *t, const struct plain_end *end)
{
  const struct task_batch *batch = end->task->batch;
  struct task *parent = span_of(t)->running;
  plain_task_raise(t, &parent->now, end);
  if (!batch->nested)
    directive_ended(t, batch->row, 1, end->work, end->work);
  directive_work(t, batch->outer_instance, end->work, end->base);
  task_batch_return(t, parent, end->task->index);
}

static inline bool plain_task_end(struct thread_state *t, const ompt_data_t *data, const ompt_data_t *next,
                                  uint64_t moment)
{
  struct span_thread *span = span_of(t);
  struct plain_task *plain = &span->plain;
  bool still = data == plain->data && data && next == plain->prior && data->value & RT_TASK_NEW;
  if (!still || span->fragment_sample_count || rt_ever_paused())
    return false;
  uint64_t work = work_clock_until(t, moment), begin = plain->batch->at.base + plain->moved;
  struct plain_end end = {.task = plain, .base = begin + work, .work = work};
  end.burdened = plain->batch->at.burdened + plain->moved + plain->cost + work;
  plain->data = NULL;
  span->total_work += work;
  if (plain->batch->parent == span->task && span->running->flags & TASK_JOINS)
    plain_task_end_to_parent(t, &end);
  else
    plain_task_keep_end(t, &end);
  span->task_ended = moment;
  graph_fragment_begin_after(t, moment);
  return true;
}

#endif
