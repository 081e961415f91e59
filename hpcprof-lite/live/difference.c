#include "hpcprof-lite/live/difference.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void subtract(uint64_t *value, uint64_t before)
{
  *value = model_difference(*value, before);
}

/* ---- processes and threads ---- */

/* The process of a profile that is the same one; NULL if there is none. */
static const struct profile_process *same_process(const struct profile *profile, const struct profile_process *wanted)
{
  for (uint32_t i = 0; profile && i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    if (process->usable && process->pid == wanted->pid && process->start_ns == wanted->start_ns &&
        !strcmp(process->host, wanted->host))
      return process;
  }
  return NULL;
}

static uint64_t samples_of(const struct profile_process *process)
{
  uint64_t samples = 0;
  for (uint32_t i = 0; i < process->threads_count; i++)
    model_add(&samples, process->threads[i].samples);
  return samples;
}

uint32_t difference_lacking(const struct profile *before, const struct profile *now, const char **example)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < before->processes_count; i++) {
    const struct profile_process *process = &before->processes[i];
    const struct profile_process *same = process->usable ? same_process(now, process) : process;
    if (same && samples_of(same) >= samples_of(process))
      continue;
    *example = process->path;
    count++;
  }
  return count;
}

bool difference_any(const struct profile *before, const struct profile *now)
{
  for (uint32_t i = 0; i < now->processes_count; i++) {
    const struct profile_process *process = &now->processes[i];
    const struct profile_process *same = process->usable ? same_process(before, process) : process;
    if (!same || samples_of(process) > samples_of(same))
      return true;
  }
  return false;
}

static void subtract_thread(struct profile_thread *thread, const struct profile_thread *before)
{
  subtract(&thread->samples, before->samples);
  subtract(&thread->samples_idle, before->samples_idle);
  subtract(&thread->samples_lockwait, before->samples_lockwait);
  subtract(&thread->lockwait_sampled_ns, before->lockwait_sampled_ns);
  subtract(&thread->idle_ns, before->idle_ns);
  subtract(&thread->lockwait_ns, before->lockwait_ns);
  subtract(&thread->tool_ns, before->tool_ns);
  subtract(&thread->cpu_ns, before->cpu_ns);
  subtract(&thread->wall_ns, before->wall_ns);
  subtract(&thread->paused_ns, before->paused_ns);
  subtract(&thread->run_delay_ns, before->run_delay_ns);
  subtract(&thread->core_wait_ns, before->core_wait_ns);
  subtract(&thread->no_core_ns, before->no_core_ns);
  subtract(&thread->blocked_ns, before->blocked_ns);
  subtract(&thread->mpi_ns, before->mpi_ns);
  subtract(&thread->device_ns, before->device_ns);
  subtract(&thread->mpi_outside_ns, before->mpi_outside_ns);
  subtract(&thread->mpi_calls, before->mpi_calls);
  subtract(&thread->mpi_sent, before->mpi_sent);
  subtract(&thread->mpi_received, before->mpi_received);
  subtract(&thread->region_ns, before->region_ns);
  subtract(&thread->regions, before->regions);
  subtract(&thread->work_ns, before->work_ns);
  subtract(&thread->overhead_ns, before->overhead_ns);
  subtract(&thread->caused_lock_ns, before->caused_lock_ns);
  subtract(&thread->caused_idle_ns, before->caused_idle_ns);
  for (unsigned i = 0; i < LOSS_MAX; i++)
    subtract(&thread->lost[i], before->lost[i]);
  for (unsigned i = 0; i < USAGES; i++)
    subtract(&thread->usage[i], before->usage[i]);
}

/* Replaces the threads, which belong to another process structure, by new ones with the differences to `before`. */
static void subtract_process(struct profile_process *process, const struct profile_process *before)
{
  assert(process->usable);
  struct profile_thread *threads = xcalloc(process->threads_count, sizeof *threads);
  for (uint32_t i = 0; i < process->threads_count; i++) {
    uint32_t same = before ? profile_thread_position(before, process->threads[i].index) : MODEL_NONE;
    threads[i] = process->threads[i];
    if (same != MODEL_NONE)
      subtract_thread(&threads[i], &before->threads[same]);
  }
  process->threads = threads;
  if (!before)
    return;
  subtract(&process->wall_ns, before->wall_ns);
  subtract(&process->paused_ns, before->paused_ns);
  subtract(&process->unsampled_ns, before->unsampled_ns);
  subtract(&process->cpu_ns, before->cpu_ns);
  subtract(&process->regions, before->regions);
  subtract(&process->unblamed_idle_ns, before->unblamed_idle_ns);
  for (unsigned i = 0; i < PROFILE_UNSEEN_CAUSES; i++)
    subtract(&process->unseen_ns[i], before->unseen_ns[i]);
  for (unsigned i = 0; i < LOSS_MAX; i++)
    subtract(&process->lost[i], before->lost[i]);
}

void difference_processes(const struct profile *before, const struct profile *now, struct profile *part)
{
  assert(before != now && part != now);
  *part = *now;
  part->processes = xcalloc(now->processes_count, sizeof *part->processes);
  for (uint32_t i = 0; i < now->processes_count; i++) {
    const struct profile_process *process = &now->processes[i];
    part->processes[i] = *process;
    if (process->usable) {
      subtract_process(&part->processes[i], before ? same_process(before, process) : process);
    } else {
      part->processes[i].threads = NULL;
      part->processes[i].threads_count = 0;
    }
  }
}

