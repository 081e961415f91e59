#include "hpcprof-lite/replay/list_schedule.h"

#include "hpcprof-lite/model/profile.h"

#include <stdlib.h>
#include <string.h>

int list_schedule_init(struct list_schedule *schedule, uint32_t cores)
{
  *schedule = (struct list_schedule){.cores = cores, .free_at = calloc(cores, sizeof *schedule->free_at)};
  return schedule->free_at ? 0 : ERR_NOMEM;
}

void list_schedule_release(struct list_schedule *schedule)
{
  free(schedule->free_at);
  *schedule = (struct list_schedule){0};
}

/* Returns the number of cores that are free at that time. */
static uint32_t free_by(const struct list_schedule *schedule, double time)
{
  uint32_t low = 0, high = schedule->cores;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (schedule->free_at[middle] <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

double list_schedule_run(struct list_schedule *schedule, double ready, double work)
{
  uint32_t free_count = free_by(schedule, ready), core = free_count ? free_count - 1 : 0;
  double *at = schedule->free_at;
  double end = (free_count ? ready : at[0]) + work;
  uint32_t position = free_by(schedule, end) - 1; /* after `core` has been removed from the array */
  memmove(at + core, at + core + 1, (position - core) * sizeof *at);
  at[position] = end;
  return end;
}

double list_schedule_makespan(const struct list_schedule *schedule)
{
  return schedule->free_at[schedule->cores - 1];
}
