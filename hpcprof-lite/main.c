#include "hpcprof-lite/replay/recorded_graph.h"
#include "hpcprof-lite/views/topdown.h"
#include "hpcprof-lite/views/limits.h"
#include "hpcprof-lite/input/merge.h"
#include "hpcprof-lite/views/symbolize.h"
#include "hpcprof-lite/views/thread_order.h"
#include "hpcprof-lite/options.h"
#include "hpcprof-lite/ranks/ranks.h"
#include "hpcprof-lite/report/parallelism.h"
#include "hpcprof-lite/report/summary.h"
#include "hpcprof-lite/report/table.h"
#include "hpcprof-lite/report/text.h"
#include "hpcprof-lite/report/threads.h"
#include "hpcprof-lite/replay/list_schedule.h"
#include "hpcprof-lite/views/sorting.h"
#include "hpcprof-lite/views/statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef HPCPROF_VERSION
#define HPCPROF_VERSION "0.1"
#endif

enum exit_status { EXIT_FINE = 0, EXIT_INPUT = 1, EXIT_USAGE = 2 };
enum { FILES_TOLD = 16 }; /* files whose problems are told one by one */

_Static_assert((int)SPEEDUP_ROWS <= REPLAY_SCHEDULES, "a schedule for each row");

/* All that one invocation holds, so that it is released in one place. */
struct job {
  struct options options;
  struct ranks ranks;
  struct profile profile;
  struct names names;
  struct tree_columns columns;
  struct totals totals;
  struct tree tree, part, view; /* part: below --root; view: derived from it */
  struct derived_links links;   /* from part or tree to view, where statistics need them */
  struct statistics statistics;
  bool *shown;
  uint64_t *thread_order;
  struct distribution distribution;
  struct workspan_scenario scenario; /* under --what-if, and */
  double *factors;                   /* of the parts of the span */
  struct recorded_graph recorded;
  struct problems log_problems; /* of the log of the graph */
  uint32_t *row_of;             /* [context] row of the tree; then of each directive, see topdown_critical_path() */
  enum exit_status status;
};

/* Whether the view has figures of which threads and ranks differ how much. */
static bool may_want_statistics(const struct options *options)
{
  return options->format != OPTIONS_TEXT;
}

static void complain(const char *text)
{
  fprintf(stderr, "hpcprof-lite: %s\n", text);
}

static int no_memory(void)
{
  complain("not enough memory for these measurements; report fewer directories at once, or use -j 1");
  return EXIT_INPUT;
}

static void show_progress(uint32_t done, uint32_t all)
{
  if (done % 16 == 0 || done == all)
    fprintf(stderr, "\rreading %u of %u files%s", done, all, done == all ? "\r\033[K" : "");
}

/* Says what was wrong with the files; beyond so many of them, only how much. */
static void report_files(struct job *job)
{
  uint32_t files = 0;
  size_t more = 0;
  for (uint32_t i = 0; i < job->profile.processes_count; i++) {
    const struct problems *problems = &job->profile.problems[i];
    if (!problems->count)
      continue;
    job->status = EXIT_INPUT;
    if (files++ < FILES_TOLD)
      problems_print(problems, stderr);
    else
      more += problems->count;
  }
  if (more)
    fprintf(stderr, "hpcprof-lite: and %zu more problems in %" PRIu32 " more files\n", more, files - FILES_TOLD);
}

/* Says of each process that was killed or still runs what there is of it: no damage. */
static void report_unfinished(const struct profile *profile)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (process->superseded)
      fprintf(stderr,
              "hpcprof-lite: %s is whole; the .live file beside it, left as the process was killed, is not read\n",
              process->path);
    if (process->unfinished && process->usable)
      fprintf(stderr, "hpcprof-lite: %s: process %u %s: reported up to its last sample, after %.3f s%s\n",
              process->path, process->pid, process->running ? "still runs" : "did not end orderly",
              (double)process->wall_ns / 1e9,
              process->lost[LOSS_UNKEPT] ? ", but for what was not kept on the disk" : "");
    else if (process->unfinished)
      fprintf(stderr, "hpcprof-lite: %s: the process was killed as it started: nothing of it was measured\n",
              process->path);
  }
}

