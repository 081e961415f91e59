#include "hpcprof-lite/pipelines/job.h"

#include "common/escape.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/find.h"
#include "hpcprof-lite/invocation/column_choice.h"
#include "hpcprof-lite/invocation/runs.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/views/symbolize.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_print_error(const char *format, ...)
{
  va_list arguments;
  char text[8192], line[sizeof text + 1024]; /* memory may be what is missing */
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  escape_text(text, line, sizeof line);
  fprintf(stderr, "hpcprof-lite: %s\n", line);
}

struct problems *job_log_problems(struct job *job)
{
  return job->profile.range.limited ? &job->repeated_problems : &job->log_problems;
}

int job_different_ranks(void)
{
  job_print_error("the ranks run different versions of hpcprof-lite: start the same one on all machines");
  return EXIT_INPUT;
}

/* ---- columns ---- */

/* Sets *column to the column that a word of an option means.  refusal: what is wrong where there is none, with the view
 * and the word.  Returns 0, or the exit status after printing it. */
static int find_column(struct job *job, const char *option, const char *refusal, const char *word, uint32_t *column)
{
  assert(word && job->choice.table.columns_count);
  char wrong[512];
  struct column_choice choice;
  bool exclusive = job->options.view == OPTIONS_FLAT || job->options.view == OPTIONS_BOTTOMUP;
  column_choice_find(&job->choice.table, word, exclusive, &choice);
  *column = choice.column;
  snprintf(wrong, sizeof wrong, "view '%s' %s '%.200s'", job->options.view_name, refusal, word);
  if (choice.column == MODEL_NONE)
    job_print_error("%s: its columns are %s", wrong, choice.names);
  else if (choice.several && !job->options.quiet)
    job_print_error("%s '%s' can mean %s: it is taken for %s", option, word, choice.names,
                    table_column(&job->choice.table, choice.column)->name);
  free(choice.names);
  return choice.column == MODEL_NONE ? EXIT_USAGE : 0;
}

/* Whether --columns has named a column already. */
static bool is_chosen(const struct job *job, uint32_t column)
{
  for (uint32_t i = 0; i < job->report.chosen_count; i++)
    if (job->choice.columns[i] == column)
      return true;
  return false;
}

/* Finds the columns that --columns names. */
static int choose_shown(struct job *job)
{
  size_t room = 0;
  int status = 0;
  for (const char *word = job->options.columns, *end; word && !status; word = *end ? end + 1 : NULL) {
    end = strchrnul(word, ',');
    char *copy = xstrndup(word, (size_t)(end - word));
    uint32_t count = job->report.chosen_count;
    xarray_reserve(&job->choice.columns, &room, (size_t)count + 1, sizeof *job->choice.columns);
    status = find_column(job, "--columns", "has no column", copy, &job->choice.columns[count]);
    if (!status && !((job->options.format == OPTIONS_JSON || job->options.format == OPTIONS_JSONL) &&
                     is_chosen(job, job->choice.columns[count]))) /* keys are unique */
      job->report.chosen_count = count + 1;
    free(copy);
  }
  job->report.chosen = job->choice.columns;
  return status;
}

int job_choose_columns(struct job *job, table_maker *make)
{
  assert(make || (!job->options.sort && !job->options.columns));
  if (!job->options.sort && !job->options.columns)
    return 0;
  make(&job->report, &job->choice.table);
  if (job->options.sort) {
    uint32_t column;
    int status = find_column(job, "--sort", "cannot be sorted by", job->options.sort, &column);
    if (status)
      return status;
    job->options.sort = table_column(&job->choice.table, column)->name;
  }
  return choose_shown(job);
}

double job_percent_limit(const struct job *job)
{
  if (job->options.limits.percent >= 0)
    return job->options.limits.percent;
  return job->options.format == OPTIONS_TEXT ? 0.5 : 0;
}

