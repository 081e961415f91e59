#include "hpcprof-lite/analysis/task_figures.h"

#include <stdlib.h>
#include <string.h>

enum column {
  BY_KIND,
  BY_NAME,
  BY_FILE,
  BY_LINE,
  BY_CONTEXT,
  BY_INSTANCES,
  BY_UNDEFERRED,
  BY_UNTIED,
  BY_DEPENDENCES,
  BY_EXEC,
  BY_MEAN,
  BY_LEAST,
  BY_MOST,
  BY_MEDIAN,
  BY_P90,
  BY_CREATE,
  BY_WAIT,
  BY_ELSEWHERE,
  BY_SUSPENDED,
  BY_BELOW_1US,
  BY_BELOW_10US,
};

const char *const task_figures_columns[TASK_FIGURES_COLUMNS] = {
    [BY_KIND] = "kind",
    [BY_NAME] = "name",
    [BY_FILE] = "file",
    [BY_LINE] = "line",
    [BY_CONTEXT] = "context_id",
    [BY_INSTANCES] = "instances",
    [BY_UNDEFERRED] = "undeferred",
    [BY_UNTIED] = "untied",
    [BY_DEPENDENCES] = "dependences",
    [BY_EXEC] = "exec_s",
    [BY_MEAN] = "exec_mean_s",
    [BY_LEAST] = "exec_min_s",
    [BY_MOST] = "exec_max_s",
    [BY_MEDIAN] = "exec_p50_s",
    [BY_P90] = "exec_p90_s",
    [BY_CREATE] = "create_s",
    [BY_WAIT] = "wait_mean_s",
    [BY_ELSEWHERE] = "elsewhere_pct",
    [BY_SUSPENDED] = "suspended",
    [BY_BELOW_1US] = "share_below_1us_pct",
    [BY_BELOW_10US] = "share_below_10us_pct",
};

/* Running times of a bucket of a histogram, in ns. */
struct bucket {
  double low, width;
  uint64_t count;
};

/* The tasks of one directive in all processes. */
struct sums {
  struct bucket *buckets; /* by low */
  uint32_t count;
  uint64_t create_timed;
  double wait_ns, cost_ns; /* cost: the processes' means of the way from one task to the next, x created */
  bool waits_known, cost_known;
};

static void add(uint64_t *sum, uint64_t amount)
{
  *sum = model_sum(*sum, amount);
}

static int by_low(const void *a, const void *b)
{
  const struct bucket *x = a, *y = b;
  return (x->low > y->low) - (x->low < y->low);
}

/* Appends the buckets of a process.  sums->buckets has room. */
static void add_buckets(struct sums *sums, const struct construct_tasks *tasks)
{
  for (uint32_t i = 0; i < CONSTRUCT_TASK_BUCKETS; i++) {
    unsigned shift = i < 16 ? 0 : i / 8 - 1;
    double low = i < 8 ? i : (double)((uint64_t)(8 + i % 8) << shift), width = (double)(1ull << shift);
    if (tasks->histogram[i])
      sums->buckets[sums->count++] = (struct bucket){low * tasks->tick_ns, width * tasks->tick_ns, tasks->histogram[i]};
  }
}

static void add_tasks(const struct profile_process *process, const struct construct_tasks *tasks, struct task_row *row,
                      struct sums *sums)
{
  add(&row->created, tasks->created);
  add(&row->undeferred, tasks->undeferred);
  add(&row->untied, tasks->untied);
  add(&row->dependent, tasks->dependent);
  add(&row->started, tasks->started);
  add(&row->elsewhere, tasks->elsewhere);
  add(&row->suspended, tasks->suspended);
  add(&row->exec_ns, tasks->exec_ns);
  add(&row->create_ns, tasks->create_ns);
  add(&sums->create_timed, tasks->create_timed);
  if (tasks->ended) {
    row->shortest_ns = row->ended && row->shortest_ns < tasks->shortest_ns ? row->shortest_ns : tasks->shortest_ns;
    row->longest_ns = row->longest_ns > tasks->longest_ns ? row->longest_ns : tasks->longest_ns;
  }
  add(&row->ended, tasks->ended);
  row->cut = row->cut || tasks->cut;
  sums->waits_known = sums->waits_known && (tasks->waits_known || !tasks->created);
  sums->wait_ns += (double)tasks->wait_ns;
  sums->cost_known = sums->cost_known && process->workspan.is_time && process->workspan.cost_task;
  sums->cost_ns += (double)process->workspan.cost_task * (double)tasks->created;
  add_buckets(sums, tasks);
}

/* The part of the tasks that ran for less than a time. */
static double part_below(const struct task_row *row, const struct sums *sums, double limit_ns)
{
  double below = 0, all = 0;
  for (uint32_t i = 0; i < sums->count; i++) {
    const struct bucket *bucket = &sums->buckets[i];
    double part = bucket->width > 0 ? (limit_ns - bucket->low) / bucket->width : 0;
    below += (double)bucket->count * (part < 0 ? 0 : part > 1 ? 1 : part);
    all += (double)bucket->count;
  }
  if ((double)row->longest_ns < limit_ns)
    return 1;
  return all > 0 && (double)row->shortest_ns < limit_ns ? below / all : 0;
}

