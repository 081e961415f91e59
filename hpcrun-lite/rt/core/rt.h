/* RT: code that runs in a signal handler or an OMPT callback while the program runs.  (The handler itself is
 * hpcrun-lite/handler.c, which calls sample_signal().)  RT is not the OpenMP runtime, which names contain as `runtime`.
 * This header holds the state of a thread and the rules for all of RT.
 *
 * Rules.  Allocate from core/arena only.  Take no lock that a handler could wait for.  Call no libc function that is
 * not async-signal-safe.  Never print, exit, retry without bound, or change errno as the program sees it.  On failure
 * return and increment a loss counter.  The only function pointers that RT stores are OMPT's entry points
 * (rt_process.h) and libunwind's (sampling/unwind.h).
 *
 * Layers, from the bottom: core, span, sampling, ompt.  No file includes or calls a higher layer.  struct thread_state
 * also declares the fields of the higher layers, because one block of memory holds the state of a thread; core does not
 * use them.  The calls from RT up to CTL are those of control_calls.h.
 *
 * State.  A thread's state is written by that thread alone: in its handler, its callbacks, and its start and end (CTL).
 * `inside` keeps these apart: a handler that finds it set does not touch the tables.  Other threads read published
 * records (common/format.h), regions (sampling/region.h), and what struct thread_state marks as shared; CTL reads
 * everything after measuring has ended.  The arena owns all memory. */
#ifndef HPCRUN_LITE_RT_CORE_RT_H
#define HPCRUN_LITE_RT_CORE_RT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/counters.h"
#include "common/format.h"
#include "common/events.h"
#include "hpcrun-lite/rt/core/arena.h"
#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/core/rt_process.h"
#include "hpcrun-lite/rt/core/stream.h"
#include "hpcrun-lite/rt/core/sys.h"

/* SIGURG is ignored by default, so a sample during exec does no harm; at most one is pending; hardly any program uses
 * it, and those that do still receive theirs (handler.c). */
#define SAMPLE_SIGNAL SIGURG

enum {
  RT_FRAMES_MAX = 1024,     /* frames of one unwind: deeper stacks are cut at the outer end */
  RT_PENDING_MAX = 64,      /* sampled regions of one thread whose creation context is not known */
  RT_FRAGMENT_SAMPLES = 16, /* distinct contexts sampled in one fragment */
  RT_USER_REGIONS = 16      /* user regions open at once in one thread */
};

struct frame {
  uint64_t ip;                /* of a caller: inside the call instruction */
  uint64_t sp;                /* the frame's stack pointer at that instruction */
  uint32_t module, offset;    /* location of ip: see sampling/context.c */
  bool runtime, tool, system; /* code of the OpenMP runtime; of this tool; of libc or the vdso */
  bool adapter;               /* code that stands for the runtime: of hpcrun-lite/gomp */
  uint8_t filtered;           /* with a filter: bits of enum format_filtered */
};

enum source_how { SOURCE_OFF, SOURCE_PERF, SOURCE_TIMER };

/* One event of one thread: see sampling/source.h. */
struct source {
  enum source_how how;
  uint8_t event;               /* index into rt.events */
  bool first;                  /* no sample yet: the first one stands for a whole period */
  bool initial_period;         /* perf: the first period, of random length, is not over */
  uint8_t high_switch_samples; /* perf: consecutive samples with many context switches */
  struct sys_own own;          /* perf: its descriptor number, which signals carry; may be closed */
  bool fd_open;                /* descriptor is kept open (count events) */
  void *page;                  /* perf: mapped page, which keeps the event alive */
  uint32_t switches;           /* perf: the page's sequence at the last sample */
  int timer;
  bool suspended;           /* timer stopped, because the thread sleeps */
  uint64_t nominal_period;  /* nominal period: ns or counts */
  uint64_t period;          /* period in use: longer when many threads have timers */
  uint64_t last;            /* clock or count at the last sample */
  uint64_t throttled_until; /* by the event's clock: samples before it are not charged; 0: none */
};

struct module_cache {
  uint64_t start, end;
  uint32_t index, generation;
};

