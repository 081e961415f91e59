#include "hpcprof-lite/overview_pipelines.h"

#include "hpcprof-lite/construct_pipelines.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/input/trace_reader.h"
#include "hpcprof-lite/tree_pipeline.h"
#include "hpcprof-lite/views/thread_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether the run was traced: all processes of a launch are, or none. */
static bool has_trace(const struct job *job)
{
  const char *measurement = job->profile.processes[0].path; /* unusable ones come last */
  if (job->options.directories_count > 1)
    return false;
  char *path;
  if (asprintf(&path, "%.*s" TRACE_READER_SUFFIX, (int)read_stem(measurement), measurement) < 0)
    return false;
  bool found = !access(path, F_OK);
  free(path);
  return found;
}

/* Whether there are phases: they are found in the states of constructs, which -p off and -tsamples leave out for all
 * processes of a launch. */
static bool has_states(const struct profile *profile)
{
  uint32_t i = 0;
  while (i < profile->processes_usable && !(profile->processes[i].flags & PROCESS_ONLINE))
    i++;
  if (i == profile->processes_usable)
    return false;
  const struct profile_process *process = &profile->processes[i];
  return trace_reader_has_states(process->path, process->threads_count ? process->threads[0].index : 0);
}

int advice_pipeline(struct job *job)
{
  const struct efficiency *efficiency = &job->report.efficiency;
  const struct totals *totals = &job->totals;
  int status = construct_gains(job);
  struct advice_input input = {.profile = &job->profile,
                               .tree = &job->tree,
                               .columns = &job->columns,
                               .constructs = &job->constructs,
                               .elapsed_ns = totals->elapsed_ns,
                               .samples = totals->samples,
                               .work_ns = totals->work_ns,
                               .tool_ns = totals->tool_ns,
                               .core_wait_ns = totals->core_wait_ns,
                               .openmp_wall_ns = totals->openmp_wall_ns,
                               .by_wall = totals->by_wall,
                               .threads = efficiency->known ? totals->threads_max : 0,
                               .serial_s = efficiency->gain_s[EFFICIENCY_SERIAL],
                               .inflation_s =
                                   efficiency->split.compared ? efficiency->split.gain_s[EFFICIENCY_INFLATION] : 0,
                               .efficiency = efficiency->known ? efficiency->value[EFFICIENCY_PARALLEL] : -1};
  if (!status)
    status = advice_compute(&input, &job->report.advice);
  return status ? job_no_memory() : 0;
}

int summary_pipeline(struct job *job)
{
  struct tree_order order = tree_default_order(job, true);
  order.by = SORT_SPENT_EXCL;
  int status = derived_flat(&job->tree, &job->columns, &job->view, NULL);
  if (!status)
    status = tree_finish(&job->view, &order, false);
  if (!status)
    status = unnamed_modules(&job->tree, &job->columns, &job->names, job->unnamed, &job->report.modules_count);
  if (!status)
    status = workspan_compute(&job->profile, &job->names, &job->tree, NULL, NULL, &job->report.workspan);
  if (!status)
    status = workspan_find_top(job->row_of, job->tree.count, &job->report.workspan);
  if (!status)
    status = advice_pipeline(job);
  if (status)
    return job_no_memory();
  job->report.traced = has_trace(job);
  job->report.phased = job->report.traced && has_states(&job->profile);
  job->report.critical_rows = job->hot_critical;
  job->report.critical_rows_count = hotspots_critical(&job->view, &job->columns, job->hot_critical);
  job->report.tree = &job->tree;
  job->report.flat = &job->view;
  job->report.hot = job->hot;
  job->report.hot_count = hotspots_find(&job->tree, &job->view, &job->columns, job->hot);
  job->report.modules = job->unnamed;
  job->report.idle = job->idle;
  job->report.idle_count = causes_worst(&job->tree, &job->view, &job->columns, job->columns.idleness, job->idle);
  job->report.locks = job->locks;
  job->report.locks_count = causes_worst(&job->tree, &job->view, &job->columns, job->columns.lockwait, job->locks);
  return 0;
}

int threads_pipeline(struct job *job)
{
  if (thread_order(&job->profile, job->options.sort, &job->thread_order, &job->report.thread_count))
    return job_no_memory();
  job->report.thread_order = job->thread_order;
  uint32_t most = job->options.max_rows;
  if (job->options.format == OPTIONS_TEXT && !most && job->report.thread_count > DISTRIBUTION_FROM) {
    job->report.distribution = &job->distribution;
    return distribution_compute(&job->profile, job->thread_order, job->report.thread_count,
                                tree_has_time(&job->columns), &job->distribution)
               ? job_no_memory()
               : 0;
  }
  if (most && most < job->report.thread_count) {
    job->report.left_out = job->report.thread_count - most;
    job->report.thread_count = most;
  }
  return 0;
}
