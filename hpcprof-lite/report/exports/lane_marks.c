#include "hpcprof-lite/report/exports/lane_marks.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

static void add(struct lane_marks *marks, const struct lane_mark *mark)
{
  assert(mark->name);
  *XAPPEND(marks->marks, marks->count, marks->room) = *mark;
}

static int add_count(void *context, const struct timeline_count *count)
{
  add(context, &(struct lane_mark){.start_ns = count->end_ns,
                                   .end_ns = count->end_ns,
                                   .value = count->value,
                                   .name = count->name,
                                   .kind = LANE_COUNT});
  return 0;
}

ORDER(by_start, struct lane_mark, COMPARE(x->start_ns, y->start_ns) ?: COMPARE(x->kind, y->kind))

void lane_marks_read(const struct report *report, uint32_t lane, struct lane_marks *marks)
{
  assert(lane < report->time.timeline->lanes_count);
  const struct timeline_lane *of = &report->time.timeline->lanes[lane];
  uint32_t thread = report->profile->processes[of->process].threads[of->thread].index;
  uint32_t count;
  const uint32_t *positions = run_marks_of(report->time.marks, of->process, &count);
  *marks = (struct lane_marks){0};
  for (uint32_t i = 0; i < count; i++) {
    const struct run_mark *mark = &report->time.marks->marks[positions[i]];
    if (mark->thread == thread)
      add(marks, &(struct lane_mark){.start_ns = mark->start_ns,
                                     .end_ns = mark->end_ns,
                                     .name = mark->name,
                                     .kind = mark->user_phase ? LANE_USER_PHASE : LANE_MARK});
  }
  if (report->time.timeline->counts)
    report->time.timeline->counts(report->time.timeline->source, lane, add_count, marks);
  if (marks->count)
    qsort(marks->marks, marks->count, sizeof *marks->marks, by_start);
}

void lane_marks_release(struct lane_marks *marks)
{
  free(marks->marks);
  *marks = (struct lane_marks){0};
}

const struct lane_mark *lane_marks_until(struct lane_marks *marks, uint64_t time_ns)
{
  assert(marks->next <= marks->count);
  bool there = marks->next < marks->count && marks->marks[marks->next].start_ns <= time_ns;
  return there ? &marks->marks[marks->next++] : NULL;
}
