/* The records of a job in an order in which none comes before those that it needs.
 *
 * Context: BATCH.  Clocks of several hosts can be early: a record that completes a message or a collective operation
 * then comes before the send, or before other ranks have begun.  It waits for them, and with it the log of its process,
 * so that the order in each process stays.  If all wait, as logs are missing, the earliest one goes on.  The structure
 * is zero except for its first two fields, and does not own these.
 */
#ifndef HPCPROF_LITE_MESSAGES_JOB_ORDER_H
#define HPCPROF_LITE_MESSAGES_JOB_ORDER_H

#include "hpcprof-lite/input/log_reader.h"
#include "hpcprof-lite/messages/message_matching.h"

struct job_order {
  struct log_reader *log;
  struct message_matching *matching; /* must take each record before the next one; NULL: no record waits */
  struct log_reader_record *waiting; /* of processes that are held */
  uint32_t waiting_count, next;      /* next: to be looked at */
  size_t waiting_room;
  uint64_t visits;
  bool forced;
  uint64_t early;               /* records that came too early, and were moved; by how many ns, */
  double early_ns, earliest_ns; /* in all, and at most */
};

/* Fills in the next record.  Returns false after the last one. */
bool job_order_next(struct job_order *order, struct log_reader_record *record);

void job_order_release(struct job_order *order);

#endif
