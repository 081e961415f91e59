/* Light regions: those of which the task graph does not follow what they contain (span/governor.h).
 *
 * Context: RT, in callbacks of the thread that creates the regions, unless a function says otherwise.  The state is
 * that of the thread's row (struct light_regions).  Nothing can fail.
 *
 * Which.  Regions that a thread creates in its own task outside any region run one after another, so that their spans
 * add up.  Of those of one row, one in `period` is followed, chosen at random.  The others are light, unless a region
 * of the row has had contents whose figures depend on the whole region: tasks, a region, a user region, a doacross
 * loop, a thread of the program to which a clock was handed.  Then all are followed, from the next one on.
 *
 * A light region has clocks of its own, which begin at 0 and reach no clock outside.  Its implicit tasks are marked
 * (TASK_LIGHT).  Their work counts: it is added to the thread's sums of the region's row.  Worksharing constructs in
 * them are counted by the creator, single constructs by the thread that executes them; barriers join nothing.
 * Whatever else happens goes on as in any region.
 *
 * A region that is followed stands for the light ones of its row before it: at its end, what it has added to its
 * creator's clock is added once more for each of them, by what the critical path consists of. */
#ifndef HPCRUN_LITE_RT_SPAN_LIGHT_REGION_H
#define HPCRUN_LITE_RT_SPAN_LIGHT_REGION_H

#include "hpcrun-lite/rt/span/graph.h"

/* A region of the row begins, created by that task (NULL: none is known).  Returns whether it is light; otherwise
 * *stands_for: how many light ones it stands for. */
bool light_region_begin(struct thread_state *t, const struct task *creator, uint32_t row, bool league,
                        uint32_t *stands_for);

/* It has ended: a light one; one that was followed, with that work, whose creator's clock has reached its end. */
void light_region_end(struct thread_state *t, struct team *team);
void light_region_stand(struct thread_state *t, struct team *team, struct clock *clock, uint64_t work);

/* Whether the thread runs a light region's task that is in no construct and has created no task. */
static inline bool light_region_is_plain(const struct thread_state *t)
{
  const struct task *task = span_of(t)->running;
  return task && task->flags & TASK_LIGHT && !task->scopes_open && !task->open[0].at && !task->open[1].at &&
         !span_of(t)->unreported.batch && span_of(t)->light && !rt_ever_paused();
}

/* Such a thread begins to wait at a barrier, and has waited; moment as in span/span.h.  known: it goes on in its
 * region; otherwise what follows is the task's end, and it goes on waiting until then. */
void light_region_wait(struct thread_state *t, uint64_t moment);
void light_region_go_on(struct thread_state *t, bool known, uint64_t moment);

/* Adds the light regions of thread `of` for which none stands yet to its clock: each counts as the last one that was
 * followed.  Also by CTL, for another thread that stands still. */
void light_region_add_waiting(struct thread_state *self, const struct thread_state *of, struct clock *clock);

/* The same for the thread itself, once. */
void light_region_settle(struct thread_state *t, struct clock *clock);

#endif