/* Finds the files, says what is wrong with the directories. */
static int find(struct job *job, char ***paths, uint32_t *count)
{
  struct options *options = &job->options;
  struct problems problems = {0};
  int status = merge_find(options->directories, options->directories_count, &problems, paths, count);
  if (problems_print(&problems, stderr))
    job->status = EXIT_INPUT;
  problems_release(&problems);
  if (!status && options->verbose)
    fprintf(stderr, "hpcprof-lite: reading %u files on %u threads of %u ranks\n", *count, options->threads,
            job->ranks.size);
  return status;
}

/* Reads and merges this rank's part of the files, then all ranks'. */
static int merge(struct job *job, bool first)
{
  const struct options *options = &job->options;
  struct ranks *ranks = &job->ranks;
  char **paths = NULL;
  uint32_t count = 0;
  int status = first ? find(job, &paths, &count) : 0;
  status = ranks_paths(ranks, status, &paths, &count);
  bool progress = first && count > 1 && !options->quiet && isatty(STDERR_FILENO);
  struct merge_part part = {.paths = paths,
                            .count = count,
                            .part = ranks->rank,
                            .parts = ranks->size,
                            .threads = options->threads,
                            .baseline = options->baseline,
                            .progress = progress ? show_progress : NULL};
  if (!status && count)
    status = merge_part(&part, &job->profile);
  status = ranks_reduce(ranks, status, &job->profile);
  if (!status && count && first)
    status = merge_finish(&job->profile);
  for (uint32_t i = 0; i < count; i++)
    free(paths[i]);
  free(paths);
  return status;
}

/* Finds, reads and merges the files.  0, or the exit status where nothing is left to report. */
static int gather(struct job *job)
{
  const struct options *options = &job->options;
  int status = merge(job, true);
  if (status == ERR_INPUT) {
    complain("the ranks run different versions of hpcprof-lite: start the same on all machines");
    return EXIT_INPUT;
  }
  if (status)
    return no_memory();
  if (!may_want_statistics(options))
    ranks_dismiss(&job->ranks);
  report_files(job);
  if (!options->quiet)
    report_unfinished(&job->profile);
  return job->profile.processes_usable ? 0 : EXIT_INPUT;
}

/* Says which modules could not be read: their rows have addresses instead of names.  Their numbers depend on who read
 * which file when, so that they have an order of their own.  0, or ERR_NOMEM. */
static int report_modules(const struct job *job)
{
  if (job->options.quiet)
    return 0;
  uint32_t count = job->names.modules_count;
  uint32_t *rank = calloc((size_t)count + 1, sizeof *rank);
  const char **messages = calloc((size_t)count + 1, sizeof *messages);
  int status = rank && messages ? catalog_module_rank(&job->profile.catalog, rank) : ERR_NOMEM;
  struct problems problems = {0};
  for (uint32_t i = 0; i < count && !status; i++)
    messages[rank[i]] = job->names.modules[i].message;
  for (uint32_t i = 0; i < count && !status; i++)
    if (messages[i])
      problems_add(&problems, "%s", messages[i]);
  if (problems.count)
    problems_print(&problems, stderr);
  problems_release(&problems);
  free(rank);
  free(messages);
  return status;
}

static int bad_sort(const struct job *job)
{
  fprintf(stderr,
          "hpcprof-lite: view '%s' has no column '%s' with values to sort by; its columns are the CSV output's\n",
          job->options.view_name, job->options.sort);
  return EXIT_USAGE;
}

static struct tree_order default_order(const struct job *job, bool exclusive)
{
  return (struct tree_order){.by = exclusive ? SORT_WEIGHT_EXCL : SORT_WEIGHT_INCL,
                             .columns = &job->columns,
                             .modules = job->profile.catalog.modules};
}

static int nothing_matches(const char *option, const char *text)
{
  fprintf(stderr, "hpcprof-lite: nothing matches '%s %s': see the names, lines and ids of --view topdown -f csv\n",
          option, text);
  return EXIT_USAGE;
}

