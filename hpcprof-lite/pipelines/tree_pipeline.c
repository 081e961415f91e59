#include "hpcprof-lite/pipelines/tree_pipeline.h"

#include "common/xalloc.h"
#include "hpcprof-lite/invocation/column_choice.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/pipelines/pipelines.h"
#include "hpcprof-lite/report/exports/profile/tree_walk.h"
#include "hpcprof-lite/report/tree_view.h"
#include "hpcprof-lite/views/construct_names.h"
#include "hpcprof-lite/views/limits.h"
#include "hpcprof-lite/views/source/source_code.h"
#include "hpcprof-lite/views/symbolize.h"
#include "hpcprof-lite/views/topdown.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reports which modules could not be read, so that their rows have addresses instead of names, in the order of their
 * paths: their numbers depend on scheduling. */
static void report_modules(const struct job *job)
{
  if (job->options.quiet)
    return;
  uint32_t count = job->names.modules_count;
  uint32_t *rank = xcalloc(count, sizeof *rank);
  const char **messages = xcalloc(count, sizeof *messages);
  catalog_module_rank(&job->profile.catalog, rank);
  struct problems problems = {0};
  for (uint32_t i = 0; i < count; i++)
    messages[rank[i]] = job->names.modules[i].message;
  for (uint32_t i = 0; i < count; i++)
    if (messages[i])
      problems_add(&problems, "%s", messages[i]);
  problems_print(&problems, stderr);
  problems_release(&problems);
  free(rank);
  free(messages);
}

struct tree_order tree_default_order(const struct job *job, bool exclusive)
{
  return (struct tree_order){.by = exclusive ? SORT_WEIGHT_EXCL : SORT_WEIGHT_INCL, .columns = &job->columns};
}

static struct topdown_choice shown_frames(const struct options *options)
{
  assert(options->view < OPTIONS_VIEWS);
  struct topdown_choice choice = {.lines = options->lines ? TOPDOWN_LINES : TOPDOWN_NO_LINES,
                                  .python_frames = options->python_frames};
  if (options->view == OPTIONS_SOURCE)
    choice.lines = TOPDOWN_LINES_OF_CALLS;
  return choice;
}

/* Gives the rows of a part of the run the IDs that they have in the whole. */
static void number_as_whole(struct job *job)
{
  assert(job->tree.order);
  struct tree_columns columns;
  struct tree_order order = {.by = SORT_WEIGHT_INCL, .columns = &columns};
  struct tree whole = {0};
  if (!tree_columns_of_whole(&job->profile.catalog, &columns))
    return;
  topdown_build(&job->profile, &job->names, &columns, job->totals.command, shown_frames(&job->options), &whole, NULL);
  tree_inclusive(&whole);
  assert(check_tree_sums(&whole));
  tree_finish(&whole, &order, false);
  assert(check_finished_tree(&whole));
  tree_take_ids(&job->tree, &whole);
  tree_release(&whole);
}

/* Makes the top-down tree, whose names are known. */
static void build_tree(struct job *job)
{
  assert(job->row_of && !job->tree.rows);
  struct tree_order order = tree_default_order(job, false);
  topdown_build(&job->profile, &job->names, &job->columns, job->totals.command, shown_frames(&job->options), &job->tree,
                job->row_of);
  topdown_critical_path(&job->profile, &job->names, &job->columns, &job->tree, job->row_of);
  tree_inclusive(&job->tree);
  assert(check_tree_sums(&job->tree));
  tree_finish(&job->tree, &order, false);
  assert(check_finished_tree(&job->tree));
}

/* Resolves symbols and makes the top-down tree. */
static void prepare(struct job *job)
{
  assert(!job->row_of);
  const struct symbols_search where = {.directories = job->options.symbols.list,
                                       .directories_count = job->options.symbols.count};
  symbolize(&job->profile, &where, job->options.threads, &job->names);
  report_modules(job);
  size_t places = (size_t)job->profile.contexts.count + job->profile.workspan.directives_count + 1;
  job->row_of = xmalloc(places * sizeof *job->row_of);
  build_tree(job);
  number_as_whole(job);
  construct_names(&job->profile, &job->tree, &job->names);
}

void tree_prepare_again(struct job *job)
{
  tree_release(&job->tree);
  build_tree(job);
}

