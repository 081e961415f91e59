/* Batches of tasks, repeated creations, and plain tasks: those in which no other callback runs between begin and end.
 *
 * Context: RT, in callbacks; the rules of span/span.h hold.  Here is what span/explicit_task.c shares with the callback
 * of schedule events, for which the functions are inline: most of its calls are for plain tasks.
 *
 * A plain task needs no struct task, and the task before it stays span_thread.running.  plain_task_begin() returns
 * false where it cannot be so.  Before anything else looks at what the thread runs, explicit_task_settle() makes up for
 * what was left out; plain_task_end() returns false if that has happened.  The fragment of the task before is
 * interrupted meanwhile, and not ended.
 *
 * A creation is repeated where the task that the thread runs has created its last child in the same way, and nothing
 * has called explicit_task_settle() since.
 *
 * Where following events costs too much (span/governor.h), most repeated creations are untimed: they do not read the
 * clock, and the child begins where the creator was at the last reading.  So its clock may be too early, by at most
 * what the creator has done between the two readings around the creation.  A chain of work leaves a thread's creations
 * once in a sequence of them (struct creation_sequence), because it can only come back by an event that ends the
 * sequence. So the span is too short by at most the sum of the longest such times of all sequences
 * (directive_total.early). */
#ifndef HPCRUN_LITE_RT_SPAN_PLAIN_TASK_H
#define HPCRUN_LITE_RT_SPAN_PLAIN_TASK_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/governor.h"
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
#define TASK_BATCH_MOVED (((1ull << MOVED_BITS) - 1) << MOVED_SHIFT)

/* Whether data words name the same batch. */
static inline bool task_batch_same(uint64_t word, uint64_t other)
{
  return !((word ^ other) & ~TASK_BATCH_MOVED);
}

/* The end of a plain task: it has begun when its parent's clock had moved so far from that of their batch, and has
 * worked since. */
struct plain_end {
  uint64_t base, burdened, moved, work;
};

/* The latest ends of the tasks that its thread has run, all of one batch, and the joins that wait for them.  Other
 * threads read it under the lock.  `plain` is the latest end of plain tasks, of all others `latest`: its thread writes
 * it without the lock, and its version is odd meanwhile. */