/* Whether to tell how rows are spread over threads: where there is room for it. */
static bool wants_statistics(const struct job *job)
{
  return may_want_statistics(&job->options) && job->columns.work != PROFILE_NONE;
}

/* From here on the contexts' rows are those of the part. */
static void move_rows(struct job *job, const uint32_t *copy_of)
{
  for (uint32_t i = 0; i < job->profile.contexts.count; i++)
    if (job->row_of[i] != PROFILE_NONE)
      job->row_of[i] = copy_of[job->row_of[i]];
}

/* Restricts the tree to --root. */
static int take_part(struct job *job, const struct tree_order *order)
{
  char *name;
  if (asprintf(&name, "%s, below %s", job->totals.command, job->options.root.text) < 0)
    return no_memory();
  const char *owned = names_own(&job->names, name);
  uint32_t matches, *copy_of = calloc(job->tree.count, sizeof *copy_of);
  if (!owned || !copy_of ||
      derived_part(&job->tree, &job->names, &job->options.root, owned, &job->part, &matches, copy_of)) {
    free(copy_of);
    return no_memory();
  }
  move_rows(job, copy_of);
  free(copy_of);
  if (!matches) {
    return nothing_matches("--root", job->options.root.text);
  }
  tree_inclusive(&job->part);
  return tree_finish(&job->part, order, true) ? no_memory() : 0;
}

/* Makes the tree that is shown.  *tree is one of the job's. */
static int derive(struct job *job, const struct tree **tree)
{
  bool callers = job->options.view == OPTIONS_BOTTOMUP, flat = job->options.view == OPTIONS_FLAT;
  struct tree_order order = default_order(job, callers || flat);
  struct tree *from = &job->tree;
  if (job->options.has_root) {
    struct tree_order plain = default_order(job, false);
    int status = take_part(job, &plain);
    if (status)
      return status;
    from = &job->part;
  }
  int status = 0;
  *tree = from;
  if (job->options.view == OPTIONS_CRITICAL_PATH && job->columns.critical != PROFILE_NONE) {
    order.by = SORT_INCL;
    order.column = job->columns.critical;
    status = tree_finish(from, &order, true);
  }
  if (callers || flat) {
    status = (callers ? derived_bottomup : derived_flat)(from, &job->columns, &job->view,
                                                         wants_statistics(job) ? &job->links : NULL);
    if (!status)
      status = tree_finish(&job->view, &order, false); /* ids follow the view's own order, whatever --sort says */
    *tree = &job->view;
  }
  if (status)
    return no_memory();
  if (job->options.sort && sorting_order(job->options.sort, &job->columns, &order))
    return bad_sort(job);
  if (job->options.sort && tree_finish(*tree == &job->view ? &job->view : from, &order, true))
    return no_memory();
  if ((*tree)->cut)
    complain("the bottomup view was cut: some callers are left out; use --root to look at a part");
  return 0;
}

/* 0, or ERR_NOMEM. */
static int print(const struct job *job, const struct report *report)
{
  int status = 0;
  bool json = job->options.format == OPTIONS_JSON, text = job->options.format == OPTIONS_TEXT;
  switch (job->options.view) {
  case OPTIONS_SUMMARY:
    text ? summary_text(report) : table_summary(report, json);
    break;
  case OPTIONS_EFFICIENCY:
    text ? text_efficiency(report) : table_efficiency(report, json);
    break;
  case OPTIONS_CRITICAL_PATH:
    if (text)
      report->profile->graph.known ? text_critical_path(report) : parallelism_missing(report);
    else
      status = table_tree(report, json);
    break;
  case OPTIONS_PARALLELISM:
    text ? parallelism_text(report) : parallelism_table(report, json);
    break;
  case OPTIONS_WHATIF:
    text ? parallelism_whatif_text(report) : parallelism_whatif(report, json);
    break;
  case OPTIONS_SPEEDUP:
    text ? parallelism_speedup_text(report) : parallelism_speedup(report, json);
    break;
  case OPTIONS_THREADS:
    text ? threads_text(report) : table_threads(report, json);
    break;
  default:
    if (text)
      text_tree(report);
    else
      status = table_tree(report, json);
  }
  return status;
}

