/* What each thread did when: intervals of time, from traces.
 *
 * Context: BATCH.  The timeline's pipeline opens it (timeline_pipelines.c); reports go through the intervals.  A lane
 * is a thread.  Its intervals tile its life, or the part of it that lies in the wanted range: they follow each other
 * without a hole, and what is not known is an interval of the category GAP.
 *
 * Times are in ns since the start of the run, which is that of its first process.
 */
#ifndef HPCPROF_LITE_MODEL_TIMELINE_H
#define HPCPROF_LITE_MODEL_TIMELINE_H

#include "hpcprof-lite/model/model.h"

#include <assert.h>

enum timeline_category {
  TIMELINE_WORK,
  TIMELINE_OVERHEAD,
  TIMELINE_LOCK_WAIT,
  TIMELINE_IDLE,
  TIMELINE_MPI,       /* it was in a call of MPI */
  TIMELINE_DEVICE,    /* it waited for a device, in a target construct */
  TIMELINE_BLOCKED,   /* it slept in a system call */
  TIMELINE_CORE_WAIT, /* it was ready to run, and another thread had the processor */
  TIMELINE_NO_CORE,   /* it waited for another thread that was ready to run and had no processor */
  TIMELINE_TOOL,      /* it ran code of the profiler */
  TIMELINE_GAP,       /* nothing was recorded: paused, or over the limit of the trace */
  TIMELINE_CATEGORIES
};

/* What reports show together. */
enum timeline_grouping { TIMELINE_THREADS, TIMELINE_PROCESSES, TIMELINE_NODES };

struct timeline_lane {
  uint32_t process, thread;  /* positions in the profile */
  uint64_t start_ns, end_ns; /* the thread's life, as far as it lies in the range */
  bool critical_known;       /* of its process the critical path is known */
};

struct timeline_interval {
  uint64_t start_ns, end_ns; /* end > start */
  uint32_t lane;
  uint32_t category;     /* enum timeline_category */
  uint32_t construct;    /* entry of the tree of constructs; 0: outside all; MODEL_NONE: not known */
  uint32_t context;      /* row of the top-down tree that samples found here; MODEL_NONE: none did */
  uint32_t wait_for;     /* of IDLE and LOCK_WAIT: the row to blame, see timeline/blame_at.h; MODEL_NONE: not known */
  uint32_t node, record; /* the thread's own numbers of context and construct; see timeline/lane.h */
  bool begins;           /* an execution of the construct, or a chunk of the loop, begins here */
  bool critical;         /* it is a part of the critical path */
};

/* What a lane did in a part of time: ns for each category, and of these on the critical path. */
struct timeline_cell {
  uint64_t ns[TIMELINE_CATEGORIES], critical_ns;
  uint32_t context, construct; /* those with the most time; MODEL_NONE: not known */
};

typedef int timeline_visit(void *context, const struct timeline_interval *interval);

/* What was counted: a value of a counter of the program, at a time; or so many of an event of -c, in an interval. */
struct timeline_count {
  uint64_t start_ns, end_ns; /* of a counter of the program, both are its time */
  uint64_t value;
  const char *name;
  bool event;
  uint32_t counter; /* number of the name among those of the run: below TIMELINE_COUNTERS_MAX */
};

enum { TIMELINE_COUNTERS_MAX = 64 };

/* An operation for a device, as that has recorded it. */
struct timeline_operation {
  uint64_t start_ns, end_ns;
  uint32_t process, construct; /* position; entry of the tree of constructs */
};

typedef int timeline_visit_operation(void *context, const struct timeline_operation *operation);

typedef int timeline_visit_count(void *context, const struct timeline_count *count);

struct timeline {
  struct timeline_lane *lanes; /* in the order of processes and threads */
  uint32_t lanes_count;
  uint32_t mpi_threads;    /* threads of MPI's own that have run something; they have no lanes, */
  uint64_t mpi_threads_ns; /* and how long */
  bool traced;             /* there is a trace, also if the range has no lanes */
  bool samples_only;       /* of some process, only samples were recorded */
  bool devices_recorded;   /* there may be operations() */
  uint64_t period_ns;      /* between samples, at most; 0: they do not measure time */
  uint64_t origin_ns;      /* CLOCK_REALTIME at the start of the run */
  uint64_t from_ns, to_ns; /* the range */
  /* Delivers the intervals of a lane, or with MODEL_NONE those of all lanes by their start.  May be called again.
   * Returns 0, an error, or what `visit` has returned, which ends it unless that is 0. */
  int (*each)(void *source, uint32_t lane, timeline_visit *visit, void *context);
  /* Divides the time from one moment to another one, at least a ns for each, into cells of about equal length.  Sets
   * cells[lane * count + i]. */
  void (*cells)(void *source, uint64_t from_ns, uint64_t to_ns, uint32_t count, struct timeline_cell *cells);
  /* Delivers what a lane counted in the range, by its end.  NULL: nothing.  Returns the same as each(). */
  int (*counts)(void *source, uint32_t lane, timeline_visit_count *visit, void *context);
  /* Delivers what devices have recorded of the range, in no order.  NULL: nothing.  Returns the same as each(). */
  int (*operations)(void *source, timeline_visit_operation *visit, void *context);
  void *source;
};

/* The lane behind those of the process that has the first of them there. */
static inline uint32_t timeline_process_end(const struct timeline *timeline, uint32_t first)
{
  assert(first < timeline->lanes_count);
  uint32_t end = first;
  while (end < timeline->lanes_count && timeline->lanes[end].process == timeline->lanes[first].process)
    end++;
  return end;
}

/* When a cell begins. */
static inline uint64_t timeline_cell_start(uint64_t from_ns, uint64_t to_ns, uint32_t count, uint32_t i)
{
  assert(from_ns <= to_ns && count && i <= count);
  uint64_t length_ns = to_ns - from_ns;
  return from_ns + length_ns / count * i + length_ns % count * i / count;
}

/* The cell that contains a moment from from_ns on; the last one if it is later. */
static inline uint32_t timeline_cell_at(uint64_t from_ns, uint64_t to_ns, uint32_t count, uint64_t moment_ns)
{
  assert(count && moment_ns >= from_ns);
  double share = to_ns > from_ns ? (double)(moment_ns - from_ns) / (double)(to_ns - from_ns) : 1;
  uint32_t i = share >= 1 ? count - 1 : (uint32_t)(share * count);
  while (i && timeline_cell_start(from_ns, to_ns, count, i) > moment_ns) /* where rounding went astray */
    i--;
  while (i + 1 < count && timeline_cell_start(from_ns, to_ns, count, i + 1) <= moment_ns)
    i++;
  return i;
}

/* Returns "work", "overhead", "lock_wait", ...: the names in CSV. */
static inline const char *timeline_category_name(enum timeline_category category)
{
  assert(category < TIMELINE_CATEGORIES);
  static const char *const names[TIMELINE_CATEGORIES] = {
      [TIMELINE_WORK] = "work",
      [TIMELINE_OVERHEAD] = "overhead",
      [TIMELINE_LOCK_WAIT] = "lock_wait",
      [TIMELINE_IDLE] = "idle",
      [TIMELINE_MPI] = "mpi",
      [TIMELINE_DEVICE] = "device",
      [TIMELINE_BLOCKED] = "blocked",
      [TIMELINE_CORE_WAIT] = "core_wait",
      [TIMELINE_NO_CORE] = "waiting_no_core",
      [TIMELINE_TOOL] = "tool",
      [TIMELINE_GAP] = "gap",
  };
  return names[category];
}

#endif
