/* hpcprof-lite: chooses the view's pipeline.  Context: BATCH. */
#include "common/version.h"
#include "hpcprof-lite/comparison/compare_pipeline.h"
#include "hpcprof-lite/comparison/gate.h"
#include "hpcprof-lite/comparison/scaling_pipeline.h"
#include "hpcprof-lite/debuginfod_client.h"
#include "hpcprof-lite/pipelines/gather.h"
#include "hpcprof-lite/invocation/consistency.h"
#include "hpcprof-lite/live/live.h"
#include "hpcprof-lite/live/screen.h"
#include "hpcprof-lite/model/workers.h"
#include "common/xalloc.h"
#include "hpcprof-lite/output.h"
#include "hpcprof-lite/all_views/page.h"
#include "hpcprof-lite/report/comparison/gate_view.h"
#include "hpcprof-lite/report/document.h"
#include "hpcprof-lite/report/exports/exports.h"
#include "hpcprof-lite/report/exports/profile/profile_exports.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/row_writer.h"
#include "hpcprof-lite/report/table_writer.h"
#include "hpcprof-lite/pipelines/tree_pipeline.h"
#include "hpcprof-lite/all_views/view_table.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Whether the report is about several runs, each of which is read alone. */
static bool shows_several_runs(const struct options *options)
{
  return options->comparison.base || options->comparison.scaling;
}

/* What writes a format: as a table, from the report, from all views, into a new directory, or into a file. */
static const struct format {
  enum table_format table;
  int (*report)(const struct report *report);
  int (*job)(struct job *job);
  output_directory_writer *directory;
  output_file_writer *file;
} formats[] = {
#define FORMAT(id, name, phrase, shows, traits, ...) {__VA_ARGS__},
#include "hpcprof-lite/invocation/formats.def"
#undef FORMAT
};

static void print_text(const struct job *job)
{
  const struct view *view = &views[job->options.view];
  void (*text)(const struct report *report) = view->text;
  if (job->options.comparison.scaling)
    text = scaling_view_text;
  else if (job->options.comparison.base)
    text = view->compared_text;
  text(&job->report);
}

/* Returns 0, or ERR_INPUT if the input ends early. */
static int print(struct job *job)
{
  const struct view *view = &views[job->options.view];
  const struct format *format = &formats[job->options.format];
  bool several = shows_several_runs(&job->options);
  if (format->job)
    return format->job(job);
  if (format->report)
    return format->report(&job->report);
  if (job->options.format != OPTIONS_TEXT) {
    table_maker *make = view_made_by(&job->options);
    if (several)
      make = job->options.comparison.scaling ? scaling_view_table : view->compared_make;
    if (!make)
      return view->json(&job->report);
    return table_write(&job->report, make, format->table, !job->options.no_header);
  }
  if (!several)
    document_range(&job->report);
  print_text(job);
  if (!several && job->options.view != OPTIONS_SUMMARY) { /* which has it among the facts of the run */
    legend_pauses(&job->report);
    legend_filtered(&job->report);
  }
  return 0;
}

/* Fills the report.  Returns the exit status. */
static int fill(struct job *job, struct comparison *comparison)
{
  const struct view *view = &views[job->options.view];
  const struct format *format = &formats[job->options.format];
  if (format->job || format->file) { /* all views, which have pipelines of their own */
    tree_begin(job, true);
    return 0;
  }
  if (shows_several_runs(&job->options))
    return view_fill_compared(job, comparison);
  bool conditions = job->options.comparison.conditions_count > 0;
  tree_begin(job, options_view_has(&job->options, HAS_TREE) || conditions);
  int status = 0;
  if (conditions) {
    efficiency_pipeline(job);
    status = compare_conditions(job, comparison); /* before --root changes the tree */
  }
  if (!status)
    status = job_check_efficiency(job);
  if (!status)
    status = job_choose_columns(job, view_made_by(&job->options));
  if (!status && view->pipeline)
    status = view->pipeline(job);
  return status;
}

/* Reads the measurements that the report is about.  For a page about several runs, that is the first of those that are
 * compared, or the last of a series, which has the most threads. */
static int read_measurements(struct job *job, struct comparison *comparison)
{
  struct options *options = &job->options;
  if (!shows_several_runs(options))
    return gather(job);
  int status = 0;
  if (options->comparison.scaling)
    scaling_directories(options, comparison);
  else
    status = compare_directories(options, comparison);
  if (status)
    return status;
  uint32_t count = comparison->counts[COMPARE_NEW];
  options->input.directories = comparison->directories[COMPARE_NEW] + (options->comparison.scaling ? count - 1 : 0);
  options->input.count = 1;
  status = gather(job);
  options->input.directories = comparison->directories[COMPARE_NEW];
  options->input.count = count;
  return status;
}

