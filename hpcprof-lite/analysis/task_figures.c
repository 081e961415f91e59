#include "hpcprof-lite/analysis/task_figures.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

ORDER(by_low, struct bucket, COMPARE(x->low, y->low))

/* Appends the buckets of a process.  sums->buckets has room. */
static void add_buckets(struct sums *sums, const struct construct_tasks *tasks)
{
  assert(sums->buckets);
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
  model_add(&row->created, tasks->created);
  model_add(&row->undeferred, tasks->undeferred);
  model_add(&row->untied, tasks->untied);
  model_add(&row->dependent, tasks->dependent);
  model_add(&row->untimed, tasks->untimed);
  model_add(&row->started, tasks->started);
  model_add(&row->elsewhere, tasks->elsewhere);
  model_add(&row->suspended, tasks->suspended);
  model_add(&row->exec_ns, tasks->exec_ns);
  model_add(&row->create_ns, tasks->create_ns);
  model_add(&sums->create_timed, tasks->create_timed);
  if (tasks->ended) {
    row->shortest_ns = row->ended ? MIN(row->shortest_ns, tasks->shortest_ns) : tasks->shortest_ns;
    row->longest_ns = MAX(row->longest_ns, tasks->longest_ns);
  }
  model_add(&row->ended, tasks->ended);
  row->cut = row->cut || tasks->cut;
  sums->waits_known = sums->waits_known && (tasks->waits_known || !tasks->created);
  sums->wait_ns += (double)tasks->wait_ns;
  sums->cost_known = sums->cost_known && process->workspan.is_time && process->cost_task;
  sums->cost_ns += (double)process->cost_task * (double)tasks->created;
  add_buckets(sums, tasks);
}

/* The part of the tasks that ran for less than a time. */
static double part_below(const struct task_row *row, const struct sums *sums, double limit_ns)
{
  double below = 0, all = 0;
  for (uint32_t i = 0; i < sums->count; i++) {
    const struct bucket *bucket = &sums->buckets[i];
    double part = bucket->width > 0 ? (limit_ns - bucket->low) / bucket->width : 0;
    below += (double)bucket->count * MIN(MAX(part, 0), 1);
    all += (double)bucket->count;
  }
  if ((double)row->longest_ns < limit_ns)
    return 1;
  return all > 0 && (double)row->shortest_ns < limit_ns ? below / all : 0;
}

/* The running time that a part of the tasks does not exceed. */
static uint64_t quantile(const struct task_row *row, const struct sums *sums, double part)
{
  assert(part >= 0 && part <= 1);
  double all = 0, so_far = 0;
  for (uint32_t i = 0; i < sums->count; i++)
    all += (double)sums->buckets[i].count;
  for (uint32_t i = 0; i < sums->count; i++) {
    so_far += (double)sums->buckets[i].count;
    if (so_far < part * all)
      continue;
    uint64_t ns = model_rounded(sums->buckets[i].low + sums->buckets[i].width / 2);
    return ns < row->shortest_ns ? row->shortest_ns : MIN(ns, row->longest_ns);
  }
  return row->longest_ns;
}

static void finish(struct task_row *row, struct sums *sums)
{
  if (row->cut) {
    row->undeferred = row->untied = row->dependent = row->elsewhere = row->suspended = row->untimed = 0;
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

ORDER(by_exec, struct task_row, COMPARE(y->exec_ns, x->exec_ns) ?: COMPARE(x->directive, y->directive))

/* Makes a row for each directive that has tasks; sums[] belong to them. */
static void add_all(const struct profile *profile, const struct names *names, struct task_figures *result,
                    struct sums *sums, uint32_t *row_of)
{
  assert(names->directives || !profile->workspan.directives_count);
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
      into->buckets = xrealloc(into->buckets, ((size_t)into->count + CONSTRUCT_TASK_BUCKETS) * sizeof *into->buckets);
      add_tasks(&profile->processes[i], &times->tasks[j], &result->rows[*row - 1], into);
    }
  }
}

/* Adds what was counted in the tasks, with the constructs in them but without the tasks in these. */
static void add_counts(const struct construct_tree *tree, const uint32_t *row_of, struct task_figures *result)
{
  uint32_t *task_of = xcalloc(tree->count, sizeof *task_of); /* [entry] row + 1 of the innermost task */
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    const struct construct_counts *counts = construct_counts_of(&entry->sum);
    task_of[i] = entry->kind == CONSTRUCT_TASK_EXEC ? row_of[entry->directive] : task_of[entry->parent];
    if (!task_of[i])
      continue;
    struct task_row *row = &result->rows[task_of[i] - 1];
    model_add(&row->unread_ns, counts->unread_own);
    counters_present_add(&row->present, &counts->present);
    for (unsigned k = 0; k < COUNTERS_MAX; k++)
      model_add(&row->counted[k], counts->counted_own[k]);
  }
  free(task_of);
}

void task_figures_compute(const struct profile *profile, const struct names *names, const struct construct_tree *tree,
                          struct task_figures *result)
{
  size_t directives = (size_t)profile->workspan.directives_count + 1;
  *result = (struct task_figures){0};
  struct sums *sums = xcalloc(directives, sizeof *sums);
  uint32_t *row_of = xcalloc(directives, sizeof *row_of);
  result->rows = xcalloc(directives, sizeof *result->rows);
  add_all(profile, names, result, sums, row_of);
  add_counts(tree, row_of, result);
  for (uint32_t i = 0; i < result->count; i++) {
    finish(&result->rows[i], &sums[i]);
    result->rows[i].context = context_of(tree, result->rows[i].directive);
    free(sums[i].buckets);
  }
  free(sums);
  free(row_of);
  qsort(result->rows, result->count, sizeof *result->rows, by_exec);
}

void task_figures_release(struct task_figures *result)
{
  free(result->rows);
  *result = (struct task_figures){0};
}