struct end_slot {
  uint32_t lock;
  bool collected; /* a waiting thread has collected it: it is not offered again */
  uint32_t parent, group, interval, chunk;
  uint64_t region;
  struct clock latest;
  struct plain_end plain; /* base and burdened may be those of two tasks; the rest goes with base */
  uint32_t batch, version;
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

static inline uint32_t task_batch_index(uint64_t word)
{
  return (uint32_t)(word >> INDEX_SHIFT) & ((1u << INDEX_BITS) - 1);
}

/* The batch that a data word names; 0 if the word is another process's. */
static inline uint32_t task_batch_of(uint64_t word)
{
  uint32_t index = task_batch_index(word);
  bool known =
      word >> TAG_SHIFT == (uint8_t)rt.epoch && index < __atomic_load_n(&task_batches.table.count, __ATOMIC_ACQUIRE);
  return known ? index : 0;
}

static inline uint64_t task_batch_moved(uint64_t word)
{
  return word >> MOVED_SHIFT & ((1ull << MOVED_BITS) - 1);
}

/* A data word with RT_TASK_NEW; the process's epoch tells those of a forked child from its parent's. */
static inline uint64_t task_batch_word(uint32_t index, uint64_t moved)
{
  return (uint64_t)(uint8_t)rt.epoch << TAG_SHIFT | moved << MOVED_SHIFT | index << INDEX_SHIFT | RT_TASK_NEW;
}

/* The fragment ends at a moment, and the next one begins a little after it.  Returns its work. */
static inline __attribute__((always_inline)) uint64_t plain_task_cut(struct thread_state *t, uint64_t moment)
{
  uint64_t work;
  if (__builtin_expect(work_clock_cut(t, moment, moment, &work), 1))
    return work;
  work = work_clock_until(t, moment);
  graph_fragment_begin_after(t, moment);
  return work;
}

/* The clock was read after untimed creations: the creator has worked so much since the reading before, more than in its
 * sequence so far. */
void plain_task_early(struct thread_state *t, uint64_t work) __attribute__((noinline));

/* The clock was read: the creator has done so much.  Returns that. */
static inline uint64_t plain_task_read(struct thread_state *t, uint64_t done)
{
  struct repeated_creation *last = &span_of(t)->repeated;
  uint64_t untimed = last->untimed;
  if (__builtin_expect(untimed != 0, 0)) {
    uint64_t work = done - last->before;
    last->untimed = 0;
    last->later += untimed * work / 2; /* as at even intervals */
    if (work > span_of(t)->creations.early)
      plain_task_early(t, work);
  }
  return done;
}

/* The thread leaves the creator, which has done so much, for a task with that word.  Returns the word: if the task is
 * the one that was created last, untimed, it was created just now. */
static inline uint64_t plain_task_begun(struct thread_state *t, const ompt_data_t *data, uint64_t word, uint64_t done)
{
  const struct span_thread *span = span_of(t);
  struct repeated_creation *last = &span_of(t)->repeated;
  if (last->untimed && last->data == data) {
    uint64_t now = span->running->now.base + done - last->open->at->at.base;
    if (now >> MOVED_BITS == 0) {
      word = (word & ~TASK_BATCH_MOVED) | now << MOVED_SHIFT;
      last->untimed--;
      last->later += done - last->before;
    }
  }
  plain_task_read(t, done);
  return word;
}

/* ---- repeated creations ---- */

/* Whether the running task creates a child as it has created the last one. */
static inline bool plain_task_is_repeated(const struct thread_state *t, const ompt_data_t *creator, int flags,
                                          const void *code)
{
  const struct span_thread *span = span_of(t);
  const struct repeated_creation *last = &span->repeated;
  return last->open && creator && last->creator == creator && last->code == code && last->flags == flags &&
         !span->plain.data && last->open->refs > 1 && !rt_ever_paused();
}

/* The child's data word, when the running task has worked so far; 0: it does not fit. */
static inline uint64_t plain_task_child(struct repeated_creation *last, uint64_t base)
{
  uint64_t moved = base - last->open->at->at.base;
  if (moved >> MOVED_BITS)
    return 0;
  last->open->refs--;
  return task_batch_word(last->open->index, moved);
}

/* The clock was read in a repeated creation.  Sets how many of the next ones do not read it: at most a sixteenth of
 * those in the sequence, so that the children of short sequences are hardly too early. */
static inline void plain_task_creation_read(struct thread_state *t)
{
  enum { SHARE = 16 };
  struct repeated_creation *last = &span_of(t)->repeated;
  uint32_t share = span_of(t)->creations.count / SHARE, period = span_of(t)->governor.period;
  last->total = directive_total(t, last->open->at->row);
  if (last->total && !filter_now()->constructs) /* otherwise their records may not be their own */
    last->skip = share < period - 1 ? share : period - 1;
}

/* The running task creates a child as it has created the last one, and only plain tasks have run in between.  The child
 * belongs to the same batch; what the parent has done since is not added to it yet.  Returns the child's data word and
 * its row, or 0: then it is to be created by explicit_task_create(). */
static inline uint64_t plain_task_repeat(struct thread_state *t, const ompt_data_t *creator, int flags,
                                         const void *code, uint32_t *row)
{
  struct span_thread *span = span_of(t);
  if (!plain_task_is_repeated(t, creator, flags, code) || span->fragment_sample_count)
    return 0;
  span->work.done = plain_task_read(t, plain_task_cut(t, work_clock_value(t)));
  if (governor_thins(t))
    plain_task_creation_read(t);
  span->creations.count++;
  *row = span->repeated.open->at->row;
  return plain_task_child(&span->repeated, span->running->now.base + span->work.done);
}

/* The same without a reading of the clock, where the last one was at an earlier creation like this one, or when a plain
 * task began or ended.  Returns 0 where that is not wanted. */
static inline uint64_t plain_task_repeat_untimed(struct thread_state *t, const ompt_data_t *creator,
                                                 const ompt_data_t *made, int flags, const void *code)
{
  struct span_thread *span = span_of(t);
  if (!span->repeated.skip || !governor_thins(t) || !plain_task_is_repeated(t, creator, flags, code))
    return 0;
  uint64_t word = plain_task_child(&span->repeated, span->running->now.base + span->work.done);
  span->repeated.data = made;
  if (!span->repeated.untimed)
    span->repeated.before = span->work.done;
  span->repeated.skip -= word != 0;
  span->repeated.untimed += word != 0;
  span->repeated.total->untimed += word != 0;
  span->creations.count += word != 0;
  return word;
}

/* ---- plain tasks ---- */

/* The batch of a new task; NULL: the word names none.  Mostly it is that of the plain task before: a data word keeps
 * its batch, and batches stay where they are. */
static inline const struct task_batch *plain_task_batch(const struct span_thread *span, uint64_t word)
{
  if (__builtin_expect(span->plain.batch && task_batch_same(word, span->plain.word), 1))
    return span->plain.batch;
  uint32_t index = word & RT_TASK_NEW ? task_batch_of(word) : 0;
  return index ? task_batch(index) : NULL;
}

/* Both if work_clock_is_quick(). */
static inline bool plain_task_begin(struct thread_state *t, const ompt_data_t *prior, ompt_data_t *data,
                                    uint64_t moment)
{
  struct span_thread *span = span_of(t);
  uint64_t word = __atomic_load_n(&data->value, __ATOMIC_ACQUIRE);
  const struct task_batch *batch = plain_task_batch(span, word);
  if (!batch || !span->running || batch->flags & TASK_SERIAL || span->running_data || span->plain.data)
    return false;
  if (span->running->flags & TASK_WAITING) {
    span->fragment_sample_count = 0;
    span->plain.before = 0;
    graph_fragment_begin_after(t, moment);
  } else {
    span->plain.before = plain_task_cut(t, moment);
    word = plain_task_begun(t, data, word, span->plain.before);
  }
  if (span->task_ended)
    graph_cost(t, GRAPH_TASK, moment - span->task_ended);
  span->plain.data = data;
  span->plain.prior = prior;
  span->plain.batch = batch;
  span->plain.word = word;
  span->plain.index = task_batch_index(word);
  span->plain.moved = task_batch_moved(word);
  return true;
}

/* Makes the path that of such a task's end.  Returns false where that is not simple: then nothing is done. */
static inline bool plain_task_set_path(struct critical_path *path, const struct task_batch *batch,
                                       const struct plain_end *end)
{
  const struct critical_path *from = &batch->at.path;
  uint64_t key = CRITICAL_PATH_KEY(batch->row, 0, 0), before = from->items[0].amount + end->moved;
  bool room = !from->items[1].amount || from->items[1].key == key;
  if (path->tail != from->tail || from->items[0].key == key || !room || !before || !end->work)
    return false;
  path->items[0] = (struct critical_path_item){key, from->items[1].amount + end->work};
  path->items[1] = (struct critical_path_item){from->items[0].key, before};
  return true;
}

/* The same in general. */
void plain_task_set_other_path(struct thread_state *t, struct clock *clock, const struct task_batch *batch,
                               const struct plain_end *end) __attribute__((noinline));

/* clock_raise() for the clock of such a task: its path is only made if it is needed. */
static inline void plain_task_raise(struct thread_state *t, struct clock *clock, const struct task_batch *batch,
                                    const struct plain_end *end)
{
  if (end->base > clock->base) {
    if (__builtin_expect(!plain_task_set_path(&clock->path, batch, end), 0))
      plain_task_set_other_path(t, clock, batch, end);
    __atomic_store_n(&clock->base, end->base, __ATOMIC_RELAXED);
  }
  if (end->burdened > clock->burdened)
    __atomic_store_n(&clock->burdened, end->burdened, __ATOMIC_RELAXED);
}

/* Raises the thread's slot, which belongs to the batch, to that end. */
static inline void plain_task_raise_slot(struct thread_state *t, const struct plain_end *end)
{
  struct end_slot *slot = span_of(t)->end_slot;
  __atomic_store_n(&slot->version, slot->version + 1, __ATOMIC_RELAXED);
  atomic_thread_fence(memory_order_release);
  if (end->base > slot->plain.base) {
    __atomic_store_n(&slot->plain.base, end->base, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->plain.moved, end->moved, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->plain.work, end->work, __ATOMIC_RELAXED);
  }
  if (end->burdened > slot->plain.burdened)
    __atomic_store_n(&slot->plain.burdened, end->burdened, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->version, slot->version + 1, __ATOMIC_RELEASE);
}

/* The end of a task of the batch that has begun at that clock, by when it was created and its work. */
static inline struct plain_end plain_task_end_of(const struct thread_state *t, const struct clock *at, uint64_t moved,
                                                 uint64_t work)
{
  return (struct plain_end){.base = at->base + moved + work,
                            .burdened = at->burdened + moved + span_of(t)->costs[GRAPH_TASK] + work,
                            .moved = moved,
                            .work = work};
}

/* keep_end() for it. */
static inline void plain_task_keep_end(struct thread_state *t, const struct plain_end *end)
{
  struct span_thread *span = span_of(t);
  if (span->unreported.batch != span->plain.index)
    task_batch_report(t, span->plain.index);
  plain_task_raise_slot(t, end);
  span->unreported.refs++;
  span->unreported.count++;
  span->unreported.work += end->work;
  span->unreported.span += end->work;
}

/* end_to_parent() for it: the parent is the task that the thread has left for it. */
static inline void plain_task_end_to_parent(struct thread_state *t, const struct plain_end *end)
{
  const struct task_batch *batch = span_of(t)->plain.batch;
  struct task *parent = span_of(t)->running;
  plain_task_raise(t, &parent->now, batch, end);
  if (!batch->nested)
    directive_ended(t, batch->row, 1, end->work, end->work);
  directive_work(t, batch->outer_instance, end->work, end->base);
  task_batch_return(t, parent, span_of(t)->plain.index);
}

static inline bool plain_task_end(struct thread_state *t, const ompt_data_t *data, const ompt_data_t *next,
                                  uint64_t moment)
{
  struct span_thread *span = span_of(t);
  struct plain_task *plain = &span->plain;
  bool still = data == plain->data && data && next == plain->prior && data->value & RT_TASK_NEW;
  if (!still || rt_ever_paused())
    return false;
  const struct clock *at = &plain->batch->at;
  uint64_t work = plain_task_cut(t, moment);
  struct plain_end end = plain_task_end_of(t, at, plain->moved, work);
  plain->data = NULL;
  span->total_work += work;
  if (plain->batch->parent == span->task && span->running->flags & TASK_JOINS)
    plain_task_end_to_parent(t, &end);
  else
    plain_task_keep_end(t, &end);
  span->task_ended = moment;
  span->work.done = plain->before;
  return true;
}

#endif
