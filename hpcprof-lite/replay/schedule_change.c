#include "hpcprof-lite/replay/schedule_change.h"

bool schedule_change_spreads(const struct task_graph *graph, const struct task_graph_task *task,
                             const struct schedule_assumption *assumption)
{
  if (assumption->change == SCHEDULE_SPREAD_SERIAL)
    return task->flags & TASK_GRAPH_IMPLICIT && !task->region;
  return assumption->change == SCHEDULE_SPREAD && assumption->rows[task_graph_scope(graph, task->scope)->row];
}

/* Returns the task that a record concerns, if a schedule may ignore it, else 0. */
static uint32_t concerned(const struct task_graph *graph, uint32_t running, const struct graphlog_record *record)
{
  switch (record->op) {
  case GRAPHLOG_WAIT_END:
  case GRAPHLOG_TAKE:
    return task_graph_find(graph, record->operand[0], record->operand[1]);
  case GRAPHLOG_CHUNK:
    return running;
  default:
    return 0;
  }
}

static bool ignores(const struct task_graph *graph, const struct task_graph_task *task,
                    const struct graphlog_record *record, const struct schedule_assumption *assumption)
{
  const struct task_graph_region *region = task_graph_region(graph, task->region);
  bool in_region = task->region && assumption->rows && assumption->rows[region->row];
  bool iterates = task->flags & TASK_GRAPH_LOOP;
  switch (record->op) {
  case GRAPHLOG_WAIT_END:
    return assumption->change == SCHEDULE_WITHOUT_BARRIERS && record->operand[2] == GRAPHLOG_BARRIER && in_region;
  case GRAPHLOG_TAKE: /* an implicit task outside a loop takes the end of a thread that it has created */
    return assumption->change == SCHEDULE_WITHOUT_DEPENDENCES && in_region &&
           (iterates || !(task->flags & TASK_GRAPH_IMPLICIT));
  default:
    return assumption->own_chunks && iterates;
  }
}

void schedule_change_keep(const struct task_graph *graph, uint32_t running, const struct graphlog_record *record,
                          const struct schedule_assumption *assumptions, uint32_t count, uint32_t first_schedule,
                          struct schedule_change_kept *kept)
{
  kept->schedules = 0;
  kept->task = count ? concerned(graph, running, record) : 0;
  const struct task_graph_task *task = task_graph_task(graph, kept->task);
  for (uint32_t i = 0; kept->task && task->now && i < count; i++) {
    if (!ignores(graph, task, record, &assumptions[i]))
      continue;
    kept->schedules |= 1U << i;
    kept->time[i] = vector_clock_at(&graph->clocks, task->now)->element[first_schedule + i].time;
  }
}

void schedule_change_restore(const struct task_graph *graph, uint32_t first_schedule,
                             const struct schedule_change_kept *kept)
{
  uint32_t now = task_graph_task(graph, kept->task)->now;
  for (uint32_t i = 0; now && kept->schedules >> i; i++)
    if (kept->schedules >> i & 1)
      vector_clock_at(&graph->clocks, now)->element[first_schedule + i].time = kept->time[i];
}
