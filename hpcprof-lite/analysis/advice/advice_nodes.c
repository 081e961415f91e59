#include "hpcprof-lite/analysis/advice/advice_nodes.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

/* A difference counts from that many standard errors on. */
enum { FEW_TASKS = 20, ERRORS = 3 };

void advice_node_add(struct advice_node *node, double exec_s)
{
  assert(exec_s >= 0);
  node->tasks++;
  node->exec_s += exec_s;
  node->squares += exec_s * exec_s;
}

static double mean(const struct advice_node *node)
{
  return node->exec_s / node->tasks;
}

/* The square of the mean's standard error. */
static double error(const struct advice_node *node)
{
  return fmax(0, node->squares / node->tasks - mean(node) * mean(node)) / node->tasks;
}

/* The part of tasks that other threads than their creators have run. */
static double elsewhere(const struct profile *profile, uint32_t directive)
{
  double started = 0, away = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct construct_times *times = &profile->processes[i].constructs;
    for (uint32_t j = 0; j < times->tasks_count; j++) {
      bool same = times->tasks[j].directive == directive;
      started += same ? (double)times->tasks[j].started : 0;
      away += same ? (double)times->tasks[j].elsewhere : 0;
    }
  }
  return started > 0 ? away / started : 0;
}

static void find_far_tasks(const struct advice_input *input, const struct advice_node *nodes,
                           const struct construct_entry *at, struct advice *advice)
{
  assert(at->kind == CONSTRUCT_TASK_EXEC);
  uint32_t near = ADVICE_NODES_MAX, far = ADVICE_NODES_MAX;
  double lost_s = 0;
  for (uint32_t i = 0; i < ADVICE_NODES_MAX; i++) {
    if (nodes[i].tasks < FEW_TASKS)
      continue;
    if (near == ADVICE_NODES_MAX || mean(&nodes[i]) < mean(&nodes[near]))
      near = i;
    if (far == ADVICE_NODES_MAX || mean(&nodes[i]) > mean(&nodes[far]))
      far = i;
  }
  if (near == far)
    return;
  for (uint32_t i = 0; i < ADVICE_NODES_MAX; i++) {
    double longer_s = nodes[i].tasks < FEW_TASKS ? 0 : mean(&nodes[i]) - mean(&nodes[near]);
    double by_chance_s = ERRORS * sqrt(error(&nodes[i]) + error(&nodes[near]));
    if (longer_s > by_chance_s && longer_s > mean(&nodes[near]) / ADVICE_MUCH)
      lost_s += longer_s * nodes[i].tasks;
  }
  struct advice_finding *found = advice_add(
      advice, ADVICE_LOCALITY, lost_s / fmax(at->threads, 1),
      "Tasks take %.2f us on NUMA node %" PRIu32 " and %.2f us on node %" PRIu32
      " on average; %.0f %% of them were run by another thread than their creator",
      1e6 * mean(&nodes[near]), near, 1e6 * mean(&nodes[far]), far, 100 * elsewhere(input->profile, at->directive));
  advice_place(found, at, at);
  found->recorded = true;
  found->reason = "the tasks of the two nodes may differ in work";
}

void advice_nodes_find(const struct advice_input *input, const struct advice_node *nodes, struct advice *advice)
{
  assert(nodes);
  const struct construct_tree *tree = input->constructs;
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i];
    bool first = entry->kind == CONSTRUCT_TASK_EXEC && entry->directive;
    for (uint32_t j = 1; j < i && first; j++)
      first = tree->entries[j].kind != CONSTRUCT_TASK_EXEC || tree->entries[j].directive != entry->directive;
    if (first)
      find_far_tasks(input, nodes + (size_t)entry->directive * ADVICE_NODES_MAX, entry, advice);
  }
}
