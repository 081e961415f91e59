/* The data model between the stages of hpcprof-lite: what was measured, independent of how it is stored.
 *
 * Context: BATCH.  read.c and stitch.c fill it, merge.c owns it, tree.c and the reports only read it.  All strings and
 * arrays belong to the structure that names them.
 */
#ifndef HPCPROF_LITE_MODEL_PROFILE_H
#define HPCPROF_LITE_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX
#define PROFILE_FEW_SAMPLES 20 /* figures that rest on fewer are marked: relative error 1/sqrt(n) > 22 % */

/* Failures of BATCH functions; the reason stands in the caller's list of problems. */
enum err { ERR_INPUT = -1, ERR_NOMEM = -2, ERR_OUTPUT = -3 };

/* Kinds of raw contexts.  LINK and PLACEHOLDER occur in a file only: stitching replaces them by what they stand for. */
enum context_kind {
  CONTEXT_FREE,
  CONTEXT_ROOT,
  CONTEXT_FRAME,
  CONTEXT_PARALLEL,
  CONTEXT_TASK,
  CONTEXT_RUNTIME,
  CONTEXT_PARTIAL,
  CONTEXT_LINK,
  CONTEXT_PLACEHOLDER,
  CONTEXT_OUTSIDE,
  CONTEXT_USER_REGION, /* its name is the path of a module with MODULE_USER_REGION */
  CONTEXT_KINDS
};

/* What a column holds.  PER_BUSY and IN_USE occur in a file only: stitching makes IDLENESS of them. */
enum column_role {
  COLUMN_SAMPLES,
  COLUMN_WORK,
  COLUMN_OVERHEAD,
  COLUMN_EVENT,
  COLUMN_LOCKWAIT,
  COLUMN_PER_BUSY,
  COLUMN_IN_USE,
  COLUMN_STORED, /* roles of a file are below */
  COLUMN_IDLENESS = COLUMN_STORED,
  COLUMN_CRITICAL /* what a context contributes to the span of the run: made by span_merge.c */
};

/* What idleness is counted against: the most threads ever in use in the process, the cores that it may run on, or the
 * threads in use at each sample. */
enum profile_baseline { BASELINE_THREAD, BASELINE_CORE, BASELINE_SHARED };

/* What one column of the contexts' values means.  Equal name, unit and role make the same column in all processes. */
struct profile_column {
  char *name, *unit;
  uint32_t role;
  uint64_t period;
};

enum module_flag {
  MODULE_MAIN = 1,
  MODULE_TOOL = 2,
  MODULE_RUNTIME = 4,
  MODULE_SYSTEM = 8,
  MODULE_VDSO = 16,
  MODULE_ANON = 32,
  MODULE_USER_REGION = 1 << 16 /* no module: the name of a user region */
};

/* One loaded file, the same for all processes: path and build id are its identity. */
struct profile_module {
  char *path;
  const char *name; /* last part of path */
  uint8_t build_id[20];
  uint32_t build_id_size;
  uint32_t flags;
};

/* Losses in the order in which the measurement counts them. */
enum profile_loss {
  LOSS_MEMORY,
  LOSS_REFUSED,
  LOSS_UNKNOWN,
  LOSS_PARTIAL,
  LOSS_UNRESOLVED,
  LOSS_MODULES,
  LOSS_EVENTS,
  LOSS_THREADS,
  LOSS_WRITES,
  LOSS_BLAME,
  LOSS_STATES,
  LOSS_TASKS,
  LOSS_PATHS,
  LOSS_DIRECTIVES,
  LOSS_GRAPH,
  LOSS_WORK,
  LOSS_LOG,
  LOSS_UNKEPT,
  LOSS_RATE,
  LOSS_MAX = 24
};

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

/* A part of the span: an amount of a directive's work, in a merged context, PROFILE_NONE where none is known. */
struct profile_share {
  uint32_t owner; /* the process's number */
  uint32_t directive, context;
  uint32_t place; /* in the file: an order that does not depend on how files were dealt to threads */
  uint64_t amount;
};

/* The whole number nearest to an amount that a log or scenario makes: hostile ones may have any size. */
static inline uint64_t profile_rounded(double amount)
{
  if (amount >= 0x1p64)
    return UINT64_MAX;
  return amount > 0 ? (uint64_t)(amount + 0.5) : 0;
}

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
  struct profile_workspan graph;
};

#endif
