#include "hpcrun-lite/rt/span/light_region.h"

#include "hpcrun-lite/rt/filter/filter.h"
#include "hpcrun-lite/rt/span/critical_path.h"
#include "hpcrun-lite/rt/span/directive.h"
#include "hpcrun-lite/rt/span/governor.h"

static struct light_regions *regions_of(struct thread_state *t, uint32_t row)
{
  struct directive_total *total = row ? directive_total(t, row) : NULL;
  return total ? &total->regions : NULL;
}

/* Can the region be light?  Its creator is a thread's own task, in no construct. */
static bool is_free(const struct task *creator, bool league)
{
  if (filter_now()->constructs) /* some records are not there */
    return false;
  return creator && !creator->region && creator->flags & TASK_IMPLICIT && !creator->scopes_open && !creator->group &&
         !league && !graph_log_on() && !rt_ever_paused();
}

bool light_region_begin(struct thread_state *t, const struct task *creator, uint32_t row, bool league,
                        uint32_t *stands_for)
{
  struct light_regions *regions = governor_is_on() && is_free(creator, league) ? regions_of(t, row) : NULL;
  *stands_for = 0;
  if (!regions)
    return false;
  if (regions->skip && regions->followed && !regions->whole && governor_thins(t)) {
    regions->skip--;
    return true;
  }
  *stands_for = regions->waiting < UINT32_MAX ? (uint32_t)regions->waiting : UINT32_MAX;
  regions->skip = governor_gap(t);
  return false;
}

/* The region's contents, if any, are those of its row. */
static void take_contents(struct light_regions *regions, struct team *team)
{
  regions->whole |= team->contents || team->instance;
}

void light_region_end(struct thread_state *t, struct team *team)
{
  struct light_regions *regions = regions_of(t, team->row);
  if (!regions)
    return;
  take_contents(regions, team);
  regions->waiting++;
  if (!team->instance)
    directive_light(t, team->row);
}

void light_region_stand(struct thread_state *t, struct team *team, struct clock *clock, uint64_t work)
{
  struct light_regions *regions = governor_is_on() ? regions_of(t, team->row) : NULL;
  uint64_t light = team->stands_for;
  if (!regions)
    return;
  take_contents(regions, team);
  if (regions->whole)
    return;
  uint64_t span = clock->base - team->start.base;
  uint64_t burdened = clock->burdened - team->start.burdened + span_of(t)->costs[GRAPH_FORK];
  regions->followed = true;
  regions->span = span;
  regions->burdened = burdened;
  if (regions->skip) /* otherwise the next one is followed, too */
    critical_path_parts(t, &clock->path, &team->start.path, CRITICAL_PATH_KEY(team->row, 0, 0), regions->parts);
  if (!light || !critical_path_repeat(t, &clock->path, &team->start.path, light))
    return;
  clock->base += light * span;
  clock->burdened += light * burdened;
  regions->waiting -= light;
  directive_region_stands_for(t, team->row, light, work, graph_own_span(work, 0, span));
}

/* What the parts do not have goes to the region's row.  A thread that does not stand still in time can be changing the
 * figures: then parts that are more than the whole are left out. */
static void add_waiting(struct thread_state *self, struct light_regions regions, uint32_t row, struct clock *clock)
{
  uint64_t rest = regions.span;
  for (int i = 0; i < CRITICAL_PATH_PARTS && regions.parts[i].amount <= rest; i++) {
    critical_path_add(self, &clock->path, regions.parts[i].key, regions.waiting * regions.parts[i].amount);
    rest -= regions.parts[i].amount;
  }
  critical_path_add(self, &clock->path, CRITICAL_PATH_KEY(row, 0, 0), regions.waiting * rest);
  clock->base += regions.waiting * regions.span;
  clock->burdened += regions.waiting * regions.burdened;
}

void light_region_add_waiting(struct thread_state *self, const struct thread_state *of, struct clock *clock)
{
  struct table *totals = &span_of(of)->totals;
  for (uint32_t row = 0; row < totals->count; row++) {
    const struct light_regions *regions = &((const struct directive_total *)table_at(totals, row))->regions;
    if (regions->waiting)
      add_waiting(self, *regions, row, clock);
  }
}

void light_region_settle(struct thread_state *t, struct clock *clock)
{
  light_region_add_waiting(t, t, clock);
  for (uint32_t row = 0; row < span_of(t)->totals.count; row++)
    ((struct directive_total *)table_at(&span_of(t)->totals, row))->regions.waiting = 0;
}

void light_region_wait(struct thread_state *t, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  struct task *task = span->running;
  if (!(task->flags & TASK_WAITING)) {
    uint64_t work = work_clock_until(t, graph_moment(t, moment));
    span->total_work += work;
    span->light->work += work + task->scope.pending;
    task->scope.pending = 0;
  }
  span->fragment_sample_count = 0;
  task->flags |= TASK_WAITING;
}

void light_region_go_on(struct thread_state *t, bool known, uint64_t moment)
{
  struct span_thread *span = span_of(t);
  if (!known)
    return;
  moment = graph_moment(t, moment);
  span->running->flags &= ~(uint32_t)TASK_WAITING;
  span->running->interval++;
  span->wait_ended = span_process.work_unit == WORK_USER ? 0 : moment;
  graph_fragment_begin_after(t, moment);
  span->since_barrier = span->work.since;
}
