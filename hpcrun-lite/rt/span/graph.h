/* The task graph: tasks, teams and taskgroups; fragments and constructs of the task that runs.
 *
 * Context: RT, in callbacks.  Used by span/span.c (tasks, regions, waits), span/worksharing.c (worksharing, mutual
 * exclusion, dependences) and span/explicit_task.c.  Tasks and taskgroups come from pools, teams from a table.
 * Functions do not fail; work or structure that finds no memory is counted as a loss.  The functions that end and begin
 * a fragment are inline, since every callback pays for them. */
#ifndef HPCRUN_LITE_RT_SPAN_GRAPH_H
#define HPCRUN_LITE_RT_SPAN_GRAPH_H

#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/span/depend.h"
#include "hpcrun-lite/rt/span/doacross.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/span/work_clock.h"

enum { SHARED_LOOPS = 8, SCOPES_MAX = GRAPHLOG_SCOPES_MAX };

enum task_flag {
  TASK_SERIAL = 1, /* the creator waits for it */
  TASK_STARTED = 2,
  TASK_FINAL = 4,
  TASK_IMPLICIT = 8,
  TASK_WAITING = 32,
  TASK_IN_LOOP = 64,   /* inside a worksharing loop or sections construct */
  TASK_HAD_LOOP = 128, /* has encountered one: loop_entry, loop_end and doacross are in use */
  TASK_SINGLE = 256,   /* inside a single construct (GCC's code does not announce its end) */
  TASK_EARLY = 512,    /* begun by a call of the program to the tool, before the runtime has begun it */
  TASK_JOINS = 4096,   /* waits for all of its children, in a taskwait */
  TASK_NESTED = 8192,  /* within an instance of its own row */
  TASK_MOVED = 2048,   /* in its loop, a chunk's own chain began later than the loop */
  TASK_DIRECT = 1024,  /* its code is in the function that creates it, which the runtime does not call */
  TASK_LIGHT = 16384   /* the implicit task of a light region (span/light_region.h) */
};

/* An open construct of a task, or the task itself.  It gets an instance only when it creates a task or region, which
 * most do not.  The span of an execution is the longest chain of its own work.  The clock may have moved further, by
 * what the task has waited for but did not run in the construct (dependences, ordered, barriers, fulfilment).  So the
 * work is an upper bound of the span, and is the span itself where the construct has run nothing in parallel. */
struct scope {
  uint32_t row, instance;  /* 0: none yet */
  uint64_t begin, pending; /* clock (base) at its start; work that is not added to an instance yet */
};

/* A join to which threads report lazily: `join` has the ends that are reported, and each set bit of `holders` stands
 * for a thread that may hold further ones in its end slot (span/explicit_task.h). */
struct lazy_join {
  uint64_t holders;
  struct join join;
};

/* A batch of children that the next child of their parent may belong to: see span/explicit_task.c. */
struct open_batch {
  struct task_batch *at; /* NULL: none */
  uint32_t index, refs;  /* refs: references to it in reserve */
};

/* Writer: the thread that runs the task, and before it the thread that made the structure; the OpenMP runtime
 * synchronises when it hands a task to another thread.  Other threads use `refs` (atomic; a load of 1 and a fall to 0
 * acquire), `children` and `earlier` (under the lock of children.join), `fulfilled` (a join), and fields of a waiting
 * task that do not change. */
struct task {
  struct pool_item pool;
  uint32_t refs; /* own_refs until the task ends, and one for each batch of its children */
  uint32_t
      own_refs; /* those that the task's thread has in reserve for batches, which need no locked instruction then */
  uint32_t flags;
  uint32_t batch, parent, group, interval;
  uint32_t creator_thread;
  uint64_t ran;                              /* ticks, when a thread has left it to another one */
  uint64_t region;                           /* handle; its lower half is the team's index */
  uint64_t name;                             /* in the graph log */
  uint32_t outer_instance, creation_context; /* in which the task was created; the batch holds it */
  struct clock now;
  struct scope scope;        /* the innermost one */
  struct open_batch open[2]; /* the newer one first: most tasks create their children at two places at most */
  uint32_t constructs;       /* worksharing constructs encountered */
  uint32_t singles;          /* single constructs encountered */
  uint32_t chunk;            /* chunks that have created children */
  uint32_t ordered;          /* number of its last ordered region in the loop */
  uint32_t dependent_wait;   /* task that stands for its taskwait with dependences */
  uint64_t undeferred_code;  /* where it creates an undeferred task, for whose dependences it waits; 0: none */
  uint32_t scopes_open;
  uint16_t loop_slot, loop_depth; /* open loop: its place in the team + 1, and the depth of its scope */
  /* zero in free items, up to `fulfilled` */
  struct depend depend;
  struct lazy_join children;
  struct clock earlier;  /* ends of children of earlier chunks */
  struct join fulfilled; /* clock of the thread that fulfils a detached task */

