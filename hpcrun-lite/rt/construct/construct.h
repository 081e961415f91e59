/* Times of constructs: what a thread spends its time on, for each construct as constructs nest.
 *
 * Source: the region profiles of ompP (Fürlinger and Skinner, IWOMP'09).  Departures: the runtime's callbacks take the
 * place of instrumented sources, and see which thread runs a task, and when; and a record has the time without that of
 * the constructs inside it, so that all records of a thread add up to its life time.
 *
 * Context: RT, in callbacks of the thread itself, between rt_inside_inc() and rt_inside_dec(); functions marked CTL are
 * called by CTL.  The tables are the thread's own; the arena owns them.  Without memory for a record, the time belongs
 * to the construct around it, and the loss is counted; so it does, without a loss, where a filter leaves the construct
 * out.
 *
 * A stack has the constructs that the thread has open and the tasks that it runs, the innermost on top; a task that it
 * leaves for another one lies below that.  At each callback the time since the last one is added to one counter: that
 * of the top.  Recursive executions of a construct have one record, that of the outermost one, so that memory grows
 * with the ways in which constructs nest.  `now` is the time-stamp counter, `directive` a row of span/directive.h.
 * Functions that return a record return NULL without one. */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_H
#define HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_H

#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/construct/construct_thread.h"
#include "hpcrun-lite/rt/span/governor.h"

/* CTL: sets up the tables of a new thread, whose time counts from its record's construct_since.  Nothing is allocated
 * yet. */
void construct_init(struct thread_state *t);
void construct_release(struct thread_state *t);

/* ---- regions ---- */

/* Where a region stands: a record of its creator's. */
struct construct_record_id {
  uint32_t owner, record; /* thread; 0: not known */
  bool around;            /* the record is that of what is around the region, which a filter leaves out */
};

/* How much of a region is followed: see span/light_region.h. */
struct construct_part {
  bool light;
  uint32_t stands_for; /* light ones */
};

/* The thread creates a region (kind: parallel or teams); its own task in the region begins; the region ends.  again:
 * it is a part of the construct around it, whose record it gets. */
struct format_construct *construct_region_begin(struct thread_state *t, uint32_t kind, uint32_t directive,
                                                struct construct_part part, bool again, uint64_t now);
void construct_region_body(struct thread_state *t, const void *task, uint64_t now);
void construct_region_end(struct thread_state *t, uint64_t now);

/* The kind of that record, and its directive: a filter may have put the region into what is around it. */
uint32_t construct_region_kind(const struct thread_state *t, uint32_t *directive);

/* The place of the region that the thread has created last.  Record 0: a filter leaves it out, and nothing is around
 * it. */
struct construct_record_id construct_region_record(const struct thread_state *t);

/* Another thread takes part in it; the region has begun at that moment. */
void construct_join(struct thread_state *t, uint32_t kind, uint32_t directive, struct construct_record_id at_record,
                    struct construct_part part, const void *task, uint64_t begun, uint64_t now);

/* The thread's task in the region ends.  Where the runtime announces that late to a thread that is not the creator,
 * construct_thread.region_end is when the region has ended.  now: 0: it is read only if need be. */
void construct_part(struct thread_state *t, bool creator, uint64_t now);

/* The task outside any region. */
void construct_initial(struct thread_state *t, const void *task);

/* ---- constructs ---- */

/* A construct begins or ends in the current task. */
struct format_construct *construct_begin(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now);
void construct_end(struct thread_state *t, uint32_t kind, uint64_t now);

/* The innermost construct of the thread, if that is a target construct; NULL: it is not. */
struct format_construct *construct_open_target(const struct thread_state *t);

/* The operation for a device that the thread is in; NULL: none. */
struct format_construct *construct_open_operation(const struct thread_state *t);

/* The same for taskgroups and taskloops.  Runtimes announce a taskloop's own taskgroup before it (own_group); they are
 * one construct, a taskloop, which lasts until the taskgroup ends. */
struct format_construct *construct_group_begin(struct thread_state *t, uint32_t directive, uint64_t now);
void construct_group_end(struct thread_state *t, uint64_t now);
struct format_construct *construct_taskloop_begin(struct thread_state *t, uint32_t directive, bool own_group,
                                                  uint64_t now);
void construct_taskloop_end(struct thread_state *t, uint64_t now);

/* The thread goes on with a task in which a taskgroup or taskloop is open. */
void construct_group_reopen(struct thread_state *t, uint32_t kind, uint32_t directive);

/* The directive of the taskgroup that has begun last, if nothing has happened since; otherwise 0. */
uint32_t construct_new_group(const struct thread_state *t);

/* The same for worksharing constructs, after which a barrier may follow.  Those of the task that are still open end:
 * GCC's code does not announce the end of a single construct. */
struct format_construct *construct_work_begin(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now);
void construct_work_end(struct thread_state *t, uint32_t kind, uint64_t now);

