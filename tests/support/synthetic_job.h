/* The ranks of a synthetic MPI job, whose messages, waits and span are known.
 *
 * The ranks are a ring.  A cycle is a parallel region of all threads, in which each works SYNTHETIC_REGION; then
 * `steps` exchanges of a halo: the rank works SYNTHETIC_STEP, posts a receive from and a send to each of its two
 * neighbours, and waits for all four; then one MPI_Allreduce.  In the first step of cycle i, rank i modulo `ranks`
 * works SYNTHETIC_LATE longer: its neighbours wait for its messages, the next ones for theirs, and so on, one more
 * distance a step.  All else waits at the MPI_Allreduce.  Times are in ticks of 1 ns.
 *
 * A message to the right begins SYNTHETIC_CALL before the call that completes the step, one to the left twice that.  So
 * a cycle's delay of rank r, in a ring of more than 2 * `steps` ranks, is SYNTHETIC_LATE - k * SYNTHETIC_CALL for rank
 * i + k, and SYNTHETIC_LATE - 2k * SYNTHETIC_CALL for rank i - k, if k is at most `steps`; otherwise 0.  That is how
 * long it waits for late senders; the rest of SYNTHETIC_LATE it waits at the MPI_Allreduce.  A cycle adds
 * SYNTHETIC_REGION + steps * SYNTHETIC_STEP + SYNTHETIC_LATE to the job's span. */
#ifndef TESTS_SUPPORT_SYNTHETIC_JOB_H
#define TESTS_SUPPORT_SYNTHETIC_JOB_H

#include "tests/support/synthetic_trace.h"

enum {
  SYNTHETIC_REGION = 30000,
  SYNTHETIC_STEP = 20000,
  SYNTHETIC_LATE = 10000,
  SYNTHETIC_CALL = 100,
  SYNTHETIC_BYTES = 8192
};

struct synthetic_job {
  uint32_t ranks, threads; /* at least 3 ranks */
  uint32_t steps, cycles;  /* at most 40 steps */
};

/* Writes the measurement of a rank into a file of that path. */
void synthetic_job_rank(const struct synthetic_job *job, uint32_t rank, const char *path);

/* Writes the log of a rank, extent after extent. */
void synthetic_job_log(const struct synthetic_job *job, uint32_t rank, synthetic_put *put, void *context);

#endif
