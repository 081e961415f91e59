/* hpcprof-lite: chooses the view's pipeline.  Context: BATCH. */
#include "hpcprof-lite/construct_pipelines.h"
#include "hpcprof-lite/gather.h"
#include "hpcprof-lite/grain_pipelines.h"
#include "hpcprof-lite/graph_pipelines.h"
#include "hpcprof-lite/output.h"
#include "hpcprof-lite/overview_pipelines.h"
#include "hpcprof-lite/report/advice_view.h"
#include "hpcprof-lite/report/constructs/overheads_view.h"
#include "hpcprof-lite/report/constructs/regions_view.h"
#include "hpcprof-lite/report/constructs/tasks_view.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/exports/dot.h"
#include "hpcprof-lite/report/exports/firefox.h"
#include "hpcprof-lite/report/exports/graph_json.h"
#include "hpcprof-lite/report/exports/graphml.h"
#include "hpcprof-lite/report/exports/otf2.h"
#include "hpcprof-lite/report/exports/perfetto.h"
#include "hpcprof-lite/report/grains_view.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/source/source_view.h"
#include "hpcprof-lite/report/speedup_view.h"
#include "hpcprof-lite/report/summary.h"
#include "hpcprof-lite/report/table.h"
#include "hpcprof-lite/report/text.h"
#include "hpcprof-lite/report/threads.h"
#include "hpcprof-lite/report/whatif_view.h"
#include "hpcprof-lite/report/timeline/phases_view.h"
#include "hpcprof-lite/report/timeline/timeline_table.h"
#include "hpcprof-lite/report/timeline/timeline_text.h"
#include "hpcprof-lite/timeline_pipelines.h"
#include "hpcprof-lite/tree_pipeline.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>

#ifndef HPCPROF_VERSION
#define HPCPROF_VERSION "0.1"
#endif

/* A view: whether it needs symbols and the top-down tree, the pipeline that fills the report (NULL: the efficiencies,
 * which every report has, are all), and what prints it as text, and as CSV or JSON, and as text that is read meanwhile.
 */
static const struct view {
  bool needs_tree;
  int (*pipeline)(struct job *job);
  void (*text)(const struct report *report);
  int (*table)(const struct report *report, bool json);
  int (*drawing)(const struct report *report);
} views[] = {
    [OPTIONS_SUMMARY] = {true, summary_pipeline, summary_text, table_summary},
    [OPTIONS_TOPDOWN] = {true, tree_pipeline, text_tree, table_tree},
    [OPTIONS_BOTTOMUP] = {true, tree_pipeline, text_tree, table_tree},
    [OPTIONS_FLAT] = {true, tree_pipeline, text_tree, table_tree},
    [OPTIONS_THREADS] = {false, threads_pipeline, threads_text, table_threads},
    [OPTIONS_EFFICIENCY] = {false, NULL, text_efficiency, table_efficiency},
    [OPTIONS_PARALLELISM] = {true, parallelism_pipeline, parallelism_text, parallelism_table},
    [OPTIONS_CRITICAL_PATH] = {true, tree_pipeline, text_critical_path, table_tree},
    [OPTIONS_WHATIF] = {true, whatif_pipeline, whatif_view_text, whatif_view_table},
    [OPTIONS_SPEEDUP] = {false, speedup_pipeline, speedup_view_text, speedup_view_table},
    [OPTIONS_REGIONS] = {true, regions_pipeline, regions_view_text, regions_view_table},
    [OPTIONS_REGION_TREE] = {true, region_tree_pipeline, regions_view_tree_text, regions_view_tree_table},
    [OPTIONS_OVERHEADS] = {true, overheads_pipeline, overheads_view_text, overheads_view_table},
    [OPTIONS_TASKS] = {true, tasks_pipeline, tasks_view_text, tasks_view_table},
    [OPTIONS_TIMELINE] = {true, timeline_view_pipeline, NULL, timeline_table, timeline_text},
    [OPTIONS_ADVICE] = {true, advice_pipeline, advice_view_text, advice_view_table},
    [OPTIONS_PHASES] = {true, phases_pipeline, phases_view_text, phases_view_table},
    [OPTIONS_GRAINS] = {true, grains_pipeline, grains_view_text, grains_view_table},
    [OPTIONS_GRAIN_GRAPH] = {true, grain_graph_pipeline, NULL, graph_json},
    [OPTIONS_SOURCE] = {true, source_pipeline, source_view_text, source_view_table},
};