/* Reads the measurements once more, now that the view's rows are known. */
static int add_statistics(struct job *job, struct report *report)
{
  struct problems problems = {0};
  for (uint32_t i = 0; i < job->profile.processes_count; i++)
    if (job->profile.processes[i].running) { /* a second reading would find more than the first */
      fprintf(stderr, "hpcprof-lite: a process still runs: no statistics of threads and ranks until it ends\n");
      return 0;
    }
  struct statistics_view view = {.profile = &job->profile,
                                 .column = job->columns.source[job->columns.work],
                                 .row_of = job->row_of,
                                 .tree = job->options.has_root ? &job->part : &job->tree,
                                 .into = report->tree == &job->view ? &job->links : NULL,
                                 .rows = report->tree->count};
  int status = ranks_statistics(&job->ranks, &view, job->options.threads, &problems, &job->statistics);
  if (problems_print(&problems, stderr))
    job->status = EXIT_INPUT;
  problems_release(&problems);
  report->statistics = &job->statistics;
  return status ? no_memory() : 0;
}

/* Makes the tree view's report. */
static int report_tree(struct job *job, struct report *report)
{
  const struct options *options = &job->options;
  int status = derive(job, &report->tree);
  if (status)
    return status;
  double standard = options->format == OPTIONS_TEXT ? 0.5 : 0;
  struct limits limits = {.percent = options->percent_limit < 0 ? standard : options->percent_limit,
                          .depth = options->depth,
                          .rows = options->max_rows,
                          .by_excl = options->view == OPTIONS_BOTTOMUP,
                          .critical_path = options->view == OPTIONS_CRITICAL_PATH,
                          .in_order = options->view == OPTIONS_FLAT};
  report->percent_limit = limits.percent;
  report->weigh_excl = limits.by_excl;
  if (limits_apply(report->tree, &job->columns, &limits, &job->shown, &report->left_out))
    return no_memory();
  report->shown = job->shown;
  return wants_statistics(job) ? add_statistics(job, report) : 0;
}

/* What the summary holds beside the trees. */
struct highlights {
  struct hotspot hot[HOTSPOTS_MAX];
  struct unnamed_module modules[UNNAMED_MODULES_MAX];
  struct causes_finding idle[CAUSES_WORST], locks[CAUSES_WORST];
  uint32_t path[HOTSPOTS_CRITICAL_MAX];
};

/* Makes the summary's report. */
static int report_summary(struct job *job, struct report *report, struct highlights *found)
{
  struct tree_order order = default_order(job, true);
  order.by = SORT_SPENT_EXCL;
  int status = derived_flat(&job->tree, &job->columns, &job->view, NULL);
  if (!status)
    status = tree_finish(&job->view, &order, false);
  if (!status)
    status = unnamed_modules(&job->tree, &job->columns, &job->names, found->modules, &report->modules_count);
  if (!status)
    status = workspan_compute(&job->profile, &job->names, &job->tree, NULL, NULL, &report->workspan);
  if (!status)
    status = workspan_lead(job->row_of, job->tree.count, &report->workspan);
  if (status)
    return no_memory();
  report->path = found->path;
  report->path_count = hotspots_critical(&job->view, &job->columns, found->path);
  report->tree = &job->tree;
  report->flat = &job->view;
  report->hot = found->hot;
  report->hot_count = hotspots_find(&job->tree, &job->view, &job->columns, found->hot);
  report->modules = found->modules;
  report->idle = found->idle;
  report->idle_count = causes_worst(&job->tree, &job->view, &job->columns, job->columns.idleness, found->idle);
  report->locks = found->locks;
  report->locks_count = causes_worst(&job->tree, &job->view, &job->columns, job->columns.lockwait, found->locks);
  return 0;
}

