/* How long the ranks of a job would take if messages took no time (the ideal network of POP's efficiencies).
 *
 * Context: BATCH.  Each rank has a clock: the longest chain of time outside MPI, through all ranks, that ends where the
 * rank is.  A message, or a collective operation, joins the clocks of those that wait for each other, as in the job's
 * critical path; but here time counts, not work.  Only calls of each process's initial thread are followed: if other
 * threads call MPI, nothing is known.  The structure owns its memory.
 */
#ifndef HPCPROF_LITE_MESSAGES_IDEAL_TIME_H
#define HPCPROF_LITE_MESSAGES_IDEAL_TIME_H

#include "common/graphlog.h"
#include "hpcprof-lite/messages/message_matching.h"

struct ideal_rank {
  uint32_t thread;  /* index of the initial one */
  uint64_t left_ns; /* the rank began, or left its last call */
  bool in_call;
  double clock_ns, computed_ns;
};

struct ideal_time {
  struct ideal_rank *ranks; /* [process] */
  uint32_t *process_of;     /* [stream] */
  double *joins;            /* [number] the latest clock that was offered; 0: none */
  size_t joins_room;
  uint32_t joins_count;
  bool incomplete;   /* other threads call MPI, a rank ends in a call, or there are too many messages at once */
  double longest_ns; /* of the clocks, at the ranks' ends */
  double most_ns;    /* the longest time that a rank is outside MPI */
};

/* Prepares for so many processes and streams.  The caller fills in `thread` and `left_ns` of each rank. */
void ideal_time_init(struct ideal_time *ideal, uint32_t processes, uint32_t streams);
void ideal_time_release(struct ideal_time *ideal);

/* Takes a record, before the matching does: begins and ends of calls count.  Other records are ignored. */
void ideal_time_take(struct ideal_time *ideal, uint32_t stream, const struct message_stream *of, enum graphlog_op op,
                     uint64_t ns);

/* What the matching tells it; context: the structure. */
struct message_observer ideal_time_observer(struct ideal_time *ideal);

/* A process ends. */
void ideal_time_end(struct ideal_time *ideal, uint32_t process, uint64_t ns);

#endif
