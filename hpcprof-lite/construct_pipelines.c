/* The pipelines of the views of constructs.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason.  All require tree_prepare().
 */
#include "common/xalloc.h"
#include "hpcprof-lite/pipelines.h"

#include "hpcprof-lite/views/construct_order.h"
#include "hpcprof-lite/views/construct_rows.h"

#include <stdlib.h>

static int make_tree(struct job *job)
{
  return construct_rows(&job->profile, &job->names, &job->tree, job->row_of, &job->constructs);
}

static int make_list(struct job *job)
{
  int status = make_tree(job);
  return status ? status : construct_rows_flat(&job->constructs, &job->names, &job->construct_list);
}

/* The exit status of a pipeline. */
static int outcome(int status)
{
  return status ? job_no_memory() : 0;
}

/* Lets the report say what was left out. */
static void set_limits(struct job *job, double percent)
{
  job->report.percent_limit = percent;
  job->report.only_percent_limit = !job->options.depth && !job->options.max_rows;
}

/* Sorts siblings as --sort asks for. */
static int sort(const struct job *job, struct construct_tree *tree)
{
  struct table_keys keys;
  struct construct_line *lines = xcalloc((size_t)tree->count + 1, sizeof *lines);
  for (uint32_t i = 0; i < tree->count; i++)
    lines[i] = (struct construct_line){&tree->entries[i], NULL};
  uint32_t column = table_number(&job->table, job->options.sort);
  int status = table_keys_init(&keys, &job->table, column, lines, tree->count, sizeof *lines);
  if (!status)
    status = construct_order(tree, &keys);
  table_keys_release(&keys);
  free(lines);
  return status;
}

/* Sorts and shortens a tree or list of constructs, which becomes that of the report. */
static int arrange(struct job *job, struct construct_tree *tree, bool list)
{
  const struct options *options = &job->options;
  double standard = options->format == OPTIONS_TEXT ? 0.5 : 0;
  struct construct_limits limits = {.percent = options->percent_limit < 0 ? standard : options->percent_limit,
                                    .depth = options->depth,
                                    .rows = options->max_rows,
                                    .in_order = list};
  job->report.constructs = tree; /* the columns read it */
  int status = options->sort ? sort(job, tree) : 0;
  if (!status)
    status = construct_order_limit(tree, &limits, &job->shown, &job->report.left_out);
  set_limits(job, limits.percent);
  job->report.shown = job->shown;
  job->report.per_thread = options->per_thread;
  return status;
}

int regions_pipeline(struct job *job)
{
  int status = make_list(job);
  return outcome(status ? status : arrange(job, &job->construct_list, true));
}

int region_tree_pipeline(struct job *job)
{
  int status = make_tree(job);
  return outcome(status ? status : arrange(job, &job->constructs, false));
}

/* Whether an amount is at least --percent-limit of the whole. */
static bool is_heavy(const struct job *job, uint64_t amount, uint64_t whole)
{
  return job->options.percent_limit <= 0 || (double)amount * 100 >= (double)whole * job->options.percent_limit;
}

int overheads_pipeline(struct job *job)
{
  struct overheads *overheads = &job->report.overheads;
  int status = make_tree(job);
  if (!status)
    status = overheads_compute(&job->profile, &job->constructs, overheads);
  set_limits(job, job->options.percent_limit);
  uint32_t kept = 0, last = overheads->count ? overheads->count - 1 : 0;
  if (!status)
    status = job_sort(job, overheads->rows, last, sizeof *overheads->rows);
  for (uint32_t i = 0; i < last; i++) /* the program always stays */
    if (is_heavy(job, overheads->rows[i].total_ns, overheads->rows[last].total_ns) &&
        (!job->options.max_rows || kept < job->options.max_rows))
      overheads->rows[kept++] = overheads->rows[i];
  if (overheads->count) {
    overheads->rows[kept] = overheads->rows[last];
    job->report.left_out = last - kept;
    overheads->count = kept + 1;
  }
  return outcome(status);
}

int tasks_pipeline(struct job *job)
{
  struct task_figures *tasks = &job->report.tasks;
  int status = make_tree(job);
  if (!status)
    status = task_figures_compute(&job->profile, &job->names, &job->constructs, tasks);
  if (!status)
    status = job_sort(job, tasks->rows, tasks->count, sizeof *tasks->rows);
  set_limits(job, job->options.percent_limit);
  uint64_t whole = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < tasks->count; i++)
    whole = model_sum(whole, tasks->rows[i].exec_ns);
  for (uint32_t i = 0; i < tasks->count; i++)
    if (is_heavy(job, tasks->rows[i].exec_ns, whole) && (!job->options.max_rows || kept < job->options.max_rows))
      tasks->rows[kept++] = tasks->rows[i];
  job->report.left_out = tasks->count - kept;
  tasks->count = kept;
  job->report.constructs = &job->constructs;
  return outcome(status);
}

int construct_gains(struct job *job)
{
  struct construct_tree *list = &job->construct_list;
  int status = make_list(job);
  job->report.constructs = list;
  struct table_keys keys = {.type = COLUMN_SECONDS, .cells = xcalloc((size_t)list->count + 1, sizeof *keys.cells)};
  if (!keys.cells)
    status = ERR_NOMEM;
  for (uint32_t i = 0; i < list->count && !status; i++)
    keys.cells[i] = cell_ns(list->entries[i].gain_ns);
  if (!status)
    status = construct_order(list, &keys);
  table_keys_release(&keys);
  return status;
}
