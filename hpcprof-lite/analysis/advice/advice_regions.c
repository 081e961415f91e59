#include "hpcprof-lite/analysis/advice/advice_regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void most(struct advice_amount *amount, const struct construct_entry *at, double s, bool add)
{
  if (!amount->at || s > amount->s)
    amount->at = at;
  amount->s = add ? amount->s + s : fmax(amount->s, s);
}

/* Tasks of a directive, over all processes: created, and with dependences. */
static void count_tasks(const struct advice_input *input, struct advice_region *region, uint32_t directive)
{
  for (uint32_t i = 0; i < input->profile->processes_count; i++) {
    const struct construct_times *times = &input->profile->processes[i].constructs;
    for (uint32_t j = 0; j < times->tasks_count; j++) {
      if (times->tasks[j].directive != directive)
        continue;
      region->created += (double)times->tasks[j].created;
      region->dependent += (double)times->tasks[j].dependent;
    }
  }
}

static void add_by_kind(const struct advice_input *input, struct advice_region *region,
                        const struct construct_entry *entry, const struct construct_losses *losses)
{
  const struct construct_figures *sum = &entry->sum;
  double body_s = advice_seconds(sum->own_body);
  switch (entry->kind) {
  case DIRECTIVE_SINGLE:
    region->single_s += body_s;
    most(&region->limited, entry, advice_seconds(losses->limited_parallelism), true);
    break;
  case DIRECTIVE_MASKED:
    most(&region->masked, entry, body_s, true);
    break;
  case DIRECTIVE_CRITICAL:
  case DIRECTIVE_LOCK:
  case CONSTRUCT_ATOMIC:
    region->locks += (double)sum->count;
    region->lock_wait_s += advice_seconds(losses->synchronisation);
    break;
  case DIRECTIVE_BARRIER:
    most(&region->meeting, entry, advice_seconds(losses->synchronisation), true);
    break;
  case DIRECTIVE_TASKWAIT:
  case DIRECTIVE_TASKGROUP:
    region->tasks_wait_s += advice_seconds(losses->synchronisation);
    break;
  case DIRECTIVE_ORDERED:
    most(&region->ordered, entry, advice_seconds(losses->synchronisation), true);
    break;
  case DIRECTIVE_TASK:
    count_tasks(input, region, entry->directive);
    break;
  case CONSTRUCT_TASK_EXEC:
    region->tasks += (double)sum->count;
    most(&region->task, entry, body_s, true);
    break;
  case DIRECTIVE_FOR:
  case DIRECTIVE_SECTIONS:
    most(&region->loop, entry, body_s, false);
    if (losses->imbalance && entry->sum.wait)
      most(&region->meeting, entry, advice_seconds(losses->imbalance), true);
    break;
  case DIRECTIVE_PARALLEL:
  case DIRECTIVE_TEAMS:
    if (entry != region->at && sum->executions && sum->count == sum->executions)
      most(&region->inner, entry, advice_seconds(sum->body), true);
    break;
  default:
    break;
  }
}

/* Adds an occurrence of the region in the tree. */
static void add_region(const struct advice_input *input, struct advice_region *region, uint32_t first)
{
  const struct construct_tree *tree = input->constructs;
  const struct construct_entry *at = &tree->entries[first];
  region->threads = fmax(region->threads, at->threads);
  region->executions += (double)at->sum.executions;
  region->startup_s += advice_seconds(model_sum(at->sum.enter, at->sum.exit));
  for (uint32_t i = first; i < at->end; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    struct construct_losses losses = construct_losses(entry->kind, &entry->sum);
    region->total_s += advice_seconds(construct_exclusive(entry->kind, &entry->sum));
    region->management_s += advice_seconds(losses.management);
    region->imbalance_s += advice_seconds(losses.imbalance);
    region->events += (double)entry->sum.count;
    add_by_kind(input, region, entry, &losses);
    for (uint32_t j = 0; j < entry->lines_count; j++) {
      const struct construct_figures *figures = &entry->lines[j].figures;
      uint64_t all = construct_exclusive(entry->kind, figures), waits = figures->wait;
      bool lock = construct_is_lock(entry->kind);
      region->busy_s[entry->lines[j].thread] += lock || waits > all ? 0 : advice_seconds(all - waits);
    }
  }
}

static bool is_outermost(const struct tree *tree, uint32_t row)
{
  for (row = tree->rows[row].parent; row && row != MODEL_NONE; row = tree->rows[row].parent)
    if (tree->rows[row].kind == ROW_PARALLEL)
      return false;
  return true;
}

/* What was sampled in the region. */
static void add_samples(const struct advice_input *input, struct advice_region *region)
{
  const struct tree *tree = input->tree;
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct tree_row *row = &tree->rows[i];
    if (row->kind != ROW_PARALLEL || row->line != region->at->line || strcmp(row->file, region->at->file) ||
        !is_outermost(tree, i))
      continue;
    region->sampled_work_s += advice_seconds(tree_incl(tree, i, input->columns->work));
    region->sampled_overhead_s += advice_seconds(tree_incl(tree, i, input->columns->overhead));
  }
}

int advice_regions_find(struct advice_run *run)
{
  const struct construct_tree *tree = run->input->constructs;
  size_t threads = (size_t)tree->threads_count + 1;
  uint32_t *place = calloc((size_t)tree->count + 1, sizeof *place), regions = 0; /* [number of construct] region + 1 */
  for (uint32_t i = 1; i < tree->count; i = construct_is_region(tree->entries[i].kind) ? tree->entries[i].end : i + 1)
    regions += construct_is_region(tree->entries[i].kind);
  run->regions = calloc((size_t)regions + 1, sizeof *run->regions);
  run->busy_s = calloc((size_t)(regions + 1) * threads, sizeof *run->busy_s);
  if (!place || !run->regions || !run->busy_s) {
    free(place);
    return ERR_NOMEM;
  }
  for (uint32_t i = 1; i < tree->count;) {
    const struct construct_entry *entry = &tree->entries[i];
    if (!construct_is_region(entry->kind)) {
      i++;
      continue;
    }
    if (!place[entry->region]) {
      run->regions[run->count] = (struct advice_region){.at = entry, .busy_s = run->busy_s + run->count * threads};
      place[entry->region] = ++run->count;
    }
    add_region(run->input, &run->regions[place[entry->region] - 1], i);
    i = entry->end;
  }
  free(place);
  double events = 0;
  for (uint32_t i = 0; i < run->count; i++)
    events += run->regions[i].events;
  for (uint32_t i = 0; i < run->count; i++) {
    struct advice_region *region = &run->regions[i];
    add_samples(run->input, region);
    region->tool_s =
        fmin(advice_seconds(run->input->tool_ns) * region->events / fmax(events, 1), 0.9 * region->total_s);
    run->lost_s += region->tool_s / fmax(region->threads, 1);
  }
  return 0;
}

double advice_region_gain(const struct advice_region *region, double lost_s)
{
  double own = region->total_s > 0 ? 1 - region->tool_s / region->total_s : 1;
  return lost_s * own / fmax(region->threads, 1);
}

double advice_region_wall(const struct advice_region *region)
{
  return advice_region_gain(region, region->total_s);
}

void advice_regions_release(struct advice_run *run)
{
  free(run->regions);
  free(run->busy_s);
}
