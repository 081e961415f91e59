/* RT: code that runs in a signal handler or an OMPT callback while the program runs.  (The handler itself is
 * hpcrun-lite/handler.c, which calls sample_signal().)  RT is not the OpenMP runtime, which names contain as `runtime`.
 * This header holds the rules for all of RT, and what all its layers need of the state of a thread.
 *
 * Rules.  Allocate from core/arena only.  Take no lock that a handler could wait for.  Call no libc function that is
 * not async-signal-safe.  Never print, exit, retry without bound, or change errno as the program sees it.  On failure
 * return and increment a loss counter.  The only function pointers that RT stores are OMPT's entry points
 * (rt_process.h, sampling/sampling_process.h) and libunwind's (sampling/unwind.h).
 *
 * Layers, from the bottom: core, counts, filter, span, construct, sampling, marks, control, and rt/ itself.  No file
 * includes or calls a higher layer (tests/gates).  The calls from RT up to CTL are those of ctl_calls.h.
 *
 * State of a thread.  One block of memory, struct measured_thread (rt/measured_thread.h), holds the state that each
 * layer keeps of a thread.  The layers' structures are nested: each begins with that of the layer below it, and this
 * one, struct thread_state, is the innermost.  So all of RT passes a pointer to it, and a layer reaches its own part by
 * a conversion that costs nothing, as span_of(t).  A layer sees its own fields and those of lower layers, no others.
 * What a higher layer finds out and a lower one needs is a field of the lower one.  The state of the process is divided
 * likewise: rt_process.h, and a structure of each layer.
 *
 * A thread's state is written by that thread alone: in its handler, its callbacks, and its start and end (CTL).
 * `inside` keeps these apart: a handler that finds it set does not touch the tables.  Other threads read published
 * records (common/format.h), regions (sampling/region.h), and the fields that are marked as shared; CTL reads
 * everything after measuring has ended.  The arena owns all memory. */
#ifndef HPCRUN_LITE_RT_CORE_RT_H
#define HPCRUN_LITE_RT_CORE_RT_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/format.h"
#include "common/events.h"
#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/rt/core/arena.h"
#include "hpcrun-lite/rt/core/assertion.h"
#include "hpcrun-lite/rt/core/omp-tools.h"
#include "hpcrun-lite/rt/core/pool.h"
#include "hpcrun-lite/rt/core/rt_process.h"
#include "hpcrun-lite/rt/core/stream.h"
#include "hpcrun-lite/rt/core/sys.h"

/* SIGURG is ignored by default, so a sample during exec does no harm; at most one is pending; hardly any program uses
 * it, and those that do still receive theirs (handler.c). */
#define SAMPLE_SIGNAL SIGURG

struct module_cache {
  uint64_t start, end;
  uint32_t index, generation;
};

/* The data word of a task: a tag of the process (a forked child inherits its parent's tasks); an index, of the task
 * (span/graph.h) or, without a graph, of its creation context (sampling/task_context.h); and whether the task waits at
 * a barrier, taskwait or taskgroup.  A task that has not begun usually has no structure yet: then NEW is set, and
 * span/explicit_task.c defines the other bits. */
enum { RT_TASK_WAITING = 1, RT_TASK_NEW = 2, RT_TASK_INDEX_SHIFT = 2, RT_TASK_TAG_SHIFT = 34 };

/* A task of GCC's runtime that the thread runs, in a list from the innermost one outwards.  Writer: hpcrun-lite/gomp,
 * in the thread itself; readers: its handler and callbacks.  Elements are on the thread's stack, except the outermost
 * ones, which are thread-local (gomp.h, regions.c). */
enum rt_single { RT_SINGLE_NONE, RT_SINGLE_EXECUTES, RT_SINGLE_OTHER /* another thread executes it */ };

