#include "hpcprof-lite/pipelines/gather.h"

#include "common/order.h"
#include "hpcprof-lite/input/find.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/merge/span_merge.h"
#include "hpcprof-lite/messages/job_clocks.h"
#include "hpcprof-lite/pipelines/index_pipeline.h"
#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILES_REPORTED = 16 }; /* files whose problems are reported one by one */

static bool show_progress(uint32_t done, uint32_t all)
{
  if (done % 16 == 0 || done == all)
    fprintf(stderr, "\rreading %u of %u files%s", done, all, done == all ? "\r\033[K" : "");
  return true;
}

/* Reports the problems of the files; beyond FILES_REPORTED files, only their number. */
static void report_files(struct job *job)
{
  uint32_t files = 0;
  size_t more = 0;
  for (uint32_t i = 0; i < job->profile.processes_count; i++) {
    const struct problems *problems = &job->profile.problems[i];
    if (!problems->count)
      continue;
    job->status = EXIT_INPUT;
    if (files++ < FILES_REPORTED)
      problems_print(problems, stderr);
    else
      more += problems->count;
  }
  if (more)
    job_print_error("and %zu more problem%s in %" PRIu32 " more file%s", more, terminal_plural(more),
                    files - FILES_REPORTED, terminal_plural(files - FILES_REPORTED));
}

/* Whether samples were taken, or none was wanted. */
static bool was_sampled(const struct profile_process *process)
{
  uint64_t samples = profile_unsampled(process);
  for (uint32_t i = 0; i < process->threads_count; i++)
    samples |= process->threads[i].stored.samples;
  return samples;
}

/* Prints why the measurement of a process is incomplete. */
static void report_incomplete(const struct profile_process *process)
{
  const char *state = "was killed, or could not write its file";
  if (process->copied)
    state = "was running when the snapshot was taken";
  else if (process->running)
    state = "is still running";
  else if (process->write_error)
    state = "could not write its file";
  if (process->superseded)
    job_print_error("%s is complete; the .live file beside it, left over from a kill, is not read", process->path);
  if (process->unfinished && process->usable && !was_sampled(process))
    job_print_error("%s: process %u %s; it has no samples: %s", process->path, process->pid, state,
                    process->workspan.tick_ns > 0 ? "constructs are reported up to then" : "no times are known");
  else if (process->unfinished && process->usable)
    job_print_error("%s: process %u %s: reported up to its last sample, after %.3f s%s", process->path, process->pid,
                    state, (double)process->wall_ns / 1e9,
                    process->lost[LOSS_UNKEPT] ? ", except for tables that could not be kept on disk" : "");
  else if (process->unfinished)
    job_print_error("%s: the process was killed when it started: nothing was measured", process->path);
}

/* Reports which processes were killed or still run; beyond FILES_REPORTED, only their number. */
static void report_unfinished(const struct profile *profile)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if ((process->superseded || process->unfinished) && count++ < FILES_REPORTED)
      report_incomplete(process);
  }
  if (count > FILES_REPORTED)
    job_print_error("and %" PRIu32 " more %s killed, or still running", count - FILES_REPORTED,
                    count - FILES_REPORTED == 1 ? "process that was" : "processes that were");
}

/* Prints how the clocks of several hosts were corrected; views of messages print it themselves. */
static void report_clocks(const struct job *job)
{
  char text[256];
  bool shown = job->options.format == OPTIONS_TEXT &&
               (job->options.view == OPTIONS_MESSAGES || job->options.view == OPTIONS_WAIT_STATES);
  if (!job->profile.clocks.corrected || shown)
    return;
  profile_clocks_text(&job->profile.clocks, text, sizeof text);
  job_print_error("%s", text);
}

/* Finds the files; reports problems with the directories. */
static void find(struct job *job, char ***paths, uint32_t *count)
{
  struct options *options = &job->options;
  struct problems problems = {0};
  find_measurements(options->input.directories, options->input.count, &problems, paths, count);
  if (problems_print(&problems, stderr))
    job->status = EXIT_INPUT;
  problems_release(&problems);
  if (options->verbose)
    job_print_error("reading files: %u; threads: %u; ranks: %u", *count, options->threads, job->ranks.size);
}

/* ---- a part of the run ---- */

/* Returns the counter's value at a time, in ns since the start of the run; at least 1.  Before the process started it
 * is less than at its start. */
static uint64_t ticks_at(const struct profile_range *range, const struct profile_process *process, uint64_t ns)
{
  assert(process->start_ns >= range->begin_ns);
  uint64_t start_ns = process->start_ns - range->begin_ns;
  uint64_t before = ns < start_ns ? profile_ticks_after(process, 0, start_ns - ns) : 0;
  uint64_t ticks = profile_ticks_after(process, process->start_ticks, model_difference(ns, start_ns));
  return ticks > before ? ticks - before : 1;
}

static int cannot_limit(const char *path, const char *why)
{
  job_print_error("%s: --from and --to cannot be used: %s", path, why);
  return EXIT_INPUT;
}

static const char no_log[] = "there is no graph log; run 'hpcrun-lite -p log'";

/* Limits work and span of a process to the range. */
static int limit_process(struct job *job, struct profile_process *process)
{
  assert(process->usable && process->workspan.known);
  struct profile_range *range = &job->profile.range;
  if (!(process->workspan.tick_ns > 0))
    return cannot_limit(process->path, "the process was killed before it had stored the length of its ticks");
  process->from_ticks = range->from_ns ? ticks_at(range, process, range->from_ns) : 0;
  process->to_ticks = job->options.range.to_ns < UINT64_MAX ? ticks_at(range, process, range->to_ns) : UINT64_MAX;
  if (recorded_graph_limit(&job->profile, process, &job->log_problems))
    return 0;
  problems_print(&job->log_problems, stderr);
  return cannot_limit(process->path, no_log);
}