/* The thread executes so many sections of the construct that is open, or meets a single construct that another thread
 * executes.  GCC's runtime hands out one section after another; until the first, the thread has none. */
void construct_sections(struct thread_state *t, uint64_t number);
struct format_construct *construct_single_other(struct thread_state *t, uint32_t directive, uint64_t now);

/* In a light region, where constructs only count: a worksharing or masked construct begins, and ends; another thread
 * executes the single construct. */
struct format_construct *construct_light_begin(struct thread_state *t, uint32_t kind, uint32_t directive);
void construct_light_end(struct thread_state *t, uint32_t kind);
struct format_construct *construct_light_single_other(struct thread_state *t, uint32_t directive);

/* ---- waiting ---- */

enum construct_wait {
  CONSTRUCT_WAIT_OWN,         /* a taskwait, an explicit barrier: a construct of its own; a task's dependences */
  CONSTRUCT_WAIT_WORKSHARING, /* the barrier after a worksharing construct; otherwise as the one above */
  CONSTRUCT_WAIT_GROUP,       /* at the end of the innermost taskgroup or taskloop; otherwise as the one above */
  CONSTRUCT_WAIT_REGION       /* at the end of the region */
};

/* In a light region, the thread begins to wait at a barrier.  Whether that belongs to a construct that is known
 * already; otherwise it counts as one of that directive. */
bool construct_light_wait_is_known(struct thread_state *t, enum construct_wait how, const void *code);
struct format_construct *construct_light_wait(struct thread_state *t, uint32_t directive);

/* Whether such a wait belongs to a construct that is known already. */
bool construct_wait_is_known(struct thread_state *t, enum construct_wait how, const void *code, uint64_t now);

/* The thread begins to wait, at that address; kind and directive: of a construct of its own, where it is not known. */
struct format_construct *construct_wait_begin(struct thread_state *t, enum construct_wait how, uint32_t kind,
                                              uint32_t directive, const void *code, uint64_t now);

/* The wait has ended. */
void construct_wait_end(struct thread_state *t, uint64_t now);

/* ---- mutual exclusion ---- */

/* The thread begins to wait for a lock, has got it, or has it already (a nested one); and releases it.  Locks are
 * never around other constructs, since they need not be released in order.  Where constructs are neither traced nor
 * counted for, construct_waited() says at the end of the wait that there was one. */
void construct_acquire(struct thread_state *t, uint64_t now);
struct format_construct *construct_acquired(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t wait_id,
                                            uint64_t now);
void construct_held_already(struct thread_state *t);

static inline void construct_waited(struct thread_state *t)
{
  if (!construct_of(t)->acquiring)
    construct_of(t)->acquiring = t->lock_since;
}

/* The thread has begun to wait in the same way, but for nothing that it then holds; it has waited until now. */
struct format_construct *construct_awaited(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t now);

void construct_released(struct thread_state *t, uint32_t kind, uint64_t wait_id, uint64_t now);

/* Since that moment the thread has combined its part of a reduction with that of others, unless something else has
 * happened: then nothing is counted, and NULL returned. */
struct format_construct *construct_reduced(struct thread_state *t, uint32_t directive, uint64_t since, uint64_t now);

/* Both at once, where nothing has happened in between and constructs are neither traced nor counted for: the thread has
 * held the lock, or was in the construct, from one moment to another one.  known: below the top. */
static inline void construct_held(struct thread_state *t, const struct construct_known *known, uint64_t since,
                                  uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  struct format_construct *at = known->at;
  uint64_t before = t->record->construct_since, held = now > since ? now - since : 0;
  uint64_t passed = since > before ? since - before : 0;
  uint64_t waited = construct->acquiring && since > construct->acquiring ? since - construct->acquiring : 0;
  waited = waited < passed ? waited : passed;
  RT_ASSERT(!counts_of(t)->attend && !rt_ever_paused());
  t->record->construct_since = before + passed + held; /* first: as construct_pass() */
  atomic_signal_fence(memory_order_seq_cst);
  *construct->ticks += passed - waited;
  at->ticks[FORMAT_TIME_ENTER] += waited;
  construct->waits += waited;
  at->ticks[FORMAT_TIME_BODY] += held;
  if (at->kind == FORMAT_DIRECTIVE_LOCK) /* a lock is not around what is done while it is held */
    *construct->ticks += held;
  at->count++;
  construct->acquiring = 0;
}

/* The same for light instances (span/governor.h).  construct_light() returns whether the instance that the thread
 * begins is light; otherwise it is to be announced to construct_acquired(), and stands for *stands_for light ones.
 * construct_light_ends() returns whether the lock's instance was light. */
bool construct_light(struct thread_state *t, uint32_t kind, uint32_t directive, uint64_t wait_id, uint64_t now,
                     uint64_t *stands_for);
bool construct_light_ends(struct thread_state *t, uint64_t wait_id);