struct rt_gomp_task {
  struct rt_gomp_task *outer;
  ompt_data_t *data;    /* its data word */
  const char *function; /* of the program, which the adapter has called; NULL: none */
  ompt_frame_t frame;
  int flags;             /* ompt_task_initial, ... */
  ompt_data_t parallel;  /* a copy of its region's data word */
  int work;              /* open worksharing construct, a kind of OMPT; 0: none */
  long increment;        /* of the open loop */
  unsigned dimensions;   /* of the open doacross loop */
  bool final;            /* its children are included tasks */
  bool in_target;        /* it runs a target region */
  uint8_t single;        /* enum rt_single: the single construct that it has met since its last barrier */
  unsigned groups;       /* open taskgroups that have begun since that construct began */
  unsigned data_regions; /* open target data constructs */
};

/* How far below the caller's stack pointer a region is entered whose call returns, as by GOMP_parallel_start(). */
enum { RT_STARTED_BYTES = 16 };

extern __thread struct rt_gomp_task *rt_gomp_task __attribute__((tls_model("initial-exec")));

/* The latest call of libomp's function that begins an undeferred task.  The entry point in jumps.S (arch) writes it. */
struct rt_undeferred {
  const void *caller;       /* the address to which it returns, until the task's creation takes it; NULL: none */
  const void *returns;      /* the same, kept */
  const void *const *place; /* where the call has stored it on the stack */
};

extern __thread struct rt_undeferred rt_undeferred __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What the thread's latest calls of libomp's functions say, beyond what libomp announces.  The entry points in
 * jumps.S (arch) write it.  A place in the source is the address of what clang's code passes for it; without debug data
 * one stands for all.  NULL: not known, or taken already. */
struct rt_noted {
  const void *group;          /* the place of a taskgroup */
  const void *allocation;     /* the place of a task that is allocated, until a task is created */
  const int32_t *sections[2]; /* where libomp writes the numbers of the thread's first and last section */
  const void *taskloop;       /* the place of a taskloop */
  uint64_t chunk_size;        /* of the loop that begins next: what the call demands */
  uint32_t schedule;          /* likewise: a number of libomp's enum sched_type (rt/loop_events.c) */
  const void *reduction;      /* where the thread combines its part of a reduction with that of others */
  uint64_t reduction_since;   /* ticks: when it called the runtime for that */
};

extern __thread struct rt_noted rt_noted __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What the thread does, according to the runtime's callbacks.  Writer: the thread itself, one byte at a time by
 * rt_set_flag() and rt_set_call().  Readers: samples of all threads, which load the four bytes at once, relaxed; they
 * only count them, so no other data depends on the order, except on that of `openmp`: rt_set_openmp(). */
struct activity {
  bool openmp;   /* an OpenMP runtime knows this thread */
  bool idle;     /* it waits at a barrier, taskwait or taskgroup, or for its next region */
  bool lockwait; /* it waits for a lock; idle may be set as well */
  uint8_t call;  /* enum rt_call */
} __attribute__((aligned(4)));

/* A call of the program in which the thread does not work: it sleeps in one that blocks; it communicates, or waits for
 * messages, in MPI, whatever that calls; it waits for a device in a target construct.  A thread is in at most one, and
 * neither idle nor waiting for a lock. */
enum rt_call { RT_CALL_NONE, RT_CALL_BLOCKS, RT_CALL_MPI, RT_CALL_DEVICE };

/* What has created a thread: the program, the OpenMP runtime, where the initial thread of libomp's hidden helpers
 * (rt/helper_events.h) creates the others, or MPI. */
enum rt_maker { RT_MADE_BY_PROGRAM, RT_MADE_BY_RUNTIME, RT_MADE_BY_HELPERS, RT_MADE_BY_MPI };

struct thread_state {
  /* What a callback needs first, on one cache line.  Other threads read `activity`, `idle_since` and
   * `lock_since` relaxed, and `inside` with acquire.
   * A callback that changes `activity` need not be inside: if a sample repairs the state at that moment
   * (blame_check()), one interval may count twice, or at another wait site. */
  int inside; /* RT or CTL code is running in this thread */
  struct activity activity;
  uint64_t wait_id;                /* the lock that the thread waits for */
  uint64_t idle_since, lock_since; /* time-stamp counter */
  uint64_t changes;                /* number of state changes by callbacks */
  uint64_t idle_ticks, lockwait_ticks;
  struct format_thread *record;

