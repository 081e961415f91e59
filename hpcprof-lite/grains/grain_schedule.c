#include "hpcprof-lite/grains/grain_schedule.h"

#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"

#include <assert.h>
#include <stdlib.h>

void grain_schedule_init(struct grain_schedule *schedule, struct problems *problems)
{
  *schedule = (struct grain_schedule){.starts = external_sort_new(1, problems),
                                      .ends = external_sort_new(3, problems),
                                      .results = external_sort_new(2, problems)};
}

void grain_schedule_release(struct grain_schedule *schedule)
{
  external_sort_free(schedule->starts);
  external_sort_free(schedule->ends);
  external_sort_free(schedule->results);
  *schedule = (struct grain_schedule){0};
}

void grain_schedule_add(struct grain_schedule *schedule, uint64_t begin, uint64_t end)
{
  assert(begin < end && schedule->starts);
  external_sort_add(schedule->starts, &begin);
  external_sort_add(schedule->ends, (const uint64_t[]){end, begin, schedule->stretches++});
}

/* ---- the sweep ---- */

/* The minimum of the parallelism from any instant on until now: the intervals that are followed by higher parallelism
 * only, each with the instant at which it begins. */
struct minima {
  struct minimum {
    uint64_t begin;
    uint32_t parallelism;
  } * stack;
  size_t room, count;
};

/* From `begin` on, the parallelism is `active`. */
static void minima_push(struct minima *minima, uint64_t begin, uint64_t active)
{
  assert(!minima->count || minima->stack[minima->count - 1].begin <= begin);
  uint32_t parallelism = (uint32_t)MIN(active, GRAIN_SCHEDULE_MOST);
  while (minima->count && minima->stack[minima->count - 1].parallelism >= parallelism)
    minima->count--;
  *XAPPEND(minima->stack, minima->count, minima->room) = (struct minimum){begin, parallelism};
}

static uint32_t minima_since(const struct minima *minima, uint64_t begin)
{
  size_t first = FIRST_WHERE(i, minima->count, minima->stack[i].begin >= begin);
  return first < minima->count ? minima->stack[first].parallelism : 0;
}

/* Differences between neighbouring slots. */
struct curve_sums {
  int64_t touching[GRAIN_CURVE_SLOTS + 1], covering[GRAIN_CURVE_SLOTS + 1];
};

/* Returns the slot that contains an instant. */
static uint64_t slot_of(uint64_t instant, uint64_t span)
{
  assert(span);
  uint64_t slot = (uint64_t)((unsigned __int128)instant * GRAIN_CURVE_SLOTS / span);
  return MIN(slot, GRAIN_CURVE_SLOTS);
}

static void add_to_curve(struct curve_sums *sums, uint64_t begin, uint64_t end, uint64_t span)
{
  assert(begin < end);
  uint64_t first = slot_of(begin, span), last = slot_of(end - 1, span);
  if (first >= GRAIN_CURVE_SLOTS || last >= GRAIN_CURVE_SLOTS)
    return;
  sums->touching[first]++;
  sums->touching[last + 1]--;
  bool at_start = (unsigned __int128)first * span == (unsigned __int128)begin * GRAIN_CURVE_SLOTS;
  uint64_t covered = first + !at_start, beyond = slot_of(end, span);
  if (covered < beyond) {
    sums->covering[covered]++;
    sums->covering[beyond]--;
  }
}

static void finish_curve(const struct curve_sums *sums, struct grain_curve *curve)
{
  int64_t touching = 0, covering = 0;
  for (unsigned i = 0; i < GRAIN_CURVE_SLOTS; i++) {
    curve->touching[i] = (uint64_t)(touching += sums->touching[i]);
    curve->covering[i] = (uint64_t)(covering += sums->covering[i]);
  }
}

/* How many stretches are active since an instant, which is in `minima` when a later one is reached. */
struct sweep {
  struct minima minima;
  struct curve_sums sums;
  uint64_t instant, active;
  bool changed;
};

/* Reaches an instant. */
static void reach(struct sweep *sweep, uint64_t instant)
{
  assert(instant >= sweep->instant);
  if (sweep->changed && sweep->instant < instant) {
    sweep->changed = false;
    minima_push(&sweep->minima, sweep->instant, sweep->active);
  }
  sweep->instant = instant;
}

/* At one instant, stretches end before others begin. */
static int sweep_all(struct grain_schedule *schedule, uint64_t span, struct sweep *sweep)
{
  const uint64_t *start = external_sort_next(schedule->starts);
  for (const uint64_t *end; (end = external_sort_next(schedule->ends));) {
    for (; start && *start < end[0]; start = external_sort_next(schedule->starts)) {
      reach(sweep, *start);
      sweep->active++;
      sweep->changed = true;
    }
    reach(sweep, end[0]);
    uint64_t result[] = {UINT64_MAX - end[2], minima_since(&sweep->minima, end[1])};
    if (span)
      add_to_curve(&sweep->sums, end[1], end[0], span);
    sweep->active--;
    sweep->changed = true;
    int status = external_sort_add(schedule->results, result);
    if (status)
      return status;
  }
  return external_sort_failed(schedule->starts) || external_sort_failed(schedule->ends) ? ERR_INPUT : 0;
}

int grain_schedule_compute(struct grain_schedule *schedule, uint64_t span, struct grain_curve *curve)
{
  assert(schedule->starts && schedule->ends);
  struct sweep sweep = {0};
  int status = external_sort_rewind(schedule->starts);
  if (!status)
    status = external_sort_rewind(schedule->ends);
  if (!status)
    status = sweep_all(schedule, span, &sweep);
  finish_curve(&sweep.sums, curve);
  free(sweep.minima.stack);
  external_sort_free(schedule->starts);
  external_sort_free(schedule->ends);
  schedule->starts = schedule->ends = NULL;
  return status;
}

int grain_schedule_rewind(struct grain_schedule *schedule)
{
  return external_sort_rewind(schedule->results);
}

bool grain_schedule_next(struct grain_schedule *schedule, uint64_t *parallelism)
{
  const uint64_t *result = external_sort_next(schedule->results);
  if (result)
    *parallelism = result[1];
  return result != NULL;
}
