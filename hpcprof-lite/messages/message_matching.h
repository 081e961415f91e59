/* Finds which send and receive, and which parts of a collective operation, belong together, and what waited for what.
 *
 * Context: BATCH.  Gets the records of all streams of a job in order of time.  Messages match as MPI orders them: of
 * one communicator, sender, receiver and tag, the first one sent is got by the receive that was posted first; a receive
 * from any source or of any tag is known to be for it when it is complete, and those behind it that could get the same
 * message are undecided until then.  Operations are kept until they are matched and complete, no longer.
 */
#ifndef HPCPROF_LITE_MESSAGES_MESSAGE_MATCHING_H
#define HPCPROF_LITE_MESSAGES_MESSAGE_MATCHING_H

#include "hpcprof-lite/messages/wait_states.h"

#include "common/graphlog.h"

struct message_matching;

/* Whose a stream is. */
struct message_stream {
  uint32_t process, thread;
};

/* A message whose send and receive are known.  Both times are on the clock of the records. */
struct matched_message {
  uint32_t sender, receiver; /* streams; the receiver is the one whose call has completed the receive */
  uint64_t sent_ns, received_ns;
  uint64_t call_ns;          /* when that call began */
  uint64_t bytes, waited_ns; /* how long that call waited for the send to begin */
};

/* Is told which operations join: what a stream has done until it offers a number comes before what a stream does once
 * it has taken that number.  Each message has a number of its own, from 1; a collective operation has one, or one for
 * each rank.  A number that has ended is used again.  Functions that are NULL are not called. */
struct message_observer {
  void (*offers)(void *context, uint32_t stream, uint64_t number);
  void (*takes)(void *context, uint32_t stream, uint64_t number);
  void (*ends)(void *context, uint64_t number); /* nothing takes that number any more; may be NULL */
  void *context;
  bool unrelated; /* clocks differ: only what certainly joins does */
  void (*received)(void *receiver, const struct matched_message *message); /* unless it is ambiguous; may be NULL */
  void *receiver;
};

/* Prepares for so many streams.  causes: of waits are found; else fragments and samples are not needed, and states gets
 * no places and rows.  states must be zeros; it belongs to the caller and must live as long.  observer: NULL for none.
 */
struct message_matching *message_matching_new(uint32_t streams, bool causes, struct wait_states *states,
                                              const struct message_observer *observer);

/* Takes the next record, of the stream with that number, which is always the same thread's.  Fragments last, others
 * have begin_ns == end_ns.  Both are on one clock of the job. */
void message_matching_take(struct message_matching *matching, uint32_t stream, const struct message_stream *of,
                           const struct graphlog_record *record, uint64_t begin_ns, uint64_t end_ns);

/* Whether a record completes what needs operations of others that have not been taken: in logs of hosts whose clocks
 * differ it comes before them.  The stream is one of which records have been taken. */
bool message_matching_awaits(struct message_matching *matching, uint32_t stream, const struct graphlog_record *record);

/* The logs end: counts what is not matched.  Frees everything. */
void message_matching_end(struct message_matching *matching);

#endif