  uint32_t index;
  int tid;
  uint32_t live_slot;             /* number among the live threads: sampling/live_threads.c */
  bool worker;                    /* created by the OpenMP runtime */
  bool helper;                    /* one of libomp's hidden helpers: see rt/helper_events.h */
  uint8_t maker;                  /* enum rt_maker */
  uint64_t cpu_start_ns;          /* the thread's CPU clock when measuring it began */
  uint64_t stack_low, stack_high; /* 0: not known */
  uint64_t top_sp;                /* an unwind that reaches this stack pointer is complete */
  struct module_cache modules[16];
  struct format_extent *record_extent, *self_extent;
  struct thread_state *next, **link; /* list of live threads: CTL, under the CTL lock */
};

extern __thread struct thread_state *rt_self __attribute__((tls_model("initial-exec")));

/* Is a call on the thread's stack, outside that stack pointer, that begins an undeferred task?  In it, libomp makes the
 * task the current one before it stores the task outside: until then, that is an ended one whose memory it reuses. */
static inline bool rt_begins_undeferred(const struct thread_state *t, uint64_t sp)
{
  uint64_t place = (uint64_t)rt_undeferred.place;
  return place >= sp && place >= t->stack_low && place < t->stack_high && *rt_undeferred.place == rt_undeferred.returns;
}

/* A page that the kernel zeroes in a child that was forked without calling libc's fork() (by _Fork() or a system call).
 * Such a child shares its parent's files, so it must not measure.  Writers: of `ours` rt_begin(), before there are
 * other threads; of `measuring` CTL.  All threads read it plainly. */
extern union rt_home {
  struct {
    bool ours;
    bool measuring; /* from the start of measuring to its end */
  };
  char page[4096];
} rt_home __attribute__((visibility("hidden")));

/* CTL: this process measures from now on. */
void rt_begin(void);

/* Pauses measuring for the program, or goes on.  Any thread may call it. */
void rt_pause(bool pause);

/* The same for a reason, and from a moment (time-stamp counter) that may have passed.  Measuring goes on when there is
 * no reason left. */
void rt_pause_at(enum rt_pause_reason reason, bool pause, uint64_t moment);

/* How many ticks of an interval were measured.  A pause is forgotten when RT_PAUSES
 * others have followed: then all was measured up to the next one, or nothing, as it was then. */
uint64_t rt_measured(uint64_t since, uint64_t now) __attribute__((noinline));

/* A clock that stands still while measuring is paused: its differences are measured ticks, whatever the number of
 * pauses. */
uint64_t rt_measured_clock(uint64_t now);

/* Converts an interval of the time-stamp counter to nanoseconds, by what both have counted since the process's start.
 */
uint64_t rt_ticks_to_ns(uint64_t ticks);

/* Was measuring ever paused? */
static inline bool rt_ever_paused(void)
{
  return atomic_load_explicit(&rt.pauses, memory_order_relaxed);
}

