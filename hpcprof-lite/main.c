/* hpcprof-lite: chooses the view's pipeline.  Context: BATCH. */
#include "common/version.h"
#include "hpcprof-lite/comparison/compare_pipeline.h"
#include "hpcprof-lite/comparison/gate.h"
#include "hpcprof-lite/comparison/scaling_pipeline.h"
#include "hpcprof-lite/construct_pipelines.h"
#include "hpcprof-lite/gather.h"
#include "hpcprof-lite/grain_pipelines.h"
#include "hpcprof-lite/graph_pipelines.h"
#include "hpcprof-lite/invocation/consistency.h"
#include "hpcprof-lite/live/live.h"
#include "hpcprof-lite/output.h"
#include "hpcprof-lite/page/database_pipeline.h"
#include "hpcprof-lite/page/page_pipeline.h"
#include "hpcprof-lite/overview_pipelines.h"
#include "hpcprof-lite/report/advice_view.h"
#include "hpcprof-lite/report/comparison/compare_threads_view.h"
#include "hpcprof-lite/report/comparison/compare_view.h"
#include "hpcprof-lite/report/comparison/gate_view.h"
#include "hpcprof-lite/report/comparison/scaling_view.h"
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
#include "hpcprof-lite/report/exports/profile/profile_exports.h"
#include "hpcprof-lite/report/grains_view.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/marks/marks_view.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/source/source_view.h"
#include "hpcprof-lite/report/speedup_view.h"
#include "hpcprof-lite/report/summary/summary.h"
#include "hpcprof-lite/report/table.h"
#include "hpcprof-lite/report/table_writer.h"
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

/* A view: whether it needs symbols and the top-down tree, the pipeline that fills the report (NULL: the efficiencies,
 * which every report has, are all), and what prints it as text, and as CSV or JSON, and as text that is read meanwhile.
 */
static const struct view {
  bool needs_tree;
  int (*pipeline)(struct job *job);
  void (*text)(const struct report *report);
  int (*table)(const struct report *report, bool json);
  int (*drawing)(const struct report *report);
  table_maker *make;
} views[] = {
    [OPTIONS_SUMMARY] = {true, summary_pipeline, summary_text, table_summary},
    [OPTIONS_TOPDOWN] = {true, tree_pipeline, text_tree, table_tree},
    [OPTIONS_BOTTOMUP] = {true, tree_pipeline, text_tree, table_tree},
    [OPTIONS_FLAT] = {true, tree_pipeline, text_tree, table_tree},
    [OPTIONS_THREADS] = {false, threads_pipeline, threads_text, NULL, NULL, threads_table},
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
    [OPTIONS_MARKS] = {false, marks_pipeline, marks_view_text, marks_view_table},
    [OPTIONS_USER_COUNTERS] = {false, user_counters_pipeline, user_counters_text, user_counters_table},
    [OPTIONS_SOURCE] = {true, source_pipeline, source_view_text, source_view_table},
};

/* Formats of single views. */
static int (*const exports[])(const struct report *report) = {
    [OPTIONS_GRAPHML] = graphml_write,       [OPTIONS_DOT] = dot_write,           [OPTIONS_FOLDED] = folded_write,
    [OPTIONS_SPEEDSCOPE] = speedscope_write, [OPTIONS_PPROF] = pprof_write,       [OPTIONS_CALLGRIND] = callgrind_write,
    [OPTIONS_HATCHET] = hatchet_write,       [OPTIONS_PERFETTO] = perfetto_write, [OPTIONS_FIREFOX] = firefox_write,
    [OPTIONS_MARKDOWN] = gate_view_markdown, [OPTIONS_JUNIT] = gate_view_junit};

/* Views of a comparison. */
static const struct {
  void (*text)(const struct report *report);
  int (*table)(const struct report *report, bool json);
} compared_views[] = {[OPTIONS_SUMMARY] = {compare_view_summary, compare_view_summary_table},
                      [OPTIONS_TOPDOWN] = {compare_view_tree, table_tree},
                      [OPTIONS_BOTTOMUP] = {compare_view_tree, table_tree},
                      [OPTIONS_FLAT] = {compare_view_tree, table_tree},
                      [OPTIONS_REGIONS] = {compare_view_tree, compare_view_regions_table},
                      [OPTIONS_PARALLELISM] = {compare_view_tree, compare_view_parallelism_table},
                      [OPTIONS_THREADS] = {compare_threads_view_text, compare_threads_view_table}};

