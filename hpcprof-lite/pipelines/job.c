#include "hpcprof-lite/pipelines/job.h"

#include "common/escape.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/find.h"
#include "hpcprof-lite/invocation/column_choice.h"
#include "hpcprof-lite/invocation/runs.h"
#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/views/symbolize.h"

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
  char wrong[512];
  struct column_choice choice;
  bool exclusive = job->options.view == OPTIONS_FLAT || job->options.view == OPTIONS_BOTTOMUP;
  column_choice_find(&job->table, word, exclusive, &choice);
  *column = choice.column;
  snprintf(wrong, sizeof wrong, "view '%s' %s '%.200s'", job->options.view_name, refusal, word);
  if (choice.column == MODEL_NONE)
    job_print_error("%s: its columns are %s", wrong, choice.names);
  else if (choice.several && !job->options.quiet)
    job_print_error("%s '%s' can mean %s: it is taken for %s", option, word, choice.names,
                    table_column(&job->table, choice.column)->name);
  free(choice.names);
  return choice.column == MODEL_NONE ? EXIT_USAGE : 0;
}

/* Whether --columns has named a column already. */
static bool is_chosen(const struct job *job, uint32_t column)
{
  for (uint32_t i = 0; i < job->report.chosen_count; i++)
    if (job->chosen[i] == column)
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
    xarray_reserve(&job->chosen, &room, (size_t)count + 1, sizeof *job->chosen);
    status = find_column(job, "--columns", "has no column", copy, &job->chosen[count]);
    if (!status && !((job->options.format == OPTIONS_JSON || job->options.format == OPTIONS_JSONL) &&
                     is_chosen(job, job->chosen[count]))) /* keys are unique */
      job->report.chosen_count = count + 1;
    free(copy);
  }
  job->report.chosen = job->chosen;
  return status;
}

int job_choose_columns(struct job *job, table_maker *make)
{
  if (!job->options.sort && !job->options.columns)
    return 0;
  make(&job->report, &job->table);
  if (job->options.sort) {
    uint32_t column;
    int status = find_column(job, "--sort", "cannot be sorted by", job->options.sort, &column);
    if (status)
      return status;
    job->options.sort = table_column(&job->table, column)->name;
  }
  return choose_shown(job);
}

void job_sort(struct job *job, void *rows, size_t count, size_t size)
{
  if (job->options.sort)
    table_sort(&job->table, table_number(&job->table, job->options.sort), rows, count, size);
}

void job_sort_tree(struct job *job, struct tree *tree)
{
  struct table_keys keys;
  struct tree_order order = {.by = SORT_KEYS, .columns = &job->columns, .keys = &keys};
  if (!job->options.sort)
    return;
  uint32_t column = table_number(&job->table, job->options.sort);
  table_keys_init(&keys, &job->table, column, tree->rows, tree->count, sizeof *tree->rows);
  tree_finish(tree, &order, true);
  table_keys_release(&keys);
}

/* ---- directories ---- */

void job_set_arguments(struct job *job)
{
  const struct options *options = &job->options;
  size_t size = 0;
  FILE *stream = xopen_memstream(&job->arguments, &size);
  fputs(options->merge ? "--merge " : "", stream);
  if (options->limited && options->from_ns)
    fprintf(stream, "--from %.9g ", (double)options->from_ns * 1e-9);
  if (options->limited && options->to_ns != UINT64_MAX)
    fprintf(stream, "--to %.9g ", (double)options->to_ns * 1e-9);
  for (size_t i = 0; i < options->directories_count; i++) {
    fputs(i ? " " : "", stream);
    terminal_word(stream, options->directories[i], UINT32_MAX, 0);
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
  const char *newest = options->newest;
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
  char *empty;
  int error = runs_newest(&options->newest, &empty);
  if (error && speaks)
    job_print_error("no DIR is given, and the current directory cannot be read: %s", strerror(error));
  else if (speaks && !options->live)
    report_newest(options, empty);
  if (options->live && empty && !find_series(empty)) { /* it shows a run that has not measured anything so far */
    free(options->newest);
    options->newest = empty;
    empty = NULL;
  }
  free(empty);
  options->directories = &options->newest;
  options->directories_count = options->newest != NULL;
  if (!error && !options->newest && options->live && speaks)
    report_newest(options, NULL);
  return !error && options->newest ? 0 : EXIT_USAGE;
}

/* Moves directories of other runs than the first one's behind it, to options->references. */
static void take_references(struct options *options)
{
  const char *one, *other;
  size_t kept = 1, count = options->directories_count;
  for (size_t i = 1; i < count; i++) {
    char *directory = options->directories[i], *pair[] = {options->directories[0], directory};
    if (runs_differ(pair, 2, &one, &other))
      continue;
    memmove(&options->directories[kept + 1], &options->directories[kept], (i - kept) * sizeof directory);
    options->directories[kept++] = directory;
  }
  options->references = options->directories + kept;
  options->references_count = count - kept;
  options->directories_count = kept;
}

int job_choose_directories(struct options *options, bool speaks)
{
  const char *one, *other;
  if (!options->directories_count)
    return choose_newest(options, speaks);
  if (options->view == OPTIONS_ADVICE && !options->merge)
    take_references(options);
  if (options->merge || options->view == OPTIONS_EFFICIENCY ||
      !runs_differ(options->directories, options->directories_count, &one, &other))
    return 0;
  return speaks ? job_different_runs(one, other) : EXIT_USAGE;
}

int job_check_efficiency(const struct job *job)
{
  const struct options *options = &job->options;
  const char *one, *other;
  if (options->view != OPTIONS_EFFICIENCY || options->merge || job->report.efficiency.split.added < 2 ||
      !runs_differ(options->directories, options->directories_count, &one, &other))
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
  run_marks_release(&job->marks);
  ranks_dismiss(&job->ranks);
  for (uint32_t i = 0; job->phases && i < job->profile.processes_count; i++) {
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
  free(job->arguments);
  free(job->shown);
  free(job->thread_order);
  free(job->row_order);
  free(job->chosen);
  table_release(&job->table);
  free(job->row_of);
  free(job->factors);
  construct_tree_release(&job->constructs);
  construct_tree_release(&job->construct_list);
  overheads_release(&job->report.overheads);
  task_figures_release(&job->report.tasks);
  advice_release(&job->report.advice);
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
