/* The pipelines of the views on the axis of time.
 *
 * Context: BATCH, the main thread.  Functions that return a status return 0, or the exit status after they have printed
 * the reason.
 */
#include "hpcprof-lite/pipelines/pipelines.h"

#include "hpcprof-lite/model/checks.h"
#include "hpcprof-lite/pipelines/index_pipeline.h"
#include "hpcprof-lite/pipelines/phase_pipeline.h"
#include "hpcprof-lite/report/views.h"

#include <assert.h>

/* Collects the marks of the part of the run that is wanted. */
static void marks_collect(struct job *job)
{
  run_marks_release(&job->time.marks);
  job->report.time.marks = &job->time.marks;
  run_marks_read(&job->profile, job->options.range.from_ns, job->options.range.to_ns, &job->time.marks);
}

static int timeline_show(struct job *job)
{
  assert(!job->time.source);
  struct timeline_input input = index_input(job);
  input.from_ns = job->options.range.from_ns;
  input.to_ns = job->options.range.to_ns;
  input.intervals = job->options.view == OPTIONS_TIMELINE && job->options.format != OPTIONS_TEXT &&
                    job->options.format != OPTIONS_JSON;
  job->time.source = timeline_source_open(&input);
  job->report.time.timeline = timeline_source_timeline(job->time.source);
  assert(check_timeline(job->report.time.timeline));
  job->report.constructs = &job->constructs;
  job->report.tree = &job->tree;
  if (job->report.time.timeline->lanes_count || (job->options.view == OPTIONS_PHASES && job->time.marks.user_phases))
    return 0;
  if (!job->report.time.timeline->traced)
    job_print_error("there is no trace of this run: record one with 'hpcrun-lite -t'");
  else if (job->options.range.given)
    job_print_error("no thread with a trace ran between --from and --to: choose another part");
  else
    job_print_error("the trace has no threads: the measurement is damaged; measure again");
  return EXIT_INPUT;
}

static bool exports_mpi(enum options_format format)
{
  return format == OPTIONS_PERFETTO || format == OPTIONS_FIREFOX || format == OPTIONS_OTF2;
}

void timeline_pipeline_messages(struct job *job)
{
  job->time.mpi = mpi_events_read(&job->profile, job->report.time.timeline, job_log_problems(job));
  job->report.time.mpi = job->time.mpi;
}

int timeline_view_pipeline(struct job *job)
{
  make_constructs(job);
  if (job->options.index) {
    int stored = index_store(job);
    if (stored)
      return stored;
  }
  marks_collect(job);
  int status = timeline_show(job);
  job->report.time.lanes = job->options.lanes;
  job->report.per_thread = job->options.per_thread;
  job->report.limits.rows = job->options.limits.rows;
  if (!status && job->options.format == OPTIONS_TEXT)
    phases_of_timeline(job);
  if (!status && exports_mpi(job->options.format))
    timeline_pipeline_messages(job);
  return status;
}

table_maker *timeline_pipeline_maker(const struct options *options)
{
  return options->format == OPTIONS_JSON ? timeline_tiles_table : timeline_table;
}

int phases_pipeline(struct job *job)
{
  int status = timeline_view_pipeline(job);
  if (status)
    return status;
  if (job->options.format != OPTIONS_TEXT)
    phases_of_timeline(job);
  run_marks_time(&job->time.marks, job->report.time.timeline);
  if (job->time.phases_count || job->time.marks.user_phases)
    return 0;
  if (!job->time.phases_left_out)
    job_print_error("phases need the states of constructs: record them with 'hpcrun-lite -t', without '-p off'");
  return EXIT_INPUT;
}

int marks_pipeline(struct job *job)
{
  marks_collect(job);
  if (job->time.marks.count)
    return 0;
  job_print_error("the program has marked nothing%s: call hpcrun_lite_mark() or hpcrun_lite_phase() (hpcrun-lite.h)",
                  job->options.range.given ? " between --from and --to" : "");
  return EXIT_INPUT;
}

int user_counters_pipeline(struct job *job)
{
  for (uint32_t i = 0; i < job->profile.processes_usable; i++)
    if (job->profile.processes[i].marks.counts_count)
      return 0;
  job_print_error("the program has counted nothing%s: call hpcrun_lite_counter() (hpcrun-lite.h)",
                  job->options.range.given ? " between --from and --to" : "");
  return EXIT_INPUT;
}
