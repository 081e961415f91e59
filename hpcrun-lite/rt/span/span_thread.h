/* What this layer keeps of a thread: its place in the task graph, its work clock, its stream of the graph log.
 *
 * Context: RT.  The thread itself writes it, and reads it; CTL reads it after measuring has ended, or while the graph
 * is suspended.  See rt.h for how the layers' structures nest. */
#ifndef HPCRUN_LITE_RT_SPAN_SPAN_THREAD_H
#define HPCRUN_LITE_RT_SPAN_SPAN_THREAD_H

#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/core/stream.h"
#include "hpcrun-lite/rt/counts/counts.h"
#include "hpcrun-lite/rt/span/span_process.h"

enum { RT_FRAGMENT_SAMPLES = 16 }; /* distinct contexts sampled in one fragment */

/* How a thread notices that it was switched out: not at all (it always asks the kernel), by the page of a perf event,
 * or by its rseq area. */
enum work_how { WORK_ASK, WORK_PAGE, WORK_RSEQ };

/* The work clock of a thread: see span/work_clock.h. */
struct work {
  uint64_t since;                   /* moment from which the fragment's work counts */
  uint64_t done;                    /* the fragment's work before that moment */
  const uint64_t *switch_indicator; /* CPU time: *switch_indicator == unswitched_value as */
  uint64_t unswitched_value;        /* long as the thread was not switched out since base_ticks */
  uint64_t base_ns, base_ticks;     /* the thread's CPU time at a moment */
  uint64_t wait_since;              /* moment at which the thread began to wait for a lock */
  uint64_t units;                   /* reported by the program, or counted until now */
  uint64_t idle_ns;                 /* time in which the counter did not count */
  const void *page;                 /* page of an event opened for the work clock; NULL: none */
  struct sys_own own;               /* the counter; fd -1: none */
  enum work_how how;
  bool device_waits; /* the thread waits for a device: see span_device_begin() */
};

/* A call by which the program creates tasks: see span/graph_log.h. */
struct creation_time {
  const void *caller;    /* address in the program after the call; NULL: there is no such call */
  uint64_t creator;      /* name of the task that calls */
  uint64_t since, ticks; /* what counts began at `since`, 0: the thread runs another task; what has counted before */
  uint64_t work;         /* the fragment's work at `since` */
  uint32_t task;         /* number of the task last created; 0: none yet */
  uint32_t directive;    /* of the tasks */
  uint64_t timed, sum;   /* tasks, and their ticks, that are not in the construct's record yet */
  bool undeferred;       /* ends when the thread begins to run the task */
};

/* A thread's stream of the graph log: see span/graph_log.h. */
struct graph_log_stream {
  struct stream stream;
  uint64_t now, moment;           /* ticks: end of what is logged; time of the next operation */
  uint32_t tasks, regions, joins; /* how many the thread has named */
  uint32_t cpu;
  uint32_t number; /* of the thread in the team of its next implicit task, + 1; 0: none */
  struct creation_time creation, outer, undeferred; /* outer: around an undeferred one; undeferred: has just ended */
};

/* References to a shared path segment that the thread has in reserve: see span/critical_path.h. */
struct credit {
  uint32_t index, refs;
};

/* The thread's share of a construct instance that is not yet added to it: see span/directive.h. */
struct instance_share {
  uint32_t instance, refs;
  uint64_t work, end;
};

/* Ends of child tasks that the thread has not reported yet: see span/explicit_task.h. */
struct unreported_ends {
  uint32_t batch, refs;
  uint64_t count, work, span;
};

/* A new task of which nothing but its begin has been seen: see span/plain_task.h. */
struct plain_task {
  ompt_data_t *data;              /* NULL: there is none */
  const ompt_data_t *prior;       /* the task that the thread has left for it: span_thread.running is still that one */
  const struct task_batch *batch; /* this one and `word` also of the last one */
  uint64_t word;                  /* of `data` */
  uint32_t index;                 /* of the batch */
  uint64_t moved;                 /* the parent's clock at the task's creation, counted from that of the batch */
  uint64_t before;                /* the work of the fragment that the task has interrupted */
  bool bundled;                   /* see span/bundled_task.h: then `moved` is not set */
};

/* Bundled tasks: see span/bundled_task.h. */
struct bundled_tasks {
  const ompt_data_t *prior; /* the task that may run them; NULL: none may */
  uint64_t word;            /* of one of them */
  ompt_data_t *data;        /* the one that runs, until it is in the stack of constructs; NULL: none */
  uint64_t begun;           /* ticks: it has begun */
  uint32_t count;           /* have ended, and are not among the unreported ends yet: */
  uint64_t work;            /* what they have done */
  uint64_t moved, last;     /* of the latest end of these: as in struct plain_end, and its work */
  uint32_t uncounted;       /* have ended, and are not in the times of constructs yet: */
  uint64_t ticks;           /* how long they ran */
  uint64_t open, outer;     /* construct_open while one runs, and otherwise */
};

