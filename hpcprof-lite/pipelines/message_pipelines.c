/* The pipelines of the views of MPI's messages, and of efficiencies.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason. */
#include "hpcprof-lite/pipelines/pipelines.h"

#include "common/order.h"

#include <stdlib.h>

/* Reads the logs of all processes.  causes: of waits are wanted. */
static int read_messages(struct job *job, bool causes)
{
  if (job->options.range.given) {
    job_print_error("messages of a part of the run are not known: report it without --from and --to");
    return EXIT_INPUT;
  }
  const struct log_help help = ranks_log_help(&job->ranks);
  (causes ? job_messages_read : job_messages_sum)(&job->profile, &help, job_log_problems(job), &job->mpi.messages);
  if (!job->mpi.messages.known) {
    job_print_error("the measurement has no log of MPI: measure an MPI job with 'hpcrun-lite -p log', with a library "
                    "whose calls are decoded (Open MPI, or one with the ABI of MPICH)");
    return EXIT_INPUT;
  }
  job->report.messages = &job->mpi.messages;
  return 0;
}

/* Every report has the efficiencies.  How communication divides needs the logs of all ranks, without any fault; faults
 * are reported by the views of the logs. */
int efficiency_pipeline(struct job *job)
{
  struct efficiency_job *efficiencies = &job->report.efficiency.job;
  struct job_messages messages = {0};
  struct problems problems = {0};
  if (!efficiencies->known || job->options.range.given)
    return 0;
  const struct log_help help = ranks_log_help(&job->ranks);
  job_messages_sum(&job->profile, &help, &problems, &messages);
  if (!problems.count)
    efficiency_divide_communication(efficiencies, messages.ideal_ns / 1e9, messages.computed_ns / 1e9);
  job_messages_release(&messages);
  problems_release(&problems);
  return 0;
}

/* Sorts the rows, and shortens them to --max-rows. */
static void finish(struct job *job, void *rows, uint32_t count, size_t size)
{
  uint32_t most = job->options.limits.rows;
  job->report.list.count = count;
  job_sort(job, rows, count, size);
  job->report.list.count = most ? MIN(count, most) : count;
  job->report.limits.left_out = count - job->report.list.count;
}

ORDER(by_ranks, struct wait_pair, COMPARE(x->from, y->from) ?: COMPARE(x->to, y->to))

int messages_pipeline(struct job *job)
{
  int unusable = read_messages(job, false);
  if (unusable)
    return unusable;
  struct wait_states *states = &job->mpi.messages.states;
  if (states->pairs_count)
    qsort(states->pairs, states->pairs_count, sizeof *states->pairs, by_ranks);
  finish(job, states->pairs, states->pairs_count, sizeof *states->pairs);
  return 0;
}

int wait_states_pipeline(struct job *job)
{
  int unusable = read_messages(job, true);
  if (unusable)
    return unusable;
  struct wait_state_rows *rows = &job->mpi.wait_states;
  wait_state_rows_make(&job->profile, &job->names, &job->mpi.messages, rows);
  job->report.wait_states = rows;
  finish(job, rows->rows, rows->count, sizeof *rows->rows);
  return 0;
}