void difference_release(struct profile *part)
{
  for (uint32_t i = 0; part->processes && i < part->processes_count; i++)
    free(part->processes[i].threads);
  free(part->processes);
  *part = (struct profile){0};
}

/* ---- contexts ---- */

/* What maps the later reading's numbers to the earlier one's. */
struct numbers {
  uint32_t *modules, *columns, *nodes; /* MODEL_NONE: it has none */
};

static void map_numbers(struct profile *before, const struct profile *now, struct numbers *numbers)
{
  const struct catalog *catalog = &now->catalog;
  numbers->modules = xcalloc(catalog->modules_count, sizeof *numbers->modules);
  numbers->columns = xcalloc(catalog->columns_count, sizeof *numbers->columns);
  numbers->nodes = xcalloc(now->contexts.count, sizeof *numbers->nodes);
  for (uint32_t i = 0; i < catalog->modules_count; i++)
    numbers->modules[i] = catalog_add_same(&before->catalog, &catalog->modules[i]);
  for (uint32_t i = 0; i < catalog->columns_count; i++)
    numbers->columns[i] =
        catalog_same_column(before->catalog.columns, before->catalog.columns_count, &catalog->columns[i]);
  for (uint32_t i = 1; i < now->contexts.count; i++) {
    const struct context_node *node = &now->contexts.nodes[i];
    struct context_node identity = *node;
    identity.parent = numbers->nodes[node->parent];
    if (contexts_has_module(node))
      identity.module = numbers->modules[node->module];
    bool known = identity.parent != MODEL_NONE;
    numbers->nodes[i] = known ? contexts_find(&before->contexts, &identity) : MODEL_NONE;
  }
}

/* Sets the second half of a node's columns. */
static void subtract_node(const struct profile *before, const struct numbers *numbers, uint32_t node, uint32_t columns,
                          uint64_t *values)
{
  assert(node && values);
  uint32_t same = numbers->nodes[node];
  for (uint32_t i = 0; i < columns; i++) {
    values[columns + i] = values[i];
    if (same != MODEL_NONE && numbers->columns[i] != MODEL_NONE)
      subtract(&values[columns + i], contexts_get(&before->contexts, same, numbers->columns[i]));
  }
}

void difference_contexts(struct profile *before, struct profile *now)
{
  assert(before != now);
  struct contexts *contexts = &now->contexts;
  struct numbers numbers = {0};
  uint32_t columns = now->catalog.columns_count, stride = 2 * columns;
  uint64_t *values = xcalloc((size_t)contexts->values_count * stride, sizeof *values);
  if (before)
    map_numbers(before, now, &numbers);
  for (uint32_t i = 0; i < contexts->count; i++) {
    uint64_t *record = values + (size_t)contexts->nodes[i].value * stride;
    if (!contexts->nodes[i].value)
      continue;
    for (uint32_t j = 0; j < columns; j++)
      record[j] = contexts_get(contexts, i, j);
    if (before)
      subtract_node(before, &numbers, i, columns, record);
  }
  free(numbers.modules);
  free(numbers.columns);
  free(numbers.nodes);
  free(contexts->values);
  contexts->values = values;
  contexts->values_room = contexts->values_count;
  contexts->stride = stride;
}

void difference_columns(uint32_t catalog_columns, struct tree_columns *columns, struct tree_columns *part)
{
  assert(!columns->count || columns->count <= CATALOG_COLUMNS_MAX);
  uint32_t kept = MIN(columns->count, (uint32_t)CATALOG_COLUMNS_MAX / 2), events = 0;
  for (uint32_t i = 0; i < kept; i++) {
    columns->columns[kept + i] = columns->columns[i];
    columns->source[kept + i] = columns->source[i] + catalog_columns;
  }
  columns->count = 2 * kept;
  for (uint32_t i = 0; i < columns->events_count; i++)
    if (columns->events[i] < kept)
      columns->events[events++] = columns->events[i];
  columns->events_count = events;
  *part = *columns;
  uint32_t *const of_run[] = {
      &columns->samples,     &columns->work,         &columns->overhead,      &columns->lockwait,
      &columns->idleness,    &columns->critical,     &columns->user_cpu,      &columns->system_cpu,
      &columns->page_faults, &columns->switches,     &columns->created,       &columns->creating,
      &columns->blocked,     &columns->blocked_near, &columns->blocked_bytes, &columns->mpi};
  uint32_t *const of_part[] = {&part->samples,     &part->work,         &part->overhead,      &part->lockwait,
                               &part->idleness,    &part->critical,     &part->user_cpu,      &part->system_cpu,
                               &part->page_faults, &part->switches,     &part->created,       &part->creating,
                               &part->blocked,     &part->blocked_near, &part->blocked_bytes, &part->mpi};
  for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++) {
    if (*of_run[i] >= kept)
      *of_run[i] = MODEL_NONE;
    *of_part[i] = *of_run[i] == MODEL_NONE ? MODEL_NONE : *of_run[i] + kept;
  }
  for (uint32_t i = 0; i < events; i++)
    part->events[i] += kept;
}