/* How the running task has created its last child: see plain_task_repeat(). */
struct repeated_creation {
  struct open_batch *open; /* NULL: something else has happened since than creations like that one, and plain tasks */
  const ompt_data_t *creator; /* the running task's data word; NULL: the creation is not to be repeated */
  const void *code;
  int flags;                     /* OMPT's */
  uint32_t skip;                 /* creations that are still to be untimed */
  uint32_t untimed;              /* creations since the last reading of the clock */
  uint64_t before;               /* if there are any: what the task had done in its fragment at the first of them */
  const ompt_data_t *data;       /* the task that was created last of these */
  struct directive_total *total; /* of their row; only set with `skip` */
  uint64_t later; /* ticks: by how much those before the last reading were probably later than the one before that,
                     together */
};

/* A thread's creations without other events in between by which chains of work could reach the thread. */
struct creation_sequence {
  uint64_t early; /* the most that the thread has worked in it between two readings of the clock, if it has created
                     untimed tasks then */
  uint32_t count;
};

/* A directive row that the thread has looked up: see span/directive.h. */
struct row_cache {
  uint64_t code;
  uint32_t kind, row;
};

/* What following events costs the thread: see span/governor.h. */
struct governor {
  int32_t due;      /* events until one is timed */
  int32_t interval; /* what it was at first */
  uint32_t random;
  uint32_t period, period_most; /* one in so many instances is followed as a whole; the most that it was */
  uint64_t entered;             /* ticks: the event that is timed began */
  uint64_t since;               /* ticks: the interval began */
  uint64_t waited;              /* ticks for which the thread had waited by then */
  uint64_t cost;                /* of an event: its mean */
  uint64_t events, spent;       /* in earlier intervals; ticks that they have cost */
  uint64_t begun;               /* governor_events() when the last instance began that is followed as a whole */
  uint64_t stands_for;          /* light instances that it stands for */
};

/* Where the thread has acquired a lock before, and what it has found then. */
struct hold_site {
  const void *code;
  uint64_t key;                        /* of the construct's record */
  const struct construct_known *known; /* NULL: free */
  struct directive_total *total;
  uint64_t outside; /* handle of a region, + 1: the construct is in no instance of itself that is around the region */
  uint32_t row;
  int kind; /* OMPT's */
};

/* An acquisition that is not recorded yet: see rt/lock_events.h. */
struct lock_hold {
  struct hold_site *site;  /* NULL: there is none */
  uint64_t wait_id, since; /* since: ticks */
  uint64_t work;           /* of the fragment that the acquisition has ended */
};

/* A lock that the thread holds: where it was acquired, and the task's clock then. */
struct held_lock {
  uint64_t id, acquired; /* id 0: free */
  uint32_t row;
};

enum { HOLD_SITES = 8, HELD_LOCKS = 8 };

struct span_thread {
  struct counts_thread below;

  /* Written by sampling/region.c; other threads read it relaxed. */
  _Alignas(64) uint32_t open_region; /* innermost region of which this thread is the master */

  /* the task graph: see span/graph.h and span/span.h */
  uint32_t task;          /* task that the thread runs, 0: none (see graph_run()) */
  struct task *running;   /* the same, by address */
  uint32_t previous_task; /* task that ran before the current one began */
  unsigned fragment_sample_count;
  struct task *previous_running;
  struct end_slot *end_slot; /* see span/explicit_task.c */
  struct arrivals *arrivals; /* see span/barrier.h; NULL: none, without memory */
  uint64_t member;           /* the thread's bit in sets of threads: likewise */
  struct plain_task plain;
  struct repeated_creation repeated;
  struct creation_sequence creations;
  struct bundled_tasks bundled_tasks;
  ompt_data_t *running_data; /* the running task's data word until it names the task: see span/explicit_task.h */
  uint64_t total_work;
  struct work work;
  uint64_t wait_ended, task_ended; /* moments: end of the last wait, of the last task */
  uint64_t since_barrier;          /* work.since when the thread left its last barrier */
  uint64_t forked;                 /* moment at which the thread has forked its last region */
  uint64_t costs[3];               /* by enum graph_cost */
  struct directive_total *light;   /* of the row of the light region that the thread is in; NULL without memory */
  uint32_t light_task;             /* for the next light region, 0: none */
  uint32_t inherited_clock;        /* clock that the thread's next task starts with: see span_take_over() */
  const void *sampled_page;        /* of a perf event that samples the thread's CPU time, NULL: none; written by
                                      sampling/source.c: see work_clock_start() */
  struct lock_hold hold;
  struct hold_site hold_sites[HOLD_SITES];
  struct held_lock held_locks[HELD_LOCKS];
  struct graph_log_stream log;
  struct {
    uint32_t node;
    uint64_t weight;
  } fragment_samples[RT_FRAGMENT_SAMPLES]; /* samples in the current fragment */
  struct governor governor;
  struct row_cache row_cache[16];
  struct table totals;                /* by row: see span/directive.c */
  struct directive_total *last_total; /* of row last_row; NULL: none was looked for yet */
  uint32_t last_row;
  struct credit critical_path_credits[32];
  struct instance_share instance_shares[8];
  struct unreported_ends unreported;
  struct pool_cache free_tasks, free_groups, free_batches, free_segments, free_instances, free_ends, free_links,
      free_addresses, free_key_nodes, free_runs, free_source_blocks;
  struct format_extent *compaction_extent;
};

static inline struct span_thread *span_of(const struct thread_state *t)
{
  return (struct span_thread *)t;
}

#endif