  struct clock loop_entry, loop_end;
  struct doacross_cursor doacross;
  uint64_t
      loop_begin;     /* clock (base) from which the chunk's own chain counts: what has come from outside is left out */
  uint64_t loop_span; /* the longest own chain of a chunk */
  struct scope around[SCOPES_MAX]; /* the outermost first */
};

/* A loop, sections or workshare construct that a team shares.  Used under the lock, except for `ordered_*`, which are
 * atomic, `doacross`, and fields that the first thread has set before `number` (0: the structure is free), which it
 * stores with release.  So a thread that is not the first one reads the first cache line when it enters, and all write
 * it when they leave.  The last one to leave frees it without the lock, since no other
 * thread of the construct uses it any more. */
struct shared_construct {
  uint32_t lock, number, instance, ended, row;
  uint64_t begin, work, span; /* work: what threads have done in it that belongs to no instance */
  struct join ordered;
  uint32_t ordered_begun, ordered_ended; /* ordered regions that have begun, and ended */
  bool ordered_missed;                   /* the end of one was not announced in time */
  struct doacross doacross;
} __attribute__((aligned(64)));

/* The time between two barriers of a region: what its threads' slots do not hold (span/barrier.h). */
struct barrier_interval {
  uint64_t work; /* of implicit tasks, under the lock of ends.join */
  struct lazy_join ends;
} __attribute__((aligned(64)));

/* The end of a team's region: its creator takes, under the lock, what the threads have left in their slots
 * (span/barrier.h), and stores the region's handle.  A thread that uses its slot for another region meanwhile holds the
 * lock, too.  That is rare, so that the line mostly stays with the creator. */
struct region_ending {
  uint32_t lock;
  uint64_t taken;
} __attribute__((aligned(64)));

/* A region's team.  The region's creator writes it before its threads begin and after they have ended, except:
 * `instance`, under the lock; `size`, `loops_met` (its threads were in a loop once) and `contents`, which all threads
 * write with the same value, relaxed; `members`, atomically; `ending`, `intervals` and `loops` (see there).  The
 * creator stores `handle` with release when the rest is written; a thread that asks whether the region is open loads it
 * with acquire. */
struct team {
  /* The first cache line is what threads need at their start.  start: the creator's clock with the costs of the fork.
   */
  uint64_t handle; /* of the open region; 0: none */
  struct clock start;
  /* The second one seldom changes, and the creator writes to it only what changes. */
  uint32_t creator, row, size;
  uint32_t lock, instance; /* the instance is made, under the lock, when a task or construct needs it */
  bool loops_met;
  bool light, contents; /* see span/light_region.h */
  uint32_t stands_for;  /* light regions; 0 in a light one */
  uint64_t members;     /* bits of threads that have been in a region of this team: see span/barrier.c */
  const void *code;
  uint32_t construct_owner, construct_record, construct_kind, construct_row; /* its place, row 0: not set */
  uint64_t name;                                                             /* in the graph log */
  struct region_ending ending;
  struct barrier_interval intervals[2]; /* by parity, since threads may be one interval apart */
  struct shared_construct loops[SHARED_LOOPS];
};

/* A taskgroup: the ends of all its descendants.  Also the place of a clock on its way to another thread
 * (span_hand_over()). */
struct group {
  struct pool_item pool;
  uint32_t outer;
  uint32_t task, row; /* the task in which it begins; its directive, or that of the taskloop whose group it is */
  struct lazy_join ends;
};

extern struct pool graph_tasks, graph_groups;
extern struct table graph_teams;     /* grows under the lock: see struct table */
extern atomic_flag graph_teams_lock; /* graph_start() frees it in a forked child */
extern struct join graph_program;    /* longest clock of tasks that have ended outside any region */

