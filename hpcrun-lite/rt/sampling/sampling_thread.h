/* What this layer keeps of a thread: its regions and waits, its sources of samples, its calling-context tree.
 *
 * Context: RT.  The thread itself writes it, and reads it; other threads read `base_region` with acquire or relaxed,
 * and `waiting_key` relaxed.  CTL reads it after measuring has ended.  See rt.h for how the layers' structures nest. */
#ifndef HPCRUN_LITE_RT_SAMPLING_SAMPLING_THREAD_H
#define HPCRUN_LITE_RT_SAMPLING_SAMPLING_THREAD_H

#include <stddef.h>

#include "hpcrun-lite/rt/construct/construct_thread.h"
#include "hpcrun-lite/rt/sampling/sampling_process.h"

enum {
  RT_FRAMES_MAX = 1024, /* frames of one unwind: deeper stacks are cut at the outer end */
  RT_PENDING_MAX = 64   /* sampled regions of one thread whose creation context is not known */
};

struct frame {
  uint64_t ip;                /* of a caller: inside the call instruction */
  uint64_t sp;                /* the frame's stack pointer at that instruction */
  uint64_t return_at;         /* of a caller: where the return address is on the stack; 0: not known */
  uint32_t module, offset;    /* location of ip: see sampling/context.c */
  bool runtime, tool, system; /* code of the OpenMP runtime; of this tool; of libc or the vdso */
  bool devices;               /* of the runtime: its library for devices */
  bool adapter;               /* code that stands for the runtime: of hpcrun-lite/gomp */
  bool guessed;               /* found without unwind information: see sampling/unwind.c */
  uint8_t filtered;           /* with a filter: bits of enum format_filtered */
};

enum source_how { SOURCE_OFF, SOURCE_PERF, SOURCE_TIMER };

/* One event of one thread: see sampling/source.h. */
struct source {
  enum source_how how;
  uint8_t event;               /* index into sampling_process.events */
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
  uint64_t weighed_cpu_ns;  /* of elapsed time: the thread's CPU time when the last sample was weighed */
  uint64_t throttled_until; /* by the event's clock: samples before it are not charged; 0: none */
};

enum { RT_CALLS_LOG = 6 }; /* a cache has 2 to the power of this slots */

/* In sampling_thread.calls: a call instruction and the function that it calls; target 0: not known, or not in the
 * program.  In sampling_thread.functions: an address and the start of its function; target 0: not known. */
struct call_cache {
  uint64_t ip, target;
};

/* The only slot for an address in a cache. */
static inline struct call_cache *call_cache_at(struct call_cache cache[1 << RT_CALLS_LOG], uint64_t ip)
{
  return &cache[ip * 0x9e3779b97f4a7c15ULL >> (64 - RT_CALLS_LOG)];
}

/* A subtree of this thread below a region whose creation context is not known yet. */
struct pending_region {
  uint32_t region, node;
  uint32_t samples; /* taken in the region since it is pending */
};

/* An open wait of a thread: see sampling/waiting.h. */
struct wait_open {
  struct format_wait *wait;
  struct region_team *team; /* of a barrier; NULL: none */
  uint32_t barrier;         /* its number in the region */
  uint32_t region;          /* whose team it is */
  uint64_t delay;           /* of a barrier: ticks by which missing processors held it up since the last one */
  bool as_worker;           /* at the end of a region of another thread */
};

/* When the last thread of a team arrived at a barrier of a region. */
struct last_arrival {
  uint64_t moment, undelayed; /* undelayed: if no thread had missed a processor; 0: the same */
  uint32_t region, barrier;   /* region 0: not known */
};

struct wait_cache {
  uint64_t key;
  struct format_wait *wait; /* NULL: free */
};

/* Sums of what samples stand for: see sampling/blame.h. */
enum { BLAME_SITES = 5 };
struct blame {
  uint64_t time_ns, per_busy_ns, in_use_ns;
  uint64_t samples;
  struct {
    uint64_t key, ns; /* wait site, and the time that other threads waited there; ns 0: free */
  } waits[BLAME_SITES];
};

