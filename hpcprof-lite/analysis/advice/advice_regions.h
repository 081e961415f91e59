/* What is known of each outermost parallel region: how long its threads worked and waited, and where.
 *
 * Context: BATCH.  Pure: sums up the times of constructs (model/construct_tree.h) and the samples of the top-down tree.
 * This tool's own time is divided among the regions in proportion to the number of constructs that were executed.
 */
#ifndef HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_REGIONS_H
#define HPCPROF_LITE_ANALYSIS_ADVICE_ADVICE_REGIONS_H

#include "hpcprof-lite/analysis/advice/advice_findings.h"
#include "hpcprof-lite/analysis/core_findings.h"
#include "hpcprof-lite/analysis/kernel_findings.h"
#include "hpcprof-lite/analysis/region_threads.h"
#include "hpcprof-lite/model/construct_tree.h"
#include "hpcprof-lite/model/timeline.h"
#include "hpcprof-lite/model/tree.h"

enum { ADVICE_FEW_SAMPLES = 20, ADVICE_MUCH = 10 }; /* a part of the time is much from 1 / ADVICE_MUCH on */

static inline double advice_seconds(uint64_t ns)
{
  return (double)ns * 1e-9;
}

/* A lock of POSIX or C11 for which threads waited. */
struct advice_lock {
  const char *kind, *name;     /* name: of the variable; "" if not known */
  const char *function, *file; /* where it is released while others wait for it; "" if not known */
  uint32_t line;
  double wait_s, lost_s; /* of all threads; without the time in which they had no core */
  double held;           /* the part of the waiting with a known release that ended with releases there */
  double held_s;         /* how long at least threads held it, one after the other; 0: not known */
  uint64_t waits;
};

/* Threads of pools in programs without OpenMP, which waited for work. */
struct advice_pool {
  double idle_s;               /* of all threads */
  double ran_s;                /* elapsed time in which any thread ran, sampled */
  const char *kind, *name;     /* the object at which they waited longest; NULL: not known; name: "" if not known */
  const char *function, *file; /* where they wait for it; "" if not known */
  uint32_t line;
};

/* A function in which atomic instructions were sampled often, in a region. */
struct advice_atomics {
  const char *name, *file;  /* where most of these samples are */
  uint32_t line, row;       /* row of the tree */
  uint64_t samples, atomic; /* of the function there; of these, at atomic instructions or just after one */
  double atomic_s;          /* which the latter represent */
};

/* Calls of a function of MPI in one line, by all ranks. */
struct advice_call {
  const char *function, *caller, *file; /* caller, file: "" if not known */
  uint32_t line, row;                   /* row of the tree, MODEL_NONE if not known */
  double s;
  uint64_t calls;
  double mean_bytes;
  bool bytes_known, sends, begins_or_ends; /* sends: single messages; begins_or_ends: MPI itself */
};

/* How long ranks are outside MPI, as their threads' mean: without this tool, and the time without a core. */
struct advice_mpi {
  uint32_t ranks;                              /* 0: calls were not recorded, or it is one rank */
  uint32_t longest, longest_process, shortest; /* the ranks outside MPI longest and shortest; process: its number */
  uint32_t longest_threads;
  double longest_s, mean_s, shortest_s;
  double shortest_mpi_s;  /* the initial thread of the latter is in calls outside regions that neither begin nor
                             end MPI; */
  double longest_mpi_s;   /* that of the former; */
  uint64_t longest_calls; /* how many these are */
  uint32_t longest_call;  /* that with most of that time, in `calls`; MODEL_NONE if there is none */
  const struct advice_call *calls; /* those with most time first */
  uint32_t calls_count;
};

/* What advice is based on.  It refers to what belongs to the caller. */
struct advice_input {
  const struct profile *profile;
  const struct tree *tree; /* top-down, finished */
  const struct tree_columns *columns;
  const struct construct_tree *constructs;
  double elapsed_s; /* of all runs, one after the other */
  uint64_t samples;
  double without_core, stolen;      /* see totals_missing_cores() */
  uint64_t ns[TIMELINE_CATEGORIES]; /* of all threads */
  uint64_t all_ns;                  /* their sum */
  uint64_t rest_ns;                 /* what they lack of threads x elapsed time, and of others' lives */
  bool unsampled;                   /* no samples were taken */
  bool by_wall;                     /* samples were taken by elapsed time */
  uint32_t threads;                 /* the most that a process had in use at once */
  double serial_s, inflation_s;     /* gains of the efficiencies; inflation_s: 0 if not known */
  double beside_s;                  /* of serial_s: at least two threads ran, and one of them outside OpenMP */
  double efficiency;                /* 0 to 1, below 0 if not known */
  struct advice_blocked {
    const char *function, *file; /* where it slept longest; "" or NULL if not known */
    uint32_t line;
    bool near;            /* it was near that place */
    double s, all_s;      /* there, and wherever that is known */
  } blocked, all_blocked; /* initial threads outside parallel regions; all threads */
  struct advice_mpi mpi;
  const struct advice_lock *locks;
  uint32_t locks_count;
  struct advice_pool pool;
  const struct core_findings *cores;
  const struct kernel_findings *kernel;
  const struct advice_atomics *atomics;
  uint32_t atomics_count;
  struct region_threads_list region_threads; /* the caller's */
  uint32_t all_threads;                      /* most that lived at once, of OpenMP or not; the sum over the processes */
};