enum { RT_CALLS_LOG = 6 }; /* a cache has 2 to the power of this places */

/* Of thread_state.calls: a call instruction and the function that it calls; target 0: not known, or not in the program.
 * Of thread_state.functions: an address and the start of its function; target 0: not known. */
struct call_cache {
  uint64_t ip, target;
};

/* The only place for an address in a cache. */
static inline struct call_cache *call_cache_at(struct call_cache cache[1 << RT_CALLS_LOG], uint64_t ip)
{
  return &cache[ip * 0x9e3779b97f4a7c15ULL >> (64 - RT_CALLS_LOG)];
}

/* A subtree of this thread below a region whose creation context is not known yet. */
struct pending_region {
  uint32_t region, node;
  uint32_t samples; /* taken in the region since it is pending */
};

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

/* A thread's stream of the trace: see construct/trace.h and sampling/sample_trace.h. */
struct trace_stream {
  struct stream stream;
  uint64_t state_clock, sample_clock; /* ends of what is written, in units of common/tracelog.h */
  uint64_t own, own_left;             /* ticks of the runtime's own work: in the wait that ends; in earlier waits what
                                         was below one unit, carried over so that rounding does not add up */
  uint32_t holder;                    /* thread that held the lock when this one began to wait; 0: not known */
  bool on, states;                    /* samples, and states, are written */
  bool attend;                        /* states have been written, or counters are read: construct_pass() has more to
                                         do */
  uint32_t pauses, sampled_pauses;    /* changes of rt.pauses that are in the stream; rt.pauses at the last sample */
  bool begun;                         /* an execution of a construct begins with the open state */
  int64_t weight_left;                /* of samples: what was not written yet */
  uint64_t tool_ns, delay_ns;         /* written until now: of record->tool_ns; of waiting for a processor */
  uint64_t sampled_at, asked_at;      /* ticks: of the last sample; when a file was read for delay_ns */
  uint64_t sampled_tool_ns;           /* record->tool_ns at the last sample */
  uint64_t given_up, switched_out;    /* see struct sys_usage; when last asked for */
};

/* What CTL found before it wrote the end of a trace: see sampling/waiting.h. */
struct trace_end {
  struct trace_stream trace;
  uint64_t changes, blocked_since;
  const struct format_wait *waiting;
  bool marked;
};

/* An open user region.  The frame that began it ends at cfa, the stack pointer of its caller's frame; 0: not known. */
struct user_region {
  uint64_t cfa;
  uint32_t name, row;
  bool followed; /* also a construct of the task graph */
  bool wanted;   /* one of those to which a filter limits the measurement */
};

/* References to a shared path segment that the thread has in reserve: see span/critical_path.h. */
struct credit {
  uint32_t index, refs;
};

