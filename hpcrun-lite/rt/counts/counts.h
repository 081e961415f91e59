/* Counters of -c: events that a thread has counted, for each construct and calling context.
 *
 * Context: RT, in callbacks and the handler of the thread itself, inside rt_enter() or with `inside` raised; functions
 * marked CTL are called by CTL.  A thread reads its counters where construct_pass() adds its time to a record, and
 * gives the difference since the last read to the same record.  Records of FORMAT_COUNTS have the indices of the
 * thread's constructs.  In a sample, the difference since the last sample goes to the sampled context; if
 * the thread waits, and at its end, to that of the open construct.
 *
 * All counters of perf_event are one group, which one system call reads; others come from getrusage().  Reading may
 * take READ_SHARE of the thread's time.  Where constructs are too short for that, a random part of the boundaries is
 * left out.  A count is exact where a construct's time began and ended at boundaries that were read.  What was counted
 * in a stretch of time with boundaries left out is kept apart: hpcprof-lite divides it by the rates that were measured
 * in the same constructs.  So the counts of a thread's records always add up to what the thread has counted.
 *
 * Counts between two reads are divided by time where measuring was paused in between, and are not exact then.
 *
 * What the tool's own code counts is left out where that may be many events: in samples, where it unwinds a stack, and
 * when it gets memory.  The program may close a descriptor of the tool: then the group is opened again, and the
 * loss is counted. */
#ifndef HPCRUN_LITE_RT_COUNTS_COUNTS_H
#define HPCRUN_LITE_RT_COUNTS_COUNTS_H

#include "common/counters.h"
#include "hpcrun-lite/rt/core/rt.h"

/* The thread's counters of -c, written by the thread itself; construct/trace_counts.c keeps what
 * the trace has of them. */
struct counts_state {
  bool attend; /* construct_pass() has more to do: counters are read, or the trace has states (construct/trace.c) */
  bool on;
  bool exact;     /* since `passed`, all boundaries were read and measuring was not paused */
  bool saving;    /* boundaries are left out */
  bool was_read;  /* the counters were read at the last boundary */
  bool fragments; /* counts of fragments are logged */
  bool counted;   /* of the fragment: its start was read */
  bool ended;     /* `totals` are those of the thread's end */
  unsigned grouped, reopened, own_depth, skip;
  struct sys_own own[COUNTERS_MAX];                       /* by counter; fd -1: not in the group */
  const struct perf_event_mmap_page *pages[COUNTERS_MAX]; /* of those whose register may be read, else NULL */
  uint64_t raw[COUNTERS_MAX];                             /* of the group, when last read */
  uint64_t enabled, running;                              /* likewise: ns */
  uint64_t totals[COUNTERS_MAX];                          /* counted by the thread, when last read */
  uint64_t passed[COUNTERS_MAX];                          /* of these, what is in records, or left out */
  uint64_t sampled[COUNTERS_MAX];                         /* likewise: in contexts */
  uint64_t traced[COUNTERS_MAX];                          /* likewise: in the trace */
  uint64_t held[COUNTERS_MAX];                            /* likewise: read, but not in the trace yet */
  uint64_t traced_at, held_at;      /* ticks: when they were known to be those; held_at 0: nothing is held */
  uint64_t written_at;              /* when counts were last written */
  uint64_t begun[COUNTERS_MAX];     /* totals when the fragment began, or a little before */
  uint64_t own_since[COUNTERS_MAX]; /* totals when the tool's own work began */
  uint64_t touched;                 /* page faults of the tool, when last read */
  uint64_t boundary, begun_at;      /* ticks: the last boundary; when the fragment began */
  uint64_t passed_at, sampled_at;   /* ticks: when the totals were `passed`; `sampled` */
  uint64_t price, saved, random;    /* ticks that a read costs, and that are saved for reads */
  struct table records;
};

/* What this layer keeps of the process.  CTL writes the plain fields before the first sample; all threads read them. */
extern struct counts_process {
  _Alignas(64) struct counter counters[COUNTERS_MAX];
  unsigned count;
  bool by_usage;      /* some come from getrusage() */
  atomic_bool scaled; /* the processor could not count all the time; any thread sets it, relaxed */
} counts_process __attribute__((visibility("hidden")));

/* What this layer keeps of a thread. */
struct counts_thread {
  struct thread_state below;
  struct counts_state counts;
};

static inline struct counts_state *counts_of(const struct thread_state *t)
{
  return &((struct counts_thread *)t)->counts;
}

/* CTL: opens the counters of the calling thread, which count from now on; fragments: those of its fragments are
 * logged. */
void counts_start(struct thread_state *t, bool fragments);

/* CTL: closes them. */
void counts_stop(struct thread_state *t);

/* CTL: lets go of the counters of a parent's thread, in the child. */
void counts_forget(struct thread_state *t);

/* CTL: sets up the table of a new thread.  Nothing is allocated yet. */
void counts_init(struct thread_state *t);
void counts_release(struct thread_state *t);

/* The thread's time since the last boundary, so many ticks, of which some were measured, goes to that record of its
 * constructs.  Returns whether its totals were brought up to date. */
bool counts_pass(struct thread_state *t, uint32_t record, uint64_t measured, uint64_t elapsed);

/* What was counted between two moments, without its share in the pauses of measuring, by time. */
uint64_t counts_measured(uint64_t counted, uint64_t since, uint64_t until);

/* A fragment (span/graph.h) begins at that moment, unless another one does before it ends; it ends.
 * counts_fragment_end() sets counted[counts_process.count], and returns false if a boundary of the fragment was
 * left out, or measuring was paused in it. */
void counts_fragment_begin(struct thread_state *t, uint64_t moment);
bool counts_fragment_end(struct thread_state *t, uint64_t moment, uint64_t *counted);

/* The thread ends, so many measured ticks after the last boundary: what it has counted since goes to that record. */
void counts_end(struct thread_state *t, uint32_t record, uint64_t measured);

/* CTL: sets totals[counts_process.count] to what a thread, which may be running, has counted.  Returns false if
 * what it has counted since the last read is not known: then the totals are those of that read. */
bool counts_open(const struct thread_state *t, uint64_t *totals);

/* CTL: adds the open interval to the fields of a record: so many measured ticks, and what counts_open() returns. */
void counts_add_open(const struct thread_state *t, uint64_t *fields, const uint64_t *totals, uint64_t measured);

/* Code of the tool that may count many events itself: they are left out.  Calls may nest. */
void counts_own_begin(struct thread_state *t);
void counts_own_end(struct thread_state *t);

/* The same as counts_own_begin(), in callbacks: returns false, and does nothing, where the thread has no time left for
 * reads.  Otherwise counts_own_end() must follow. */
bool counts_leave_out(struct thread_state *t);

/* Sets counted[counts_process.count] to what the thread has counted since the last call, with these totals now.
 */
void counts_sampled(struct thread_state *t, const uint64_t *totals, uint64_t *counted);

#endif