/* What CTL found before it wrote the end of a trace: see sampling/waiting.h. */
struct trace_end {
  struct trace_stream trace;
  uint64_t changes, blocked_since;
  const struct format_wait *waiting;
  bool marked;
};

/* What samples write to the trace: see sampling/sample_trace.h. */
struct sample_trace {
  uint32_t pauses;                 /* rt.pauses at the last sample */
  int64_t weight_left;             /* what was not written yet */
  uint64_t tool_ns, delay_ns;      /* written until now: of record->tool_ns; of waiting for a processor */
  uint64_t sampled_at, asked_at;   /* ticks: of the last sample; when a file was read for delay_ns */
  uint64_t sampled_tool_ns;        /* record->tool_ns at the last sample */
  uint64_t given_up, switched_out; /* see struct sys_usage; when last asked for */
};

/* The thread's records of switches: see sampling/switches.h. */
struct switches {
  const void *ring;          /* mapped; NULL: none */
  uint64_t read;             /* position in the ring up to which it was read */
  bool out, preempted;       /* of the last record: the thread was switched out; while it could run */
  bool reading;              /* the handler must not read */
  uint64_t out_ns;           /* its time */
  uint64_t seen;             /* ticks that records cover before: */
  uint64_t seen_since, last; /* ticks: what they cover now began; when it was read last */
  uint64_t since_join;       /* ticks by which missing processors held the thread up since its team's last join */
  uint64_t outer;            /* the same in the outermost region, while the thread is in one inside it */
  uint64_t held_up;          /* the same, until that join */
  uint64_t wait_since;       /* samples have read records of the wait that began then, */
  uint64_t wait_preempted;   /* in which they say that the thread was preempted for so many ticks */
  uint64_t slept_outside;    /* ticks asleep outside waits and interposed calls, since the last sample */
  struct sys_moment opened;
  uint64_t window_ns;              /* since when switches are counted */
  uint64_t window_read;            /* position at that time */
  struct format_wait *lock;        /* the thread has waited for a lock, and has not released it; NULL: has not */
  bool lock_read;                  /* the records of that wait are read */
  uint64_t lock_since, lock_until; /* ticks */
};

/* Sleep in calls of the program, and the bytes that they have moved: see sampling/call_sleep.h. */
struct call_sleep {
  uint64_t part_ns, passed_ns; /* the present part of the sleep in short calls; how much of it has passed */
  uint64_t moment_ns, random;  /* the moment in it whose call it is charged to */
  uint64_t open;               /* the call of call_sleep_enter() that the thread is in; 0: none */
  uint64_t taken;              /* ticks asleep in it until a sample */
  struct call_bytes {
    const void *code; /* the address to which calls return */
    uint64_t bytes;   /* not charged yet; 0: the place is free */
  } sites[16];
};

/* What the kernel has counted for the thread: see sampling/kernel_usage.h. */
struct kernel_usage {
  uint64_t now[FORMAT_USAGE_CREATED];     /* by enum format_usage: at the last sample */
  uint64_t charged[FORMAT_USAGE_CREATED]; /* of it, what is in records, or the tool's own */
  uint64_t charged_at;                    /* ticks */
  uint64_t touched;       /* page faults of the tool's new memory (core/touch.h), when the last sample ended */
  uint32_t nodes, values; /* of the thread, when the sample began */
  bool on;
};

/* What there is to do at an acquisition or release of a lock: bits of lock_table.attends.  COUNTED: each acquisition is
 * counted.  NOTED: the thread holds a lock for which it has waited, or has a wait that is not in its record. */
enum { LOCKS_COUNTED = 1, LOCKS_NOTED = 2 };