/* Limits work and span to --from and --to, before the processes are merged. */
static int limit_log(struct job *job)
{
  struct profile *profile = &job->profile;
  bool any = false;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    any |= profile->processes[i].usable && profile->processes[i].workspan.known;
  if (!any)
    return cannot_limit(job->options.input.directories[0], no_log);
  profile->contexts.shares_count = 0;
  int status = 0;
  for (uint32_t i = 0; i < profile->processes_count && !status; i++)
    if (profile->processes[i].usable && profile->processes[i].workspan.known)
      status = limit_process(job, &profile->processes[i]);
  return status;
}

/* The part of the run that is reported, if it is limited. */
static struct profile_range find_part(const struct options *options, char *const *paths, uint32_t count)
{
  struct profile_range part = {.from_ns = options->range.from_ns, .to_ns = options->range.to_ns};
  part.traced = options->range.given && options_of_samples(options);
  part.limited = part.traced || (options->range.given && options_view_has(options, HAS_LOG));
  if (options->range.given)
    merge_find_run(paths, count, options->threads, &part.begin_ns, &part.run_ns);
  part.to_ns = MIN(part.to_ns, part.run_ns);
  return part;
}

/* Whether the processes could be limited to the part of the run.  Returns the exit status. */
static int check_part(struct job *job)
{
  const struct profile_range *part = &job->profile.range;
  if (part->from_ns >= part->run_ns) {
    job_print_error("nothing happened from --from %.9g on: the run took %.9g s", (double)part->from_ns / 1e9,
                    (double)part->run_ns / 1e9);
    return EXIT_USAGE;
  }
  if (part->traced || !part->limited)
    return 0;
  return limit_log(job);
}

/* Reads and merges this rank's slice of the files, then all ranks'.  Returns 0, or ERR_INPUT if the ranks do not
 * understand each other. */
static int merge(struct job *job, bool first)
{
  const struct options *options = &job->options;
  struct ranks *ranks = &job->ranks;
  char **paths = NULL;
  uint32_t count = 0;
  if (first)
    find(job, &paths, &count);
  struct profile_range part = find_part(options, paths, count);
  int status = ranks_paths(ranks, 0, &paths, &count, &part.begin_ns);
  if (!first)
    part.to_ns = options->range.to_ns;
  bool progress = first && count > 1 && !options->quiet && isatty(STDERR_FILENO);
  struct merge_slice slice = {.paths = paths,
                              .count = count,
                              .slice = ranks->rank,
                              .slices = ranks->size,
                              .threads = options->threads,
                              .baseline = options->baseline,
                              .part = part.traced ? &part : NULL,
                              .progress = progress ? show_progress : NULL};
  if (!status && count)
    status = merge_slice(&slice, &job->profile);
  status = ranks_reduce(ranks, status, &job->profile);
  job->profile.range = part;
  for (uint32_t i = 0; i < count; i++)
    free(paths[i]);
  free(paths);
  return status;
}

/* Whether the report shows work and span. */
static bool shows_span(const struct options *options)
{
  return !options_view_has(options, HAS_NO_SPAN) || options_formats[options->format].shows != SHOWS_VIEWS ||
         options->comparison.conditions_count;
}

/* The second step of merging, and what the logs of an MPI job tell of all ranks together. */
static void finish(struct job *job)
{
  const struct log_help help = ranks_log_help(&job->ranks);
  merge_finish(&job->profile);
  if (!job->profile.range.limited) {
    job_clocks_correct(&job->profile);
    span_elapsed(&job->profile);
  }
  if (shows_span(&job->options))
    recorded_graph_job(&job->profile, &help, job_log_problems(job));
  span_enter_shares(&job->profile);
}

int gather(struct job *job)
{
  const struct options *options = &job->options;
  if (merge(job, true))
    return job_different_ranks();
  int unusable = 0;
  if (options->range.given && job->profile.range.run_ns)
    unusable = check_part(job);
  if (unusable) {
    report_files(job);
    return unusable;
  }
  if (job->profile.processes)
    finish(job);
  bool reads_logs = options->comparison.conditions_count || options_view_has(options, HAS_MESSAGES);
  if (options->format == OPTIONS_TEXT && !options->index && !reads_logs) /* nothing needs a second reading */
    ranks_dismiss(&job->ranks);
  report_files(job);
  if (!options->quiet) {
    report_unfinished(&job->profile);
    report_clocks(job);
  }
  return job->profile.processes_usable ? 0 : EXIT_INPUT;
}

int gather_beside(const struct job *job, char **directory, struct job *other)
{
  other->options = (struct options){.input.directories = directory,
                                    .input.count = 1,
                                    .threads = job->options.threads,
                                    .quiet = job->options.quiet,
                                    .format = OPTIONS_CSV};
  other->ranks = (struct ranks){.size = 1};
  return gather(other);
}

void gather_as_helper(struct job *job)
{
  assert(job->ranks.rank);
  merge(job, false);
  if (job->profile.processes)
    profile_release(&job->profile);
  job->profile = (struct profile){0};
  const struct ranks_service service = {.threads = job->options.threads, .timeline = index_part, .self = job};
  ranks_serve(&job->ranks, &service);
}