/* The thread's counters of -c: see counts/counts.h. */
struct counts_state {
  bool on;
  bool exact;     /* since `passed`, all boundaries were read and measuring was not paused */
  bool saving;    /* boundaries are left out */
  bool was_read;  /* the counters were read at the last boundary */
  bool fragments; /* counts of fragments are logged */
  bool counted;   /* of the fragment: its begin was read */
  bool ended;     /* `totals` are those of the thread's end */
  unsigned grouped, reopened, own_depth, skip;
  struct sys_own own[COUNTERS_MAX];                       /* by counter; fd -1: not in the group */
  const struct perf_event_mmap_page *pages[COUNTERS_MAX]; /* of those whose register may be read, else NULL */
  uint64_t raw[COUNTERS_MAX];                             /* of the group, when last read */
  uint64_t enabled, running;                              /* likewise: ns */
  uint64_t totals[COUNTERS_MAX];                          /* counted by the thread, when last read */
  uint64_t passed[COUNTERS_MAX];                          /* of these, what is in records, or left out */
  uint64_t sampled[COUNTERS_MAX];                         /* likewise: in contexts */
  uint64_t traced[COUNTERS_MAX];                          /* likewise: in the trace */
  uint64_t held[COUNTERS_MAX];                            /* likewise: read, but not in the trace yet */
  uint64_t traced_at, held_at;      /* ticks: when they were known to be those; held_at 0: nothing is held */
  uint64_t written_at;              /* when counts were last written */
  uint64_t begun[COUNTERS_MAX];     /* totals when the fragment began, or a little before */
  uint64_t own_since[COUNTERS_MAX]; /* totals when the tool's own work began */
  uint64_t touched;                 /* page faults of the tool, when last read */
  uint64_t boundary, begun_at;      /* ticks: the last boundary; when the fragment began */
  uint64_t passed_at, sampled_at;   /* ticks: when the totals were `passed`; `sampled` */
  uint64_t price, saved, random;    /* ticks that a read costs, and that are saved for reads */
  struct table records;
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

/* A directive row that the thread has looked up: see span/directive.h. */
struct row_cache {
  uint64_t code;
  uint32_t kind, row;
};

/* The data word of a task: a tag of the process (a forked child inherits its parent's tasks); an index, of the task
 * (span/graph.h) or, without a graph, of its creation context (sampling/task_context.h); and whether the task waits at
 * a barrier, taskwait or taskgroup.  A task that has not begun usually has no structure yet: then NEW is set, and
 * span/explicit_task.c defines the other bits. */
enum { RT_TASK_WAITING = 1, RT_TASK_NEW = 2, RT_TASK_INDEX_SHIFT = 2, RT_TASK_TAG_SHIFT = 34 };

/* A task of GCC's runtime that the thread runs, in a list from the innermost one outwards.  Writer: hpcrun-lite/gomp,
 * in the thread itself; readers: its handler and callbacks.  Elements are on the thread's stack, except the outermost
 * ones, which are thread-local (gomp.h, regions.c). */
struct rt_gomp_task {
  struct rt_gomp_task *outer;
  ompt_data_t *data;    /* its data word */
  const char *function; /* of the program, which the adapter has called; NULL: none */
  ompt_frame_t frame;
  int flags;            /* ompt_task_initial, ... */
  ompt_data_t parallel; /* a copy of its region's data word */
  int work;             /* open worksharing construct, a kind of OMPT; 0: none */
  long increment;       /* of the open loop */
  unsigned dimensions;  /* of the open doacross loop */
  bool final;           /* its children are included tasks */
  bool after_single;    /* it has met a single construct since its last barrier */
};

extern __thread struct rt_gomp_task *rt_gomp_task __attribute__((tls_model("initial-exec")));

/* What the thread does, according to the runtime's callbacks.  Writer: the thread itself, one byte at a time by
 * rt_set_flag().  Readers: samples of all threads, which load the four bytes at once, relaxed; they only count them, so
 * no other data depends on the order. */
struct activity {
  bool openmp;   /* an OpenMP runtime knows this thread */
  bool idle;     /* it waits at a barrier, taskwait or taskgroup, or for its next region */
  bool lockwait; /* it waits for a lock; idle may be set as well */
  bool blocked;  /* it sleeps in a blocking call of the program */
} __attribute__((aligned(4)));

/* Sums of what samples stand for: see sampling/blame.h. */
enum { BLAME_PLACES = 5 };
struct blame {
  uint64_t time_ns, per_busy_ns, in_use_ns;
  uint64_t samples;
  struct {
    uint64_t key, ns; /* waiting place, and the time that other threads waited there; ns 0: free */
  } waits[BLAME_PLACES];
};

/* An open wait of a thread: see sampling/waiting.h. */
struct wait_open {
  struct format_wait *wait;
  struct region_team *team; /* of a barrier; NULL: none */
  uint32_t barrier;         /* its number in the region */
  bool as_worker;           /* at the end of a region of another thread */
};

struct wait_cache {
  uint64_t key;
  struct format_wait *wait; /* NULL: free */
};

/* An open construct of a thread, or a task that it runs: see construct/construct.h. */
struct construct_open {
  struct construct_open *above, *below; /* in the stack; above: used again and again, NULL: none yet */
  struct construct_open *frame;         /* the innermost task from here on: itself, if it is one */
  struct format_construct *at;          /* its record */
  struct format_tasks *tasks;           /* of an explicit task; may be NULL */
  const void *task;                     /* of a task: its data word's address; NULL: none */
  uint64_t begun, apart;                /* of a task: when it began or went on; ticks since then that are not its own */
  uint64_t waited;                      /* at->ticks[FORMAT_TIME_WAIT] when it began to wait */
  const void *ended_code;               /* of a task: of the barrier of `ended`; NULL: not met yet */
  uint32_t record;
  uint32_t ended; /* of a task: the construct that has ended, and whose barrier may follow; 0: none */
  uint8_t kind, column;
  bool spare; /* sections: the thread has executed none; task: that of `ended`; taskloop: it has a taskgroup */
};

/* A record that the thread has looked up, by where it was looked for. */
struct construct_known {
  uint64_t key;
  struct format_construct *at;
  struct format_tasks *tasks; /* of a task construct; may be NULL */
  uint32_t record;
};

/* A lock that the thread holds. */
struct construct_held {
  uint64_t wait_id, since; /* since: ticks; 0: free */
  struct format_construct *at;
};

struct construct_state {
  uint64_t *ticks;            /* where the thread's time goes; NULL: nothing is measured yet */
  struct construct_open *top; /* of the stack */
  const void *created;        /* data word's address of the task that was created last */
  uint32_t created_record;
  uint32_t counted;   /* record + 1 to which `ticks` belongs, if not that of construct_open */
  uint64_t acquiring; /* ticks: the thread waits for a lock; 0: none */
  struct construct_known known[32], unkept;
  uint32_t heads[256]; /* lists of records by hash; 0: none */
  struct construct_held held[8];
  struct construct_open *bottom;
  struct table records, tasks, stack;
};

/* A call by which the program enters a loop: see ompt_loop_call() in rt/ompt.h.  caller NULL: none. */
enum loop_bounds { LOOP_BOUNDS_4, LOOP_BOUNDS_4U, LOOP_BOUNDS_8, LOOP_BOUNDS_8U };
struct loop_call {
  const void *caller, *lower, *upper;
  int64_t step;
  enum loop_bounds bounds; /* the type of the loop's variable: bytes, unsigned */
};

struct thread_state {
  /* Fields of the callbacks, on one cache line.  Other threads read `activity`, `open_region`, `base_region`
   * and `waiting_key` relaxed, and `inside` with acquire.  A callback that changes `activity` need not be inside: if a
   * sample repairs the state at that moment (blame_check()), one interval may count twice, or at another place. */
  int inside; /* RT or CTL code is running in this thread */
  struct activity activity;
  uint32_t open_region;            /* innermost region of which this thread is the master */
  uint32_t free_region;            /* list of the thread's free region records */
  uint64_t base_region;            /* worker: handle of the region at the base of its stack */
  uint64_t wait_id;                /* the lock that the thread waits for */
  uint64_t idle_since, lock_since; /* time-stamp counter */
  uint64_t changes;                /* number of state changes by callbacks */
  uint64_t idle_ticks, lockwait_ticks;
  uint64_t waiting_key;             /* the place at which the thread is idle */
  struct format_wait *waiting;      /* its record; NULL without memory */
  struct format_wait *waiting_lock; /* that of the lock that the thread acquires */
  uint64_t waited_runtime;          /* ticks of the last wait that were the runtime's own */
  uint64_t lock_runtime;            /* likewise, of the last acquisition of a lock */
  uint64_t region_left, region_end; /* ticks: the master left the barrier of the region at whose end a worker waited
                                       last, and ended it; 0: not known */
  uint64_t lock_cost;               /* ticks of the fastest acquisition; 0: none yet; hpcrun-lite/gomp sets 1 where all
                                       of the time was waiting, UINT64_MAX where none was */
  uint64_t barrier_left;            /* when the thread left its last barrier */
  struct region_team *team;         /* of the region with the index `team_region` */
  uint32_t team_region;
  uint32_t barriers;   /* of the innermost region, at which the thread has begun to wait */
  unsigned wait_depth; /* open waits; those beyond the array share its last element */
  struct wait_cache wait_cache[32];

