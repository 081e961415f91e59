#include "hpcprof-lite/job.h"

#include "hpcprof-lite/views/symbolize.h"

#include <stdio.h>
#include <stdlib.h>

void job_print_error(const char *text)
{
  fprintf(stderr, "hpcprof-lite: %s\n", text);
}

struct problems *job_log_problems(struct job *job)
{
  return job->profile.range.limited ? &job->repeated_problems : &job->log_problems;
}

int job_no_memory(void)
{
  job_print_error("not enough memory for these measurements; report fewer directories at once, or use -j 1");
  return EXIT_INPUT;
}

int job_bad_sort(const struct job *job)
{
  fprintf(
      stderr,
      "hpcprof-lite: view '%s' cannot be sorted by '%s': no such column, or it is empty; -f csv shows the columns\n",
      job->options.view_name, job->options.sort);
  return EXIT_USAGE;
}

int job_nothing_matches(const char *option, const char *text)
{
  fprintf(stderr, "hpcprof-lite: nothing matches '%s %s': see the names, lines and ids of --view topdown -f csv\n",
          option, text);
  return EXIT_USAGE;
}

void job_release(struct job *job)
{
  ranks_dismiss(&job->ranks);
  for (uint32_t i = 0; job->phases && job->phase_regions && i < job->profile.processes_count; i++) {
    phases_release(&job->phases[i]);
    free(job->phase_regions[i].regions);
    free(job->phase_regions[i].gaps);
  }
  free(job->phases);
  free(job->phase_regions);
  timeline_source_close(job->timeline_source);
  derived_release_links(&job->links);
  statistics_release(&job->statistics);
  source_blocks_release(&job->source);
  tree_release(&job->view);
  tree_release(&job->part);
  tree_release(&job->tree);
  symbolize_release(&job->names);
  totals_release(&job->totals);
  free(job->shown);
  free(job->thread_order);
  free(job->row_of);
  free(job->factors);
  construct_tree_release(&job->constructs);
  construct_tree_release(&job->construct_list);
  overheads_release(&job->report.overheads);
  task_figures_release(&job->report.tasks);
  workspan_release(&job->report.workspan);
  whatif_release(&job->report.whatif);
  recorded_graph_release(&job->recorded);
  free(job->grain_stream);
  free(job->grain_contexts);
  grain_reference_release(&job->grain_reference);
  grain_groups_release(&job->grain_groups);
  grain_graph_release(&job->grain_graph);
  problems_release(&job->log_problems);
  problems_release(&job->repeated_problems);
  options_release(&job->options);
  if (job->profile.processes)
    profile_release(&job->profile);
}
