/* What this layer keeps of the process: its events, the columns of their samples, and threads in use.
 *
 * Context: RT and CTL.  CTL writes the plain fields before the first sample, and again in a forked child; all threads
 * read them.  adapter_start, adapter_size, runtime_apart and get_state are written when the OpenMP runtime starts,
 * before it has threads.  The atomic fields:
 *
 * - in_use, running_timers, rings: sums to which any thread adds; no other data depends on their order;
 * - helpers: likewise; task_words: becomes true once, before the tasks for which it matters;
 * - ring_readers: likewise, but ordered against the rings (rt/sampling/switches.c);
 * - unsampled, sampled, unsampled_ticks, known_contexts, and the rates of events: written by the thread that carries
 * out a command (rt/control/command.h). */
#ifndef HPCRUN_LITE_RT_SAMPLING_SAMPLING_PROCESS_H
#define HPCRUN_LITE_RT_SAMPLING_SAMPLING_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/events.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

extern struct sampling_process {
  struct event events[EVENTS_MAX];
  unsigned event_count;
  int time_event; /* event from which the four categories of time come: the first that measures time; -1 if there is
                     none */
  bool wall;      /* the time event measures elapsed time */
  unsigned count_metric, usage_metric, blocked_metric; /* columns of a value record: of the first counter, and the
                                                          first ones of FORMAT_ROLE_USAGE and FORMAT_ROLE_BLOCKED */
  unsigned metric_count, share_metric; /* columns of a value record; the column of its shares (FORMAT_ROLE_SHARES) */
  uint32_t cpus;                       /* cores that the process may run on */
  bool timers_for_cpu;                 /* CPU time is sampled by timers, because perf_event may not sample the kernel */
  uint32_t rings_max;                  /* how many rings of records of switches the process may have */
  bool task_creation;                  /* tasks stand below the context that created them */
  bool count_locks;                    /* -c locks: each acquisition is counted in the record of its lock */
  atomic_bool task_words;              /* without a graph: a task's data word names that context or, with hidden
                                          helpers, its region */
  bool runtime_apart;                  /* the OpenMP runtime is a separate module, so its code can be distinguished */
  bool forked; /* child of fork(): the runtime does not know the regions that were open in the parent */
  uint64_t adapter_start, adapter_size; /* of this tool's code that stands for the runtime's: hpcrun-lite/gomp */
  uint64_t target_call;       /* the function there that calls libgomp for target regions; 0 before it is called */
  atomic_bool openmp;         /* a thread of the process is, or was, OpenMP's */
  atomic_bool known_contexts; /* regions publish their creation context when they begin */
  atomic_bool unsampled;      /* level summary: no thread is sampled */
  atomic_bool sampled;        /* it was not always so */
  _Atomic uint64_t unsampled_ticks; /* measured ticks at level summary; less those before, if it is that now */

  /* On a cache line of their own: in_use changes with each region, while callbacks of all threads read the fields
   * above.
   */
  _Alignas(64) atomic_int in_use; /* OpenMP threads in use: see sampling/blame.h */
  atomic_int in_use_max;
  atomic_uint rings;          /* of records of switches */
  atomic_uint ring_readers;   /* threads that read rings of others, of which none is unmapped meanwhile */
  atomic_uint helpers;        /* hidden helpers: see rt/helper_events.h */
  atomic_uint running_timers; /* timers of elapsed time that are running: see sampling/source.c */

  _Alignas(64) ompt_get_state_t get_state;
} sampling_process __attribute__((visibility("hidden")));

#endif
