/* Explicit tasks: their creation, and the joins to which their ends are reported.
 *
 * Context: RT, in callbacks; the rules of span/span.h hold.  Tasks and batches come from pools; without memory a task
 * has no place in the graph, and the loss is counted.  Two devices make small tasks cheap:
 *
 * - A new task gets no struct task.  A batch (struct task_batch) holds what consecutive children of one task from the
 * same code have in common: parent, taskgroup, interval, flags, and the parent's clock.  The data word of the task
 * names the batch and says how far the parent's clock has moved since.  The thread that runs the task makes its struct
 * task, from its own free items.
 *
 * - The end of a task must reach its parent's join, and the join of its taskgroup or of the region's barrier interval.
 * If the thread goes on with the parent, which waits for its children in a taskwait, the parent's clock is raised at
 * once: the other joins follow from the parent's end, or are taken by it.  Otherwise the thread keeps the latest end of
 * the tasks of one batch in its own end slot and sets its bit in these lazy joins (struct lazy_join).  A thread that
 * waits collects the slots of all threads whose bit is set.  The owner of a slot reports it only when it ends a task of
 * another batch, or waits at a barrier.  So threads that run tasks of one parent do not write to the same memory. */
#ifndef HPCRUN_LITE_RT_SPAN_EXPLICIT_TASK_H
#define HPCRUN_LITE_RT_SPAN_EXPLICIT_TASK_H

#include "hpcrun-lite/rt/span/graph.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* CTL: starts the tables of a new process, and a thread's slot (false without memory).  explicit_task_stop_thread()
 * reports the thread's ends and returns its free items. */
void explicit_task_start(void);
bool explicit_task_start_thread(struct thread_state *t);
void explicit_task_stop_thread(struct thread_state *t);

/* Creates a child of that task and returns its data word.  serial: the program makes the creator wait for it.
 * creation_context: see sampling/task_context.h.  *row: the task's row, 0 without memory. */
uint64_t explicit_task_create(struct thread_state *t, uint32_t parent, int flags, bool serial, const void *code,
                              uint32_t creation_context, uint32_t *row);

/* The index of the task that a data word names; its struct task is made if it is missing.  0 without memory, or for a
 * task of another process. */
uint32_t explicit_task_index(struct thread_state *t, ompt_data_t *data);

/* The same for a task that the thread is going to run.  A new task's data word does not name it yet, since most tasks
 * end before another thread looks for them; span_thread.running_data remembers the word until explicit_task_publish().
 */
uint32_t explicit_task_begin(struct thread_state *t, ompt_data_t *data);

/* Reads the clock after untimed creations (span/plain_task.h). */
void explicit_task_read_clock(struct thread_state *t) __attribute__((noinline));

/* The same where the thread, which is inside, begins to wait: what it does then is no work. */
static inline void explicit_task_wait(struct thread_state *t)
{
  bool untimed = __builtin_expect(span_of(t)->repeated.untimed != 0, 0);
  if (untimed && !rt_graph_suspended())
    explicit_task_read_clock(t);
}

/* Adds bundled tasks that have ended (span/bundled_task.h) to the unreported ends. */
void explicit_task_record_bundled(struct thread_state *t) __attribute__((noinline));

/* The task that the thread runs is a plain one no longer (span/plain_task.h), and its last creation is not repeated. */
void explicit_task_settle_plain(struct thread_state *t) __attribute__((noinline));

/* The same at an event by which no chain of work reaches the thread: its sequence of creations goes on. */
static inline void explicit_task_settle_here(struct thread_state *t)
{
  if (__builtin_expect(span_of(t)->repeated.untimed != 0, 0))
    explicit_task_read_clock(t);
  if (__builtin_expect(span_of(t)->bundled_tasks.count != 0, 0))
    explicit_task_record_bundled(t);
  span_of(t)->repeated.open = NULL;
  if (span_of(t)->plain.data)
    explicit_task_settle_plain(t);
}

static inline void explicit_task_settle(struct thread_state *t)
{
  explicit_task_settle_here(t);
  span_of(t)->bundled_tasks.prior = NULL;
  span_of(t)->creations = (struct creation_sequence){0};
}

