/* RT: code that runs in a signal handler or an OMPT callback while the program runs.
 *
 * Rules.  Allocate from rt/arena only.  Take no lock that a handler could meet.  Call no libc function that is not
 * async-signal-safe.  Never print, exit, retry without bound or touch errno as the program sees it.  On trouble return
 * and bump a loss counter.  Function pointers: OMPT's entry points (below) and libunwind's (rt/unwind.c), nothing else.
 *
 * A thread's state is written by that thread alone, in its handler, its callbacks and its start and end; `inside` keeps
 * the three apart: a handler that finds it set does not touch the tables.  Other threads read published records (see
 * common/format.h), regions (rt/region.h), and, once measuring has ended, everything.
 */
#ifndef HPCRUN_LITE_RT_CORE_RT_H
#define HPCRUN_LITE_RT_CORE_RT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/format.h"
#include "common/events.h"
#include "hpcrun-lite/rt/core/arena.h"
#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/core/rt_process.h"
#include "hpcrun-lite/rt/core/sys.h"

/* SIGURG: ignored by default, so that a sample during exec is harmless; at most one is pending; hardly any program uses
 * it, and those that do get theirs (hooks.c). */
#define RT_SIGNAL SIGURG

enum {
  RT_FRAMES_MAX = 1024, /* of one unwind: deeper stacks are cut at the outer end      */
  RT_PENDING_MAX = 64,  /* sampled regions of one thread whose origin is not known    */
  RT_METRICS_MAX = 6 + EVENTS_MAX,
  RT_FRAGMENT_SAMPLES = 16, /* kept of one fragment */
  RT_USER_REGIONS = 16      /* open at once in one thread */
};

struct frame {
  uint64_t ip;                /* of callers: inside the call instruction                  */
  uint64_t sp;                /* the frame's stack pointer at that moment                 */
  uint32_t module, offset;    /* what ip lies in (rt/context.c)               */
  bool runtime, tool, system; /* code of the OpenMP runtime; of this tool; of libc */
};

enum source_how { SOURCE_OFF, SOURCE_PERF, SOURCE_TIMER };

/* One event of one thread. */
struct source {
  enum source_how how;
  uint8_t event;               /* index into rt.events                               */
  bool first;                  /* no sample yet: stands for one whole period         */
  bool initial_period;         /* perf: has its random first period still            */
  uint8_t high_switch_samples; /* perf: samples in a row with many switches        */
  struct sys_own own;          /* perf: its number as the signal names it; may be closed */
  bool fd_open;                /* we keep it (count events)                          */
  void *page;                  /* perf: keeps the event alive                        */
  uint32_t switches;           /* perf: the page's sequence at the last sample    */
  int timer;
  bool suspended;           /* its timer does, since the thread sleeps       */
  uint64_t asked;           /* nominal period, ns or counts                       */
  uint64_t period;          /* that it has now: longer where threads are many     */
  uint64_t last;            /* clock or count at the last sample                  */
  uint64_t throttled_until; /* by the event's clock: no sample before, 0 = at once */
};

struct module_cache {
  uint64_t start, end;
  uint32_t index, generation;
};

/* A call instruction and the function that it calls, 0 if it is not known to be one of the program's. */
struct call_cache {
  uint64_t ip, target;
};

/* A subtree of this thread's that hangs below a region whose origin is not known yet. */
struct pending_region {
  uint32_t region, node;
  uint32_t samples; /* since it was met first */
};

/* What tells whether a thread was switched out: nothing (ask the kernel), a perf_event page, or its rseq area. */
enum work_how { WORK_ASK, WORK_PAGE, WORK_RSEQ };

/* A thread's work until now: see rt/span/work_clock.h. */
struct work {
  uint64_t since;                   /* moment from which the fragment's work counts     */
  uint64_t done;                    /* work of the fragment before that moment          */
  const uint64_t *switch_indicator; /* CPU time: reads `standing` while the thread was  */
  uint64_t unswitched_value;        /*   not switched out since base_ticks              */
  uint64_t base_ns, base_ticks;     /* CPU time of the thread at a moment               */
  uint64_t wait_since;              /* moment at which it began to wait for a lock      */
  uint64_t units;                   /* reported by the program, or counted until now    */
  uint64_t idle_ns;                 /* time that the counter did not count              */
  const void *page;                 /* an event of our own, NULL = none                 */
  struct sys_own own;               /* the counter, fd -1 = none                        */
  enum work_how how;
};

/* A thread's stream of the graph's log: see rt/span/graph_log.h. */
struct graph_log_stream {
  uint8_t *at, *end;              /* the room that the window has left            */
  struct format_chunk *chunk;     /* the window, NULL = none                      */
  uint64_t now, moment;           /* ticks: as far as the stream tells; of what happens next */
  uint32_t tasks, regions, joins; /* that it has named                        */
  uint32_t chunks, cpu;
  bool ended; /* a part is lost: nothing behind it is written */
};

