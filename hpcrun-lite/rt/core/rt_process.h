/* What RT knows of the process.  Context: RT and CTL. */
#ifndef HPCRUN_LITE_RT_CORE_RT_PROCESS_H
#define HPCRUN_LITE_RT_CORE_RT_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/events.h"
#include "common/format.h"
#include "hpcrun-lite/rt/core/omp-tools.h"

/* What work is counted in. */
enum work_unit { WORK_CPU_TIME, WORK_USER, WORK_INSTRUCTIONS, WORK_CYCLES };

/* What RT knows of the process.  Written by CTL before the first sample (and in a forked child), read by all; what the
 * OpenMP runtime's start adds (ompt, unseen, runtime_apart, the entry points) before it has threads.  The atomics:
 * closed, quiet and graph_suspended by CTL, sequentially consistent, against `inside` (rt_closed()); in_use, ticking,
 * regions, lost by anyone, as sums that order nothing; paused and log by anyone, relaxed. */
struct rt_process {
  struct event events[EVENTS_MAX];
  unsigned event_count;
  int driver; /* event that drives the four categories: the first time event, else -1           */
  unsigned metric_count;
  uint32_t cpus; /* that the process may run on */
  int pid;
  bool timers_for_cpu; /* CPU time is sampled by timers: kernel samples are not allowed                  */
  bool ompt;
  uint32_t unseen; /* callbacks of the graph's that the runtime does not have */
  bool online;     /* work and span are computed */
  atomic_bool log; /* and what they are computed from is written to a file */
  enum work_unit work_unit;
  bool task_creation;            /* tasks stand below the context that created them */
  bool runtime_apart;            /* the OpenMP runtime is a module of its own, so its code is told from the program's */
  uint32_t ompt_module;          /* of the runtime that calls us back; 0: none, or the executable */
  bool forked;                   /* child made by fork: the runtime knows nothing of regions it began in */
  bool wall;                     /* elapsed time drives the four categories */
  atomic_bool quiet;             /* no samples for a moment: the process forks                                      */
  atomic_bool paused;            /* by the program: samples do not count                                           */
  atomic_bool graph_suspended;   /* the graph is not followed: its tables are looked at                             */
  atomic_bool closed;            /* measuring has ended: handlers and callbacks return at once                     */
  atomic_uint module_generation; /* changes with every dlclose                                               */
  uint32_t epoch;                /* base of region generations, so that handles of a parent process do not fit     */
  _Atomic uint64_t lost[FORMAT_LOST_MAX]; /* of the process; each thread has its own                         */
  struct format_process *_Atomic record;  /* the process's record, which is kept up to date; NULL = none */

  /* in a cache line of their own: the first changes with each region, and callbacks of all threads read what is above
   */
  _Alignas(64) atomic_int in_use; /* OpenMP threads, see rt/blame.h */
  atomic_int in_use_max;
  atomic_uint running_timers; /* timers of elapsed time that go, see rt/source.c */

  _Alignas(64) ompt_get_state_t get_state;
  ompt_get_task_info_t get_task_info;
  ompt_set_callback_t set_callback;
};

extern struct rt_process rt;

#endif