void job_sort(struct job *job, void *rows, size_t count, size_t size)
{
  assert(!job->options.sort || job->choice.table.columns_count);
  if (job->options.sort)
    table_sort(&job->choice.table, table_number(&job->choice.table, job->options.sort), rows, count, size);
}

void job_sort_tree(struct job *job, struct tree *tree)
{
  assert(!job->options.sort || job->choice.table.columns_count);
  struct table_keys keys;
  struct tree_order order = {.by = SORT_KEYS, .columns = &job->columns, .keys = &keys};
  if (!job->options.sort)
    return;
  uint32_t column = table_number(&job->choice.table, job->options.sort);
  table_keys_init(&keys, &job->choice.table, column, tree->rows, tree->count, sizeof *tree->rows);
  tree_finish(tree, &order, true);
  assert(check_finished_tree(tree));
  table_keys_release(&keys);
}

/* ---- directories ---- */

void job_set_arguments(struct job *job)
{
  const struct options *options = &job->options;
  size_t size = 0;
  FILE *stream = xopen_memstream(&job->arguments, &size);
  fputs(options->input.merge ? "--merge " : "", stream);
  if (options->range.given && options->range.from_ns)
    fprintf(stream, "--from %.9g ", (double)options->range.from_ns * 1e-9);
  if (options->range.given && options->range.to_ns != UINT64_MAX)
    fprintf(stream, "--to %.9g ", (double)options->range.to_ns * 1e-9);
  for (size_t i = 0; i < options->input.count; i++) {
    fputs(i ? " " : "", stream);
    terminal_word(stream, options->input.directories[i], UINT32_MAX, 0);
  }
  xclose(stream, &job->arguments);
}

int job_different_runs(const char *one, const char *other)
{
  job_print_error("'%s' and '%s' are different runs: report one at a time, or add them up with --merge", one, other);
  return EXIT_USAGE;
}

/* Reports which directory is taken, or why none is. */
static void report_newest(const struct options *options, const char *empty)
{
  const char *newest = options->input.newest;
  bool series = empty && find_series(empty);
  if (newest && options->quiet)
    return;
  if (newest && empty)
    job_print_error("reporting '%s', the newest measurement directory here: the later launch into '%s' %s", newest,
                    empty, series ? "is a series; see --scaling" : "has measured nothing so far");
  else if (series && !newest)
    job_print_error("no DIR is given, and '%s' is a series: use hpcprof-lite --scaling, or give one of its runs",
                    empty);
  else if (newest)
    job_print_error("reporting '%s', the newest measurement directory here", newest);
  else if (empty)
    job_print_error("no DIR is given, and nothing has been measured into '%s', the newest directory here, so far",
                    empty);
  else
    job_print_error("no DIR is given, and the current directory contains no measurement directory; measure with: "
                    "hpcrun-lite COMMAND");
}

/* Takes the newest directory. */
static int choose_newest(struct options *options, bool speaks)
{
  assert(!options->input.count && !options->input.newest);
  char *empty;
  int error = runs_newest(&options->input.newest, &empty);
  if (error && speaks)
    job_print_error("no DIR is given, and the current directory cannot be read: %s", strerror(error));
  else if (speaks && !options->live)
    report_newest(options, empty);
  if (options->live && empty && !find_series(empty)) { /* it shows a run that has not measured anything so far */
    free(options->input.newest);
    options->input.newest = empty;
    empty = NULL;
  }
  free(empty);
  options->input.directories = &options->input.newest;
  options->input.count = options->input.newest != NULL;
  if (!error && !options->input.newest && options->live && speaks)
    report_newest(options, NULL);
  return !error && options->input.newest ? 0 : EXIT_USAGE;
}