/* A user region that is open: in the frame that ends at cfa (the frame outside it has that stack pointer; 0 = not
 * known). */
struct user_region {
  uint64_t cfa;
  uint32_t name, row;
  bool followed; /* by the graph */
};

/* References of a thread's to a shared record that it has at hand: see rt/span/critical_path.h. */
struct credit {
  uint32_t index, refs;
};

/* What a thread has done within an instance: see rt/directive.h. */
struct instance_hold {
  uint32_t instance, refs;
  uint64_t work, end;
};

/* Children that the thread has ended and that nobody has been told of: see rt/span/explicit_task.h. */
struct held_ends {
  uint32_t creation, refs;
  uint64_t count, work, span;
};

/* A row that the thread has looked up: see rt/directive.h. */
struct row_cache {
  uint64_t code;
  uint32_t kind, row;
};

/* A task's data word: a tag of the process, since a forked child inherits its parent's tasks; the index of the task's
 * record (rt/span/span.h), or of its creation's (rt/sampling/task_context.h); and whether it waits in a barrier,
 * taskwait or taskgroup.  A task that has not begun mostly has no record yet: then NEW is set, and the rest is
 * rt/span/explicit_task.h's. */
enum { RT_TASK_WAITING = 1, RT_TASK_NEW = 2, RT_TASK_INDEX_SHIFT = 2, RT_TASK_TAG_SHIFT = 34 };

/* What the thread does, as the runtime's callbacks say.  Writer: the thread itself, byte by byte, by rt_set_flag();
 * readers: all threads, the four bytes at once, relaxed: they are counted, and nothing else is read by what they say.
 */
struct activity {
  bool openmp;   /* an OpenMP runtime knows this thread                          */
  bool idle;     /* it waits at a barrier, in a taskwait or taskgroup, or for its next region */
  bool lockwait; /* it waits for a lock; also when idle is set                   */
  bool blocked;  /* it sleeps in a call of the program's                         */
} __attribute__((aligned(4)));

/* Sums of what samples stand for: see rt/blame.h. */
struct blame {
  uint64_t time_ns, per_busy_ns, in_use_ns;
  uint64_t samples;
  bool all_wait; /* all threads wait, and nobody sleeps: it is the runtime that keeps them waiting */
};

struct thread_state {
  /* touched by callbacks: one cache line.  Read by others, relaxed: `activity`, `open_region`, `base_region`; with
   * acquire: `inside`. A callback that sets a state is not inside: a sample that repairs the state in the midst of it
   * (blame_check()) may count an interval twice, no more. */
  int inside; /* RT or CTL code of ours is running in this thread     */
  struct activity activity;
  uint32_t open_region;            /* innermost region that this thread is master of           */
  uint32_t free_region;            /* records at hand                                          */
  uint64_t base_region;            /* worker: handle of the region at the stack's base         */
  uint64_t wait_id;                /* of the lock that it waits for                            */
  uint64_t idle_since, lock_since; /* time-stamp counter                                       */
  uint64_t changes;                /* of the state, by callbacks                               */
  uint64_t idle_ticks, lockwait_ticks;

  uint32_t unrecorded_regions;           /* regions begun without a record that have not ended */
  uint32_t region_depth;                 /* regions of ours that are open                      */
  uint32_t live_slot;                    /* of rt/blame.c                                      */
  bool worker;                           /* made by the OpenMP runtime                                       */
  bool slept;                            /* blocked since the last sample                      */
  uint64_t region_since, region_ticks;   /* as master of outermost regions          */
  uint64_t blocked_since, blocked_ticks; /* in calls of the program's               */
  uint64_t contradicted_at;              /* changes + 1 at a sample that contradicted the state */
  struct blame sums_at_block;            /* sums over all samples when it was blocked           */

  uint32_t index;
  int tid;
  uint64_t cpu_start_ns;          /* the thread's clock when it was measured first  */
  uint64_t stack_low, stack_high; /* 0 = not known                                  */
  uint64_t top_sp;                /* an unwind is complete once it gets here        */

  struct format_thread *record;
  uint64_t record_due; /* time-stamp counter: see rt/sampling/times.h */
  struct table nodes, links, values;
  uint32_t free_nodes;    /* list of freed nodes                            */
  uint32_t known_regions; /* ended regions of ours that wait for their link */
  struct pending_region pending[RT_PENDING_MAX];
  unsigned pending_count;

