#include "hpcprof-lite/pipelines/one_thread.h"

#include "hpcprof-lite/pipelines/gather.h"

#include <assert.h>
#include <string.h>

/* Adds a run.  Returns 0 or the exit status. */
static int add_run(const struct job *job, char **directory, struct job *other, struct one_thread *result)
{
  struct efficiency efficiency;
  int status = gather_beside(job, directory, other);
  if (status)
    return status;
  tree_columns_init(&other->profile.catalog, &other->columns);
  totals_compute(&other->profile, &other->columns, job->options.baseline, &other->totals);
  efficiency_compute(&other->profile, other->totals.measured_ns, &efficiency);
  bool alone = efficiency.threads == 1 && efficiency.split.known;
  double work_s = efficiency.split.part_s[EFFICIENCY_WORK];
  efficiency_release(&efficiency);
  if (!alone || strcmp(other->totals.command, job->totals.command) != 0)
    return job_different_runs(job->options.input.directories[0], *directory);
  result->work_s += work_s / (double)job->options.input.references_count;
  region_threads_add_alone(&job->profile, &job->names, &other->profile, &result->regions);
  return 0;
}

int one_thread_read(const struct job *job, struct one_thread *result)
{
  assert(job->row_of);
  int status = 0;
  *result = (struct one_thread){0};
  for (size_t i = 0; i < job->options.input.references_count && !status; i++) {
    struct job other = {0};
    status = add_run(job, &job->options.input.references[i], &other, result);
    job_release(&other);
  }
  return status;
}
