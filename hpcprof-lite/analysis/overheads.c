#include "hpcprof-lite/analysis/overheads.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

/* What the threads of all processes are counted with. */
struct counting {
  const struct profile *profile;
  const struct construct_tree *tree;
  uint8_t *seen;
  uint32_t *team, *largest; /* [process] of the region; of all regions */
};

/* Adds a region with everything below it to its row. */
static void add_region(struct counting *counting, uint32_t region, struct overheads_row *row)
{
  assert(construct_is_region(counting->tree->entries[region].kind));
  const struct construct_tree *tree = counting->tree;
  struct construct_lost lost = {0};
  uint64_t threads = 0;
  construct_tree_team(tree, counting->profile, region, counting->seen, counting->team);
  for (uint32_t i = 0; i < counting->profile->processes_count; i++) {
    counting->largest[i] = MAX(counting->largest[i], counting->team[i]);
    threads += counting->team[i];
  }
  for (uint32_t i = region; i < tree->entries[region].end; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    struct construct_lost here = construct_lost(entry->kind, &entry->sum);
    construct_lost_add(&lost, &here);
    model_add(&row->total_ns, construct_exclusive(entry->kind, &entry->sum));
    model_add(&row->useful_ns, entry->kind == DIRECTIVE_LOCK ? 0 : entry->sum.own_body);
  }
  construct_lost_add(&row->lost, &lost);
  model_add(&row->gain_ns, threads ? construct_lost_sum(&lost) / threads : 0);
}

/* Appends the row of the program, the sum of the others. */
static void add_program(const struct counting *counting, struct overheads *result)
{
  assert(result->count < counting->tree->count);
  struct overheads_row *row = &result->rows[result->count];
  *row = (struct overheads_row){.entry = &counting->tree->entries[0]};
  for (uint32_t i = 0; i < result->count; i++) {
    construct_lost_add(&row->lost, &result->rows[i].lost);
    model_add(&row->useful_ns, result->rows[i].useful_ns);
    model_add(&row->gain_ns, result->rows[i].gain_ns);
  }
  for (uint32_t i = 0; i < counting->profile->processes_count; i++) {
    const struct profile_process *process = &counting->profile->processes[i];
    uint64_t team = MAX(counting->largest[i], 1), all;
    if (!process->constructs.rows_count)
      continue;
    uint64_t measured_ns = profile_measured_ns(process->wall_ns, process->paused_ns);
    model_add(&row->total_ns, __builtin_mul_overflow(team, measured_ns, &all) ? UINT64_MAX : all);
  }
  result->count++;
}

ORDER(by_total, struct overheads_row, COMPARE(y->total_ns, x->total_ns) ?: COMPARE(x->entry->region, y->entry->region))

void overheads_compute(const struct profile *profile, const struct construct_tree *tree, struct overheads *result)
{
  *result = (struct overheads){0};
  if (!tree->count)
    return;
  struct counting counting = {.profile = profile,
                              .tree = tree,
                              .seen = xcalloc(tree->threads_count, 1),
                              .team = xcalloc(profile->processes_count, sizeof *counting.team),
                              .largest = xcalloc(profile->processes_count, sizeof *counting.largest)};
  uint32_t *row_of = xcalloc(tree->count, sizeof *row_of); /* [number of the construct] its row + 1 */
  result->rows = xcalloc(tree->count, sizeof *result->rows);
  uint32_t i = construct_tree_next_region(tree, 1);
  for (; i < tree->count; i = construct_tree_next_region(tree, tree->entries[i].end)) {
    const struct construct_entry *entry = &tree->entries[i];
    if (!row_of[entry->region]) {
      result->rows[result->count] = (struct overheads_row){.entry = entry};
      row_of[entry->region] = ++result->count;
    }
    add_region(&counting, i, &result->rows[row_of[entry->region] - 1]);
  }
  qsort(result->rows, result->count, sizeof *result->rows, by_total);
  add_program(&counting, result);
  free(row_of);
  free(counting.seen);
  free(counting.team);
  free(counting.largest);
}

void overheads_release(struct overheads *result)
{
  free(result->rows);
  *result = (struct overheads){0};
}
