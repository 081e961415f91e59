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
 *
 * The split of the time of all threads, with work and overhead as sampled on OpenMP's threads:
 *
 *     T R = work at one thread + work inflation + runtime overhead + idleness
 *     work inflation = work - work at one thread
 *     idleness       = T R - work - overhead: whatever else threads did, waiting for locks and blocking included
 *
 * Work at one thread is that of another run of the same command: a directory of its own whose processes never had more
 * than one OpenMP thread.  Such runs count only as that.  T R is never less than work + overhead.
 */
#ifndef HPCPROF_LITE_ANALYSIS_EFFICIENCY_H
#define HPCPROF_LITE_ANALYSIS_EFFICIENCY_H

#include "hpcprof-lite/model/profile.h"

enum efficiency_metric {
  EFFICIENCY_PARALLEL, /* all losses together */
  EFFICIENCY_BALANCE,
  EFFICIENCY_SERIAL,
  EFFICIENCY_LOCK,
  EFFICIENCY_RUNTIME,
  EFFICIENCY_COUNT
};

enum efficiency_part {
  EFFICIENCY_WHOLE, /* T R */
  EFFICIENCY_WORK,
  EFFICIENCY_WORK_ONE,  /* of work: at one thread; */
  EFFICIENCY_INFLATION, /* the rest, below 0 where more threads do less */
  EFFICIENCY_OVERHEAD,
  EFFICIENCY_IDLENESS,
  EFFICIENCY_LOCKWAIT, /* of idleness: exact waiting for locks */
  EFFICIENCY_PARTS
};

struct efficiency_split {
  bool known;           /* false: no work was sampled; all else is 0                */
  bool compared;        /* work at one thread is known                              */
  uint32_t runs, alone; /* directories that count, and those of one thread (compared) */
  double part_s[EFFICIENCY_PARTS], gain_s[EFFICIENCY_PARTS];
  const char *note; /* why work at one thread is not known, else "" */
};

struct efficiency {
  bool known;                                               /* false: no process with OpenMP's times; all else is 0 */
  uint32_t processes;                                       /* that count                                           */
  uint32_t threads;                                         /* T of each, 0 where they differ                       */
  double thread_s;                                          /* sum of T R                                           */
  double value[EFFICIENCY_COUNT], gain_s[EFFICIENCY_COUNT]; /* 0 to 1; seconds of elapsed time */
  struct efficiency_split split;
};

/* `elapsed_ns`: from the first process's start to the last one's end; of several directories, the sum of each one's
 * elapsed time is taken instead.  0, or ERR_NOMEM. */
int efficiency_compute(const struct profile *profile, uint64_t elapsed_ns, struct efficiency *efficiency);

const char *efficiency_name(enum efficiency_metric metric);
const char *efficiency_part_name(enum efficiency_part part);

#endif