/* Formats of single views. */
static int (*const exports[])(const struct report *report) = {[OPTIONS_GRAPHML] = graphml_write,
                                                              [OPTIONS_DOT] = dot_write,
                                                              [OPTIONS_PERFETTO] = perfetto_write,
                                                              [OPTIONS_FIREFOX] = firefox_write};

/* 0, ERR_INPUT if the input ends early, or ERR_NOMEM. */
static int print(const struct job *job)
{
  const struct view *view = &views[job->options.view];
  int (*const export)(const struct report *report) = exports[job->options.format];
  if (export)
    return export(&job->report);
  if (job->options.format != OPTIONS_TEXT)
    return view->table(&job->report, job->options.format == OPTIONS_JSON);
  document_range(&job->report);
  if (view->drawing)
    return view->drawing(&job->report);
  view->text(&job->report);
  return 0;
}

static int report_view(struct job *job)
{
  const struct options *options = &job->options;
  const struct view *view = &views[options->view];
  job->report = (struct report){.view = options->view_name,
                                .profile = &job->profile,
                                .names = &job->names,
                                .columns = &job->columns,
                                .totals = &job->totals,
                                .directory = options->directories[0],
                                .baseline = options->baseline,
                                .colour = options->colour,
                                .legend = options->legend};
  if (options->format == OPTIONS_OTF2 && output_is_new(options->output))
    return EXIT_INPUT;
  tree_columns_init(&job->profile.catalog, &job->columns);
  if (totals_compute(&job->profile, &job->columns, options->baseline, &job->totals))
    return job_no_memory();
  int status = view->needs_tree ? tree_prepare(job) : 0;
  if (job->profile.range.limited &&
      !job->profile.range.traced) { /* samples are of the whole run, and so is the order of the tree, with its IDs */
    tree_columns_keep_critical(&job->columns);
    job->report.log_differs = job->profile.range.log_differs;
  }
  if (!status && efficiency_compute(&job->profile, job->totals.elapsed_ns, &job->report.efficiency))
    status = job_no_memory();
  if (!status)
    status = job_check_efficiency(job);
  if (!status)
    status = job_choose_sort(job);
  if (!status && view->pipeline)
    status = view->pipeline(job);
  if (!status)
    status = options->format == OPTIONS_OTF2 ? output_directory(job, otf2_write) : output_report(job, print);
  if (problems_print(&job->log_problems, stderr)) /* single grains are read while they are printed */
    job->status = EXIT_INPUT;
  return status;
}

int main(int argc, char **argv)
{
  struct job job = {.status = EXIT_FINE};
  char message[512];
  int status = EXIT_FINE;
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_IGN); /* a broken pipe shows as EPIPE */
  bool speaks = ranks_is_first();
  if (options_parse(argc, argv, &job.options, message, sizeof message)) {
    if (speaks)
      job_print_error(message);
    status = EXIT_USAGE;
  } else if (job.options.help || job.options.version) {
    if (speaks)
      fputs(job.options.help ? options_help() : "hpcprof-lite " HPCPROF_VERSION "\n", stdout);
    status = output_finish(stdout, "standard output");
  } else if (!(status = job_choose_directories(&job.options, speaks))) {
    enum ranks_role role = ranks_join(&job.ranks, message, sizeof message);
    if (role == RANKS_FIRST && *message)
      fprintf(stderr, "hpcprof-lite: the first rank does all the work: %s\n", message);
    if (role == RANKS_HELPER)
      gather_as_helper(&job);
    else if (role == RANKS_FIRST)
      status = gather(&job);
    if (!status && role == RANKS_FIRST)
      status = report_view(&job);
  }
  job_release(&job);
  return status ? status : (int)job.status;
}
