/* What all layers of RT know of the process.  What one layer needs is in that layer's own structure: counts_process,
 * span_process, trace_process, sampling_process, control_process, measured_process.
 *
 * Context: RT and CTL.  One static variable, `rt`, defined in rt.c; nothing here can fail. */
#ifndef HPCRUN_LITE_RT_CORE_RT_PROCESS_H
#define HPCRUN_LITE_RT_CORE_RT_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/format.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* Changes of rt.pauses whose times are kept. */
enum { RT_PAUSES = 1024 };

/* Why measuring is paused: any of these. */
enum rt_pause_reason { RT_PAUSED_PROGRAM = 1, RT_PAUSED_TIME_FILTER = 2, RT_PAUSED_RANK = 4 };

/* ENDED: the process ends, waits are no longer counted, and agree with its files.  PAUSED: measuring was ever paused.
 */
enum rt_waits { RT_WAITS_ENDED = 1, RT_WAITS_PAUSED = 2 };

/* CTL writes the plain fields before the first sample, and again in a forked child; all threads read them.  ompt,
 * ompt_module, the runtime's addresses and get_task_info are written when the OpenMP runtime starts, before it has
 * threads.  The atomic fields:
 *
 * - closed, forking, graph_suspended: written by CTL, sequentially consistent, and paired with thread_state.inside (see
 *   rt_stopped()); waits: written by CTL together with these, and rt_pause_at(), but waits read it relaxed, without
 *   `inside`: a thread that is preempted between reading it and adding its interval may add one that CTL writes as
 * open;
 * - lost: sums to which any thread adds; no other data depends on their order;
 * - flushing: written by CTL, together with graph_suspended;
 * - pauses, paused_by, paused_at, paused_until: see rt_pause(); record: written by CTL. */
struct rt_process {
  _Alignas(64) int pid;
  bool ompt;            /* the OpenMP runtime reports its events */
  uint32_t ompt_module; /* of the runtime that calls us; 0: none, or the executable */
  uint32_t epoch;       /* base of region generations: handles of the parent process do not match in a child */
  uint64_t runtime_start, runtime_size;     /* its addresses */
  uint64_t start_ticks, start_ns;           /* start of the process: time-stamp counter, CLOCK_MONOTONIC */
  atomic_bool forking;                      /* no samples while the process forks */
  atomic_bool flushing;                     /* the graph is suspended for a flush only: see graph_access.c */
  atomic_bool graph_suspended;              /* callbacks leave the graph alone: CTL reads its tables */
  atomic_bool closed;                       /* measuring has ended: handlers and callbacks return at once */
  atomic_uint waits;                        /* enum rt_waits: what makes waits different; 0: nothing */
  atomic_uint module_generation;            /* incremented by every dlclose() */
  atomic_uint pauses;                       /* how often measuring was paused or went on; odd: it is paused */
  atomic_uint paused_by;                    /* reasons for which it is paused now: enum rt_pause_reason */
  _Atomic uint64_t paused_at[RT_PAUSES];    /* ticks of the latest changes: of the change n at n % RT_PAUSES */
  _Atomic uint64_t paused_until[RT_PAUSES]; /* likewise: ticks of all pauses that had ended by that change */
  _Atomic uint64_t lost[FORMAT_LOST_MAX];   /* losses of the process; those of threads are in their records */
  struct format_process *_Atomic record;    /* the process's record, which samples keep up to date; NULL: none */
  ompt_get_task_info_t get_task_info;
};

_Static_assert(offsetof(struct rt_process, pauses) < 64, "what events read is on one cache line");

extern struct rt_process rt __attribute__((visibility("hidden"))); /* hidden: reached without the GOT */

#endif
