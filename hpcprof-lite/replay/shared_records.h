/* What the records of loops, joins and locks, which threads share, do to the task graph of a replay.
 *
 * Context: BATCH.  The rules are those of hpcrun-lite/rt/span/worksharing.h, and of doc/format.md, Replay.  The
 * structure owns the joins and locks; the joins' clocks belong to the graph.  What contradicts the graph or is beyond
 * its limits is left out and counted there, joins in `lost_joins`.
 */
#ifndef HPCPROF_LITE_REPLAY_SHARED_RECORDS_H
#define HPCPROF_LITE_REPLAY_SHARED_RECORDS_H

#include "common/graphlog.h"
#include "hpcprof-lite/replay/joins.h"
#include "hpcprof-lite/replay/locks.h"
#include "hpcprof-lite/replay/task_graph.h"

struct shared_records {
  struct joins joins;
  struct locks locks;
  uint32_t first_schedule, elements; /* of the clocks: in the elements from first_schedule on a task waits for locks */
  uint64_t lost_joins;
};

/* Prepares for a graph whose clocks are initialised.  Returns 0 or ERR_NOMEM; in either case shared_records_free() is
 * called before the graph is released. */
int shared_records_init(struct shared_records *shared, struct task_graph *graph, uint32_t first_schedule,
                        uint32_t elements);
void shared_records_free(struct shared_records *shared);

/* Returns whether anything was left out because memory ran out. */
bool shared_records_overflow(const struct shared_records *shared);

/* One function for each kind of record (common/graphlog.h) of a task. */
void shared_records_loop(struct task_graph *graph, struct task_graph_task *task, const struct graphlog_record *record);
void shared_records_loop_end(struct task_graph *graph, struct task_graph_task *task);
void shared_records_chunk(struct task_graph *graph, struct task_graph_task *task);

/* OFFER and TAKE: dependences, ordered, doacross, threads that are created and joined. */
void shared_records_join(struct shared_records *shared, struct task_graph *graph, uint32_t task,
                         const struct graphlog_record *record);
void shared_records_acquire(struct shared_records *shared, struct task_graph *graph, struct task_graph_task *task,
                            const struct graphlog_record *record);
void shared_records_release(struct shared_records *shared, struct task_graph *graph, struct task_graph_task *task,
                            const struct graphlog_record *record);

#endif