/* The running time that a part of the tasks does not exceed. */
static uint64_t quantile(const struct task_row *row, const struct sums *sums, double part)
{
  double all = 0, so_far = 0;
  for (uint32_t i = 0; i < sums->count; i++)
    all += (double)sums->buckets[i].count;
  for (uint32_t i = 0; i < sums->count; i++) {
    so_far += (double)sums->buckets[i].count;
    if (so_far < part * all)
      continue;
    uint64_t ns = model_rounded(sums->buckets[i].low + sums->buckets[i].width / 2);
    return ns < row->shortest_ns ? row->shortest_ns : ns > row->longest_ns ? row->longest_ns : ns;
  }
  return row->longest_ns;
}

static void finish(struct task_row *row, struct sums *sums)
{
  if (row->cut) {
    row->undeferred = row->untied = row->dependent = row->elsewhere = row->suspended = 0;
    row->ended = row->shortest_ns = row->longest_ns = 0;
    return;
  }
  if (sums->count)
    qsort(sums->buckets, sums->count, sizeof *sums->buckets, by_low);
  row->median_ns = quantile(row, sums, 0.5);
  row->p90_ns = quantile(row, sums, 0.9);
  row->below_1us = part_below(row, sums, 1e3);
  row->below_10us = part_below(row, sums, 1e4);
  row->creation_known = row->created && sums->create_timed == row->created;
  row->waits_known = sums->waits_known && row->started;
  row->wait_mean_ns = row->waits_known ? sums->wait_ns / (double)row->started : 0;
  row->cost_of_creation = sums->create_timed > 0;
  if (sums->create_timed)
    row->cost_ns = (double)row->create_ns / (double)sums->create_timed;
  else if (sums->cost_known && row->created)
    row->cost_ns = sums->cost_ns / (double)row->created;
  row->below_cost = part_below(row, sums, row->cost_ns);
}

/* The context of a task construct: where most time was spent on it. */
static uint32_t context_of(const struct construct_tree *tree, uint32_t directive)
{
  uint32_t best = 0;
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    bool task =
        entry->kind == DIRECTIVE_TASK || entry->kind == DIRECTIVE_TASKLOOP || entry->kind == CONSTRUCT_TASK_EXEC;
    if (task && entry->directive == directive && entry->context != MODEL_NONE &&
        (!best || construct_exec(&entry->sum) > construct_exec(&tree->entries[best].sum)))
      best = i;
  }
  return best ? tree->entries[best].context : MODEL_NONE;
}

static uint64_t figure(const struct task_row *row, uint32_t column)
{
  if (column >= TASK_FIGURES_COLUMNS)
    return row->counted[column - TASK_FIGURES_COLUMNS];
  switch (column) {
  case BY_INSTANCES:
    return row->created;
  case BY_UNDEFERRED:
    return row->undeferred;
  case BY_UNTIED:
    return row->untied;
  case BY_DEPENDENCES:
    return row->dependent;
  case BY_LEAST:
    return row->shortest_ns;
  case BY_MOST:
    return row->longest_ns;
  case BY_MEDIAN:
    return row->median_ns;
  case BY_P90:
    return row->p90_ns;
  case BY_CREATE:
    return row->creation_known ? row->create_ns : 0;
  case BY_SUSPENDED:
    return row->suspended;
  default:
    return row->exec_ns;
  }
}

static double part(const struct task_row *row, enum column column)
{
  switch (column) {
  case BY_MEAN:
    return row->ended ? (double)row->exec_ns / (double)row->ended : 0;
  case BY_WAIT:
    return row->wait_mean_ns;
  case BY_ELSEWHERE:
    return row->started ? (double)row->elsewhere / (double)row->started : 0;
  case BY_BELOW_1US:
    return row->below_1us;
  case BY_BELOW_10US:
    return row->below_10us;
  default:
    return 0;
  }
}

static int by_column(const struct task_row *x, const struct task_row *y, uint32_t column)
{
  int order;
  switch (column) {
  case BY_KIND:
    return strcmp(profile_directive_name(x->kind), profile_directive_name(y->kind));
  case BY_NAME:
    return strcmp(x->name, y->name);
  case BY_FILE:
  case BY_LINE:
    order = column == BY_FILE ? strcmp(x->file, y->file) : 0;
    return order ? order : (x->line > y->line) - (x->line < y->line);
  case BY_CONTEXT:
    return (x->context > y->context) - (x->context < y->context);
  case BY_MEAN:
  case BY_WAIT:
  case BY_ELSEWHERE:
  case BY_BELOW_1US:
  case BY_BELOW_10US:
    return (part(x, column) < part(y, column)) - (part(x, column) > part(y, column));
  default:
    return (figure(x, column) < figure(y, column)) - (figure(x, column) > figure(y, column));
  }
}