void tree_begin(struct job *job, bool needs_tree)
{
  const struct options *options = &job->options;
  job_set_arguments(job);
  profile_filtered(&job->profile, job->filtered, sizeof job->filtered);
  job->report = (struct report){.view = options->view_name,
                                .filtered = job->filtered,
                                .profile = &job->profile,
                                .names = &job->names,
                                .columns = &job->columns,
                                .totals = &job->totals,
                                .command.arguments = job->arguments,
                                .command.references = options->input.references,
                                .command.references_count = options->input.references_count,
                                .baseline = options->baseline,
                                .grains.colour = options->grains.colour,
                                .legend = options->legend};
  tree_columns_init(&job->profile.catalog, &job->columns);
  totals_compute(&job->profile, &job->columns, options->baseline, &job->totals);
  job->report.mpi = job->totals.mpi_calls || job->totals.mpi_ns;
  job->report.awaits = job->totals.device_ns;
  if (needs_tree)
    prepare(job);
  if (job->profile.range.limited &&
      !job->profile.range.traced) { /* samples are of the whole run, and so is the order of the tree, with its IDs */
    tree_columns_keep_critical(&job->columns);
    job->report.log_differs = job->profile.range.log_differs;
  }
  efficiency_compute(&job->profile, job->totals.measured_ns, &job->report.efficiency);
}

/* Whether statistics of threads and ranks are shown or sorted by. */
static bool wants_statistics(const struct job *job)
{
  const struct report *report = &job->report;
  if (report->trees.no_statistics || job->columns.work == MODEL_NONE)
    return false;
  bool wanted = job->options.format != OPTIONS_TEXT && !report->chosen_count;
  for (uint32_t i = 0; i < report->chosen_count; i++)
    wanted |= tree_view_is_statistic(&job->choice.table, report->chosen[i]);
  if (job->options.sort)
    wanted |= tree_view_is_statistic(&job->choice.table, table_number(&job->choice.table, job->options.sort));
  return wanted;
}

/* Replaces rows of the tree by rows of the part. */
static void move_rows(struct job *job, const uint32_t *copy_of)
{
  assert(copy_of && job->row_of);
  for (uint32_t i = 0; i < job->profile.contexts.count; i++)
    if (job->row_of[i] != MODEL_NONE)
      job->row_of[i] = copy_of[job->row_of[i]];
}

/* Restricts the tree to --root. */
static int take_part(struct job *job, const struct tree_order *order)
{
  assert(job->options.root.given);
  const char *name =
      names_own(&job->names, xasprintf("%s, below %s", job->totals.command, job->options.root.selector.text));
  uint32_t matches, *copy_of = xcalloc(job->tree.count, sizeof *copy_of);
  derived_part(&job->tree, &job->names, &job->options.root.selector, name, &job->trees.part, &matches, copy_of);
  move_rows(job, copy_of);
  free(copy_of);
  if (!matches)
    return job_nothing_matches("--root", job->options.root.selector.text);
  tree_inclusive(&job->trees.part);
  assert(check_tree_sums(&job->trees.part));
  tree_finish(&job->trees.part, order, true);
  assert(check_finished_tree(&job->trees.part));
  return 0;
}

/* Makes the part a tree, of the one that is to be shown, in which recursive calls are joined. */
static void collapse(struct job *job, const struct tree *from, const struct tree_order *order)
{
  struct tree collapsed;
  uint32_t *copy_of = xcalloc(from->count, sizeof *copy_of);
  derived_collapsed(from, &collapsed, copy_of);
  move_rows(job, copy_of);
  free(copy_of);
  tree_release(&job->trees.part);
  job->trees.part = collapsed;
  tree_inclusive(&job->trees.part);
  assert(check_tree_sums(&job->trees.part));
  tree_finish(&job->trees.part, order, true);
  assert(check_finished_tree(&job->trees.part));
}

/* Makes the tree that is shown; **tree belongs to the job. */
static int derive(struct job *job, struct tree **tree)
{
  bool callers = job->options.view == OPTIONS_BOTTOMUP, flat = job->options.view == OPTIONS_FLAT;
  struct tree_order order = tree_default_order(job, callers || flat);
  struct tree *from = &job->tree;
  if (job->options.root.given) {
    struct tree_order plain = tree_default_order(job, false);
    int status = take_part(job, &plain);
    if (status)
      return status;
    from = &job->trees.part;
  }
  if (job->options.collapse_recursion) {
    struct tree_order plain = tree_default_order(job, false);
    collapse(job, from, &plain);
    from = &job->trees.part;
  }
  *tree = from;
  if (job->options.view == OPTIONS_CRITICAL_PATH && job->columns.critical != MODEL_NONE) {
    order.by = SORT_INCL;
    order.column = job->columns.critical;
    tree_finish(from, &order, true);
    assert(check_finished_tree(from));
  }
  if (callers || flat) {
    struct derived_links *links = wants_statistics(job) ? &job->trees.links : NULL;
    if (callers)
      derived_bottomup(from, &job->columns, &job->trees.derived, links);
    else
      derived_flat(from, &job->columns, &job->trees.derived, links);
    job->report.trees.calls = flat ? from : NULL;
    tree_finish(&job->trees.derived, &order, false); /* ids follow the view's default order, whatever --sort is */
    assert(check_finished_tree(&job->trees.derived));
    *tree = &job->trees.derived;
  }
  job->report.tree = *tree;
  if ((*tree)->truncated)
    job_print_error("the bottomup view is too large: some callers are omitted; use --root to show a part");
  return 0;
}