  uint32_t unrecorded_regions;           /* open regions that have no record */
  uint32_t region_depth;                 /* open regions that this thread has created */
  uint32_t live_slot;                    /* index in the table of live threads (sampling/blame.c) */
  bool worker;                           /* created by the OpenMP runtime */
  bool tests_lock;                       /* its next acquisition of a lock does not wait: ompt_lock_test() */
  bool forking;                          /* begins a region; its implicit task in it has not begun */
  uint64_t region_since, region_ticks;   /* as master of outermost regions */
  uint64_t blocked_since, blocked_ticks; /* in blocking calls of the program */
  uint64_t measured_since;               /* the measured clock when it began */
  struct {
    bool on;                   /* it is at level summary */
    uint64_t ticks;            /* in which it did not wait there; less those before, if it is there now */
    uint64_t cpu_ns, delay_ns; /* its CPU time there, and how long it waited for a processor */
    uint64_t since, since_cpu_ns, since_delay_ns; /* ticks, and both clocks, when that began */
  } unsampled;                                    /* see sampling/times.h */
  uint64_t contradicted_at;                       /* changes + 1 at the last sample, if that contradicted the state */

  uint32_t index;
  int tid;
  uint64_t cpu_start_ns;          /* the thread's CPU clock when measuring it began */
  uint64_t stack_low, stack_high; /* 0: not known */
  uint64_t top_sp;                /* an unwind that reaches this stack pointer is complete */

