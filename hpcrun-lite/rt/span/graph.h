/* The graph's records: tasks, teams, taskgroups; fragments and constructs of the task that runs.  Context: RT, in
 * callbacks. Shared by rt/span/span.c (tasks, regions, waits) and rt/span/worksharing.c (worksharing, exclusion,
 * dependences). */
#ifndef HPCRUN_LITE_RT_SPAN_GRAPH_H
#define HPCRUN_LITE_RT_SPAN_GRAPH_H

#include "hpcrun-lite/rt/span/clock.h"
#include "hpcrun-lite/rt/span/depend.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/span/work_clock.h"

enum { SHARED_LOOPS = 8, ROWS_OPEN = 18 };

enum task_flag {
  TASK_SERIAL = 1, /* the creator waits for it                        */
  TASK_STARTED = 2,
  TASK_FINAL = 4,
  TASK_IMPLICIT = 8,
  TASK_WAITING = 32,
  TASK_LOOP = 64,    /* in a worksharing loop or sections construct */
  TASK_LOOPS = 128,  /* has met one: loop_entry and loop_end are in use */
  TASK_SINGLE = 256, /* in a single construct: its end may not be announced (GCC's) */
  TASK_EARLY = 512   /* begun by what the program said, before the runtime was met */
};

/* A construct that is open in a task, or the task itself.  Most end without having created tasks or regions: they need
 * no instance of their own. */
struct scope {
  uint32_t row, instance;  /* 0: none yet                           */
  uint64_t begin, pending; /* base clock; work that nobody knows yet */
};

/* What others have to tell a waiter: the latest of their clocks, and by bits who has not told yet
 * (rt/span/explicit_task.h). */
struct lazy_join {
  uint64_t holders;
  struct join join;
};

/* Writer: the thread that runs the task, and before it the one that made the record; the runtime hands tasks from
 * thread to thread by its own synchronisation.  Others touch `refs` (atomic; acquired where it falls to 1 or 0),
 * `children` and `earlier` (under the meeting's lock), `fulfilled` (a join), and, of a task that waits for them, what
 * does not change. */
struct task {
  struct pool_item pool;
  uint32_t refs; /* itself until it ends, and its creations */
  uint32_t flags;
  uint32_t creation, parent, group, phase;
  uint64_t region;         /* handle; teams stand at its index */
  uint64_t name;           /* in the log                       */
  uint32_t outer, created; /* outer: instance that the task was created in, held by the creation */
  struct clock now;
  struct scope scope;                /* the innermost */
  uint32_t open_creation;            /* the creation that its next child may belong to */
  uint32_t open_creation_refs;       /* references at hand to it */
  struct creation *open_creation_at; /* the same, by address */
  uint32_t constructs;               /* worksharing constructs met          */
  uint32_t chunk;                    /* chunks that have created children */
  uint32_t ordered;                  /* number of its last ordered region in the loop */
  uint32_t dependent_wait;           /* the task that stands for its taskwait with dependences */
  uint32_t rows_open;
  uint16_t loop_slot, loop_depth; /* of the construct that is open: where the team has it, and its scope here */
  /* zero in free records */
  struct depend depend;
  struct lazy_join children;
  struct clock earlier;  /* children of the chunks before, under the meeting's lock */
  struct join fulfilled; /* by whom, of a detached task */

  struct clock loop_entry, loop_end;
  struct scope around[ROWS_OPEN]; /* the outermost first */
};

/* A worksharing construct, shared by the team: under its lock, but for what the first thread has written and the others
 * read after having had the lock, and ordered_*, which are atomic. */
struct loop {
  uint32_t lock, number, instance, ended, row;
  uint64_t begin, work, span;
  struct join ordered;
  uint32_t ordered_begun, ordered_ended; /* ordered regions of the loop */
  bool ordered_missed;                   /* the end of one was not told in time */
};

/* The time between two barriers of a region. */
struct phase {
  struct lazy_join ends;
  uint64_t work; /* that implicit tasks have done, under the meeting's lock */
};

/* Written by the region's creator before its threads begin, and after they have ended; `instance` under the lock;
 * `size` and `loops_met` by all threads, relaxed, who all write the same; `handle` by the creator, released when the
 * rest is written, acquired by who asks whether the region is open; phases and loops see there. */
struct team {
  uint64_t handle; /* of the region while it is open, else 0 */
  uint32_t lock;   /* for the instance, which is made when a child or a construct needs it */
  uint32_t creator, instance, row, size;
  bool loops_met;
  uint64_t forked; /* moment of its creator */
  uint64_t fork_cost;
  uint64_t name; /* in the log */
  const void *code;
  struct clock start;
  struct phase phases[2]; /* by parity, since a thread may be one phase ahead */
  struct loop loops[SHARED_LOOPS];
  uint32_t doacross_lock;
  struct depend doacross; /* of the team's loops: what their iterations have announced */
};

/* A taskgroup: the ends of all descendants. */
struct group {
  struct pool_item pool;
  uint32_t outer, unused;
  struct lazy_join ends;
};

extern struct pool graph_tasks, graph_groups;
extern struct table graph_teams;     /* grows under the lock; see rt/arena.h */
extern atomic_flag graph_teams_lock; /* free in a forked child, whoever held it in the parent: graph_start() */
extern struct join graph_program;    /* the longest clock of tasks that have ended outside of any region */