  /* the graph: rt/span/span.h */
  uint32_t task;        /* that the thread runs, 0 = none: see graph_run() */
  struct task *running; /* its record */
  uint32_t outer_task;  /* that ran before the present one began */
  struct task *outer_running;
  struct end_slot *end_slot; /* of rt/span/explicit_task.c */
  ompt_data_t *running_data; /* the data word of that task, as long as it does not name the record: see
                                rt/span/explicit_task.h */
  uint32_t inherited_clock;  /* clock of who created it, until it has a task: see span_take_over() */
  unsigned fragment_samples;
  uint64_t total_work;
  uint64_t wait_ended, task_ended; /* moments: of the last wait, of the last task */
  uint64_t costs[3];               /* enum graph_cost                             */
  struct work work;
  struct graph_log_stream log;
  struct {
    uint32_t node;
    uint64_t weight;
  } fragment[RT_FRAGMENT_SAMPLES]; /* samples since the fragment began */
  struct row_cache row_cache[16];
  struct user_region user_regions[RT_USER_REGIONS];
  unsigned user_depth; /* may be larger: those are not kept */
  struct table totals; /* by row */
  struct credit critical_path_credits[32];
  struct instance_hold holds[8];
  struct held_ends held;
  struct pool_cache free_tasks, free_groups, free_creations, free_segments, free_instances, free_sets, free_edges,
      free_addresses, free_buckets;
  struct format_chunk *fold_chunk;

  struct source sources[EVENTS_MAX];
  struct module_cache modules[16];
  struct call_cache calls[8], functions[8]; /* of an address in a function: where that begins */
  uint32_t code_generation;                 /* of the two */
  struct frame *frames;                     /* RT_FRAMES_MAX */
  void *walk;                               /* of rt/unwind.c */
  struct format_chunk *record_chunk, *frames_chunk, *walk_chunk, *self_chunk, *stacks_chunk;

  struct thread_state *next, **link; /* CTL: list of live threads, under its mutex  */
};

extern __thread struct thread_state *rt_self __attribute__((tls_model("initial-exec")));

/* A page that the kernel wipes in children made past libc's fork() (_Fork, the system calls): they share their parent's
 * files, so they must not measure.  Writer: rt_begin(), before there are other threads; read plainly by all. */
extern union rt_home {
  bool ours;
  char page[4096];
} rt_home;

/* CTL: this process measures from now on. */
void rt_begin(void);

/* The calling thread's state; NULL where it is not measured. */
static inline struct thread_state *rt_thread(void)
{
  return __builtin_expect(rt_home.ours, 1) ? rt_self : NULL;
}

static inline void rt_set_flag(bool *flag, bool value)
{
  __atomic_store_n(flag, value, __ATOMIC_RELAXED);
}

/* Changes of `inside` by its own thread: by one instruction, a plain one, which the compiler moves nothing across.  So
 * a handler on this thread sees what it says; and who reads 0, with acquire, sees what the thread has written before,
 * as every store of the machine's is a release.  For the other direction see rt_closed(). */
static inline void rt_inside_inc(struct thread_state *t)
{
  __asm__ volatile("incl %0" : "+m"(t->inside) : : "memory", "cc");
}

static inline void rt_inside_dec(struct thread_state *t)
{
  __asm__ volatile("decl %0" : "+m"(t->inside) : : "memory", "cc");
}

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

/* Measuring has ended, or rests.  Tested again inside rt_enter(), since control waits for those inside: the fence
 * between the store to `inside` and the load of `closed`, and control's between its own two, let one of them see the
 * other. */
static inline bool rt_closed(void)
{
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_load(&rt.closed) || atomic_load(&rt.quiet);
}

static inline void rt_lost(struct thread_state *t, enum format_loss loss)
{
  if (t && t->record)
    t->record->lost[loss]++;
  else
    atomic_fetch_add_explicit(&rt.lost[loss], 1, memory_order_relaxed);
}

static inline uint64_t rt_task_word(uint32_t index)
{
  return (uint64_t)rt.epoch << RT_TASK_TAG_SHIFT | (uint64_t)index << RT_TASK_INDEX_SHIFT;
}

/* 0 where the word is another process's, or the task has no record yet. */
static inline uint32_t rt_task_index(uint64_t word)
{
  bool ours = !((rt_task_word(0) ^ word) >> RT_TASK_TAG_SHIFT) && !(word & RT_TASK_NEW);
  return ours ? (uint32_t)(word >> RT_TASK_INDEX_SHIFT) : 0;
}

/* amount * share / all, rounded down, by integers: the program's rounding mode would change what floating point gives,
 * its traps would end it there, and its flags would show.  Beyond 64 bits the largest number, for all = 0 nothing. */
static inline uint64_t rt_scale(uint64_t amount, uint64_t share, uint64_t all)
{
  unsigned __int128 product = (unsigned __int128)amount * share;
  uint64_t quotient = (uint64_t)product, above = (uint64_t)(product >> 64);
  if (above >= all)
    return all ? UINT64_MAX : 0;
  __asm__("divq %2" : "+a"(quotient), "+d"(above) : "r"(all) : "cc");
  return quotient;
}

static inline uint64_t rt_ticks(void)
{
  return __builtin_ia32_rdtsc();
}

/* Changes of a thread's own state.  Return the time-stamp counter if they had to read it, else 0. */
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
