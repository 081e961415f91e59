/* The messages of a job: reads the graph logs of all processes, merged by time, and matches what they have done in MPI.
 *
 * Context: BATCH, the main thread.  Clocks of one host are exact: its processes read the same time-stamp counter.
 * Those of several hosts are corrected (job_clocks.h): where a record would still come before one that it needs, it,
 * and what its process has logged by then, is moved behind that, so that no message arrives before it was sent.  Where
 * they cannot be corrected, the system's time at their processes' starts relates the clocks; it is reported that this
 * is not exact.  Memory: that of the reader (input/log_reader.h), operations that are not matched, and the last
 * stretches of the threads that communicate.
 */
#ifndef HPCPROF_LITE_MESSAGES_JOB_MESSAGES_H
#define HPCPROF_LITE_MESSAGES_JOB_MESSAGES_H

#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/messages/message_matching.h"
#include "hpcprof-lite/model/profile.h"

struct job_messages {
  bool known; /* at least one log has calls of MPI */
  struct wait_states states;
  uint32_t *contexts; /* [place of states] in the profile, MODEL_NONE: not known */
  uint32_t logs;      /* ranks whose logs were read */
  uint32_t ranks;     /* of MPI_COMM_WORLD, 0: not known */
  bool several_hosts;
  struct profile_clocks clocks; /* of several hosts */
  uint64_t early;               /* records that were moved, because their clock is early; by how much, */
  double early_ns, earliest_ns; /* in all, and at most */
  bool undecoded;               /* the calls of a rank were not decoded */
  double ideal_ns;    /* how long the ranks would take if messages took no time (ideal_time.h); 0: not known */
  double computed_ns; /* the longest time that a rank is outside MPI; likewise */
};

/* Reads the logs of all processes, with that help unless clocks of several hosts were corrected: then records wait for
 * those that they need, which only one process can tell.  What is wrong with them is reported in `problems`.  Processes
 * that have the same rank are of several jobs: then this is reported, and nothing is known.  `ideal_ns` is not found.
 */
void job_messages_read(struct profile *profile, const struct log_help *help, struct problems *problems,
                       struct job_messages *messages);

/* The same, but instead of the causes of waits, for which `states` has no places and no rows, the times without
 * messages are found. */
void job_messages_sum(struct profile *profile, const struct log_help *help, struct problems *problems,
                      struct job_messages *messages);

#define JOB_MESSAGES_UNRELATED_NS ((uint64_t)1 << 62)

/* Hears all records of MPI, in order of time, and the messages as they are matched.  Times are those of the timeline:
 * on the clock of the record's process, whose start is in the system's time, without the bits of the time-stamp counter
 * that the trace leaves out. */
struct job_listener {
  void (*record)(void *context, uint32_t stream, const struct message_stream *of, const struct graphlog_record *record,
                 uint64_t time_ns);
  void (*received)(void *context, const struct matched_message *message);
  void *context;
  /* NULL, or what hears, instead of received(), which operations join.  Then clocks of hosts are not related: on each,
   * its first process begins at JOB_MESSAGES_UNRELATED_NS, and all bits of times count. */
  const struct message_observer *joins;
};

/* The same as job_messages_sum() for a listener, without help. */
void job_messages_listen(struct profile *profile, const struct job_listener *listener, struct problems *problems,
                         struct job_messages *messages);

void job_messages_release(struct job_messages *messages);

#endif
