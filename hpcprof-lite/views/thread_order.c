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
  KEY_COUNT
};

const char *const thread_order_columns[THREAD_ORDER_COLUMNS] = {
    "process",    "rank",       "thread", "host",  "samples", "dropped", "partial",     "work_s",
    "overhead_s", "lockwait_s", "idle_s", "cpu_s", "wall_s",  "tool_s",  "core_wait_s", "blocked_s"};

_Static_assert(KEY_COUNT == THREAD_ORDER_COLUMNS, "a key for each column");

struct thread_sort {
  const struct profile *profile;
  enum thread_key key;
};

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
  default:
    return 0;
  }
}

static int by_thread(const void *a, const void *b, void *argument)
{
  const struct thread_sort *sort = argument;
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  const struct profile_process *xp = &sort->profile->processes[x >> 32], *yp = &sort->profile->processes[y >> 32];
  const struct profile_thread *xt = &xp->threads[(uint32_t)x], *yt = &yp->threads[(uint32_t)y];
  uint64_t xf = thread_order_figure(xt, sort->key), yf = thread_order_figure(yt, sort->key);
  int order = (xf < yf) - (xf > yf);
  if (sort->key == KEY_PROCESS)
    order = (xp->pid > yp->pid) - (xp->pid < yp->pid);
  else if (sort->key == KEY_RANK)
    order = (xp->rank > yp->rank) - (xp->rank < yp->rank);
  else if (sort->key == KEY_THREAD)
    order = (xt->index > yt->index) - (xt->index < yt->index);
  else if (sort->key == KEY_HOST)
    order = strcmp(xp->host, yp->host);
  return order ? order : (x > y) - (x < y);
}

int thread_order(const struct profile *profile, const char *sort, uint64_t **order, uint32_t *count)
{
  struct thread_sort by = {.profile = profile};
  *order = NULL;
  *count = 0;
  while (sort && by.key < KEY_COUNT && strcmp(sort, thread_order_columns[by.key]))
    by.key++;
  if (by.key == KEY_COUNT)
    return ERR_INPUT;
  size_t threads = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    threads += profile->processes[i].usable ? profile->processes[i].threads_count : 0;
  *order = calloc(threads + 1, sizeof **order);
  if (!*order)
    return ERR_NOMEM;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    for (uint32_t j = 0; profile->processes[i].usable && j < profile->processes[i].threads_count; j++)
      (*order)[(*count)++] = (uint64_t)i << 32 | j;
  if (sort)
    qsort_r(*order, *count, sizeof **order, by_thread, &by);
  return 0;
}
