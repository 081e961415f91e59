#include "common/cpus.h"

#include <sched.h>
#include <stddef.h>

int cpus_allowed(void)
{
  enum { CPUS_MAX = 65536 };
  size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
  cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
  int count = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 1;
  CPU_FREE(set);
  return count;
}
