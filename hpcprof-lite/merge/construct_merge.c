#include "hpcprof-lite/merge/construct_merge.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

ORDER(by_directive, struct construct_tasks, COMPARE(x->directive, y->directive))

/* Adds the nodes of a process; map[] receives their numbers in the run. */
static void merge_nodes(struct profile *profile, struct profile_process *process, struct hash_map *known, uint32_t *map)
{
  struct construct_times *own = &process->constructs;
  map[0] = 0;
  for (uint32_t i = 1; i < own->nodes_count; i++) {
    struct construct_node node = own->nodes[i];
    node.parent = map[node.parent];
    node.directive = process->directive_map[node.directive];
    node.context = MODEL_NONE;
    map[i] = construct_times_add(&profile->constructs, known, &node);
  }
  for (uint32_t i = 0; i < own->rows_count; i++)
    own->rows[i].node = map[own->rows[i].node];
  construct_times_join_rows(own);
  for (uint32_t i = 0; i < own->tasks_count; i++)
    own->tasks[i].directive = process->directive_map[own->tasks[i].directive];
  if (own->tasks_count)
    qsort(own->tasks, own->tasks_count, sizeof *own->tasks, by_directive);
}

/* Gives the counts of a process the numbers that their events have in the run.  If there are more events than
 * numbers, the last ones are left out. */
static void merge_counters(struct profile *profile, uint32_t process)
{
  assert(process < profile->processes_count);
  struct construct_times *own = &profile->processes[process].constructs;
  uint32_t map[COUNTERS_MAX];
  uint64_t known = 0;
  for (uint32_t i = 0; i < own->counters.count; i++) {
    map[i] = counter_names_add(&profile->constructs.counters, own->counters.names[i]);
    if (map[i] < COUNTERS_MAX)
      known |= UINT64_C(1) << map[i];
    else
      problems_add(&profile->problems[process],
                   "%s: counts of constructs by event '%s' left out: the runs count more than %d events; report them "
                   "separately",
                   profile->processes[process].path, own->counters.names[i], COUNTERS_MAX);
  }
  for (uint32_t i = 0; i < own->rows_count && own->counts; i++) {
    struct construct_counts *counts = own->rows[i].figures.counts, before = *counts;
    *counts = (struct construct_counts){
        .unread = before.unread, .unread_own = before.unread_own, .present = counters_present_of(known)};
    for (uint32_t k = 0; k < own->counters.count; k++)
      if (map[k] < COUNTERS_MAX) {
        counts->counted[map[k]] = before.counted[k];
        counts->counted_own[map[k]] = before.counted_own[k];
      }
  }
}

/* Marks by process in the order of reports, then by construct; each has one. */
struct marks {
  const struct context_construct *marks;
  const uint32_t *position_of; /* [number of a process] */
};

static int by_process(const void *a, const void *b, void *argument)
{
  const struct marks *key = argument;
  const struct context_construct *x = &key->marks[*(const uint32_t *)a], *y = &key->marks[*(const uint32_t *)b];
  return COMPARE(key->position_of[x->owner], key->position_of[y->owner]) ?: COMPARE(x->construct, y->construct);
}

/* Gives each node the context in which the first process met it, and executions of tasks that of their creation. */
static void set_contexts(struct profile *profile, uint32_t *const *maps)
{
  struct construct_times *times = &profile->constructs;
  const struct contexts *contexts = &profile->contexts;
  uint32_t *position_of = xcalloc(profile->processes_count, sizeof *position_of);
  uint32_t *order = xcalloc(contexts->constructs_count, sizeof *order);
  uint32_t *created_in = xcalloc((size_t)profile->workspan.directives_count + 1, sizeof *created_in); /* node */
  for (uint32_t i = 0; i < profile->processes_count; i++)
    if (profile->processes[i].number < profile->processes_count)
      position_of[profile->processes[i].number] = i;
  for (uint32_t i = 0; i < contexts->constructs_count; i++)
    order[i] = i;
  qsort_r(order, contexts->constructs_count, sizeof *order, by_process,
          &(struct marks){contexts->constructs, position_of});
  for (uint32_t i = 0; i < contexts->constructs_count; i++) {
    const struct context_construct *mark = &contexts->constructs[order[i]];
    const uint32_t *map = maps[position_of[mark->owner]];
    struct construct_node *node = map ? &times->nodes[map[mark->construct]] : NULL;
    if (node && node->context == MODEL_NONE)
      node->context = mark->context;
  }
  for (uint32_t i = times->nodes_count; i-- > 1;)
    if (times->nodes[i].kind == DIRECTIVE_TASK && times->nodes[i].context != MODEL_NONE)
      created_in[times->nodes[i].directive] = i;
  for (uint32_t i = 1; i < times->nodes_count; i++) {
    struct construct_node *node = &times->nodes[i];
    uint32_t creator = created_in[node->directive];
    if (node->kind == CONSTRUCT_TASK_EXEC && node->directive && creator)
      node->context = times->nodes[creator].context;
  }
  free(position_of);
  free(order);
  free(created_in);
}

void construct_merge(struct profile *profile)
{
  struct hash_map known = {0};
  uint32_t **maps = xcalloc(profile->processes_count, sizeof *maps); /* [process][its node] */
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    struct construct_times *own = &profile->processes[i].constructs;
    if (!own->nodes_count)
      continue;
    merge_counters(profile, i);
    if (!profile->constructs.nodes_count)
      construct_times_add(&profile->constructs, &known, &construct_outside);
    maps[i] = xcalloc(own->nodes_count, sizeof **maps);
    merge_nodes(profile, &profile->processes[i], &known, maps[i]);
  }
  if (profile->constructs.nodes_count)
    set_contexts(profile, maps);
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    if (maps[i]) {
      free(profile->processes[i].constructs.nodes);
      profile->processes[i].constructs.nodes = NULL;
      profile->processes[i].constructs.nodes_count = 0;
    }
    free(maps[i]);
  }
  free(maps);
  hash_map_release(&known);
}
