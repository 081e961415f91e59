/* Calls of MPI: how long each lasts, by function and calling context.
 *
 * While a thread is in MPI it does not work, and is neither idle nor blocked, nor does it wait for a lock: only the
 * outermost call counts, whatever it calls.  Samples meanwhile are charged to the call, and so is what other threads
 * wait (blame.h).  For the work clock, the call is a wait.
 *
 * The context of a call is unwound where it is not known.  It is known if the functions on the stack return to the same
 * addresses, at the same places of the stack, as in an earlier call; of very deep stacks the inner part is compared. In
 * a region, that region must have been created in the same context, or it is not known yet where.
 * The first 256 are unwound at once, then at most one in the time between two samples; a call in a place that is not
 * known then is charged to the row of that place in another region, or else to one without a context.
 *
 * Context: RT, in calls and samples of the thread itself.  Without memory for any row nothing is counted, which is a
 * loss. */
#ifndef HPCRUN_LITE_RT_SAMPLING_MPI_CALLS_H
#define HPCRUN_LITE_RT_SAMPLING_MPI_CALLS_H

#include "common/graphlog.h"
#include "common/mpi_functions.h"
#include "hpcrun-lite/rt/sampling/mpi_table.h"

/* The thread calls a function of MPI: returns whether this call counts.  Then mpi_calls_end() must follow.  It does not
 * within another one, within a wait of OpenMP's or of the program, or without memory.  code, sp: the call's return
 * address, and the stack pointer when it returns. */
bool mpi_calls_begin(struct thread_state *t, enum mpi_function function, uint64_t code, uint64_t sp);

/* The call returns.  known: it is known how many bytes it has sent and received. */
void mpi_calls_end(struct thread_state *t, bool known, uint64_t sent, uint64_t received);

/* Logs what the call does, or has completed, if the process logs the graph. */
void mpi_calls_log(struct thread_state *t, enum graphlog_op op, unsigned count, const uint64_t *operands);

/* The thread is, or goes on, at that stack pointer: ends a call that it has left by a jump or an exception. UINT64_MAX:
 * it has left any.  inside: the caller is the tool's handler. */
void mpi_calls_left(struct thread_state *t, uint64_t sp, bool inside);

static inline bool mpi_calls_in(const struct thread_state *t)
{
  return t->activity.call == RT_CALL_MPI;
}

/* A sample in a call: the node to which it is charged; and its time. */
uint32_t mpi_calls_node(const struct thread_state *t);
void mpi_calls_sampled(struct thread_state *t, uint64_t ns);

/* At a sample in a call: reads records of switches. */
void mpi_calls_read_switches(struct thread_state *t);

#endif
