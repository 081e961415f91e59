#include "hpcprof-lite/replay/schedule_change.h"

#include <assert.h>

bool schedule_change_spreads(const struct task_graph *graph, const struct task_graph_task *task,
                             const struct schedule_assumption *assumption)
{
  if (assumption->change == SCHEDULE_SPREAD_SERIAL)
    return task->flags & TASK_GRAPH_IMPLICIT && !task->region;
  return assumption->change == SCHEDULE_SPREAD && assumption->directives[task_graph_scope(graph, task->scope)->row];
}

static bool ignores(const struct task_graph *graph, const struct task_graph_task *task, const struct graph_event *event,
                    const struct schedule_assumption *assumption)
{
  assert(task->now);
  const struct task_graph_region *region = task_graph_region(graph, task->region);
  bool in_region = task->region && assumption->directives && assumption->directives[region->row];
  bool iterates = task->flags & TASK_GRAPH_LOOP;
  switch (event->op) {
  case GRAPHLOG_WAIT_END:
    return assumption->change == SCHEDULE_WITHOUT_BARRIERS && event->operand[2] == GRAPHLOG_BARRIER && in_region;
  case GRAPHLOG_TAKE: /* an implicit task outside a loop takes the end of a thread that it has created */
    return assumption->change == SCHEDULE_WITHOUT_DEPENDENCES && in_region &&
           (iterates || !(task->flags & TASK_GRAPH_IMPLICIT));
  case GRAPHLOG_CHUNK:
    return assumption->own_chunks && iterates;
  default: /* waits for nothing */
    return false;
  }
}

void schedule_change_keep(const struct task_graph *graph, const struct graph_event *event,
                          const struct schedule_assumption *assumptions, uint32_t count,
                          struct schedule_change_kept *kept)
{
  assert(count <= REPLAY_SCHEDULES);
  bool waits = event->op == GRAPHLOG_WAIT_END || event->op == GRAPHLOG_TAKE || event->op == GRAPHLOG_CHUNK;
  kept->schedules = 0;
  kept->task = count && waits ? event->task : 0;
  const struct task_graph_task *task = task_graph_task(graph, kept->task);
  for (uint32_t i = 0; kept->task && task->now && i < count; i++) {
    if (!ignores(graph, task, event, &assumptions[i]))
      continue;
    kept->schedules |= 1U << i;
    kept->time[i] = vector_clock_at(&graph->clocks, task->now)->element[graph->first_schedule + i].time;
  }
}

void schedule_change_restore(const struct task_graph *graph, const struct schedule_change_kept *kept)
{
  uint32_t now = task_graph_task(graph, kept->task)->now;
  for (uint32_t i = 0; now && kept->schedules >> i; i++)
    if (kept->schedules >> i & 1)
      vector_clock_at(&graph->clocks, now)->element[graph->first_schedule + i].time = kept->time[i];
}
