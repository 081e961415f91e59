/* Totals over all processes and threads of the run.
 *
 * Context: BATCH.  Pure: the profile is only read.
 */
#ifndef HPCPROF_LITE_ANALYSIS_TOTALS_H
#define HPCPROF_LITE_ANALYSIS_TOTALS_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

/* Totals over all processes and threads. */
struct totals {
  char *command; /* of all processes, shortened where they are many */
  char *hosts;   /* "node1", or "3 hosts: node1, node2, node3"      */
  uint32_t processes, threads, threads_max;
  uint32_t unfinished, running; /* of the processes: were killed; have not ended yet */
  uint64_t elapsed_ns, cpu_ns, regions;
  uint64_t samples;
  uint64_t work_ns, overhead_ns, lockwait_ns, idle_ns, lockwait_sampled_ns;
  uint64_t lost[LOSS_MAX];
  uint64_t caused_lock_ns, caused_idle_ns; /* charged to contexts                                    */
  uint64_t baseline_ns;                    /* threads or cores of the OpenMP processes x elapsed time  */
  uint32_t openmp_processes, baseline;     /* their number; threads or cores of each, 0 if they differ */
  uint64_t openmp_wall_ns, blocked_ns;     /* of OpenMP threads: life time; in calls known to block    */
  uint64_t unseen_ns;                      /* of OpenMP threads: in no category and not known as blocked */
  bool by_wall;                            /* samples were driven by elapsed time, not by CPU time     */
};

/* Sums over all processes and threads; the baseline is what idleness was counted against.  0, or ERR_NOMEM;
 * totals_release() in any case. */
int totals_compute(const struct profile *profile, const struct tree_columns *columns, enum profile_baseline baseline,
                   struct totals *totals);
void totals_release(struct totals *totals);

/* What the root row is called: the commands that ran. */
char *totals_command(const struct profile *profile);

#endif