/* The locks of the thread: see sampling/lock_table.h. */
enum { LOCK_HOLDS = 8, LOCK_LISTS = 512, LOCK_COUNTS_LOG = 7 };
struct lock_table {
  uint8_t attends;
  uint8_t waited_kind;
  uint32_t holds_passed;      /* releases of other locks since the last of `holds` began */
  int holds_open;             /* how many of `holds` are not free */
  uint64_t waited, waited_id; /* ticks of a wait for that lock that are not in its record; 0: none */
  const struct format_wait *waited_at;
  struct table records;
  struct {
    uint64_t id, since; /* a lock for which the thread has waited, and holds; id 0: free */
  } holds[LOCK_HOLDS];
  uint32_t first[LOCK_LISTS]; /* by hash: the first record of a list; 0: none */
  struct lock_count {
    uint64_t key; /* 0: free */
    struct format_lock *lock;
  } counts[1 << LOCK_COUNTS_LOG]; /* records of locks that were acquired lately */
};

/* Where the thread has released locks for which others slept: see sampling/lock_waiters.c. */
struct release_site {
  const void *code;
  uint64_t sp, region; /* in the frame with that stack pointer; in the region with that handle */
  uint32_t node;       /* its context; 0: none */
};

/* The wait for a lock of POSIX that the thread is in: see posix_lock_events.c. */
struct posix_wait {
  uint64_t lock, since, key; /* rt_measured_clock(); its site */
  uint32_t kind;
  bool open, marked;          /* it has not ended; a release finds it */
  struct format_lock *record; /* NULL: none */
};

/* The wait at a condition variable or semaphore that the thread is in: see sampling/pools.h. */
struct pool_wait {
  uint64_t object, since;            /* since: ticks */
  struct format_wait *wait;          /* its site; NULL: it cannot be a pool's */
  struct thread_state *next, **link; /* in a list; link: what points to this thread there */
  uint8_t kind;                      /* of the object: enum format_lock_kind */
  bool begun, open, blocked;         /* it goes on; it is in that list; it began as a blocking call */
};
enum { POOLS_KNOWN = 4 };

/* Calls of MPI: see sampling/mpi_calls.h.  A place: where the thread has called a function, known by the addresses to
 * which the functions on the stack return, `count` of them from the innermost one.  They are compared where they were
 * then: `at` words from the innermost one. */
enum { MPI_PLACE_FRAMES = 24, MPI_PLACES_LOG = 6, MPI_PLACES = 1 << MPI_PLACES_LOG, MPI_WAYS = 4, MPI_LISTS = 256 };
struct mpi_place {
  uint64_t sp, region; /* region_identity() */
  struct format_mpi *row;
  uint32_t function; /* 0: the place is free */
  uint32_t count;
  uint32_t at[MPI_PLACE_FRAMES];
  uint64_t returns[MPI_PLACE_FRAMES];
};

struct mpi_calls {
  /* What each call needs, on one cache line: messages replace what a call has left in the caches. */
  _Alignas(64) uint64_t since; /* of the present call */
  uint64_t ticks;              /* of all calls before */
  uint64_t sp, code;           /* of the present call, or the last one: see mpi_calls_begin() */
  struct format_mpi *row;
  struct mpi_place *place; /* the first of the table of places; NULL: there is none yet */
  uint32_t generation;     /* rt.module_generation for which places are valid */
  bool work_stopped;       /* the work clock stands still meanwhile */
  bool traced;             /* the trace shows that the thread sleeps meanwhile */

  uint64_t unwound, due; /* contexts that were unwound; when the next one may be, in ticks */
  uint32_t replaced;     /* places that were */
  struct table rows, places;
  uint32_t first[MPI_LISTS]; /* by hash of the node: the first record of a list; 0: none */
};

_Static_assert(offsetof(struct mpi_calls, traced) < 64, "what each call needs is on one cache line");

/* Written by device_waits.c. */
struct device_wait {
  uint64_t since, ticks;        /* of the present wait; in all before */
  uint64_t position;            /* switches_position() when it began */
  uint32_t depth;               /* target constructs and operations that are open */
  bool work_stopped;            /* the work clock stands still meanwhile, */
  uint64_t strand_since;        /* and until then, what the task waits is in the graph */
  const struct task *copy_task; /* in which a copy is open as a construct; NULL: none */
  uint32_t copy_scopes;         /* that task's open scopes then */
  uint32_t copy_node;           /* the copy's context; 0: not known */
};

struct sampling_thread {
  struct construct_thread below;

