/* Bundled tasks: plain tasks (span/plain_task.h) that are timed, but recorded together.
 *
 * Context: RT, in callbacks; the rules of span/span.h hold.  The state is the thread's own (struct bundled_tasks).
 * Nothing can fail.
 *
 * A thread that does not wait, and has run a plain task, often runs more of the same batch in the same way: their
 * creator runs tasks itself where too many are queued.  As long as nothing else happens but creations, these tasks are
 * bundled: at begin and end only the thread's clocks go on, and what the tasks have done is added up.  They are
 * recorded after BUNDLED_TASKS_MOST, or when something else happens.  Nothing is estimated; of the chain through
 * bundled tasks only the one that ends last matters.
 *
 * A bundled task in which something happens becomes a plain one, and what was left out at its begin is done.  A signal
 * handler does so, too, except for the stack of constructs: the thread puts it there at its next event. */
#ifndef HPCRUN_LITE_RT_SPAN_BUNDLED_TASK_H
#define HPCRUN_LITE_RT_SPAN_BUNDLED_TASK_H

#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/span/plain_task.h"

enum { BUNDLED_TASKS_MOST = 256 };

/* The thread leaves the task bundled_tasks.prior for that one.  now: ticks.  Returns whether it is bundled: then
 * nothing else is to be done. */
static inline bool bundled_task_enter(struct thread_state *t, const ompt_data_t *prior, ompt_data_t *data,
                                      uint64_t moment, uint64_t now)
{
  struct span_thread *span = span_of(t);
  struct bundled_tasks *bundled = &span->bundled_tasks;
  if (span->plain.data || span->running_data || counts_of(t)->attend || rt_ever_paused())
    return false;
  uint64_t word = __atomic_load_n(&data->value, __ATOMIC_ACQUIRE);
  if (!task_batch_same(word, bundled->word))
    return false;
  span->plain.before = plain_task_cut(t, moment);
  span->plain.word = plain_task_begun(t, data, word, span->plain.before);
  span->plain.prior = prior;
  span->plain.bundled = true;
  span->plain.data = data;
  bundled->data = data;
  bundled->begun = now;
  t->record->construct_open = bundled->open;
  return true;
}

/* The thread's bundled task ends.  Returns whether nothing has happened in it; *ticks: how long it ran.
 */
static inline bool bundled_task_leave(struct thread_state *t, const ompt_data_t *data, const ompt_data_t *next,
                                      uint64_t moment, uint64_t now, uint64_t *ticks)
{
  struct span_thread *span = span_of(t);
  struct plain_task *plain = &span->plain;
  struct bundled_tasks *bundled = &span->bundled_tasks;
  if (!data || data != plain->data || next != plain->prior || !(data->value & RT_TASK_NEW) || rt_ever_paused())
    return false;
  uint64_t work = plain_task_cut(t, moment), moved = task_batch_moved(plain->word);
  plain->data = bundled->data = NULL;
  plain->bundled = false;
  span->work.done = plain->before;
  span->total_work += work;
  span->task_ended = moment;
  bundled->count++;
  bundled->work += work;
  if (moved + work > bundled->moved + bundled->last) {
    bundled->moved = moved;
    bundled->last = work;
  }
  *ticks = now > bundled->begun ? now - bundled->begun : 0;
  bundled->uncounted++;
  bundled->ticks += *ticks;
  t->record->construct_open = bundled->outer;
  return true;
}

/* A plain task has ended which the thread has run while it did not wait: tasks of its batch may be bundled. */
static inline void bundled_task_allow(struct thread_state *t)
{
  struct bundled_tasks *bundled = &span_of(t)->bundled_tasks;
  bundled->prior = filter_now()->constructs ? NULL : span_of(t)->plain.prior;
  bundled->word = span_of(t)->plain.word;
}

#endif