/* Moves directories of other runs than the first one's behind it, to options->input.references. */
static void take_references(struct options *options)
{
  assert(options->input.count);
  const char *one, *other;
  size_t kept = 1, count = options->input.count;
  for (size_t i = 1; i < count; i++) {
    char *directory = options->input.directories[i], *pair[] = {options->input.directories[0], directory};
    if (runs_differ(pair, 2, &one, &other))
      continue;
    memmove(&options->input.directories[kept + 1], &options->input.directories[kept], (i - kept) * sizeof directory);
    options->input.directories[kept++] = directory;
  }
  options->input.references = options->input.directories + kept;
  options->input.references_count = count - kept;
  options->input.count = kept;
}

int job_choose_directories(struct options *options, bool speaks)
{
  const char *one, *other;
  if (!options->input.count)
    return choose_newest(options, speaks);
  if ((options->view == OPTIONS_ADVICE || options->view == OPTIONS_REGIONS) && !options->input.merge)
    take_references(options);
  if (options->input.merge || options->view == OPTIONS_EFFICIENCY ||
      !runs_differ(options->input.directories, options->input.count, &one, &other))
    return 0;
  if (speaks)
    job_different_runs(one, other);
  return EXIT_USAGE;
}

int job_check_efficiency(const struct job *job)
{
  const struct options *options = &job->options;
  const char *one, *other;
  if (options->view != OPTIONS_EFFICIENCY || options->input.merge || job->report.efficiency.split.added < 2 ||
      !runs_differ(options->input.directories, options->input.count, &one, &other))
    return 0;
  return job_different_runs(one, other);
}

int job_nothing_matches(const char *option, const char *text)
{
  job_print_error("nothing matches '%s %s': see the names, lines and ids of --view topdown -f csv", option, text);
  return EXIT_USAGE;
}

void job_release(struct job *job)
{
  run_marks_release(&job->time.marks);
  trial_release(&job->trial.record);
  ranks_dismiss(&job->ranks);
  for (uint32_t i = 0; job->time.phases && i < job->profile.processes_count; i++) {
    phases_release(&job->time.phases[i]);
    free(job->time.regions[i].regions);
    free(job->time.regions[i].gaps);
  }
  free(job->time.phases);
  free(job->time.regions);
  mpi_events_free(job->time.mpi);
  timeline_source_close(job->time.source);
  derived_release_links(&job->trees.links);
  statistics_release(&job->trees.statistics);
  source_blocks_release(&job->trees.source);
  tree_release(&job->trees.derived);
  tree_release(&job->trees.part);
  tree_release(&job->tree);
  symbolize_release(&job->names);
  totals_release(&job->totals);
  efficiency_release(&job->report.efficiency);
  free(job->arguments);
  free(job->shown);
  lock_rows_release(&job->lists.locks);
  lock_rows_release(&job->lists.pools);
  wait_state_rows_release(&job->mpi.wait_states);
  job_messages_release(&job->mpi.messages);
  rank_rows_release(&job->lists.ranks);
  mpi_rows_release(&job->lists.mpi);
  device_rows_release(&job->lists.devices);
  free(job->lists.threads);
  free(job->lists.rows);
  free(job->choice.columns);
  table_release(&job->choice.table);
  free(job->row_of);
  free(job->spans.factors);
  construct_tree_release(&job->constructs);
  construct_tree_release(&job->construct_list);
  overheads_release(&job->report.overheads);
  region_threads_release(&job->report.region_threads);
  task_figures_release(&job->report.tasks);
  advice_release(&job->report.advice);
  workspan_release(&job->report.spans.workspan);
  whatif_release(&job->report.spans.whatif);
  recorded_graph_release(&job->spans.recorded);
  free(job->grains.stream);
  free(job->grains.contexts);
  grain_reference_release(&job->grains.reference);
  grain_groups_release(&job->grains.groups);
  grain_graph_release(&job->grains.graph);
  problems_release(&job->log_problems);
  problems_release(&job->repeated_problems);
  options_release(&job->options);
  if (job->profile.processes)
    profile_release(&job->profile);
}