/* Writes the CSV of a comparison or of a series into the page, in a job of its own. */
static int page_comparison(struct job *job, enum options_view number)
{
  static struct job compared; /* both are kept until the process ends */
  static struct comparison comparison;
  compared = (struct job){.options = job->options, .ranks.size = 1};
  compared.options.view = number;
  compared.options.view_name = options_view_name(number);
  compared.options.format = OPTIONS_CSV;
  int status = (job->options.scaling ? scaling_pipeline : compare_pipeline)(&compared, &comparison);
  compared.report.stream = job->report.stream;
  if (status)
    return status;
  return (job->options.scaling ? scaling_view_table : compared_views[number].table)(&compared.report, false);
}

/* Writes a view into the page; of intervals, only fills the report. */
static int page_view(struct job *job, enum options_view number, enum page_content content)
{
  if (content == PAGE_COMPARED)
    return page_comparison(job, number);
  bool json = content == PAGE_JSON;
  const struct view *view = &views[number];
  job->options.view = number;
  job->options.format = json ? OPTIONS_JSON : OPTIONS_CSV;
  job->report.view = options_view_name(number);
  int status = number == OPTIONS_SOURCE ? tree_prepare_again(job) : 0;
  if (!status && view->pipeline)
    status = view->pipeline(job);
  return status || content == PAGE_INTERVALS ? status : view->make ? table_write(&job->report, view->make, json) : view->table(&job->report, json);
}

static int write_database(struct job *job, const char *path, char *message, size_t size)
{
  return database_write(job, page_view, path, message, size);
}

/* 0, ERR_INPUT if the input ends early, or ERR_NOMEM. */
static int print(struct job *job)
{
  const struct view *view = &views[job->options.view];
  int (*const export)(const struct report *report) = exports[job->options.format];
  if (job->options.format == OPTIONS_HTML)
    return page_write(job, page_view);
  if (export)
    return export(&job->report);
  bool json = job->options.format == OPTIONS_JSON;
  if (job->options.scaling && job->options.format != OPTIONS_TEXT)
    return scaling_view_table(&job->report, json);
  if (job->options.scaling) {
    scaling_view_text(&job->report);
    return 0;
  }
  if (job->options.compare && job->options.format != OPTIONS_TEXT)
    return compared_views[job->options.view].table(&job->report, json);
  if (job->options.compare) {
    compared_views[job->options.view].text(&job->report);
    return 0;
  }
  if (job->options.format != OPTIONS_TEXT)
    return view->make ? table_write(&job->report, view->make, json) : view->table(&job->report, json);
  document_range(&job->report);
  int status = 0;
  if (view->drawing)
    status = view->drawing(&job->report);
  else
    view->text(&job->report);
  if (job->options.view != OPTIONS_SUMMARY) { /* which has it among the facts of the run */
    legend_pauses(&job->report);
    legend_filtered(&job->report);
  }
  return status;
}

/* Fills the report.  Returns the exit status. */
static int fill(struct job *job, struct comparison *comparison)
{
  const struct view *view = &views[job->options.view];
  if (job->options.format == OPTIONS_HTML ||
      job->options.format == OPTIONS_SQLITE) /* tables have pipelines of their own */
    return tree_begin(job, true);
  if (job->options.compare)
    return compare_pipeline(job, comparison);
  if (job->options.scaling)
    return scaling_pipeline(job, comparison);
  bool conditions = job->options.conditions_count > 0;
  int status = tree_begin(job, view->needs_tree || conditions);
  if (!status && conditions) /* before --root changes the tree */
    status = compare_conditions(job, comparison);
  if (!status)
    status = job_check_efficiency(job);
  if (!status)
    status = job_choose_columns(job, view->make);
  return !status && view->pipeline ? view->pipeline(job) : status;
}

/* Whether the report is about several runs, each of which is read alone. */
static bool shows_several_runs(const struct options *options)
{
  return options->compare || options->scaling;
}

/* Reads the measurements that the report is about: of a page about several runs the first of those that are compared,
 * or the last of a series, which has the most threads. */
