/* What schedules of a replay assume to be different from what was recorded.
 *
 * Context: BATCH.  A schedule is an element of the clocks.  Work that can be divided is placed on all cores
 * (list_schedule_run()).  A record by which a task waits for something that the assumption removes is processed as
 * usual, and the task's time in the schedule then set back to what it was.
 */
#ifndef HPCPROF_LITE_REPLAY_SCHEDULE_CHANGE_H
#define HPCPROF_LITE_REPLAY_SCHEDULE_CHANGE_H

#include "hpcprof-lite/replay/graph_reader.h"

enum { REPLAY_SCHEDULES = 12 };

/* What a schedule assumes, in constructs that it selects. */
enum schedule_change {
  SCHEDULE_AS_RECORDED,
  SCHEDULE_SPREAD,             /* what runs in them, without inner constructs, can be divided at will */
  SCHEDULE_SPREAD_SERIAL,      /* only what runs outside regions can be divided; directives is not used */
  SCHEDULE_WITHOUT_BARRIERS,   /* threads of these regions do not wait at barriers before the end */
  SCHEDULE_WITHOUT_DEPENDENCES /* tasks and iterations in these regions do not wait for others */
};

struct schedule_assumption {
  enum schedule_change change;
  const bool *directives; /* [directive] whether it is selected; not NULL for changes that select */
  bool own_chunks; /* each thread runs the chunks that it ran, one after another; else the next free thread takes one */
};

/* The times of a task in the schedules that ignore a record. */
struct schedule_change_kept {
  uint32_t task, schedules; /* schedules: bits */
  double time[REPLAY_SCHEDULES];
};

/* Returns whether what the task runs now can be divided. */
bool schedule_change_spreads(const struct task_graph *graph, const struct task_graph_task *task,
                             const struct schedule_assumption *assumption);

/* Keeps the times of the task that a record concerns, in those of `count` schedules that ignore it. */
void schedule_change_keep(const struct task_graph *graph, const struct graph_event *event,
                          const struct schedule_assumption *assumptions, uint32_t count,
                          struct schedule_change_kept *kept);

/* Sets the task's times to what was kept, after the record was processed. */
void schedule_change_restore(const struct task_graph *graph, const struct schedule_change_kept *kept);

#endif