/* CTL: starts the tables of a new process. */
void graph_start(void);

static inline struct task *graph_task(uint32_t index)
{
  return pool_at(&graph_tasks, index);
}

/* The thread runs that task from now on; 0: none. */
static inline void graph_run(struct thread_state *t, uint32_t index)
{
  span_of(t)->task = index;
  span_of(t)->running = index ? graph_task(index) : NULL;
}

static inline struct group *graph_group(uint32_t index)
{
  return pool_at(&graph_groups, index);
}

/* The team of a region's handle; NULL outside any region. */
static inline struct team *graph_team(uint64_t region)
{
  uint32_t index = (uint32_t)region;
  return region && index < __atomic_load_n(&graph_teams.count, __ATOMIC_ACQUIRE) ? table_at(&graph_teams, index) : NULL;
}

/* The same if the region is still open, else NULL. */
static inline struct team *graph_open_team(uint64_t region)
{
  struct team *team = graph_team(region);
  return team && __atomic_load_n(&team->handle, __ATOMIC_ACQUIRE) == region ? team : NULL;
}

/* The region of the implicit task contains what only a region that is followed can record (span/light_region.h). */
static inline void graph_note_contents(const struct task *task)
{
  struct team *team = task->flags & TASK_IMPLICIT ? graph_open_team(task->region) : NULL;
  if (team && !__atomic_load_n(&team->contents, __ATOMIC_RELAXED))
    __atomic_store_n(&team->contents, true, __ATOMIC_RELAXED);
}

/* For how many light regions the one stands whose implicit task that is. */
static inline uint64_t graph_stands_for(const struct task *task)
{
  const struct team *team = task->flags & TASK_IMPLICIT ? graph_open_team(task->region) : NULL;
  return team ? team->stands_for : 0;
}

/* The costs of scheduling in this run, in the unit of work: means of intervals between two callbacks of one thread. */
enum graph_cost {
  GRAPH_FORK, /* from a region's start to the master's implicit task */
  GRAPH_JOIN, /* from the end of the master's last wait to the end of the region */
  GRAPH_TASK  /* from the end of a task to the start of the next one on the thread */
};

/* Adds an interval to the thread's running mean.  Long intervals are left out: they are waiting. */
static inline void graph_cost(struct thread_state *t, enum graph_cost cost, uint64_t amount)
{
  enum { LONGEST = 200000, SHARE = 8 };
  uint64_t now = span_of(t)->costs[cost];
  if (span_process.work_unit != WORK_USER && amount <= LONGEST)
    span_of(t)->costs[cost] = now ? now - now / SHARE + amount / SHARE : amount;
}

/* Adds a thread's means to those of the process; returns the mean over all threads. */
void graph_cost_add_sums(struct thread_state *t);
uint64_t graph_cost_mean(enum graph_cost cost);

/* Splits a fragment's work over its samples by their weight; without samples the directive gets it. */
void graph_attribute(struct thread_state *t, struct task *task, uint64_t work);

/* The running task has waited for a device: that is no work, but a part of its clock, under the fragment's samples. */
void graph_add_device_time(struct thread_state *t, struct task *task, uint64_t amount);

/* Ends the running fragment at a moment (span/work_clock.h): its work is added to the current task.  The inline form is
 * for the callbacks of small tasks. */
void graph_fragment_end_at(struct thread_state *t, uint64_t moment);

/* The part of the fragment's work until a moment that was done while measuring was not paused.  If work is counted, a
 * fragment counts as a whole, or not at all if measuring is paused now. */
uint64_t graph_measured_work(const struct thread_state *t, uint64_t work, uint64_t moment) __attribute__((noinline));

/* Adds a fragment's work to the task that the thread runs. */
static inline __attribute__((always_inline)) void graph_add_work(struct thread_state *t, struct task *task,
                                                                 uint64_t work)
{
  struct span_thread *span = span_of(t);
  if (span->fragment_sample_count)
    graph_attribute(t, task, work);
  else /* no sample: the directive gets the work */
    critical_path_add(t, &task->now.path, CRITICAL_PATH_KEY(task->scope.row, 0, 0), work);
  RT_ASSERT(clock_is_ordered(&task->now) && task->scope.begin <= task->now.base);
  task->now.base += work;
  task->now.burdened += work;
  task->scope.pending += work;
  span->total_work += work;
}

