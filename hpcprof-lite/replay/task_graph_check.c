#include "hpcprof-lite/replay/task_graph_check.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/checks.h"

#include <stdlib.h>
#include <string.h>

/* Objects of a pool: how often each is referred to. */
struct objects {
  const struct object_pool *pool;
  bool *freed; /* object 0, too: it is not in use */
  uint32_t *referred;
  bool fine;
};

static void list_objects(struct objects *objects, const struct object_pool *pool)
{
  *objects = (struct objects){pool, xcalloc(pool->used, sizeof *objects->freed),
                              xcalloc(pool->used, sizeof *objects->referred), true};
  objects->freed[0] = true;
  for (uint32_t index = pool->free; index && objects->fine;) {
    objects->fine = index < pool->used && !objects->freed[index];
    if (!objects->fine)
      return;
    objects->freed[index] = true;
    memcpy(&index, object_pool_at(pool, index), sizeof index);
  }
}

static void release_objects(struct objects *objects)
{
  free(objects->freed);
  free(objects->referred);
}

/* Counts a reference, which must be to an object in use. */
static void refer(struct objects *objects, uint32_t index)
{
  if (!index)
    return;
  objects->fine = objects->fine && index < objects->pool->used && !objects->freed[index];
  if (objects->fine)
    objects->referred[index]++;
}

/* Whether the names of a table are those of objects in use. */
static bool check_names_of(const struct objects *objects, const struct hash_map *names)
{
  for (uint32_t slot = 0; slot < names->slots; slot++)
    if (names->keys[slot] && (names->numbers[slot] >= objects->pool->used || objects->freed[names->numbers[slot]]))
      return false;
  return check_hash_map(names);
}

/* The objects of a task graph. */
struct all {
  const struct task_graph *graph;
  struct objects tasks, regions, groups, scopes;
};

static void refer_from_task(struct all *all, uint32_t index)
{
  const struct task_graph_task *task = task_graph_task(all->graph, index);
  all->tasks.referred[index] += !(task->flags & TASK_GRAPH_ENDED);
  refer(&all->tasks, task->parent);
  refer(&all->regions, task->region);
  refer(&all->groups, task->group);
  for (uint32_t scope = task->scope; scope && all->scopes.fine; scope = task_graph_scope(all->graph, scope)->outer) {
    refer(&all->scopes, scope);
    all->scopes.fine = all->scopes.fine && all->scopes.referred[scope] == 1;
  }
}

static void refer_from_all(struct all *all)
{
  const struct task_graph *graph = all->graph;
  for (uint32_t i = 1; i < graph->tasks.pool.used; i++)
    if (!all->tasks.freed[i])
      refer_from_task(all, i);
  for (uint32_t i = 1; i < graph->regions.pool.used; i++)
    if (!all->regions.freed[i]) {
      all->regions.referred[i] += task_graph_region(graph, i)->open;
      refer(&all->tasks, task_graph_region(graph, i)->creator);
    }
  for (uint32_t i = 1; i < graph->groups.used; i++)
    if (!all->groups.freed[i])
      refer(&all->groups, task_graph_group(graph, i)->outer);
  for (uint32_t i = 0; i < graph->streams_count; i++)
    refer(&all->tasks, graph->streams[i].task);
}

static bool check_counts(const struct all *all)
{
  const struct task_graph *graph = all->graph;
  if (!all->tasks.fine || !all->regions.fine || !all->groups.fine || !all->scopes.fine)
    return false;
  for (uint32_t i = 1; i < graph->tasks.pool.used; i++)
    if (!all->tasks.freed[i] && task_graph_task(graph, i)->refs != all->tasks.referred[i])
      return false;
  for (uint32_t i = 1; i < graph->regions.pool.used; i++)
    if (!all->regions.freed[i] && task_graph_region(graph, i)->refs != all->regions.referred[i])
      return false;
  for (uint32_t i = 1; i < graph->groups.used; i++)
    if (!all->groups.freed[i] && task_graph_group(graph, i)->refs != all->groups.referred[i])
      return false;
  for (uint32_t i = 1; i < graph->scopes.used; i++)
    if (!all->scopes.freed[i] && !all->scopes.referred[i])
      return false;
  return check_names_of(&all->tasks, &graph->tasks.names) && check_names_of(&all->regions, &graph->regions.names);
}

bool task_graph_check(const struct task_graph *graph)
{
  struct all all = {.graph = graph};
  list_objects(&all.tasks, &graph->tasks.pool);
  list_objects(&all.regions, &graph->regions.pool);
  list_objects(&all.groups, &graph->groups);
  list_objects(&all.scopes, &graph->scopes);
  refer_from_all(&all);
  bool fine = check_counts(&all);
  release_objects(&all.tasks);
  release_objects(&all.regions);
  release_objects(&all.groups);
  release_objects(&all.scopes);
  return fine;
}
