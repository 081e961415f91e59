#include "hpcprof-lite/model/checks.h"

#include <stdlib.h>

/* ---- the hash map ---- */

static bool is_found(const struct hash_map *map, uint64_t key, uint32_t number)
{
  return HASH_MAP_FIND(map, key, i, i == number);
}

bool check_hash_map(const struct hash_map *map)
{
  uint32_t used = 0;
  for (uint32_t slot = 0; slot < map->slots; slot++) {
    if (!map->keys[slot])
      continue;
    used++;
    if (!map->numbers[slot] || !is_found(map, map->keys[slot], map->numbers[slot]))
      return false;
  }
  return used == map->count && (!used || used <= map->slots / 4 * 3);
}

/* ---- calling contexts ---- */

static bool check_context(const struct contexts *contexts, uint32_t number)
{
  const struct context_node *node = &contexts->nodes[number];
  if (node->parent >= number || node->kind <= CONTEXT_ROOT || node->kind >= CONTEXT_KINDS)
    return false;
  if (contexts->nodes[node->parent].kind == CONTEXT_FILTERED || node->value >= MAX(contexts->values_count, 1))
    return false;
  return contexts_find(contexts, node) == number;
}

/* Whether no two nodes have the same record. */
static bool check_records(const struct contexts *contexts)
{
  bool *taken = xcalloc((size_t)contexts->values_count + 1, sizeof *taken), fine = true;
  for (uint32_t i = 0; i < contexts->count && fine; i++) {
    uint32_t record = contexts->nodes[i].value;
    fine = record <= contexts->values_count && (!record || !taken[record]);
    if (fine)
      taken[record] = true;
  }
  free(taken);
  return fine;
}

bool check_contexts(const struct contexts *contexts)
{
  const struct context_node *root = contexts->nodes;
  if (!contexts->count || root->parent != MODEL_NONE || root->kind != CONTEXT_ROOT)
    return false;
  if (contexts->map.count != contexts->count - 1 || !check_hash_map(&contexts->map))
    return false;
  for (uint32_t i = 1; i < contexts->count; i++)
    if (!check_context(contexts, i))
      return false;
  for (uint32_t i = 0; i < contexts->shares_count; i++)
    if (contexts->shares[i].context != MODEL_NONE && contexts->shares[i].context >= contexts->count)
      return false;
  for (uint32_t i = 0; i < contexts->constructs_count; i++)
    if (contexts->constructs[i].context >= contexts->count)
      return false;
  for (uint32_t i = 0; i < contexts->locks_count; i++)
    if (contexts->locks[i].context != MODEL_NONE && contexts->locks[i].context >= contexts->count)
      return false;
  return check_records(contexts);
}

/* ---- names ---- */

static bool is_none_or_below(uint32_t number, uint32_t count)
{
  return number == MODEL_NONE || number < count;
}

bool check_names(const struct names *names, uint32_t contexts_count)
{
  for (uint32_t i = 0; i < names->functions_count; i++) {
    const struct names_function *function = &names->functions[i];
    if (!function->name || !function->raw || !function->file || function->module >= names->modules_count ||
        !is_none_or_below(function->origin, names->functions_count))
      return false;
  }
  for (uint32_t i = 0; i < names->frames_count; i++)
    if (names->frames[i].function >= names->functions_count || !names->frames[i].file)
      return false;
  for (uint32_t i = 0; i < names->addresses_count; i++) {
    const struct names_address *address = &names->addresses[i];
    if (!address->count || address->first > names->frames_count ||
        address->count > names->frames_count - address->first)
      return false;
  }
  for (uint32_t i = 0; i < contexts_count; i++)
    if (!is_none_or_below(names->address_of[i], names->addresses_count))
      return false;
  return check_hash_map(&names->function_map) && check_hash_map(&names->file_map);
}

/* ---- constructs ---- */

bool check_construct_times(const struct construct_times *times, uint32_t nodes_count)
{
  for (uint32_t i = 0; i < times->nodes_count; i++) {
    const struct construct_node *node = &times->nodes[i];
    if (node->kind >= CONSTRUCT_KINDS || (i ? node->parent >= i : node->parent != MODEL_NONE))
      return false;
  }
  for (uint32_t i = 0; i < times->rows_count; i++) {
    const struct construct_row *row = &times->rows[i], *before = i ? row - 1 : NULL;
    if (row->node >= nodes_count || (before && before->node > row->node))
      return false;
    if (before && before->node == row->node && before->thread >= row->thread)
      return false;
  }
  for (uint32_t i = 1; i < times->tasks_count; i++)
    if (times->tasks[i - 1].directive >= times->tasks[i].directive)
      return false;
  return true;
}

