/* Reads the records of a graph log: finds the objects that they name, changes the task graph, and passes them to a
 * sink.
 *
 * Context: BATCH.  The rules are those of hpcrun-lite/rt/span (span.h, explicit_task.h, worksharing.h), and of
 * doc/format.md, Replay.  Tasks are named by their numbers in the graph, 0 = none: a record of a task that is not known
 * changes nothing.  What contradicts the graph or is beyond its limits is left out and counted there.
 */
#ifndef HPCPROF_LITE_REPLAY_GRAPH_READER_H
#define HPCPROF_LITE_REPLAY_GRAPH_READER_H

#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/replay/task_graph.h"

/* A record, with what it concerns. */
struct graph_event {
  const struct log_reader_record *next;
  enum graphlog_op op;
  const uint64_t *operand;          /* of the record */
  struct task_graph_stream *stream; /* to which the record belongs */
  uint32_t running;                 /* the task that the stream runs before the record */
  uint32_t task;                    /* the task that the record names, otherwise `running` */
  uint32_t created;                 /* the task, region or taskgroup that it has created */
  uint32_t closed_loop;             /* field `team` of the loop of the region that it has closed */
  bool counts;                      /* set by fragments: it does not contradict the graph, */
  bool device;                      /* it is no work, but a wait for a device, */
  uint64_t work;                    /* its work, */
  double start;                     /* and the time of its task before it, as measured */
};

/* Receives the records, before and after they change the graph, and the changes of its clocks.
 * `before` and `after` may be NULL; all functions get clocks.context. */
struct graph_sink {
  struct vector_clock_observer clocks;
  void (*begin)(void *context, const struct task_graph *graph); /* before the first record */
  void (*before)(void *context, const struct graph_event *event);
  void (*after)(void *context, const struct graph_event *event);
  int (*end)(void *context); /* after the last one, while the graph exists; 0 or ERR_INPUT */
};

/* Finds what a record concerns.  Its stream must be one of the graph's. */
static inline void graph_reader_find(const struct task_graph *graph, const struct log_reader_record *next,
                                     struct graph_event *event)
{
  event->next = next;
  event->op = next->record.op;
  event->operand = next->record.operand;
  event->stream = &graph->streams[next->stream];
  event->running = event->task = event->stream->task;
  event->created = event->closed_loop = 0;
  event->counts = event->device = false;
  if (graphlog_names_task(event->op))
    event->task = task_graph_find(graph, event->operand[0], event->operand[1]);
}

/* Changes the graph by a record other than a fragment or a sample, which do not change its structure. */
void graph_reader_take(struct task_graph *graph, struct graph_event *event);

/* What a stream runs offers its clock to the join of a message or collective operation with that number, or takes it.
 */
void graph_reader_message(struct task_graph *graph, uint32_t stream, uint64_t number, bool offers);

/* Nothing takes that number any more. */
void graph_reader_message_ends(struct task_graph *graph, uint64_t number);

/* The log ends: raises the end of the program to all chains of a task, and of the tasks and regions around it, that
 * have not been awaited. */
void graph_reader_unawaited(struct task_graph *graph, uint32_t task);

/* The log ends: sets the bounds that locks set to the span, in the rows where they were acquired. */
void graph_reader_lock_bounds(struct task_graph *graph);

#endif
