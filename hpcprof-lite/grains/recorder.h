/* The first pass over a graph log: follows its records beside a replay, and writes the tape.
 *
 * Context: BATCH.  The replay (replay/replay.h) computes the clocks, and tells the recorder how they depend on each
 * other; the recorder follows which grain runs and what its synchronisations join.  What contradicts the graph is left
 * out, and counted by the replay.  The structure owns its memory.
 */
#ifndef HPCPROF_LITE_GRAINS_RECORDER_H
#define HPCPROF_LITE_GRAINS_RECORDER_H

#include "hpcprof-lite/grains/team_grains.h"
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
  uint64_t tasks, regions; /* how many it has created */
  uint64_t initials;       /* initial tasks that it has begun */
  uint64_t last_ticks;     /* the end of its last record */
  uint32_t region;         /* the innermost region that it has open */
};

/* Grains in a taskgroup. */
struct recorder_group {
  uint32_t owner;
  bool joined;                  /* the group's end has been announced */
  struct live_sum direct, deep; /* ended children of the owner; other descendants */
};

struct recorder {
  const struct profile_process *process;
  struct replay *replay;
  struct task_graph *graph; /* of the replay */
  struct live_grains grains;
  struct team_grains teams;
  struct tape tape;
  struct grain_schedule schedule;
  struct recorder_stream *streams;
  uint32_t streams_count;
  uint32_t *grain_of, *region_of; /* [task, region of the replay] */
  struct recorder_group *groups;  /* [group of the replay] */
  size_t grain_room, region_room, groups_room;
  bool no_memory;
};

/* Prepares for streams of a process.  Returns 0 or ERR_NOMEM; recorder_release() in either case. */
int recorder_init(struct recorder *recorder, const struct profile_process *process, uint32_t streams,
                  struct problems *problems);
void recorder_release(struct recorder *recorder);

/* Is told of the changes of the replay's clocks. */
void recorder_clock_changed(void *recorder, enum vector_clock_change change, uint32_t clock, uint32_t other);

/* Processes the next record, and gives it to the replay. */
void recorder_take(struct recorder *recorder, const struct log_reader_record *next);

/* The log ends: ends everything, and the tape.  Returns 0, ERR_INPUT or ERR_NOMEM. */
int recorder_end(struct recorder *recorder);

#endif
