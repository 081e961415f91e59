/* Wait states by place in the program: where calls waited, and what the late rank did.
 *
 * Context: BATCH.  Pure.  Waits of all ranks in one place of a program that the same code has delayed are one row.  The
 * caller releases the rows; strings belong to struct names, or are static.
 */
#ifndef HPCPROF_LITE_MESSAGES_WAIT_STATE_ROWS_H
#define HPCPROF_LITE_MESSAGES_WAIT_STATE_ROWS_H

#include "hpcprof-lite/messages/job_messages.h"
#include "hpcprof-lite/views/call_places.h"

struct wait_state_row {
  enum wait_state state;
  const char *call, *late_call; /* functions of MPI; late_call: "" if the late rank was in no call of MPI */
  bool late_before;             /* it was not in that call, but had not begun it; what it did is not known */
  struct call_place place, late_place;
  uint64_t waits; /* in which this delayed longest */
  double ns;
  int64_t rank, late_rank; /* with the longest share of `ns`; -1: not known */
  double late_rank_ns;     /* that share */
};

struct wait_state_rows {
  struct wait_state_row *rows; /* the longest first */
  uint32_t count;
  double ns; /* of all */
};

void wait_state_rows_make(const struct profile *profile, const struct names *names, const struct job_messages *messages,
                          struct wait_state_rows *rows);
void wait_state_rows_release(struct wait_state_rows *rows);

#endif
