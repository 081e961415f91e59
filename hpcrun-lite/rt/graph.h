/* The graph's records: tasks, teams, taskgroups; fragments and constructs of the task that runs.  Context: RT, in
 * callbacks. Shared by rt/ospg.c (tasks, regions, waits) and rt/sharing.c (worksharing, exclusion, dependences). */
#ifndef HPCRUN_LITE_RT_GRAPH_H
#define HPCRUN_LITE_RT_GRAPH_H

#include "hpcrun-lite/rt/clock.h"
#include "hpcrun-lite/rt/depend.h"
#include "hpcrun-lite/rt/pool.h"
#include "hpcrun-lite/rt/work.h"

enum { SHARED_LOOPS = 8, ROWS_OPEN = 6 };

enum task_flag {
  TASK_SERIAL = 1, /* the creator waits for it                        */
  TASK_STARTED = 2,
  TASK_FINAL = 4,
  TASK_IMPLICIT = 8,
  TASK_WAITING = 32,
  TASK_LOOP = 64,     /* in a worksharing loop or sections construct */
  TASK_EARLY = 512,   /* begun by what the program said, before the runtime was met */
  TASK_SINGLE = 256,  /* in a single construct: its end may not be announced (GCC's) */
  TASK_BORROWS = 128, /* holds no instance around it */
};

/* A construct that is open in a task, or the task itself.  Most end without having created tasks or regions: they need
 * no instance of their own. */
struct scope {
  uint32_t row, instance;  /* 0: none yet                           */
  uint64_t begin, pending; /* base clock; work that nobody knows yet */
};

struct task {
  struct pool_record pool;
  uint32_t refs; /* itself until it ends, and children; of implicit tasks, only itself */
  uint32_t flags, parent, group, phase, created;
  uint64_t name;   /* in the log */
  uint32_t outer;  /* instance that the task was created in */
  uint64_t region; /* handle; teams stand at its index */
  struct clock now;
  struct join children;  /* ends of its children; of an implicit task's phase: the team's  */
  struct join fulfilled; /* by whom, of a detached task */
  struct scope scope;    /* the innermost */
  struct depend depend;
  uint32_t constructs; /* worksharing constructs met          */
  struct clock loop_entry, loop_end;
  uint32_t loop_slot, rows_open;
  struct scope around[ROWS_OPEN]; /* the outermost first */
};

/* A worksharing construct, shared by the team. */
struct loop {
  uint32_t lock, number, instance, ended, row;
  struct join ordered;
};

struct team {
  struct pool_record unused;
  uint32_t creator, instance, row, size;
  bool loops_met;
  uint64_t forked; /* ticks */
  uint64_t name;   /* in the log */
  const void *code;
  struct clock start;
  struct join phases[2]; /* ends in a barrier phase: by parity, since a thread may be one phase ahead */
  struct loop loops[SHARED_LOOPS];
  uint32_t doacross_lock;
  struct depend doacross; /* of the team's loops: what their iterations have announced */
};

/* A taskgroup: the ends of all descendants. */
struct group {
  struct pool_record pool;
  uint32_t outer, unused;
  struct join ends;
};

extern struct pool graph_tasks, graph_groups;
extern struct table graph_teams;

void graph_start(void);

static inline struct task *graph_task(uint32_t index)
{
  return pool_at(&graph_tasks, index);
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

/* What scheduling costs in this run, in ticks: running means, of intervals between callbacks of one thread. */
struct costs {
  uint64_t fork; /* from a region's begin to the master's implicit task                    */
  uint64_t join; /* from the end of the master's last wait to the region's end              */
  uint64_t task; /* from one task's end to the next one's begin on the same thread          */
};

extern struct costs graph_costs;

/* Takes one interval into a mean; long ones are waiting, not cost. */
void graph_cost(uint64_t *mean, uint64_t ticks);

/* Ends the fragment that runs, at a moment (rt/work.h) or now: its work is the current task's. */
void graph_fragment_end_at(struct thread_state *t, uint64_t moment);
void graph_fragment_end(struct thread_state *t);

/* The next fragment begins now, or a little after a moment: a short callback does not read the counter again. */
void graph_fragment_begin(struct thread_state *t);
void graph_fragment_begin_after(struct thread_state *t, uint64_t moment);

/* The moment to take, if the time-stamp counter has been read already (0: not). */
uint64_t graph_moment(const struct thread_state *t, uint64_t read);

/* Tells the innermost instance what the task has done. */
void graph_settle(struct task *task);

/* Makes the instances of all open scopes, for what the task creates, and returns the innermost. */
uint32_t graph_make_instances(struct thread_state *t, struct task *task);

/* A construct begins in the task (shared: its instance where the team has one), and the innermost one ends. */
void graph_construct_begin(struct task *task, uint32_t row, uint32_t shared);
void graph_construct_end(struct thread_state *t, struct task *task);

/* The innermost scope ends.  What has no instance counts here, if it is the outermost of its row, and its work goes on
 * to what is around it. */
void graph_scope_close(struct thread_state *t, struct task *task);

#endif