/* Whether the lines of an entry are sorted by thread and add up to its sum. */
static bool check_lines(const struct construct_tree *tree, const struct construct_entry *entry)
{
  struct construct_figures sum = {0};
  for (uint32_t i = 0; i < entry->lines_count; i++) {
    const struct construct_row *line = &entry->lines[i];
    if (line->thread >= tree->threads_count || (i && line[-1].thread >= line->thread))
      return false;
    struct construct_figures figures = line->figures;
    figures.counts = NULL;
    construct_figures_add(&sum, &figures);
  }
  return sum.count == entry->sum.count && sum.enter == entry->sum.enter && sum.own_body == entry->sum.own_body &&
         sum.wait == entry->sum.wait && sum.exit == entry->sum.exit;
}

bool check_construct_tree(const struct construct_tree *tree)
{
  for (uint32_t i = 0; i < tree->count; i++) {
    const struct construct_entry *entry = &tree->entries[i], *parent = &tree->entries[entry->parent];
    if (entry->kind >= CONSTRUCT_KINDS || !entry->name || !entry->file || entry->end <= i || entry->end > tree->count)
      return false;
    if (i && (entry->parent >= i || entry->end > parent->end || entry->depth != parent->depth + 1))
      return false;
    if (!check_lines(tree, entry))
      return false;
  }
  return !tree->count || tree->entries[0].end == tree->count;
}

bool check_profile(const struct profile *profile)
{
  if (profile->processes_usable > profile->processes_count)
    return false;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (process->usable != (i < profile->processes_usable))
      return false;
    if (!check_construct_times(&process->constructs, profile->constructs.nodes_count))
      return false;
  }
  for (uint32_t i = 0; i < profile->workspan.directives_count; i++)
    if (!is_none_or_below(profile->workspan.directives[i].module, profile->catalog.modules_count))
      return false;
  return check_construct_times(&profile->constructs, profile->constructs.nodes_count) &&
         check_hash_map(&profile->catalog.module_map);
}

/* ---- timelines ---- */

struct tiling {
  const struct timeline_lane *lane;
  uint32_t number;
  uint64_t reached_ns;
  bool fine;
};

static int check_interval(void *context, const struct timeline_interval *interval)
{
  struct tiling *tiling = context;
  tiling->fine &= interval->lane == tiling->number && interval->start_ns == tiling->reached_ns &&
                  interval->end_ns > interval->start_ns && interval->category < TIMELINE_CATEGORIES;
  tiling->reached_ns = interval->end_ns;
  return !tiling->fine;
}

static bool check_lane(const struct timeline *timeline, uint32_t number)
{
  const struct timeline_lane *lane = &timeline->lanes[number];
  struct tiling tiling = {lane, number, lane->start_ns, lane->start_ns <= lane->end_ns};
  int status = timeline->each(timeline->source, number, check_interval, &tiling);
  return tiling.fine && (status || tiling.reached_ns == lane->end_ns);
}

bool check_timeline(const struct timeline *timeline)
{
  for (uint32_t i = 0; i < timeline->lanes_count; i++) {
    const struct timeline_lane *lane = &timeline->lanes[i], *before = i ? lane - 1 : NULL;
    if (before &&
        (before->process > lane->process || (before->process == lane->process && before->thread >= lane->thread)))
      return false;
    if (!check_lane(timeline, i))
      return false;
  }
  return true;
}

/* ---- the graph of grains ---- */

bool check_grain_graph(const struct grain_graph *graph)
{
  uint64_t exec = 0;
  for (uint32_t i = 0; i < graph->nodes_count; i++) {
    if (graph->nodes[i].kind >= GRAIN_NODE_KINDS)
      return false;
    model_add(&exec, graph->nodes[i].exec);
  }
  for (uint32_t i = 0; i < graph->edges_count; i++) {
    const struct grain_edge *edge = &graph->edges[i];
    if (edge->from >= edge->to || edge->to >= graph->nodes_count || !edge->count || edge->kind > GRAIN_EDGE_DEPENDENCE)
      return false;
  }
  return exec == graph->exec && graph->longest <= exec;
}