/* A construct with an amount of time. */
struct advice_amount {
  const struct construct_entry *at; /* that with the largest of the amounts in s */
  double s, largest_s;
};

/* An outermost parallel region, with everything in it.  Times are of all threads of all processes together. */
struct advice_region {
  const struct construct_entry *at;
  uint32_t first;   /* its first entry in the tree; others: struct advice_run */
  double processes; /* that executed it; if some had several threads, only these */
  double threads;   /* of a team: the mean over these processes */
  double executions, total_s, tool_s;
  double wall_s;                       /* elapsed time; with this tool's */
  double per_lost;                     /* elapsed time by second that the threads lose */
  double startup_s;                    /* beginning and ending the region */
  double management_s, imbalance_s;    /* as in construct_lost */
  double barrier_s;                    /* waiting at barriers that belong to no other construct */
  double limited_s;                    /* waiting for single blocks */
  struct advice_amount waits;          /* the construct, barrier or region end with most waiting */
  struct advice_amount meeting;        /* the same, without the region's end */
  double tasks_wait_s;                 /* at taskwait and taskgroup */
  double single_s;                     /* inside single, without waiting for tasks */
  struct advice_amount masked;         /* inside masked */
  double locks, lock_wait_s;           /* entries into critical, atomic and locks; waiting for them */
  double tasks, created, dependent;    /* executed; created; of these with dependences */
  struct advice_amount task;           /* executing tasks; the one with most time */
  struct advice_amount ordered, inner; /* waiting for its turn; nested regions of one thread */
  struct advice_amount loop;           /* the loop or sections with most time in its body */
  struct advice_amount open_loop;      /* of those at whose end no thread waits (nowait) */
  double sampled_work_s, sampled_overhead_s;
  double events;    /* executions of constructs */
  double explained; /* the part of its threads' waiting that other findings explain: 0 to 1 */
  double excess_s;  /* of elapsed time: by how much the thread that waits least works longer than the mean */
};

/* The examination of a run. */
struct advice_run {
  const struct advice_input *input;
  struct advice *advice;
  struct advice_region *regions;
  uint32_t count;
  uint32_t *next;           /* [entry of a region] the next entry of the same one, 0: none */
  double *waited_s;         /* [number of a construct] room for sums: 0 */
  double *by_process;       /* [process] room for advice_chain() */
  uint32_t *order, *before; /* processes by their end; [number in order] how many of them end before it begins */
  double *chain;            /* [number in order + 1] room */
  double lost_s;            /* of elapsed time: to this tool */
  double *taken;            /* [row of the tree] outside regions: the part of its work, 0 to 1, that findings other than
                               serial code explain */
  bool *mpi;                /* [row of the tree] outside regions: whether it is in a call of MPI */
  double claimed_s;         /* of elapsed time: threads that come and go explain it */
};

/* How many cores the second forecast is for, at least 1. */
static inline double advice_more_cores(const struct advice_run *run)
{
  return MAX(run->advice->more_cores, 1);
}

/* Fills in the regions. */
void advice_regions_find(struct advice_run *run);
void advice_regions_release(struct advice_run *run);

/* Returns by how much the run changes if each process changes by by_process[]: processes that run at the same time
 * change together, others one after the other.  It is the largest sum over processes of which no two overlap. */
double advice_chain(struct advice_run *run);

/* Return the gain without lost time of all threads together in the region, its elapsed time, and a time of its threads:
 * all without this tool's time. */
double advice_region_gain(const struct advice_region *region, double lost_s);
double advice_region_wall(const struct advice_region *region);
double advice_region_own(const struct advice_region *region, double s);

/* Returns the elapsed time for a second that one thread of each team works, summed over the processes: less than 1 if
 * these run at the same time. */
double advice_region_together(const struct advice_region *region);

#endif