static inline __attribute__((always_inline)) void graph_fragment_end_inline(struct thread_state *t, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  struct task *task = span->running;
  RT_ASSERT(!span->plain.data);
  if (!task || task->flags & TASK_WAITING) {
    span->fragment_sample_count = 0;
    if (task)
      graph_log_time(t, moment);
    return;
  }
  uint64_t work = work_clock_until(t, moment);
  if (__builtin_expect(rt_ever_paused(), 0))
    work = graph_measured_work(t, work, moment);
  if (!work) {
    graph_log_time(t, moment);
    return;
  }
  graph_log_run(t, moment, work);
  graph_add_work(t, task, work);
}

static inline void graph_fragment_end(struct thread_state *t)
{
  graph_fragment_end_at(t, work_clock_value(t));
}

/* Begins the next fragment a little after a moment. */
static inline void graph_fragment_begin_after(struct thread_state *t, uint64_t moment)
{
  work_clock_begin(t, work_clock_is_time() ? moment + WORK_CALLBACK_TICKS : work_clock_value(t));
}

static inline void graph_fragment_begin(struct thread_state *t)
{
  if (span_of(t)->task) /* otherwise its work belongs to the task that it gets */
    work_clock_begin(t, work_clock_value(t));
}

/* Ends the task's fragment at a moment, and begins the next one a little after it, in few instructions.  Returns false
 * where there is more to it: then nothing is done. */
static inline __attribute__((always_inline)) bool graph_fragment_cut(struct thread_state *t, struct task *task,
                                                                     uint64_t moment)
{
  uint64_t work;
  if (!work_clock_is_time() || graph_log_on() || task->flags & TASK_WAITING || rt_ever_paused() ||
      !work_clock_cut(t, moment, moment, &work))
    return false;
  RT_ASSERT(task == span_of(t)->running && !span_of(t)->plain.data);
  if (work)
    graph_add_work(t, task, work);
  return true;
}

/* The moment of a callback; read: the time-stamp counter if it was read already, else 0. */
static inline uint64_t graph_moment(struct thread_state *t, uint64_t read)
{
  return read && work_clock_is_time() ? read : work_clock_value(t);
}

/* The innermost instance around what the task does now; made if it is missing. */
uint32_t graph_instance(struct thread_state *t, struct task *task);

/* The span of an execution of a construct with that work, between two clocks. */
static inline uint64_t graph_own_span(uint64_t work, uint64_t begin, uint64_t end)
{
  return end >= begin && end - begin < work ? end - begin : work;
}

/* Offers the task's clock to a join; raises it to a join.  A loop's own chain goes on through joins between its
 * iterations; of what else arrives, nothing belongs to it. */
void graph_offer(struct thread_state *t, const struct task *task, struct join *join);
void graph_take(struct thread_state *t, struct task *task, struct join *join);

/* The same for a join that does not change any more, moved on by some work; and whether that would change anything. */
void graph_take_final(struct thread_state *t, struct task *task, const struct join *join, uint64_t moved);

static inline bool graph_would_take(const struct task *task, const struct join *join, uint64_t moved)
{
  return join->latest.base + moved > task->now.base || join->latest.burdened + moved > task->now.burdened ||
         join->within + moved > task->now.base - task->loop_begin + 1;
}

/* Whether the task is inside a construct of that row. */
bool graph_inside(const struct task *task, uint32_t row);

/* Adds the task's pending work to the innermost instance; without an instance it stays pending. */
void graph_flush_work(struct thread_state *t, struct task *task);

/* A construct begins in the task; the innermost construct ends. */
void graph_construct_begin(struct thread_state *t, struct task *task, uint32_t row);
void graph_construct_end(struct thread_state *t, struct task *task);

/* A thread leaves a shared construct.  work: what it has done there that belongs to no instance. */
void graph_loop_leave(struct thread_state *t, struct task *task, struct shared_construct *loop, uint64_t work,
                      uint64_t span);

/* All threads have left the construct, or the region ends; `task` is around it. */
void graph_loop_end(struct thread_state *t, const struct task *task, struct shared_construct *loop);

#endif
