/* Records what the wrappers of MPI's functions announce (mpi/mpi_recorder.h).
 *
 * Context: CTL, in calls of the program; facts of the process under the CTL lock.  In a thread that is not measured, or
 * that runs code of the tool, a call does not count. */
#define _GNU_SOURCE
#include "hpcrun-lite/mpi/mpi_recorder.h"

#include <string.h>

#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/lock.h"
#include "hpcrun-lite/output/writer.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/sampling/mpi_calls.h"
#include "hpcrun-lite/rt/sampling/times.h"

INTERPOSED bool hpcrun_lite_mpi_begin(uint32_t function, uint64_t code, uint64_t sp)
{
  struct thread_state *t = measured();
  return t && mpi_calls_begin(t, (enum mpi_function)function, code, sp);
}

INTERPOSED void hpcrun_lite_mpi_end(bool known, uint64_t sent, uint64_t received)
{
  struct thread_state *t = rt_thread();
  if (t)
    mpi_calls_end(t, known, sent, received);
}

INTERPOSED bool hpcrun_lite_mpi_logs(void)
{
  return config.graph_log;
}

INTERPOSED void hpcrun_lite_mpi_log(uint32_t op, unsigned count, const uint64_t *operands)
{
  struct thread_state *t = measured();
  if (t)
    mpi_calls_log(t, (enum graphlog_op)op, count, operands);
}

/* Begins to change facts; returns false where nothing is measured. */
static bool change(void)
{
  if (!process.active || !rt_home.ours)
    return false;
  lock_take();
  return true;
}

static void changed(void)
{
  writer_mpi();
  lock_drop();
}

INTERPOSED void hpcrun_lite_mpi_initialized(const struct mpi_facts *facts)
{
  if (!change())
    return;
  struct process_mpi *mpi = &process.mpi;
  memcpy(mpi->library, facts->library, sizeof mpi->library);
  mpi->rank = facts->rank;
  mpi->size = facts->size;
  mpi->threads = facts->threads;
  mpi->state = facts->state;
  mpi->decoded = facts->decoded;
  mpi->init_ns = mpi->init_ns ? mpi->init_ns : times_elapsed_ns();
  changed();
}

INTERPOSED void hpcrun_lite_mpi_finalizes(void)
{
  if (!change())
    return;
  process.mpi.finalize_ns = times_elapsed_ns();
  changed();
}

INTERPOSED void hpcrun_lite_mpi_finalized(uint32_t state)
{
  if (!change())
    return;
  process.mpi.state = state;
  changed();
}