  /* regions and waits, the fields of the callbacks first */
  _Alignas(64) uint64_t base_region; /* worker: handle of the region at the base of its stack */
  uint64_t waiting_key;              /* the wait site at which the thread is idle */
  struct format_wait *waiting;       /* its record; NULL without memory */
  struct format_wait *waiting_lock;  /* that of the lock that the thread acquires */
  struct region_team *team;          /* of the region with the index `team_region` */
  uint32_t team_region;
  uint32_t barriers;           /* of the innermost region, at which the thread has begun to wait */
  unsigned wait_depth;         /* open waits; those beyond the array share its last element */
  uint32_t free_region;        /* list of the thread's free region records */
  uint64_t barrier_left;       /* when the thread left its last barrier */
  struct last_arrival arrival; /* at that barrier */
  uint64_t lock_cost;          /* ticks of the fastest acquisition, from WAITING_LOCK_LEAST on; 0: none yet */
  bool tests_lock;             /* its next acquisition of a lock does not wait: waiting_tests_lock() */
  bool lock_waits;             /* the acquisition that ends was all waiting: hpcrun-lite/gomp knows */
  uint8_t lock_kind;           /* of the lock that the thread acquires: enum format_lock_kind */
  struct blame released;       /* of the lock that the thread is releasing; samples 0: none */
  struct wait_open waits_open[16];
  struct wait_cache wait_cache[32];
  struct table waits;
  struct lock_table locks;
  struct posix_wait posix_wait;
  struct mpi_calls mpi;
  struct device_wait device_wait;
  struct pool_wait pool_wait;
  uint64_t pools_known[POOLS_KNOWN]; /* objects at which the thread was idle */
  unsigned pools_count;              /* that were ever put there */
  struct release_site releases[16];
  uint64_t releases_unwound,
      release_due; /* contexts of releases that were unwound; when the next one may be, in ticks */

  uint32_t unrecorded_regions; /* open regions that have no record */
  uint32_t region_depth;       /* open regions that this thread has created */
  uint32_t known_regions;      /* list of ended regions whose link is not final */
  struct pending_region pending[RT_PENDING_MAX];
  unsigned pending_count;

  /* times: see sampling/times.h */
  uint64_t region_since, region_ticks;   /* as master of outermost regions */
  uint64_t blocked_since, blocked_ticks; /* in blocking calls of the program */
  uint64_t measured_since;               /* the measured clock when it began */
  uint64_t record_due;                   /* time-stamp counter */
  uint64_t mask_due;                     /* likewise: see sampling/core_limits.h */
  struct {
    bool on;                   /* it is at level summary */
    uint64_t ticks;            /* in which it did not wait there; less those before, if it is there now */
    uint64_t cpu_ns, delay_ns; /* its CPU time there, and how long it waited for a processor */
    uint64_t since, since_cpu_ns, since_delay_ns; /* ticks, and both clocks, when that began */
  } unsampled;
  uint64_t contradicted_at; /* changes + 1 at the last sample, if that contradicted the state */

  /* samples and their contexts */
  struct source sources[EVENTS_MAX];
  bool quiet; /* the sources are disarmed: source_quiet() */
  struct switches switches;
  struct table nodes, links, values, shares;
  uint32_t free_nodes;  /* list of freed nodes */
  uint32_t free_shares; /* list of freed records of shares */
  bool nodes_counted;   /* counts of marks/marks.c refer to nodes, which therefore stay */
  struct call_cache calls[1 << RT_CALLS_LOG], functions[1 << RT_CALLS_LOG];
  uint32_t code_generation; /* rt.module_generation for which both are valid */
  struct frame *frames;     /* RT_FRAMES_MAX frames */
  void *walk;               /* see sampling/unwind.c */
  struct format_extent *frames_extent, *walk_extent, *stacks_extent;
  struct sample_trace sample_trace;
  struct kernel_usage kernel_usage;
  struct call_sleep call_sleep;
  struct trace_end ended;
};

static inline struct sampling_thread *sampling_of(const struct thread_state *t)
{
  return (struct sampling_thread *)t;
}

#endif
