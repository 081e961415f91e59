/* The pipelines of the views that show what was tried.
 *
 * Context: BATCH, the main thread.
 */
#include "hpcprof-lite/pipelines/pipelines.h"

#include "hpcprof-lite/analysis/advice/advice_settings.h"
#include "hpcprof-lite/input/trial_file.h"

#include <assert.h>

/* Returns the variables with which OpenMP's binding keeps threads from cores that the process could use, or NULL. */
static const char *find_binding(const struct core_findings *cores)
{
  for (uint32_t i = 0; i < cores->count; i++)
    if (cores->found[i].kind == CORES_BINDING && *cores->found[i].settings)
      return cores->found[i].settings;
  return NULL;
}

/* Sets the settings that the findings suggest. */
static int suggest(struct job *job)
{
  int status = advice_pipeline(job);
  if (status)
    return status;
  struct advice_settings_input input = {.profile = &job->profile,
                                        .constructs = &job->constructs,
                                        .advice = &job->report.advice,
                                        .region_threads = &job->report.region_threads,
                                        .binding = find_binding(&job->report.summary.cores)};
  job->trial.record.settings_count = advice_settings(&input, job->trial.record.settings);
  return 0;
}

/* Reads the record of hpcrun-lite --try, if the run has one. */
static void read_record(struct job *job)
{
  struct problems problems = {0};
  if (job->options.input.count == 1)
    trial_file_read(job->options.input.directories[0], &job->trial.record, &problems);
  if (problems_print(&problems, stderr))
    job->status = EXIT_INPUT;
  problems_release(&problems);
  trial_figures_compute(&job->trial.record, &job->trial.figures);
  job->report.trial.record = &job->trial.record;
  job->report.trial.figures = &job->trial.figures;
}

int try_pipeline(struct job *job)
{
  read_record(job);
  if (job->trial.record.runs_count)
    return 0;
  int status = suggest(job);
  trial_figures_compute(&job->trial.record, &job->trial.figures);
  return status;
}

int advice_tried_pipeline(struct job *job)
{
  read_record(job);
  return advice_pipeline(job);
}
