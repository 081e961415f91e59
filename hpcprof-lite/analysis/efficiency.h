/* Efficiencies of OpenMP: which fractions of the threads' time were not useful work, why, and how much time each cost.
 *
 * Context: BATCH.  Pure: the profile is only read, the caller owns the result.  Source: the metrics of the POP centre
 * of excellence for OpenMP, in their additive form.  Each lost part is a fraction of the time of all threads, so that
 * parallel efficiency = 1 - sum of the lost parts.  A lost part times the elapsed time is the most by which the run
 * would be shorter without it.
 *
 * For a process with T = most threads in use at once, R = elapsed time, G = time in parallel regions (at most R), and
 * idle = exact idle time of its OpenMP threads + (T R - sum of their life times), because a thread that does not exist
 * is idle:
 *
 *     serialisation    = min(idle, (R - G) (T - 1)) / (T R)     threads idle while another runs serial code
 *     load balance     = idle / (T R) - serialisation           threads idle in parallel regions
 *     lock waiting     = exact lock wait / (T R)
 *     runtime overhead = overhead / (T R)                       the only one from samples
 *
 * For several processes, numerators and denominators are added.  Departures from POP: lock waiting is a part of its
 * own; time in which threads were blocked in the kernel or waited for a core is not lost time, because its purpose is
 * not known. Processes without OpenMP, and those in which the end of no region was seen, are left out.
 *
 * Where a process made calls of MPI, its T threads lose T m to MPI, with m = the time of its initial thread in calls
 * outside parallel regions + the time of all threads in calls inside regions / T.  That, and the idleness of the other
 * threads during the former, counts for none of the above: T R becomes T R - T m.
 *
 * Of several ranks, the efficiencies of the job multiply, as those of POP's hybrid model.  With c = R - m of a rank,
 * without this tool's time, D = the longest R of a rank, and means over all threads:
 *
 *     mpi_load_balance        = mean c / largest c
 *     mpi_communication       = largest c / D
 *     mpi_parallel_efficiency = mean c / D                      the product of both
 *     openmp_efficiency       = useful time / sum of T c        parallel efficiency as above
 *     global_efficiency       = useful time / sum of T D        the product of the last two
 *
 * How communication divides into serialisation and transfer is only known from a log of messages.  All time of a rank
 * without OpenMP outside MPI is useful.  Calls of threads that OpenMP does not know hold up no other thread: they count
 * for nothing here.
 *
 * The time of all threads is also split, with work and overhead as sampled on the OpenMP threads:
 *
 *     T R = work at one thread + work inflation + runtime overhead + idleness
 *     work inflation = work - work at one thread
 *     idleness       = T R - work - overhead, which includes waiting for locks and blocking
 *
 * T R is at least work + overhead.  Work at one thread comes from a reference run: a separate directory of the same
 * command, whose processes never had more than one OpenMP thread.  Reference runs count for nothing else.
 */
#ifndef HPCPROF_LITE_ANALYSIS_EFFICIENCY_H
#define HPCPROF_LITE_ANALYSIS_EFFICIENCY_H

#include "hpcprof-lite/model/profile.h"

enum efficiency_metric {
  EFFICIENCY_PARALLEL, /* 1 - all lost parts */
  EFFICIENCY_BALANCE,
  EFFICIENCY_SERIAL,
  EFFICIENCY_LOCK,
  EFFICIENCY_RUNTIME,
  EFFICIENCY_COUNT
};

/* The efficiencies of a job of several ranks. */
enum efficiency_job_metric {
  JOB_GLOBAL,
  JOB_MPI,
  JOB_MPI_BALANCE,
  JOB_MPI_COMMUNICATION,
  JOB_MPI_SERIALISATION,
  JOB_MPI_TRANSFER,
  JOB_OPENMP,
  JOB_METRICS
};

/* What a rank did with its time, and its own efficiencies.  Seconds are of its threads' mean. */
struct efficiency_rank {
  bool known;
  double elapsed_s, computing_s, mpi_s; /* without this tool's time; not in MPI, and in it */
  double mpi, openmp, global;           /* openmp: NAN without OpenMP */
};

struct efficiency_job {
  bool known;                                     /* several ranks of one run made calls of MPI */
  uint32_t ranks, world;                          /* that were measured; that the job had, 0: not known */
  double elapsed_s;                               /* D */
  double value[JOB_METRICS], gain_s[JOB_METRICS]; /* NAN: not known */
  struct efficiency_rank *of_process;             /* [process] */
};

enum efficiency_part {
  EFFICIENCY_WHOLE, /* T R */
  EFFICIENCY_WORK,
  EFFICIENCY_WORK_ONE,  /* work at one thread */
  EFFICIENCY_INFLATION, /* below 0 if more threads do less work */
  EFFICIENCY_OVERHEAD,
  EFFICIENCY_IDLENESS,
  EFFICIENCY_LOCKWAIT, /* part of idleness: exact lock wait */
  EFFICIENCY_PARTS
};

struct efficiency_split {
  bool known;           /* false: no work was sampled; all figures are 0 */
  bool compared;        /* work at one thread is known */
  uint32_t runs, alone; /* number of directories that count, and of reference runs */
  uint32_t added;       /* of directories that are not references, also those that do not count */
  double part_s[EFFICIENCY_PARTS], gain_s[EFFICIENCY_PARTS];
  const char *note; /* why work at one thread is not known, or "" */
};

struct efficiency {
  bool known;                     /* false: no process has the times; all figures are 0 */
  uint32_t processes;             /* number of processes that count */
  uint32_t threads;               /* T of each process, 0 if they differ */
  double elapsed_s;               /* of all directories, one after the other; known in any case */
  double thread_s;                /* sum of T R */
  double value[EFFICIENCY_COUNT]; /* 1 - lost part, 0 to 1 */
  double with_cores; /* parallel efficiency in the time in which the threads had cores or did not want any */
  double gain_s[EFFICIENCY_COUNT]; /* most by which the elapsed time would be shorter */
  struct efficiency_split split;
  struct efficiency_job job;
};

/* Computes everything.  elapsed_ns: from the first process's start to the last one's end, without pauses; for several
 * directories, the sum of their elapsed times is used instead.  The result must be released. */
void efficiency_compute(const struct profile *profile, uint64_t elapsed_ns, struct efficiency *efficiency);

/* Divides what communication costs the job into waiting in turn and transport.  ideal_s: how long the job would take if
 * messages took no time; computed_s: the longest time that a rank is outside MPI.  Nothing happens without a job, or
 * where that contradicts the job's efficiencies, since threads had no core in calls of MPI. */
void efficiency_divide_communication(struct efficiency_job *job, double ideal_s, double computed_s);

void efficiency_release(struct efficiency *efficiency);

/* Return the static names under which reports show a metric, a metric of the job and a part of the split. */
const char *efficiency_name(enum efficiency_metric metric);
const char *efficiency_job_name(enum efficiency_job_metric metric);
const char *efficiency_part_name(enum efficiency_part part);

#endif