static int report_threads(struct job *job, struct report *report)
{
  int status = thread_order(&job->profile, job->options.sort, &job->thread_order, &report->thread_count);
  if (status == ERR_INPUT)
    return bad_sort(job);
  if (status)
    return no_memory();
  report->thread_order = job->thread_order;
  uint32_t most = job->options.max_rows;
  if (job->options.format == OPTIONS_TEXT && !most && report->thread_count > DISTRIBUTION_FROM) {
    report->distribution = &job->distribution;
    return distribution_compute(&job->profile, job->thread_order, report->thread_count, tree_has_time(&job->columns),
                                &job->distribution)
               ? no_memory()
               : 0;
  }
  if (most && most < report->thread_count) {
    report->left_out = report->thread_count - most;
    report->thread_count = most;
  }
  return 0;
}

/* Shortens a table to --max-rows; the first row always stays. */
static void shorten(const struct job *job, uint32_t *count, struct report *report)
{
  uint32_t most = job->options.max_rows;
  if (!most || most >= *count)
    return;
  report->left_out = *count - most;
  *count = most;
}

/* Opens the log of the graph, if there is one, with schedules on so many cores. */
static int open_log(struct job *job, const uint32_t *cores, uint32_t count)
{
  return recorded_graph_open(&job->profile, cores, count, &job->log_problems, &job->recorded);
}

/* What --what-if is computed from. */
static struct whatif_run whatif_run(struct job *job)
{
  return (struct whatif_run){.profile = &job->profile, .names = &job->names, .tree = &job->tree, .row_of = job->row_of};
}

/* The scenario, if the parallelism view is to show one. */
static int apply_scenario(struct job *job)
{
  if (!job->options.scenarios_count || !job->profile.graph.known)
    return 0;
  struct whatif_run run = whatif_run(job);
  struct whatif_row row = {.asked = &job->options.scenarios[0]};
  const char *unmatched;
  job->factors = calloc((size_t)job->profile.contexts.shares_count + 1, sizeof *job->factors);
  if (!job->factors || whatif_factors(&run, row.asked, job->factors, &unmatched))
    return no_memory();
  if (unmatched)
    return nothing_matches("--what-if", unmatched);
  job->scenario.factors = job->factors;
  int status = open_log(job, NULL, 0);
  if (!status && job->recorded.known)
    status = recorded_graph_scenario(&job->recorded, &run, &row, &job->scenario);
  return status ? no_memory() : 0;
}

/* Suggestions; a log, if there is one, is open. */
static int rank_functions(struct job *job, const struct whatif_run *run, struct whatif *whatif)
{
  struct tree_order order = default_order(job, true);
  const struct profile_share *parts;
  uint32_t count;
  int status = derived_flat(&job->tree, &job->columns, &job->view, NULL);
  if (!status)
    status = tree_finish(&job->view, &order, false);
  if (!status)
    status = recorded_graph_parts(&job->recorded, &parts, &count);
  return status ? status : whatif_rank(run, &job->view, &job->columns, parts, count, whatif);
}

static int report_whatif(struct job *job, struct report *report)
{
  struct whatif_run run = whatif_run(job);
  const char *unmatched = NULL;
  if (!job->profile.graph.known)
    return 0;
  int status = 0;
  if (job->options.scenarios_count)
    status = whatif_compute(&run, job->options.scenarios, job->options.scenarios_count, &report->whatif, &unmatched);
  if (unmatched)
    return nothing_matches("--what-if", unmatched);
  if (!status)
    status = open_log(job, NULL, 0);
  if (!status && !job->options.scenarios_count)
    status = rank_functions(job, &run, &report->whatif);
  if (!status)
    status = recorded_graph_whatif(&job->recorded, &run, &report->whatif);
  if (!status && report->whatif.automatic)
    whatif_choose(&run, &report->whatif);
  report->log_differs = job->recorded.differs;
  return status ? no_memory() : 0;
}