  struct format_thread *record;
  uint64_t record_due; /* time-stamp counter: see sampling/times.h */
  struct table nodes, links, values, waits, shares;
  struct wait_open waits_open[16];
  struct construct_state construct;
  uint32_t free_nodes;    /* list of freed nodes */
  uint32_t free_shares;   /* list of freed records of shares */
  uint32_t known_regions; /* list of ended regions whose link is not final */
  struct pending_region pending[RT_PENDING_MAX];
  unsigned pending_count;

  /* the task graph: see span/graph.h and span/span.h */
  uint32_t task;          /* task that the thread runs, 0: none (see graph_run()) */
  struct task *running;   /* the same, by address */
  uint32_t previous_task; /* task that ran before the current one began */
  struct task *previous_running;
  struct end_slot *end_slot; /* see span/explicit_task.c */
  ompt_data_t *running_data; /* the running task's data word until it names the task: see span/explicit_task.h */
  uint32_t inherited_clock;  /* clock that the thread's next task starts with: see span_take_over() */
  unsigned fragment_sample_count;
  uint64_t total_work;
  uint64_t wait_ended, task_ended; /* moments: end of the last wait, of the last task */
  uint64_t since_barrier;          /* work.since when the thread left its last barrier */
  uint64_t forked;                 /* moment at which the thread has forked its last region */
  uint64_t costs[3];               /* by enum graph_cost */
  struct work work;
  struct graph_log_stream log;
  struct trace_stream trace;
  struct trace_end ended;
  struct counts_state counts;
  struct {
    uint32_t node;
    uint64_t weight;
  } fragment_samples[RT_FRAGMENT_SAMPLES]; /* samples in the current fragment */
  struct loop_call loop_call;
  struct row_cache row_cache[16];
  struct user_region user_regions[RT_USER_REGIONS];
  unsigned user_depth;      /* may exceed RT_USER_REGIONS: further ones are not kept */
  struct table user_counts; /* see marks/marks.h */
  struct table user_heads;  /* of their lists, by node: record + 1, 0: none */
  struct table totals;      /* by row: see span/directive.c */
  struct credit critical_path_credits[32];
  struct instance_share instance_shares[8];
  struct unreported_ends unreported;
  struct pool_cache free_tasks, free_groups, free_batches, free_segments, free_instances, free_ends, free_links,
      free_addresses, free_key_nodes, free_runs, free_source_blocks;
  struct format_chunk *compaction_chunk;