static int report_view(struct job *job, struct comparison *comparison)
{
  const struct options *options = &job->options;
  const struct format *format = &formats[options->format];
  if (format->directory && output_is_new(options->output))
    return EXIT_INPUT;
  if (options_format_is(options, IS_FILE) && !options->output && isatty(STDOUT_FILENO)) {
    job_print_error("format %s is not for a terminal: write it to a file with --output", options_formats[options->format].name);
    return EXIT_USAGE;
  }
  if (options->raw_names || options->format != OPTIONS_CSV) /* pages and databases are made from CSV, too */
    row_writer_keep_names();
  int status = fill(job, comparison);
  if (!status && format->directory)
    status = output_directory(job, format->directory);
  else if (!status && format->file)
    status = output_file(job, format->file);
  else if (!status)
    status = output_report(job, print);
  if (problems_print(&job->log_problems, stderr)) /* single grains are read while they are printed */
    job->status = EXIT_INPUT;
  if (status)
    return status;
  return gate_report(comparison->result.gates, comparison->result.gates_count);
}

/* Follows the measurement in the terminal.  Returns the exit status. */
static int show_live(struct job *job, bool speaks)
{
  char message[512];
  int status = job_choose_directories(&job->options, speaks);
  if (status || !speaks)
    return status;
  const struct live_request request = {
      .directories = job->options.input.directories,
      .directories_count = job->options.input.count,
      .baseline = job->options.baseline,
      .where = {.directories = job->options.symbols.list, .directories_count = job->options.symbols.count},
      .view = views[job->options.view].live};
  if (!live_run(&request, message, sizeof message))
    return EXIT_FINE;
  job_print_error("%s", message);
  return EXIT_USAGE;
}

static void end_without_memory(void)
{
  output_abandon();
  screen_abandon();
  job_print_error("not enough memory for these measurements; report fewer directories at once, or use -j 1");
}

/* Prints the help or the version.  Returns the exit status. */
static int print_information(const struct options *options, bool speaks)
{
  if (speaks && options->help)
    options_print_help(stdout);
  else if (speaks)
    puts("hpcprof-lite " VERSION_TEXT);
  return output_finish(stdout, "standard output");
}

/* Does what the options ask for.  Returns the exit status. */
static int run(struct job *job, struct comparison *comparison, bool speaks)
{
  const struct options *options = &job->options;
  char message[512];
  if (options->help || options->version)
    return print_information(options, speaks);
  if (options->live) {
    job->ranks.size = 1;
    return show_live(job, speaks);
  }
  bool several = shows_several_runs(options);
  if (several && options->format != OPTIONS_HTML) {
    job->ranks.size = 1;
    if (!speaks) /* other ranks have nothing to do */
      return EXIT_FINE;
    return report_view(job, comparison);
  }
  int status = 0;
  if (!several)
    status = job_choose_directories(&job->options, speaks);
  if (status)
    return status;
  enum ranks_role role = ranks_join(&job->ranks, message, sizeof message);
  if (role == RANKS_HELPER)
    gather_as_helper(job);
  if (role != RANKS_FIRST)
    return EXIT_FINE;
  if (*message)
    job_print_error("the first rank does all the work: %s", message);
  status = read_measurements(job, comparison);
  if (!status)
    status = report_view(job, comparison);
  return status;
}

/* Returns the exit status. */
static int carry_out(int argc, char **argv)
{
  struct job job = {.status = EXIT_FINE};
  struct comparison comparison = {0};
  char message[512];
  int status = EXIT_USAGE;
  setlocale(LC_CTYPE, "");
  xalloc_on_failure(end_without_memory);
  signal(SIGPIPE, SIG_IGN); /* a broken pipe shows as EPIPE */
  signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes shows as EFBIG */
  signal(SIGCHLD, SIG_DFL); /* if a parent has it ignored, waitpid() tells nothing of children */
  bool speaks = ranks_is_first();
  if (!options_parse(argc, argv, &job.options, message, sizeof message) &&
      !consistency_check(&job.options, message, sizeof message) &&
      debuginfod_client_start(job.options.debuginfod, message, sizeof message))
    status = run(&job, &comparison, speaks);
  else if (speaks)
    job_print_error("%s", message);
  compare_pipeline_release(&job, &comparison);
  job_release(&job);
  if (!speaks) /* mpirun would end the first rank, which may still have to print its message */
    return EXIT_FINE;
  return status ? status : (int)job.status;
}

struct invocation {
  int argc, status;
  char **argv;
};

static void *carry_out_in_thread(void *argument)
{
  struct invocation *invocation = argument;
  invocation->status = carry_out(invocation->argc, invocation->argv);
  return NULL;
}

/* If the limit of stacks is small (ulimit -s), all work is done in a thread with a larger stack.  The main thread
 * blocks signals, so that they interrupt that thread. */
int main(int argc, char **argv)
{
  struct invocation invocation = {.argc = argc, .argv = argv};
  struct rlimit limit;
  pthread_t thread;
  sigset_t all;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= WORKERS_STACK_BYTES ||
      workers_start(&thread, carry_out_in_thread, &invocation) != 0)
    return carry_out(argc, argv);
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  pthread_join(thread, NULL);
  return invocation.status;
}
