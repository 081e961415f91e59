/* The first pass over a graph log: the sink of a replay that writes the tape.
 *
 * Context: BATCH.  The replay (replay/replay.h) computes the clocks, and tells the recorder how they depend on each
 * other; the recorder keeps, beside the tasks and regions of the graph, their grains and what synchronisations join.
 * What contradicts the graph is left out, and counted by the replay.  The structure owns its memory.
 */
#ifndef HPCPROF_LITE_GRAINS_RECORDER_H
#define HPCPROF_LITE_GRAINS_RECORDER_H

#include "hpcprof-lite/grains/live_grains.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/replay/replay.h"

/* Creations in each other, as those of undeferred tasks are, of which the log may still tell how long they took. */
enum { RECORDER_CREATIONS = 64 };

/* One thread's stream of records. */
struct recorder_stream {
  struct recorder_creation {
    uint64_t number; /* of the task among those of the thread */
    uint32_t grain;  /* with a reference */
  } creations[RECORDER_CREATIONS];
  uint32_t creations_count;
  uint64_t initials;   /* initial tasks that it has begun */
  uint64_t last_ticks; /* the end of its last record */
};

/* Grains in a taskgroup. */
struct recorder_group {
  uint32_t owner;
  bool joined;                  /* the group's end has been announced */
  struct live_sum direct, deep; /* ended children of the owner; other descendants */
};

struct recorder {
  const struct profile_process *process;
  const struct task_graph *graph; /* the replay's, whose tasks and regions name their grains and teams */
  struct live_grains grains;
  struct recorder_stream *streams;
  uint32_t streams_count;
  struct recorder_group *groups; /* [group of the graph] */
  size_t groups_room;
};

/* Prepares for streams of a process. */
void recorder_init(struct recorder *recorder, const struct profile_process *process, uint32_t streams,
                   struct problems *problems);
void recorder_release(struct recorder *recorder);

/* The functions of a sink (replay/graph_reader.h), whose context is the recorder. */
void recorder_clock_changed(void *recorder, enum vector_clock_change change, uint32_t clock, uint32_t other);
void recorder_begin(void *recorder, const struct task_graph *graph);
void recorder_before(void *recorder, const struct graph_event *event);
void recorder_after(void *recorder, const struct graph_event *event);
int recorder_end(void *recorder); /* ends everything, and the tape */

#endif