/* a - b; 0 if b is larger. */
static inline uint64_t rt_minus(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* The measured ticks of an interval; 0 if it ends before it begins. */
static inline uint64_t rt_measured_between(uint64_t since, uint64_t now)
{
  uint64_t passed = rt_minus(now, since);
  return __builtin_expect(rt_ever_paused(), 0) ? rt_measured(now - passed, now) : passed;
}

/* Is measuring paused, for whatever reason?  Then samples do not count. */
static inline bool rt_paused(void)
{
  return atomic_load_explicit(&rt.pauses, memory_order_relaxed) % 2;
}

/* The innermost task that the calling thread runs (level 0), or one outside it, as ompt_get_task_info() reports it.
 * Returns false if there is none.  At outer levels a runtime may return stale pointers while it forks. */
bool rt_task_info(int level, int *flags, ompt_data_t **data, ompt_frame_t **frame);

/* The thread jumps to a frame with that stack pointer, and leaves the tasks of GCC's runtime that are below it. */
void rt_jump(uint64_t sp);

/* The state of the calling thread; NULL if it is not measured. */
static inline struct thread_state *rt_thread(void)
{
  return __builtin_expect(rt_home.ours, 1) ? rt_self : NULL;
}

/* The same, if the OpenMP runtime has announced the thread. */
static inline struct thread_state *rt_openmp_thread(void)
{
  struct thread_state *t = rt_thread();
  return t && t->activity.openmp ? t : NULL;
}

static inline void rt_set_flag(bool *flag, bool value)
{
  __atomic_store_n(flag, value, __ATOMIC_RELAXED);
}

/* The OpenMP runtime knows the thread, or no longer.  Who sees that it does, also sees `worker` and `helper`. */
static inline void rt_set_openmp(struct thread_state *t, bool known)
{
  __atomic_store_n(&t->activity.openmp, known, __ATOMIC_RELEASE);
}

static inline void rt_set_call(struct thread_state *t, enum rt_call call)
{
  __atomic_store_n(&t->activity.call, (uint8_t)call, __ATOMIC_RELAXED);
}

/* Count the thread's nesting in the tool's code.  `inside` is changed by its own thread only, and the compiler moves
 * nothing across.  So a handler of this thread always sees the true value; and a thread that reads 0 with acquire sees
 * everything written before.  For the other direction see rt_stopped(). */
static inline void rt_inside_inc(struct thread_state *t)
{
  machine_increase(&t->inside);
}

static inline void rt_inside_dec(struct thread_state *t)
{
  RT_ASSERT(t->inside > 0);
  machine_decrease(&t->inside);
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
  RT_ASSERT(t->inside == 1);
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

/* Whether CTL uses the threads' tables of the graph, so that callbacks leave them alone.  The caller is inside.  It
 * needs no fence: CTL makes all threads execute one (membarrier) before it reads which threads are inside.  If this
 * returns false, the thread sees what CTL has written to the tables. */
static inline bool rt_graph_suspended(void)
{
  return atomic_load_explicit(&rt.graph_suspended, memory_order_acquire);
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

/* For code that records what the program reports: has measuring ended, or does CTL read the tables?  Then nothing may
 * be recorded, and if measuring goes on afterwards, it is counted as such a loss. */
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
  uint64_t above = (uint64_t)(product >> 64);
  if (above >= all)
    return all ? UINT64_MAX : 0;
  return machine_divide(above, (uint64_t)product, all);
}

/* The time-stamp counter. */
static inline uint64_t rt_ticks(void)
{
  return machine_ticks();
}

/* Change a flag of the calling thread's state at that moment, which they return, and add up the time in it. */
static inline uint64_t rt_change_idle(struct thread_state *t, bool idle, uint64_t now)
{
  if (idle)
    __atomic_store_n(&t->idle_since, now, __ATOMIC_RELAXED);
  else
    t->idle_ticks += now - t->idle_since;
  rt_set_flag(&t->activity.idle, idle);
  t->changes++;
  return now;
}

/* The same at this moment; 0 if nothing changes: then the clock is not read. */
static inline uint64_t rt_set_idle(struct thread_state *t, bool idle)
{
  return t->activity.idle == idle ? 0 : rt_change_idle(t, idle, rt_ticks());
}

static inline uint64_t rt_change_lockwait(struct thread_state *t, bool lockwait, uint64_t now)
{
  if (lockwait)
    __atomic_store_n(&t->lock_since, now, __ATOMIC_RELAXED);
  else
    t->lockwait_ticks += now - t->lock_since;
  rt_set_flag(&t->activity.lockwait, lockwait);
  t->changes++;
  return now;
}

#endif
