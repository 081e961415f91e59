/* What the threads of a job did in MPI, along the lanes of the timeline: calls, messages and collective operations.
 *
 * Context: BATCH, the main thread.  Read once from the graph logs of all processes, merged by time, and kept in a
 * temporary file.  Memory: a block for each lane, the operations that are open, and the communicators.  Logs are
 * hostile: what contradicts itself, and what is on communicators that are not known in other processes, is left out.
 */
#ifndef HPCPROF_LITE_TIMELINE_MPI_EVENTS_H
#define HPCPROF_LITE_TIMELINE_MPI_EVENTS_H

#include "common/mpi_functions.h"
#include "hpcprof-lite/messages/job_communicators.h"
#include "hpcprof-lite/model/profile.h"
#include "hpcprof-lite/model/timeline.h"

enum mpi_event_kind {
  MPI_EVENT_CALL,
  MPI_EVENT_RETURN,
  MPI_EVENT_SEND,          /* it ends with its call */
  MPI_EVENT_START_SEND,    /* request */
  MPI_EVENT_SENT,          /* request */
  MPI_EVENT_START_RECEIVE, /* request */
  MPI_EVENT_RECEIVED,      /* request, or 0: that of the call, or one that began before the part of the run */
  MPI_EVENT_CANCELLED,     /* request; also if it has failed */
  MPI_EVENT_COLLECTIVE_BEGIN,
  MPI_EVENT_COLLECTIVE_END,
  MPI_EVENT_START_COLLECTIVE,   /* request */
  MPI_EVENT_COLLECTIVE_COMPLETE /* request */
};

struct mpi_event {
  uint64_t time_ns; /* on the clock of the lane; in its life */
  uint64_t request; /* a number of its own for each operation */
  uint64_t bytes;   /* of the message; that the rank has sent in a collective operation */
  uint32_t communicator, peer,
      tag;                  /* number from 1; rank in it, of the sender, receiver or root, MODEL_NONE: no root */
  uint8_t kind, collective; /* enum mpi_event_kind, enum graphlog_mpi_collective */
  uint16_t function;        /* enum mpi_function */
};

/* A message of which the logs have both ends, in lanes of the timeline. */
struct mpi_arrow {
  uint32_t from, to; /* lanes */
  uint64_t from_ns, to_ns;
  uint64_t bytes, waited_ns; /* how long the receiver waited in the call for the send to begin */
};

/* Beyond so many ranks without a lane, nothing is shown: exports define a lane for each. */
enum { MPI_EVENTS_MISSING_MAX = 4096 };

struct mpi_events;

/* Reads the logs.  Returns NULL if none has calls of MPI, or too many ranks have no lanes.  What is wrong with them is
 * reported. */
struct mpi_events *mpi_events_read(struct profile *profile, const struct timeline *timeline, struct problems *problems);
void mpi_events_free(struct mpi_events *events); /* NULL is allowed */

/* The communicators of the job; whether all ranks of one exist; and its name, "" where it has none. */
const struct job_communicators *mpi_events_communicators(const struct mpi_events *events);
bool mpi_events_usable(struct mpi_events *events, uint32_t communicator);
const char *mpi_events_name(const struct mpi_events *events, uint32_t communicator);

/* Returns the first lane of the process with that rank in MPI_COMM_WORLD, MODEL_NONE if it has none; and how many ranks
 * there are. */
uint32_t mpi_events_lane(const struct mpi_events *events, uint32_t rank);
uint32_t mpi_events_ranks(const struct mpi_events *events);

enum { MPI_EVENTS_BLOCK = 100 };

/* Where a reader is. */
struct mpi_events_reader {
  struct mpi_events *events;
  uint32_t chain, block, at, count;
  union {
    struct mpi_event events[MPI_EVENTS_BLOCK];
    struct mpi_arrow arrows[MPI_EVENTS_BLOCK];
  } items;
};

/* Start at the first event of a lane, which come in the order of time, and at the first message of all. */
void mpi_events_open(struct mpi_events *events, uint32_t lane, struct mpi_events_reader *reader);
void mpi_arrows_open(struct mpi_events *events, struct mpi_events_reader *reader);

/* Return the next one, which is valid until the next call, without moving to it; NULL: none is left. */
const struct mpi_event *mpi_events_peek(struct mpi_events_reader *reader);
const struct mpi_arrow *mpi_arrows_peek(struct mpi_events_reader *reader);

static inline void mpi_events_skip(struct mpi_events_reader *reader)
{
  reader->at++;
}

/* Whether the temporary file could be written and read. */
bool mpi_events_failed(const struct mpi_events *events);

#endif
