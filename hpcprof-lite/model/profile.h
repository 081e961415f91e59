/* The data model of hpcprof-lite: what was measured, independent of how it is stored.
 *
 * Context: BATCH.  input/ fills it, ranks/ sends it between ranks, all later stages only read it.  All strings and
 * arrays belong to the structure that names them; profile_release() frees everything.
 */
#ifndef HPCPROF_LITE_MODEL_PROFILE_H
#define HPCPROF_LITE_MODEL_PROFILE_H

#include "hpcprof-lite/model/catalog.h"
#include "hpcprof-lite/model/contexts.h"
#include "hpcprof-lite/model/loss_names.h"
#include "hpcprof-lite/model/problems.h"

/* What idleness is counted against: the most threads ever in use in the process, the cores that it may run on, or the
 * threads in use at each sample. */
enum profile_baseline { BASELINE_THREAD, BASELINE_CORE, BASELINE_SHARED };

enum thread_flag { THREAD_OPENMP = 1 };

struct profile_thread {
  uint32_t index, tid, flags;
  uint64_t start_ns, end_ns;
  uint64_t samples, samples_idle, samples_lockwait;
  uint64_t lockwait_sampled_ns;
  uint64_t idle_ns, lockwait_ns;
  uint64_t tool_ns, cpu_ns, wall_ns;
  uint64_t blocked_ns, region_ns, regions;
  uint64_t work_ns, overhead_ns;           /* sums over the thread's contexts                          */
  uint64_t caused_lock_ns, caused_idle_ns; /* the same: waiting and idleness of others, charged to it */
  uint64_t lost[LOSS_MAX];
  uint64_t work; /* in the unit of the process's graph */
};

enum directive_kind {
  DIRECTIVE_PROGRAM,
  DIRECTIVE_PARALLEL,
  DIRECTIVE_FOR,
  DIRECTIVE_SECTIONS,
  DIRECTIVE_SINGLE,
  DIRECTIVE_MASKED,
  DIRECTIVE_TASK,
  DIRECTIVE_TASKLOOP,
  DIRECTIVE_TASKGROUP,
  DIRECTIVE_TASKWAIT,
  DIRECTIVE_BARRIER,
  DIRECTIVE_CRITICAL,
  DIRECTIVE_LOCK,
  DIRECTIVE_ORDERED,
  DIRECTIVE_TEAMS,
  DIRECTIVE_USER_REGION,
  DIRECTIVE_KINDS
};

/* A construct at a code address, its outermost instances summed up.  The same in all processes by kind, module, offset
 * and name.  Number 0 is the program: its figures stand in the graph. */
struct profile_directive {
  uint32_t kind;   /* enum directive_kind */
  uint32_t module; /* the catalog's, PROFILE_NONE if not known */
  uint64_t offset; /* in the module: in the call that enters the runtime */
  char *name;      /* of a user region, else "" */
  uint32_t flags;
  uint64_t instances, work, span, iterations, lock_bound;
};

/* Callbacks that the runtime does not have, as bits. */
enum workspan_unseen {
  UNSEEN_WAITS = 1,
  UNSEEN_WORK = 2,
  UNSEEN_CHUNKS = 4,
  UNSEEN_MASKED = 8,
  UNSEEN_DEPENDENCES = 16
};

/* Work and span.  Of a process: as measured; of the run: see span_merge.h. */
struct profile_workspan {
  bool known;
  char *unit;   /* "s": amounts are in ns; or the counted unit */
  bool is_time; /* the unit is "s"                             */
  uint64_t work, span, burdened;
  double tick_ns;                           /* of the log of the graph */
  uint64_t cost_fork, cost_task, cost_join; /* ns: what the burdened span adds */
  uint32_t unseen;                          /* enum workspan_unseen */
  struct profile_directive *directives;     /* 0: the program     */
  uint32_t directives_count;
};

enum process_flag {
  PROCESS_OMPT = 1,
  PROCESS_EXCHANGED = 2,
  PROCESS_TIMERS = 4,
  PROCESS_FIRST = 8,
  PROCESS_FORKED = 16,
  PROCESS_ONLINE = 32
};

/* One process = one file.  `usable` is false where nothing could be read. */
struct profile_process {
  char *path;
  bool usable;
  bool unfinished; /* it was killed, or runs: what is known of it goes up to its last sample */
  bool running;    /* unfinished, and on this machine it still runs */
  bool superseded; /* a live file is left beside it: it was killed once it was whole */
  uint32_t pid, parent_pid, flags, cpus, threads_max, threads_registered;
  int32_t rank;
  uint64_t start_ns, wall_ns, cpu_ns, regions;
  char *host, *command, *runtime, *notes;
  uint64_t lost[LOSS_MAX];
  struct profile_thread *threads;
  uint32_t threads_count;
  uint32_t number; /* of the file, before processes are put in order */
  struct profile_workspan workspan;
};

/* All measurement files of some directories, merged. */
struct profile {
  struct catalog catalog;
  struct contexts contexts;
  struct profile_process *processes; /* in the order of start, pid, path; unusable ones last */
  struct problems *problems;         /* of each process */
  uint32_t processes_count, processes_usable;
  struct profile_workspan workspan; /* of the run, see span_merge.h; its parts of the span are contexts.shares */
  uint32_t span_process;            /* whose span it is */
  uint32_t *span_rows;              /* [its directive] the run's */
  uint32_t span_processes;          /* that have one, in the same unit */
  uint32_t span_threads;            /* most OpenMP threads of these at once, all together */
  uint64_t span_elapsed_ns;
};

void profile_release(struct profile *profile);
void profile_release_workspan(struct profile_workspan *workspan);

/* "parallel", "for", … */
const char *profile_directive_name(enum directive_kind kind);

#endif
