/* What RT knows of the process.
 *
 * Context: RT and CTL.  One static variable, `rt`, defined in rt.c; nothing here can fail. */
#ifndef HPCRUN_LITE_RT_CORE_RT_PROCESS_H
#define HPCRUN_LITE_RT_CORE_RT_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/counters.h"
#include "common/events.h"
#include "common/format.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* Changes of rt.pauses whose times are kept. */
enum { RT_PAUSES = 1024 };

/* Why measuring is paused: any of these. */
enum rt_pause_reason { RT_PAUSED_PROGRAM = 1, RT_PAUSED_WINDOW = 2, RT_PAUSED_RANK = 4 };

/* ENDED: the process ends, waits are no longer counted, and agree with its files.  PAUSED: measuring was ever paused.
 */
enum rt_waits { RT_WAITS_ENDED = 1, RT_WAITS_PAUSED = 2 };

/* What is written to the trace. */
enum rt_trace { RT_TRACE_OFF, RT_TRACE_SAMPLES, RT_TRACE_STATES };

/* The unit in which work is counted. */
enum work_unit { WORK_CPU_TIME, WORK_USER, WORK_INSTRUCTIONS, WORK_CYCLES };

/* CTL writes the plain fields before the first sample, and again in a forked child; all threads read them.  ompt,
 * unseen, no_chunks, runtime_apart, ompt_module and the entry points are written when the OpenMP runtime starts, before
 * it has threads.  The atomic fields:
 *
 * - closed, forking, graph_suspended: written by CTL, sequentially consistent, and paired with thread_state.inside (see
 *   rt_stopped()); waits: written by CTL together with these, and rt_pause_at(), but waits read it relaxed, without
 * `inside`: a thread that is preempted between reading it and adding its interval may add one that CTL writes as open;
 * - in_use, running_timers, lost: sums to which any thread adds; no other data depends on their order;
 * - flushing: written by CTL, together with graph_suspended;
 * - unsampled, sampled, unsampled_ticks, known_places, serial_wanted: written by the thread that carries out a
 * command (rt/control/command.h), the last one also by CTL;
 * - pauses, paused_by, paused_at, paused_until: see rt_pause(); log: written by any thread, relaxed; record: written by
 * CTL. */
struct rt_process {
  struct event events[EVENTS_MAX];
  unsigned event_count;
  int time_event; /* event from which the four categories of time come: the first that measures time; -1 if there is
                     none */
  struct counter counters[COUNTERS_MAX];
  unsigned counter_count;
  bool counters_by_usage;              /* some come from getrusage() */
  atomic_bool counts_scaled;           /* the processor could not count all the time; any thread sets it, relaxed */
  unsigned count_metric;               /* column of the first counter in a value record */
  unsigned metric_count, share_metric; /* columns of a value record; the column of its shares (FORMAT_ROLE_SHARES) */
  uint32_t cpus;                       /* cores that the process may run on */
  int pid;
  bool timers_for_cpu; /* CPU time is sampled by timers, because perf_event may not sample the kernel */
  bool ompt;
  uint32_t unseen; /* bits: callbacks of the graph that the runtime does not provide; that of chunks is set by any
                      thread, relaxed */
  bool no_chunks;  /* the runtime does not announce chunks; hpcrun-lite/gomp reports those of the calls that it sees */
  bool online;     /* work and span are computed */
  atomic_bool log; /* the operations that compute them are also logged to a file */
  enum work_unit work_unit;
  enum rt_trace trace;
  uint64_t trace_limit; /* bytes; of the trace, as trace_keep_last */
  bool trace_keep_last;
  bool task_creation;                   /* tasks stand below the context that created them */
  bool no_arguments;                    /* the command line is stored without its arguments */
  atomic_bool known_places;             /* regions publish their creation context when they begin */
  bool runtime_apart;                   /* the OpenMP runtime is a separate module, so its code can be distinguished */
  uint32_t ompt_module;                 /* of the runtime that calls us; 0: none, or the executable */
  uint64_t runtime_start, runtime_end;  /* its addresses */
  uint64_t adapter_start, adapter_size; /* of this tool's code that stands for the runtime's: hpcrun-lite/gomp */
  const char *program;                  /* the name of its section of a configuration file */
  int rank;                             /* MPI rank; -1 if there is none */
  bool forked;           /* child of fork(): the runtime does not know the regions that were open in the parent */
  bool wall;             /* the time event measures elapsed time */
  atomic_bool forking;   /* no samples while the process forks */
  atomic_uint paused_by; /* reasons for which it is paused now: enum rt_pause_reason */
  atomic_uint pauses;    /* how often measuring was paused or went on; odd: it is paused */
  _Atomic uint64_t paused_at[RT_PAUSES];    /* ticks of the latest changes: of the change n at n % RT_PAUSES */
  _Atomic uint64_t paused_until[RT_PAUSES]; /* likewise: ticks of all pauses that had ended by that change */
  uint64_t start_ticks;                     /* start of the process */
  _Atomic uint64_t rates_ns[EVENTS_MAX];    /* when the event's rate was changed last, since the start; 0: never */
  atomic_bool unsampled;                    /* level summary: no thread is sampled */
  atomic_bool sampled;                      /* it was not always so */
  _Atomic uint64_t unsampled_ticks;         /* measured ticks at level summary; less those before, if it is that now */
  atomic_bool serial_wanted;     /* CTL is to be called when the process is single-threaded: serial_moment() */
  atomic_bool flushing;          /* the graph is suspended for a flush only: see graph_access.c */
  atomic_bool graph_suspended;   /* callbacks leave the graph alone: CTL reads its tables */
  atomic_uint waits;             /* enum rt_waits: what makes waits different; 0: nothing */
  atomic_bool closed;            /* measuring has ended: handlers and callbacks return at once */
  atomic_uint module_generation; /* incremented by every dlclose() */
  uint32_t epoch;                /* base of region generations: handles of the parent process do not match in a child */
  _Atomic uint64_t lost[FORMAT_LOST_MAX]; /* losses of the process; those of threads are in their records */
  struct format_process *_Atomic record;  /* the process's record, which samples keep up to date; NULL: none */

  /* On cache lines of their own: in_use changes with each region, while callbacks of all threads read the fields above.
   */
  _Alignas(64) atomic_int in_use; /* OpenMP threads in use: see rt/sampling/blame.h */
  atomic_int in_use_max;
  atomic_uint running_timers; /* timers of elapsed time that are running: see rt/sampling/source.c */

  _Alignas(64) ompt_get_state_t get_state;
  ompt_get_task_info_t get_task_info;
  ompt_set_callback_t set_callback;
};

extern struct rt_process rt __attribute__((visibility("hidden"))); /* hidden: reached without the GOT */

#endif