static int report_speedup(struct job *job, struct report *report)
{
  struct speedup *speedup = &report->speedup;
  uint32_t cores[SPEEDUP_ROWS], count = 0;
  double makespans[SPEEDUP_ROWS] = {0};
  speedup_compute(&job->profile, speedup);
  bool one = job->profile.span_processes == 1; /* else a schedule of one process says nothing of all */
  for (uint32_t i = 0; one && i < speedup->count; i++)
    if (speedup->rows[i].cores <= LIST_SCHEDULE_CORES_MAX)
      cores[count++] = (uint32_t)speedup->rows[i].cores;
  int status = one ? open_log(job, cores, count) : 0;
  if (status || !job->recorded.known)
    return status ? no_memory() : 0;
  for (uint32_t i = 0; i < count; i++) /* cores beyond stand in the last row alone */
    makespans[i] = job->recorded.makespans[i];
  speedup_enter(&job->profile, job->recorded.burdened, makespans, speedup);
  report->log_differs = job->recorded.differs;
  return 0;
}

static int report_parallelism(struct job *job, struct report *report)
{
  int unusable = apply_scenario(job);
  if (unusable)
    return unusable;
  int status = workspan_compute(&job->profile, &job->names, &job->tree, job->options.sort,
                                job->factors ? &job->scenario : NULL, &report->workspan);
  if (!status)
    status = workspan_lead(job->row_of, job->tree.count, &report->workspan);
  if (status)
    return status == ERR_INPUT ? bad_sort(job) : no_memory();
  report->tree = &job->tree;
  shorten(job, &report->workspan.count, report);
  return 0;
}

/* Reads symbols and makes the top-down tree, where the view needs it. */
static int build(struct job *job)
{
  tree_columns_init(&job->profile.catalog, &job->columns);
  if (totals_compute(&job->profile, &job->columns, job->options.baseline, &job->totals))
    return no_memory();
  if (job->options.view == OPTIONS_THREADS || job->options.view == OPTIONS_EFFICIENCY ||
      job->options.view == OPTIONS_SPEEDUP)
    return 0;
  if (symbolize(&job->profile, job->options.threads, &job->names))
    return no_memory();
  if (report_modules(job))
    return no_memory();
  struct tree_order order = default_order(job, false);
  size_t places = (size_t)job->profile.contexts.count + job->profile.graph.directives_count + 1;
  job->row_of = malloc(places * sizeof *job->row_of);
  if (!job->row_of || topdown_build(&job->profile, &job->names, &job->columns, job->totals.command, job->options.lines,
                                    &job->tree, job->row_of))
    return no_memory();
  if (topdown_critical_path(&job->profile, &job->names, &job->columns, &job->tree, job->row_of))
    return no_memory();
  tree_inclusive(&job->tree);
  return tree_finish(&job->tree, &order, false) ? no_memory() : 0;
}

/* Whether all was written; a reader that went away is no error worth a word. */
static int finish_output(FILE *stream, const char *name)
{
  bool broken = fflush(stream) || ferror(stream);
  if (!broken)
    return 0;
  if (errno != EPIPE)
    fprintf(stderr, "hpcprof-lite: cannot write %s: %s\n", name, strerror(errno));
  return EXIT_INPUT;
}

/* Writes the report to a new file that takes the name only when it is complete. */
static int print_file(const struct job *job, struct report *report)
{
  const char *name = job->options.output;
  char *temporary;
  if (asprintf(&temporary, "%s.XXXXXX", name) < 0)
    return no_memory();
  int fd = mkostemp(temporary, O_CLOEXEC);
  FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
  int status = EXIT_INPUT;
  if (!stream) {
    fprintf(stderr, "hpcprof-lite: cannot write '%s': %s\n", name, strerror(errno));
    if (fd >= 0)
      close(fd);
    goto out;
  }
  mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  report->stream = stream;
  status = print(job, report) ? no_memory() : finish_output(stream, name);
  if (fclose(stream) && !status)
    status = EXIT_INPUT;
  if (!status && rename(temporary, name)) {
    fprintf(stderr, "hpcprof-lite: cannot write '%s': %s\n", name, strerror(errno));
    status = EXIT_INPUT;
  }
out:
  if (status && fd >= 0)
    unlink(temporary);
  free(temporary);
  return status;
}

/* Whether the output is a file of its own, not a device or pipe such as /dev/stdout. */
static bool is_plain_output(const char *name)
{
  struct stat stat;
  return lstat(name, &stat) || S_ISREG(stat.st_mode);
}