static int by_rank(const void *a, const void *b, void *argument)
{
  const struct task_row *x = a, *y = b;
  int order = by_column(x, y, *(const uint32_t *)argument);
  if (!order)
    order = by_column(x, y, BY_EXEC);
  return order ? order : (x->directive > y->directive) - (x->directive < y->directive);
}

/* Makes a row for each directive that has tasks; sums[] belong to them. */
static int add_all(const struct profile *profile, const struct names *names, struct task_figures *result,
                   struct sums *sums, uint32_t *row_of)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct construct_times *times = &profile->processes[i].constructs;
    for (uint32_t j = 0; j < times->tasks_count; j++) {
      uint32_t directive = names->directives[times->tasks[j].directive].first, *row = &row_of[directive];
      if (!*row) {
        const struct names_directive *place = &names->directives[directive];
        uint32_t kind = profile->workspan.directives[directive].kind;
        result->rows[result->count] = (struct task_row){.directive = directive,
                                                        .kind = directive ? kind : DIRECTIVE_TASK,
                                                        .name = place->name,
                                                        .file = place->file,
                                                        .line = place->line};
        sums[result->count] = (struct sums){.waits_known = true, .cost_known = true};
        *row = ++result->count;
      }
      struct sums *into = &sums[*row - 1];
      struct bucket *buckets =
          realloc(into->buckets, ((size_t)into->count + CONSTRUCT_TASK_BUCKETS) * sizeof *into->buckets);
      if (!buckets)
        return ERR_NOMEM;
      into->buckets = buckets;
      add_tasks(&profile->processes[i], &times->tasks[j], &result->rows[*row - 1], into);
    }
  }
  return 0;
}

/* Adds what was counted in the tasks, with the constructs in them but without the tasks in these. */
static int add_counts(const struct construct_tree *tree, const uint32_t *row_of, struct task_figures *result)
{
  uint32_t *task_of = calloc((size_t)tree->count + 1, sizeof *task_of); /* [entry] row + 1 of the innermost task */
  for (uint32_t i = 1; i < tree->count && task_of; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    const struct construct_counts *counts = construct_counts_of(&entry->sum);
    task_of[i] = entry->kind == CONSTRUCT_TASK_EXEC ? row_of[entry->directive] : task_of[entry->parent];
    if (!task_of[i])
      continue;
    struct task_row *row = &result->rows[task_of[i] - 1];
    add(&row->unread_ns, counts->unread_own);
    counters_present_add(&row->present, &counts->present);
    for (unsigned k = 0; k < COUNTERS_MAX; k++)
      add(&row->counted[k], counts->counted_own[k]);
  }
  bool fine = task_of;
  free(task_of);
  return fine ? 0 : ERR_NOMEM;
}

uint32_t task_figures_sort_columns(const struct profile *profile,
                                   const char *names[TASK_FIGURES_COLUMNS + COUNTERS_MAX])
{
  const struct counter_names *counters = &profile->constructs.counters;
  for (uint32_t i = 0; i < TASK_FIGURES_COLUMNS; i++)
    names[i] = task_figures_columns[i];
  for (uint32_t i = 0; i < counters->count; i++)
    names[TASK_FIGURES_COLUMNS + i] = counters->names[i];
  return TASK_FIGURES_COLUMNS + counters->count;
}

int task_figures_compute(const struct profile *profile, const struct names *names, const struct construct_tree *tree,
                         const char *sort, struct task_figures *result)
{
  const char *columns[TASK_FIGURES_COLUMNS + COUNTERS_MAX];
  uint32_t column = sort ? BY_KIND : BY_EXEC, columns_count = task_figures_sort_columns(profile, columns);
  size_t directives = (size_t)profile->workspan.directives_count + 1;
  *result = (struct task_figures){0};
  while (sort && column < columns_count && strcmp(sort, columns[column]))
    column++;
  if (column == columns_count)
    return ERR_INPUT;
  struct sums *sums = calloc(directives, sizeof *sums);
  uint32_t *row_of = calloc(directives, sizeof *row_of);
  result->rows = calloc(directives, sizeof *result->rows);
  int status = sums && row_of && result->rows ? add_all(profile, names, result, sums, row_of) : ERR_NOMEM;
  if (!status)
    status = add_counts(tree, row_of, result);
  for (uint32_t i = 0; i < result->count; i++) {
    if (!status) {
      finish(&result->rows[i], &sums[i]);
      result->rows[i].context = context_of(tree, result->rows[i].directive);
    }
    free(sums[i].buckets);
  }
  free(sums);
  free(row_of);
  if (!status)
    qsort_r(result->rows, result->count, sizeof *result->rows, by_rank, &column);
  return status;
}

void task_figures_release(struct task_figures *result)
{
  free(result->rows);
  *result = (struct task_figures){0};
}