void graph_start(void);

static inline struct task *graph_task(uint32_t index)
{
  return pool_at(&graph_tasks, index);
}

/* The thread runs that task from now on. */
static inline void graph_run(struct thread_state *t, uint32_t index)
{
  t->task = index;
  t->running = index ? graph_task(index) : NULL;
}

static inline struct group *graph_group(uint32_t index)
{
  return pool_at(&graph_groups, index);
}

/* Of a region's handle; NULL outside of any. */
static inline struct team *graph_team(uint64_t region)
{
  uint32_t index = (uint32_t)region;
  return region && index < __atomic_load_n(&graph_teams.count, __ATOMIC_ACQUIRE) ? table_at(&graph_teams, index) : NULL;
}

/* The same while the region is open, else NULL: callbacks of workers look at no record of the region but this. */
static inline struct team *graph_open_team(uint64_t region)
{
  struct team *team = graph_team(region);
  return team && __atomic_load_n(&team->handle, __ATOMIC_ACQUIRE) == region ? team : NULL;
}

/* What scheduling costs in this run, in the unit of work: means of intervals between callbacks of one thread. */
enum graph_cost {
  GRAPH_FORK, /* from a region's begin to the master's implicit task         */
  GRAPH_JOIN, /* from the end of the master's last wait to the region's end   */
  GRAPH_TASK  /* from one task's end to the next one's begin on the same thread */
};

/* Takes one interval into the thread's running mean; long ones are waiting, not cost. */
static inline void graph_cost(struct thread_state *t, enum graph_cost cost, uint64_t amount)
{
  enum { LONGEST = 200000, SHARE = 8 };
  uint64_t now = t->costs[cost];
  if (rt.work_unit != WORK_USER && amount <= LONGEST)
    t->costs[cost] = now ? now - now / SHARE + amount / SHARE : amount;
}

/* Brings a thread's means to the process's; the mean over all threads. */
void graph_cost_settle(struct thread_state *t);
uint64_t graph_cost_mean(enum graph_cost cost);

/* Splits a fragment's work over its samples by their weight. */
void graph_attribute(struct thread_state *t, struct task *task, uint64_t work);

/* Ends the fragment that runs, at a moment (rt/span/work_clock.h): its work is the current task's.  The second one is
 * for the callbacks of small tasks. */
void graph_fragment_end_at(struct thread_state *t, uint64_t moment);

static inline __attribute__((always_inline)) void graph_fragment_end_inline(struct thread_state *t, uint64_t moment)
{
  struct task *task = t->running;
  if (!task || task->flags & TASK_WAITING) {
    t->fragment_samples = 0;
    if (task)
      graph_log_time(t, moment);
    return;
  }
  uint64_t work = work_clock_until(t, moment);
  if (!work || atomic_load_explicit(&rt.paused, memory_order_relaxed)) {
    graph_log_time(t, moment);
    return;
  }
  graph_log_run(t, moment, work);
  if (t->fragment_samples)
    graph_attribute(t, task, work);
  else /* the directive gets what has no sample */
    critical_path_add(t, &task->now.path, CRITICAL_PATH_KEY(task->scope.row, 0, 0), work);
  task->now.base += work;
  task->now.burdened += work;
  task->scope.pending += work;
  t->total_work += work;
}

static inline void graph_fragment_end(struct thread_state *t)
{
  graph_fragment_end_at(t, work_clock_moment(t));
}

/* The next fragment begins a little after a moment: a short callback does not read the counter again. */
static inline void graph_fragment_begin_after(struct thread_state *t, uint64_t moment)
{
  enum { CALLBACK_TICKS = 60 };
  work_clock_begin(t, work_clock_is_time() ? moment + CALLBACK_TICKS : work_clock_moment(t));
}

static inline void graph_fragment_begin(struct thread_state *t)
{
  if (t->task) /* what it does until it has one is that one's */
    work_clock_begin(t, work_clock_moment(t));
}

/* The moment to take, if the time-stamp counter has been read already (0: not). */
static inline uint64_t graph_moment(struct thread_state *t, uint64_t read)
{
  return read && work_clock_is_time() ? read : work_clock_moment(t);
}

/* The innermost instance around what the task does now; made if there is none yet. */
uint32_t graph_instance(struct thread_state *t, struct task *task);

/* Is the task inside an instance of that row? */
bool graph_inside(const struct task *task, uint32_t row);

/* Tells the innermost instance what the task has done; without one it stays pending. */
void graph_settle(struct thread_state *t, struct task *task);

/* A construct begins in the task, and the innermost one ends. */
void graph_construct_begin(struct thread_state *t, struct task *task, uint32_t row);
void graph_construct_end(struct thread_state *t, struct task *task);

/* The innermost scope ends.  What has no instance counts here, if it is the outermost of its row, and its work goes on
 * to what is around it. */
void graph_scope_close(struct thread_state *t, struct task *task);

/* The team's instance; made if there is none yet. */
uint32_t graph_team_instance(struct thread_state *t, struct team *team);

/* One thread has left a shared construct with that work in it.  Returns whether the work counts around it, too. */
bool graph_loop_leave(struct thread_state *t, struct task *task, struct loop *loop, uint64_t work, uint64_t span);

/* All have left it, or will not come any more: `task` is around it. */
void graph_loop_end(struct thread_state *t, const struct task *task, struct loop *loop);

#endif