  struct source sources[EVENTS_MAX];
  bool quiet;    /* the sources are disarmed: source_quiet() */
  uint32_t cuts; /* rt.cuts when the thread ended its interval last; other threads read it with acquire */
  struct module_cache modules[16];
  struct call_cache calls[1 << RT_CALLS_LOG], functions[1 << RT_CALLS_LOG];
  uint32_t code_generation; /* rt.module_generation for which both are valid */
  struct frame *frames;     /* RT_FRAMES_MAX frames */
  void *walk;               /* see sampling/unwind.c */
  struct format_chunk *record_chunk, *frames_chunk, *walk_chunk, *self_chunk, *stacks_chunk;
  struct format_chunk *handler_stack; /* see hpcrun-lite/handler.c */

  struct thread_state *next, **link; /* list of live threads: CTL, under the control lock */
};

extern __thread struct thread_state *rt_self __attribute__((tls_model("initial-exec")));

/* A page that the kernel zeroes in a child that was forked without calling libc's fork() (by _Fork() or a system call).
 * Such a child shares its parent's files, so it must not measure.  Writer: rt_begin(), before there are other threads;
 * all threads read it plainly. */
extern union rt_home {
  bool ours;
  char page[4096];
} rt_home __attribute__((visibility("hidden")));

/* CTL: this process measures from now on. */
void rt_begin(void);

/* Pauses measuring for the program, or goes on.  Any thread may call it. */
void rt_pause(bool pause);

/* The same for a reason, and from a moment (time-stamp counter) that may have passed.  Measuring goes on when there is
 * no reason left. */
void rt_pause_at(enum rt_pause_reason reason, bool pause, uint64_t moment);

/* How many ticks of an interval were measured.  Of pauses so long ago that RT_PAUSES others have followed, nothing is
 * known: then all was measured up to the next one, or nothing, as it was then. */
uint64_t rt_measured(uint64_t since, uint64_t now) __attribute__((noinline));

/* A clock that stands still while measuring is paused: its differences are measured ticks, whatever the number of
 * pauses. */
uint64_t rt_measured_clock(uint64_t now);

/* Was measuring ever paused? */
static inline bool rt_ever_paused(void)
{
  return atomic_load_explicit(&rt.pauses, memory_order_relaxed);
}

/* The measured ticks of an interval; 0 if it ends before it begins. */
static inline uint64_t rt_measured_between(uint64_t since, uint64_t now)
{
  uint64_t passed = now > since ? now - since : 0;
  return __builtin_expect(rt_ever_paused(), 0) ? rt_measured(now - passed, now) : passed;
}

/* Is measuring paused, for whatever reason?  Then samples do not count. */
static inline bool rt_paused(void)
{
  return atomic_load_explicit(&rt.pauses, memory_order_relaxed) % 2;
}

/* The innermost task that the calling thread runs (level 0), or one outside it, as ompt_get_task_info() tells it.
 * Returns false if there is none.  At outer levels a runtime may return stale pointers while it forks. */
bool rt_task_info(int level, int *flags, ompt_data_t **data, ompt_frame_t **frame);

/* The thread jumps to a frame with that stack pointer, and leaves the tasks of GCC's runtime that are below it. */
void rt_jump(uint64_t sp);

/* The state of the calling thread; NULL if it is not measured. */
static inline struct thread_state *rt_thread(void)
{
  return __builtin_expect(rt_home.ours, 1) ? rt_self : NULL;
}

static inline void rt_set_flag(bool *flag, bool value)
{
  __atomic_store_n(flag, value, __ATOMIC_RELAXED);
}

/* Count the thread's nesting in the tool's code.  `inside` is changed by its own thread only, with one plain
 * instruction across which the compiler moves nothing.  So a handler of this thread always sees the true value; and a
 * thread that reads 0 with acquire sees everything written before, since every store of x86 is a release.  For the
 * other direction see rt_stopped(). */
static inline void rt_inside_inc(struct thread_state *t)
{
  __asm__ volatile("incl %0" : "+m"(t->inside) : : "memory", "cc");
}

static inline void rt_inside_dec(struct thread_state *t)
{
  __asm__ volatile("decl %0" : "+m"(t->inside) : : "memory", "cc");
}

/* rt_enter() returns false if the tool's code is already running in the thread; otherwise the caller must end with
 * rt_leave().  The handler and CTL use this pair. */
static inline bool rt_enter(struct thread_state *t)
{
  if (t->inside)
    return false;
  rt_inside_inc(t);
  return true;
}

static inline void rt_leave(struct thread_state *t)
{
  atomic_signal_fence(memory_order_seq_cst);
  __atomic_store_n(&t->inside, 0, __ATOMIC_RELEASE);
}

/* Measuring has ended, or the process is being forked.  Code that is inside tests this after rt_enter() or
 * rt_inside_inc(), because CTL waits for threads that are inside: the fence between the store to `inside` and the load
 * of `closed` here, and the fence between the store to `closed` and the load of `inside` in CTL, guarantee that at
 * least one side sees the other. */
static inline bool rt_stopped(void)
{
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_load(&rt.closed) || atomic_load(&rt.forking);
}

/* Counts a loss of the thread, or of the process if t is NULL. */
static inline void rt_lost(struct thread_state *t, enum format_loss loss)
{
  if (t && t->record)
    t->record->lost[loss]++;
  else
    atomic_fetch_add_explicit(&rt.lost[loss], 1, memory_order_relaxed);
}

/* Waits while CTL reads the tables for a flush, for a bounded time. */
void rt_await_flush(void);

/* For code that records what the program says: has measuring ended, or does CTL read the tables?  Then nothing may be
 * recorded, and if measuring goes on afterwards, it is counted as such a loss. */
static inline bool rt_closed(struct thread_state *t, enum format_loss loss)
{
  bool closed = atomic_load(&rt.closed);
  if (__builtin_expect(closed && atomic_load(&rt.flushing), 0))
    rt_lost(t, loss);
  return closed;
}

/* The data word of a task with that index. */
static inline uint64_t rt_task_word(uint32_t index)
{
  return (uint64_t)rt.epoch << RT_TASK_TAG_SHIFT | (uint64_t)index << RT_TASK_INDEX_SHIFT;
}

/* The index in a data word; 0 if the word is another process's, or the task has no structure yet. */
static inline uint32_t rt_task_index(uint64_t word)
{
  bool ours = !((rt_task_word(0) ^ word) >> RT_TASK_TAG_SHIFT) && !(word & RT_TASK_NEW);
  return ours ? (uint32_t)(word >> RT_TASK_INDEX_SHIFT) : 0;
}

/* amount * share / all, rounded down; UINT64_MAX if that exceeds 64 bits, 0 if all is 0.  Integer arithmetic, because
 * the program may have changed the rounding mode of floating point or enabled its traps, and would see its flags. */
static inline uint64_t rt_scale(uint64_t amount, uint64_t share, uint64_t all)
{
  unsigned __int128 product = (unsigned __int128)amount * share;
  uint64_t quotient = (uint64_t)product, above = (uint64_t)(product >> 64);
  if (above >= all)
    return all ? UINT64_MAX : 0;
  __asm__("divq %2" : "+a"(quotient), "+d"(above) : "r"(all) : "cc");
  return quotient;
}

/* The time-stamp counter. */
static inline uint64_t rt_ticks(void)
{
  return __builtin_ia32_rdtsc();
}

/* Set a flag of the calling thread's state and add up the time in it.  Return the time-stamp counter, or 0 if nothing
 * changed and it was not read. */
static inline uint64_t rt_set_idle(struct thread_state *t, bool idle)
{
  if (t->activity.idle == idle)
    return 0;
  uint64_t now = rt_ticks();
  if (idle)
    t->idle_since = now;
  else
    t->idle_ticks += now - t->idle_since;
  rt_set_flag(&t->activity.idle, idle);
  t->changes++;
  return now;
}

static inline uint64_t rt_set_lockwait(struct thread_state *t, bool lockwait)
{
  if (t->activity.lockwait == lockwait)
    return 0;
  uint64_t now = rt_ticks();
  if (lockwait)
    t->lock_since = now;
  else
    t->lockwait_ticks += now - t->lock_since;
  rt_set_flag(&t->activity.lockwait, lockwait);
  t->changes++;
  return now;
}

#endif
