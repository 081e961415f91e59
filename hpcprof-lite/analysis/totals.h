/* Totals over all processes and threads of the run.
 *
 * Context: BATCH.  Pure: the profile is only read.  The totals own their strings.
 */
#ifndef HPCPROF_LITE_ANALYSIS_TOTALS_H
#define HPCPROF_LITE_ANALYSIS_TOTALS_H

#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/tree.h"

struct totals {
  char *command; /* the commands of all processes, "a; b; c and 5 more" */
  char *hosts;   /* their hosts, "a, b, c and 5 more" */
  uint32_t processes, threads, threads_max;
  uint32_t unfinished, running, copied; /* processes that were killed; still run; ran when a snapshot was taken */
  uint64_t elapsed_ns, cpu_ns, regions;
  uint64_t measured_ns; /* elapsed, without the pauses; of several processes without their mean share of pauses */
  uint64_t samples;
  uint64_t work_ns; /* without the time of blocking calls, which contexts contain if time was sampled as it elapses */
  uint64_t overhead_ns, lockwait_ns, idle_ns, lockwait_sampled_ns;
  uint64_t lost[LOSS_MAX];
  uint64_t caused_lock_ns, caused_idle_ns; /* charged to contexts */
  uint64_t baseline_ns;                    /* of processes with OpenMP: sum of measured time x baseline */
  uint32_t openmp_processes;
  uint32_t baseline;          /* threads or cores of each such process, 0 if they differ */
  uint64_t lived_ns;          /* of all threads: life time */
  uint64_t openmp_wall_ns;    /* of OpenMP threads: life time */
  uint64_t others_ns;         /* of all other threads: life time without pauses */
  uint64_t beyond_ns;         /* of OpenMP threads: by how much they lived longer than as many as were in use at most */
  uint64_t mpi_ns, mpi_calls; /* in calls of MPI, exact */
  uint64_t device_ns;         /* waiting for devices, exact */
  uint64_t tool_ns, core_wait_ns, blocked_ns; /* in this tool; ready to run without a processor; blocked in calls */
  uint64_t pool_idle_ns;          /* of idle_ns: in processes without OpenMP, where threads of pools are idle */
  uint64_t spun_ns;               /* idle threads spun while others were ready without a processor, sampled */
  uint64_t outside_ns;            /* elapsed, sampled: no region was open */
  uint64_t beside_ns;             /* of that: several threads ran, at least one of them outside OpenMP */
  uint32_t delay_estimated;       /* threads for whose waits the time without a processor is an estimate that matters */
  uint64_t no_core_ns;            /* waiting for a thread without a processor */
  uint64_t delay_ns, runnable_ns; /* all waiting for a core, also within other waits; that and CPU time */
  uint64_t with_cores_ns; /* how long the run would have taken, had each thread always had a processor; 0: not known */
  uint64_t steal_ns, machine_ns;       /* steal time of the machines' CPUs, and all their time */
  uint64_t quota_ns, in_quota_ns;      /* of processes whose quota is less than their cores: the CPU time that
                                          it allows them, and what they have used */
  bool usage;                          /* of the next ones: they are known of some processes */
  uint64_t user_cpu_ns, system_cpu_ns; /* CPU time outside the kernel and in it, as the kernel estimates it */
  uint64_t system_ticks;               /* of the kernel's clock that found a thread in the kernel, about */
  uint64_t system_error_ns;            /* standard error of system_cpu_ns */
  uint64_t page_faults, switches;      /* the kernel's counts */
  uint64_t created, creating_ns;       /* threads that were created, and how long that took */
  uint64_t events, events_ns;          /* of OpenMP; estimate of what they have cost the threads */
  bool unsampled;                      /* no samples were taken: level = summary */
  bool paused;                         /* measuring of a process was paused all the time */
  bool by_wall;                        /* samples were taken by elapsed time, not by CPU time */
};

/* Computes the totals.  baseline: that of the idleness. */
void totals_compute(const struct profile *profile, const struct tree_columns *columns, enum profile_baseline baseline,
                    struct totals *totals);

/* The part of the time in which threads wanted to run, and had no core; and the part that the host of a virtual machine
 * took. */
double totals_without_core(const struct totals *totals);
double totals_stolen(const struct totals *totals);

/* What makes the measurement unreliable: times of waiting say little about the program.  The same two parts, each 0
 * unless it is more than TOTALS_UNRELIABLE.  The time without a core must also be at least a hundredth of all that all
 * threads lived, since threads that hardly run still need a moment to wake up. */
#define TOTALS_UNRELIABLE 0.05
struct totals_missing_cores {
  double without_core, stolen;
};
struct totals_missing_cores totals_missing_cores(const struct totals *totals);

static inline bool totals_miss_cores(const struct totals *totals)
{
  struct totals_missing_cores missing = totals_missing_cores(totals);
  return missing.without_core > 0 || missing.stolen > 0;
}

void totals_release(struct totals *totals);

#endif
