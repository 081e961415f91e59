/* Efficiencies of OpenMP, and what each loss costs: which part of the threads' time was no useful work, and why.
 *
 * Context: BATCH.  Pure: the profile is only read.  Source: the POP centre of excellence's metrics for OpenMP, in their
 * additive form: every loss is a part of the time of all threads, so that parallel efficiency = 1 - sum of the losses,
 * and a loss times the elapsed time is the time that the run would be shorter without it, at most.
 *
 * For a process of T = most threads in use at once, R = elapsed time, G = time in parallel regions (at most R), with
 * idle = exact idle time of its OpenMP threads, and T R - sum of their life times: who does not exist yet is idle:
 *
 *     serialisation    = min(idle, (R - G) (T - 1)) / (T R)     the others idle while one thread runs serial code
 *     load balance     = idle / (T R) - serialisation           the rest of it: within regions
 *     lock waiting     = exact lock wait / (T R)
 *     runtime overhead = overhead / (T R)                       sampled, the only one that is
 *
 * Of several processes numerators and denominators are added up.  Departures from POP: lock waiting is a loss of its
 * own; time in which threads were blocked in the kernel or waited for a core is counted as no loss, since it is not
 * known what it was for.  Processes without OpenMP are left out, and those in which no region's end was seen.
 */
#ifndef HPCPROF_ANALYSIS_EFFICIENCY_H
#define HPCPROF_ANALYSIS_EFFICIENCY_H

#include "hpcprof-lite/merge.h"

enum efficiency_metric {
  EFFICIENCY_PARALLEL, /* all losses together */
  EFFICIENCY_BALANCE,
  EFFICIENCY_SERIAL,
  EFFICIENCY_LOCK,
  EFFICIENCY_RUNTIME,
  EFFICIENCY_COUNT
};

struct efficiency {
  bool known;                                               /* false: no process with OpenMP's times; all else is 0 */
  uint32_t processes;                                       /* that count                                           */
  uint32_t threads;                                         /* T of each, 0 where they differ                       */
  double thread_s;                                          /* sum of T R                                           */
  double value[EFFICIENCY_COUNT], gain_s[EFFICIENCY_COUNT]; /* 0 to 1; seconds of elapsed time */
};

/* `elapsed_ns`: of the whole run, from the first process's start to the last one's end. */
void efficiency_compute(const struct profile *profile, uint64_t elapsed_ns, struct efficiency *efficiency);

const char *efficiency_name(enum efficiency_metric metric);

#endif