/* Reads the measurements a second time, because statistics need the view's rows. */
static int add_statistics(struct job *job)
{
  assert(job->columns.work != MODEL_NONE);
  struct problems problems = {0};
  for (uint32_t i = 0; i < job->profile.processes_count; i++)
    if (job->profile.processes[i].running && !job->profile.processes[i].copied) { /* a second reading would find more */
      job_print_error("a process is still running: statistics of threads and ranks are omitted");
      return 0;
    }
  struct statistics_view view = {.profile = &job->profile,
                                 .column = job->columns.source[job->columns.work],
                                 .row_of = job->row_of,
                                 .tree = job->trees.part.rows ? &job->trees.part : &job->tree,
                                 .into = job->report.tree == &job->trees.derived ? &job->trees.links : NULL,
                                 .rows = job->report.tree->count};
  int status = ranks_statistics(&job->ranks, &view, job->options.threads, &problems, &job->trees.statistics);
  if (problems_print(&problems, stderr))
    job->status = EXIT_INPUT;
  problems_release(&problems);
  job->report.trees.statistics = &job->trees.statistics;
  if (status)
    return job_different_ranks();
  return 0;
}

void tree_limit(struct job *job)
{
  assert(job->report.tree);
  const struct options *options = &job->options;
  struct limits limits = {.percent = job_percent_limit(job),
                          .depth = options->limits.depth,
                          .rows = options->limits.rows,
                          .by_excl = options->view == OPTIONS_BOTTOMUP,
                          .part = job->profile.range.traced,
                          .critical_path = options->view == OPTIONS_CRITICAL_PATH,
                          .lines_follow = options_format_is(options, IS_LINES),
                          .in_order = options->view != OPTIONS_TOPDOWN && options->view != OPTIONS_BOTTOMUP &&
                                      options->view != OPTIONS_CRITICAL_PATH};
  job->report.limits.percent = limits.percent;
  job->report.limits.only_percent = !limits.depth && !limits.rows;
  limits_apply(job->report.tree, &job->columns, &limits, &job->shown, &job->report.limits.left_out);
  job->report.shown = job->shown;
}

/* Finds the metric that a word means: by its name, its heading in text, or a part of these. */
static void find_metric(const struct tree_metrics *metrics, const char *word, struct column_choice *choice)
{
  static const struct {
    const char *name, *heading;
  } headings[] = {{"overhead", "Ovhd%"}, {"lockwait", "Lock%"}, {"idleness", "Idle%"}, {"critical_path", "Crit%"}};
  struct table table = {0};
  struct table_column *columns = table_memory(&table, metrics->count * sizeof *columns);
  for (uint32_t i = 0; i < metrics->count; i++) {
    columns[i].name = metrics->list[i].name;
    for (size_t j = 0; j < sizeof headings / sizeof *headings; j++)
      if (!strcmp(columns[i].name, headings[j].name))
        columns[i].heading = headings[j].heading;
  }
  table_add(&table, &(struct schema){columns, metrics->count, NULL}, NULL);
  column_choice_find(&table, word, true, choice);
  table_release(&table);
}

/* Finds the metric of folded stacks.  Returns 0 or the exit status. */
static int choose_metric(struct job *job)
{
  const char *word = job->options.comparison.metric;
  struct tree_metrics metrics;
  struct column_choice choice;
  tree_metrics_init(&job->report, &metrics);
  job->report.trees.metric = word;
  if (!word || tree_metrics_find(&metrics, word) != MODEL_NONE)
    return 0;
  find_metric(&metrics, word, &choice);
  if (choice.column == MODEL_NONE)
    job_print_error("cannot use '--metric %s': this run has %s", word, choice.names);
  else
    job->report.trees.metric = names_own(&job->names, xstrdup(metrics.list[choice.column].name));
  if (choice.several && !job->options.quiet)
    job_print_error("--metric '%s' can mean %s: it is taken for %s", word, choice.names, job->report.trees.metric);
  free(choice.names);
  return choice.column == MODEL_NONE ? EXIT_USAGE : 0;
}

