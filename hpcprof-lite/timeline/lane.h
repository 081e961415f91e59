/* A lane: what one thread did when, from its trace.
 *
 * Context: BATCH.  Use: open the traces of a process, then lanes of its threads; several threads of this program may
 * read lanes of one process at the same time.  A lane delivers intervals in order, which tile the thread's life or the
 * part of it that lies in a range: states come from the callbacks and are exact; samples divide the states in which the
 * thread runs code of the program.  A sample stands for the time since the sample before.
 *
 * Numbers of constructs and contexts are those of the thread itself (FORMAT_CONSTRUCTS, FORMAT_NODES), so that they do
 * not depend on which files are read together; traced.c maps them.
 *
 * Memory: one extent of the trace, the tables of the thread's constructs, and the samples of the state that is read, of
 * which at most 4 million are kept.
 */
#ifndef HPCPROF_LITE_TIMELINE_LANE_H
#define HPCPROF_LITE_TIMELINE_LANE_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/thread_trace.h"
#include "hpcprof-lite/model/timeline.h"

struct lane_process {
  const struct profile_process *process;
  struct read_file *file;
  struct trace_reader trace;
  uint64_t offset_ns;   /* from the start of the run to that of the process */
  uint64_t period_ns;   /* of samples; 0: they do not measure time */
  bool with_constructs; /* states are constructs; otherwise wait sites */
};

/* run_start_ns: CLOCK_REALTIME at the start of the run.  lanes->trace.file.count is 0 if there is no trace.
 * Returns 0 or ERR_INPUT; lane_process_close() in any case. */
int lane_process_open(const struct profile_process *process, uint64_t run_start_ns, struct problems *problems,
                      struct lane_process *lanes);
void lane_process_close(struct lane_process *lanes);

/* Returns the time of a value of the counter, since the start of the run. */
uint64_t lane_ns(const struct lane_process *lanes, uint64_t ticks);

/* The inverse. */
uint64_t lane_ticks(const struct lane_process *lanes, uint64_t ns);

/* Sets *start_ns and *end_ns to the life of the thread at that position, since the start of the run. */
void lane_life(const struct lane_process *lanes, uint32_t position, uint64_t *start_ns, uint64_t *end_ns);

struct lane_interval {
  uint64_t start_ns, end_ns; /* since the start of the run; end > start */
  uint32_t category;         /* enum timeline_category */
  uint32_t record;           /* of the thread's constructs, or without those of its wait sites + 1; 0: outside all;
                                MODEL_NONE: not known */
  uint32_t node;             /* of the thread's calling contexts; 0: no sample fell into it */
  uint32_t holder;           /* LOCK_WAIT: index of the thread that held the lock; 0: not known */
  bool in_wait, divided; /* OVERHEAD: the runtime's own work in a wait; other that is so long that samples divide it */
  bool begins;           /* an execution of the construct, or a chunk, begins here */
};

struct lane;

/* Opens the lane of the thread at that position in the process, from one time to another one (since the start of the
 * run).  Returns NULL if the range contains nothing of its life.  Damage is reported in problems, which may be NULL. */
struct lane *lane_open(const struct lane_process *lanes, uint32_t position, uint64_t from_ns, uint64_t to_ns,
                       struct problems *problems);
void lane_close(struct lane *lane); /* NULL is allowed */

/* Fills in the next interval.  Returns false after the last one, and for NULL. */
bool lane_next(struct lane *lane, struct lane_interval *interval);

#endif