/* Whether the thread is in a light instance of that lock, and in no other light one. */
static inline bool construct_is_light(const struct thread_state *t, uint64_t wait_id)
{
  const struct construct_thread *construct = construct_of(t);
  return construct->light_count == 1 && construct->light[0].wait_id == wait_id;
}

/* construct_light() where the record is known and the thread is in no light instance; otherwise false.  now: 0: the
 * thread has not waited.  The limits of construct_held() hold. */
static inline bool construct_light_again(struct thread_state *t, const struct construct_known *known, uint64_t wait_id,
                                         uint64_t now)
{
  struct construct_thread *construct = construct_of(t);
  struct format_construct *at = known->at;
  bool whole = !at->skip || at->count == at->light || at->flags & FORMAT_CONSTRUCT_WHOLE;
  if (whole || construct->light_count || (!now && construct->acquiring))
    return false;
  at->skip--;
  if (now)
    construct_held(t, known, now, now);
  else
    at->count++;
  at->light++;
  construct->light[0] = (struct construct_light){wait_id, governor_events(t), at};
  construct->light_count = 1;
  return true;
}

/* The instance of construct_light_again(), for which the thread has not waited, has not begun after all. */
static inline void construct_light_withdraw(struct thread_state *t)
{
  struct construct_thread *construct = construct_of(t);
  struct format_construct *at = construct->light[0].at;
  RT_ASSERT(construct->light_count == 1 && at->light && at->count);
  at->skip++;
  at->count--;
  at->light--;
  construct->light_count = 0;
}

/* construct_light_ends() for the instance of construct_is_light(). */
static inline void construct_light_ends_only(struct thread_state *t)
{
  struct construct_thread *construct = construct_of(t);
  if (governor_events(t) != construct->light[0].begun + 1)
    construct->light[0].at->flags |= FORMAT_CONSTRUCT_WHOLE;
  construct->light_count = 0;
}

/* The body of the instance that has begun last begins only now. */
void construct_acquired_late(struct thread_state *t, uint32_t kind, uint64_t wait_id, uint64_t now);

/* ---- explicit tasks ---- */

/* So many tasks of the directive, which the thread's current task has created, took so long to create. */
void construct_creation(struct thread_state *t, uint32_t directive, uint64_t count, uint64_t ticks, uint64_t now);

/* The thread leaves task `prior` (NULL: its innermost one) and begins a task, or goes on with one that another thread
 * has run before: then `first` is false and `ran` its running time there.  elsewhere: another thread has created it. */
void construct_task_begin(struct thread_state *t, const void *prior, const void *task, uint32_t directive, bool first,
                          bool elsewhere, uint64_t ran, uint64_t now);

/* A task has ended, and the thread goes on with the one below it, where further ones of its batch may be light
 * (span/bundled_task.h); elsewhere: another thread has created them. */
void construct_task_allow_bundled(struct thread_state *t, bool elsewhere);

/* The time that bundled tasks have taken until now goes from the construct around them to theirs. */
void construct_task_count_bundled(struct thread_state *t, uint64_t now) __attribute__((noinline));

/* The task that the thread has just begun, or goes on with, does so only now: the thread had to obtain memory. */
void construct_task_delayed(struct thread_state *t, bool first, uint64_t now) __attribute__((noinline, cold));

/* Whether the thread runs that task.  Constructs and tasks that were put on the stack above it and whose end was not
 * announced end now. */
bool construct_runs(struct thread_state *t, const void *task, uint64_t now);

/* A task ends that the thread does not run; ran: its running time. */
void construct_task_ended(struct thread_state *t, uint32_t directive, uint64_t ran);

/* The thread stops running its task.  It goes on with `next`, if that is in the stack: returns whether it is.  ended:
 * otherwise *ran is the task's running time so far. */
bool construct_task_leave(struct thread_state *t, const void *next, bool ended, uint64_t *ran, uint64_t now);

/* A chunk begins, in the construct that is open: for the trace. */
void construct_chunk(struct thread_state *t, uint64_t now);

/* The loop that has begun has that schedule.  size: of its chunks, 0: the program demands none.  strides: the thread
 * may go on from a chunk to another one that is not announced, so that the time of one is not known. */
void construct_schedule(struct thread_state *t, enum format_schedule schedule, uint64_t size, bool strides);

/* Measuring is paused or resumed by this thread: to be called before that. */
void construct_pause(struct thread_state *t, uint64_t now);

/* The record that is open, NULL if it is not known; and its context, 0, the root, if that is not known. */
struct format_construct *construct_open_record(const struct thread_state *t);
uint32_t construct_open_node(const struct thread_state *t);

/* CTL: the open interval of a thread, which may be running. */
struct construct_interval {
  uint32_t record;
  enum format_construct_time column;
  uint64_t ticks;
};
struct construct_interval construct_open_interval(const struct thread_state *t, uint64_t now);

#endif
