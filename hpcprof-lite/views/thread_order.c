#include "hpcprof-lite/views/thread_order.h"

#include <stdlib.h>
#include <string.h>

enum thread_key {
  KEY_PROCESS,
  KEY_RANK,
  KEY_THREAD,
  KEY_HOST,
  KEY_SAMPLES,
  KEY_DROPPED,
  KEY_PARTIAL,
  KEY_WORK,
  KEY_OVERHEAD,
  KEY_LOCKWAIT,
  KEY_IDLE,
  KEY_CPU,
  KEY_WALL,
  KEY_TOOL,
  KEY_CORE_WAIT,
  KEY_BLOCKED,
  KEY_PAUSED,
  KEY_COUNT
};

const char *const thread_order_columns[THREAD_ORDER_COLUMNS] = {
    "process",    "rank",   "thread", "host",   "samples", "dropped",     "partial",   "work_s",  "overhead_s",
    "lockwait_s", "idle_s", "cpu_s",  "wall_s", "tool_s",  "core_wait_s", "blocked_s", "paused_s"};

_Static_assert(KEY_COUNT == THREAD_ORDER_COLUMNS, "a key for each column");

uint64_t thread_order_figure(const struct profile_thread *thread, size_t column)
{
  switch ((enum thread_key)column) {
  case KEY_SAMPLES:
    return thread->samples;
  case KEY_DROPPED:
    return thread->lost[LOSS_MEMORY] + thread->lost[LOSS_IN_TOOL];
  case KEY_PARTIAL:
    return thread->lost[LOSS_PARTIAL];
  case KEY_WORK:
    return thread->work_ns;
  case KEY_OVERHEAD:
    return thread->overhead_ns;
  case KEY_LOCKWAIT:
    return thread->lockwait_ns;
  case KEY_IDLE:
    return thread->idle_ns;
  case KEY_CPU:
    return thread->cpu_ns;
  case KEY_WALL:
    return thread->wall_ns;
  case KEY_TOOL:
    return thread->tool_ns;
  case KEY_CORE_WAIT:
    return thread->core_wait_ns;
  case KEY_BLOCKED:
    return thread->blocked_ns;
  case KEY_PAUSED:
    return thread->paused_ns;
  default:
    return 0;
  }
}

int thread_order(const struct profile *profile, uint64_t **order, uint32_t *count)
{
  *order = NULL;
  *count = 0;
  size_t threads = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    threads += profile->processes[i].usable ? profile->processes[i].threads_count : 0;
  *order = calloc(threads + 1, sizeof **order);
  if (!*order)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    for (uint32_t j = 0; profile->processes[i].usable && j < profile->processes[i].threads_count; j++)
      (*order)[(*count)++] = (uint64_t)i << 32 | j;
  return 0;
}
