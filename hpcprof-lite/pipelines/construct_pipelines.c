/* The pipelines of the views of constructs.
 *
 * Context: BATCH, the main thread.  Each fills the report of its view and returns 0, or the exit status after it has
 * printed the reason.  All require tree_begin() with the tree.
 */
#include "common/xalloc.h"
#include "hpcprof-lite/pipelines/pipelines.h"

#include "hpcprof-lite/pipelines/one_thread.h"
#include "hpcprof-lite/views/construct_order.h"
#include "hpcprof-lite/views/construct_rows.h"

#include <assert.h>
#include <stdlib.h>

void make_constructs(struct job *job)
{
  assert(job->row_of && !job->constructs.entries);
  construct_rows(&job->profile, &job->names, &job->tree, job->row_of, &job->constructs);
}

static void make_list(struct job *job)
{
  make_constructs(job);
  construct_rows_flat(&job->constructs, &job->names, &job->construct_list);
}

/* Sets why rows are left out. */
static void set_limits(struct job *job, double percent)
{
  job->report.limits.percent = percent;
  job->report.limits.only_percent = !job->options.limits.depth && !job->options.limits.rows;
}

/* Sorts siblings as --sort asks for. */
static void sort(const struct job *job, struct construct_tree *tree)
{
  assert(job->options.sort);
  struct table_keys keys;
  struct construct_line *lines = xcalloc(tree->count, sizeof *lines);
  for (uint32_t i = 0; i < tree->count; i++)
    lines[i] = (struct construct_line){&tree->entries[i], NULL};
  uint32_t column = table_number(&job->choice.table, job->options.sort);
  table_keys_init(&keys, &job->choice.table, column, lines, tree->count, sizeof *lines);
  construct_order(tree, &keys);
  table_keys_release(&keys);
  free(lines);
}

/* Sorts and shortens a tree or list of constructs, which becomes that of the report. */
static void arrange(struct job *job, struct construct_tree *tree, bool list)
{
  const struct options *options = &job->options;
  struct construct_limits limits = {.percent = job_percent_limit(job),
                                    .depth = options->limits.depth,
                                    .rows = options->limits.rows,
                                    .in_order = list};
  job->report.constructs = tree; /* the columns read it */
  if (options->sort)
    sort(job, tree);
  construct_order_limit(tree, &limits, &job->shown, &job->report.limits.left_out);
  set_limits(job, limits.percent);
  job->report.shown = job->shown;
  job->report.per_thread = options->per_thread;
}

int regions_pipeline(struct job *job)
{
  struct one_thread alone;
  int status = one_thread_read(job, &alone);
  if (!status) {
    make_list(job);
    region_threads_compute(&job->profile, &job->names, &job->constructs, &alone.regions, &job->report.region_threads);
    arrange(job, &job->construct_list, true);
  }
  region_threads_release_alone(&alone.regions);
  return status;
}

int region_tree_pipeline(struct job *job)
{
  make_constructs(job);
  arrange(job, &job->constructs, false);
  return 0;
}

/* Whether a row is shown behind others: its amount is at least --percent-limit of the whole, and --max-rows allows it.
 */
static bool is_kept(const struct job *job, uint64_t amount, uint64_t whole, uint32_t before)
{
  if (job->options.limits.rows && before >= job->options.limits.rows)
    return false;
  return job->options.limits.percent <= 0 || (double)amount * 100 >= (double)whole * job->options.limits.percent;
}

int overheads_pipeline(struct job *job)
{
  struct overheads *overheads = &job->report.overheads;
  make_constructs(job);
  overheads_compute(&job->profile, &job->constructs, overheads);
  set_limits(job, job->options.limits.percent);
  if (!overheads->count)
    return 0;
  uint32_t kept = 0, last = overheads->count - 1;
  job_sort(job, overheads->rows, last, sizeof *overheads->rows);
  for (uint32_t i = 0; i < last; i++) /* the program always stays */
    if (is_kept(job, overheads->rows[i].total_ns, overheads->rows[last].total_ns, kept))
      overheads->rows[kept++] = overheads->rows[i];
  overheads->rows[kept] = overheads->rows[last];
  job->report.limits.left_out = last - kept;
  overheads->count = kept + 1;
  return 0;
}

int tasks_pipeline(struct job *job)
{
  struct task_figures *tasks = &job->report.tasks;
  make_constructs(job);
  task_figures_compute(&job->profile, &job->names, &job->constructs, tasks);
  job_sort(job, tasks->rows, tasks->count, sizeof *tasks->rows);
  set_limits(job, job->options.limits.percent);
  uint64_t whole = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < tasks->count; i++)
    model_add(&whole, tasks->rows[i].exec_ns);
  for (uint32_t i = 0; i < tasks->count; i++)
    if (is_kept(job, tasks->rows[i].exec_ns, whole, kept))
      tasks->rows[kept++] = tasks->rows[i];
  job->report.limits.left_out = tasks->count - kept;
  tasks->count = kept;
  job->report.constructs = &job->constructs;
  return 0;
}

void construct_gains(struct job *job)
{
  assert(!job->construct_list.entries);
  struct construct_tree *list = &job->construct_list;
  make_list(job);
  job->report.constructs = list;
  struct table_keys keys = {.type = COLUMN_SECONDS, .cells = xcalloc(list->count, sizeof *keys.cells)};
  for (uint32_t i = 0; i < list->count; i++)
    keys.cells[i] = cell_ns(list->entries[i].gain_ns);
  construct_order(list, &keys);
  table_keys_release(&keys);
}
