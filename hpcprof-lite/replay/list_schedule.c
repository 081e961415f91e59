#include "hpcprof-lite/replay/list_schedule.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void skip_nothing(struct list_schedule *schedule)
{
  for (uint32_t i = 0; i < LIST_SCHEDULE_SLOTS; i++)
    schedule->skip[i] = i;
}

void list_schedule_init(struct list_schedule *schedule, uint32_t cores)
{
  *schedule = (struct list_schedule){.cores = cores, .length = 1};
  if (!cores)
    return;
  schedule->used = xcalloc(LIST_SCHEDULE_SLOTS, sizeof *schedule->used);
  schedule->skip = xmalloc(LIST_SCHEDULE_SLOTS * sizeof *schedule->skip);
  skip_nothing(schedule);
}

void list_schedule_release(struct list_schedule *schedule)
{
  free(schedule->used);
  free(schedule->skip);
  *schedule = (struct list_schedule){0};
}

/* Joins each two slots to one. */
static void double_length(struct list_schedule *schedule)
{
  assert(schedule->cores);
  enum { HALF = LIST_SCHEDULE_SLOTS / 2 };
  for (uint32_t i = 0; i < HALF; i++)
    schedule->used[i] = schedule->used[(size_t)2 * i] + schedule->used[(size_t)2 * i + 1];
  memset(schedule->used + HALF, 0, HALF * sizeof *schedule->used);
  schedule->length *= 2;
  skip_nothing(schedule);
}

/* Returns the first slot from `slot` on that is not full, or LIST_SCHEDULE_SLOTS. */
static uint32_t with_room(struct list_schedule *schedule, uint32_t slot)
{
  assert(slot < LIST_SCHEDULE_SLOTS);
  double all = schedule->cores * schedule->length;
  uint32_t found = slot;
  while (found < LIST_SCHEDULE_SLOTS && schedule->used[found] >= all)
    found = MAX(schedule->skip[found], found + 1);
  while (slot < found) { /* the next search is shorter */
    uint32_t next = MAX(schedule->skip[slot], slot + 1);
    schedule->skip[slot] = found;
    slot = next;
  }
  return found;
}

/* Returns the slot of the first time from *at on at which a core is free, and moves *at there. */
static uint32_t next_slot(struct list_schedule *schedule, double *at)
{
  assert(schedule->cores && *at >= 0);
  for (;;) {
    double slots = *at / schedule->length;
    uint32_t slot = slots < LIST_SCHEDULE_SLOTS ? with_room(schedule, (uint32_t)slots) : LIST_SCHEDULE_SLOTS;
    if (slot < LIST_SCHEDULE_SLOTS) {
      *at = MAX(*at, slot * schedule->length);
      return slot;
    }
    double_length(schedule);
  }
}

double list_schedule_run(struct list_schedule *schedule, double ready, double work, bool divisible)
{
  assert(ready >= 0 && work >= 0);
  double at = ready, width = divisible ? schedule->cores : 1;
  if (!schedule->cores && !divisible)
    at += work;
  while (schedule->cores && work > 0) {
    uint32_t slot = next_slot(schedule, &at);
    double begin = slot * schedule->length, end = begin + schedule->length;
    double room = schedule->cores * schedule->length - schedule->used[slot], part = (end - at) * width;
    part = MIN(MIN(part, room), work);
    schedule->used[slot] += part;
    work -= part;
    double alone = at + part / width, shared = begin + schedule->used[slot] / schedule->cores;
    at = work > 0 ? end : MIN(end, MAX(alone, shared));
  }
  schedule->makespan = MAX(at, schedule->makespan);
  return at;
}

void list_schedule_wait(struct list_schedule *schedule, double end)
{
  schedule->makespan = MAX(end, schedule->makespan);
}