/* Short forms.  A new task begins, whose data word still has RT_TASK_NEW, so that no other thread has seen it; the
 * explicit task that the thread runs ends. */
void explicit_task_start_new(struct thread_state *t, ompt_data_t *data, uint64_t moment);
void explicit_task_end_begun(struct thread_state *t, const ompt_data_t *next, uint64_t moment);

/* A task begins: it waits for its dependences, and the cost of its scheduling is added. */
static inline void explicit_task_started(struct thread_state *t, struct task *task, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  if (span->task_ended)
    graph_cost(t, GRAPH_TASK, moment - span->task_ended);
  task->flags |= TASK_STARTED;
  if (task->depend.edges) {
    depend_wait(t, &task->depend, &task->now, task->name);
    task->scope.begin = task->now.base;
  }
  if (!(task->flags & TASK_SERIAL))
    task->now.burdened += span->costs[GRAPH_TASK];
}

/* Makes the data word name the task that the thread has begun.  Required before the thread may run anything else. */
void explicit_task_publish_begun(struct thread_state *t);

static inline void explicit_task_publish(struct thread_state *t)
{
  if (span_of(t)->plain.data || span_of(t)->running_data)
    explicit_task_publish_begun(t);
}

/* The directive of the task of a data word, for handlers: also while the task is in constructs. */
uint32_t explicit_task_directive(uint64_t word);

/* The directive of a task, whatever construct is open in it; 0: an implicit one. */
uint32_t explicit_task_row(const struct task *task);

/* The address of the directive of a task that the thread runs; 0: an implicit one. */
uint64_t explicit_task_code(const struct task *task);

/* Is the task of a data word a direct one (TASK_DIRECT)? */
bool explicit_task_direct(uint64_t word);

/* Direct tasks one within another, through which a handler looks for the task outside. */
enum { DIRECT_LEVELS = 128 };

/* The task whose code the runtime has called: the one that the thread runs, or, if that is a direct one (TASK_DIRECT),
 * the first one outside; a direct one if that is more than DIRECT_LEVELS outside.  0: none is known. */
uint32_t explicit_task_called(struct thread_state *t);

/* The region in which the task of a data word was created, 0: outside any; and its creation context. */
uint64_t explicit_task_region(uint64_t word);
uint32_t explicit_task_creation_context(uint64_t word);

/* The task, which has created others, goes on to another chunk of a loop. */
void explicit_task_chunk_of_parent(struct thread_state *t, struct task *parent) __attribute__((noinline));

/* The task goes on to another chunk of a loop: a taskwait in it does not wait for the children of earlier chunks. */
static inline void explicit_task_chunk(struct thread_state *t, struct task *task)
{
  if (__builtin_expect(task->open[0].at || task->open[1].at, 0))
    explicit_task_chunk_of_parent(t, task);
}

/* Closes the task's open batches: its next child needs a new one. */
void explicit_task_close(struct thread_state *t, struct task *parent);

/* The task has ended, and its clock is final.  The thread goes on with task `next`; 0: not known. */
void explicit_task_end(struct thread_state *t, uint32_t index, uint32_t next);

/* The task has ended, and no join waits for it. */
void explicit_task_drop(struct thread_state *t, uint32_t index);

/* Reports the unreported ends to the joins that wait for them. */
void explicit_task_report(struct thread_state *t);

/* Raise the clock to the ends of: the children of a task, the members of a taskgroup, the tasks of a region's barrier
 * interval. */
void explicit_task_join_children(struct thread_state *t, struct clock *clock, uint32_t task);
void explicit_task_join_group(struct thread_state *t, struct clock *clock, uint32_t group);
void explicit_task_join_interval(struct thread_state *t, struct clock *clock, uint64_t region, uint32_t interval);

/* A new struct task, all zero except for the pool's part and the references (0 without memory); and their release by
 * the thread that runs the task. */
uint32_t explicit_task_new(struct thread_state *t);
void explicit_task_unref(struct thread_state *t, uint32_t index);

#endif
