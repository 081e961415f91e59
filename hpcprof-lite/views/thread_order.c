#include "hpcprof-lite/views/thread_order.h"

#include "common/xalloc.h"

#include <stdlib.h>

void thread_order(const struct profile *profile, uint64_t **order, uint32_t *count)
{
  *count = 0;
  size_t threads = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++)
    threads += profile->processes[i].usable ? profile->processes[i].threads_count : 0;
  *order = xcalloc(threads, sizeof **order);
  for (uint32_t i = 0; i < profile->processes_count; i++)
    for (uint32_t j = 0; profile->processes[i].usable && j < profile->processes[i].threads_count; j++)
      if (!(profile->processes[i].threads[j].flags & THREAD_HELPER))
        (*order)[(*count)++] = (uint64_t)i << 32 | j;
}