static int print_stream(const struct job *job, struct report *report)
{
  const char *name = job->options.output;
  if (name && is_plain_output(name))
    return print_file(job, report);
  FILE *stream = name ? fopen(name, "we") : stdout;
  if (!stream) {
    fprintf(stderr, "hpcprof-lite: cannot write '%s': %s\n", name, strerror(errno));
    return EXIT_INPUT;
  }
  report->stream = stream;
  int status = print(job, report) ? no_memory() : finish_output(stream, name ? name : "standard output");
  if (name && fclose(stream) && !status)
    status = EXIT_INPUT;
  return status;
}

static int report_view(struct job *job)
{
  struct report report = {.view = job->options.view_name,
                          .profile = &job->profile,
                          .names = &job->names,
                          .columns = &job->columns,
                          .totals = &job->totals,
                          .directory = job->options.directories[0],
                          .baseline = job->options.baseline};
  struct highlights found;
  int status = 0;
  if (efficiency_compute(&job->profile, job->totals.elapsed_ns, &report.efficiency))
    status = no_memory();
  else if (job->options.view == OPTIONS_SUMMARY)
    status = report_summary(job, &report, &found);
  else if (job->options.view == OPTIONS_THREADS)
    status = report_threads(job, &report);
  else if (job->options.view == OPTIONS_PARALLELISM)
    status = report_parallelism(job, &report);
  else if (job->options.view == OPTIONS_WHATIF)
    status = report_whatif(job, &report);
  else if (job->options.view == OPTIONS_SPEEDUP)
    status = report_speedup(job, &report);
  else if (job->options.view != OPTIONS_EFFICIENCY)
    status = report_tree(job, &report);
  if (problems_print(&job->log_problems, stderr))
    job->status = EXIT_INPUT;
  if (!status)
    status = print_stream(job, &report);
  workspan_release(&report.workspan);
  whatif_release(&report.whatif);
  return status;
}

static void release(struct job *job)
{
  ranks_dismiss(&job->ranks);
  derived_release_links(&job->links);
  statistics_release(&job->statistics);
  tree_release(&job->view);
  tree_release(&job->part);
  tree_release(&job->tree);
  symbolize_release(&job->names);
  totals_release(&job->totals);
  free(job->shown);
  free(job->thread_order);
  free(job->row_of);
  free(job->factors);
  recorded_graph_release(&job->recorded);
  problems_release(&job->log_problems);
  options_release(&job->options);
  if (job->profile.processes)
    profile_release(&job->profile);
}

/* What a rank does that is not the first. */
static int help(struct job *job, enum ranks_role role)
{
  if (role == RANKS_HELPER) {
    merge(job, false);
    if (job->profile.processes)
      profile_release(&job->profile);
    job->profile = (struct profile){0};
    ranks_serve(&job->ranks, job->options.threads);
  }
  release(job);
  return EXIT_FINE;
}

int main(int argc, char **argv)
{
  struct job job = {.status = EXIT_FINE};
  char message[512];
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_IGN); /* a broken pipe shows as EPIPE */
  bool speaks = ranks_speaks();
  if (options_parse(argc, argv, &job.options, message, sizeof message)) {
    if (speaks)
      complain(message);
    options_release(&job.options);
    return EXIT_USAGE;
  }
  if (job.options.help || job.options.version) {
    if (speaks)
      fputs(job.options.help ? options_help() : "hpcprof-lite " HPCPROF_VERSION "\n", stdout);
    options_release(&job.options);
    return finish_output(stdout, "standard output");
  }
  enum ranks_role role = ranks_join(&job.ranks, message, sizeof message);
  if (role == RANKS_FIRST && *message)
    fprintf(stderr, "hpcprof-lite: the first rank does all the work: %s\n", message);
  if (role != RANKS_FIRST)
    return help(&job, role);
  int status = gather(&job);
  if (!status)
    status = build(&job);
  if (!status)
    status = report_view(&job);
  release(&job);
  return status ? status : (int)job.status;
}