static int read_measurements(struct job *job, struct comparison *comparison)
{
  struct options *options = &job->options;
  if (!shows_several_runs(options))
    return gather(job);
  int status = (options->scaling ? scaling_directories : compare_directories)(options, comparison);
  if (status)
    return status;
  uint32_t count = comparison->counts[COMPARE_NEW];
  options->directories = comparison->directories[COMPARE_NEW] + (options->scaling ? count - 1 : 0);
  options->directories_count = 1;
  status = gather(job);
  options->directories = comparison->directories[COMPARE_NEW];
  options->directories_count = count;
  return status;
}

static int report_view(struct job *job, struct comparison *comparison)
{
  const struct options *options = &job->options;
  if (options->format == OPTIONS_OTF2 && output_is_new(options->output))
    return EXIT_INPUT;
  if (options->raw_names || options->format != OPTIONS_CSV) /* pages and databases are made from CSV, too */
    row_writer_keep_names();
  int status = fill(job, comparison);
  if (!status)
    status = options->format == OPTIONS_OTF2     ? output_directory(job, otf2_write)
             : options->format == OPTIONS_SQLITE ? output_file(job, write_database)
                                                 : output_report(job, print);
  if (problems_print(&job->log_problems, stderr)) /* single grains are read while they are printed */
    job->status = EXIT_INPUT;
  return status ? status : gate_report(comparison->result.gates, comparison->result.gates_count);
}

/* Follows the measurement in the terminal.  Returns the exit status. */
static int show_live(struct job *job, bool speaks)
{
  static const enum pages_view pages[] = {[OPTIONS_SUMMARY] = PAGES_SUMMARY,
                                          [OPTIONS_FLAT] = PAGES_FUNCTIONS,
                                          [OPTIONS_TOPDOWN] = PAGES_CONTEXTS,
                                          [OPTIONS_THREADS] = PAGES_THREADS};
  char message[512];
  int status = job_choose_directories(&job->options, speaks);
  if (status || !speaks)
    return status;
  const struct live_request request = {.directories = job->options.directories,
                                       .directories_count = job->options.directories_count,
                                       .baseline = job->options.baseline,
                                       .view = pages[job->options.view]};
  status = live_run(&request, message, sizeof message);
  if (status == ERR_INPUT)
    job_print_error("%s", message);
  return status == ERR_NOMEM ? job_no_memory() : status ? EXIT_USAGE : EXIT_FINE;
}

int main(int argc, char **argv)
{
  struct job job = {.status = EXIT_FINE};
  struct comparison comparison = {0};
  char message[512];
  int status = EXIT_FINE;
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_IGN); /* a broken pipe shows as EPIPE */
  signal(SIGCHLD, SIG_DFL); /* else nothing is known of children: who starts this program may ignore it */
  bool speaks = ranks_is_first();
  if (options_parse(argc, argv, &job.options, message, sizeof message) ||
      consistency_check(&job.options, message, sizeof message)) {
    if (speaks)
      job_print_error("%s", message);
    status = EXIT_USAGE;
  } else if (job.options.help || job.options.version) {
    if (speaks)
      fputs(job.options.help ? options_help() : "hpcprof-lite " VERSION_TEXT "\n", stdout);
    status = output_finish(stdout, "standard output");
  } else if (job.options.live) {
    job.ranks.size = 1;
    status = show_live(&job, speaks);
  } else if (shows_several_runs(&job.options) && job.options.format != OPTIONS_HTML) {
    /* other ranks have nothing to do */
    job.ranks.size = 1;
    status = speaks ? report_view(&job, &comparison) : EXIT_FINE;
  } else if (shows_several_runs(&job.options) || !(status = job_choose_directories(&job.options, speaks))) {
    enum ranks_role role = ranks_join(&job.ranks, message, sizeof message);
    if (role == RANKS_FIRST && *message)
      job_print_error("the first rank does all the work: %s", message);
    if (role == RANKS_HELPER)
      gather_as_helper(&job);
    else if (role == RANKS_FIRST)
      status = read_measurements(&job, &comparison);
    if (!status && role == RANKS_FIRST)
      status = report_view(&job, &comparison);
  }
  compare_pipeline_release(&job, &comparison);
  job_release(&job);
  if (!speaks) /* mpirun would end the first rank, which may still have to print its message */
    return EXIT_FINE;
  return status ? status : (int)job.status;
}