int tree_pipeline(struct job *job)
{
  struct tree *tree;
  job->report.trees.no_statistics |= options_formats[job->options.format].shows == SHOWS_CONTEXTS;
  int status = derive(job, &tree);
  if (!status && job->options.format == OPTIONS_FOLDED)
    status = choose_metric(job);
  if (!status && wants_statistics(job))
    status = add_statistics(job);
  if (status)
    return status;
  job_sort_tree(job, tree);
  tree_limit(job);
  return 0;
}

/* Begins with the directories of --source-path, and with the time after which a source is too new. */
static int prepare_files(struct job *job)
{
  struct source_files *files = &job->trees.source.files;
  for (uint32_t i = 0; i < job->options.source_paths.count; i++) {
    if (source_files_add_directory(files, job->options.source_paths.list[i])) {
      job_print_error("cannot use '--source-path %s': it is no directory; give one that holds sources",
                      job->options.source_paths.list[i]);
      return EXIT_USAGE;
    }
  }
  for (uint32_t i = 0; i < job->profile.processes_count; i++) {
    const struct profile_process *process = &job->profile.processes[i];
    if (process->usable && (!files->since_ns || process->start_ns < files->since_ns))
      files->since_ns = process->start_ns;
  }
  return 0;
}

/* Reports which sources may not be those that were measured: csv and json have no place for it. */
static void report_faults(const struct job *job)
{
  static const char *const said[SOURCE_FAULTS][2] = {
      [SOURCE_MISSING] = {"missing", "-I DIR tells where else to look"},
      [SOURCE_UNREADABLE] = {"not readable", ""},
      [SOURCE_SHORT] = {"too short", "it is not the file that was measured"},
      [SOURCE_NEWER] = {"newer than the measurement", "lines may have moved"},
      [SOURCE_NAMESAKE] = {"found by name only", "the text may be that of another file"}};
  const struct source_files *files = &job->trees.source.files;
  const struct source_file *first[SOURCE_FAULTS] = {NULL};
  uint32_t count[SOURCE_FAULTS] = {0};
  for (uint32_t i = 0; i < files->count; i++) {
    enum source_fault fault = source_file_fault(&files->files[i]);
    if (!count[fault]++)
      first[fault] = &files->files[i];
  }
  for (int i = SOURCE_MISSING; i < SOURCE_FAULTS && !job->options.quiet; i++)
    if (count[i])
      job_print_error("%u source file%s %s, such as %s: %s", count[i], count[i] == 1 ? " is" : "s are", said[i][0],
                      first[i]->found ? first[i]->found : first[i]->path,
                      i == SOURCE_UNREADABLE ? first[i]->reason : said[i][1]);
}

/* Prints why --root selects no line. */
static int nothing_selected(struct job *job)
{
  const struct selector *root = &job->options.root.selector;
  for (uint32_t i = 1; i < job->tree.count && !root->is_lines; i++)
    if (selector_matches(&job->names, root, &job->tree.rows[i])) {
      job_print_error("'%s' has no figures of its own, only what it calls has: see topdown --root '%s'", root->text,
                      root->text);
      return EXIT_USAGE;
    }
  return job_nothing_matches("--root", root->text);
}

/* Refuses a --root that names lines without figures which are not in any of their files either, if these are known. */
static int check_lines(struct job *job)
{
  const struct selector *root = &job->options.root.selector;
  struct source_blocks *source = &job->trees.source;
  bool exist = !job->options.root.given || !root->is_lines;
  uint32_t number;
  for (uint32_t i = 0; i < source->count && !exist; i++) {
    source_files_find(&source->files, source->blocks[i].file, 0, &number);
    const struct source_file *file = &source->files.files[number];
    exist = source->blocks[i].count || root->from <= file->lines;
  }
  if (!exist)
    return nothing_selected(job);
  return 0;
}

int source_pipeline(struct job *job)
{
  struct source_blocks *source = &job->trees.source;
  const struct options *options = &job->options;
  struct source_request request = {.profile = &job->profile,
                                   .names = &job->names,
                                   .columns = &job->columns,
                                   .row_of = job->row_of,
                                   .root = options->root.given ? &options->root.selector : NULL,
                                   .lines_most = options->limits.rows};
  if (!options->limits.rows && !options->root.given)
    request.lines_most = SOURCE_LINES_MOST;
  job->report.trees.source = source;
  int status = prepare_files(job);
  if (status)
    return status;
  source_lines_build(&job->profile, &job->names, &job->columns, &job->tree, &source->lines);
  source_blocks_choose(&request, source);
  if (options->root.given && !source->count)
    return nothing_selected(job);
  status = check_lines(job);
  if (status)
    return status;
  if (options->format == OPTIONS_TEXT) {
    source_blocks_arrange(&request, source);
    source_code_find(&request, source);
  } else {
    source_blocks_read(source);
    report_faults(job);
  }
  return 0;
}
